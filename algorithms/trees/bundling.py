"""Exclusive feature bundling without conflicts: which features share a column of bins.

Memory for columns is lent to the threads of a pool, which use it in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from ..kernels.decorators import allocating_kernel


class LentColumns:
    """Memory for some columns, lent to each of several threads while it works on a task.

    The system's allocator would keep what each thread asks for and gives back (glibc: up to 32 MB
    an array, in a heap for each thread), beside all that boosting allocates later.
    """

    def __init__(self, n_threads: int, n_columns: int, n_samples: int) -> None:
        self._free: SimpleQueue[np.ndarray] = SimpleQueue()
        for memory in np.empty((n_threads, n_columns, n_samples)):
            self._free.put(memory)

    def to(self, task: Callable) -> Callable:
        """Return ``task(argument, memory)`` as a function of its argument alone."""

        def run(argument):
            memory = self._free.get()
            try:
                return task(argument, memory)
            finally:
                self._free.put(memory)

        return run


MAX_CODES = 256
"""A code fits in one byte."""


class Bundle(NamedTuple):
    """A column: its features, in order, and how many codes it has."""

    features: list[int]
    n_codes: int


def bundles(outside: dict[int, np.ndarray], n_bins: np.ndarray, n_features: int) -> list[Bundle]:
    """Group features greedily, in order, so that no row is outside the default bin of two."""
    candidates = sorted(outside)
    first = np.arange(n_features)
    if len(candidates) > 1:
        # Whole words are compared at a time.
        n_bytes = -(-len(outside[candidates[0]]) // 8) * 8
        taken = np.zeros((len(candidates), n_bytes), dtype=np.uint8)
        for row, feature in zip(taken, candidates, strict=True):
            rows = outside.pop(feature)
            row[: len(rows)] = rows
        home = _first_fit(taken.view(np.uint64), n_bins[candidates] - 1)
        first[candidates] = np.array(candidates)[home]
    outside.clear()
    together: dict[int, list[int]] = {}
    for feature, leader in enumerate(first.tolist()):
        together.setdefault(leader, []).append(feature)
    return [
        Bundle(features, 1 + int(n_bins[features].sum()) - len(features))
        for features in together.values()
    ]


@allocating_kernel
def _first_fit(taken, n_codes):
    """For each candidate the first of those before it whose bundle it fits into, or itself.

    In `taken` (uint64, one row a candidate) the rows of a bundle are gathered in its first one.
    """
    n_candidates, n_words = taken.shape
    home = np.empty(n_candidates, dtype=np.int64)
    open_bundles = np.empty(n_candidates, dtype=np.int64)
    total = np.empty(n_candidates, dtype=np.int64)
    n_open = 0
    for i in range(n_candidates):
        home[i] = i
        for b in range(n_open):
            first = open_bundles[b]
            if total[first] + n_codes[i] > MAX_CODES:
                continue
            apart = True
            for w in range(n_words):
                if taken[first, w] & taken[i, w]:
                    apart = False
                    break
            if apart:
                home[i] = first
                break
        if home[i] == i:
            open_bundles[n_open] = i
            n_open += 1
            total[i] = 1 + n_codes[i]
        else:
            first = home[i]
            total[first] += n_codes[i]
            for w in range(n_words):
                taken[first, w] |= taken[i, w]
    return home
