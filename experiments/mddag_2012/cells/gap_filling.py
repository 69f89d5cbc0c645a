"""Bisects a method's own setting where its curve has a gap at few evaluations, for all alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from experiments.cells.bisection import bisections, bracket, cost_after
from experiments.cells.gaps import gaps_between

WANTED = (1.5, 6.0)
"""Base classifiers evaluated between which gaps are filled: the regime of low numbers."""

MOST_GAPS = 3
"""Gaps of a curve that are tried."""

Lines = Mapping[tuple, dict[float, list[dict]]]


def known_costs(lines: Lines) -> list[float]:
    """Return what all models cost, as bisections write it."""
    return [model[0]["valid_cost"] for line in lines.values() for model in line.values()]


def trace(cost: float) -> list[dict]:
    """Return a model of one cost in the form that bisections read."""
    return [{"rounds": 1, "valid_cost": cost}]


def filled(lines: Lines, train: Callable[[tuple, float], float]) -> Iterator[tuple[tuple, float]]:
    """Bisect until no gap in :data:`WANTED` is left, or eight in a row found nothing in each."""
    given_up: set[tuple[float, float]] = set()
    while len(given_up) < MOST_GAPS:
        gaps = [
            gap
            for gap in gaps_between(known_costs(lines))
            if gap[0] < WANTED[1] and gap[1] > WANTED[0] and gap not in given_up
        ]
        if not gaps:
            return
        gap = gaps[0]
        pairs = {line: bracket(known, gap) for line, known in lines.items()}
        pairs = {line: pair for line, pair in pairs.items() if pair is not None}
        if not pairs:
            given_up.add(gap)
            continue
        line = min(pairs, key=lambda one: width(lines[one], pairs[one]))
        inside = []
        for step in bisections(partial(_trained, train, line), lines[line], pairs[line], gap):
            inside = step.inside
            yield line, step.tradeoff
        if not inside:
            given_up.add(gap)


def _trained(train: Callable[[tuple, float], float], line: tuple, at: float) -> list[dict]:
    return trace(train(line, at))


def width(known: Mapping[float, list[dict]], pair) -> float:
    """Return how far apart the costs of a bracket's two models are, as a factor."""
    cheap, dear = sorted(cost_after(known[at], pair.rounds) for at in (pair.low, pair.high))
    return dear / cheap if cheap > 0 else float("inf")
