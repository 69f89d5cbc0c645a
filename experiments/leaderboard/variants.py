"""Our own variants of CEGB, on the same draws: an ablation beside the methods, which is not ranked.

A default changes only by divisions that nobody has seen.
"""

from __future__ import annotations

from collections.abc import Mapping

from experiments.methods.boosted import fitted_cegb
from experiments.methods.fitting import named, shape
from experiments.methods.method import our_method
from experiments.methods.problem import Problem
from experiments.methods.subsets import price_alone
from experiments.methods.trained import Rounds, Trained


def _with(problem: Problem, draw: Mapping, **changed) -> Trained:
    options = shape(problem, draw) | {"tradeoff": draw["tradeoff"]} | changed
    return Rounds(fitted_cegb(problem, draw, options), named(problem, draw, options))


@our_method(has_tradeoff=True)
def cegb_from_zero(problem: Problem, draw: Mapping) -> Trained:
    """Start from 0, not from the best constant."""
    return _with(problem, draw, init="zero")


@our_method(has_tradeoff=True)
def cegb_all_splits(problem: Problem, draw: Mapping) -> Trained:
    """Go on at a negative net gain."""
    return _with(problem, draw, stop_on_negative_gain=False)


@our_method(has_tradeoff=True)
def cegb_paid_by_model(problem: Problem, draw: Mapping) -> Trained:
    """Pay for a feature once, for all rows, when the model first uses it."""
    options = shape(problem, draw) | {"tradeoff": draw["tradeoff"]}
    prices = {"feature_costs": None, "feature_groups": None, "group_costs": None}
    by_model = {"model_feature_costs": price_alone(problem) * len(problem.fit)}
    model = fitted_cegb(problem, draw, options | prices | by_model)
    for name, value in problem.prices.items():  # it is billed as every other is
        setattr(model, name, value)
    return Rounds(model, named(problem, draw, options))


VARIANTS = {each.slug: each for each in (cegb_from_zero, cegb_all_splits, cegb_paid_by_model)}
