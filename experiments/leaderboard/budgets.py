"""Budgets of each field, fixed before anything was computed: ``budgets.csv`` beside this file.

They lie evenly in logarithms between a hundredth of what all features cost, or what the cheapest
one costs if that is more, and all of it. So the largest one limits nothing.
"""

from __future__ import annotations

import csv
import functools
from pathlib import Path

import numpy as np

from experiments.methods.problem import Problem
from experiments.methods.subsets import price_of, prices_of

N_BUDGETS = 6
FILE = Path(__file__).with_name("budgets.csv")
_LEAST = 0.01  # of what all features cost


def by_rule(problem: Problem) -> tuple[float, ...]:
    """Give the budgets that the rule gives for a problem, ascending, in three digits."""
    prices = prices_of(problem)
    d = len(problem.names)
    total = price_of(prices, np.arange(d))
    each = [price_of(prices, [m]) for m in range(d)]
    least = max(_LEAST * total, min(price for price in each if price > 0))
    inner = np.geomspace(least, total, N_BUDGETS)[:-1]
    return (*(_up(budget) for budget in inner), total)


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


def write(problems: dict[str, Problem]) -> None:
    """Write the file anew, by the rule; for whoever adds a field."""
    lines = ["dataset,prices,budget"]
    for name, problem in problems.items():
        lines += [f"{name.replace('@', ',')},{budget!r}" for budget in by_rule(problem)]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
