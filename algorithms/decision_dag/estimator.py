"""What the estimators of decision DAGs share: learning a policy, walking by it, and paying.

Their parameters and attributes come first, for the tables of the estimators.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np
from numba.core.registry import CPUDispatcher
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from .. import costs
from ..estimators.fitting import ConstantModelWarning, check_sample_weight
from ..estimators.parameters import (
    LARGEST_FACTOR,
    Parameter,
    check_factor,
    check_number,
    check_seed,
    check_seed_or_state,
    check_whole_number,
    choice,
    number,
    shown,
    whole,
)
from ..estimators.threads import threads_of
from ..estimators.validation import validate_data
from ..exits.fitted_trees import FittedTrees
from ..exits.prices import PRICED, PRICED_CLASSES, PRICES, PricedTrees, check_tree_cost
from ..validation.prices import column_labels
from .base_classifiers import base_classifiers, by_leaf, leaf_codes, leaves_of, nothing, one_each
from .descent import descend
from .episodes import BadReward, Learned, Learning, Objective, learn
from .rewards import (
    EVAL,
    GAUSSIAN_CELLS,
    LARGEST_LOSS,
    Cells,
    Environment,
    bins_for,
    loss_exponent,
    losses,
)
from .saved import SavedDAG
from .walk import DecisionDAG, Graph, graph_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


# --- parameters and attributes -----------------------------------------------------------------


def _check_reward(name: str, value):
    """Give a reward: one of two words, or a compiled function; refuse anything else."""
    if isinstance(value, CPUDispatcher) or (isinstance(value, str) and value in _REWARDS):
        return value
    raise ValueError(
        f"{name} must be {' or '.join(map(repr, _REWARDS))}, or a function compiled with numba, "
        f"got {shown(value)}."
    )


def _check_share(name: str, value) -> float:
    """Give a share as a float; refuse what is not in [0, 1]."""
    share = check_number(name, value)
    if share > 1:
        raise ValueError(f"{name} must be from 0 to 1, got {shown(value)}.")
    return share


def _check_bins(name: str, value):
    """Give a number of bins, or the word for the rule; refuse anything else."""
    if isinstance(value, str) and value == "auto":
        return value
    if isinstance(value, str):
        raise ValueError(f'{name} must be "auto" or a whole number, got {shown(value)}.')
    return check_whole_number(name, value, 1, most=_MOST_BINS)


_REWARDS = ("zero_one", "exponential")
_MOST_BINS = 2**16
_LARGEST_WEIGHT = 100.0  # it takes bits from the grid of losses, whose sums have 61
_OWN_FUNCTION = (
    "or a function (scores, y) -> loss compiled with numba, whose values are numbers of at "
    f"most {LARGEST_LOSS:g} in size"
)
PARAMETERS = {
    "estimator": Parameter(
        "estimator or None",
        "The additive model whose rounds are the base classifiers. Boosted trees and stumps of "
        "this package are cloned and fitted, regressors on -1 and +1 if there are two classes; "
        "what is in a FrozenEstimator, a MeteredForest, and models of LightGBM, CatBoost and "
        "scikit-learn are taken as fitted. None: AdaBoostMH with the paper's 1,000 rounds.",
    ),
    "beta": number(
        "float",
        "Price of evaluating a base classifier, in units of the loss.",
        most=LARGEST_FACTOR,
    ),
    "reward": Parameter(
        '{"zero_one", "exponential"} or compiled function',
        "What a row that quits loses: 1 if its class does not have the largest score alone, the "
        f"exponential loss of its scores, {_OWN_FUNCTION}; y is the number of its class, and two "
        "classes have one score.",
        _check_reward,
    ),
    "value_function": choice(
        "What of the scores is a part of the state: uniform bins of the only score, or the winning "
        'class and uniform bins of its margin. "auto": bins of one score, margins of several. Or '
        "values are sums of Gaussians of the only score, whose centres grow; policies are then "
        "tables of 1,001 cells.",
        "auto",
        "bins",
        "margin",
        "gaussians",
    ),
    "n_bins": Parameter(
        'int or "auto"',
        'Bins of a score, or of a margin. "auto": the largest odd number up to N + 1 for N base '
        "classifiers, from 101 to 1,001, so that a bin is no wider than two mean votes.",
        _check_bins,
    ),
    "negative_weight": number(
        "float",
        "By which the losses of the first of two classes, the negative one, are multiplied in the "
        "policy's training: in the objective, not in what evaluations cost.",
        positive=True,
        most=_LARGEST_WEIGHT,
    ),
    "solver": choice(
        "SARSA(lambda), or exact coordinate descent on Eq. (8), which is ours.", "sarsa", "descent"
    ),
    "n_episodes": whole("int", "Training episodes of SARSA.", 1),
    "score_every": whole(
        "int", "Episodes after which the policy is scored; the best one is kept.", 1
    ),
    "learning_rate": number("float", "Learning rate of SARSA.", positive=True, most=LARGEST_FACTOR),
    "rate_schedule": choice(
        "Whether the learning rate stays, or is divided by the number of the next scoring.",
        "constant",
        "decreasing",
    ),
    "trace_decay": Parameter("float", "lambda of SARSA(lambda).", _check_share),
    "exploration": Parameter(
        "float",
        "Probability of a random action until the first scoring; then divided by the number of the "
        "next one.",
        _check_share,
    ),
    "update": choice('SARSA(lambda), or with "q" Watkins\'s Q(lambda).', "sarsa", "q"),
    "select": choice(
        "The best policy is that of the least Eq. (8), or that of the fewest errors.",
        "objective",
        "accuracy",
    ),
    "normalisation": choice(
        "Scores are divided by what all base classifiers can answer, or by what those evaluated "
        "can.",
        "final",
        "running",
    ),
    "start": choice(
        "What descent starts from: the policy that evaluates all, or that of SARSA.",
        "eval",
        "sarsa",
    ),
    **PRICED_CLASSES,
    "tree_cost": Parameter(
        "float", "Price of evaluating a base classifier, beside its features.", check_tree_cost
    ),
    "random_state": Parameter(
        "int, RandomState or None",
        "Seed of the episodes. The estimator has its own.",
        check_seed_or_state,
    ),
}
PARAMETERS["feature_costs"] = PRICED["feature_costs"]._replace(
    text=PRICED["feature_costs"].text + " If this or another price is given here, beta multiplies "
    "all prices, `tree_cost` among them; else each evaluation costs beta."
)
ATTRIBUTES = {
    "estimator_": Parameter("estimator", "The fitted additive model."),
    "n_base_": Parameter("int", "Number N of base classifiers."),
    "objective_": Parameter("float", "Eq. (8) on the training rows."),
    "history_": Parameter(
        "ndarray of float64",
        "Eq. (8) of the policy at each scoring, or before and after each sweep of the descent.",
    ),
    "policy_": Parameter(
        "ndarray of shape (n_base, n_cells), int8",
        "Action in each state: 0 evaluates, 1 skips, 2 quits.",
    ),
    "classes_": Parameter("ndarray of shape (n_classes,)", "Class labels, ascending."),
    "n_features_in_": Parameter("int", "Number of columns."),
    "feature_names_in_": Parameter(
        "ndarray of str", "Names of the columns, if `fit` was given a table with names."
    ),
}


# --- what the estimators share -----------------------------------------------------------------

_BILL_BITS = 30  # of the largest bill on the grid of prices
_KINDS = [np.float64, np.uint8]  # what features are read as; all else becomes the first
_MOST_COPIES = 2**30
_COPIES_OF_FRACTIONS = 2**22  # what weights that are no whole numbers are rounded to, in all


def whole_copies(weights: np.ndarray | None, n_samples: int) -> np.ndarray:
    """Row weights as whole numbers of copies, (n_samples,) int64.

    Whole weights are divided by what all of them have in common: the fewer copies, the finer the
    grid of losses. Weights that are no whole numbers, or sum to more than 2**30, are rounded to
    parts of 2**-22 of their sum, and to no less than one.
    """
    if weights is None:
        return np.ones(n_samples, dtype=np.int64)
    if np.all(weights == np.rint(weights)) and weights.max() <= _MOST_COPIES:
        whole = weights.astype(np.int64)
        whole //= np.gcd.reduce(whole)
        if whole.sum() <= _MOST_COPIES:
            return whole
    total = math.fsum(weights)
    parts = np.rint(weights * (_COPIES_OF_FRACTIONS / total))
    return np.maximum(parts, 1.0).astype(np.int64)


class DecisionDAGEstimator(SavedDAG, PricedTrees, BaseEstimator):
    """Base of the decision DAGs; not to be used by itself."""

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_dag_")

    # --- fitting ------------------------------------------------------------------------------

    def _checked_rows(self, X, y, sample_weight):
        """Check a training set; return rows as they were given, without those of weight 0."""
        checked, y = validate_data(self, X, y, dtype=_KINDS)
        weights, kept = check_sample_weight(sample_weight, len(checked))
        if kept is not None:
            rows = np.flatnonzero(kept)
            X, y, weights = _safe_indexing(X, rows), y[kept], weights[kept]
        return X, y, weights

    def _learn(self, responses, X, label, weights, kind: int, custom, options) -> None:
        """Learn the policy of a model's base classifiers."""
        base, priced = base_classifiers(responses), self._priced(responses)
        leaves, copies = leaves_of(base), whole_copies(weights, len(label))
        dag = DecisionDAG(base, self._cells(base), np.zeros((0, 0), dtype=np.int8))
        as_seen = getattr(priced.meter, "_as_seen", None)
        rows = validate_data(self, X, dtype=_KINDS, reset=False)
        codes = leaf_codes(base, leaves, dag.columns(rows, as_seen), threads_of(self))
        weight = float(options["negative_weight"])
        exponent = loss_exponent(kind, int(copies.sum()), weight)
        prices, price_exponent = self._training_prices(base, leaves, priced, options["tree_cost"])
        environment = Environment(
            codes, leaves.values, base.n_parts, dag.cells,
            losses(kind, label, base.unit, exponent, weight), prices,
        )  # fmt: skip
        dearest = math.ldexp(2.0**_BILL_BITS, -price_exponent) if price_exponent else base.n_base
        check_factor("beta", options["beta"], dearest)
        objective = Objective(
            math.ldexp(1.0, -exponent),
            options["beta"] * math.ldexp(1.0, -price_exponent),
            copies,
            int(copies.sum()),
        )
        try:
            learned = self._solve(environment, custom, objective, options)
        except BadReward:
            raise ValueError(
                "reward must give numbers (not NaN) of at most "
                f"{LARGEST_LOSS:g} in size; it gave another value."
            ) from None
        self.objective_, self.history_ = learned.objective, learned.history
        self._set_up(responses, base, learned.policy)

    def _solve(
        self, environment: Environment, custom, objective: Objective, options: dict
    ) -> Learned:
        n_threads = options["n_threads"]
        learned = None
        if options["solver"] == "sarsa" or options["start"] == "sarsa":
            learning = Learning(
                options["n_episodes"],
                options["score_every"],
                options["exploration"],
                options["learning_rate"],
                options["trace_decay"],
                options["rate_schedule"] == "decreasing",
                options["update"] == "q",
                options["select"] == "accuracy",
                options["value_function"] == "gaussians",
            )
            rng = np.random.default_rng(self._seed())
            learned = learn(environment, custom, objective, learning, rng, n_threads)
        if options["solver"] == "sarsa":
            return learned
        shape = (environment.cells.n_base, environment.cells.n_cells)
        start = np.full(shape, EVAL, dtype=np.int8) if learned is None else learned.policy
        return descend(environment, custom, objective, start, n_threads)

    def _be_constant(self, responses: FittedTrees) -> None:
        """Predict the only class for all rows, without any base classifier; say so."""
        warnings.warn(
            f"y is constant ({self.classes_.tolist()[0]!r}): the model predicts it for every row.",
            ConstantModelWarning,
            stacklevel=4,
        )
        self._priced(responses)
        base = nothing(np.zeros(1))
        policy = np.zeros((0, self._cells(base).n_cells), dtype=np.int8)
        self.objective_, self.history_ = 0.0, np.zeros(0)
        self._set_up(responses, base, policy)

    def _seed(self) -> int:
        """Number from `random_state`."""
        return check_seed("random_state", self.random_state)

    def _cells(self, base) -> Cells:
        """How this estimator's states look at the scores."""
        n_columns, wanted = len(base.initial), self.value_function
        if wanted == "margin" and n_columns == 1:
            raise ValueError(
                "value_function='margin' needs three classes or more; one score has bins."
            )
        if wanted in ("bins", "gaussians") and n_columns > 1:
            raise ValueError(
                f"value_function={wanted!r} is for one score, and the model has {n_columns}."
            )
        n_bins = bins_for(len(base.sizes)) if self.n_bins == "auto" else int(self.n_bins)
        n_bins = GAUSSIAN_CELLS if wanted == "gaussians" else n_bins
        running = self.normalisation == "running"
        return Cells(base.initial, base.sizes, n_columns > 1, n_bins, running)

    def _training_prices(self, base, leaves, priced: FittedTrees, tree_cost: float):
        """What training charges: this estimator's own prices if it has any, or 1 for each."""
        if all(getattr(self, name) is None for name in PRICES):
            return one_each(base, leaves), 0
        meter = priced.meter
        per_split = costs.split_prices(
            meter.split_cost, meter.feature_sharing, meter.n_features_in_, column_labels(meter)
        )
        return by_leaf(base, leaves, self._price_list(meter), per_split, tree_cost)

    def _set_up(self, responses: FittedTrees, base, policy: np.ndarray) -> None:
        """Take over a policy."""
        self._dag_ = DecisionDAG(base, self._cells(base), policy)
        self._responses_ = responses
        self.policy_, self.n_base_ = policy, base.n_base

    # --- walking ------------------------------------------------------------------------------

    def _rows(self, X) -> np.ndarray:
        """The columns that are tested, as the trees compare them."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=_KINDS, reset=False)
        return self._dag_.columns(X, getattr(self._responses_.meter, "_as_seen", None))

    def _steps(self, X) -> tuple[np.ndarray, np.ndarray]:
        """Scores in steps, and evaluations."""
        X = self._rows(X)
        return self._dag_.scores(X, threads_of(self))

    def _scores(self, steps: np.ndarray) -> np.ndarray:
        """Scores of whole steps: those before any base classifier are as the model has them."""
        base = self._dag_.base
        return base.initial_scores + (steps - base.initial) * base.unit

    def evaluations(self, X: ArrayLike) -> np.ndarray:
        """Base classifiers that each row evaluates; constant votes look at nothing and are none.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), int64
        """
        return self._steps(X)[1]

    def classification_path(self, X: ArrayLike) -> csr_matrix:
        """Which base classifiers answer for each row, b_j of Eq. (1), constant votes among them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        csr_matrix of shape (n_samples, n_base), bool
        """
        X = self._rows(X)
        return self._dag_.paths(X, threads_of(self))

    def to_graph(self, X: ArrayLike, groups: ArrayLike | None = None) -> Graph:
        """The decision DAG of some rows: base classifiers, and which follow each other on a path.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The paper takes positive training rows.
        groups : array-like of shape (n_samples,), optional
            Labels of the rows, such as their clusters: shares of nodes and edges are by them.

        Returns
        -------
        Graph

        Raises
        ------
        ValueError
            If there is not one label for each row.
        """
        paths = self.classification_path(X)
        if groups is not None:
            groups = np.asarray(groups)
            if groups.shape != (paths.shape[0],):
                raise ValueError(
                    f"groups must have one label for each of the {paths.shape[0]} rows, got an "
                    f"array of shape {groups.shape}."
                )
        return graph_of(paths, groups)

    # --- paying -------------------------------------------------------------------------------

    def _payer(self, priced: bool):
        responses = self._priced(self._responses_) if priced else self._responses_

        def charge(X, prices, staged: bool):
            return self._dag_.charge(X, prices, threads_of(self), staged=staged)

        return responses.meter, charge
