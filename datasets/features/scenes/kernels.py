"""Kernels between pictures: histogram intersection and RBF, on descriptors in bytes.

Intersection: the weighted sum of min(a, b) over the values, divided by the square root of both
pictures' own, so that a picture with itself gives 1. RBF: exp(-|a - b|² / m), m the mean of
|a - b|² over all pairs of different pictures of the reference, that is a rule, not a setting.
"""

from __future__ import annotations

import numba
import numpy as np

from datasets.features.scenes.descriptors import Descriptor


@numba.njit(cache=True, nogil=True)
def _intersections(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            total = 0
            for k in range(a.shape[1]):
                total += min(a[i, k], b[j, k])
            out[i, j] = total


def intersections(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Sum the smaller of two values over all values, for each pair of rows."""
    out = np.empty((len(a), len(b)))
    _intersections(np.ascontiguousarray(a), np.ascontiguousarray(b), out)
    return out


def squared_distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Give |a - b|² for each pair of rows of bytes, exact, (n, m) float64."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    distances = np.einsum("ij,ij->i", a, a)[:, None] - 2 * (a @ b.T)
    distances += np.einsum("ij,ij->i", b, b)
    return distances


class Kernel:
    """The kernel of one descriptor against the pictures of a reference."""

    def __init__(self, descriptor: Descriptor, reference: np.ndarray) -> None:
        self.descriptor = descriptor
        self.reference = np.ascontiguousarray(reference)
        if descriptor.kernel == "intersection":
            self.own = self._own(self.reference)
        else:
            m = len(reference)
            total = squared_distances(self.reference, self.reference).sum()
            self.mean = max(total / (m * (m - 1)), 1.0)

    def _weighted(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        total, first = 0.0, 0
        for size, weight in self.descriptor.parts:
            part = slice(first, first + size)
            total = total + weight * intersections(a[:, part], b[:, part])
            first += size
        return total

    def _own(self, a: np.ndarray) -> np.ndarray:
        """Give the intersection of each picture with itself, at least that of one grey value."""
        total, first = np.zeros(len(a)), 0
        for size, weight in self.descriptor.parts:
            total += weight * a[:, first : first + size].sum(axis=1, dtype=np.int64)
            first += size
        return np.maximum(total, 1e-3)

    def rows(self, pictures: np.ndarray) -> np.ndarray:
        """Compare pictures with the reference."""
        if self.descriptor.kernel == "intersection":
            weighted = self._weighted(pictures, self.reference)
            weighted /= np.sqrt(self._own(pictures)[:, None] * self.own)
            return weighted
        return np.exp(-squared_distances(pictures, self.reference) / self.mean)
