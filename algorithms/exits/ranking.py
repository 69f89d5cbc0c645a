"""Places within queries: the k-th best score, and the order of rows that left at other exits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.decorators import kernel
from ..kernels.loops import for_each

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
