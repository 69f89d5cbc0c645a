"""The training rows in each leaf of a Hamming tree while it grows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .search import DefaultCodes, Search, search, totals

_MOST_GATHERED = 2**26  # bytes of columns that are gathered at once


class Leaves:
    """Rows of the leaves; all are in node 0, the root, at first."""

    def __init__(
        self, columns: np.ndarray, defaults: DefaultCodes, signed: np.ndarray, n_threads: int
    ) -> None:
        self.columns, self._defaults, self._n_threads = columns, defaults, n_threads
        self._rows: dict[int, np.ndarray | None] = {0: None}  # all
        self._signed = {0: signed}

    def divide(self, node: int, feature: int, cut: int, first: int) -> tuple:
        """Send the rows of a leaf into two new ones."""
        rows, signed = self._rows.pop(node), self._signed.pop(node)
        codes = self.columns[feature]
        right = (codes if rows is None else codes[rows]) > cut
        sums, weights = np.empty((2, signed.shape[1]), np.int64), np.empty(2, np.int64)
        for i, there in enumerate((~right, right)):
            places = np.flatnonzero(there)
            self._rows[first + i] = places if rows is None else rows[places]
            self._signed[first + i] = signed[places]
            sums[i] = totals(self._signed[first + i])
            weights[i] = np.abs(self._signed[first + i]).sum(dtype=np.int64)
        return sums, weights

    def gathered(
        self, node: int, features: np.ndarray
    ) -> Iterator[tuple[slice, np.ndarray, np.ndarray, np.ndarray]]:
        """Blocks of features on the rows of a leaf that is not the root."""
        rows, signed = self._rows[node], self._signed[node]
        size = max(1, _MOST_GATHERED // max(1, len(rows)))
        for begin in range(0, len(features), size):
            block = slice(begin, begin + size)
            yield block, rows, signed, self._defaults.of(features[block])

    def search(self, node: int, features: np.ndarray, total: np.ndarray) -> Search:
        """Best cut of each feature on the rows of a leaf that is not the root."""
        parts = [
            search(self.columns, features[block], signed, self._n_threads, rows, defaults, total)
            for block, rows, signed, defaults in self.gathered(node, features)
        ]
        return Search(*(np.concatenate(values) for values in zip(*parts, strict=True)))

    def leaf_of(self) -> np.ndarray:
        """Node in which each row is, (n_samples,) int64."""
        of_row = np.zeros(self.columns.shape[1], dtype=np.int64)
        for node, rows in self._rows.items():
            if rows is not None:
                of_row[rows] = node
        return of_row
