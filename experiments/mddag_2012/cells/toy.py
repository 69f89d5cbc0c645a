"""Figure 1: which base classifiers MDDAG uses for which points of the plane."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from sklearn.frozen import FrozenEstimator

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.mddag import MDDAGClassifier
from datasets.toy import NEGATIVE, clusters
from experiments.cell import Cell, rounded
from experiments.mddag_2012.cells.paths import edges, node_lists, visits

SOLVERS = {"mddag_i": "sarsa", "mddag_i_descent": "descent"}

SHOWN = "mddag_i"
"""Of which points, classifiers and edges are listed, too."""

DIGITS = 4
"""Significant ones of coordinates and margins."""

_NOTHING = {
    "item": 0,
    "next": 0,
    "x_1": math.nan,
    "x_2": math.nan,
    "cluster": -1,
    "evaluations": 0,
    "margin": math.nan,
    "first": 0,
    "second": 0,
    "objective": math.nan,
}
"""Columns of a row, and what stands there where they do not apply."""


def run_cell(cell: Cell, dataset) -> list[dict]:
    """Train both solvers on one pool of stumps and follow the positive training points.

    Parameters
    ----------
    cell : Cell
        ``n_estimators``, ``beta``, ``n_episodes``; ``background`` says whether the negative points
        are listed, too.
    dataset : Dataset
        ``toy``.

    Returns
    -------
    list of dict
        By ``record``: ``point`` (``x_1, x_2, cluster, margin`` under all of AdaBoost, normalised,
        and ``evaluations``); ``classifier`` (``item`` j, and how many positive points of the
        ``first`` and ``second`` cluster evaluate it); ``edge`` (``item`` to ``next``, likewise);
        ``path`` (``item`` its rank, its ``evaluations``, likewise); ``score`` (``item`` the number
        of episodes, 0 the kept policy; ``objective`` (8)). Classifiers count from 1.
    """
    X, y, cluster = dataset.X_train, dataset.y_train, clusters(cell.seed)["train"]
    if not np.array_equal(cluster != NEGATIVE, y == 1):
        raise ValueError("the clusters are not those of the points")
    pool = AdaBoostMH(n_estimators=cell.params["n_estimators"], n_threads=1).fit(X, y)
    rows = _background_rows(X[y == 0]) if cell.params["background"] else []
    X, cluster = X[y == 1], cluster[y == 1]
    margins = pool.decision_function(X) / np.sum(np.abs(pool.stumps_.alpha))
    for method, solver in SOLVERS.items():
        model = MDDAGClassifier(
            FrozenEstimator(pool),
            beta=cell.params["beta"],
            reward="zero_one",
            solver=solver,
            n_episodes=cell.params["n_episodes"],
            random_state=cell.seed,
            n_threads=1,
        ).fit(dataset.X_train, y)
        taken = node_lists(model.classification_path(X))
        records = [*_score_rows(model, cell.params["n_episodes"]), *_path_rows(taken, cluster)]
        if method == SHOWN:
            records += _point_rows(X, cluster, margins, taken)
            records += _usage_rows(taken, cluster, model.n_base_)
            records += _edge_rows(taken, cluster)
        rows += [_row(method, **row) for row in records]
    return rows


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _row(method: str, record: str, **values) -> dict:
    return {"record": record, "method": method, **_NOTHING, **values}


def _background_rows(X: np.ndarray) -> list[dict]:
    return [
        _row("adaboost", "point", item=i, x_1=_short(a), x_2=_short(b), cluster=NEGATIVE)
        for i, (a, b) in enumerate(X.tolist())
    ]


def _point_rows(X, cluster, margins, taken) -> list[dict]:
    return [
        {
            "record": "point",
            "item": i,
            "x_1": _short(a),
            "x_2": _short(b),
            "cluster": int(cluster[i]),
            "margin": _short(margins[i]),
            "evaluations": len(taken[i]),
        }
        for i, (a, b) in enumerate(X.tolist())
    ]


def _by_cluster(taken, cluster, count) -> list:
    """Count something of the paths of each cluster: [first, second]."""
    return [count([p for p, c in zip(taken, cluster, strict=True) if c == k]) for k in (0, 1)]


def _usage_rows(taken, cluster, n_base: int) -> list[dict]:
    """Classifiers that any positive point evaluates."""
    first, second = _by_cluster(taken, cluster, lambda paths: visits(paths, n_base))
    return [
        {
            "record": "classifier",
            "item": int(j) + 1,
            "first": int(first[j]),
            "second": int(second[j]),
        }
        for j in np.flatnonzero(first + second)
    ]


def _edge_rows(taken, cluster) -> list[dict]:
    first, second = _by_cluster(taken, cluster, edges)
    return [
        {
            "record": "edge",
            "item": a + 1,
            "next": b + 1,
            "first": first[a, b],
            "second": second[a, b],
        }
        for a, b in sorted(first.keys() | second.keys())
    ]


def _path_rows(taken, cluster) -> list[dict]:
    """Paths by falling multiplicity (ties: the path that is first as a list of numbers)."""
    first, second = _by_cluster(taken, cluster, Counter)
    ordered = sorted(Counter(taken).items(), key=lambda item: (-item[1], item[0]))
    return [
        {
            "record": "path",
            "item": rank,
            "evaluations": len(path),
            "first": first[path],
            "second": second[path],
        }
        for rank, (path, _) in enumerate(ordered, start=1)
    ]


def _score_rows(model, n_episodes: int) -> list[dict]:
    """The objective of the kept policy, and of those on the way (of SARSA)."""
    rows = [{"record": "score", "item": 0, "objective": rounded(model.objective_)}]
    if model.solver != "sarsa":
        return rows
    every = n_episodes // len(model.history_)
    return rows + [
        {"record": "score", "item": every * i, "objective": rounded(value)}
        for i, value in enumerate(model.history_, start=1)
    ]
