"""What workers do: train one draw of a method, and keep what it can be used for at each budget."""

from __future__ import annotations

import base64
import importlib
import io
import json
import warnings
from typing import Any

import numpy as np

from algorithms.selection.search import best_within
from experiments.cell import Cell, rounded
from experiments.compare import limited
from experiments.compare.metrics import mean_cost, units
from experiments.compare.reasons import reason
from experiments.methods.problem import Problem

LOAD = "experiments.leaderboard.problems:load"
_HERE = "experiments.leaderboard.trials:trained"


def run_trial(cell: Cell, problem: Problem) -> list[dict]:
    """Train a draw under the limit of time."""
    options = {"name": cell.dataset, "scale": cell.params["scale"], "seed": cell.seed}
    if not limited.POSSIBLE:
        return trained(cell, problem)
    return limited.run(_HERE, cell, LOAD, options, cell.params["seconds"])


def trained(cell: Cell, problem: Problem) -> list[dict]:
    """Train a draw, here."""
    from threadpoolctl import threadpool_limits

    try:
        with threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _measured(cell, problem)
    except Exception as error:  # whatever it is that a library, or somebody's class, does
        return [{"failed": reason(error)}]


def _measured(cell: Cell, problem: Problem) -> list[dict]:
    module, _, name = cell.params["train"].partition(":")
    made = getattr(importlib.import_module(module), name)(problem, cell.params["draw"])
    if not made.cuts:
        return [{"constant": "no tree has a split"}]
    valid, test = problem.parts["valid"], problem.parts["test"]
    chosen = [
        (rounded(units(problem.metric, valid, answer).score()), rounded(mean_cost(valid, costs)))
        for answer, costs in made.follow(valid)
    ]
    scores, costs = (np.array(values) for values in zip(*chosen, strict=True))
    at = {
        budget: int(best)
        for budget in cell.params["budgets"]
        if (best := best_within(scores, costs, budget)) >= 0
    }
    seen = {}
    for k, (answer, cost) in enumerate(made.follow(test)):
        if k in at.values():
            seen[k] = _seen(problem, answer, cost)
    parameters = json.dumps(made.parameters, ensure_ascii=False)
    kept: set[int] = set()
    rows = []
    for budget, k in at.items():
        row = {"budget": budget, "cut": made.cuts[k], "valid_score": chosen[k][0],
               "valid_cost": chosen[k][1], **seen[k]}  # fmt: skip
        if k in kept:
            del row["units"]
        else:
            row["parameters"] = parameters
        kept.add(k)
        rows.append(row)
    return rows


def _seen(problem: Problem, answer: np.ndarray, cost: np.ndarray) -> dict[str, Any]:
    """Give what a model says of the test units and what it costs on the test rows."""
    test = problem.parts["test"]
    score = units(problem.metric, test, answer)
    return {
        "test_score": rounded(score.score()),
        "test_cost": rounded(mean_cost(test, cost)),
        "units": packed(value=score.value, cost=cost),
    }


def packed(**arrays: np.ndarray) -> str:
    """Pack arrays of numbers, in single precision, as text."""
    content = io.BytesIO()
    np.savez_compressed(content, **{n: np.asarray(a, np.float32) for n, a in arrays.items()})
    return base64.b64encode(content.getvalue()).decode()


def unpacked(text: str) -> dict[str, np.ndarray]:
    """Give the arrays of :func:`packed`."""
    with np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
