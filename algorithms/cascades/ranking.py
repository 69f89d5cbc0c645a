"""Places within queries: the k-th best score, and the order of rows that left at other exits."""

from __future__ import annotations

import numpy as np
from numba import prange

from ..kernels.decorators import kernel, parallel_kernel


def ranks_by_exit(exits: np.ndarray, scores: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Number of rows of the same query that left earlier, or with a row and lower scores.

    Parameters
    ----------
    exits : ndarray of shape (n_samples,), int64
    scores : ndarray of shape (n_samples,), float64
        At the exit.
    starts : ndarray of int64
        First row of each query.

    Returns
    -------
    ndarray of shape (n_samples,), float64
    """
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


@parallel_kernel
def kth_largest(scores, starts, k, scratch, out):
    """Write the k-th largest score of each query, k its own.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,), float64
    starts : ndarray of shape (n_queries + 1,), int64
    k : ndarray of shape (n_queries,), int64
        A query whose k is 0 or more than its rows gets infinity or minus infinity.
    scratch : ndarray like `scores`
    out : ndarray of shape (n_queries,), float64
    """
    for q in prange(k.shape[0]):
        begin, end = starts[q], starts[q + 1]
        if k[q] < 1:
            out[q] = np.inf
        elif k[q] > end - begin:
            out[q] = -np.inf
        else:
            scratch[begin:end] = scores[begin:end]
            out[q] = _kth_largest(scratch[begin:end], k[q])
