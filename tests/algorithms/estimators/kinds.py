"""The registered estimators by kind, and each of them in a small size."""

from __future__ import annotations

import functools

from sklearn.base import is_classifier, is_regressor

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.boosted_trees.estimator import BoostedTrees
from algorithms.budget_forest import BudgetForestClassifier
from algorithms.decision_dag.estimator import DecisionDAGEstimator
from algorithms.exits.classifier import CascadeClassifier
from algorithms.forests.voting import VotingForest
from algorithms.gbrt import GBRTRegressor
from algorithms.registry.registered import ESTIMATORS

REGRESSORS = [cls for cls in ESTIMATORS if is_regressor(cls())]
CLASSIFIERS = [cls for cls in ESTIMATORS if is_classifier(cls())]
OF_TWO_CLASSES = [
    cls for cls in CLASSIFIERS if not cls().__sklearn_tags__().classifier_tags.multi_class
]
TREES = [cls for cls in ESTIMATORS if issubclass(cls, BoostedTrees)]
TREE_REGRESSORS = [cls for cls in TREES if cls in REGRESSORS]
TREE_CLASSIFIERS = [cls for cls in TREES if cls in CLASSIFIERS]


class AdaBoostMHOfTrees(AdaBoostMH):
    """AdaBoostMH with trees as weak learners unless it is told otherwise."""

    @functools.wraps(AdaBoostMH.__init__)
    def __init__(self, **parameters):
        super().__init__(**{"weak_learner": "hamming_tree", "n_leaves": 4} | parameters)


# With those that one parameter makes another kind of model.
EVERY = (*ESTIMATORS, AdaBoostMHOfTrees)

# One of those that share their `fit`.
OF_EACH_FIT = tuple({cls.fit.__qualname__: cls for cls in ESTIMATORS}.values())


def takes(cls, name: str) -> bool:
    """Whether an estimator has a parameter."""
    return name in cls().get_params(deep=False)


def n_classes(cls, most: int = 3) -> int:
    """Number of classes that a classifier can tell apart, of so many that a test has."""
    return min(most, 2) if cls in OF_TWO_CLASSES else most


def small_size(
    cls, *, n_estimators=3, max_leaves=4, max_depth=2, min_samples_leaf=5, n_stages=2
) -> dict:
    """Parameters of a model that is fitted in no time, of those that the estimator has.

    Trees are limited by their leaves, or by their depth where there is no limit of leaves. A
    cascade has such trees, and few stages; a decision DAG has few episodes.
    """
    size = {
        "n_estimators": n_estimators,
        "min_samples_leaf": min_samples_leaf,
        "max_leaves": max_leaves,
    }
    if issubclass(cls, CascadeClassifier):
        of_stumps = cls.__module__.endswith("bourdev_cascade")
        size = {
            "estimator": AdaBoostMH(n_estimators=n_estimators)
            if of_stumps
            else GBRTRegressor(**size),
            "n_estimators": n_estimators,
            "n_stages": n_stages,
            "max_stages": n_stages,
            "max_stumps": n_estimators,
            "validation_share": 0.0,  # no row is drawn: copies of rows are what weights are
            "price_limits": tuple(float(10**k) for k in range(n_stages)),
            "max_cycles": 1,
            "max_evaluations": 50,
            "max_sweeps": 50,
        }
    elif issubclass(cls, DecisionDAGEstimator):
        stumps = AdaBoostMH(n_estimators=n_estimators)
        size = {
            "estimator": GBRTRegressor(**size, learning_rate=0.5) if cls in REGRESSORS else stumps,
            "n_episodes": 2000,
            "score_every": 500,
            "random_state": 0,
        }
    elif issubclass(cls, VotingForest):
        size = {"n_estimators": n_estimators, "bootstrap": False}  # copies are what weights are
        size["forest"] = BudgetForestClassifier(**size)
    elif not takes(cls, "max_leaves"):
        size["max_depth"] = max_depth
    return {name: value for name, value in size.items() if takes(cls, name)}
