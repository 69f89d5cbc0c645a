"""How good many models are together, at any budget: what validation compares."""

from __future__ import annotations

import numpy as np


def checkpoints(n_rounds: int) -> list[int]:
    """Return the numbers of trees that are measured: 1, 2, 3, 5, 10, 20, 30, 50, … and the last."""
    rounds, a, b = [1, 2, 3, 5], 10, 20
    while a < n_rounds:
        rounds.append(a)
        a, b = b, a + b
    return [*(r for r in rounds if r < n_rounds), n_rounds]


def quality(models: list[tuple[float, float]], most: float) -> float:
    """Return the mean over budgets, evenly spaced by logarithm, of the best score within each."""
    budgets = most * 10.0 ** (np.arange(-36, 1) / 12)
    return float(np.mean([max((s for c, s in models if c <= b), default=0.0) for b in budgets]))
