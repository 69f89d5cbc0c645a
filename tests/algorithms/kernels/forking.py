"""A process that fits and forks; run by a test, as a child of its own.

With ``trees`` a few estimators, with ``all`` every one; with ``locked`` another thread holds the
lock of parallel regions when the process forks.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings

import numpy as np
from sklearn.base import clone, is_classifier

from algorithms.cegb import CEGBRegressor
from algorithms.gbrt import GBRTClassifier
from algorithms.kernels.decorators import threads
from tests.algorithms.estimators.kinds import EVERY, small_size, takes

SECONDS = 500  # after which a child that waits for ever is ended

rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 60))
Y = X[:, 0] + X[:, 1] * X[:, 2]
FEW = 300


def models(kind: str) -> list:
    """Small estimators, for one thread each."""
    if kind == "trees":
        small = {"n_estimators": 3, "max_leaves": 4, "n_threads": 1}
        priced = CEGBRegressor(**small, tradeoff=0.01, feature_costs=np.ones(60))
        return [GBRTClassifier(**small), priced]
    chosen = [GBRTClassifier(n_estimators=2, n_threads=1)]
    if kind == "all":
        chosen = [cls(**small_size(cls)) for cls in EVERY]
        for model in chosen:
            if takes(type(model), "n_threads"):
                model.set_params(n_threads=1)
    return chosen


def fitted(model):
    """A copy of the model, fitted to few rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = (Y > 0).astype(int) if is_classifier(model) else Y
        return clone(model).fit(X[:FEW], y[:FEW])


def answers(model) -> list[np.ndarray]:
    """All that a model says of rows: few, many, and with several threads if there are any."""
    prices = {"feature_costs": np.ones(X.shape[1])}
    told = [model.predict(X[:n]) for n in (1, 5, 100, len(X))]
    told += [model.prediction_cost(X[:100], **prices), model.evaluations(X[:100])]
    acquired = model.acquired_features(X[:100])
    told.append(acquired.toarray() if hasattr(acquired, "toarray") else acquired)
    for staged in ("staged_predict", "staged_cost"):
        if hasattr(model, staged):
            arguments = prices if staged == "staged_cost" else {}
            told += list(getattr(model, staged)(X[:100], **arguments))
    if hasattr(model, "fast_predictor"):
        told.append(np.array([model.fast_predictor()(X[0])]))
    if takes(type(model), "n_threads"):
        model.set_params(n_threads=None)
        told += [model.predict(X), model.prediction_cost(X, **prices)]
        model.set_params(n_threads=1)
    return told


def check(trained: list, expected: list[list]) -> str:
    """What a child makes of the parent's models, and of fits of its own."""
    for model, of_parent in zip(trained, expected, strict=True):
        for kind, one in (("kept", model), ("fitted anew", fitted(model))):
            for mine, theirs in zip(answers(one), of_parent, strict=True):
                if not np.array_equal(mine, theirs):
                    return f"{type(model).__name__}, {kind}, differs"
    return "equal"


def main() -> int:
    kind = sys.argv[1]
    trained = [fitted(model) for model in models(kind)]
    expected = [answers(model) for model in trained]
    print("parent", flush=True)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with threads(1, 0):
            held.set()
            done.wait()

    if kind == "locked":
        threading.Thread(target=hold, daemon=True).start()
        held.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS if kind != "locked" else 60)
        print("child:", check(trained, expected), flush=True)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    done.set()
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())
