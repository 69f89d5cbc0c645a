"""asv: what no line of the table covers, from features on demand to the wheel."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from pathlib import Path

import numpy as np

from .suite import N_FEATURES, SINGLE, THREADS, kept, task


class _Kept:
    """Something that is made once for a commit, and again for no sample; a subclass makes it."""

    params: tuple = ((),)
    param_names: tuple = ("variant",)
    timeout = 600  # the first of a commit compiles
    rounds = 1
    version = "1"
    _ready = None

    def setup_cache(self):
        """Have asv give a folder to all benchmarks of this kind and commit."""

    def setup(self, variant):
        if self._ready == variant:  # asv asks again before each sample
            return
        path = Path(f"{type(self).__module__}-{type(self).__name__}-{variant}.pickle")
        self.begin(variant, kept(path, functools.partial(self.make, variant)))
        self._ready = variant

    def make(self, variant):
        """Give what is kept; a process of its own does this."""
        raise NotImplementedError

    def begin(self, variant, made) -> None:
        """Do what must be done in the process that measures."""
        self.made = made


def _there(module: str) -> None:
    """Have asv skip versions that lack a module."""
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise NotImplementedError(str(error)) from error


class CegbOnDemand(_Kept):
    """CEGB that asks for features; each costs no more than reading it from an array."""

    params = ([1, 1024],)
    param_names = ("batch_size",)

    def make(self, variant):
        _there("algorithms.on_demand.predictor")
        from algorithms.cegb import CEGBClassifier

        data = task("dense")
        options = {"n_estimators": 50, "tradeoff": 1e-3, "n_threads": THREADS}
        return CEGBClassifier(feature_costs=data.costs, **options).fit(data.X, data.y)

    def begin(self, variant, made):
        from algorithms.on_demand.predictor import OnDemandPredictor

        Z = task("dense").Z
        functions = {m: functools.partial(self.column, Z, m) for m in range(Z.shape[1])}
        self.predictor = OnDemandPredictor(made, functions, batch_size=variant)
        self.rows = range(min(len(Z), 200 * variant))

    @staticmethod
    def column(Z, m, rows):
        """Read feature m of some rows."""
        return Z[rows, m]

    def time_predict_on_demand(self, variant):
        self.predictor.predict(self.rows)

    def track_calls_per_row(self, variant):
        """Calls of functions for each row."""
        result = self.predictor.predict(self.rows)
        return sum(result.calls_by_function.values()) / len(self.rows)

    track_calls_per_row.unit = "calls for a row"


class TenLabels(_Kept):
    """AdaBoost.MH with ten classes on 784 columns of bytes, all searched: the search itself."""

    params = (["dense", "four fifths zero"],)
    param_names = ("data",)

    def make(self, variant):
        _there("algorithms.adaboost_mh")  # only the fit is measured

    def begin(self, variant, made):
        from algorithms.adaboost_mh import AdaBoostMH

        rng = np.random.default_rng(20140)
        codes = rng.integers(0, 256, size=(784, 5_000)).astype(np.uint8)
        if variant != "dense":
            codes[rng.random(codes.shape) < 0.8] = 0
        score = codes[:3].astype(np.int64).sum(axis=0)
        self.y = np.argsort(np.argsort(score, kind="stable"), kind="stable") * 10 // len(score)
        self.X = codes.T
        self.model = AdaBoostMH(n_estimators=20, n_threads=THREADS)

    def time_fit(self, variant):
        self.model.fit(self.X, self.y)

    time_fit.repeat = (2, 5, 2.0)


class OneRow(_Kept):
    """Rows one by one, 300 of them, of 500 trees of 31 leaves."""

    params = (["predict", "fast_predictor"],)
    param_names = ("way",)

    def make(self, variant):
        from algorithms.gbrt import GBRTClassifier

        if not hasattr(GBRTClassifier, variant):
            raise NotImplementedError(f"GBRTClassifier has no {variant}")
        data = task("dense")
        return GBRTClassifier(n_estimators=500, n_threads=THREADS).fit(data.X, data.y)

    def begin(self, variant, made):
        Z = task("dense").Z[:SINGLE]
        self.rows = [Z[i : i + 1].copy() for i in range(len(Z))]
        self.program = made.predict
        if variant == "fast_predictor":
            self.program, self.rows = made.fast_predictor(), [row[0] for row in self.rows]

    def time_predict_rows(self, way):
        for row in self.rows:
            self.program(row)


ON_DASK = {
    "gbrt": "GBRTClassifier",
    "cegb": "CEGBClassifier",
    "greedy_miser": "GreedyMiserClassifier",
    "adaboost_mh": "AdaBoostMH",
}
"""Estimators that train on Dask arrays; append a new one."""


class OnDask(_Kept):
    """Training on Dask arrays: two workers of one thread each, in this process."""

    N_ROWS, ROUNDS = 10_000, 5
    params = (list(ON_DASK),)
    param_names = ("algorithm",)

    def make(self, variant):
        _there("algorithms.distributed")
        _there(f"algorithms.{variant}")

    def begin(self, variant, made):
        import dask.array as da
        from distributed import Client, LocalCluster

        cls = getattr(importlib.import_module(f"algorithms.{variant}"), ON_DASK[variant])
        self.model = cls(n_estimators=self.ROUNDS, feature_costs=np.ones(N_FEATURES), n_threads=1)
        self.cluster = LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        )
        self.client = Client(self.cluster)
        data = task("dense", self.N_ROWS)
        half = self.N_ROWS // 2
        self.X = da.from_array(data.X, chunks=(half, N_FEATURES))
        self.y = da.from_array(data.y, chunks=half)

    def close(self) -> None:
        """End the workers; in asv they end with their process."""
        self.client.close()
        self.cluster.close()

    def time_fit(self, variant):
        self.model.fit(self.X, self.y)

    time_fit.repeat = (2, 3, 3.0)
    time_fit.warmup_time = 0.001


class Wheel(_Kept):
    """The library's wheel in a fresh process: its import, and from there to a first prediction."""

    package = "cost_aware_boosting"
    params = (["cegb.CEGBClassifier"],)  # its kernels are compiled once more, for the wheel
    param_names = ("estimator",)
    repeat = (3, 5, 10.0)
    warmup_time = 0

    def names(self, variant: str) -> tuple[str, str, str]:
        """Module, class and file of a saved model."""
        module, name = variant.rsplit(".", 1)
        return f"{self.package}.{module}", name, f"{name}.zip"

    def make(self, variant):
        if importlib.util.find_spec(self.package) is None:
            raise NotImplementedError(f"{self.package} is not installed")
        module, name, file = self.names(variant)
        data = task("dense", 1_000)
        model = getattr(importlib.import_module(module), name)(n_estimators=50, n_threads=1)
        model.fit(data.X, data.y).save(file)
        model.predict(data.Z[:1])  # compiles what one row asks for

    def timeraw_import(self, variant):
        module, name, _ = self.names(variant)
        return f"from {module} import {name}"

    def timeraw_first_prediction(self, variant):
        module, name, file = self.names(variant)
        return f"from {module} import {name}\n{name}.load({file!r}).predict([[0.5] * {N_FEATURES}])"
