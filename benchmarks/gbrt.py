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


class GbrtRows(Suite):
    """GBRT as rows grow beyond the caches."""

    params = (["dense"], [100_000, 2_000_000])
    param_names = ("data", "rows")
    timeout = 900

    def setup(self, kind, n_rows):
        from .scale import draw

        self.X, self.y = draw(n_rows)
        self.model = self.estimator(None, n_rows)
        self.model.set_params(n_estimators=1).fit(self.X[:20_000], self.y[:20_000])  # compiles

    def time_fit(self, kind, n_rows):
        self.fit(kind, n_rows)

    def peakmem_fit(self, kind, n_rows):
        self.fit(kind, n_rows)

    def estimator(self, costs, n_rows):
        from algorithms.gbrt import GBRTClassifier

        return GBRTClassifier(n_estimators=5, n_threads=THREADS)
