"""The features of a training as 8-bit columns, and their families."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..grid import row_weights
from ..kernels.arrays import read_only
from ..trees.binning import MAX_BINS, bin_edges
from .search import DefaultCodes, code_above


def check_families(families: Sequence[ArrayLike] | None, n_features: int) -> list[np.ndarray]:
    """Validate a partition of the features."""
    if families is None:
        return [np.arange(n_features)]
    if not isinstance(families, list | tuple | np.ndarray) or getattr(families, "ndim", 1) == 0:
        raise ValueError(f"families must be a list of lists of column numbers, got {families!r}.")
    checked = []
    for k, family in enumerate(families):
        try:
            columns = np.asarray(family)
        except ValueError:  # a list of lists of different lengths
            columns = np.empty((0, 0))
        if columns.ndim != 1 or (columns.size and columns.dtype.kind not in "iu"):
            raise ValueError(f"families: family {k} must be a list of column numbers.")
        if not columns.size:
            raise ValueError(f"families: family {k} has no columns.")
        if columns.min() < 0 or columns.max() >= n_features:
            raise ValueError(
                f"families: family {k} has a column that X lacks (0 to {n_features - 1})."
            )
        checked.append(np.sort(columns).astype(np.int64))
    counts = np.bincount(np.concatenate([*checked, np.zeros(0, int)]), minlength=n_features)
    if np.any(counts != 1):
        column = int(np.argmax(counts != 1))
        raise ValueError(
            "families must hold every column of X exactly once; column "
            f"{column} is in {counts[column]} of them."
        )
    return checked


class Columns:
    """The training features as 8-bit columns, and the thresholds between their codes."""

    def __init__(
        self,
        X: np.ndarray,
        sample_weight: np.ndarray | None,
        edges: list[np.ndarray] | None = None,
    ) -> None:
        self._edges = edges
        if X.dtype == np.uint8:  # no copy if X is in Fortran order, so it may be a file
            codes = np.ascontiguousarray(X.T)
        else:
            codes = np.empty(X.shape[::-1], dtype=np.uint8)
            if edges is None:
                counts = row_weights(sample_weight, len(X)).counts
                edges = [bin_edges(X[:, m].copy(), counts, MAX_BINS) for m in range(X.shape[1])]
            self._edges = edges
            for m, of_feature in enumerate(edges):
                codes[m] = np.searchsorted(of_feature, X[:, m], side="left")
        self.codes = read_only(codes)
        self.defaults = DefaultCodes(self.codes)

    def threshold(self, feature: int, cut: int) -> float:
        """Halfway between the values that the cut separates."""
        if self._edges is not None:
            return float(self._edges[feature][cut])
        return 0.5 * (cut + float(code_above(self.codes[feature], cut)))
