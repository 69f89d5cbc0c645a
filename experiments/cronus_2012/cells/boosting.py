"""Gradient boosted trees as they grow, and with early exits: what Cronus is compared with."""

from __future__ import annotations

import numpy as np

from algorithms.early_exit import EarlyExit
from algorithms.exits.exit_rules import ranks_by_exit
from algorithms.metrics import query_starts
from experiments.cell import Cell, at_rounds
from experiments.cronus_2012.cells.depth import Grown
from experiments.cronus_2012.cells.rows import model_row
from experiments.cronus_2012.cells.task import Part, bills, part_of
from experiments.evaluate import rounds_by_tens


def boosting_rows(grown: Grown, dataset) -> list[dict]:
    """Measure boosted trees after some of their rounds, and with exits."""
    cell, model, seconds = grown.cell, grown.trees, grown.seconds
    e = cell.params["tree_cost"]
    parts = {name: part_of(cell, dataset, name) for name in ("valid", "test")}
    rounds = rounds_by_tens(model.n_estimators_)
    staged = {name: _staged(model, part, rounds, e) for name, part in parts.items()}
    billed = list(bills(model, dataset, e))
    rows = []
    for r in rounds:
        measured = {"fit_seconds": seconds * r / model.n_estimators_}
        for name in parts:
            told, cost = staged[name][r]
            measured |= {f"{name}_{key}": value for key, value in told.items()}
            measured[f"{name}_cost"] = cost
            measured[f"{name}_cost_paper"] = billed[r - 1]
        measured |= {"n_trees": r, "n_features": n_used(model.first_rounds(r).trees_)}
        rows.append(model_row(cell, "gbrt", measured, rounds=r))
    return rows + _exit_rows(cell, dataset, model, parts, seconds)


def n_used(forest) -> int:
    """Return how many features the trees of a forest test."""
    return len(np.unique(forest.feature[forest.feature >= 0]))


def _staged(model, part: Part, rounds: list[int], tree_cost: float) -> dict:
    """Return scores and metered cost of a part after some rounds."""
    scores = at_rounds(map(part.told, model.staged_predict(part.X)), rounds)
    costs = at_rounds(map(part.mean, model.staged_cost(part.X)), rounds)
    return {r: (scores[r], costs[r] + tree_cost * r) for r in rounds}


def _exit_rows(cell: Cell, dataset, model, parts: dict[str, Part], seconds: float) -> list[dict]:
    """Measure early exits of all rules, on all trees and on the first third of them."""
    predicted = model.predict(part_of(cell, dataset, "train").X)
    e, every = cell.params["tree_cost"], cell.params["every"]
    inputs = {name: _Inputs(part, model, every, e) for name, part in parts.items()}
    rows = []
    for length in sorted({max(1, model.n_estimators_ // k) for k in (1, 3)}):
        shorter = model.first_rounds(length)
        size = {"n_trees": length, "n_features": n_used(shorter.trees_)}
        size["fit_seconds"] = seconds * length / model.n_estimators_
        billed = np.array([0.0, *bills(shorter, dataset, e)])
        for rule, grid in cell.params["exits"].items():
            for s in grid:
                early = EarlyExit(
                    shorter, rule=rule, threshold=threshold(rule, s, predicted), every=every
                )
                values = dict(size)
                for name, part in inputs.items():
                    values |= {f"{name}_{k}": v for k, v in part.measured(early, billed).items()}
                about = {"setting": s, "rounds": length}
                rows.append(model_row(cell, f"early_exit_{rule}", values, **about))
    return rows


def threshold(rule: str, s: float, predicted: np.ndarray) -> float:
    """Return s in the unit of the rule; `predicted` are the whole model's training scores."""
    if rule == "proximity":
        return s * float(np.std(predicted))
    return float(np.mean(predicted)) + s * float(np.std(predicted)) if rule == "score" else s


class _Inputs:
    """One part with its copies, which are documents of their query, too."""

    def __init__(self, part: Part, model, every: int, tree_cost: float) -> None:
        self.part = part
        self.rows = part.repeated
        self.first = np.flatnonzero(np.r_[True, self.rows[1:] != self.rows[:-1]])
        self.X = part.X[self.rows]
        self.query = None if part.query is None else part.query[self.rows]
        starts = [0] if self.query is None else query_starts(self.query)
        self.starts = np.asarray(starts, dtype=np.int64)
        stops = {*range(every, model.n_estimators_ + 1, every), model.n_estimators_}
        stops |= {max(1, model.n_estimators_ // 3)}
        paid = at_rounds(model.staged_cost(part.X), stops)
        self.paid = {r: cost + tree_cost * r for r, cost in paid.items()}

    def measured(self, early: EarlyExit, billed: np.ndarray) -> dict:
        """Return scores, metered cost and the paper's bill of a model with exits."""
        exits = early.exits(self.X, self.query)
        ranked = ranks_by_exit(exits.exit, exits.scores[:, 0], self.starts)
        rounds, part = exits.rounds[self.first], self.part  # copies share their fate
        cost = np.zeros(len(rounds))
        for r in np.unique(rounds):
            cost[rounds == r] = self.paid[r][rounds == r]
        return {
            **part.told(ranked[self.first]),
            "cost": part.mean(cost),
            "cost_paper": part.mean(billed[rounds]),
        }
