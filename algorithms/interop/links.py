"""From raw scores to what a library's own ``predict`` gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..losses import probabilities

UNKNOWN = "unknown"


def _logistic(scores: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-scores))


def _exponential(scores: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # infinite for the library, too
        return np.exp(scores)


def _softplus(scores: np.ndarray) -> np.ndarray:
    return np.logaddexp(0.0, scores)


def _signed_square(scores: np.ndarray) -> np.ndarray:
    return np.sign(scores) * scores * scores


def _mean_and_variance(scores: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.column_stack([scores[:, 0], np.exp(2.0 * scores[:, 1])])


INVERSE_LINKS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "identity": np.copy,
    "exponential": _exponential,
    "logistic": _logistic,
    "softplus": _softplus,
    "signed_square": _signed_square,
    "softmax": probabilities,
    "mean_and_variance": _mean_and_variance,
}
"""Functions of scores (n, n_outputs), by the name that files give them."""
_OF_SEVERAL = {"softmax", "mean_and_variance"}


class InverseLink(NamedTuple):
    """How a library turns raw scores into what its ``predict`` gives."""

    kind: str  # A key of ``INVERSE_LINKS``, or ``"unknown"``: in a way that is not followed here
    slope: float = 1.0  # What scores are multiplied by first

    def __call__(self, scores: np.ndarray, library: str) -> np.ndarray:
        """Predictions (n, n_outputs) of scores of this shape; ValueError if it is not known how."""
        if self.kind == UNKNOWN:
            raise ValueError(
                f"How this {library} model predicts from its raw scores is not known here: take "
                "predict_raw, or the library's own predict."
            )
        return INVERSE_LINKS[self.kind](scores if self.slope == 1.0 else self.slope * scores)

    def check(self, n_outputs: int) -> None:
        """Refuse what no reader gives (ValueError)."""
        if self.kind != UNKNOWN and self.kind not in INVERSE_LINKS:
            raise ValueError("its inverse link is of an unknown kind")
        if not 0.0 < self.slope < 1e100:
            raise ValueError("the slope of its inverse link must be positive and finite")
        if self.kind in _OF_SEVERAL and n_outputs < 2:
            raise ValueError("its inverse link needs several scores")
        if self.kind == "mean_and_variance" and n_outputs != 2:
            raise ValueError("its inverse link needs two scores")
