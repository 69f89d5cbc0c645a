"""What is told and watched after each round of boosting: callbacks, and a validation set."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..inputs.types import Metric
from ..losses import Loss
from ..metrics import larger_is_better, validation_score
from ..trees.forest import Forest
from ..trees.predictor import walk_scores


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
