"""Parameters that all cascades of weighted trees have, for the tables of their estimators."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING

from .. import costs
from ..estimators.parameters import (
    CLASS_WEIGHT,
    LARGEST_FACTOR,
    METERED,
    N_JOBS,
    N_THREADS,
    Parameter,
    check_number,
    check_seed_or_state,
    number,
)
from ..inputs.types import FeatureCosts
from ..metering.trees import warn_if_free

if TYPE_CHECKING:
    from ..metering.trees import MeteredTrees

PRICES = ("feature_costs", "split_cost", "feature_groups", "group_costs")
OF_THE_TREES = " None: as the trees of `estimator` have it."


def check_tree_cost(name: str, value: object) -> float:
    """Give the price of a tree as a float; refuse what no bill could hold."""
    price = check_number(name, value)
    if price > costs.LARGEST_PRICE:
        raise ValueError(f"{name} must be at most {costs.LARGEST_PRICE:g}, got {value!r}.")
    return price


def warn_if_unpriced(
    estimator: object,
    meter: MeteredTrees,
    feature_costs: FeatureCosts,
    split_cost: float | None,
    tree_cost: float | None,
    stacklevel: int = 3,
) -> None:
    """Warn of a bill for which nobody gave a price; that of a tree has a default."""
    default = signature(type(estimator)).parameters["tree_cost"].default
    if tree_cost is None and estimator.tree_cost in (0, default):
        warn_if_free(meter, feature_costs, split_cost, estimator.tree_cost, stacklevel + 1)


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
    "n_jobs": N_JOBS,
    "random_state": Parameter(
        "int or None",
        "Not used: nothing is drawn at random, but perhaps by `estimator`.",
        check_seed_or_state,
    ),
}
PRICED_STUMPS = {  # of a cascade that trains its own stumps, and has no prices but its own
    "tree_cost": Parameter("float", "e: price of evaluating one stump.", check_tree_cost),
    **{name: METERED[name] for name in PRICES},
    "class_weight": CLASS_WEIGHT,
    "n_threads": N_THREADS,
    "n_jobs": N_JOBS,
}
PRICED_CLASSES = PRICED | {"class_weight": CLASS_WEIGHT}
FINAL_THRESHOLD = Parameter(
    "float",
    "A row that comes to the last stage is positive if its score there is larger: just below the "
    "threshold of that stage.",
)
POSITIVE_WEIGHT = number(
    "float",
    "omega+: weight of positives (the second class) in the loss; negatives have 1.",
    positive=True,
    most=LARGEST_FACTOR,
)
