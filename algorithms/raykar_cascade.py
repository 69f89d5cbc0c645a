"""The soft cascade (Raykar, Krishnapuram & Yu, KDD 2010): stages trained jointly, trees assigned.

The formulas are reconstructed, see :mod:`reference.raykar_cascade`, which also lists the choices.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import expit

from .estimators.parameters import (
    LARGEST_FACTOR,
    Parameter,
    check_factor,
    check_number,
    documented,
    keep,
    number,
    shown,
    whole,
)
from .exits.prices import POSITIVE_WEIGHT, PRICED_CLASSES
from .reweighted_trees.pools import LIMITS, POOLED_ESTIMATOR, PooledCascade, Shared, logit
from .reweighted_trees.tree_outputs import TreeOutputs
from .validation.types import ClassWeight, FeatureCosts, FeatureGroups, GroupCosts, Seed

_ALIKE = 1e-3  # of the largest score: two stages that differ by less say the same
_APART = 0.1  # what the constants of the second start are moved by, from stage to stage
_LOWER = 1e-6  # relatively: a second end that is not lower by so much is not taken


def _check_probability(name: str, value) -> float:
    """Give a probability as a float; refuse what is not in (0, 1)."""
    p = check_number(name, value, positive=True)
    if p >= 1:
        raise ValueError(f"{name} must be above 0 and below 1, got {shown(value)}.")
    return p


class SoftLikelihood(NamedTuple):
    """The objective, and what it is made of; see the reference."""

    outputs: TreeOutputs
    pools: np.ndarray  # (n_trees,) int64: stage of each tree, from 0; the number of stages: of none
    y: np.ndarray  # y, omega, copies: (n_samples,) float64
    omega: np.ndarray
    copies: np.ndarray
    prices: np.ndarray  # (n_stages,) float64: C_k
    tradeoff: float  # tradeoff, ridge: λ, τ
    ridge: float

    def _members(self) -> list[np.ndarray]:
        """Trees of each stage."""
        return [np.flatnonzero(self.pools == k) for k in range(len(self.prices))]

    def scores(self, x: np.ndarray) -> np.ndarray:
        """f_k, (n_stages, n_samples), of constants and weights."""
        constants, weights = x[: len(self.prices)], x[len(self.prices) :]
        return np.array(
            [
                self.outputs.times(trees, weights[trees], constant)
                for trees, constant in zip(self._members(), constants, strict=True)
            ]
        )

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Value and derivatives by the constants and the trees' weights."""
        n_stages, positive = len(self.prices), self.y > 0
        weights, members, scores = x[n_stages:], self._members(), self.scores(x)
        passes = expit(scores)
        log_product = np.minimum(-np.sum(np.logaddexp(0.0, -scores), axis=0), -1e-300)
        reach = np.ones_like(passes)
        np.cumprod(passes[:-1], axis=0, out=reach[1:])
        likelihood = np.where(positive, log_product, np.log(-np.expm1(log_product)))
        value = -float(self.omega @ likelihood) + 0.5 * self.ridge * float(weights @ weights)
        value += self.tradeoff * float(self.prices @ (reach @ self.copies))

        with np.errstate(over="ignore"):  # a product that is 0
            by_product = np.where(positive, 1.0, -1.0 / np.expm1(-log_product))
        gradient = np.concatenate([np.zeros(n_stages), self.ridge * weights])
        to_come = np.zeros_like(self.y)
        for k in range(n_stages - 1, -1, -1):
            by_score = (1.0 - passes[k]) * (
                -self.omega * by_product + self.tradeoff * self.copies * to_come
            )
            to_come += self.prices[k] * reach[k]
            gradient[k] = by_score.sum()
            trees = members[k]
            gradient[n_stages + trees] += self.outputs.correlations(by_score, trees)
        return value, gradient


def _are_alike(scores: np.ndarray) -> bool:
    """Whether two stages say the same of all rows, nearly."""
    near = _ALIKE * (1.0 + np.max(np.abs(scores)))
    pairs = combinations(scores, 2)
    return any(np.max(np.abs(one - other)) <= near for one, other in pairs)


def _minimised(problem: SoftLikelihood, most: int) -> tuple[np.ndarray, float, int]:
    """Give constants and weights of the lower of at most two ends, its value, and evaluations.

    Stages that may use the same trees have the same derivatives at 0, and stay alike: a saddle,
    which only rounding leaves. There a second descent begins with the constants moved apart.
    """

    def descend(start: np.ndarray, most: int):
        ends = {"maxfun": most, "maxiter": most, "ftol": 1e-12, "gtol": 1e-8}
        return minimize(problem, start, jac=True, method="L-BFGS-B", options=ends)

    n_stages = len(problem.prices)
    end = descend(np.zeros(n_stages + len(problem.pools)), most)
    spent = end.nfev
    if spent < most and _are_alike(problem.scores(end.x)):
        apart = end.x.copy()
        apart[:n_stages] += _APART * np.arange(n_stages)
        again = descend(apart, most - spent)
        spent += again.nfev
        end = again if again.fun < end.fun - _LOWER * abs(end.fun) else end
    return end.x, float(end.fun), int(spent)


_PARAMETERS = {
    "estimator": POOLED_ESTIMATOR,
    "price_limits": LIMITS,
    "tradeoff": number("float", "lambda, for weights of the loss that sum to 1."),
    "ridge": number("float", "tau.", positive=True, most=LARGEST_FACTOR),
    "reject_below": Parameter(
        "float", "Probability of passing a stage below which a row is rejected.", _check_probability
    ),
    "positive_weight": POSITIVE_WEIGHT,
    "max_evaluations": whole("int", "Evaluations of the objective.", 1),
    **PRICED_CLASSES,
}
_ATTRIBUTES = {
    **PooledCascade._attributes,
    "n_evaluations_": Parameter("int", "Evaluations of it."),
    "capped_": Parameter("bool", "Whether they ended at their limit."),
}


@documented
class RaykarCascadeClassifier(PooledCascade):
    """A cascade whose stages have trees of their own, trained jointly for likelihood and cost.

    The second class is the positive one.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from algorithms.raykar_cascade import RaykarCascadeClassifier
    >>> x = np.arange(100.0)
    >>> model = RaykarCascadeClassifier(price_limits=[1, 10], feature_costs=[1.0, 10.0])
    >>> model = model.fit(np.column_stack([x // 2, x]), x >= 90)
    >>> model.exit_stage([[3.0, 6.0], [49.0, 98.0]])
    array([1, 2])
    """

    _parameters = _PARAMETERS
    _attributes = _ATTRIBUTES

    def __init__(
        self,
        estimator: object = None,
        *,
        price_limits: ArrayLike = (5, 20, 50, 150, 200),
        tradeoff: float = 1e-4,
        ridge: float = 1e-3,
        reject_below: float = 0.5,
        positive_weight: float = 3.5,
        max_evaluations: int = 2000,
        tree_cost: float = 1.0,
        feature_costs: FeatureCosts = None,
        split_cost: float | None = None,
        feature_groups: FeatureGroups = None,
        group_costs: GroupCosts = None,
        class_weight: ClassWeight = None,
        n_threads: int | None = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        keep(self, locals())

    def _train(self, shared: Shared, options: dict):
        """Give constants, weights of the trees, and thresholds."""
        omega = shared.copies * np.where(shared.y > 0, options["positive_weight"], 1.0)
        problem = SoftLikelihood(
            shared.outputs,
            shared.pools,
            shared.y,
            omega / omega.sum(),
            shared.copies,
            shared.prices,
            options["tradeoff"],
            options["ridge"],
        )
        check_factor("tradeoff", options["tradeoff"], float(shared.prices.sum()))
        n_stages, most = shared.n_stages, options["max_evaluations"]
        x, self.objective_, self.n_evaluations_ = _minimised(problem, most)
        self.capped_ = self.n_evaluations_ >= most
        thresholds = np.full(n_stages - 1, logit(options["reject_below"]))
        return x[:n_stages].copy(), x[n_stages:], thresholds
