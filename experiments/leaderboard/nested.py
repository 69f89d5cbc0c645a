"""The mean over data sets of what was seen on several divisions of each, and how sure it is.

Divisions of a set differ by their rows and draws; sets differ besides. The interval is for sets of
the kind: of the sets' own means, which hold the spread of their divisions, by Student's t.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import t

LEVEL = 0.95


class Nested(NamedTuple):
    """A mean over sets."""

    mean: float
    half: float  # Half the width of its interval; NaN of a single set
    of_sets: float  # Standard deviation between sets, of their true means
    of_divisions: float  # Standard deviation within a set; NaN where none has two divisions
    n_sets: int

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.mean + self.half

    def half_with(self, divisions: int) -> float:
        """Predict half the width with as many divisions of each of the same number of sets."""
        variance = self.of_sets**2 + self.of_divisions**2 / divisions
        return _quantile(self.n_sets) * float(np.sqrt(variance / self.n_sets))


def _quantile(n_sets: int) -> float:
    return float(t.ppf((1 + LEVEL) / 2, n_sets - 1)) if n_sets > 1 else np.nan


def nested(by_set: Sequence[np.ndarray]) -> Nested:
    """Give mean and interval of values by set, one for each division."""
    n = len(by_set)
    means = np.array([np.mean(values) for values in by_set])
    spread = float(np.var(means, ddof=1)) if n > 1 else np.nan
    freedom = sum(len(values) - 1 for values in by_set)
    within = np.nan
    if freedom:
        within = sum(float(np.sum((v - np.mean(v)) ** 2)) for v in by_set) / freedom
    share = float(np.mean([1 / len(values) for values in by_set]))
    between = max(0.0, spread - within * share) if freedom else spread
    half = _quantile(n) * np.sqrt(spread / n)
    return Nested(float(means.mean()), float(half), float(np.sqrt(between)),
                  float(np.sqrt(within)), n)  # fmt: skip
