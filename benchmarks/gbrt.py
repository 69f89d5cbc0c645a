"""asv: plain gradient boosting, the cost-blind baseline."""

from __future__ import annotations

from .suite import THREADS, Suite


class Gbrt(Suite):
    """GBRT."""

    params = (["dense", "one-hot"],)
    param_names = ("data",)
    time_fit = Suite.fit
    time_predict = Suite.predict
    peakmem_fit = Suite.fit
    track_accuracy = Suite.accuracy
    track_cost = Suite.cost

    def estimator(self, costs):
        from algorithms.gbrt import GBRTClassifier

        return GBRTClassifier(n_estimators=50, n_threads=THREADS)
