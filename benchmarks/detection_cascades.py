"""asv: the cascades of boosted stumps that detectors of objects are made of."""

from __future__ import annotations

import importlib

from .suite import THREADS, Suite


class _Detector(Suite):
    """A cascade of this package, skipped by asv in versions before it."""

    params = (["dense", "one-hot"],)
    param_names = ("data",)
    module, name = "", ""

    def options(self) -> dict:
        """Parameters beside the defaults."""
        return {}

    def estimator(self, costs):
        try:
            cls = getattr(importlib.import_module(f"algorithms.{self.module}"), self.name)
        except ImportError:  # asv skips what raises this
            raise NotImplementedError from None
        return cls(feature_costs=costs, n_threads=THREADS, **self.options())


class ViolaJones(_Detector):
    """Five stages of at most 20 stumps."""

    module, name, size = "viola_jones", "ViolaJonesClassifier", "max_stumps"

    def options(self):
        return {"max_stages": 5, "max_stumps": 20, "random_state": 0}

    time_fit = Suite.fit
    time_predict = Suite.predict
    peakmem_fit = Suite.fit
    track_accuracy = Suite.accuracy
    track_cost = Suite.cost


class FCBoost(_Detector):
    """Thirty stumps, at any stage."""

    module, name = "fcboost", "FCBoostClassifier"

    def options(self):
        return {"n_estimators": 30, "eta": 0.01}

    time_fit = Suite.fit
    time_predict = Suite.predict
    peakmem_fit = Suite.fit
    track_accuracy = Suite.accuracy
    track_cost = Suite.cost


class BourdevCascade(_Detector):
    """A pool of 100 stumps, re-ordered."""

    module, name = "bourdev_cascade", "BourdevCascadeClassifier"
    size = "estimator__n_estimators"

    def options(self):
        from algorithms.adaboost_mh import AdaBoostMH

        return {"estimator": AdaBoostMH(n_estimators=100, n_threads=THREADS)}

    time_fit = Suite.fit
    time_predict = Suite.predict
    peakmem_fit = Suite.fit
    track_accuracy = Suite.accuracy
    track_cost = Suite.cost
