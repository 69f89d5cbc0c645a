"""Bisects λ where a curve of score against cost has a gap, for a model whose cost lies inside.

A model is followed along its rounds; a method whose model has one cost alone is a model of one row.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from experiments.cell import rounded
from experiments.cells.gaps import IN_A_ROW

MOST = 40
"""Bisections of one gap of a curve, or of one path, whatever they find."""

GRID_STEP = math.sqrt(10)
"""Half a decade: the next λ below the smallest of a grid, whose own neighbour is 0."""

Ends = tuple[float, float]
Trace = Sequence[Mapping]


class Bracket(NamedTuple):
    """Two λ whose models lie on either side of a gap."""

    low: float  # low, high: λ
    high: float
    rounds: int  # Number of rounds after which they do


class Bisection(NamedTuple):
    """One λ that was tried."""

    low: float  # low, high: λ between which it lies
    high: float
    tradeoff: float  # λ
    inside: list[Mapping]  # Rows of its model whose costs lie inside the gap


def bisections(
    train: Callable[[float], Trace],
    known: dict[float, Trace],
    pair: Bracket | None,
    gap: Ends,
    most: int = MOST,
) -> Iterator[Bisection]:
    """Bisect λ until a model lies inside a gap, or eight bisections in a row found none.

    Parameters
    ----------
    train : callable
        ``λ -> rows`` with ``rounds`` and ``valid_cost`` of one model, in the order of rounds.
    known : dict of float to sequence of mapping
        What `train` returned for each λ; what is tried joins it.
    pair : Bracket or None
        Between which λ, see :func:`bracket`; None: nowhere.
    gap : (float, float)
        Costs between which no known model lies.
    most : int, default 40
        Bisections, whatever they find.

    Yields
    ------
    Bisection
        After its model has joined `known`. The last one has something inside, unless there is none.
    """
    for _ in range(min(IN_A_ROW, most)):
        if pair is None:
            return
        low, high, rounds = pair
        tried = between(low, high)
        if tried in known:  # they differ in the sixth digit alone
            return
        known[tried] = train(tried)
        inside = rows_inside([known[tried]], gap)
        yield Bisection(low, high, tried, inside)
        if inside:
            return
        alike = (cost_after(known[t], rounds) >= gap[1] for t in (low, tried))
        one_side = len(set(alike)) == 1
        pair = Bracket(tried, high, rounds) if one_side else Bracket(low, tried, rounds)


def between(low: float, high: float) -> float:
    """Return the λ halfway by its logarithm; below the smallest, a step of the grid further down.

    With six significant digits, so that what is printed is what was trained.
    """
    return rounded(math.sqrt(low * high) if low > 0 else high / GRID_STEP)


def bracket(known: Mapping[float, Trace], gap: Ends) -> Bracket | None:
    """Choose two neighbouring λ whose models lie on either side of a gap after equal rounds.

    Of all neighbours and numbers of rounds the two whose costs are nearest to each other; ties:
    the larger λ, then fewer rounds. None if there are no such two.
    """
    found = []
    for low, high in pairwise(sorted(known)):
        for rounds in {row["rounds"] for t in (low, high) for row in known[t]}:
            cheap, dear = sorted(cost_after(known[t], rounds) for t in (low, high))
            if cheap <= gap[0] and dear >= gap[1]:
                distance = dear / cheap if cheap > 0 else math.inf
                found.append((distance, -high, rounds, low))
    if not found:
        return None
    _, high, rounds, low = min(found)
    return Bracket(low, -high, rounds)


def cost_after(model: Trace, rounds: int) -> float:
    """Return what a model costs after at most so many rounds: where it was measured last."""
    at = bisect_right([row["rounds"] for row in model], rounds)
    return model[at - 1]["valid_cost"] if at else 0.0


def rows_inside(models: Iterable[Trace], gap: Ends) -> list[Mapping]:
    """Return the rows of models whose costs lie between those of a gap, the ends left out."""
    return [row for rows in models for row in rows if gap[0] < row["valid_cost"] < gap[1]]
