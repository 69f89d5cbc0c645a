"""Trains CEGB or one of its rivals among forests; follows score, run and cost of what it gives."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from algorithms.budget_forest import BudgetForestClassifier
from algorithms.budget_prune import BudgetPruneClassifier
from experiments.cegb_2017.cells import measure
from experiments.cegb_2017.cells.measure import PLACES, score, speaking_queries
from experiments.cell import Cell, rounded
from experiments.evaluate import fibonacci_rounds

MOST_PRUNINGS = 12
"""Prunings that are measured of one forest, evenly spread over all optimal ones."""


def unbroken_run(grades, scores, queries, relevant_from: float, places: int = PLACES) -> float:
    """Give what the rivals' public program calls average precision at 5; it is none.

    Of each query the number of relevant documents at the top before the first that is none, at
    most 5, over 5. A query whose documents are all relevant counts 1, one without any 0.
    """
    runs = []
    starts = np.flatnonzero(np.diff(queries, prepend=queries[0] - 1))
    for rows in np.split(np.arange(len(grades)), starts[1:]):
        order = rows[np.lexsort((grades[rows], -scores[rows]))]
        relevant = grades[order] >= relevant_from
        if relevant.all():
            runs.append(1.0)
            continue
        runs.append(min(int(np.argmin(relevant)), places) / places)
    return float(np.mean(runs))


def follow(cell: Cell, dataset) -> list[dict]:
    """Train a cell's model, and measure all models that it gives without further training."""
    relevant_from = cell.params["settings"]["relevant_from"]
    key = {"panel": cell.params["panel"], "setting": cell.params["setting"]}
    speaking = {"speaking_queries": speaking_queries(dataset, relevant_from)}
    rows = []
    for place, model in _models(cell, dataset):
        row: dict[str, Any] = {"rounds": place}
        for part in ("valid", "test"):
            X = getattr(dataset, f"X_{part}")
            answer = _answer(model, X, dataset)
            row[f"{part}_score"] = rounded(score(answer, dataset, part, relevant_from))
            row[f"{part}_run"] = rounded(_run(answer, dataset, part, relevant_from))
            cost = model.prediction_cost(X, feature_costs=dataset.feature_costs)
            row[f"{part}_cost"] = rounded(float(np.mean(cost)))
        rows.append({**key, **row, **speaking})
    return rows


def _models(cell: Cell, dataset) -> Iterator[tuple[int, Any]]:
    if cell.algorithm == "cegb":
        model = measure.train(cell, dataset)
        for rounds in fibonacci_rounds(model.n_estimators_):
            if rounds:
                yield rounds, model.first_rounds(rounds)
        return
    y, valid = dataset.y_train, dataset.y_valid
    if dataset.task == "ranking":
        y, valid = (y > 0).astype(np.int64), (valid > 0).astype(np.int64)
    forest = BudgetForestClassifier(
        n_estimators=cell.params["n_trees"],
        impurity=cell.params["impurity"],
        impurity_threshold=cell.params["impurity_threshold"],
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


def _run(answer: np.ndarray, dataset, part: str, relevant_from: int | None) -> float:
    if dataset.task != "ranking":
        return score(answer, dataset, part, relevant_from)
    grades, queries = (getattr(dataset, f"{name}_{part}") for name in ("y", "query"))
    return unbroken_run(grades, answer, queries, relevant_from)
