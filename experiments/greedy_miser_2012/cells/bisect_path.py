"""Bisects λ where a path of cascades, one model for each λ, leaves a gap in cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise

from experiments.cell import rounded
from experiments.cells.gaps import IN_A_ROW, gaps_between

MOST = 40
"""Bisections of one path, whatever they find."""

Gap = tuple[float, float]


def bisections(costs: dict[float, float], train: Callable[[float], float]) -> Iterator[float]:
    """Bisect λ until no gap is left but those in which eight bisections found no model.

    Parameters
    ----------
    costs : dict
        λ of the path, and what its model costs; what is tried joins it.
    train : callable
        ``λ -> cost`` of a model.

    Yields
    ------
    float
        Each λ that was tried, after it was.
    """
    left: set[Gap] = set()
    n_tried = 0
    while gaps := [gap for gap in gaps_between([*costs.values()]) if gap not in left]:
        gap, failed = gaps[0], 0
        pair = bracket(costs, gap)
        while pair is not None and failed < IN_A_ROW and n_tried < MOST:
            tried = rounded(math.sqrt(pair[0] * pair[1]))
            if tried in costs:  # they differ in the sixth digit alone
                break
            costs[tried] = train(tried)
            n_tried += 1
            yield tried
            if gap[0] < costs[tried] < gap[1]:
                break
            failed += 1
            pair = (tried, pair[1]) if costs[tried] >= gap[1] else (pair[0], tried)
        left.add(gap)  # one that a model was found in is none of the gaps any more


def bracket(costs: dict[float, float], gap: Gap) -> tuple[float, float] | None:
    """Choose two neighbouring λ whose models lie on either side of a gap, the dear one first.

    Of several the two whose costs are nearest to each other; ties: the larger λ. None if there
    are none.
    """
    found = [
        (costs[low] / costs[high], -high, low)
        for low, high in pairwise(sorted(t for t in costs if costs[t] > 0))
        if costs[low] >= gap[1] and costs[high] <= gap[0]
    ]
    if not found:
        return None
    _, high, low = min(found)
    return low, -high
