"""What the papers do at their sizes, timed beside goals: cases of :mod:`benchmarks.peers`."""

from __future__ import annotations

import copy
import time
from functools import partial
from unittest.mock import patch

import numpy as np
from skimage.data import astronaut
from sklearn.frozen import FrozenEstimator

import datasets
from algorithms.adaboost_mh import AdaBoostMH
from algorithms.bourdev_cascade import BourdevCascadeClassifier
from algorithms.cronus import CronusClassifier
from algorithms.decision_dag import estimator
from algorithms.gbrt import GBRTRegressor
from algorithms.mddag import MDDAGClassifier
from algorithms.on_demand import HaarFeatures, PictureScanner
from datasets import vj_faces
from datasets.features.faces.haar_columns import outlines
from datasets.features.pixels import grey

from .timing import Row, alternate

THREADS = 2

# --- MDDAG: learning ------------------------------------------------------------------------------


def decision_dags(n_stumps: int = 1000, name: str = "vj_faces") -> list[Row]:
    """Learn DAGs of boosted stumps on one thread: SARSA's 10⁶ episodes with a scoring every 10,000.

    Descent begins with the policy that evaluates all.
    """
    data = datasets.load(name, scale="laptop", seed=0)
    X, y = data.X_train, data.y_train
    base = FrozenEstimator(AdaBoostMH(n_estimators=n_stumps).fit(X, y))
    rows, part = [], f"MDDAG, {n_stumps:,} stumps on faces ({data.provenance['kind']})"
    for beta in (0.01, 0.001):
        learner = MDDAGClassifier(base, beta=beta, random_state=0, n_threads=1)
        what, step = f"a step of SARSA, β = {beta:g}", 1e9 * seconds_a_step(learner, X, y)
        rows.append(Row(part, what, "ns", step, None, None, 12.0, "ours"))
        learner.set_params(solver="descent")
        fits = {"descent": partial(learner.fit, X, y)}
        spent = alternate(fits, 3, time.process_time, min)["descent"]
        rows.append(Row(part, f"descent, β = {beta:g}", "s", spent, None, None, 5.0, "ours"))
    return rows


def seconds_a_step(dag: MDDAGClassifier, X: np.ndarray, y: np.ndarray) -> float:
    """Processor seconds of SARSA alone, scorings included, by the actions of all episodes."""
    found, learn = [], estimator.learn

    def timed(*given):
        begin = time.process_time()
        learned = learn(*given)
        found.append((time.process_time() - begin) / learned.n_steps)
        return learned

    with patch.object(estimator, "learn", timed):
        for _ in range(4):
            dag.fit(X, y)
    return min(found[1:])  # the first compiles


# --- detectors scan a picture ---------------------------------------------------------------------


def detectors(n_stumps: int = 500) -> dict:
    """The full model of boosted stumps, soft cascades and DAGs made of it, by name."""
    columns = vj_faces.columns()
    rows = columns.rows(0)
    X = {part: columns.columns[:, rows[part]].T for part in ("train", "valid")}
    y = {part: columns.y[rows[part]] for part in X}
    full = AdaBoostMH(n_estimators=n_stumps).fit(X["train"], y["train"])
    models = {f"AdaBoost.MH, all {n_stumps} stumps": full}
    for rate in (0.99, 0.9):
        cascade = BourdevCascadeClassifier(FrozenEstimator(full), detection_rate=rate)
        models[f"soft cascade, detection rate {rate}"] = cascade.fit(X["valid"], y["valid"])
    for name, solver, beta in (("SARSA", "sarsa", 0.01), ("descent", "descent", 0.001)):
        dag = MDDAGClassifier(FrozenEstimator(full), solver=solver, beta=beta, random_state=0)
        models[f"MDDAG, {name}, β = {beta}"] = dag.fit(X["train"], y["train"])
    return models


def scanning(scans: int = 7) -> list[Row]:
    """Scan scikit-image's astronaut, every window at every scale, on one thread.

    The time is that of the whole scan, integral images and smaller pictures included: for a stump
    evaluated, and for a window beside what the full model takes for one.
    """
    columns, picture = vj_faces.columns(), grey(astronaut()[None])[0]
    features = HaarFeatures(*outlines(columns.feature_names), columns.shape)
    scanners = {
        name: PictureScanner(model, features, n_threads=1) for name, model in detectors().items()
    }
    programs = {name: partial(scanner.scan, picture) for name, scanner in scanners.items()}
    seconds = alternate(programs, scans, time.process_time, min)
    part = f"detector of faces ({columns.provenance['kind']}) scans a picture"
    stumps = {name: float(np.mean(scan().evaluations)) for name, scan in programs.items()}
    windows = len(programs[full := next(iter(programs))]().scores)
    window = {name: 1e9 * spent / windows for name, spent in seconds.items()}
    rows = [
        Row(part, f"an evaluation, {name}", "ns", window[name] / n, None, None, 12.0, "ours")
        for name, n in stumps.items()
    ]
    del stumps[full]
    return rows + [
        Row(part, f"a window, {n:.1f} stumps, {name}", "ns", window[name], full, window[full])
        for name, n in stumps.items()
    ]


# --- Cronus ---------------------------------------------------------------------------------------


def cascade(n_rows: int = 141_397, n_trees: int = 5000, fitted_to: int = 10_000) -> list[Row]:
    """Cronus on the synthetic set of Yahoo!'s size: 519 features with prices, trees of depth 4.

    The trees are fitted to a part of the rows, for their time is not what is measured here. Beside
    a row's way through the cascade, on one thread, stands what all trees take, divided by how many
    times fewer the row passes.
    """
    data = datasets.load("yahoo_ltr", scale="paper", data="synthetic")
    X, y = data.X_train[:n_rows].copy(), data.y_train[:n_rows] >= 3
    weights, part = np.where(y, 1.0, 10.0), slice(0, fitted_to)
    shape = {"max_leaves": None, "max_depth": 4, "growth": "breadth_first", "n_threads": THREADS}
    trees = GBRTRegressor(n_estimators=n_trees, **shape)
    trees.fit(X[part], np.where(y[part], 1.0, -1.0), sample_weight=weights[part])
    priced = {"feature_costs": data.feature_costs, "n_threads": THREADS, "max_cycles": 0}
    model = CronusClassifier(FrozenEstimator(trees), tradeoff=1e-5, **priced)
    few = slice(0, 1000)
    model.fit(X[few], y[few], sample_weight=weights[few])  # compiles
    begin = time.perf_counter()
    model.fit(X, y, sample_weight=weights)
    spent = time.perf_counter() - begin
    name = f"Cronus, {n_trees:,} trees (synthetic)"
    initial = Row(name, f"initialisation, {len(X):,} rows", "s", spent, None, None, 300.0, "ours")
    return [initial, a_row(name, model, trees, X[:10_000])]


def a_row(name: str, model: CronusClassifier, trees: GBRTRegressor, X: np.ndarray) -> Row:
    """Predict rows by the cascade and by all its trees, on one thread."""
    model.set_params(n_threads=1)
    alone = copy.copy(trees).set_params(n_threads=1)
    evaluated = model.prediction_cost(X, feature_costs=[0.0] * X.shape[1], split_cost=0.0)
    programs = {"all": partial(alone.predict, X), "cascade": partial(model.predict, X)}
    micros = {key: 1e6 * spent / len(X) for key, spent in alternate(programs, 5).items()}
    counted = trees.n_estimators_ / evaluated.mean()
    beside = "all trees / counted speed-up", micros["all"] / counted, 5.0
    return Row(name, "a row", "µs", micros["cascade"], *beside)
