"""What all methods do alike with a draw: the shape of their trees, and the rows they are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments.methods.problem import Problem

N_DRAWN = 5
"""Numbers of a draw: learning rate, leaves, rows in a leaf, price of cost, distance of exits."""


def log_between(u: float, low: float, high: float) -> float:
    """Give the number at a share `u` of the way from `low` to `high`, in logarithms."""
    return float(low * (high / low) ** u)


def drawn_between(u: float, low: float, high: float) -> float:
    """Give that number in four digits, as parameters have."""
    return float(f"{log_between(u, low, high):.4g}")


def pick(choices: Sequence, u: float):
    """Give the choice at a share `u` of the way along them."""
    return choices[min(int(u * len(choices)), len(choices) - 1)]


def further(draw: Mapping, n: int) -> list[float]:
    """Give `n` further numbers of a draw, between 0 and 1, for what one method alone draws."""
    return np.random.default_rng([draw["seed"], 23]).random(n).tolist()


def most_in_leaf(problem: Problem) -> float:
    """Give the most rows that a leaf must have."""
    return max(2.0, min(100.0, len(problem.parts["train"]) / 20))


def shape(problem: Problem, draw: Mapping) -> dict[str, Any]:
    """Give what all boosted trees draw alike: learning rate, leaves, rows in a leaf, rounds."""
    u = draw["u"]
    return {
        "learning_rate": drawn_between(u[0], 0.03, 0.3),
        "max_leaves": round(log_between(u[1], 4, 48)),
        "min_samples_leaf": round(log_between(u[2], 2, most_in_leaf(problem))),
        "n_estimators": draw["rounds"],
    }


def named(problem: Problem, draw: Mapping, parameters: Mapping) -> dict[str, Any]:
    """Give parameters, which features are categories, and which may be used, if not all."""
    found = dict(parameters)
    if problem.categorical is not None:
        found["categorical_features"] = problem.categorical
    if draw.get("columns") is not None:
        found["features"] = [problem.names[m] for m in draw["columns"]]
    return found


def features(problem: Problem, draw: Mapping) -> pd.DataFrame:
    """Give the rows to be fitted, all columns but those of the draw constant.

    No tree splits on a constant. The model still takes the whole table, so that it is saved and
    used like any other; what the other columns hold then, missing values too, changes nothing.
    """
    X = problem.fit.X
    if draw.get("columns") is None:
        return X
    X, others = X.copy(), np.setdiff1d(np.arange(X.shape[1]), draw["columns"])
    of_text = np.isin(problem.names, problem.categorical or [])
    X.iloc[:, others[~of_text[others]]] = 0.0
    for m in others[of_text[others]]:  # one text, so that the model takes text there
        codes, dtype = np.zeros(len(X), dtype=np.int64), X.dtypes.iloc[m]
        X.isetitem(m, pd.Categorical.from_codes(codes, dtype=dtype))
    return X


def fitted(model, problem: Problem, draw: Mapping, y=None):
    """Fit an estimator of ours; it sees names, and classes as the user writes them."""
    y = problem.fit.y if y is None else y
    return model.fit(features(problem, draw), y, sample_weight=problem.fit_weight())
