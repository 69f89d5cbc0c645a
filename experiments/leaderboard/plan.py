"""The cells of a scale: the same number of random draws for every method on every field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.cell import Cell
from experiments.compare.plan import tradeoff_range
from experiments.evaluate import constant_loss
from experiments.leaderboard.budgets import declared
from experiments.leaderboard.fields import SCALES, Field
from experiments.methods.facts import Facts
from experiments.methods.fitting import N_DRAWN, drawn_between
from experiments.methods.method import Method
from experiments.methods.problem import Problem
from experiments.methods.users_class import its_draw


@dataclass(frozen=True)
class Skipped:
    """A method that cannot be trained on a field, and why."""

    field: Field
    method: str
    why: str


class Trial(Cell):
    """One draw of a method on a field."""

    def label(self) -> str:
        """Return one line that names it."""
        return f"{self.dataset} · {self.algorithm} · trial {self.params['trial']}"


def draws(field: Field, scale: str, seed: int) -> list[dict[str, Any]]:
    """Give the draws of a field, the same for all its methods: independent and uniform."""
    size = SCALES[scale]
    rng = np.random.default_rng([seed, 41, *field.dataset.encode()])
    u = rng.random((size.trials, N_DRAWN))
    seeds = rng.integers(2**31 - 1, size=size.trials)
    return [
        {"u": [round(float(v), 9) for v in line], "rounds": size.rounds, "seed": int(s)}
        for line, s in zip(u, seeds, strict=True)
    ]


def cells(
    field: Field, problem: Problem, methods: Sequence[Method], scale: str, seed: int = 0
) -> tuple[list[Trial], list[Skipped]]:
    """Give the trials on a field, and who cannot take part.

    Parameters
    ----------
    field : Field
    problem : Problem
    methods : sequence of Method
    scale : str
    seed : int
    """
    facts, budgets = Facts.of(problem), declared()[field.name]
    loss = constant_loss(problem.parts["train"].y, problem.task == "classification")
    range_ = tradeoff_range(loss, problem, 0.0, budgets)
    planned, skipped = [], []
    for method in methods:
        why = method.why_not(facts)
        if why:
            skipped.append(Skipped(field, method.slug, why))
            continue
        for number, draw in enumerate(draws(field, scale, seed)):
            params = {
                "trial": number,
                "train": f"{method.train.__module__}:{method.train.__qualname__}",
                "draw": _as_taken(method, draw, range_),
                "budgets": list(budgets),
                "scale": scale,
                "seconds": SCALES[scale].seconds,
            }
            planned.append(Trial(field.name, method.slug, params, seed))
    return planned, skipped


def _as_taken(method: Method, draw: Mapping, range_: tuple[float, float]) -> dict[str, Any]:
    if method.of_the_user:
        return its_draw(method.slug, draw["seed"])
    if not method.has_tradeoff:
        return dict(draw)
    return {**draw, "tradeoff": drawn_between(draw["u"][3], *range_)}
