"""MDDAG with prices of features, beside CEGB and Greedy Miser: scores and metered costs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import numpy as np

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.metrics import accuracy, ndcg_at_k
from experiments.cell import Cell, rounded
from experiments.evaluate import (
    all_prices,
    constant_loss,
    follow,
    measured,
    prices_of,
    rounds_by_tens,
)
from experiments.mddag_2012.cells import dags
from experiments.mddag_2012.cells.dags import METHODS
from experiments.mddag_2012.cells.expected_grade import expected_grade
from experiments.methods import trees

PLACES = 5
"""Places of the normalised discounted cumulative gain, NDCG@5."""

PARTS = ("valid", "test")
PRICED = ("mddag_i", "mddag_exp", "mddag_exp_descent")
"""Methods of MDDAG that are tried."""


def score(dataset, part: str, predicted: np.ndarray) -> float:
    """Return NDCG@5 of predicted grades, or the accuracy of predicted classes."""
    y = getattr(dataset, f"y_{part}")
    if dataset.task != "ranking":
        return accuracy(y, predicted)
    return ndcg_at_k(y, predicted, getattr(dataset, f"query_{part}"), PLACES)


def priced_rows(cell: Cell, dataset) -> list[dict]:
    """Train one family of methods along its grid."""
    measure = _dag_rows if cell.algorithm == "mddag" else _boosted_rows
    return [{"panel": cell.params["panel"], **row} for row in measure(cell, dataset)]


def _row(method, setting, weight, rounds, values) -> dict:
    seconds = values.pop("fit_seconds")
    return {
        "method": method,
        "setting": setting,
        "tradeoff": rounded(weight),
        "rounds": int(rounds),
        **{name: rounded(value) for name, value in values.items()},
        "fit_seconds": seconds,
    }


# --- MDDAG ----------------------------------------------------------------------------------------


def _dag_rows(cell: Cell, dataset) -> Iterator[dict]:
    classes = dataset.y_train.astype(np.int64)
    pool = AdaBoostMH(
        n_estimators=cell.params["n_estimators"],
        weak_learner="hamming_tree",
        n_leaves=8,
        n_threads=1,
        **prices_of(dataset),
    ).fit(dataset.X_train, classes)
    for method in PRICED:
        for setting, weight in enumerate(cell.params["weights"]):
            model = dags.unfitted(
                cell,
                pool,
                beta=weight * constant_reward_loss(dataset, method) / all_prices(dataset),
                tree_cost=0.0,
                **prices_of(dataset),
                **METHODS[method],
            )
            begun = time.process_time()
            model.fit(dataset.X_train, classes)
            values = {"fit_seconds": time.process_time() - begun}
            for part in PARTS:
                X = getattr(dataset, f"X_{part}")
                values[f"{part}_score"] = score(dataset, part, _predicted(model, dataset, X))
                values[f"{part}_cost"] = float(np.mean(model.prediction_cost(X)))
            values["test_evaluations"] = float(np.mean(model.evaluations(dataset.X_test)))
            yield _row(method, setting, weight, model.n_base_, values)


def constant_reward_loss(dataset, method: str) -> float:
    """Return the mean loss of MDDAG's best model that evaluates nothing.

    Errors but for the commonest class; with the exponential loss exp(0).
    """
    if METHODS[method].get("reward", "zero_one") == "exponential":
        return 1.0
    _, counts = np.unique(dataset.y_train, return_counts=True)
    return 1.0 - float(counts.max() / counts.sum())


def _predicted(model, dataset, X: np.ndarray) -> np.ndarray:
    if dataset.task != "ranking":
        return model.predict(X)
    return expected_grade(model.decision_function(X), model.classes_)


# --- boosted trees --------------------------------------------------------------------------------


def tradeoff_of(algorithm: str, dataset, weight: float) -> float:
    """Return the λ at which all features together cost `weight` times a constant model's loss.

    CEGB charges each row, so λ · Σ c = weight · mean loss; Greedy Miser charges the forest once, so
    λ · Σ c = weight · summed loss, its squared one, which of classes is over their indicators.
    """
    if algorithm == "cegb":
        loss = constant_loss(dataset.y_train, dataset.task != "ranking")
        return weight * loss / all_prices(dataset)
    y = dataset.y_train
    if dataset.task != "ranking":
        y = (y[:, None] == np.unique(y)).astype(np.float64)
    return weight * float(np.sum((y - y.mean(axis=0)) ** 2)) / all_prices(dataset)


def _boosted_rows(cell: Cell, dataset) -> Iterator[dict]:
    for setting, weight in enumerate(cell.params["weights"]):
        model = trees.unfitted(
            cell.algorithm,
            dataset.task,
            n_estimators=cell.params["n_estimators"],
            tradeoff=tradeoff_of(cell.algorithm, dataset, weight),
            **prices_of(dataset),
        )
        begun = time.process_time()
        model.fit(dataset.X_train, dataset.y_train)
        seconds = time.process_time() - begun
        n_rounds = model.n_estimators_
        rounds = rounds_by_tens(n_rounds) if n_rounds else []
        for r, values in measured(rounds, partial(_staged, model, dataset, rounds)):
            values |= {"fit_seconds": seconds * r / n_rounds, "test_evaluations": float(r)}
            yield _row(cell.algorithm, setting, weight, r, values)


def _staged(model, dataset, rounds: list[int], part: str) -> Iterator[tuple[float, float]]:
    """Yield score and mean metered cost after some rounds."""
    for said, cost in follow(model, getattr(dataset, f"X_{part}"), rounds):
        yield score(dataset, part, said), float(np.mean(cost))
