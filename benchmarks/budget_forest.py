"""asv: BudgetRF, and BudgetPrune with all its optimal prunings."""

from __future__ import annotations

from .suite import THREADS, Suite


class BudgetForest(Suite):
    """BudgetRF by both impurities."""

    params = (["dense", "one-hot"], ["pairs", "entropy"])
    param_names = ("data", "impurity")
    time_fit = Suite.fit
    time_predict = Suite.predict
    peakmem_fit = Suite.fit
    track_accuracy = Suite.accuracy
    track_cost = Suite.cost

    def estimator(self, costs, impurity):
        try:
            from algorithms.budget_forest import BudgetForestClassifier
        except ImportError:  # versions before it: asv skips what raises this
            raise NotImplementedError from None
        return BudgetForestClassifier(
            n_estimators=20,
            impurity=impurity,
            feature_costs=costs,
            n_threads=THREADS,
            random_state=0,
        )
