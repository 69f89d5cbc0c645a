"""The trials of a division: as many draws for every method, and λ in each method's own range."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import qmc

from experiments.cell import Cell
from experiments.compare.plan import tradeoff_range
from experiments.evaluate import constant_loss
from experiments.leaderboard.budgets import declared
from experiments.leaderboard.fields import SCALES, Field
from experiments.methods.facts import Facts
from experiments.methods.fitting import N_DRAWN, drawn_between
from experiments.methods.method import Method
from experiments.methods.problem import Problem
from experiments.methods.users_class import imported, its_draw

ROUNDS_OF_A_TOP = 10
"""Rounds of boosting of the fits that look for the largest λ of a method."""

_BEYOND = 10.0  # how far beyond the range by budgets the largest λ is looked for, either way
_LEAST_RANGE = 100.0  # of λ, from its least to its largest


class Trial(Cell):
    """One draw of a method on a division of a field."""

    def label(self) -> str:
        """Return one line that names it."""
        which = f"trial {self.params['trial']}" if "trial" in self.params else "largest λ"
        return f"{self.dataset} · division {self.seed + 1} · {self.algorithm} · {which}"


def draws(field: Field, scale: str, seed: int) -> list[dict[str, Any]]:
    """Give the draws of a division, the same for all methods: a Latin hypercube."""
    size, name = SCALES[scale], [*field.dataset.encode()]
    hypercube = qmc.LatinHypercube(N_DRAWN, rng=np.random.default_rng([seed, 41, *name]))
    seeds = np.random.default_rng([seed, 43, *name]).integers(2**31 - 1, size=size.trials)
    return [
        {"u": [round(float(v), 9) for v in line], "rounds": size.rounds, "seed": int(s)}
        for line, s in zip(hypercube.random(size.trials), seeds, strict=True)
    ]


def why_not(problem: Problem, methods: Iterable[Method]) -> dict[str, str]:
    """Say of the methods that cannot take part, by name, why."""
    facts = Facts.of(problem)
    reasons = {method.slug: method.why_not(facts) for method in methods}
    return {slug: why for slug, why in reasons.items() if why}


def _by_budgets(field: Field, problem: Problem) -> tuple[float, float]:
    loss = constant_loss(problem.parts["train"].y, problem.task == "classification")
    return tradeoff_range(loss, problem, 0.0, declared()[field.name])


def tops(
    field: Field, problem: Problem, methods: Iterable[Method], scale: str, seed: int
) -> list[Trial]:
    """Give what finds each method's largest λ: with more, ten rounds spend hardly anything."""
    low, high = _by_budgets(field, problem)
    draw = {"u": [0.5] * N_DRAWN, "rounds": ROUNDS_OF_A_TOP, "seed": 0}
    return [
        Trial(field.name, method.slug, {
            "train": trained_by(method),
            "draw": draw,
            "range": [low / _BEYOND, high * _BEYOND],
            "otherwise": high,
            "least": declared()[field.name][1] / 2,
            "scale": scale,
            "seconds": 3 * SCALES[scale].seconds,
        }, seed)
        for method in methods
        if method.has_tradeoff
    ]  # fmt: skip


def cells(
    field: Field,
    problem: Problem,
    methods: Sequence[Method],
    scale: str,
    seed: int,
    largest: Mapping[str, float],
    budgets: Sequence[float] = (),
) -> list[Trial]:
    """Give the trials on a division; `largest` has the λ that each method ends at.

    Budgets are the declared ones, if no others are given.
    """
    low, _ = _by_budgets(field, problem)
    planned = []
    for method in methods:
        for number, draw in enumerate(draws(field, scale, seed)):
            if method.of_the_user:
                if number and not getattr(imported(method.slug), "search_space", None):
                    break
                draw = its_draw(method.slug, draw["seed"])
            elif method.has_tradeoff:
                top = largest[method.slug]
                least = min(low, top / _LEAST_RANGE)
                draw = {**draw, "tradeoff": drawn_between(draw["u"][3], least, top)}
            params = {
                "trial": number,
                "train": trained_by(method),
                "draw": draw,
                "budgets": list(budgets or declared()[field.name]),
                "scale": scale,
                "seconds": SCALES[scale].seconds,
            }
            planned.append(Trial(field.name, method.slug, params, seed))
    return planned


def trained_by(method: Method) -> str:
    """Name the function that trains a method, for whoever imports it."""
    return f"{method.train.__module__}:{method.train.__qualname__}"
