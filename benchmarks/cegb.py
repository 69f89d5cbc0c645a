"""asv: cost efficient gradient boosting."""

from __future__ import annotations

from .suite import THREADS, Suite


class Cegb(Suite):
    """CEGB with costs per row ("lazy"), and with costs per model and split ("coupled")."""

    params = (["dense", "one-hot"], ["lazy", "coupled"])
    param_names = ("data", "costs")
    time_fit = Suite.fit
    time_predict = Suite.predict
    peakmem_fit = Suite.fit
    track_accuracy = Suite.accuracy
    track_cost = Suite.cost

    def estimator(self, costs, charged):
        from algorithms.cegb import CEGBClassifier

        if charged == "lazy":
            prices = {"feature_costs": costs}
        else:
            prices = {"model_feature_costs": 1000 * costs, "split_cost": 0.25}
        return CEGBClassifier(n_estimators=50, tradeoff=1e-3, n_threads=THREADS, **prices)


class CegbOnDemand(Suite):
    """CEGB that asks for features; each costs no more than reading it from an array."""

    params = (["dense", "one-hot"], [1, 1024])
    param_names = ("data", "batch_size")

    def estimator(self, costs, batch_size):
        from algorithms.cegb import CEGBClassifier

        return CEGBClassifier(
            n_estimators=50, tradeoff=1e-3, n_threads=THREADS, feature_costs=costs
        )

    def setup(self, kind, batch_size):
        try:
            from algorithms.on_demand.predictor import OnDemandPredictor
        except ImportError:  # versions before it: asv skips what raises this
            raise NotImplementedError from None
        super().setup(kind, batch_size)
        functions = {m: self.column(m) for m in range(self.Z.shape[1])}
        self.predictor = OnDemandPredictor(self.model, functions, batch_size=batch_size)
        self.predictor.predict(range(1))  # compiles
        self.rows = range(min(len(self.Z), 200 * batch_size))

    def column(self, m):
        """Read feature m of some rows."""
        return lambda rows: self.Z[rows, m]

    def time_predict_on_demand(self, kind, batch_size):
        self.predictor.predict(self.rows)

    def track_calls_per_row(self, kind, batch_size):
        """Calls of functions for each row."""
        result = self.predictor.predict(self.rows)
        return sum(result.calls_by_function.values()) / len(self.rows)

    track_calls_per_row.unit = "calls for a row"
