"""Trains one model of ours or of another library; follows score and metered cost over its rounds.

One λ means the same for all: :mod:`experiments.methods.penalties`.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Iterator
from itertools import islice

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.interop import from_catboost, from_lightgbm, from_scikit_learn
from experiments.cegb_2017.cells.measure import measured, score, speaking_queries
from experiments.cell import Cell
from experiments.methods import penalties

_BLOCK_ROWS = 2048  # rows followed at a time: they stay in the processor's cache from tree to tree


def trace(cell: Cell, dataset) -> list[dict]:
    """Train the model of a cell and measure it at the cell's rounds."""
    if dataset.feature_groups is not None:
        raise ValueError(f"{cell.dataset} has feature groups, which the peers do not know.")
    model, last = fit(cell, dataset)
    first = _first_split(model)
    wanted = sorted({min(r, last) for r in cell.params["rounds"] if min(r, last) >= first} or {0})
    names = ("panel", "configuration", "learning_rate", "max_leaves", "min_samples_leaf")
    key = {name: cell.params[name] for name in (*names, "tradeoff")}
    rows = measured(wanted, lambda part: _follow_blocks(model, cell, dataset, part, wanted))
    last_column = {"speaking_queries": speaking_queries(dataset, cell.params["relevant_from"])}
    return [{**key, "rounds": rounds, **row, **last_column} for rounds, row in rows]


# --- training -----------------------------------------------------------------------------------


def targets(cell: Cell, dataset) -> np.ndarray:
    """Return what is trained on: grades, y > 0 as numbers, or class numbers 0, 1, …."""
    if dataset.task != "ranking":
        return np.unique(dataset.y_train, return_inverse=True)[1]
    y = dataset.y_train > 0 if cell.params["binarise"] else dataset.y_train
    return np.asarray(y, dtype=np.float64)


def library_seed(cell: Cell) -> int:
    """Return the seed of a library's own randomness, from data set and repetition alone."""
    sequence = np.random.SeedSequence([zlib.crc32(cell.dataset.encode()), cell.seed])
    return int(sequence.generate_state(1)[0] >> 1)


def fit(cell: Cell, dataset):
    """Train the model of a cell.

    Returns
    -------
    model : BoostedTrees or MeteredForest
        Ours, or another library's trees under our meter.
    last : int
        Last round that has a split; 0 if there is none.
    """
    y = targets(cell, dataset)
    family = cell.algorithm.split("_")[0]
    train = {"lightgbm": _lightgbm, "catboost": _catboost, "hist": _hist_gradient_boosting}
    if family in train:
        model = train[family](cell, dataset, y)
        return model, _last_split(model)
    with warnings.catch_warnings():
        # A large λ may leave no split worth its cost; round 0 records that.
        warnings.simplefilter("ignore", ConstantModelWarning)
        model = _ours(cell, dataset, y)
    return model, model.n_estimators_


def _rounds_with_splits(model) -> np.ndarray:
    """Return the rounds, from 1, in which some tree has a split."""
    sizes = np.diff(model.trees_.tree).reshape(-1, len(model.initial_scores_))
    return 1 + np.flatnonzero((sizes > 1).any(axis=1))


def _first_split(model) -> int:
    return int(_rounds_with_splits(model).min(initial=model.n_estimators_ + 1))


def _last_split(model) -> int:
    return int(_rounds_with_splits(model).max(initial=0))


def _ours(cell: Cell, dataset, y):
    params, ranking = cell.params, dataset.task == "ranking"
    settings = {n: params[n] for n in ("learning_rate", "max_leaves", "min_samples_leaf")}
    settings |= {
        "n_estimators": max(params["rounds"]),
        "feature_costs": dataset.feature_costs,
        "n_threads": 1,
    }
    if cell.algorithm == "gbrt":
        model = (GBRTRegressor if ranking else GBRTClassifier)(**settings)
    elif cell.algorithm == "cegb":
        kind = CEGBRegressor if ranking else CEGBClassifier
        model = kind(**settings, tradeoff=params["tradeoff"])
    else:
        raise ValueError(f"Unknown method {cell.algorithm!r}.")
    return model.fit(dataset.X_train, y)


def lightgbm_parameters(cell: Cell, dataset) -> dict:
    """Return LightGBM's parameters."""
    params = cell.params
    parameters = {
        "objective": _loss(dataset, ("regression", "binary", "multiclass")),
        "learning_rate": params["learning_rate"],
        "num_leaves": params["max_leaves"],
        "min_data_in_leaf": params["min_samples_leaf"],
        "seed": library_seed(cell),
        "deterministic": True,
        "force_col_wise": True,
        "num_threads": 1,
        "verbosity": -1,
    }
    if dataset.task == "multiclass":
        parameters["num_class"] = len(np.unique(dataset.y_train))
    if cell.algorithm == "lightgbm_cegb":
        parameters |= penalties.lightgbm_per_row(params["tradeoff"], dataset.feature_costs)
    return parameters


def _lightgbm(cell: Cell, dataset, y):
    import lightgbm

    parameters = lightgbm_parameters(cell, dataset)
    data = lightgbm.Dataset(dataset.X_train, y)
    booster = lightgbm.train(parameters, data, max(cell.params["rounds"]))
    return _one_thread(from_lightgbm(booster, feature_costs=dataset.feature_costs))


def catboost_parameters(cell: Cell, dataset) -> dict:
    """Return CatBoost's parameters: its defaults, but for what all methods share and the prices."""
    tried = cell.params
    parameters = {
        "loss_function": _loss(dataset, ("RMSE", "Logloss", "MultiClass")),
        "iterations": max(tried["rounds"]),
        "learning_rate": tried["learning_rate"],
        "depth": int(tried["max_leaves"]).bit_length() - 1,  # as many leaves
        "random_seed": library_seed(cell),
        "thread_count": 1,
        "allow_writing_files": False,
        "verbose": 0,
    }
    if cell.algorithm == "catboost":
        return parameters
    given = tried["tradeoff"], dataset.feature_costs
    classifies = dataset.task != "ranking"
    if cell.algorithm == "catboost_first_use":
        n_rows = len(dataset.X_train)
        return parameters | penalties.catboost_at_first_use(*given, n_rows, classifies)
    if cell.algorithm != "catboost_per_object":
        raise ValueError(f"Unknown method {cell.algorithm!r}.")
    shape = tried["max_leaves"], tried["min_samples_leaf"]
    return parameters | penalties.catboost_per_object(*given, *shape, classifies)


def _catboost(cell: Cell, dataset, y):
    import catboost

    model = catboost.CatBoost(catboost_parameters(cell, dataset)).fit(dataset.X_train, y)
    return _one_thread(from_catboost(model, feature_costs=dataset.feature_costs))


def _hist_gradient_boosting(cell: Cell, dataset, y):
    params, ranking = cell.params, dataset.task == "ranking"
    kind = HistGradientBoostingRegressor if ranking else HistGradientBoostingClassifier
    model = kind(
        max_iter=max(params["rounds"]),
        learning_rate=params["learning_rate"],
        max_leaf_nodes=params["max_leaves"],
        min_samples_leaf=params["min_samples_leaf"],
        early_stopping=False,
        random_state=library_seed(cell),
    ).fit(dataset.X_train, y)
    return _one_thread(from_scikit_learn(model, feature_costs=dataset.feature_costs))


def _one_thread(meter):
    meter.n_threads = 1
    return meter


def _loss(dataset, names: tuple[str, str, str]) -> str:
    """Return a library's name of the loss: squared, logistic, or that of many classes."""
    return names[("ranking", "binary", "multiclass").index(dataset.task)]


# --- measuring ----------------------------------------------------------------------------------


def _follow_blocks(model, cell: Cell, dataset, part: str, wanted) -> Iterator[tuple[float, float]]:
    """Yield score and mean cost of a part of the data at the wanted rounds."""
    X = getattr(dataset, f"X_{part}")
    if wanted == [0]:
        constant = _constant(model)
        raw = np.tile(constant, (len(X), 1)) if len(constant) > 1 else np.repeat(constant, len(X))
        yield _score_of_raw(raw, cell, dataset, part), 0.0
        return
    blocks = [
        _stages(model, X[start : start + _BLOCK_ROWS], dataset, wanted)
        for start in range(0, len(X), _BLOCK_ROWS)
    ]
    for stage in zip(*blocks, strict=True):
        scores, costs = (np.concatenate(parts) for parts in zip(*stage, strict=True))
        yield _score_of_raw(scores, cell, dataset, part), float(np.mean(costs))


def _stages(model, X, dataset, wanted) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return raw scores and costs of some rows at the wanted rounds."""
    prices = dataset.feature_costs
    raw = model.staged_raw if hasattr(model, "staged_raw") else _own_staged_raw(model, dataset)
    stages = zip(raw(X), model.staged_cost(X, feature_costs=prices, split_cost=0.0), strict=True)
    until = islice(enumerate(stages, 1), wanted[-1])
    return [(scores, cost.copy()) for rounds, (scores, cost) in until if rounds in wanted]


def _constant(model) -> np.ndarray:
    """Return the raw scores of a model without splits, lone leaves included."""
    lone = model.trees_.value[model.trees_.tree[:-1]] if model.trees_.n_trees else np.zeros(0)
    return model.initial_scores_ + lone.reshape(-1, len(model.initial_scores_)).sum(axis=0)


def _own_staged_raw(model, dataset):
    """Return our estimators' way to raw scores after each round."""
    if dataset.task == "ranking":
        return model.staged_predict
    return model.staged_decision_function


def _score_of_raw(raw: np.ndarray, cell: Cell, dataset, part: str) -> float:
    """Return accuracy or AP@5 of raw scores."""
    if dataset.task != "ranking":
        number = np.argmax(raw, axis=1) if raw.ndim == 2 else (raw > 0).astype(np.int64)
        raw = np.unique(dataset.y_train)[number]
    return score(raw, dataset, part, cell.params["relevant_from"])
