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
