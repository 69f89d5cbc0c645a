"""MDDAG on AdaBoost's base classifiers: both losses, both solvers, a run for each β."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from sklearn.frozen import FrozenEstimator

from algorithms.mddag import MDDAGClassifier
from experiments.cell import Cell
from experiments.mddag_2012.cells.operating import Scored, measured
from experiments.mddag_2012.cells.paths import edges, node_lists
from experiments.mddag_2012.cells.rows import edge_row, run_row
from experiments.mddag_2012.cells.windows import Windows, boosted, windows_of

METHODS = {
    "mddag_i": {"reward": "zero_one", "solver": "sarsa"},
    "mddag_exp": {"reward": "exponential", "solver": "sarsa"},
    "mddag_exp_slow": {"reward": "exponential", "solver": "sarsa", "learning_rate": 0.02},
    "mddag_i_descent": {"reward": "zero_one", "solver": "descent"},
    "mddag_exp_descent": {"reward": "exponential", "solver": "descent"},
}
"""Method to the parameters of the estimator. At the paper's rate of 0.2 SARSA does not learn from
the exponential loss, which the training objective shows; so a tenth of it is tried, too."""


def mddag_rows(cell: Cell, dataset) -> list[dict]:
    """Train policies on one pool of base classifiers, and measure them.

    Parameters
    ----------
    cell : Cell
        ``n_estimators``: N; ``betas``: the grid; ``n_episodes``; ``dag``: the places in the grid
        of which the edges of MDDAG.I's DAG are listed, for the positive training windows.
    dataset : Dataset
    """
    train = windows_of(dataset, "train")
    pool, used = boosted(train, cell.params["n_estimators"])
    train = train.of_columns(used)
    test = windows_of(dataset, "test").of_columns(used)
    rows = []
    for method, options in METHODS.items():
        for setting, (beta, model, seconds) in enumerate(policies(cell, pool, train, options)):
            values = {**compared(model, train, test), "fit_seconds": seconds}
            rows.append(run_row(cell, method, setting, values, tradeoff=beta, size=model.n_base_))
            if method == "mddag_i" and setting in cell.params["dag"]:
                rows += dag_rows(cell, method, setting, model, train)
    return rows


def policies(cell: Cell, pool, train: Windows, options: dict) -> Iterator[tuple]:
    """Yield β, the fitted estimator and the processor seconds of its training."""
    for beta in cell.params["betas"]:
        model = MDDAGClassifier(
            FrozenEstimator(pool),
            beta=beta,
            n_episodes=cell.params["n_episodes"],
            random_state=cell.seed,
            n_threads=1,
            **options,
        )
        begun = time.process_time()
        model.fit(train.X, train.y)
        yield beta, model, time.process_time() - begun


def compared(model, train: Windows, test: Windows) -> dict[str, float]:
    """Return the rates of a policy, what it evaluates, and the objective (8) of both parts."""
    seen, values = [], {}
    for name, part in (("train", train), ("test", test)):
        scores, evaluated = model.decision_function(part.X), model.evaluations(part.X)
        seen.append(Scored(scores, evaluated, part.background))
        values[f"{name}_objective"] = objective(model, scores, evaluated, part.y)
    return {**measured(*seen), **values}


def objective(model, scores: np.ndarray, evaluated: np.ndarray, y: np.ndarray) -> float:
    """Return (8) of some rows: mean loss at quitting, and β for each evaluation.

    A tie is an error, as in training.
    """
    margin = np.where(y == model.classes_[1], scores, -scores)
    losses = (margin <= 0) if model.reward == "zero_one" else np.exp(-margin)
    return float(np.mean(losses) + model.beta * np.mean(evaluated))


def dag_rows(cell: Cell, method: str, setting: int, model, train: Windows) -> list[dict]:
    """Return the edges of the DAG that the positive training windows take, counted from 1."""
    taken = node_lists(model.classification_path(train.X[~train.background]))
    counted = sorted(edges(taken).items())
    return [edge_row(cell, method, setting, (a + 1, b + 1), n) for (a, b), n in counted]
