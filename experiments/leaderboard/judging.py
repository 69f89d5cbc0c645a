"""From finished trials to what each method scores at each budget: chosen on validation rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from algorithms.selection.search import best_within
from experiments.cell import Cell, rounded
from experiments.compare.constant import always_alike
from experiments.compare.intervals import interval, resampled_scores
from experiments.compare.metrics import Units, units
from experiments.leaderboard.fields import Field
from experiments.leaderboard.trials import unpacked
from experiments.methods.problem import Problem

CONSTANT = "constant"
"""Name of what answers always alike; also what a method is where no model is within the budget."""

SCORES = ["dataset", "prices", "method", "budget", "score", "cost", "low", "high"]
_WHICH = ["dataset", "prices", "method", "budget"]
CHOSEN = [*_WHICH, "trial", "cut", "valid_score", "valid_cost", "test_cost", "parameters"]

_MOST_NAMED = 20  # features of a chosen model that chosen.csv names


class Model(NamedTuple):
    """A trial at a cut."""

    method: str
    trial: int
    cut: float


class Judged(NamedTuple):
    """What is known of a field."""

    scores: pd.DataFrame  # scores, chosen: With the columns :data:`SCORES` and :data:`CHOSEN`
    chosen: pd.DataFrame
    # Of each chosen model, ``value`` of the test units and ``cost`` of the test rows
    measured: dict[Model, dict[str, np.ndarray]]


def choose(
    finished: Iterable[tuple[Cell, list[dict], float]], budgets: Sequence[float]
) -> dict[tuple[str, float], dict]:
    """Choose for each method and budget the best validation score within it."""
    pools: dict[tuple[str, float], list[dict]] = {}
    for cell, rows, _ in finished:
        by_cut = {row["cut"]: row for row in rows if "units" in row}
        for row in rows:
            if "cut" not in row:  # constant, or failed
                continue
            whole = {name: by_cut[row["cut"]][name] for name in ("units", "parameters")}
            pools.setdefault((cell.algorithm, row["budget"]), []).append(
                {**row, **whole, "trial": cell.params["trial"]}
            )
    chosen = {}
    for key, pool in pools.items():
        scores, costs = ([row[n] for row in pool] for n in ("valid_score", "valid_cost"))
        at = best_within(scores, costs, key[1])
        if at >= 0:
            chosen[key] = pool[at]
    return {key: chosen[key] for key in sorted(chosen) if key[1] in budgets}


def judge(
    field: Field,
    problem: Problem,
    finished: Sequence[tuple[Cell, list[dict], float]],
    budgets: Sequence[float],
) -> Judged:
    """Score each method at each budget on the test rows, with a bootstrap over their units."""
    chosen = choose(finished, budgets)
    measured = {
        Model(method, row["trial"], row["cut"]): unpacked(row["units"])
        for (method, _), row in chosen.items()
    }
    of_constant = always_alike(problem)[2]
    models = list(measured)
    every = [of_constant, *(_units(problem, measured[model]["value"]) for model in models)]
    means = resampled_scores(every, 0)
    known = {
        model: (rounded(each.score()), *map(rounded, interval(means[:, k])))
        for k, (model, each) in enumerate(zip([CONSTANT, *models], every, strict=True))
    }
    lines, said = [], []
    for method in [CONSTANT, *sorted({cell.algorithm for cell, _, _ in finished})]:
        for budget in budgets:
            row = chosen.get((method, budget))
            model = CONSTANT if row is None else Model(method, row["trial"], row["cut"])
            score, low, high = known[model]
            where = (field.dataset, field.prices, method, budget)
            cost = 0.0 if row is None else row["test_cost"]
            if row is not None:
                score = row["test_score"]
                row = {**row, "parameters": shortened(row["parameters"])}
                said.append((*where, *(row[name] for name in CHOSEN[len(_WHICH) :])))
            lines.append((*where, score, cost, low, high))
    return Judged(pd.DataFrame(lines, columns=SCORES), pd.DataFrame(said, columns=CHOSEN), measured)


def shortened(parameters: str) -> str:
    """Give parameters as JSON without long lists of features, in whose place is their number."""
    known = json.loads(parameters)
    if len(known.get("features", ())) > _MOST_NAMED:
        known["features"] = f"{len(known['features'])} features"
    return json.dumps(known, ensure_ascii=False)


def _units(problem: Problem, value: np.ndarray) -> Units:
    test = problem.parts["test"]
    shape = units(problem.metric, test, np.zeros(len(test)) if test.query is not None else test.y)
    return shape._replace(value=value.astype(np.float64))


def losses(finished: Iterable[tuple[Cell, list[dict], float]]) -> pd.DataFrame:
    """Say how many trials of each method on each field gave nothing, and the first reason."""
    counted: dict[tuple[str, str], list] = {}
    for cell, rows, _ in finished:
        of = counted.setdefault((cell.dataset, cell.algorithm), [0, []])
        of[0] += 1
        why = [row.get("failed") or row.get("constant") for row in rows]
        of[1] += [text for text in why if text]
    lines = [
        (*name.split("@"), method, n, len(whys), whys[0])
        for (name, method), (n, whys) in counted.items()
        if whys
    ]
    return pd.DataFrame(lines, columns=["dataset", "prices", "method", "trials", "lost", "why"])
