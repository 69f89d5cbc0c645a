"""How good many models are together, at any budget: what validation compares."""

from __future__ import annotations

import numpy as np


def quality(models: list[tuple[float, float]], most: float) -> float:
    """Return the mean over budgets, evenly spaced by logarithm, of the best score within each."""
    budgets = most * 10.0 ** (np.arange(-36, 1) / 12)
    return float(np.mean([max((s for c, s in models if c <= b), default=0.0) for b in budgets]))
