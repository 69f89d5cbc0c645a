"""asv: the Greedy Miser."""

from __future__ import annotations

from .suite import THREADS, Suite


class GreedyMiser(Suite):
    """Greedy Miser by both rules of charging; the cost tracked is the forest's bill."""

    params = (["dense", "one-hot"], ["first_use", "authors"])
    param_names = ("data", "charging")
    time_fit = Suite.fit
    time_predict = Suite.predict
    peakmem_fit = Suite.fit
    track_accuracy = Suite.accuracy

    def estimator(self, costs, charging):
        try:
            from algorithms.greedy_miser import GreedyMiserClassifier
        except ImportError:  # versions before it: asv skips what raises this
            raise NotImplementedError from None
        return GreedyMiserClassifier(
            n_estimators=50, tradeoff=4.0, charging=charging, n_threads=THREADS, feature_costs=costs
        )

    def track_cost(self, kind, charging):
        """Every feature of the forest once, and 1 for each tree."""
        return self.model.forest_cost()

    track_cost.unit = "cost of the forest"
