"""Training beside other libraries: cases of :mod:`benchmarks.peers`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from types import ModuleType

import click
import numpy as np
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.cegb import CEGBClassifier
from datasets import covertype, load, mnist

from .followed import newcomer
from .timing import Row, alternate

LEAVES, BINS, THREADS = 31, 255, 2
TRADEOFF = 1e-4  # of the runs with prices; every feature costs 1
FEATURES, SIZES, AT_ONCE = 28, (10_000, 100_000, 500_000, 1_000_000, 2_000_000), 100_000
PEER, OWN = "LightGBM", "our own"

# --- the same task for each program ---------------------------------------------------------------


def imported(name: str) -> ModuleType:
    """Import a peer, or say how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise click.ClickException(f"{name} is missing: run `make setup-peers`.") from None


def ours(X, y, trees: int, priced: bool = False) -> CEGBClassifier:
    """Fit our estimator; without trees it only bins, and so do the others."""
    prices = np.ones(X.shape[1]) if priced else None
    return CEGBClassifier(
        n_estimators=trees, max_leaves=LEAVES, max_bins=BINS, n_threads=THREADS, tradeoff=TRADEOFF,
        feature_costs=prices,
    ).fit(X, y)  # fmt: skip


def lightgbm(X, y, trees: int, priced: bool = False):
    """Fit LightGBM's trees."""
    library = imported("lightgbm")
    parameters = {
        "objective": "binary",
        "num_leaves": LEAVES,
        "learning_rate": 0.1,
        "min_data_in_leaf": 20,
        "max_bin": BINS,
        "num_threads": THREADS,
        "verbose": -1,
    }
    if priced:  # its raw gain has no 1/2, hence twice the trade-off
        parameters["cegb_tradeoff"] = 2 * TRADEOFF
        parameters["cegb_penalty_feature_lazy"] = [1.0] * X.shape[1]
    data = library.Dataset(X, y, params=parameters).construct()
    return library.train(parameters, data, trees) if trees else data


def xgboost(X, y, trees: int):
    """Fit XGBoost's trees; it has no prices, and no least number of rows in a leaf.

    Leaves of little hessian are refused as by LightGBM, and nothing is regularised, as there.
    """
    library = imported("xgboost")
    parameters = {
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
    data = library.QuantileDMatrix(X, y, max_bin=BINS, nthread=THREADS)
    return library.train(parameters, data, trees)


def scikit_learn(X, y, trees: int):
    """Fit scikit-learn's trees, one more than is asked for: it grows at least one."""
    model = HistGradientBoostingClassifier(
        max_iter=trees + 1, max_leaf_nodes=LEAVES, early_stopping=False
    )
    with threadpool_limits(THREADS):
        return model.fit(X, y)


def draw(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Give seeded normal rows (n_rows, 28) in float32, and two classes."""
    rng = np.random.default_rng(20170)
    X, y = np.empty((n_rows, FEATURES), dtype=np.float32), np.empty(n_rows, dtype=np.int64)
    for begin in range(0, n_rows, AT_ONCE):
        part = X[begin : begin + AT_ONCE]
        part[:] = rng.standard_normal(part.shape, dtype=np.float32)
        noise = 0.5 * rng.standard_normal(len(part), dtype=np.float32)
        y[begin : begin + AT_ONCE] = part[:, 0] + part[:, 1] * part[:, 2] + noise > 0
    return X, y


def normal_data(n_rows: int, trees: int = 20) -> list[Row]:
    """Time whole fits, and a tree: a fit less its binning, divided by the trees."""
    X, y = draw(n_rows)
    programs = {
        "ours": partial(ours, X, y, trees),
        "ours, prices": partial(ours, X, y, trees, True),
        "ours, bins": partial(ours, X, y, 0),
        "LightGBM": partial(lightgbm, X, y, trees),
        "LightGBM, bins": partial(lightgbm, X, y, 0),
        "scikit-learn": partial(scikit_learn, X, y, trees),
        "scikit-learn, bins": partial(scikit_learn, X, y, 0),
        "LightGBM, prices": partial(lightgbm, X, y, trees, True),
    }
    if n_rows > 1_000_000:  # it takes several times as long as all the rest
        del programs["LightGBM, prices"]
    s = alternate(programs, 11 if n_rows <= 100_000 else 3)  # short fits differ more

    def tree(name: str) -> float:
        return 1e3 * (s[name] - s[f"{name.partition(',')[0]}, bins"]) / trees

    of, plain = f"{n_rows:,} rows", tree("ours")
    rows = [
        ("whole fit", "s", s["ours"], PEER, s["LightGBM"], 0.5 if n_rows <= 10_000 else 0.4),
        ("a tree", "ms", plain, PEER, tree("LightGBM"), 0.6, "ratio", n_rows),
        ("a tree", "ms", plain, "scikit-learn", tree("scikit-learn")),
        ("a tree with prices", "ms", tree("ours, prices"), OWN, plain, 1.05, "ratio", n_rows),
    ]
    if "LightGBM, prices" in s:
        theirs = "LightGBM, prices", tree("LightGBM, prices"), 0.15
        rows.append(("a tree with prices", "ms", tree("ours, prices"), *theirs))
    return [Row("normal data", f"{what}, {of}", *rest) for what, *rest in rows]


# --- real data ------------------------------------------------------------------------------------


def miniboone() -> tuple[str, np.ndarray, np.ndarray]:
    """All rows, dense float64, and what they are."""
    data = load("miniboone", data="auto")
    X = np.concatenate([data.X_train, data.X_valid, data.X_test])
    y = np.concatenate([data.y_train, data.y_valid, data.y_test])
    return f"MiniBooNE ({data.provenance['kind']}), {len(X):,} rows", X, y


def training_rows(name: str, title: str) -> tuple[str, np.ndarray, np.ndarray]:
    """The training rows of a set's usual division."""
    data = load(name)
    return f"{title}, {len(data.X_train):,} rows", data.X_train, data.y_train


def covertype_most(n_rows: int = 465_000) -> tuple[str, np.ndarray, np.ndarray]:
    """So many of all rows."""
    X, y, *_ = covertype.load_full()
    drawn = np.random.default_rng(465).permutation(len(X))[:n_rows]
    return f"Covertype, {n_rows:,} rows", np.ascontiguousarray(X[drawn]), y[drawn]


def real_data(rows_of: Callable, most: float, trees: int = 100) -> list[Row]:
    """Time whole fits on a real set."""
    name, X, y = rows_of()
    programs = {"ours": ours, "LightGBM": lightgbm, "XGBoost": xgboost}
    plain = alternate({key: partial(fit, X, y, trees) for key, fit in programs.items()}, 5)
    del programs["XGBoost"]
    priced = alternate({key: partial(fit, X, y, trees, True) for key, fit in programs.items()}, 3)
    return [
        Row(name, "whole fit", "s", plain["ours"], PEER, plain["LightGBM"], most),
        Row(name, "whole fit", "s", plain["ours"], "XGBoost", plain["XGBoost"]),
        Row(name, "with prices", "s", priced["ours"], PEER, priced["LightGBM"], 0.15),
    ]


def stumps(rounds: int = 100, of_each: int = 500) -> list[Row]:
    """Time AdaBoost on stumps, which looks at all 784 pixels in each round."""
    images = mnist.images()
    by_digit = [np.flatnonzero(images.y_train == k)[:of_each] for k in range(10)]
    rows = np.sort(np.concatenate(by_digit))
    X, y = images.train[rows].reshape(len(rows), -1), images.y_train[rows]
    peer = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=rounds)
    model, columns = AdaBoostMH(n_estimators=rounds, n_threads=THREADS), np.asfortranarray(X)
    values = X.astype(np.float32)  # what its trees work on: spares it a copy
    fits = {"ours": partial(model.fit, columns, y), "theirs": partial(peer.fit, values, y)}
    s = alternate(fits, 5)
    per_round = 1e3 * s["ours"] / model.n_estimators_, 1e3 * s["theirs"] / len(peer.estimators_)
    part, what = f"MNIST, {len(rows):,} digits", "a round of stumps"
    return [Row(part, what, "ms", per_round[0], "scikit-learn", per_round[1], 0.05)]


# --- where no kernel is compiled yet --------------------------------------------------------------


def first_fits() -> list[Row]:
    """First fits where no kernel is compiled yet: nearly all of it is compiling."""
    part = "a new machine"
    return [
        Row(
            part, f"first fit, {name}", "s of CPU", newcomer.seconds(name), None, None, 10.0, "ours"
        )
        for name in newcomer.FITS
    ]
