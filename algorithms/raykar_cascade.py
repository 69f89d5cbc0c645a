"""The soft cascade (Raykar, Krishnapuram & Yu, KDD 2010): stages trained jointly, trees assigned.

The formulas are reconstructed, see :mod:`reference.raykar_cascade`, which also lists the choices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from threadpoolctl import threadpool_limits

from .cascades.pools import LIMITS, PooledCascade, logit, pool_prices
from .cascades.tree_outputs import TreeOutputs, tree_outputs
from .cronus import ESTIMATOR, POSITIVE_WEIGHT, PRICED
from .estimators.fitting import all_or_nothing
from .estimators.parameters import (
    Parameter,
    check_number,
    checked_parameters,
    documented,
    number,
    shown,
    whole,
)
from .kernels.decorators import resolve_n_threads


def _check_probability(name: str, value) -> float:
    """Give a probability as a float; refuse what is not in (0, 1)."""
    p = check_number(name, value, positive=True)
    if p >= 1:
        raise ValueError(f"{name} must be above 0 and below 1, got {shown(value)}.")
    return p


class SoftLikelihood(NamedTuple):
    """The objective, and what it is made of; see the reference.

    Attributes
    ----------
    outputs : TreeOutputs
    pools : ndarray of shape (n_trees,), int64
        Stage of each tree, from 0; the number of stages: of none.
    y, omega, copies : ndarray of shape (n_samples,), float64
    prices : ndarray of shape (n_stages,), float64
        C_k.
    tradeoff, ridge : float
        λ, τ.
    """

    outputs: TreeOutputs
    pools: np.ndarray
    y: np.ndarray
    omega: np.ndarray
    copies: np.ndarray
    prices: np.ndarray
    tradeoff: float
    ridge: float

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Value and derivatives by the constants and the trees' weights."""
        n_stages, positive = len(self.prices), self.y > 0
        constants, weights = x[:n_stages], x[n_stages:]
        members = [np.flatnonzero(self.pools == k) for k in range(n_stages)]
        scores = np.array(
            [
                self.outputs.times(trees, weights[trees], constant)
                for trees, constant in zip(members, constants, strict=True)
            ]
        )
        passes = expit(scores)
        log_product = np.minimum(-np.sum(np.logaddexp(0.0, -scores), axis=0), -1e-300)
        reach = np.ones_like(passes)
        np.cumprod(passes[:-1], axis=0, out=reach[1:])
        likelihood = np.where(positive, log_product, np.log(-np.expm1(log_product)))
        value = -float(self.omega @ likelihood) + 0.5 * self.ridge * float(weights @ weights)
        value += self.tradeoff * float(self.prices @ (reach @ self.copies))

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


POOLED_ESTIMATOR = Parameter(
    ESTIMATOR.kind,
    ESTIMATOR.text + " Trees that are fitted here are fitted for each stage on the features that "
    "it may use; those that were are shared out: a tree belongs to the first stage that may use "
    "all its features, and to none if there is no such stage.",
)
_PARAMETERS = {
    "estimator": POOLED_ESTIMATOR,
    "price_limits": LIMITS,
    "tradeoff": number("float", "lambda, for weights of the loss that sum to 1."),
    "ridge": number("float", "tau.", positive=True),
    "reject_below": Parameter(
        "float", "Probability of passing a stage below which a row is rejected.", _check_probability
    ),
    "positive_weight": POSITIVE_WEIGHT,
    "max_evaluations": whole("int", "Evaluations of the objective.", 1),
    **PRICED,
}
_ATTRIBUTES = {
    **PooledCascade._attributes,
    "estimator_": Parameter("list of estimator", "The fitted trees: of each stage, or of all."),
    "pools_": Parameter("ndarray of shape (n_trees,)", "Stage of each tree, from 0."),
    "objective_": Parameter("float", "The objective."),
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
        estimator=None,
        *,
        price_limits=(5, 20, 50, 150, 200),
        tradeoff=1e-4,
        ridge=1e-3,
        reject_below=0.5,
        positive_weight=3.5,
        max_evaluations=2000,
        tree_cost=1.0,
        feature_costs=None,
        split_cost=None,
        feature_groups=None,
        group_costs=None,
        n_threads=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.price_limits = price_limits
        self.tradeoff = tradeoff
        self.ridge = ridge
        self.reject_below = reject_below
        self.positive_weight = positive_weight
        self.max_evaluations = max_evaluations
        self.tree_cost = tree_cost
        self.feature_costs = feature_costs
        self.split_cost = split_cost
        self.feature_groups = feature_groups
        self.group_costs = group_costs
        self.n_threads = n_threads
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X, y, *, sample_weight=None, query_id=None):
        """Fit the trees, unless they are, and the cascade.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights >= 0. A weight of 3 equals three copies of the row; rows of weight 0 are
            left out.
        query_id : array-like of shape (n_samples,), optional
            Checked only: the loss is by row.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an input or a parameter does not fit.
        """
        options = checked_parameters(self)
        limits = options["price_limits"]
        X, y, signs, weights = self._read_rows(X, y, sample_weight, query_id)
        fitted, responses, pools = self._pooled_trees(X, y, signs, weights, limits)
        copies = np.ones(len(signs)) if weights is None else weights
        omega = copies * np.where(signs > 0, options["positive_weight"], 1.0)
        n_threads = resolve_n_threads(self.n_threads)
        prices = self._price_list(responses.meter)
        problem = SoftLikelihood(
            tree_outputs(responses.forest, responses.meter._check_X(X), n_threads),
            pools,
            signs,
            omega / omega.sum(),
            copies / copies.sum(),
            pool_prices(responses.forest, pools, len(limits), prices, options["tree_cost"]),
            options["tradeoff"],
            options["ridge"],
        )
        if not np.isfinite(options["tradeoff"] * problem.prices.sum()):
            raise ValueError("tradeoff times all prices is not a finite number.")
        most = options["max_evaluations"]
        ends = {"maxfun": most, "maxiter": most, "ftol": 1e-12, "gtol": 1e-8}
        start = np.zeros(len(limits) + len(pools))
        with threadpool_limits(1, user_api="blas"):  # else results depend on the threads
            found = minimize(problem, start, jac=True, method="L-BFGS-B", options=ends)
        self.objective_, self.n_evaluations_ = float(found.fun), int(found.nfev)
        self.capped_ = self.n_evaluations_ >= most
        self.estimator_ = fitted
        thresholds = np.full(len(limits) - 1, logit(options["reject_below"]))
        constants, weights = found.x[: len(limits)], found.x[len(limits) :]
        self._take_over(responses, pools, constants.copy(), weights, thresholds)
