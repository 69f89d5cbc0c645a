"""What libraries compare with their thresholds: rows as they see them."""

from __future__ import annotations

import numpy as np

_LIGHTGBM_ZERO = float(np.float32(1e-35))


def double_precision(X: np.ndarray) -> np.ndarray:
    """Numbers as they are."""
    return X


def single_precision(X: np.ndarray) -> np.ndarray:
    """Numbers rounded to single precision."""
    with np.errstate(over="ignore"):  # beyond float32 is infinite, for the library too
        return X.astype(np.float32).astype(np.float64)


def tiny_is_zero(X: np.ndarray) -> np.ndarray:
    """Numbers, those of at most 1e-35 in size as 0."""
    return np.where(np.abs(X) <= _LIGHTGBM_ZERO, 0.0, X)


AS_SEEN = {
    "double": double_precision,
    "single": single_precision,
    "tiny_is_zero": tiny_is_zero,
}
"""How a library compares numbers with thresholds, by the name that files give it."""
