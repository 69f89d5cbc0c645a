"""Compile the kernels of all estimators ahead of time: ``python -m algorithms.registry``.

A first fit otherwise compiles what it needs, for a minute or more, and so does each of several
processes that begin together. Kernels are kept where :mod:`algorithms.kernels.cache` says.
"""

from __future__ import annotations

import multiprocessing
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from ..gbrt import GBRTRegressor
from ..kernels.cache import cache_folder
from ..kernels.decorators import silence
from ..trees.histogram import MOST_PACKED
from .registered import ESTIMATORS

_ROWS, _FEATURES, _ROUNDS = 200, 4, 3
_BOTH_SOLVERS = {"solver": "descent", "start": "sarsa", "n_episodes": 100}  # of a decision DAG


def compile_for(weighted: bool) -> int:
    """Fit every estimator to a few rows, and predict and bill with it."""
    rng = np.random.default_rng(0)
    X = rng.random((_ROWS, _FEATURES))
    label = (X[:, 0] + X[:, 1] > 1.0).astype(np.int64)
    # Forests take whole ones only, and derivatives with heavy ones are kept as with fractions.
    weights = np.tile([1.0, 2.0 * MOST_PACKED], _ROWS // 2) if weighted else None
    # The two kinds in opposite order: where kernels serve both, one finds what the other compiled.
    chosen = reversed(ESTIMATORS) if weighted else ESTIMATORS
    for estimator in chosen:
        model = small(estimator)
        y = label if is_classifier(model) else X[:, 0]
        with warnings.catch_warnings(), silence():
            warnings.simplefilter("ignore")  # three rounds are constant, or reach no rate
            model.fit(X, y, sample_weight=weights)
        model.predict(X)
        model.prediction_cost(X, feature_costs=np.ones(_FEATURES))
    return len(ESTIMATORS)


def small(estimator: type[BaseEstimator]) -> BaseEstimator:
    """Give an estimator few rounds, or trees of few rounds if it weighs those of another one."""
    size = {
        "estimator": GBRTRegressor(n_estimators=_ROUNDS, n_threads=1),
        "n_estimators": _ROUNDS,
        "max_stumps": _ROUNDS,
        "n_threads": 1,
    }
    taken = estimator().get_params(deep=False)
    size |= _BOTH_SOLVERS if "n_episodes" in taken else {}
    return estimator(**{name: value for name, value in size.items() if name in taken})


def compile_all() -> int:
    """Compile with and without weights, side by side; return the exit status."""
    folder = cache_folder()
    if folder is None:
        print("No folder is private and writable: nothing that is compiled can be kept.")
        return 1
    # Fresh processes: a fork of one that has fitted would have one thread only.
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=2, mp_context=spawning) as pool:
        n_fits = sum(pool.map(compile_for, (False, True)))
    print(f"{n_fits} fits with {len(ESTIMATORS)} estimators; their kernels are in {folder}")
    return 0
