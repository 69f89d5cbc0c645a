"""Curves over shares of λ = 0's bill, of effects beside its score."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes

from experiments.estimates import over_units
from experiments.style import draw_curve, frame, log_cost_axis


def draw_shares(
    ax: Axes,
    methods: Sequence[str],
    shares: Sequence[float],
    beside: Callable[[str, float], tuple[float, np.ndarray] | None],
) -> None:
    """Draw each method's mean score within each share, with its 95 % interval over units."""
    drawn = []
    for method in methods:
        points = []
        for share in shares:
            if (known := beside(method, share)) is None:
                continue
            base, effects = known
            found = over_units(effects)
            # What does not vary, λ = 0 beside itself, has no interval.
            bounds = (found.effect if np.isnan(one) else one for one in (found.low, found.high))
            points.append((share, *(base + one for one in (found.effect, *bounds))))
        if points:
            x, y, low, high = np.array(points).T
            draw_curve(ax, method, x, y, low, high)
            drawn.append(y)
    log_cost_axis(ax)
    frame(ax, np.concatenate(drawn), headroom=0.1)
