"""Bisects λ where a method's curve has a gap, for a model whose cost lies inside.

A gap is two neighbouring models of a published curve whose costs differ by more than a factor of
two. Whether a finer grid would have filled it is tried, not guessed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import pandas as pd

from experiments.cegb_2017.cells.measure import trace
from experiments.cegb_2017.cells.selection import choosable
from experiments.cell import Cell, rounded
from experiments.cells.bisection import MOST, Ends, Trace, bisections, bracket, rows_inside
from experiments.cells.gaps import WIDEST_GAP, gaps_between

_NONE = dict.fromkeys(
    (
        *("rounds", "valid_score", "valid_cost", "test_score", "test_cost"),
        *("valid_cost_paper", "test_cost_paper"),
    ),
    0.0,
) | {"rounds": 0}


def bisect_gaps(cell: Cell, dataset) -> list[dict]:
    """Train a method's models of all λ, and bisect λ at each gap of its curve."""

    def train(tradeoff: float) -> Trace:
        params = {name: cell.params[name] for name in ("panel", "settings")}
        return trace(replace(cell, params={**params, "tradeoff": tradeoff}), dataset)

    grid = {tradeoff: train(tradeoff) for tradeoff in cell.params["tradeoffs"]}
    whole = pd.DataFrame([row for rows in grid.values() for row in rows])
    thinned = (cell.params["panel"],) if cell.params["thinned"] else ()
    whole = choosable(whole.assign(algorithm=cell.algorithm, seed=cell.seed), thinned)
    rows = []
    for number, gap in enumerate(gaps_between(whole["valid_cost"])):
        key = {"panel": cell.params["panel"], "gap": number, "below": gap[0], "above": gap[1]}
        rows += [{**key, "step": step, **row} for step, row in enumerate(bisect(train, grid, gap))]
    return rows


def bisect(train: Callable[[float], Trace], grid: Mapping[float, Trace], gap: Ends) -> list[dict]:
    """Bisect λ at a gap until it is closed, or eight bisections in a row found nothing inside."""
    known = dict(grid)
    part = widest_part(known.values(), gap)
    steps = [_step(gap, (0.0, 0.0), 0.0, rows_inside(known.values(), gap), part) | _NONE]
    found = True
    while found and _factor(part) > WIDEST_GAP:
        found, before = False, part
        left = MOST - (len(steps) - 1)
        for one in bisections(train, known, bracket(known, part), part, left):
            if one.inside:
                found, part = True, widest_part(known.values(), gap)
            steps.append(_step(before, (one.low, one.high), one.tradeoff, one.inside, part))
    return steps


def widest_part(traces: Iterable[Trace], gap: Ends) -> Ends:
    """Return the widest part of a gap without a model; of equals the cheapest."""
    costs = {row["valid_cost"] for row in rows_inside(traces, gap)}
    return max(pairwise([gap[0], *sorted(costs), gap[1]]), key=_factor)


def _factor(part: Ends) -> float:
    return part[1] / part[0]


def _step(part: Ends, pair: Ends, tried: float, inside: Sequence[Mapping], left: Ends) -> dict:
    middle = math.sqrt(part[0] * part[1])
    nearest = min(inside, key=lambda row: abs(math.log(row["valid_cost"] / middle)), default=_NONE)
    return {
        "part_below": part[0],
        "part_above": part[1],
        "tradeoff_low": pair[0],
        "tradeoff_high": pair[1],
        "tradeoff": tried,
        "inside": len(inside),
        **{name: nearest[name] for name in _NONE},
        "widest_left": rounded(_factor(left)),
    }
