"""Budgets of each field, fixed before anything was computed: ``budgets.csv`` beside this file.

The first is the cheapest purchase, within which a model has "one feature"; it is told apart. The
others lie evenly in logarithms between a hundredth of what all features cost, or twice the cheapest
purchase if that is more, and all of it. So the largest one limits nothing.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from experiments.methods.problem import Problem
from experiments.methods.subsets import price_alone, price_of, prices_of

N_BUDGETS = 6
FILE = Path(__file__).with_name("budgets.csv")
_LEAST = 0.01  # of what all features cost


def cheapest_purchase(problem: Problem) -> float:
    """Give the least that a row pays which pays for anything."""
    return min(price for price in price_alone(problem) if price > 0)


def by_rule(problem: Problem, took: Mapping[str, np.ndarray] | None = None) -> tuple[float, ...]:
    """Give the budgets that the rule gives for a problem, ascending, in three digits.

    Where rows took times of their own (`took`, by part) all features cost the largest mean of them.
    """
    total = price_of(prices_of(problem), np.arange(len(problem.names)))
    if took is not None:
        total = _up(max(total, *(float(times.sum(axis=1).mean()) for times in took.values())))
    cheapest = cheapest_purchase(problem)
    inner = np.geomspace(max(_LEAST * total, 2 * cheapest), total, N_BUDGETS)[:-1]
    return (_up(cheapest), *(_up(budget) for budget in inner), total)


def _up(budget: float) -> float:
    """Round up to three digits, so that a feature of this price stays affordable."""
    digits = 2 - int(np.floor(np.log10(budget)))
    return float(f"{np.ceil(round(budget * 10.0**digits, 6)) / 10.0**digits:.12g}")


@functools.cache
def declared() -> dict[str, tuple[float, ...]]:
    """Give the budgets of each field by its name."""
    found: dict[str, list[float]] = {}
    with FILE.open(newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            found.setdefault(f"{line['dataset']}@{line['prices']}", []).append(
                float(line["budget"])
            )
    return {name: tuple(budgets) for name, budgets in found.items()}


def write(problems: Mapping[str, tuple[Problem, Mapping[str, np.ndarray] | None]]) -> None:
    """Write the file anew, by the rule; for whoever adds a field."""
    lines = ["dataset,prices,budget"]
    for name, (problem, took) in problems.items():
        lines += [f"{name.replace('@', ',')},{budget!r}" for budget in by_rule(problem, took)]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
