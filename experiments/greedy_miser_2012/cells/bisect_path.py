"""Bisects λ where a path of cascades, one model for each λ, leaves a gap in cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from experiments.cells.bisection import MOST, Ends, Trace, bisections, bracket
from experiments.cells.gaps import gaps_between


def bisect_path(costs: dict[float, float], train: Callable[[float], float]) -> Iterator[float]:
    """Bisect λ until no gap is left but those in which eight bisections found no model."""

    def trained(tradeoff: float) -> Trace:
        costs[tradeoff] = train(tradeoff)
        return _of_one_row(costs[tradeoff])

    known = {tradeoff: _of_one_row(cost) for tradeoff, cost in costs.items()}
    left: set[Ends] = set()
    n_tried = 0
    while gaps := [gap for gap in gaps_between([*costs.values()]) if gap not in left]:
        pair = bracket({t: known[t] for t in known if costs[t] > 0}, gaps[0])
        for one in bisections(trained, known, pair, gaps[0], MOST - n_tried):
            n_tried += 1
            yield one.tradeoff
        left.add(gaps[0])  # one that a model was found in is none of the gaps any more


def _of_one_row(cost: float) -> Trace:
    return [{"rounds": 1, "valid_cost": cost}]
