"""Other libraries' boosted trees as methods, read into our meter once they are trained.

They are given plain arrays, without names, which each spells in its own way, and classes numbered
0, 1, …, which some of them round; the metered forest has the names and the user's own classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from algorithms.interop import MeteredForest, from_catboost, from_lightgbm, from_scikit_learn
from experiments.compare.fitting import features, named, one_of, shape
from experiments.compare.problem import Problem
from experiments.compare.trained import Rounds, Trained


def _numbered(problem: Problem) -> np.ndarray:
    """Targets; classes as numbers of their sorted list."""
    if problem.task != "classification":
        return problem.fit.y
    return np.unique(problem.fit.y, return_inverse=True)[1].astype(np.int64)


def _fitted(model, problem: Problem, draw: Mapping, **extras):
    X = features(problem, draw).to_numpy()
    return model.fit(X, _numbered(problem), sample_weight=problem.fit_weight(), **extras)


def _with_names(forest: MeteredForest, problem: Problem) -> MeteredForest:
    """Give a forest the names and classes of the table."""
    forest.n_threads = 1
    forest.feature_names_in_ = np.array(problem.names, dtype=object)
    if forest.link is not None:
        forest.link = forest.link._replace(classes=np.unique(problem.fit.y))
    return forest


def _metered(forest, problem: Problem, draw: Mapping, parameters: Mapping) -> Trained:
    return Rounds(_with_names(forest, problem), named(problem, draw, parameters))


def _lightgbm_options(problem: Problem, draw: Mapping) -> dict[str, Any]:
    options = shape(problem, draw)
    return {
        "learning_rate": options["learning_rate"],
        "num_leaves": options["max_leaves"],
        "min_child_samples": options["min_samples_leaf"],
        "n_estimators": options["n_estimators"],
        "random_state": draw["seed"],
        "deterministic": True,
        "force_col_wise": True,
        "n_jobs": 1,
        "verbosity": -1,
    }


def lightgbm(problem: Problem, draw: Mapping, **options) -> Trained:
    """Train LightGBM."""
    parameters = shape(problem, draw)
    if "cegb_tradeoff" in options:
        parameters["cegb_tradeoff"] = options["cegb_tradeoff"]
    return Rounds(lightgbm_meter(problem, draw, **options), named(problem, draw, parameters))


def lightgbm_meter(problem: Problem, draw: Mapping, **options) -> MeteredForest:
    """Train LightGBM and read it into our meter."""
    import lightgbm

    kind = one_of(problem, lightgbm.LGBMClassifier, lightgbm.LGBMRegressor)
    model = kind(**_lightgbm_options(problem, draw), **options)
    model = _fitted(model, problem, draw)
    return _with_names(from_lightgbm(model, **problem.prices), problem)


def lambdarank(problem: Problem, draw: Mapping) -> Trained:
    """Train on the order within queries; how long is chosen on validation queries, as for all."""
    import lightgbm

    part = problem.fit
    options = _lightgbm_options(problem, draw) | {
        "objective": "lambdarank",
        "label_gain": [2.0**grade - 1 for grade in range(int(part.y.max()) + 1)],
    }
    starts = np.flatnonzero(np.diff(part.query, prepend=part.query[0] - 1))
    sizes = np.diff(starts, append=len(part))
    model = _fitted(lightgbm.LGBMRanker(**options), problem, draw, group=sizes)
    parameters = shape(problem, draw)
    return _metered(from_lightgbm(model, **problem.prices), problem, draw, parameters)


def catboost(problem: Problem, draw: Mapping, **own) -> Trained:
    """Train CatBoost, whose trees are oblivious but where `own` parameters say otherwise."""
    import catboost

    options = shape(problem, draw)
    given = {
        "iterations": options["n_estimators"],
        "learning_rate": options["learning_rate"],
        "depth": max(2, round(np.log2(options["max_leaves"]))),
        "random_seed": draw["seed"],
        "thread_count": 1,
        "allow_writing_files": False,
        "verbose": 0,
        **own,
    }
    kind = one_of(problem, catboost.CatBoostClassifier, catboost.CatBoostRegressor)
    model = _fitted(kind(**given), problem, draw)
    shown = ("learning_rate", "depth", "max_leaves", "min_data_in_leaf", "penalties_coefficient")
    said = {"n_estimators": options["n_estimators"]}
    said |= {name: given[name] for name in shown if name in given}
    return _metered(from_catboost(model, **problem.prices), problem, draw, said)


def hist_gradient_boosting(problem: Problem, draw: Mapping) -> Trained:
    """Train scikit-learn's HistGradientBoosting."""
    options = shape(problem, draw)
    kind = one_of(problem, HistGradientBoostingClassifier, HistGradientBoostingRegressor)
    model = kind(
        max_iter=options["n_estimators"],
        learning_rate=options["learning_rate"],
        max_leaf_nodes=options["max_leaves"],
        min_samples_leaf=options["min_samples_leaf"],
        early_stopping=False,
        random_state=draw["seed"],
    )
    model = _fitted(model, problem, draw)
    return _metered(from_scikit_learn(model, **problem.prices), problem, draw, options)
