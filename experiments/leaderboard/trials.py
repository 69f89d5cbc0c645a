"""What workers do: train one draw of a method, and keep what it can be used for at each budget."""

from __future__ import annotations

import importlib
import json
import math
import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from algorithms.selection.scoring import is_within
from algorithms.selection.search import best_within
from experiments.cell import Cell, rounded
from experiments.compare import limited
from experiments.compare.metrics import mean_cost, units
from experiments.compare.reasons import reason
from experiments.leaderboard.problems import bills, took
from experiments.methods.problem import Problem
from experiments.methods.trained import Trained

LOAD = "experiments.leaderboard.problems:load"
_HERE = "experiments.leaderboard.trials"
_FITS = 7  # that look for a method's largest λ
_MOST_NAMED = 20  # features of a model that are named


def run_trial(cell: Cell, problem: Problem) -> list[dict]:
    """Train a draw under the limit of time."""
    return _limited("trained", trained, cell, problem)


def run_top(cell: Cell, problem: Problem) -> list[dict]:
    """Look for a method's largest λ under the limit of time."""
    return _limited("top", top, cell, problem)


def _limited(name: str, here, cell: Cell, problem: Problem) -> list[dict]:
    options = {"name": cell.dataset, "scale": cell.params["scale"], "seed": cell.seed}
    if not limited.POSSIBLE:
        return here(cell, problem)
    return limited.run(f"{_HERE}:{name}", cell, LOAD, options, cell.params["seconds"])


def trained(cell: Cell, problem: Problem) -> list[dict]:
    """Train a draw, here."""
    from threadpoolctl import threadpool_limits

    begun = time.process_time()
    try:
        with threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = _measured(cell, problem)
    except Exception as error:  # whatever it is that a library, or somebody's class, does
        rows = [{"why": reason(error)}]
    rows[0]["seconds"] = round(time.process_time() - begun, 2)
    return rows


def top(cell: Cell, problem: Problem) -> list[dict]:
    """Bisect for the λ above which ten rounds spend at most half of the least budget, here."""
    low, high = cell.params["range"]
    for _ in range(_FITS):
        middle = math.sqrt(low * high)
        if _spends(cell, problem, middle):
            low = middle
        else:
            high = middle
    if high == cell.params["range"][1]:  # whatever λ is, it spends
        high = cell.params["otherwise"]
    return [{"top": float(f"{high:.4g}")}]


def _spends(cell: Cell, problem: Problem, tradeoff: float) -> bool:
    """Whether a model with this λ costs more than that on validation rows."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = train(
                cell.params["train"], problem, cell.params["draw"] | {"tradeoff": tradeoff}
            )
            *_, (_, costs) = made.follow(problem.parts["valid"]) if made.cuts else [(None, [0.0])]
    except Exception:  # what cannot be trained buys nothing; its trials say why
        return False
    return not is_within(float(np.mean(costs)), cell.params["least"])


def train(name: str, problem: Problem, draw: Mapping) -> Trained:
    """Train a draw of the method whose function is named ``module:function``."""
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)(problem, draw)


def _measured(cell: Cell, problem: Problem) -> list[dict]:
    made = train(cell.params["train"], problem, cell.params["draw"])
    if not made.cuts:
        return [{"why": "no tree has a split"}]
    seconds = took(cell.dataset, cell.seed) or {}
    valid = list(_followed(made, problem, "valid", seconds))
    at, rows = {}, []
    scores, costs = (np.array(values) for values in zip(*valid, strict=True))
    for budget in cell.params["budgets"]:
        best = best_within(scores, costs, budget)
        if best >= 0 and best not in at.values():  # else it is as at the budget before
            at[budget] = int(best)
    test = list(_followed(made, problem, "test", seconds, set(at.values())))
    for budget, k in at.items():
        measured = zip(("valid_score", "valid_cost", "test_score", "test_cost"),
                       (*valid[k], *test[k]), strict=True)  # fmt: skip
        rows.append({"budget": budget, "cut": made.cuts[k], **dict(measured)})
    if not rows:
        return [{"why": "no model is within a budget"}]
    rows[0]["parameters"] = shortened(made.parameters)
    return rows


def _followed(made: Trained, problem: Problem, part: str, seconds, only: set[int] | None = None):
    """Yield score and mean cost of a part at each cut; of others than `only`, nothing."""
    rows = problem.parts[part]
    for k, (answer, cost) in enumerate(bills(made, rows, seconds.get(part))):
        if only is not None and k not in only:
            yield None
        else:
            score = units(problem.metric, rows, answer).score()
            yield rounded(score), rounded(mean_cost(rows, cost))


def shortened(parameters: Mapping[str, Any]) -> str:
    """Give parameters as JSON without long lists of features, in whose place is their number."""
    known = dict(parameters)
    if len(known.get("features", ())) > _MOST_NAMED:
        known["features"] = f"{len(known['features'])} features"
    return json.dumps(known, ensure_ascii=False)
