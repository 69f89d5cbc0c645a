"""Bisects λ where a method's curve has a gap, for a model whose cost lies inside.

A gap is two neighbouring models of a published curve whose costs differ by more than a factor of
two. Whether a finer grid would have filled it is tried, not guessed.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import pandas as pd

from experiments.cegb_2017.cells.measure import trace
from experiments.cegb_2017.cells.selection import choosable
from experiments.cell import Cell, rounded
from experiments.cells.gaps import IN_A_ROW, WIDEST_GAP, gaps_between

MOST = 40
"""Bisections of one gap, whatever they find."""

GRID_STEP = math.sqrt(10)
"""Half a decade: the next λ below the smallest of a grid, whose own neighbour is 0."""

Ends = tuple[float, float]
Trace = Sequence[Mapping]

_NONE = dict.fromkeys(
    (
        *("rounds", "valid_score", "valid_cost", "test_score", "test_cost"),
        *("valid_cost_paper", "test_cost_paper"),
    ),
    0.0,
) | {"rounds": 0}


def bisect_gaps(cell: Cell, dataset) -> list[dict]:
    """Train a method's models of all λ, and bisect λ at each gap of its curve.

    Parameters
    ----------
    cell : Cell
        ``panel``, ``settings`` as of Figure 2's cells, ``tradeoffs``: the grid of λ, and
        ``thinned``: whether of the panel's rows only what budgets can choose was published.
    dataset : Dataset

    Returns
    -------
    list of dict
        For each gap (``gap``: its number, the cheapest first; ``below, above``: the costs of the
        models around it) a row before any bisection, ``step`` 0, and one for each: ``part_below,
        part_above``, the widest part of the gap that had no model yet; ``tradeoff_low,
        tradeoff_high, tradeoff``, the bracket and the λ tried, all 0 at step 0; ``inside``, how
        many of the λ's models cost something inside the part (at step 0: models of the grid that
        no budget chooses, inside the gap); of these the one nearest to the middle of the part,
        with ``rounds``, ``valid_score, valid_cost, test_score, test_cost, valid_cost_paper,
        test_cost_paper``, all 0 if there is none or at step 0; and ``widest_left``, the factor
        between neighbouring models that is left within the gap.
    """

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
    """Bisect λ at a gap until it is closed, or eight bisections in a row found nothing inside.

    Parameters
    ----------
    train : callable
        ``λ -> rows`` with ``rounds, valid_cost, …`` of one model, in the order of rounds.
    grid : mapping of float to sequence of mapping
        What `train` returns for each λ of the grid.
    gap : (float, float)
        Costs of the models around it.

    Returns
    -------
    list of dict
        See :func:`bisect_gaps`.
    """
    known = dict(grid)
    part = widest_part(known.values(), gap)
    steps = [_step(gap, (0.0, 0.0), 0.0, _inside(known.values(), gap), part) | _NONE]
    failed, pair = 0, None
    while _factor(part) > WIDEST_GAP and failed < IN_A_ROW and len(steps) <= MOST:
        pair = pair or bracket(known, part)
        if pair is None:
            break
        low, high, rounds = pair
        tried = between(low, high)
        if tried in known:  # they differ in the sixth digit alone
            break
        known[tried] = train(tried)
        inside, before = _inside([known[tried]], part), part
        if inside:
            failed, pair, part = 0, None, widest_part(known.values(), gap)
        else:
            failed += 1
            alike = (cost_after(known[t], rounds) >= part[1] for t in (low, tried))
            pair = (tried, high, rounds) if len(set(alike)) == 1 else (low, tried, rounds)
        steps.append(_step(before, (low, high), tried, inside, part))
    return steps


def between(low: float, high: float) -> float:
    """Return the λ halfway by its logarithm; below the smallest, a step of the grid further down.

    With six significant digits, so that what is printed is what was trained.
    """
    return rounded(math.sqrt(low * high) if low > 0 else high / GRID_STEP)


def widest_part(traces: Iterable[Trace], gap: Ends) -> Ends:
    """Return the widest part of a gap without a model; of equals the cheapest."""
    costs = {row["valid_cost"] for row in _inside(traces, gap)}
    return max(pairwise([gap[0], *sorted(costs), gap[1]]), key=_factor)


def bracket(known: Mapping[float, Trace], part: Ends) -> tuple[float, float, int] | None:
    """Choose two neighbouring λ whose models lie on either side of a gap after equal rounds.

    Of all neighbours and numbers of rounds the two whose costs are nearest to each other; ties:
    the larger λ, then fewer rounds.

    Returns
    -------
    (lower λ, higher λ, rounds), or None if there are no such two.
    """
    found = []
    for low, high in pairwise(sorted(known)):
        for rounds in {row["rounds"] for t in (low, high) for row in known[t]}:
            cheap, dear = sorted(cost_after(known[t], rounds) for t in (low, high))
            if cheap <= part[0] and dear >= part[1]:
                distance = dear / cheap if cheap > 0 else math.inf
                found.append((distance, -high, rounds, low))
    if not found:
        return None
    _, high, rounds, low = min(found)
    return low, -high, rounds


def cost_after(model: Trace, rounds: int) -> float:
    """Return what a model costs after at most so many rounds: where it was measured last."""
    at = bisect_right([row["rounds"] for row in model], rounds)
    return model[at - 1]["valid_cost"] if at else 0.0


def _factor(part: Ends) -> float:
    return part[1] / part[0]


def _inside(traces: Iterable[Trace], part: Ends) -> list[Mapping]:
    return [row for rows in traces for row in rows if part[0] < row["valid_cost"] < part[1]]


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
