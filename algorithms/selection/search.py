"""The best model within a budget, in scikit-learn's manner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import check_is_fitted

from ..estimators.parameters import check_whole_number, keep
from ..estimators.scoring import check_scored
from .scoring import (
    check_budget,
    check_metered,
    cost_scorer,
    is_within,
    last_step,
    prediction_cost,
    with_last_step,
)

if TYPE_CHECKING:
    from ..validation.types import Scoring


def in_order(score: ArrayLike, cost: ArrayLike, budget: float) -> np.ndarray:
    """Number models, the best first: within the budget by score, equal scores by cost.

    Those beyond the budget come last, and with them those without a score (NaN).
    """
    score, cost = np.asarray(score, dtype=np.float64), np.asarray(cost, dtype=np.float64)
    none = np.isnan(score) | ~is_within(cost, budget)
    return np.lexsort((cost, -np.where(np.isnan(score), -np.inf, score), none))


def best_within(score: ArrayLike, cost: ArrayLike, budget: float) -> int:
    """Choose the best score among models whose cost is within the budget.

    Of equal scores the cheaper one, then the first; a model without a score (NaN) never. -1 where
    none is within the budget, see :func:`algorithms.selection.scoring.is_within`.
    """
    score, cost = np.asarray(score, dtype=np.float64), np.asarray(cost, dtype=np.float64)
    if not np.any(is_within(cost, budget) & ~np.isnan(score)):
        return -1
    return int(in_order(score, cost, budget)[0])


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
    scoring : str, callable, list, dict or None, default=None
        As scikit-learn's, larger is better; None: the estimator's own ``score``.
    n_jobs : int or None, default=None
        Fits at a time.
    refit : bool or str, default=True
        Whether the chosen parameters are fitted on all rows, as `best_estimator_`. Its own mean
        cost is no longer that of the folds, and may be a little above the budget. With several
        scores the name of the one to choose by.
    cv : int, splitter, iterable or None, default=None
        Folds, as scikit-learn's; splitters by group get the ``groups`` given to :meth:`fit`.
    verbose : int, default=0
    pre_dispatch : int or str, default="2*n_jobs"
    random_state : int, RandomState or None, default=None
        Of the draws.
    error_score : "raise" or float, default=nan
        Score of a candidate whose fit fails; with NaN it is never chosen.
    return_train_score : bool, default=False
        Whether scores and costs of the training rows are measured, too.

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
        ``split…_test_score``, ``mean_test_score``, ``std_test_score``, the same of ``cost`` (with
        several scores of their names), ``within_budget``, ``rank_test_score`` (1 is the one chosen;
        those beyond the budget come last), and scikit-learn's times.
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
        scoring: Scoring | Sequence[str] | Mapping[str, Any] = None,
        n_jobs: int | None = None,
        refit: bool | str = True,
        cv: Any | None = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: int | None = None,
        error_score: float | Literal["raise"] = np.nan,
        return_train_score: bool = False,
    ) -> None:
        keep(self, locals())

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, **params: object) -> Self:
        """Search, and train the chosen model on all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            With missing values (NaN) if the estimator takes them, as the boosted trees do.
        y : array-like of shape (n_samples,)
        **params
            As for scikit-learn's searches: ``groups`` for the splitter; what else the estimator's
            ``fit`` takes, such as ``sample_weight``; with metadata routing what each asks for.
            Costs are weighted as the score is that is chosen by.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the budget is below the cheapest candidate, which the message names; if a parameter
            or an input does not fit; if every fit fails; if a mask hides targets or weights.
        TypeError
            If the estimator has no ``prediction_cost``.
        """
        budget = check_budget("budget", self.budget)
        check_metered(self.estimator)
        check_scored(y, params.get("sample_weight"))
        rounds, (scorers, chosen_by) = self._checked_rounds(), self._checked_scorers()
        measures = [(name, scorer, False) for name, scorer in scorers.items()]
        measures.append(("cost", scorers[chosen_by], True))

        def choose(results: dict) -> int:
            """Give the results rows of rounds, and what the budget makes of them; the best."""
            _by_rounds(results, rounds, _rounds_name(self.estimator))
            _without_cost_of_failures(results, chosen_by, self.error_score)
            score, cost = results[f"mean_test_{chosen_by}"], results["mean_test_cost"]
            best = best_within(score, cost, budget)
            if best < 0:
                raise ValueError(_nothing_within(results["params"], score, cost, budget))
            results["within_budget"] = is_within(cost, budget)
            ranks = np.argsort(in_order(score, cost, budget)).astype(np.int32) + 1
            results[f"rank_test_{chosen_by}"] = ranks
            return best

        search = self._search(
            scoring={
                _name(name, r): _Measure(scorer, r, of_cost)
                for r in rounds or [None]
                for name, scorer, of_cost in measures
            },
            refit=choose if self.refit else False,
        ).fit(X, y, **params)
        if not self.refit:
            search.best_index_ = choose(search.cv_results_)
            search.best_params_ = search.cv_results_["params"][search.best_index_]
        vars(self).update({name: v for name, v in vars(search).items() if name.endswith("_")})
        self.best_score_ = float(self.cv_results_[f"mean_test_{chosen_by}"][self.best_index_])
        self.best_cost_ = float(self.cv_results_["mean_test_cost"][self.best_index_])
        self.multimetric_ = isinstance(self.refit, str)
        self.scorer_ = scorers if self.multimetric_ else scorers["score"]
        return self

    def _search(self, **options):
        """Scikit-learn's search over the same candidates, which fits, measures and refits them."""
        own = ("n_jobs", "cv", "verbose", "pre_dispatch", "error_score", "return_train_score")
        options |= {name: getattr(self, name) for name in own}
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

    def _checked_scorers(self) -> tuple[dict, str]:
        """The scorers by their names, and which of them to choose by."""
        named, several = self.scoring, isinstance(self.scoring, Mapping | list | tuple | set)
        if not isinstance(named, Mapping):
            named = {name: name for name in named} if several else {"score": named}
        if not (self.refit in named if several else isinstance(self.refit, bool)):
            raise ValueError(
                "refit must be True or False, or with several scores the name of the one to "
                f"choose by, {' or '.join(map(repr, named))}; got {self.refit!r}."
            )
        if "cost" in named:
            raise ValueError("The cost is measured anyway: call no score 'cost'.")
        scorers = {name: check_scoring(self.estimator, one) for name, one in named.items()}
        return scorers, self.refit if several else "score"

    def score(self, X: ArrayLike, y: ArrayLike | None = None, **params: Any) -> float:
        """Score the chosen model as scikit-learn does; refuse what a mask hides (ValueError)."""
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


class _Measure:
    """A scorer, or the cost in the weights that it gets, of a model after all or some rounds."""

    def __init__(self, scorer, rounds: int | None, of_cost: bool) -> None:
        self.scorer, self.rounds, self.of_cost = scorer, rounds, of_cost

    def __repr__(self) -> str:
        return repr(self.scorer)

    def __call__(self, estimator, X, *y, **params) -> float:
        if self.rounds is not None:
            estimator = with_last_step(estimator, self._cut)
        if self.of_cost:
            return -cost_scorer(estimator, X, sample_weight=params.get("sample_weight"))
        return self.scorer(estimator, X, *y, **params)

    def _cut(self, trees):
        return trees.first_rounds(min(self.rounds, trees.n_estimators_))

    def get_metadata_routing(self):
        return get_routing_for_object(self.scorer)

    def _accept_sample_weight(self) -> bool:  # scikit-learn asks where it does not route
        says = getattr(self.scorer, "_accept_sample_weight", None)
        return says() if callable(says) else "sample_weight" in signature(self.scorer).parameters


def _name(what: str, rounds: int | None) -> str:
    return what if rounds is None else f"{what}@{rounds}"


def _rounds_name(estimator) -> str:
    """Name of the parameter that is the number of rounds, from the outside of pipelines."""
    if isinstance(estimator, Pipeline):
        return f"{estimator.steps[-1][0]}__{_rounds_name(estimator[-1])}"
    return "n_estimators"


def _by_rounds(results: dict, rounds: list[int] | None, name: str) -> None:
    """Give the results a row for each candidate and number of rounds, in this order; no ranks."""
    measured = {key: value for key, value in results.items() if not key.startswith("rank_")}
    results.clear()
    if rounds is None:
        results.update(measured)
        return
    for key, value in measured.items():
        if "@" not in key:
            results[key] = np.repeat(value, len(rounds)) if hasattr(value, "shape") else value
    results["params"] = [{**params, name: r} for params in measured["params"] for r in rounds]
    results[f"param_{name}"] = np.ma.MaskedArray(np.tile(rounds, len(measured["params"])))
    suffix = f"@{rounds[0]}"
    for key in [key.removesuffix(suffix) for key in measured if key.endswith(suffix)]:
        results[key] = np.stack([measured[f"{key}@{r}"] for r in rounds], axis=1).ravel()


def _without_cost_of_failures(results: dict, chosen_by: str, error_score: object) -> None:
    """Forget the cost of a candidate whose fit fails: scikit-learn writes the error score there."""
    for key in [key for key in results if key.startswith("split") and key.endswith("_test_cost")]:
        score = results[f"{key.removesuffix('cost')}{chosen_by}"]
        failed = (results[key] == error_score) & (score == error_score)
        for name in (key, "mean_test_cost", "std_test_cost"):
            results[name][failed] = np.nan


def _nothing_within(candidates: list[dict], score, cost, budget: float) -> str:
    cost = np.where(np.isnan(score) | np.isnan(cost), np.inf, cost)
    cheapest = int(np.argmin(cost))
    if np.isinf(cost[cheapest]):
        return (
            "No candidate has a score: in some fold each is missing (NaN). See the warnings of the "
            "fits; where there are none, scoring gives no number on these folds."
        )
    return (
        f"budget={budget:g} is below the cheapest candidate, {candidates[cheapest]}, whose "
        f"mean prediction cost is {cost[cheapest]:.6g}: raise the budget, or search parameters "
        "that cost less (a larger tradeoff, fewer rounds)."
    )
