"""Refuses before any work, by the rules of the fits, what these would refuse after it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from algorithms.costs import LARGEST_PRICE
from algorithms.estimators.fitting import check_sample_weight
from algorithms.validation.prices import listed
from experiments.compare.fields import Refused

_LARGEST_TARGET = 1e30
"""Libraries hold targets and gradients in single precision, which ends at 3.4e38."""

_SMALLEST_SPREAD = 1e-30
"""Single precision ends, at full precision, at 1.2e-38."""


_MOST_ROWS = 2.0**54  # more than row weights may sum to

_LARGEST_FEATURE = 1e300
"""Sums of two, of which binning takes the middle, are finite."""


def check_features(X: np.ndarray, names: Sequence[str], file: str) -> None:
    """Refuse values of features whose sums overflow."""
    large = np.any(np.abs(X) > _LARGEST_FEATURE, axis=0)
    if large.any():
        raise Refused(
            f"{file} has values beyond {_LARGEST_FEATURE:g} in the columns "
            f"{listed([names[m] for m in np.flatnonzero(large)])}: divide them by a constant."
        )


def check_weights(weights: np.ndarray, name: str) -> None:
    """Refuse weights whose sums are not exact: see the fits' own check."""
    with np.errstate(over="ignore"):
        try:
            check_sample_weight(weights, len(weights))
        except ValueError:
            raise Refused(
                f"The weights in column {name!r} must sum to at most 2**52 (4.5e+15), so that sums "
                "are exact: divide all of them by a constant."
            ) from None


def check_split_cost(split_cost: float) -> None:
    """Refuse a price of a split that no cost meter takes."""
    if not 0 <= split_cost <= LARGEST_PRICE:
        raise Refused(
            f"--split-cost must be a number from 0 to {LARGEST_PRICE:g}, not {split_cost:g}."
        )


def check_target(values: np.ndarray, name: str) -> None:
    """Refuse numbers that squares, or the single precision of some libraries, cannot hold."""
    largest, spread = float(np.max(np.abs(values))), float(np.max(values) - np.min(values))
    if largest > _LARGEST_TARGET:
        raise Refused(
            f"The target {name!r} has numbers beyond {_LARGEST_TARGET:g} ({largest:g}): divide all "
            "of them by a constant."
        )
    if spread < _SMALLEST_SPREAD:
        raise Refused(
            f"The numbers of the target {name!r} differ by {spread:g} at most: multiply all of "
            "them by a constant."
        )


def check_tradeoffs(tradeoffs: Sequence[float], prices: np.ndarray, origin: str) -> None:
    """Refuse prices of which λ times the largest, summed over all rows, is no number."""
    low, high = float(np.min(prices)), float(np.max(prices))
    with np.errstate(over="ignore"):
        most = np.float64(tradeoffs[1]) * high * _MOST_ROWS
    if not (tradeoffs[0] > 0 and np.isfinite(most)):
        raise Refused(
            f"The costs of {origin} are too small, too large or too far apart to be weighed "
            f"against a loss ({low:g} to {high:g}): take another unit, or 0 for what hardly costs."
        )
