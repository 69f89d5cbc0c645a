"""λ bisected towards a budget, where the models drawn spend far less or more than it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from algorithms.selection.scoring import is_within

_NEAREST = 3  # draws on either side of the budget whose shape may be taken


class Spent(NamedTuple):
    """A trained λ: what the whole model costs on validation rows (0 if constant).

    `score` is its best validation score within the budget at any cut, -inf if there is none.
    """

    tradeoff: float
    cost: float
    score: float
    draw: Mapping[str, Any]


def begin(drawn: Sequence[Spent], budget: float) -> Spent | None:
    """Give the draw whose shape the bisection keeps.

    In the order of λ, models cost more than the budget first and less afterwards, more or less: of
    the six nearest to where that changes, it is the one with the best score.
    """
    ordered = sorted(drawn, key=lambda s: (s.tradeoff, s.cost))
    if not ordered:
        return None
    over = [not is_within(s.cost, budget) for s in ordered]
    wrong = [over[:k].count(False) + over[k:].count(True) for k in range(len(over) + 1)]
    change = wrong.index(min(wrong))
    return max(ordered[max(0, change - _NEAREST) : change + _NEAREST], key=lambda s: s.score)


def next_tradeoff(path: Sequence[Spent], drawn: Sequence[Spent], budget: float) -> float:
    """Give the λ to be trained next, halfway in logarithms between its neighbours."""
    under = [s.tradeoff for s in path if is_within(s.cost, budget)]
    over = [s.tradeoff for s in path if not is_within(s.cost, budget)]
    if over and under:
        high = min(under)
        low = max((t for t in over if t < high), default=high / 10)
    elif over:
        low = max(over)
        beyond = [s.tradeoff for s in drawn if is_within(s.cost, budget) and s.tradeoff > low]
        high = min(beyond, default=low * 10)
    else:
        high = min(under)
        below = [s.tradeoff for s in drawn if not is_within(s.cost, budget) and s.tradeoff < high]
        low = max(below, default=high / 10)
    return float(f"{math.sqrt(low) * math.sqrt(high):.4g}")
