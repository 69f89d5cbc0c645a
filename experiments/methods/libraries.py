"""Other libraries' boosted trees as methods, read into our meter once they are trained.

Some heed prices in ways of their own: by penalties (:mod:`experiments.methods.penalties`), or by
LightGBM's early stop. They are given plain arrays, without names, which each spells in its own way,
and classes numbered 0, 1, …, which some of them round; the metered forest has the names and the
user's own classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from algorithms.interop import (
    MeteredForest,
    from_catboost,
    from_lightgbm,
    from_scikit_learn,
    from_xgboost,
)
from experiments.methods import facts, penalties
from experiments.methods.exits import exits
from experiments.methods.fitting import features, named, pick, shape
from experiments.methods.method import CLASSES, method
from experiments.methods.problem import Problem
from experiments.methods.subsets import price_alone
from experiments.methods.trained import Rounds, Trained
from experiments.methods.trees import one_of

_MARGINS = np.geomspace(0.05, 20.0, 12)
_EVERY = (1, 2, 5, 10, 20)


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


# --- LightGBM -------------------------------------------------------------------------------------


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


def _lightgbm(problem: Problem, draw: Mapping, **options) -> MeteredForest:
    """Train LightGBM and read it into our meter."""
    import lightgbm

    kind = one_of(problem.task, lightgbm.LGBMClassifier, lightgbm.LGBMRegressor)
    model = kind(**_lightgbm_options(problem, draw), **options)
    model = _fitted(model, problem, draw)
    return _with_names(from_lightgbm(model, **problem.prices), problem)


@method(library="lightgbm")
def lightgbm(problem: Problem, draw: Mapping) -> Trained:
    """Train LightGBM."""
    return Rounds(_lightgbm(problem, draw), named(problem, draw, shape(problem, draw)))


@method(library="lightgbm", has_tradeoff=True)
def lightgbm_cegb(problem: Problem, draw: Mapping) -> Trained:
    """Penalise a feature for each row that first needs it ("lazy")."""
    given = penalties.lightgbm_per_row(draw["tradeoff"], price_alone(problem))
    parameters = shape(problem, draw) | {"cegb_tradeoff": given["cegb_tradeoff"]}
    return Rounds(_lightgbm(problem, draw, **given), named(problem, draw, parameters))


@method(CLASSES, library="lightgbm", allow_nan=False, most_classes=2, gives="scores")
def lightgbm_early_stop(problem: Problem, draw: Mapping) -> Trained:
    """Let rows leave as LightGBM's ``pred_early_stop`` does, for each margin of a list.

    A row leaves after every so many trees if twice the size of its score is above the margin,
    which for two classes is a likelihood: 1 / (1 + exp(-margin / 2)).
    """
    meter = _lightgbm(problem, draw)
    every = pick(_EVERY, draw["u"][4])
    every = min(every, max(1, meter.n_estimators_))
    parameters = named(problem, draw, shape(problem, draw))
    return exits(meter, parameters, "likelihood", every, likelihoods(_MARGINS))


def likelihoods(margins: np.ndarray) -> np.ndarray:
    """Give the likelihood of the larger of two classes at a margin of LightGBM's."""
    return 1.0 / (1.0 + np.exp(-np.asarray(margins) / 2.0))


@method(("ranking",), library="lightgbm", unfit=facts.lambdarank)
def lightgbm_lambdarank(problem: Problem, draw: Mapping) -> Trained:
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


# --- XGBoost --------------------------------------------------------------------------------------


@method(library="xgboost")
def xgboost(problem: Problem, draw: Mapping) -> Trained:
    """Train XGBoost, whose leaves have a least hessian: a row counts 1, or ¼ at most of classes."""
    import xgboost as library

    options, classifies = shape(problem, draw), problem.task == "classification"
    of_a_row = penalties.LARGEST_LOGISTIC_HESSIAN if classifies else 1.0
    kind = one_of(problem.task, library.XGBClassifier, library.XGBRegressor)
    model = kind(
        n_estimators=options["n_estimators"],
        learning_rate=options["learning_rate"],
        grow_policy="lossguide",
        max_depth=0,
        max_leaves=options["max_leaves"],
        min_child_weight=of_a_row * options["min_samples_leaf"],
        tree_method="hist",
        random_state=draw["seed"],
        n_jobs=1,
        verbosity=0,
    )
    model = _fitted(model, problem, draw)
    return _metered(from_xgboost(model, **problem.prices), problem, draw, options)


# --- CatBoost and scikit-learn --------------------------------------------------------------------


def _catboost(problem: Problem, draw: Mapping, **own) -> Trained:
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
    kind = one_of(problem.task, catboost.CatBoostClassifier, catboost.CatBoostRegressor)
    model = _fitted(kind(**given), problem, draw)
    shown = ("learning_rate", "depth", "max_leaves", "min_data_in_leaf", "penalties_coefficient")
    said = {"n_estimators": options["n_estimators"]}
    said |= {name: given[name] for name in shown if name in given}
    return _metered(from_catboost(model, **problem.prices), problem, draw, said)


@method(library="catboost")
def catboost(problem: Problem, draw: Mapping) -> Trained:
    """Train CatBoost."""
    return _catboost(problem, draw)


@method(library="catboost", has_tradeoff=True)
def catboost_first_use(problem: Problem, draw: Mapping) -> Trained:
    """Penalise a feature once, when the model first uses it; λ is that of all rows together."""
    classifies = problem.task == "classification"
    given = draw["tradeoff"], price_alone(problem), len(problem.fit), classifies
    return _catboost(problem, draw, **penalties.catboost_at_first_use(*given))


@method(library="catboost", has_tradeoff=True)
def catboost_per_object(problem: Problem, draw: Mapping) -> Trained:
    """Penalise a feature for each row that first needs it; no oblivious trees, see penalties."""
    drawn = shape(problem, draw)
    given = penalties.catboost_per_object(
        draw["tradeoff"],
        price_alone(problem),
        drawn["max_leaves"],
        drawn["min_samples_leaf"],
        problem.task == "classification",
    )
    return _catboost(problem, draw, **given)


@method()
def hist_gradient_boosting(problem: Problem, draw: Mapping) -> Trained:
    """Train scikit-learn's HistGradientBoosting."""
    options = shape(problem, draw)
    kind = one_of(problem.task, HistGradientBoostingClassifier, HistGradientBoostingRegressor)
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
