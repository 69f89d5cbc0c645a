"""Figure 3: MDDAG on multi-class trees, scored as rankers of documents."""

from __future__ import annotations

import time

import numpy as np

from algorithms.adaboost_mh import AdaBoostMH
from experiments.cell import Cell, rounded
from experiments.mddag_2012.cells.dags import METHODS, betas_of, unfitted
from experiments.mddag_2012.cells.expected_grade import expected_grade
from experiments.mddag_2012.cells.ndcg import MeanNDCG
from experiments.mddag_2012.cells.shares import as_asked, total_of

PARTS = ("train", "test")

INITIAL_WEIGHTS = "balanced"
"""MultiBoost's: half of an example's weight is on its own grade."""


def ranking_pool(dataset, n_estimators: int) -> AdaBoostMH:
    """Return AdaBoost.MH of Hamming trees with eight leaves; classes are grades."""
    model = AdaBoostMH(
        n_estimators=n_estimators,
        weak_learner="hamming_tree",
        n_leaves=8,
        initial_weights=INITIAL_WEIGHTS,
        n_threads=1,
    )
    return model.fit(dataset.X_train, dataset.y_train.astype(np.int64))


def grades_of(scores: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return McRank's expected grades, by probabilities that know how the pool's weights begin."""
    return expected_grade(scores, classes, initial_weights=INITIAL_WEIGHTS)


def run_cell(cell: Cell, dataset) -> list[dict]:
    """Measure AdaBoost.MH after every round, or policies along β, on one fold.

    Parameters
    ----------
    cell : Cell
        ``algorithm`` is ``adaboost`` or ``mddag``; ``n_estimators``; of MDDAG ``methods``,
        ``betas``, ``betas_of_shares`` where the loss is of f/Σα, ``n_episodes`` and ``n_bins``.
    dataset : Dataset
        A ranking set.

    Returns
    -------
    list of dict
        By ``panel, method, setting``: ``tradeoff`` (β), ``size`` (N, or j of AdaBoost), and of
        ``train`` and ``test`` documents ``…_ndcg`` (averaged NDCG) and ``…_evaluations`` (mean).
    """
    begun = time.process_time()
    pool = ranking_pool(dataset, cell.params["n_estimators"])
    seconds = time.process_time() - begun
    judges = {
        part: MeanNDCG(getattr(dataset, f"y_{part}"), getattr(dataset, f"query_{part}"))
        for part in PARTS
    }
    if cell.algorithm == "adaboost":
        return _adaboost_rows(cell, dataset, pool, judges, seconds)
    return _mddag_rows(cell, dataset, pool, judges)


def _adaboost_rows(cell: Cell, dataset, pool, judges, seconds: float) -> list[dict]:
    staged = [pool.staged_decision_function(getattr(dataset, f"X_{part}")) for part in PARTS]
    rows = []
    for j, stages in enumerate(zip(*staged, strict=True), start=1):
        values = {"fit_seconds": seconds * j / pool.n_estimators_}
        for part, scores in zip(PARTS, stages, strict=True):
            values[f"{part}_ndcg"] = judges[part](grades_of(scores, pool.classes_))
            values[f"{part}_evaluations"] = j
        rows.append(_row(cell, "adaboost", j, 0.0, j, values))
    return rows


def _mddag_rows(cell: Cell, dataset, pool, judges) -> list[dict]:
    rows, grades = [], dataset.y_train.astype(np.int64)
    for method in cell.params["methods"]:
        options = METHODS[method]
        asked, given = as_asked(pool, options)
        # Class probabilities are those of AdaBoost's scores, whatever the loss is of.
        scale = total_of(pool) / total_of(asked)
        for setting, beta in enumerate(cell.params[betas_of(options)]):
            model = unfitted(cell, asked, beta=beta, **given)
            begun = time.process_time()
            model.fit(dataset.X_train, grades)
            values = {"fit_seconds": time.process_time() - begun}
            for part in PARTS:
                X = getattr(dataset, f"X_{part}")
                scores = grades_of(scale * model.decision_function(X), model.classes_)
                values[f"{part}_ndcg"] = judges[part](scores)
                values[f"{part}_evaluations"] = float(np.mean(model.evaluations(X)))
            rows.append(_row(cell, method, setting, beta, model.n_base_, values))
    return rows


def _row(cell: Cell, method: str, setting: int, beta: float, size: int, values: dict) -> dict:
    seconds = values.pop("fit_seconds")
    return {
        "panel": cell.params["panel"],
        "method": method,
        "setting": setting,
        "tradeoff": rounded(beta),
        "size": int(size),
        **{name: rounded(value) for name, value in values.items()},
        "fit_seconds": seconds,
    }
