"""LambdaRank: gradients of a ranking, each pair of documents weighted by what it moves of NDCG.

C. J. C. Burges: From RankNet to LambdaRank to LambdaMART: An overview. Microsoft Research Technical
Report MSR-TR-2010-82 (2010); truncation and normalisation are those of LightGBM's documentation
(``lambdarank_truncation_level``, ``lambdarank_norm``). The rules, one by one, are those of the
reference, :mod:`reference.beyond.lambdarank`: the gain of a grade is 2^grade - 1, sigma is 1,
documents of equal score stand least relevant first, and those of equal grade besides share a place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .grid import RowWeights, sum_exponent
from .kernels.decorators import kernel
from .kernels.loops import for_each
from .losses import Derivatives, Loss
from .metrics import best_dcg, grade_gains, query_starts

TRUNCATION = 30  # LightGBM's default
MOST_DOCUMENTS = 10_000
"""Of a query: pairs grow with the square, and the grid gets coarser. LightGBM has this limit."""

_LEAST_DISTANCE = 0.01
_LOWEST_SCORE = -700.0  # of which exp is no smaller than a normal number
_LARGEST_PAIR = 1.0 / _LEAST_DISTANCE


def pair_exponent(largest: int) -> int:
    """Exponent k of the pairs' grid ``2.0 ** -k``, by the documents of the largest query.

    Sums of a row stay below 2**52, those of a query below 2**62.
    """
    of_row, of_query = _LARGEST_PAIR * largest, _LARGEST_PAIR * largest * largest
    return min(sum_exponent(of_row), 10 + sum_exponent(of_query))


@kernel
def _sort(scores, y, order, begin, end):
    """Bring the rows of a query into rank order, fast if little has changed since the last time."""
    for place in range(begin + 1, end):
        row, at = order[place], place
        while at > begin:
            other = order[at - 1]
            tied = scores[row] == scores[other]
            if not (scores[row] > scores[other] or (tied and y[row] < y[other])):
                break
            order[at] = other
            at -= 1
        order[at] = row


@kernel
def _query(scores, e, y, gains, inverse, discount, truncation, step, begin, end, order, g, h):
    """Sums of one query's pairs, in grid steps; return that of all sizes of lambda, twice."""
    _sort(scores, y, order, begin, end)
    for row in range(begin, end):
        g[row] = 0
        h[row] = 0
    all_equal = scores[order[begin]] == scores[order[end - 1]]
    total, place = np.int64(0), np.int64(0)
    for a in range(begin, end):
        i = order[a]
        if a > begin:
            above = order[a - 1]
            if scores[above] != scores[i] or y[above] != y[i]:
                place = a - begin
        if place >= truncation:
            break
        below = place
        for b in range(a + 1, end):
            j, above = order[b], order[b - 1]
            if scores[above] != scores[j] or y[above] != y[j]:
                below = b - begin
            if y[i] == y[j]:
                continue
            high, low = (i, j) if y[i] > y[j] else (j, i)
            delta = (gains[high] - gains[low]) * abs(discount[place] - discount[below]) * inverse
            if not all_equal:
                delta = delta / (_LEAST_DISTANCE + abs(scores[high] - scores[low]))
            both = e[high] + e[low]
            size = delta * (e[low] / both)
            slope = size * (e[high] / both)
            size_steps, slope_steps = (
                np.int64(np.rint(size * step)),
                np.int64(np.rint(slope * step)),
            )
            g[high] -= size_steps
            g[low] += size_steps
            h[high] += slope_steps
            h[low] += slope_steps
            total += 2 * size_steps
    return total


@kernel
def _derive_query(
    q, scores, e, y, gains, inverse, discount, truncation, step, starts, order, g, h, totals
):
    totals[q] = _query(
        scores, e, y, gains, inverse[q], discount, truncation, step, starts[q], starts[q + 1],
        order, g, h,
    )  # fmt: skip


@kernel
def _queries(scores, e, y, gains, inverse, discount, truncation, step, starts, order, g, h, totals):
    """Each query by itself: threads write to rows of their own."""
    captured = (
        scores, e, y, gains, inverse, discount, truncation, step, starts, order, g, h, totals,
    )  # fmt: skip
    for_each(_derive_query, totals.shape[0], True, captured)


def nothing_to_rank(loss: Loss) -> bool:
    """Whether a loss is of rankings, and no query has documents of different grades."""
    return isinstance(loss, LambdaRank) and not loss.has_pairs()


class LambdaRank(Loss):
    """The loss of rankings: the derivatives of a training set's queries."""

    def __init__(
        self, y: np.ndarray, query_id: np.ndarray, weights: np.ndarray | None, truncation: int
    ) -> None:
        super().__init__("squared")
        self.name, self.kind = "lambdarank", -1  # of no kernel of `losses`
        self._y, self._gains, starts = y, grade_gains(y), query_starts(query_id)
        self._starts = np.append(starts, len(y))
        self._sizes = np.diff(self._starts)
        largest = int(self._sizes.max())
        if largest > MOST_DOCUMENTS:
            raise ValueError(
                f"A query has {largest} documents: objective='lambdarank' takes {MOST_DOCUMENTS} "
                "at most, as their pairs grow with the square."
            )
        if weights is not None and np.any(weights != np.repeat(weights[starts], self._sizes)):
            raise ValueError(
                "sample_weight must be the same for all documents of a query: with "
                "objective='lambdarank' weights count queries."
            )
        self._truncation, self._exponent = truncation, pair_exponent(largest)
        self._discount = 1.0 / np.log2(np.arange(2, largest + 2, dtype=np.float64))
        best = best_dcg(y, starts, truncation)
        self._inverse = np.divide(1.0, best, out=np.zeros(len(best)), where=best > 0)
        self._order = np.arange(len(y))
        self._steps = np.empty((2, len(y)), dtype=np.int64)
        self._totals = np.empty(len(starts), dtype=np.int64)

    def has_pairs(self) -> bool:
        """Whether any query has documents of different grades."""
        highest = np.maximum.reduceat(self._y, self._starts[:-1])
        return bool(np.any(highest != np.minimum.reduceat(self._y, self._starts[:-1])))

    def initial_score(self, y: np.ndarray, weights: RowWeights) -> np.ndarray:
        """Zero: no constant ranks anything."""
        return np.zeros(1)

    def largest_target(self, y: np.ndarray) -> float:
        """Zero: grades are compared, and no score comes near them."""
        return 0.0

    def rounding(self, first_step: float, largest_target: float) -> float:
        """Size up to which a gradient may be what rounding has left of a row's pairs."""
        return int(self._sizes.max()) * 2.0**-self._exponent

    @property
    def prepared_is_lost(self) -> bool:
        """Never: what is prepared has memory of its own."""
        return False

    def scratch(self, scores: np.ndarray, words: np.ndarray) -> np.ndarray:
        """Memory for the gradients and the hessians, (2, n_samples)."""
        return np.empty((2, len(scores)))

    def prepare(self, scores: np.ndarray, out: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """Gradients and hessians of all rows."""
        column, k = scores[:, 0], self._exponent
        tops = np.maximum.reduceat(column, self._starts[:-1])
        e = np.exp(np.maximum(column - np.repeat(tops, self._sizes), _LOWEST_SCORE))
        _queries(
            column, e, self._y, self._gains, self._inverse, self._discount, self._truncation,
            2.0**k, self._starts, self._order, *self._steps, self._totals,
        )  # fmt: skip
        sums = np.ldexp(self._totals.astype(np.float64), -k)
        factor = np.ones(len(sums))
        np.divide(np.log2(1.0 + sums), sums, out=factor, where=sums > 0)
        np.multiply(
            np.ldexp(self._steps.astype(np.float64), -k), np.repeat(factor, self._sizes), out
        )
        return out

    def largest_derivatives(
        self, prepared: Any, y: Any, tree: int, second_order: bool
    ) -> np.ndarray:
        """Largest gradient, in magnitude, and hessian of the rows, shape (2,)."""
        g, h = np.abs(prepared).max(axis=1)
        return np.array([g, h if second_order else 1.0])

    def derivatives_on_grid(
        self,
        prepared: Any,
        y: Any,
        tree: int,
        weights: RowWeights,
        second_order: bool,
        exponents: tuple[int, int],
        gh: np.ndarray,
        hessians: bool = False,
    ) -> Derivatives:
        """Round to two grids; see :meth:`algorithms.losses.Loss.derivatives_on_grid`."""
        g, h = (np.ldexp(part, k) for part, k in zip(prepared, exponents, strict=True))
        if not second_order:
            h = np.full(len(g), 2.0 ** exponents[1])
        if weights.whole:  # so that a weight of 3 equals three copies
            g, h = np.rint(g), np.maximum(1.0, np.rint(h))
        if gh.itemsize == 8:
            g, h = np.rint(weights.values * g), np.maximum(1.0, np.rint(weights.values * h))
        if gh.shape[1] == 1:
            gh[:-1, 0] = h if hessians else g
            if not hessians:  # behind the gradients, that of all
                gh[-1, 0] = h[0]
        else:
            gh[:, 0], gh[:, 1] = g, h
        if gh.shape[1] == 3:
            gh[:, 2] = weights.counts
        return Derivatives(gh, 2.0 ** -exponents[0], 2.0 ** -exponents[1])
