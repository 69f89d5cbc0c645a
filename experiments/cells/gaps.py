"""Where a curve of score against cost has no model for a budget."""

from __future__ import annotations

import numpy as np

WIDEST_GAP = 2.0
"""Largest ratio of neighbouring costs of a curve's models that is no gap."""

IN_A_ROW = 8
"""Bisections without a model inside after which a gap may stay."""


def gaps_between(costs) -> list[tuple[float, float]]:
    """Return the neighbouring costs that differ by more than a factor of two, the lowest first."""
    costs = np.unique(costs)
    costs = costs[costs > 0]
    pairs = zip(costs[:-1].tolist(), costs[1:].tolist(), strict=True)
    return [(below, above) for below, above in pairs if above / below > WIDEST_GAP]
