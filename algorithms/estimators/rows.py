"""Rows to predict that need none of scikit-learn's checks, which take longer than a prediction."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.arrays import read_only
from ..kernels.decorators import kernel

_FLOAT64, _FLOAT32 = np.dtype(np.float64), np.dtype(np.float32)
_INFINITE = 0x7FF << 52  # the exponent bits: all set in infinities and NaN alone


@kernel
def _finite_bits(X):
    """Whether no value is missing or infinite; of bits, since sums of floats run one by one."""
    bits, found = X.reshape(-1).view(np.int64), False
    for k in range(bits.shape[0]):
        found |= (bits[k] & _INFINITE) == _INFINITE
    return not found


def all_finite(X: np.ndarray) -> bool:
    """Whether no value of rows (n_samples, n_features), float64, is missing or infinite."""
    return _finite_bits(read_only(X)) if X.flags.c_contiguous else bool(np.isfinite(X).all())


def plainly_rows(X: object, n_features: int) -> bool:
    """Whether something is an array of numpy's own class, of some rows of so many columns."""
    return type(X) is np.ndarray and X.ndim == 2 and X.shape[1] == n_features and len(X) > 0


def plain_rows(X: ArrayLike, n_features: int) -> np.ndarray | None:
    """Rows as scikit-learn's checks would return them, where it is plain that they would pass."""
    if not plainly_rows(X, n_features):
        return None
    if X.dtype not in (_FLOAT64, _FLOAT32):  # in this machine's byte order, that is
        return None
    rows = read_only(np.ascontiguousarray(X, dtype=np.float64))
    return rows if all_finite(rows) else None
