"""asv: AdaBoost.MH with decision stumps, by how a round's features and examples are drawn."""

from __future__ import annotations

import numpy as np

from .suite import THREADS, Suite


class AdaBoostMh(Suite):
    """All features each round, a random sample of them, and Laminating."""

    params = (["dense", "one-hot"], ["all_features", "uniform_naive", "laminating"])
    param_names = ("data", "sampler")
    time_fit = Suite.fit
    time_predict = Suite.predict
    peakmem_fit = Suite.fit
    track_accuracy = Suite.accuracy
    track_cost = Suite.cost

    def setup(self, kind, sampler):
        try:
            from algorithms.adaboost_mh import AdaBoostMH  # noqa: F401
        except ImportError:  # versions before it: asv skips what raises this
            raise NotImplementedError from None
        super().setup(kind, sampler)

    def estimator(self, costs, sampler):
        from algorithms.adaboost_mh import AdaBoostMH

        families = np.array_split(np.arange(len(costs)), 3)
        return AdaBoostMH(
            n_estimators=50,
            sampler=sampler,
            families=families,
            feature_costs=costs,
            random_state=0,
            n_threads=THREADS,
        )
