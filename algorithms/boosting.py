"""The boosting loop that every additive tree model of this package shares.

What is told and watched after each round is here, too: callbacks, and a validation set.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .grid import RowWeights
from .kernels.decorators import threads
from .losses import SQUARED, Loss, allocate_gh
from .metrics import larger_is_better, validation_score
from .trees import grower
from .trees.binning import BinnedMatrix, bin_matrix
from .trees.categorical_forest import builder_of
from .trees.forest import Forest, ForestBuilder, add_to_scores, joined, sum_hessians
from .trees.histogram import words_of
from .trees.monotonic import bound_anew, keep_within
from .trees.penalty import Charging
from .trees.predictor import walk_scores
from .trees.samples import Samples, Sampling
from .trees.splitter import Limits, Scale
from .validation.types import Metric

# --- what is told and watched after each round -------------------------------------------------


class Round(NamedTuple):
    """What a callback is told after a round."""

    number: int  # From 1
    n_estimators: int  # Rounds at most
    n_splits: int  # Of the round's trees
    validation_score: float | None  # After this round; None without a validation set
    best_round: int | None  # Round with the best validation score so far, 0 if none was finite


# Called after each round; True ends the training, None or False goes on.
Callback: TypeAlias = Callable[[Round], bool | None]


def splits_and_score(told: Round) -> str:
    """What is printed of a round of boosted trees."""
    score = told.validation_score
    said = "" if score is None else f", validation score {score:.6g} (best: {told.best_round})"
    return f"{told.n_splits} splits{said}"


def check_callbacks(
    callbacks: Iterable[Callable[[Any], bool | None]] | None,
    verbose: int,
    said: Callable[[Any], str] = splits_and_score,
) -> tuple[Callable[[Any], bool | None], ...]:
    """Give callbacks as a tuple, with one that prints if it is asked for (ValueError)."""
    given = () if callbacks is None else callbacks
    if not isinstance(given, list | tuple) or not all(map(callable, given)):
        raise ValueError(f"callbacks must be a list of functions, got {callbacks!r:.80}.")
    return (*given, _Printer(verbose, said)) if verbose else tuple(given)


class _Printer(NamedTuple):
    """Prints a line after every so many rounds, and after the last."""

    every: int
    said: Callable[[Any], str]

    def __call__(self, told: Any) -> None:
        if told.number % self.every == 0 or told.number == told.n_estimators:
            print(f"round {told.number} of {told.n_estimators}: {self.said(told)}")


def asked_to_stop(callbacks: Iterable[Callable[[Any], bool | None]], told: Any) -> bool:
    """Tell every callback of a round; whether one of them wants it to be the last (ValueError)."""
    answers = [callback(told) for callback in callbacks]
    for answer in answers:
        if answer is not None and not isinstance(answer, bool | np.bool_):
            raise ValueError(f"A callback must return True to stop, or None, got {answer!r:.80}.")
    return any(answers)


class Validation:
    """A validation set, scored after every round."""

    def __init__(
        self, X: ArrayLike, y: ArrayLike, query_id: ArrayLike | None, metric: Metric, loss: Loss
    ) -> None:
        self.X, self.y, self.query_id = X, y, query_id
        self.metric, self.loss = metric, loss
        self.history: list[float] = []
        self.best_round = 0

    def start(self, initial: np.ndarray) -> None:
        """Set all scores to the initial ones."""
        self._scores = np.tile(initial, (len(self.X), 1))

    def update(self, forest: Forest, first_tree: int, learning_rate: float) -> None:
        """Add a round's trees and record the score."""
        if self.X.dtype == np.float64:
            X = self.X
        else:
            forest, X = self._tested_columns(forest, first_tree)
        walk_scores(forest, first_tree, learning_rate * forest.value, X, self._scores)
        score = validation_score(self.metric, self.loss.name, self._scores, self.y, self.query_id)
        sign = 1.0 if larger_is_better(self.metric) else -1.0
        best = sign * self.history[self.best_round - 1] if self.best_round else -np.inf
        self.history.append(score)
        if np.isfinite(score) and sign * score > best:
            self.best_round = len(self.history)

    def check_some_score(self, stopping: bool) -> None:
        """Refuse scores of which none is finite if rounds are chosen by them; else warn."""
        if not self.history or self.best_round:
            return
        why = (
            f"The validation score was no finite number in any of the {len(self.history)} rounds "
            f"(the last one: {self.history[-1]}), so that it says nothing"
        )
        if stopping:
            raise ValueError(
                f"{why} and no round can be chosen by it: mend eval_metric or eval_set, or leave "
                "early_stopping_rounds out."
            )
        warnings.warn(f"{why}: mend eval_metric or eval_set.", stacklevel=2)

    def _tested_columns(self, forest: Forest, first_tree: int) -> tuple[Forest, np.ndarray]:
        """Number the features that the last trees test anew, and convert their columns.

        All columns in float64 would be a copy for a whole fit.
        """
        first_node = forest.tree[first_tree]
        in_node = forest.feature[first_node:]
        tested = np.unique(in_node[in_node >= 0])
        feature = np.zeros_like(forest.feature)
        feature[first_node:] = np.searchsorted(tested, in_node)
        X = np.take(self.X, tested, axis=1).astype(np.float64)
        return forest._replace(feature=feature), X


# --- the loop ----------------------------------------------------------------------------------

_LARGEST_LEAF = 1e150  # squares beyond it are no numbers any more


class Options(NamedTuple):
    """How to boost."""

    n_estimators: int  # Rounds at most
    learning_rate: float
    limits: Limits
    max_bins: int
    second_order: bool  # False: all hessians are 1 ("first-order terms only")
    # True: hessians of 1 choose the splits, true ones the leaf values (Friedman's TreeBoost)
    newton_leaves: bool
    start_at_mean: bool  # Start from the best constant rather than from 0
    early_stopping_rounds: int | None
    n_threads: int
    # (n_features,) int64, or None: categories of each feature, -1 of numbers; None: all are numbers
    n_known: np.ndarray | None = None
    sampling: Sampling | None = None  # What each tree sees; None: everything
    reg_lambda: float = 0.0  # L2 penalty on leaf values
    # (n_features,) int8, or None: monotonic constraints, one of them at least not 0
    signs: np.ndarray | None = None


@dataclass(frozen=True)
class Boosted:
    """What boosting returns."""

    forest: Forest
    initial: np.ndarray  # (n_trees_per_round,): initial scores
    n_rounds: int


class Earlier(NamedTuple):
    """A model whose rounds are the first of another, and what it says of the training rows."""

    model: Boosted
    scores: np.ndarray  # (n_samples, n_trees_per_round)
    acquired: np.ndarray  # (n_samples, n_features) bool


def bounded(limits: Limits, n_samples: int, weights: RowWeights) -> Limits:
    """Limits whose `max_leaves` is no more than a tree of these rows can have."""
    # A leaf holds at least min_samples_leaf of the weight and at least one row.
    most = min(n_samples, max(1, int(weights.sum // limits.min_samples_leaf)))
    if limits.max_depth >= 0:
        most = min(most, 2 ** min(limits.max_depth, 62))
    if limits.max_leaves > 0:
        most = min(most, limits.max_leaves)
    return limits._replace(max_leaves=most)


def check_leaves(values: np.ndarray) -> None:
    """Refuse leaf values that no later round could go on from."""
    if not np.all(np.abs(values) < _LARGEST_LEAF):
        raise ValueError(
            f"The scores diverge (a leaf value of {np.max(np.abs(values)):.3g}): use a smaller "
            "learning_rate, or a larger min_samples_leaf or min_hessian_leaf."
        )


class Rounds(Protocol):
    """Who holds the rows and grows the trees: this process, or the workers of a cluster."""

    builder: ForestBuilder
    penalty: NamedTuple

    def begin_round(self) -> None:
        """Prepare what all trees of the next round are grown on."""

    def grow(self, tree: int) -> bool:
        """Grow a tree of the round and bring the scores up to date; return whether it has a split.

        Parameters
        ----------
        tree : int
            Its number in the round.
        """


class _Rounds:
    """Memory and state of a running fit whose rows are in this process."""

    def __init__(self, X, y, weights: RowWeights, loss: Loss, options: Options, charging: Charging):
        self.loss, self.options, self.weights, self.y = loss, options, weights, y
        self.binned: BinnedMatrix = bin_matrix(
            X, weights.counts, options.max_bins, options.n_threads
        )
        n_samples = len(X)
        self.limits = bounded(options.limits, n_samples, weights)
        self.second_order = options.second_order and not options.newton_leaves
        equal_hessians = loss.kind == SQUARED or not self.second_order
        self.gh = allocate_gh(weights, n_samples, equal_hessians)
        n_words = words_of(self.gh, equal_hessians)
        known = options.n_known
        sets = None if known is None else known >= 0
        self.memory = grower.allocate(
            self.binned, self.limits.max_leaves, n_words, sets, options.signs
        )
        self.nodes, self.workspace = self.memory.nodes, self.memory.workspace
        self.builder = builder_of(self.binned.edges, known)
        self.count_step = 2.0**-weights.exponent
        self.rounding: float | None = None
        n_nodes = len(self.nodes.feature)
        self.charging = charging
        self.penalty = charging.begin(n_samples, weights.total, self.count_step, n_nodes)
        self.samples = Samples(options.sampling, *X.shape)
        if self.samples.of_rows:
            self.penalty = charging.for_samples(self.penalty)

    def start(self, initial: np.ndarray) -> None:
        """Set the scores of all rows to the initial ones."""
        self.scores = np.empty((len(self.y), len(initial)), order="F")
        self.scores[:] = initial
        self.scratch = self.loss.scratch(self.scores, self.memory.hists.words)

    def go_on(self, earlier: Earlier) -> None:
        """Bring scores, accounts and draws to where an earlier model's rounds have left them."""
        forest, loss = earlier.model.forest, self.loss
        self.begin_round()
        d = loss.derivatives(self.prepared, self.y, 0, self.weights, self.second_order, self.gh)
        self.rounding = loss.rounding(d.gradient_step, loss.largest_target(self.y))
        self.scores[:] = earlier.scores
        used = np.unique(forest.feature[forest.feature >= 0])
        n_split = int(forest.n_split_trees(1)[-1])
        self.charging.go_on(self.penalty, used, n_split, earlier.acquired)
        self.charging.recount(self.penalty, d.halves)
        for _ in range(forest.n_trees):
            self.samples.draw()

    def begin_round(self) -> None:
        """Compute the transcendental part of the derivatives."""
        self.prepared = self.loss.prepare(self.scores, self.scratch, self.options.n_threads)

    def grow(self, tree: int) -> bool:
        """Grow one tree and add it to the scores; return whether it has a split."""
        options, loss, weights = self.options, self.loss, self.weights
        prepared, y, rows = self.prepared, self.y, self.workspace.rows
        d = loss.derivatives(prepared, y, tree, weights, self.second_order, self.gh)
        if self.rounding is None:  # the first round
            self.rounding = loss.rounding(d.gradient_step, loss.largest_target(y))
        steps = d.gradient_step, d.hessian_step, self.count_step
        scale = Scale(*steps, self.rounding, options.reg_lambda)
        sample = self.samples.draw()
        if sample.rows is not None:
            sample.leave_out(d.gh)
            self.charging.recount(self.penalty, d.halves)
        training = grower.Training(sample.layout(self.binned.layout), d.halves, scale, self.limits)
        n_nodes = grower.grow(training, self.memory, self.penalty)
        sample.send_missing_right(self.nodes, n_nodes, self.binned.layout)
        newton = None
        if options.newton_leaves:  # the tree is grown: its memory is free for the true hessians
            if loss.prepared_is_lost:
                self.begin_round()  # the scores are as they were
            d = loss.derivatives(prepared, y, tree, weights, True, self.gh, hessians=True)
            sample.leave_out(d.gh)
            newton = np.empty(n_nodes, dtype=np.int64), d.hessian_step
            sum_hessians(self.nodes, n_nodes, rows, d.halves, newton[0])
        least = self.limits.min_hessian_leaf
        values = self.builder.add(self.nodes, n_nodes, scale, least, newton)
        if options.signs is not None:
            if newton is not None:
                bound_anew(self.nodes, n_nodes, scale, least, *newton)
            keep_within(self.nodes, n_nodes, values)
        check_leaves(values)
        column = self.scores[:, tree]
        add_to_scores(self.nodes, n_nodes, rows, values, options.learning_rate, column)
        return n_nodes > 1


def boost(
    X: np.ndarray,
    y: np.ndarray,
    weights: RowWeights,
    loss: Loss,
    options: Options,
    charging: Charging,
    validation: Validation | None = None,
    callbacks: tuple[Callback, ...] = (),
    earlier: Earlier | None = None,
) -> Boosted:
    """Fit an additive tree model, Eq. (7) round by round."""
    n_trees = loss.n_trees
    initial = loss.initial_score(y, weights) if options.start_at_mean else np.zeros(n_trees)
    with threads(options.n_threads, X.size):
        state = _Rounds(X, y, weights, loss, options, charging)
        if earlier is None:
            state.start(initial)
            return run_rounds(state, initial, options, charging, validation, callbacks)
        state.start(earlier.model.initial)
        state.go_on(earlier)
        begun = earlier.model
        return run_rounds(state, begun.initial, options, charging, validation, callbacks, begun)


def _told(
    n_rounds: int, options: Options, forest: Forest, n_trees: int, validation: Validation | None
) -> Round:
    """What callbacks are told of the last round."""
    last = forest.left[forest.tree[-1 - n_trees] :]
    score = None if validation is None else validation.history[-1]
    best = None if validation is None else validation.best_round
    return Round(n_rounds, options.n_estimators, int(np.count_nonzero(last >= 0)), score, best)


def run_rounds(
    state: Rounds,
    initial: np.ndarray,
    options: Options,
    charging: Charging,
    validation: Validation | None = None,
    callbacks: tuple[Callback, ...] = (),
    begun: Boosted | None = None,
) -> Boosted:
    """Boost round by round, wherever the rows are."""
    n_trees, n_rounds, stopping = len(initial), 0 if begun is None else begun.n_rounds, False
    n_before = n_rounds
    if validation is not None:
        validation.start(initial)
        for first_tree in range(0, n_before * n_trees, n_trees):
            shorter = begun.forest.first(first_tree + n_trees)
            validation.update(shorter, first_tree, options.learning_rate)
    while n_rounds < options.n_estimators:
        state.begin_round()
        split = False
        for tree in range(n_trees):
            split |= state.grow(tree)
        if not split:  # nor would any later round
            break
        charging.end_round(state.penalty)
        n_rounds += 1
        if validation is not None:
            first_tree = (n_rounds - n_before - 1) * n_trees
            validation.update(state.builder.forest(), first_tree, options.learning_rate)
        if callbacks:
            told = _told(n_rounds, options, state.builder.forest(), n_trees, validation)
            stopping = asked_to_stop(callbacks, told)
        patience = options.early_stopping_rounds
        late = validation is not None and patience is not None
        if stopping or (late and n_rounds - validation.best_round >= patience):
            break
    if validation is not None:
        validation.check_some_score(options.early_stopping_rounds is not None)
        if options.early_stopping_rounds is not None:
            n_rounds = validation.best_round or n_rounds
    forest = state.builder.forest()
    forest = forest if begun is None else joined([begun.forest, forest])
    return Boosted(forest.first(n_rounds * n_trees), initial, n_rounds)
