"""The suite's decision DAGs as methods: MDDAG on trees, and on stumps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.gbrt import GBRTClassifier
from algorithms.mddag import MDDAGClassifier
from experiments.methods.fitting import fitted, further, log_between, named, shape
from experiments.methods.method import CLASSES, our_method
from experiments.methods.problem import Problem
from experiments.methods.trained import Trained
from experiments.methods.two_classes import alone

_MOST_BASES = 60  # of trees; each is an action
_MOST_STUMPS = 100
_OF_STUMPS = 0.05, 1.0  # least and largest share of the rounds


def _trained(base, problem: Problem, draw: Mapping, options: dict[str, Any]) -> Trained:
    """Learn a policy by descent, which draws nothing, with the λ of the draw."""
    own = {"beta": draw["tradeoff"], "solver": "descent"}
    model = MDDAGClassifier(
        base, **own, **problem.prices, tree_cost=0.0, n_threads=1, random_state=draw["seed"]
    )
    fitted(model, problem, draw)
    return alone(model, named(problem, draw, {**options, **own}))


@our_method(CLASSES, allow_nan=False, has_tradeoff=True, gives="scores")
def mddag(problem: Problem, draw: Mapping) -> Trained:
    """Skip and quit among boosted trees."""
    options = shape(problem, draw)
    options["n_estimators"] = min(options["n_estimators"], _MOST_BASES)
    return _trained(GBRTClassifier(**options, n_threads=1), problem, draw, options)


@our_method(CLASSES, allow_nan=False, has_tradeoff=True, gives="scores")
def mddag_stumps(problem: Problem, draw: Mapping) -> Trained:
    """Skip and quit among the stumps of AdaBoost.MH."""
    share = log_between(further(draw, 1)[0], *_OF_STUMPS)
    options = {"n_estimators": max(2, round(share * min(draw["rounds"], _MOST_STUMPS)))}
    base = AdaBoostMH(**options, random_state=draw["seed"], n_threads=1)
    return _trained(base, problem, draw, options)
