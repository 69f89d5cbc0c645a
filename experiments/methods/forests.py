"""The suite's own forests as methods: BudgetRF, and BudgetPrune with the prunings of one forest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from algorithms.budget_forest import BudgetForestClassifier, BudgetForestRegressor
from algorithms.budget_prune import BudgetPruneClassifier
from experiments.methods import facts
from experiments.methods.fitting import fitted, log_between, most_in_leaf, named
from experiments.methods.method import CLASSES, RANKED, our_method
from experiments.methods.problem import Problem
from experiments.methods.trained import Models, Rounds, Trained
from experiments.methods.trees import one_of

_MOST_TREES = 40  # of the paper
_N_PRUNINGS = 12  # measured of each forest, as many as there are thresholds of an exit
_ENTROPY_BELOW = (0.01, 0.5)  # an entropy that counts as none


def _prunings(model: BudgetPruneClassifier, parameters: Mapping) -> Trained:
    """Give some of a forest's optimal prunings; the cuts are trade-offs."""
    curve = model.curve_
    split = np.flatnonzero(curve.n_splits > 0)
    spread = np.linspace(split[0], len(curve.cost) - 1, _N_PRUNINGS) if len(split) else []
    cuts = [_within(curve.tradeoff, k) for k in np.unique(np.rint(spread).astype(int))]

    def pruned(cut: float) -> BudgetPruneClassifier:
        one = model.pruned(tradeoff=cut)
        one.n_threads = None  # whoever uses it may have all of them
        return one

    return Models(pruned, cuts, parameters)


def _within(tradeoffs: np.ndarray, point: int) -> float:
    """Trade-off well between the ends of those for which a pruning is taken."""
    least = tradeoffs[point]
    most = tradeoffs[point - 1] if point else 2 * least
    return float(f"{np.sqrt(least) * np.sqrt(most):.6g}")


def _forest(problem: Problem, draw: Mapping) -> dict[str, Any]:
    """Give the shape of a forest: impurity, its threshold, features drawn at a node, trees."""
    u, d = draw["u"], len(problem.names)
    pairs = u[1] < 0.5
    most = most_in_leaf(problem)
    alpha = round(log_between(u[2], 1, most)) if pairs else log_between(u[2], *_ENTROPY_BELOW)
    return {
        "impurity": "pairs" if pairs else "entropy",
        "impurity_threshold": float(f"{alpha:.4g}"),
        "max_features": max(1, round(log_between(u[0], max(1.0, np.sqrt(d)), d))),
        "n_estimators": min(draw["rounds"], _MOST_TREES),
        "random_state": draw["seed"],
    }


@our_method(RANKED, allow_nan=False, unfit=facts.forest_of_grades)
def budget_forest(problem: Problem, draw: Mapping) -> Trained:
    """Grow trees by the prices; a ranking is by the mean of the grades voted for."""
    kind = one_of(problem.task, BudgetForestClassifier, BudgetForestRegressor)
    options = _forest(problem, draw)
    model = fitted(kind(**options, **problem.prices, n_threads=1), problem, draw)
    return Rounds(model, named(problem, draw, options))


@our_method(CLASSES, allow_nan=False, unfit=facts.no_weights)
def budget_prune(problem: Problem, draw: Mapping) -> Trained:
    """Grow trees by the prices, and prune them; the rows that train pay."""
    options = _forest(problem, draw)
    forest = BudgetForestClassifier(**options, **problem.prices, n_threads=1)
    model = fitted(BudgetPruneClassifier(forest, n_threads=1), problem, draw)
    return _prunings(model, named(problem, draw, options))
