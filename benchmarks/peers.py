"""Side-by-side runs against LightGBM, XGBoost and scikit-learn: ``make bench-peers``.

Everything is a ratio of two programs that run in turn, A B A B …, in one process on the same data
and the same number of threads; medians are quoted. Nothing here decides a test.
"""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable
from types import ModuleType

import click
import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.cegb import CEGBClassifier
from datasets import covertype, load, mnist

ROUNDS, LEAVES, BINS, THREADS = 100, 31, 255, 2
TRADEOFF = 1e-4  # of the runs with lazy costs; every feature costs 1
PEERS = ("LightGBM", "XGBoost")
STUMPS, OF_EACH_DIGIT = "AdaBoost on stumps: MNIST-5k", 500


def imported(name: str) -> ModuleType:
    """Import a peer, or say how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise click.ClickException(f"{name} is missing: run `make setup-peers`.") from None


def settings(n_features: int, lazy: bool) -> dict:
    """LightGBM's parameters for the same task."""
    parameters = {
        "objective": "binary",
        "num_leaves": LEAVES,
        "learning_rate": 0.1,
        "min_data_in_leaf": 20,
        "max_bin": BINS,
        "num_threads": THREADS,
        "verbose": -1,
    }
    if lazy:  # its raw gain has no 1/2, hence twice the trade-off
        parameters["cegb_tradeoff"] = 2 * TRADEOFF
        parameters["cegb_penalty_feature_lazy"] = [1.0] * n_features
    return parameters


def xgboost_settings() -> dict:
    """XGBoost's parameters for the same task; it has no least number of rows in a leaf.

    Leaves of little hessian are refused as by LightGBM, and nothing is regularised, as there.
    """
    return {
        "objective": "binary:logistic",
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": LEAVES,
        "max_depth": 0,
        "max_bin": BINS,
        "learning_rate": 0.1,
        "min_child_weight": 1e-3,
        "lambda": 0.0,
        "nthread": THREADS,
        "verbosity": 0,
    }


def ours(n_features: int, lazy: bool, rounds: int = ROUNDS) -> CEGBClassifier:
    """Our estimator for the same task."""
    return CEGBClassifier(
        n_estimators=rounds,
        max_leaves=LEAVES,
        max_bins=BINS,
        n_threads=THREADS,
        tradeoff=TRADEOFF,
        feature_costs=np.ones(n_features) if lazy else None,
    )


def alternate(programs: dict[str, Callable[[], object]], runs: int) -> dict[str, float]:
    """Median seconds of each program; they run in turn, after one warm-up each."""
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for run in range(runs + 1):
        for name, program in programs.items():
            begin = time.perf_counter()
            program()
            if run:
                seconds[name].append(time.perf_counter() - begin)
    return {name: statistics.median(values) for name, values in seconds.items()}


def training_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The data the goals name: both classes, dense float64."""
    miniboone = load("miniboone", data="auto")
    kind = miniboone.provenance["kind"]
    X = np.concatenate([miniboone.X_train, miniboone.X_valid, miniboone.X_test])
    y = np.concatenate([miniboone.y_train, miniboone.y_valid, miniboone.y_test])
    small = load("covertype")
    full_X, full_y = covertype.load_full()[:2]
    drawn = np.random.default_rng(465).permutation(len(full_X))[:465_000]
    return {
        f"MiniBooNE ({kind}), {len(X):,} rows": (X, y),
        "Covertype, 36,603 rows": (small.X_train, small.y_train),
        "Covertype, 465,000 rows": (np.ascontiguousarray(full_X[drawn]), full_y[drawn]),
    }


def compare_training(X, y, runs: int, lazy: bool) -> dict[str, float]:
    """Seconds from arrays to a model, and of that from arrays to bins."""
    lightgbm, d = imported("lightgbm"), X.shape[1]
    parameters = settings(d, lazy)

    def dataset():
        return lightgbm.Dataset(X, y, params=parameters).construct()

    programs = {
        "ours": lambda: ours(d, lazy).fit(X, y),
        "ours, bins": lambda: ours(d, lazy, rounds=0).fit(X, y),
        "ours, cost-free": lambda: ours(d, False).fit(X, y),
        "LightGBM": lambda: lightgbm.train(parameters, dataset(), ROUNDS),
        "LightGBM, bins": dataset,
    }
    return alternate(programs if lazy else programs | xgboost_programs(X, y), runs)


def xgboost_programs(X, y) -> dict[str, Callable[[], object]]:
    """XGBoost from arrays to a model, and from arrays to bins; it knows no prices."""
    xgboost = imported("xgboost")

    def bins():
        return xgboost.QuantileDMatrix(X, y, max_bin=BINS, nthread=THREADS)

    return {
        "XGBoost": lambda: xgboost.train(xgboost_settings(), bins(), ROUNDS),
        "XGBoost, bins": bins,
    }


def row(name: str, s: dict[str, float], goal: str) -> str:
    """One line of the table of training times."""
    beside = "".join(
        f" {s[peer]:9.3f} {s['ours'] / s[peer]:7.2f} "
        f"{(s['ours'] - s['ours, bins']) / (s[peer] - s[f'{peer}, bins']):8.2f}"
        if peer in s
        else f" {'-':>9s} {'-':>7s} {'-':>8s}"
        for peer in PEERS
    )
    free = s["ours"] / s["ours, cost-free"]
    return f"{name:36s} {s['ours']:8.3f}{beside} {free:13.2f}   {goal}"


def prediction_micros(X, y, runs: int, trees: int = 500) -> dict[str, float]:
    """Microseconds per row for so many trees on one thread."""
    lightgbm, xgboost = map(imported, ("lightgbm", "xgboost"))
    model = ours(X.shape[1], False, rounds=trees).fit(X, y).set_params(n_threads=1)
    parameters = settings(X.shape[1], False)
    booster = lightgbm.train(parameters, lightgbm.Dataset(X, y, params=parameters), trees)
    other = xgboost.train(
        xgboost_settings(), xgboost.QuantileDMatrix(X, y, max_bin=BINS, nthread=THREADS), trees
    )
    other.set_param({"nthread": 1})
    rows = X[:20_000]
    seconds = alternate(
        {
            "ours": lambda: model.decision_function(rows),
            "LightGBM": lambda: booster.predict(rows, raw_score=True, num_threads=1),
            "XGBoost": lambda: other.inplace_predict(rows, predict_type="margin"),
        },
        runs,
    )
    return {name: 1e6 * value / len(rows) for name, value in seconds.items()}


def compare_prediction(X, y, runs: int) -> list[str]:
    """Lines of what 500 trees take on one thread."""
    per_row = prediction_micros(X, y, runs)
    return [
        f"{name:12s} {value:7.2f} us per row, {per_row['LightGBM'] / value:5.2f} times as fast "
        "as LightGBM"
        for name, value in per_row.items()
    ]


def compare_stumps(runs: int) -> list[str]:
    """Milliseconds a round and test errors of AdaBoost on stumps, all 784 pixels in each round."""
    images = mnist.images()
    by_digit = [np.flatnonzero(images.y_train == k)[:OF_EACH_DIGIT] for k in range(10)]
    rows = np.sort(np.concatenate(by_digit))
    y, z = images.y_train[rows], images.y_test
    X, Z = (part.reshape(len(part), -1) for part in (images.train[rows], images.test))
    models = {
        f"ours, {n} thread(s)": (AdaBoostMH(n_estimators=ROUNDS, n_threads=n), np.uint8, "F")
        for n in (1, THREADS)
    }
    peer = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=ROUNDS)
    models["scikit-learn"] = (peer, np.float32, "C")  # what its trees work on: spares it a copy
    programs = {}
    for name, (model, dtype, order) in models.items():
        values = np.asarray(X, dtype=dtype, order=order)
        programs[name] = lambda model=model, values=values: model.fit(values, y)
    seconds = alternate(programs, runs)
    lines = [f"{STUMPS}, {len(X):,} digits, {ROUNDS} rounds, whole fits, goal: 20 times as fast"]
    for name, (model, dtype, _) in models.items():
        error = np.mean(model.predict(Z.astype(dtype)) != z)
        n_rounds = len(model.estimators_) if model is peer else model.n_estimators_
        lines.append(
            f"{name:20s} {1e3 * seconds[name] / n_rounds:8.2f} ms a round, "
            f"{seconds['scikit-learn'] / seconds[name]:6.1f} times as fast as scikit-learn, "
            f"test error {error:.2%} after {n_rounds} rounds"
        )
    return lines


@click.command()
@click.option("--runs", default=5, show_default=True, help="Counted runs of each program.")
@click.option("--only", default="", help="Only the sets whose name contains this.")
def main(runs: int, only: str) -> None:
    """Print training and prediction times beside those of LightGBM, XGBoost and scikit-learn."""
    if only.lower() in STUMPS.lower():
        print("\n".join(compare_stumps(runs)) + "\n", flush=True)
    if only and only.lower() in STUMPS.lower():
        return
    sets = {name: data for name, data in training_sets().items() if only.lower() in name.lower()}
    print(f"{ROUNDS} trees x {LEAVES} leaves, {THREADS} threads, medians of {runs} runs, seconds")
    beside = "".join(f" {peer:>9s} {'ratio':>7s} {'w/o bins':>8s}" for peer in PEERS)
    print(f"{'':36s} {'ours':>8s}{beside} {'/ cost-free':>13s}   goal")
    for name, (X, y) in sets.items():
        goal = "ratio <= 1" if "Mini" in name else "ratio <= 1.5"
        print(row(name, compare_training(X, y, runs, False), goal), flush=True)
        lazy = compare_training(X, y, max(1, runs // 2), True)
        print(row(name + ", lazy", lazy, "ratio <= 0.25, / cost-free <= 1.3"), flush=True)
    for name, (X, y) in sets.items():
        print(f"\nPrediction, 500 trees, one thread: {name}")
        print("\n".join(compare_prediction(X, y, runs)), flush=True)


if __name__ == "__main__":
    main()
