"""The Greedy Miser (Xu, Weinberger & Chapelle, ICML 2012).

Stage-wise regression whose trees pay for the features that the model uses first, Eq. (5):

    impurity = 1/2 sum (r_i - h(x_i))^2 + tradeoff * prices of what is used for the first time

and, beside or instead of it, a budget that the bill of the forest may not pass, Eqs. (3)-(4): each
feature once, and a price for each tree. The reference, equation by equation and with the
deviations from the paper, is :mod:`reference.greedy_miser`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Real

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import costs
from .boosted_trees.regressor_and_classifier import BoostedClassifier, BoostedRegressor
from .estimators.files import n_score_columns
from .estimators.parameters import (
    METERED,
    TREES,
    Parameter,
    check_number,
    choice,
    documented,
    keep,
    shown,
)
from .forest_costs import in_steps, staged_bill
from .trees.miser_penalty import MiserPrices
from .validation.prices import column_labels


def _check_budget(name: str, value) -> float | None:
    """Give a budget as a float or None; refuse what is not a number >= 0 (infinity is one)."""
    if value is None:
        return None
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_) or not value >= 0:
        raise ValueError(f"{name} must be None or a number >= 0, got {shown(value)}.")
    return math.inf if value == math.inf else check_number(name, value)


def _check_tree_cost(name: str, value) -> float:
    """Give the price of a tree as a float; refuse what no bill could hold."""
    price = check_number(name, value)
    if price > costs.LARGEST_PRICE:
        raise ValueError(f"{name} must be at most {costs.LARGEST_PRICE:g}, got {shown(value)}.")
    return price


_FIXED = ("max_leaves", "growth", "min_hessian_leaf")
_PARAMETERS = (
    {name: line for name, line in TREES.items() if name not in _FIXED}
    | METERED
    | {
        "tradeoff": Parameter(
            "float",
            "lambda of Eq. (5), with its 1/2: how far the loss, summed over rows, must fall for "
            "each unit of cost. 0 ignores prices, but for the budget. (The authors' program has no "
            "1/2: its lambda is twice this.)",
            check_number,
        ),
        "budget": Parameter(
            "float or None",
            "B of Eq. (4): a split that would raise the bill of the forest above it is not made. "
            "It and the prices are the decimal numbers that they are written as: ten trees of 0.1 "
            "are within 1. None: unlimited.",
            _check_budget,
        ),
        "tree_cost": Parameter(
            "float", "e of Eq. (3): price of evaluating one tree.", _check_tree_cost
        ),
        "init": choice(
            "Start from the best constant, which costs nothing, or from 0 as the paper does.",
            "mean",
            "zero",
        ),
        "charging": choice(
            "When a feature becomes free: where it is first used, and a node is split only if the "
            "impurity falls; or, as in the authors' program, after the round in which it is first "
            "used, and a node is always split.",
            "first_use",
            "authors",
        ),
        "feature_costs": Parameter(
            METERED["feature_costs"].kind,
            "c: price of each feature, in the user's own unit. The model pays it when it uses the "
            "feature for the first time; in the cost meter each row does. None means free. A "
            "dict or a Series is matched by the names of the columns.",
        ),
    }
)


class _GreedyMiser:
    """The model pays for each feature once."""

    _parameters = _PARAMETERS

    def __init__(
        self,
        *,
        n_estimators=100,
        learning_rate=0.1,
        max_depth=4,
        min_samples_leaf=20,
        tradeoff=0.0,
        budget=None,
        tree_cost=1.0,
        charging="first_use",
        split_cost=0.0,
        feature_costs=None,
        feature_groups=None,
        group_costs=None,
        feature_sharing=None,
        max_bins=255,
        categorical_features=None,
        init="mean",
        early_stopping_rounds=None,
        eval_metric="loss",
        class_weight=None,
        objective=None,
        lambdarank_truncation=None,
        subsample=1.0,
        colsample_bytree=1.0,
        reg_lambda=0.0,
        monotonic_cst=None,
        warm_start=False,
        n_threads=None,
        n_jobs=None,
        verbose=0,
        random_state=None,
    ):
        keep(self, locals())

    def _fixed_options(self) -> dict:
        return {
            "max_leaves": None,
            "growth": "breadth_first",
            "min_hessian_leaf": 0.0,
            "second_order": False,
            "stop_on_negative_gain": self.charging == "first_use",
        }

    def _prices(self, n_features: int) -> MiserPrices:
        names = column_labels(self)
        prices = self._price_list(n_features)
        costs.split_prices(self.split_cost, self.feature_sharing, n_features, names)
        tradeoff = check_number("tradeoff", self.tradeoff)
        largest = float(np.max(prices.shared[prices.unit] + prices.own))
        if not math.isfinite(tradeoff * largest):
            raise ValueError(
                f"tradeoff ({tradeoff:g}) times the largest price ({largest:g}) is not a finite "
                "number."
            )
        tree_cost = _check_tree_cost("tree_cost", self.tree_cost)
        budget, max_trees = _check_budget("budget", self.budget), max(1, self.n_estimators)
        return MiserPrices(
            tradeoff=tradeoff,
            unit=prices.unit,
            shared=prices.shared,
            own=prices.own,
            steps=in_steps(prices, tree_cost, budget, max_trees * n_score_columns(self)),
            at_first_use=self.charging == "first_use",
        )

    def _price_list(self, n_features: int, feature_costs=None) -> costs.PriceList:
        """What the model pays once: the estimator's own prices but for those given here."""
        return costs.price_list(
            self.feature_costs if feature_costs is None else feature_costs,
            self.feature_groups,
            self.group_costs,
            n_features,
            column_labels(self),
        )

    def _why_constant(self, row) -> str:
        prices = self._prices(self.n_features_in_)
        if row.sum >= 2 * self.min_samples_leaf and not prices.affords_a_tree():
            return (
                f"budget={self.budget} is less than one tree (tree_cost={self.tree_cost}) and "
                "the cheapest feature cost: the model is constant."
            )
        return super()._why_constant(row)

    # --- the bill of the forest ---------------------------------------------------------------

    def staged_forest_cost(self, *, feature_costs=None, tree_cost=None) -> Iterator[float]:
        """Bill of the forest after 1, 2, … rounds, Eq. (3).

        Every feature that any tree uses is paid once, and e for each tree that has a split. This is
        the paper's cost; what each row pays for its own paths is :meth:`staged_cost`.

        Parameters
        ----------
        feature_costs, tree_cost : optional
            Charge these prices instead of the estimator's own. A dict or a Series is matched by the
            names of the columns.

        Yields
        ------
        float
            In the unit of the prices.
        """
        check_is_fitted(self)
        prices = self._price_list(self.n_features_in_, feature_costs)
        each = _check_tree_cost("tree_cost", self.tree_cost if tree_cost is None else tree_cost)
        yield from staged_bill(self.trees_, len(self.initial_scores_), prices, each)

    def forest_cost(self, *, feature_costs=None, tree_cost=None) -> float:
        """Bill of the whole forest, Eq. (3); see :meth:`staged_forest_cost`.

        Parameters
        ----------
        feature_costs, tree_cost : optional
            Charge these prices instead of the estimator's own. A dict or a Series is matched by the
            names of the columns.

        Returns
        -------
        float
            In the unit of the prices.
        """
        bills = [*self.staged_forest_cost(feature_costs=feature_costs, tree_cost=tree_cost)]
        return bills[-1] if bills else 0.0


@documented
class GreedyMiserRegressor(_GreedyMiser, BoostedRegressor):
    """Greedy Miser: boosted trees that pay for each feature the model uses first.

    Squared loss, or a ranking's pairs (`objective`).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    Two features that tell the same, the second ten times as expensive: only the first is bought.
    The forest costs 1 for it and 1 for each of two trees.

    >>> import numpy as np
    >>> from algorithms.greedy_miser import GreedyMiserRegressor
    >>> x = np.arange(100.0)
    >>> model = GreedyMiserRegressor(n_estimators=2, tradeoff=0.1, feature_costs=[1.0, 10.0])
    >>> model = model.fit(np.column_stack([x, x]), x >= 50)
    >>> model.model_features()
    array([ True, False])
    >>> model.forest_cost(), model.prediction_cost([[3.0, 3.0]])
    (3.0, array([1.]))
    """


@documented
class GreedyMiserClassifier(_GreedyMiser, BoostedClassifier):
    """Greedy Miser: boosted trees that pay for each feature the model uses first.

    Logistic loss for two classes, one tree on the log-odds; multinomial loss, one tree a class and
    round, for more. First-order terms only: all hessians are 1.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    Two features that tell the same, the second ten times as expensive: only the first is bought.
    The forest costs 1 for it and 1 for each of two trees.

    >>> import numpy as np
    >>> from algorithms.greedy_miser import GreedyMiserClassifier
    >>> x = np.arange(100.0)
    >>> model = GreedyMiserClassifier(n_estimators=2, tradeoff=0.1, feature_costs=[1.0, 10.0])
    >>> model = model.fit(np.column_stack([x, x]), x >= 50)
    >>> model.model_features()
    array([ True, False])
    >>> model.forest_cost(), model.prediction_cost([[3.0, 3.0]])
    (3.0, array([1.]))
    """
