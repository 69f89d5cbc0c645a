"""The best model within a budget, in scikit-learn's manner."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from inspect import signature
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..estimators.parameters import check_whole_number
from ..estimators.scoring import check_scored
from .scoring import (
    check_budget,
    check_metered,
    check_missing,
    cost_scorer,
    is_within,
    last_step,
    prediction_cost,
    takes_missing,
)

if TYPE_CHECKING:
    from ..inputs.types import Scoring


def best_within(score: ArrayLike, cost: ArrayLike, budget: float) -> int:
    """Choose the best score among models whose cost is within the budget.

    Parameters
    ----------
    score, cost : array-like of shape (n_models,)
        On validation data; a model without a score (NaN) is never chosen.
    budget : float
        Largest cost allowed, see :func:`algorithms.selection.scoring.is_within`.

    Returns
    -------
    int
        Which; of equal scores the cheaper one, then the first. -1 where none is within the budget.
    """
    score, cost = np.asarray(score, dtype=np.float64), np.asarray(cost, dtype=np.float64)
    allowed = np.flatnonzero(is_within(cost, budget) & ~np.isnan(score))
    if not len(allowed):
        return -1
    return int(allowed[np.lexsort((cost[allowed], -score[allowed]))[0]])


class BudgetSearchCV(RandomizedSearchCV):
    """Search for the parameters of the best model within a budget.

    Every candidate is trained and measured by cross-validation: its score, and the cost of its
    predictions by its own ``prediction_cost``. Chosen is the best mean validation score among
    the candidates whose mean validation cost is at most `budget`; of equal scores the cheaper one.

    Parameters
    ----------
    estimator : estimator with ``prediction_cost``, or a Pipeline that ends with one
        Prices are parameters of it. Steps before it are free.
    param_distributions : dict or list of dict
        As for scikit-learn's ``RandomizedSearchCV``: lists, or distributions with ``rvs``.
    budget : float
        Largest mean cost of a prediction, in the unit of the prices; infinite: the best score.
    n_iter : int or None, default=None
        Candidates to draw. None: all combinations, which must be lists.
    rounds : sequence of int or None, default=None
        Numbers of rounds at which each candidate of boosted trees is measured besides, as if they
        stood under ``n_estimators``, for the price of one fit each: a candidate is trained once,
        with its own ``n_estimators``, and cut by ``first_rounds``. Numbers that it does not reach
        count as all of its rounds.
    scoring : str, callable or None, default=None
        One score, larger is better; None: the estimator's own ``score``.
    n_jobs : int or None, default=None
        Fits at a time.
    refit : bool, default=True
        Whether the chosen parameters are fitted on all rows, as `best_estimator_`. Its own mean
        cost is no longer that of the folds, and may be a little above the budget.
    cv : int, splitter, iterable or None, default=None
        Folds, as scikit-learn's; splitters by group get the ``groups`` given to :meth:`fit`.
    verbose : int, default=0
    pre_dispatch : int or str, default="2*n_jobs"
    random_state : int, RandomState or None, default=None
        Of the draws.
    error_score : "raise" or float, default=nan
        Score of a candidate whose fit fails; with NaN it is never chosen.

    Attributes
    ----------
    best_params_ : dict
    best_index_ : int
        Row of `cv_results_`.
    best_score_, best_cost_ : float
        Its mean validation score and cost.
    best_estimator_ : estimator
        With `refit`.
    cv_results_ : dict of ndarray
        A row for each candidate (and number of rounds): ``params``, ``param_…``,
        ``split…_test_score``, ``mean_test_score``, ``std_test_score``, the same of ``cost``,
        ``within_budget``, ``rank_test_score`` (1 is the one chosen; those beyond the budget come
        last), and scikit-learn's times.
    n_splits_ : int
    refit_time_ : float
        In seconds.

    Examples
    --------
    Two features that tell the same, but for some rows; the better one costs ten times as much.

    >>> import numpy as np
    >>> from algorithms.cegb import CEGBClassifier
    >>> from algorithms.selection import BudgetSearchCV
    >>> x = np.arange(200.0)[np.random.default_rng(0).permutation(200)]
    >>> X = np.column_stack([x // 25, x])
    >>> model = CEGBClassifier(n_estimators=5, feature_costs=[1.0, 10.0])
    >>> search = BudgetSearchCV(model, {"tradeoff": [1e-3, 1e-2, 1e-1]}, budget=9.0)
    >>> search.fit(X, x >= 110).best_params_, search.best_cost_
    ({'tradeoff': 0.01}, 8.2)
    """

    def __init__(
        self,
        estimator: object,
        param_distributions: Mapping | Sequence[Mapping],
        *,
        budget: float,
        n_iter: int | None = None,
        rounds: Sequence[int] | None = None,
        scoring: Scoring | None = None,
        n_jobs: int | None = None,
        refit: bool = True,
        cv: Any | None = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: int | None = None,
        error_score: float | Literal["raise"] = np.nan,
    ) -> None:
        super().__init__(
            estimator,
            param_distributions,
            n_iter=n_iter,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            random_state=random_state,
            error_score=error_score,
        )
        self.budget = budget
        self.rounds = rounds

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, **params: object) -> Self:
        """Search, and train the chosen model on all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            With missing values (NaN) if the estimator takes them, as the boosted trees do.
        y : array-like of shape (n_samples,)
        **params
            ``groups`` for the splitter; what else the estimator's ``fit`` takes, such as
            ``sample_weight``, cut to the rows of each fold where it has one value a row. Scores
            and costs are weighted, too, where scikit-learn hands weights on to scorers (from 1.8).

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the budget is below the cheapest candidate, which the message names; if a parameter
            or an input does not fit; if values are missing that the estimator does not take; if a
            mask hides targets or weights.
        TypeError
            If the estimator has no ``prediction_cost``.
        """
        budget = check_budget("budget", self.budget)
        check_metered(self.estimator)
        check_missing(self.estimator, X)
        check_scored(y, params.get("sample_weight"))
        rounds = self._checked_rounds()
        scorer = check_scoring(self.estimator, self.scoring)
        search = self._search(_ScoreAndCost(scorer, rounds)).fit(X, y, **params)
        results = _by_rounds(search.cv_results_, rounds, _rounds_name(self.estimator))
        best = best_within(results["mean_test_score"], results["mean_test_cost"], budget)
        if best < 0:
            raise ValueError(_nothing_within(results, budget))
        results["within_budget"] = is_within(results["mean_test_cost"], budget)
        results["rank_test_score"] = _ranks(results)
        self.cv_results_, self.best_index_ = results, best
        self.best_params_ = results["params"][best]
        self.best_score_ = float(results["mean_test_score"][best])
        self.best_cost_ = float(results["mean_test_cost"][best])
        self.scorer_, self.multimetric_, self.n_splits_ = scorer, False, search.n_splits_
        if self.refit:
            self._refit(X, y, {name: v for name, v in params.items() if name != "groups"})
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = takes_missing(self.estimator)
        return tags

    def _search(self, measure):
        """Scikit-learn's search over the same candidates, which fits and measures them."""
        options = {
            "scoring": measure,
            "refit": False,
            **{n: getattr(self, n) for n in ("n_jobs", "cv", "verbose", "pre_dispatch")},
            "error_score": self.error_score,
        }
        if self.n_iter is None:
            return GridSearchCV(self.estimator, self.param_distributions, **options)
        options |= {"n_iter": self.n_iter, "random_state": self.random_state}
        return RandomizedSearchCV(self.estimator, self.param_distributions, **options)

    def _checked_rounds(self) -> list[int] | None:
        if self.rounds is None:
            return None
        if isinstance(self.rounds, Integral | str) or not len(self.rounds):
            raise ValueError(f"rounds must be None or a list of numbers, got {self.rounds!r}.")
        if not hasattr(last_step(self.estimator), "first_rounds"):
            raise ValueError(
                f"rounds needs boosted trees of this package (first_rounds), and "
                f"{type(last_step(self.estimator)).__name__} has none: leave it out."
            )
        return sorted({check_whole_number("rounds", r, 1) for r in self.rounds})

    def _refit(self, X, y, params) -> None:
        chosen = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
        start = time.time()
        self.best_estimator_ = chosen.fit(X, y, **params)
        self.refit_time_ = time.time() - start
        if hasattr(chosen, "feature_names_in_"):
            self.feature_names_in_ = chosen.feature_names_in_

    def score(self, X: ArrayLike, y: ArrayLike | None = None, **params: Any) -> float:
        """Score the chosen model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        **params
            What scikit-learn hands on to the scorer.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If an input does not fit; if a mask hides targets or weights.
        """
        check_scored(y, params.get("sample_weight"))
        return super().score(X, y, **params)

    def prediction_cost(self, X: ArrayLike) -> np.ndarray:
        """Cost of predicting each row with the chosen model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), float64
            In the unit of the prices.
        """
        check_is_fitted(self, "best_estimator_")
        return prediction_cost(self.best_estimator_, X)


class _ScoreAndCost:
    """What scikit-learn's search measures of each fit: score and cost, at each number of rounds."""

    def __init__(self, scorer, rounds: list[int] | None) -> None:
        self.scorer, self.rounds = scorer, rounds

    def __call__(self, estimator, X, y, sample_weight=None) -> dict[str, float]:
        measured, weights = {}, {}
        if sample_weight is not None and _takes_weights(self.scorer):
            weights = {"sample_weight": sample_weight}
        for key in self.rounds or [None]:
            model = estimator if key is None else _cut(estimator, key)
            measured[_name("score", key)] = self.scorer(model, X, y, **weights)
            measured[_name("cost", key)] = -cost_scorer(model, X, y, sample_weight)
        return measured


def _takes_weights(scorer) -> bool:
    """Whether a scorer takes row weights: scikit-learn's say so, a function by its arguments."""
    says = getattr(scorer, "_accept_sample_weight", None)
    return says() if callable(says) else "sample_weight" in signature(scorer).parameters


def _name(what: str, rounds: int | None) -> str:
    return what if rounds is None else f"{what}@{rounds}"


def _cut(estimator, rounds: int):
    """Give the fitted estimator as it was after its first rounds, inside pipelines too."""
    if isinstance(estimator, Pipeline):
        shorter = copy.copy(estimator)
        shorter.steps = [
            *estimator.steps[:-1],
            (estimator.steps[-1][0], _cut(estimator[-1], rounds)),
        ]
        return shorter
    return estimator.first_rounds(min(rounds, estimator.n_estimators_))


def _rounds_name(estimator) -> str:
    """Name of the parameter that is the number of rounds, from the outside of pipelines."""
    if isinstance(estimator, Pipeline):
        return f"{estimator.steps[-1][0]}__{_rounds_name(estimator[-1])}"
    return "n_estimators"


def _by_rounds(measured: dict, rounds: list[int] | None, name: str) -> dict:
    """Give the results a row for each candidate and number of rounds, in this order."""
    if rounds is None:
        return {key: value for key, value in measured.items() if not key.startswith("rank_")}
    repeated = {
        key: np.repeat(value, len(rounds)) if isinstance(value, np.ndarray) else value
        for key, value in measured.items()
        if "@" not in key and not key.startswith("rank_")
    }
    repeated["params"] = [{**params, name: r} for params in measured["params"] for r in rounds]
    n_candidates = len(measured["params"])
    repeated[f"param_{name}"] = np.ma.MaskedArray(np.tile(rounds, n_candidates))
    suffix = f"@{rounds[0]}"
    for key in [key.removesuffix(suffix) for key in measured if key.endswith(suffix)]:
        if not key.startswith("rank_"):
            repeated[key] = np.stack([measured[f"{key}@{r}"] for r in rounds], axis=1).ravel()
    return repeated


def _ranks(results: dict) -> np.ndarray:
    """Rank of each row, int32 from 1: within the budget by score, equal scores by cost."""
    score = np.where(np.isnan(results["mean_test_score"]), -np.inf, results["mean_test_score"])
    beyond = ~results["within_budget"] | np.isinf(score)
    order = np.lexsort((results["mean_test_cost"], -score, beyond))
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks


def _nothing_within(results: dict, budget: float) -> str:
    cost = np.where(np.isnan(results["mean_test_score"]), np.nan, results["mean_test_cost"])
    if np.all(np.isnan(cost)):
        return (
            "No candidate has a score: in some fold each is missing (NaN). See the warnings of the "
            "fits; where there are none, scoring gives no number on these folds."
        )
    cheapest = int(np.nanargmin(cost))
    return (
        f"budget={budget:g} is below the cheapest candidate, {results['params'][cheapest]}, whose "
        f"mean prediction cost is {cost[cheapest]:.6g}: raise the budget, or search parameters "
        "that cost less (a larger tradeoff, fewer rounds)."
    )
