"""Gradient boosted trees as they grow, and with early exits: what Cronus is compared with."""

from __future__ import annotations

import time

import numpy as np

from algorithms.early_exit import EarlyExit
from experiments.cell import Cell, at_rounds
from experiments.cronus_2012.cells.rows import model_row
from experiments.cronus_2012.cells.task import Part, bills, boosted, part_of


def checkpoints(n_rounds: int) -> list[int]:
    """Return the numbers of trees that are measured: 1, 2, 3, 5, 10, 20, 30, 50, … and the last."""
    rounds, a, b = [1, 2, 3, 5], 10, 20
    while a < n_rounds:
        rounds.append(a)
        a, b = b, a + b
    return [*(r for r in rounds if r < n_rounds), n_rounds]


def boosting_rows(cell: Cell, dataset) -> list[dict]:
    """Train the trees and measure them after some of their rounds, and with exits.

    Parameters
    ----------
    cell : Cell
        ``exits`` of its parameters has a grid of s for each rule; those of proximity and score are
        in standard deviations of the whole model's training scores. ``every``: trees between exits.
    dataset : Dataset
    """
    begun = time.process_time()
    model = boosted(cell, dataset)
    seconds = time.process_time() - begun
    e = cell.params["tree_cost"]
    parts = {name: part_of(cell, dataset, name) for name in ("valid", "test")}
    rounds = checkpoints(model.n_estimators_)
    staged = {name: _staged(model, part, rounds, e) for name, part in parts.items()}
    billed = list(bills(model, dataset, e))
    rows = []
    for r in rounds:
        measured = {"fit_seconds": seconds * r / model.n_estimators_}
        for name in parts:
            score, cost = staged[name][r]
            measured |= {f"{name}_score": score, f"{name}_cost": cost}
            measured[f"{name}_cost_paper"] = billed[r - 1]
        measured |= {"n_trees": r, "n_features": n_used(model.first_rounds(r).trees_)}
        rows.append(model_row(cell, "gbrt", measured, rounds=r))
    return rows + _exit_rows(cell, dataset, model, parts, seconds)


def n_used(forest) -> int:
    """Return how many features the trees of a forest test."""
    return len(np.unique(forest.feature[forest.feature >= 0]))


def _staged(model, part: Part, rounds: list[int], tree_cost: float) -> dict:
    """Return score and metered cost of a part after some rounds."""
    scores = at_rounds(map(part.score, model.staged_predict(part.X)), rounds)
    costs = at_rounds(map(part.mean, model.staged_cost(part.X)), rounds)
    return {r: (scores[r], costs[r] + tree_cost * r) for r in rounds}


def _exit_rows(cell: Cell, dataset, model, parts: dict[str, Part], seconds: float) -> list[dict]:
    """Measure early exits of all rules, on all trees and on the first third of them."""
    train = part_of(cell, dataset, "train")
    deviation = float(np.std(model.predict(train.X)))
    lengths = sorted({max(1, model.n_estimators_ // k) for k in (1, 3)})
    rows = []
    for length in lengths:
        shorter = model.first_rounds(length)
        spent = seconds * length / model.n_estimators_
        for rule, grid in cell.params["exits"].items():
            for s in grid:
                measured = _with_exits(
                    cell,
                    shorter,
                    dataset,
                    parts,
                    rule,
                    _threshold(rule, s, deviation, shorter, parts),
                )
                measured |= {
                    "n_trees": length,
                    "n_features": n_used(shorter.trees_),
                    "fit_seconds": spent,
                }
                rows.append(
                    model_row(cell, f"early_exit_{rule}", measured, setting=s, rounds=length)
                )
    return rows


def _threshold(rule: str, s: float, deviation: float, model, parts: dict[str, Part]) -> float:
    """Return s in the unit of the rule."""
    if rule == "proximity":
        return s * deviation
    if rule == "score":
        return float(np.mean(model.predict(parts["valid"].X))) + s * deviation
    return s


def _with_exits(cell: Cell, model, dataset, parts: dict[str, Part], rule: str, s: float) -> dict:
    """Return scores and both bills; the copies of a row are documents of its query, too."""
    early = EarlyExit(model, rule=rule, threshold=s, every=cell.params["every"])
    e, measured = cell.params["tree_cost"], {}
    for name, part in parts.items():
        rows = part.repeated
        X, query = part.X[rows], None if part.query is None else part.query[rows]
        first = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])  # copies share their fate
        ranked = early.ranking_score(X, query)[first]
        measured[f"{name}_score"] = part.score(ranked)
        measured[f"{name}_cost"] = part.mean(early.prediction_cost(X, query, tree_cost=e)[first])
        bill = early.forest_cost_until_exit(X, query, tree_cost=e)
        measured[f"{name}_cost_paper"] = part.mean(bill[first])
    return measured
