"""Figure 2's models: boosting, or one of the rivals among forests; follows score and cost."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from algorithms.budget_forest import BudgetForestClassifier
from algorithms.budget_prune import BudgetPruneClassifier
from experiments.cegb_2017.cells.measure import (
    described,
    score,
    speaking_queries,
    trace_and_describe,
)
from experiments.cell import Cell, rounded
from experiments.cells.divided_queries import fold_of
from experiments.evaluate import fibonacci_rounds

MOST_PRUNINGS = 12
"""Prunings that are measured of one forest, evenly spread over all optimal ones."""


def follow(cell: Cell, dataset) -> list[dict]:
    """Train a cell's model, and measure all models that it gives without further training.

    Where ``divided`` is set, all queries of a ranking set are divided into five folds anew, and the
    repetition is one of these.
    """
    if cell.params["settings"].get("divided"):
        dataset = fold_of(dataset, cell.seed)
    if "impurity" not in cell.params:
        return trace_and_describe(cell, dataset)
    options = cell.params["settings"]
    key = {name: cell.params[name] for name in ("panel", "tradeoff")}
    rows = []
    for place, model in _models(cell, dataset):
        row: dict[str, Any] = {"rounds": place}
        for part in ("valid", "test"):
            X = getattr(dataset, f"X_{part}")
            answer = _answer(model, X, dataset)
            row[f"{part}_score"] = rounded(score(answer, dataset, part, options))
            cost = model.prediction_cost(X, feature_costs=dataset.feature_costs)
            row[f"{part}_cost"] = row[f"{part}_cost_paper"] = rounded(float(np.mean(cost)))
        rows.append({**key, **row})
    whole = {
        "rounds_trained": rows[-1]["rounds"],
        "speaking_queries": speaking_queries(dataset, options["relevant_from"]),
        **described(model, dataset),
    }
    return [row | whole for row in rows]


def _models(cell: Cell, dataset) -> Iterator[tuple[int, Any]]:
    y, valid = dataset.y_train, dataset.y_valid
    if dataset.task == "ranking":
        y, valid = (y > 0).astype(np.int64), (valid > 0).astype(np.int64)
    forest = BudgetForestClassifier(
        n_estimators=cell.params["n_trees"],
        impurity=cell.params["impurity"],
        impurity_threshold=cell.params["tradeoff"],
        feature_costs=dataset.feature_costs,
        feature_groups=dataset.feature_groups,
        random_state=cell.seed,
        n_threads=1,
    )
    if cell.algorithm == "budget_forest":
        forest.fit(dataset.X_train, y)
        for n_trees in fibonacci_rounds(forest.n_estimators_):
            yield n_trees, forest.first_rounds(n_trees)
        return
    pruning = BudgetPruneClassifier(forest, n_threads=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # 20,000 rows are billed: README says so
        pruning.fit(dataset.X_train, y, eval_set=(dataset.X_valid, valid))
    last = len(pruning.curve_.cost) - 1
    spread = np.linspace(0, last, min(MOST_PRUNINGS, last + 1))
    for point in np.unique(np.rint(spread).astype(int)).tolist():
        yield point, pruning.pruned(point=point)


def _answer(model, X: np.ndarray, dataset) -> np.ndarray:
    """Classes, or what ranks: a grade, or the share of votes for relevance."""
    if dataset.task == "ranking" and hasattr(model, "predict_proba"):
        return model.predict_proba(X)[:, -1]
    return model.predict(X)
