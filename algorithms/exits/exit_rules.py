"""Who leaves an additive model at an exit: the rules of :mod:`algorithms.early_exit`.

With them is what rows that leave early have answered, and paid, after each round.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score, r2_score

from ..cost_meter.meter import warn_if_free
from ..estimators.parameters import check_number, shown
from ..estimators.scoring import check_scored
from ..kernels.decorators import kernel, resolve_n_threads
from ..kernels.loops import for_each
from ..trees.predictor import staged_scores
from ..validation.types import FeatureCosts

# --- places within queries ---------------------------------------------------------------------

# The k-th best score, and the order of rows that left at other exits.

_FEW = 8  # among so many the best are found sooner by insertion


def ranks_by_exit(exits: np.ndarray, scores: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Number of rows of the same query that left earlier, or with a row and lower scores."""
    sizes = np.diff(np.append(starts, len(exits)))
    query = np.repeat(np.arange(len(starts)), sizes)
    order = np.lexsort((scores, exits, query))
    differs = np.ones(len(exits), dtype=bool)
    keys = [values[order] for values in (query, exits, scores)]
    differs[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    lower = np.maximum.accumulate(np.where(differs, np.arange(len(exits)), 0))
    ranking = np.empty(len(exits))
    ranking[order] = lower - starts[query]  # a query's rows keep their places as a block
    return ranking


@kernel
def _kth_largest(values, k):
    """Find the k-th largest value (k from 1); the values change places."""
    low, high = 0, values.shape[0] - 1
    place = values.shape[0] - k
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:  # equal values are exchanged, so that ties divide evenly
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            break
    return values[place]


@kernel
def _kth_largest_of_ends(values, k, sign, best):
    """Find the k-th largest of ``sign * values`` by keeping the k largest so far in `best`."""
    for i in range(values.shape[0]):
        value = sign * values[i]
        if i < k or value > best[k - 1]:
            j = min(i, k - 1)
            while j > 0 and best[j - 1] < value:
                best[j] = best[j - 1]
                j -= 1
            best[j] = value
    return sign * best[k - 1]


@kernel
def _near_kth_largest_of_query(q, scores, starts, k, margin, scratch, stays):
    begin, end = starts[q], starts[q + 1]
    if k[q] < 1 or k[q] >= end - begin:
        stays[begin:end] = k[q] >= 1
        return
    here, space, from_below = scores[begin:end], scratch[begin:end], end - begin - k[q] + 1
    if k[q] <= _FEW:
        at_place = _kth_largest_of_ends(here, k[q], 1.0, space)
    elif from_below <= _FEW:
        at_place = _kth_largest_of_ends(here, from_below, -1.0, space)
    else:
        for i in range(end - begin):
            space[i] = here[i]
        at_place = _kth_largest(space, k[q])
    for i in range(begin, end):
        stays[i] = not at_place - scores[i] > margin


@kernel
def near_kth_largest(
    scores: NDArray[np.float64],
    starts: NDArray[np.int64],
    k: NDArray[np.int64],
    margin: float,
    scratch: NDArray[np.float64],
    stays: NDArray[np.bool_],
) -> None:
    """Write who is no more than a margin below the k-th largest score of the query, k its own.

    With margin 0 these are the scores that are not below it.
    """
    captured = scores, starts, k, margin, scratch, stays
    for_each(_near_kth_largest_of_query, k.shape[0], True, captured)


# --- after each round --------------------------------------------------------------------------


class StagedExits:
    """The rounds of an :class:`algorithms.early_exit.EarlyExit`; a mixin.

    After round k rows that have left have what they left with, and all others what they have so
    far.
    """

    def _staged_columns(self, X: np.ndarray, starts: np.ndarray) -> Iterator[np.ndarray]:
        """Scores (n_samples, n_columns) of checked rows after 1, 2, … rounds."""
        responses, rounds = self.responses_, self._exits(X, starts).rounds
        model = (responses.forest, responses.contributions, responses.initial_scores)
        kept = np.tile(responses.initial_scores, (len(X), 1))
        stages = staged_scores(*model, X, resolve_n_threads(responses.meter.n_threads))
        for k, scores in enumerate(stages, 1):
            walking = rounds >= k
            kept[walking] = scores[walking]
            yield kept.copy()

    def staged_predict(
        self, X: ArrayLike, query_id: ArrayLike | None = None
    ) -> Iterator[np.ndarray]:
        """What :meth:`predict` gives after 1, 2, … rounds."""
        for scores in self._staged_columns(*self._rows(X, query_id)):
            yield self._predicted(scores)

    def staged_decision_function(
        self, X: ArrayLike, query_id: ArrayLike | None = None
    ) -> Iterator[np.ndarray]:
        """What :meth:`decision_function` gives after 1, 2, … rounds; as :meth:`staged_predict`."""
        for scores in self._staged_columns(*self._rows(X, query_id)):
            yield scores[:, 0] if scores.shape[1] == 1 else scores

    def staged_cost(
        self,
        X: ArrayLike,
        query_id: ArrayLike | None = None,
        *,
        feature_costs: FeatureCosts = None,
        split_cost: float | None = None,
        tree_cost: float = 0.0,
    ) -> Iterator[np.ndarray]:
        """What :meth:`prediction_cost` gives after 1, 2, … rounds."""
        tree_cost = check_number("tree_cost", tree_cost)
        responses = self.responses_
        prices = responses.meter._grid_prices(feature_costs, split_cost)
        X, starts = self._rows(X, query_id)
        if tree_cost == 0:
            warn_if_free(responses.meter, feature_costs, split_cost)
        rounds = self._exits(X, starts).rounds
        n_trees = responses.meter.trees_.n_split_trees(responses.n_columns)
        ends = [k * responses.n_columns for k in range(1, responses.n_rounds + 1)]
        kept = np.zeros(len(X), dtype=np.int64)
        for k, (_, paid, _) in enumerate(responses.meter._walk(X, prices, ends) if ends else (), 1):
            walking = rounds >= k
            kept[walking] = paid[walking]
            yield prices.cost(kept) + tree_cost * n_trees[np.minimum(rounds, k)]

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of a classifier, else R², of the predictions at the exits."""
        check_scored(y, sample_weight)
        metric = accuracy_score if self.rule == "likelihood" else r2_score
        return float(metric(y, self.predict(X), sample_weight=sample_weight))


# --- the rules ---------------------------------------------------------------------------------

RANKING_RULES = ("proximity", "score", "capacity", "rank")
RULES = (*RANKING_RULES, "likelihood")


def exit_rounds(n_rounds: int, every: int) -> list[int]:
    """Rounds evaluated before each exit."""
    return list(range(every, n_rounds + 1, every))


def proximity_margin(i: int, n_exits: int, s: float) -> float:
    """(E - i)/(E - 1) s at exit i, from 1; s if there is but one exit."""
    return s if n_exits == 1 else (n_exits - i) / (n_exits - 1) * s


def check_threshold(rule: str, threshold: object) -> float:
    """Check s by its rule."""
    number = isinstance(threshold, Real) and not isinstance(threshold, bool | np.bool_)
    least = "" if rule == "score" else " >= 0"
    try:
        number = number and not math.isnan(threshold)
    except OverflowError:  # a whole number beyond any float
        number = False
    if not number or (least and threshold < 0):
        raise ValueError(
            f"threshold must be a number{least} with rule={rule!r}, got {shown(threshold)}."
        )
    return float(threshold)


def documents_stay(
    rule: str, s: float, i: int, n_exits: int, place: int, scores: np.ndarray, starts: np.ndarray
) -> np.ndarray:
    """Apply a rule of ranking at exit i to the documents that remain."""
    scores = np.ascontiguousarray(scores[:, 0])
    if rule == "score":
        return scores >= s
    sizes = starts[1:] - starts[:-1]
    margin = 0.0
    if rule == "proximity":
        k = np.full(len(sizes), min(place, len(scores)), dtype=np.int64)
        margin = proximity_margin(i, n_exits, s)
    else:  # so many stay of each query: fewer others are better
        with np.errstate(over="ignore"):
            share = np.ceil(s * sizes) if rule == "capacity" else np.floor(s)
        k = np.minimum(share, sizes).astype(np.int64)
    stays = np.empty(len(scores), dtype=bool)
    near_kth_largest(scores, starts, k, margin, np.empty_like(scores), stays)
    return stays
