"""Parameters that all cascades of weighted trees have, for the tables of their estimators."""

from __future__ import annotations

from .. import costs
from ..estimators.parameters import METERED, N_THREADS, Parameter, check_number, number

PRICES = ("feature_costs", "split_cost", "feature_groups", "group_costs")
OF_THE_TREES = " None: as the trees of `estimator` have it."


def check_tree_cost(name: str, value) -> float:
    """Give the price of a tree as a float; refuse what no bill could hold."""
    price = check_number(name, value)
    if price > costs.LARGEST_PRICE:
        raise ValueError(f"{name} must be at most {costs.LARGEST_PRICE:g}, got {value!r}.")
    return price


ESTIMATOR = Parameter(
    "estimator or None",
    "Trees with one score. Boosted trees of this package are cloned and fitted, regressors on "
    "-1 and +1; what is in a FrozenEstimator, a MeteredForest, and models of LightGBM, CatBoost "
    "and scikit-learn are taken as fitted. None: GBRTRegressor with trees of depth 4.",
)
THRESHOLDS = Parameter(
    "ndarray of shape (n_stages - 1,)",
    "A row with a lower score is rejected at the stage; minus infinity rejects none.",
)
PRICED = {
    "tree_cost": Parameter(
        "float", "e: price of evaluating one tree that has a split.", check_tree_cost
    ),
    **{
        name: Parameter(
            METERED[name].kind if name != "split_cost" else "float or None",
            METERED[name]
            .text.replace("; None means free", "")
            .replace("None: the features of a group have one price together. ", "")
            + OF_THE_TREES,
        )
        for name in PRICES
    },
    "n_threads": N_THREADS,
    "random_state": Parameter(
        "int or None", "Not used: nothing is drawn at random, but perhaps by `estimator`."
    ),
}
PRICED_STUMPS = {  # of a cascade that trains its own stumps, and has no prices but its own
    "tree_cost": Parameter("float", "e: price of evaluating one stump.", check_tree_cost),
    **{name: METERED[name] for name in PRICES},
    "n_threads": N_THREADS,
}
FINAL_THRESHOLD = Parameter(
    "float",
    "A row that comes to the last stage is positive if its score there is larger: just below the "
    "threshold of that stage.",
)
POSITIVE_WEIGHT = number(
    "float",
    "omega+: weight of positives (the second class) in the loss; negatives have 1.",
    positive=True,
)
