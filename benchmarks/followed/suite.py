"""How asv measures an algorithm: one class, made for each line of :mod:`benchmarks.followed.table`.

Models are fitted once for each commit, by a process of its own, and kept in the folder that asv
gives to all benchmarks of a commit; so predictions, accuracies and costs need no further fit, and
what compiling takes is in no peak of memory.

asv imports this module before it forks a process for each measurement. numba and scikit-learn are
imported here, once instead of some 300 times; the package itself is not, for a commit may lack it.

Parameter lists are literal and only ever appended to, and a benchmark's version is stated rather
than a hash of its source: raise it where something else is measured from now on.
"""

from __future__ import annotations

import functools
import importlib
import multiprocessing
import os
import pickle
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")

import numba  # noqa: F401
import numpy as np
from sklearn.frozen import FrozenEstimator

N_TRAIN, N_TEST, N_FEATURES = 20_000, 10_000, 30
SINGLE = 300
"""Rows that are predicted one by one."""

THREADS = 2
IN_CHILD = "fork" in multiprocessing.get_all_start_methods()
"""Whether models are fitted in processes of their own; elsewhere peaks of memory include it."""


class Task(NamedTuple):
    """Training rows ``X``, ``y``, test rows ``Z``, ``z`` and prices (n_features,)."""

    X: np.ndarray
    y: np.ndarray
    Z: np.ndarray
    z: np.ndarray
    costs: np.ndarray


def task(kind: str, n_train: int = N_TRAIN) -> Task:
    """Seeded data of the suite's own: it must not change when synthetic data does.

    Parameters
    ----------
    kind : {"dense", "one-hot", "missing"}
        Normal columns, 20 of them one-hot instead, or a tenth of all values missing.
    n_train : int
        Training rows; the test rows are 10,000.
    """
    rng = np.random.default_rng(20170)
    X = rng.normal(size=(n_train + N_TEST, N_FEATURES))
    if kind == "one-hot":
        X[:, 10:] = np.eye(20)[rng.integers(0, 20, len(X))]
    score = X[:, 0] + X[:, 1] * X[:, 2] + 2 * (X[:, 12] > 0.5) + 0.5 * rng.normal(size=len(X))
    y = (score > np.median(score)).astype(np.int64)
    if kind == "missing":
        X[rng.random(X.shape) < 0.1] = np.nan
    costs = np.resize([1.0, 5.0, 20.0], N_FEATURES)
    return Task(X[:n_train], y[:n_train], X[n_train:], y[n_train:], costs)


class Variant(NamedTuple):
    """Parameters of an estimator as a function of the prices, and the kind of data."""

    parameters: Callable[[np.ndarray], Mapping[str, Any]] = lambda costs: {}
    data: str = "dense"


def mean_bill(model, Z: np.ndarray, costs: np.ndarray) -> float:
    """Mean cost of predicting a test row."""
    return float(np.mean(model.prediction_cost(Z, feature_costs=costs)))


class Algorithm(NamedTuple):
    """A line of the table."""

    estimator: str  # Below the package: ``cegb.CEGBClassifier``
    variants: Mapping[str, Variant]  # By name, what is measured of it
    fixed: Mapping[str, Any] = {}  # Parameters of all variants
    # From the task, the model that the estimator is given fitted; its own time is not measured
    base: Callable[[Task], Any] | None = None
    frozen: bool = True  # Whether it is given frozen, so that it is not fitted again
    sizes: tuple[int, ...] = (10_000, 100_000)  # Training rows
    without: tuple[str, ...] = ()  # Benchmarks that mean nothing here
    # From model, test rows and prices, the cost that is tracked
    bill: Callable[[Any, np.ndarray, np.ndarray], float] = mean_bill


class Fitted(NamedTuple):
    """A model, what it was given fitted, its accuracy on the test rows and the cost tracked."""

    base: Any
    model: Any
    accuracy: float
    cost: float


class NotThere(NamedTuple):
    """Why a version of the package has nothing to measure."""

    reason: str


def made(algorithm: Algorithm, variant: Variant, costs: np.ndarray, base: Any):
    """Give an unfitted estimator.

    Raises
    ------
    NotImplementedError
        If this version of the package has no such estimator or parameter; asv skips what does.
    """
    module, name = algorithm.estimator.rsplit(".", 1)
    try:
        cls = getattr(importlib.import_module(f"algorithms.{module}"), name)
        given = () if base is None else (FrozenEstimator(base) if algorithm.frozen else base,)
        return cls(*given, **algorithm.fixed, **variant.parameters(costs))
    except (ImportError, AttributeError, TypeError) as error:
        raise NotImplementedError(f"{algorithm.estimator}: {error}") from error


def fitted(algorithm: Algorithm, variant: Variant, data: Task) -> Fitted:
    """Fit and judge a model."""
    unfitted = made(algorithm, variant, data.costs, None if algorithm.base is None else 0)
    if np.isnan(data.X).any() and not unfitted.__sklearn_tags__().input_tags.allow_nan:
        raise NotImplementedError(f"{algorithm.estimator} reads no missing values.")
    base = None if algorithm.base is None else algorithm.base(data)
    model = made(algorithm, variant, data.costs, base).fit(data.X, data.y)
    accuracy = float(np.mean(model.predict(data.Z) == data.z))
    return Fitted(base, model, accuracy, algorithm.bill(model, data.Z, data.costs))


def kept(path: Path, make: Callable[[], Any]) -> Any:
    """Give what a file keeps; the first to ask has it made, in a process of its own.

    Raises
    ------
    NotImplementedError
        If this version of the package has none.
    """
    if not path.exists():
        if IN_CHILD:
            child = multiprocessing.get_context("fork").Process(target=_keep, args=(path, make))
            child.start()
            child.join()
            if child.exitcode:
                raise RuntimeError(f"{path.stem} could not be fitted; see above.")
        else:
            _keep(path, make)
    content = pickle.loads(path.read_bytes())
    if isinstance(content, NotThere):
        raise NotImplementedError(content.reason)
    return content


def _keep(path: Path, make: Callable[[], Any]) -> None:
    try:
        content = make()
    except NotImplementedError as error:
        print(f"skipped: {error}")
        content = NotThere(str(error))
    except BaseException:
        traceback.print_exc()
        raise
    path.write_bytes(pickle.dumps(content))


class Suite:
    """Times, peak memory, accuracy and cost of an algorithm by training rows and variant.

    Accuracy and cost are those of the test rows: they must not move unless a commit says so.
    """

    algorithm: Algorithm
    timeout = 600  # the first of a commit compiles
    rounds = 1  # one process each: a process costs more than what it measures
    version = "1"
    param_names = ("rows", "variant")
    _ready: tuple = ()

    def setup_cache(self):
        """Have asv give a folder to all benchmarks of a commit, and run them in it."""

    def setup(self, rows, variant):
        if self._ready == (rows, variant):  # asv asks again before each sample
            return
        self.variant = self.algorithm.variants[variant]
        self.task = task(self.variant.data, rows)
        make = functools.partial(fitted, self.algorithm, self.variant, self.task)
        self.fitted = kept(Path(f"{type(self).__name__}-{rows}-{variant}.pickle"), make)
        self._ready = (rows, variant)

    def fit(self, rows, variant):
        """Fit a new model."""
        base = self.fitted.base
        made(self.algorithm, self.variant, self.task.costs, base).fit(self.task.X, self.task.y)

    fit.repeat = (2, 5, 1.5)
    fit.warmup_time = 0.001  # one fit, which loads the kernels

    def peak(self, rows, variant):
        """Fit a new model; asv counts what its process holds before, too."""
        self.fit(rows, variant)

    peak.version = "3"  # since then its process finds numba and scikit-learn imported

    def predict(self, rows, variant):
        """Predict 10,000 test rows."""
        self.fitted.model.predict(self.task.Z)

    predict.repeat = (3, 15, 0.5)
    predict.warmup_time = 0.05

    def predict_rows(self, rows, variant):
        """Predict 300 test rows one by one."""
        model, Z = self.fitted.model, self.task.Z
        for i in range(SINGLE):
            model.predict(Z[i : i + 1])

    predict_rows.repeat = (2, 7, 1.0)
    predict_rows.warmup_time = 0.001

    def accuracy(self, rows, variant):
        """Share of test rows classified rightly."""
        return self.fitted.accuracy

    accuracy.unit = "share of test rows"

    def cost(self, rows, variant):
        """Cost that the algorithm is about; for most the mean of the test rows'."""
        return self.fitted.cost

    cost.unit = "cost"


MEASURED = {
    "time_fit": Suite.fit,
    "peakmem_fit": Suite.peak,
    "time_predict": Suite.predict,
    "track_accuracy": Suite.accuracy,
    "track_cost": Suite.cost,
}
ONE_BY_ONE = {"time_predict_rows": Suite.predict_rows}
"""What asv measures by the names it knows: of all sizes and variants, and of one."""


def suite_of(name: str, algorithm: Algorithm, module: str, measured=MEASURED) -> type[Suite]:
    """Make the class of a line of the table."""
    measured = {key: value for key, value in measured.items() if key not in algorithm.without}
    params = (list(algorithm.sizes), list(algorithm.variants))
    about = {"__doc__": algorithm.estimator, "__module__": module}
    return type(name, (Suite,), about | measured | {"algorithm": algorithm, "params": params})
