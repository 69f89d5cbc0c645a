"""Sparse matrices as boosted trees read them: a column or a few rows at a time, never all densely.

What is not stored is 0, as in the dense matrix: results are equal bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

_VALUES_AT_ONCE = 2**21  # 16 MiB


class SparseColumns:
    """Columns of a sparse matrix, each made dense when it is asked for."""

    dtype = np.dtype(np.float64)

    def __init__(self, matrix: Any) -> None:
        self.matrix = sparse.csc_matrix(matrix)
        if not self.matrix.has_canonical_format:  # its memory may be the user's
            self.matrix = self.matrix.copy()
            self.matrix.sum_duplicates()
        self.shape = self.matrix.shape
        self.size = self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: tuple[slice, int]) -> np.ndarray:
        """Return one column, ``X[:, feature]``, (n_samples,) float64, in new memory."""
        rows, feature = key
        if rows.indices(len(self)) != (0, len(self), 1):
            raise IndexError("Only whole columns are read.")
        m, column = self.matrix, np.zeros(self.shape[0])
        stored = slice(m.indptr[feature], m.indptr[feature + 1])
        column[m.indices[stored]] = m.data[stored]
        return column

    def rows(self) -> SparseRows:
        """Return the same matrix by rows."""
        return SparseRows(self.matrix)


class SparseRows:
    """Rows of a sparse matrix, some of them made dense at a time."""

    dtype = None

    def __init__(self, matrix: Any) -> None:
        self._matrix = sparse.csr_matrix(matrix)
        self.shape = self._matrix.shape
        self.size = self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield all rows in order, (n_rows, n_features) float64, some megabytes at a time."""
        at_once = max(1, _VALUES_AT_ONCE // max(1, self.shape[1]))
        for begin in range(0, len(self), at_once):
            yield np.ascontiguousarray(self._matrix[begin : begin + at_once].toarray(), np.float64)

    def take(
        self, indices: np.ndarray, axis: int, out: None = None, mode: str = "raise"
    ) -> np.ndarray:
        """Return some columns, dense: what ``np.take(X, indices, axis=1)`` asks for."""
        if axis != 1 or out is not None or mode != "raise":
            raise ValueError("Only columns are taken.")
        return self._matrix[:, indices].toarray()


def dense_rows(X: np.ndarray | SparseRows, what: str) -> np.ndarray:
    """Refuse sparse rows where only dense ones are read."""
    if isinstance(X, SparseRows):
        raise ValueError(
            f"{what} reads dense rows: give X.toarray(), of a part of the rows if there are many."
        )
    return X
