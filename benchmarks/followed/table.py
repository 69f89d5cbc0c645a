"""The table of what asv measures: a line for each algorithm, and variants of it.

``tests/benchmarks/test_suite.py`` fails when an estimator of the registry has no line.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from .suite import THREADS, Algorithm, Task, Variant

ROUNDS, DEPTH = 50, 4
_THREADED = {"n_threads": THREADS}
_BOOSTED = {"n_estimators": ROUNDS} | _THREADED
SAMPLERS = (
    "uniform_naive",
    "laminating",
    "best_family",
    "uniform_1q",
    "uniform_q1",
    "ucb",
    "exp3p",
    "epsilon_greedy",
    "tasting_1q",
    "tasting_q1",
    "mas_naive",
    "mas_1q",
    "mas_q1",
)
"""Ways to sample features or examples; append a new one."""


def priced(**others) -> Variant:
    """Parameters of a model that knows the prices."""
    return Variant(lambda costs: {"feature_costs": costs} | others)


def sampled(sampler: str) -> Variant:
    """AdaBoost.MH with a sampler, in three families of features."""
    return Variant(
        lambda costs: {
            "sampler": sampler,
            "families": np.array_split(np.arange(len(costs)), 3),
            "feature_costs": costs,
            "random_state": 0,
        }
    )


# What other models are made of: fitted before, and not measured here.


def trees(task: Task):
    """Boosted trees of a fixed depth, of which cascades are made."""
    from algorithms.gbrt import GBRTRegressor

    model = GBRTRegressor(n_estimators=ROUNDS, max_leaves=None, max_depth=DEPTH, **_THREADED)
    return model.fit(task.X, 2.0 * task.y - 1.0)


def stumps(task: Task):
    """A pool of boosted stumps."""
    from algorithms.adaboost_mh import AdaBoostMH

    return AdaBoostMH(**_BOOSTED).fit(task.X, task.y)


def long_forest(task: Task):
    """The trees that rows leave early."""
    from algorithms.gbrt import GBRTClassifier

    model = GBRTClassifier(n_estimators=300, feature_costs=task.costs, **_THREADED)
    return model.fit(task.X, task.y)


def budget_forest(task: Task):
    """The forest that is pruned."""
    from algorithms.budget_forest import BudgetForestClassifier

    grown = {"n_estimators": 10, "impurity": "entropy", "random_state": 0} | _THREADED
    return BudgetForestClassifier(feature_costs=task.costs, **grown).fit(task.X, task.y)


# What is fitted within the measured fit, for each of its stages.


def inner_trees():
    """Trees of which an estimator fits its own."""
    from algorithms.gbrt import GBRTRegressor

    return GBRTRegressor(n_estimators=ROUNDS, max_leaves=None, max_depth=DEPTH, **_THREADED)


def staged(**others) -> Variant:
    """A cascade that fits its own trees."""
    return Variant(lambda costs: {"estimator": inner_trees(), "feature_costs": costs} | others)


GROWN = MappingProxyType(
    {
        "Gbrt": Algorithm(
            "gbrt.GBRTClassifier",
            {
                "dense": Variant(),
                "one-hot": Variant(data="one-hot"),
                "missing": Variant(data="missing"),
            },
            _BOOSTED,
        ),
        "Cegb": Algorithm(
            "cegb.CEGBClassifier",
            {
                "lazy": priced(),
                "lazy, one-hot": priced()._replace(data="one-hot"),
                "coupled": Variant(
                    lambda costs: {"model_feature_costs": 1000 * costs, "split_cost": 0.25}
                ),
            },
            _BOOSTED | {"tradeoff": 1e-3},
        ),
        "GreedyMiser": Algorithm(
            "greedy_miser.GreedyMiserClassifier",
            {"first_use": priced(charging="first_use"), "authors": priced(charging="authors")},
            _BOOSTED | {"tradeoff": 4.0, "init": "zero"},
            bill=lambda model, Z, costs: model.forest_cost(),
        ),
    }
)
"""Boosted trees; the long tier measures them on a million rows, too."""

TABLE = MappingProxyType(
    {
        **GROWN,
        "AdaBoostMh": Algorithm(
            "adaboost_mh.AdaBoostMH",
            {
                "stumps": priced(),
                "stumps, one-hot": priced()._replace(data="one-hot"),
                "trees of 8 leaves": priced(weak_learner="hamming_tree"),
            },
            _BOOSTED,
        ),
        "Sampling": Algorithm(
            "adaboost_mh.AdaBoostMH",
            {name: sampled(name) for name in SAMPLERS},
            _BOOSTED,
            sizes=(10_000,),
            without=("peakmem_fit", "time_predict"),
        ),
        "BudgetForest": Algorithm(
            "budget_forest.BudgetForestClassifier",
            {"pairs": priced(impurity="pairs"), "entropy": priced(impurity="entropy")},
            {"n_estimators": 10, "random_state": 0} | _THREADED,
        ),
        "BudgetPrune": Algorithm(
            "budget_prune.BudgetPruneClassifier",
            {"exact": priced(budget=8.0)},
            _THREADED,
            base=budget_forest,
            sizes=(10_000,),
        ),
        "Cronus": Algorithm(
            "cronus.CronusClassifier",
            {"five stages": priced(n_stages=5, max_cycles=1, max_evaluations=30)},
            _THREADED,
            base=trees,
        ),
        "RaykarCascade": Algorithm(
            "raykar_cascade.RaykarCascadeClassifier",
            {"five stages": staged(max_evaluations=50)},
            _THREADED,
        ),
        "AndOrCascade": Algorithm(
            "and_or_cascade.AndOrCascadeClassifier",
            {"five stages": staged(max_cycles=2, max_sweeps=20)},
            _THREADED,
        ),
        "EarlyExit": Algorithm(
            "early_exit.EarlyExit",
            {"at 0.8": Variant(lambda costs: {"threshold": 0.8}),
             "at 0.95": Variant(lambda costs: {"threshold": 0.95})},
            {"rule": "likelihood"},
            base=long_forest,
            frozen=False,
            without=("time_fit", "peakmem_fit"),
            sizes=(10_000,),
        ),
        "DecisionDag": Algorithm(
            "mddag.MDDAGClassifier",
            {"sarsa": Variant(lambda costs: {"n_episodes": 100_000, "random_state": 0}),
             "descent": Variant(lambda costs: {"solver": "descent"})},
            _THREADED,
            base=stumps,
        ),
        "ViolaJones": Algorithm(
            "viola_jones.ViolaJonesClassifier",
            {"five stages": priced(max_stages=5, max_stumps=20, random_state=0)},
            _THREADED,
        ),
        "FCBoost": Algorithm(
            "fcboost.FCBoostClassifier", {"30 stumps": priced(n_estimators=30, eta=0.01)}, _THREADED
        ),
        "SoftCascade": Algorithm(
            "bourdev_cascade.BourdevCascadeClassifier", {"a pool of 50": priced()}, _THREADED,
            base=stumps,
        ),
    }
)  # fmt: skip
"""By the name under which asv files them."""
