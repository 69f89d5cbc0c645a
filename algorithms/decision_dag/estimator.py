"""What the estimators of decision DAGs share: learning a policy, walking by it, and paying."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from .. import costs
from ..estimators.fitting import ConstantModelWarning, check_sample_weight
from ..estimators.parameters import check_factor, check_seed
from ..estimators.threads import threads_of
from ..estimators.validation import validate_data
from ..exits.parameters import PRICES
from ..exits.priced import PricedTrees
from ..exits.responses import Responses
from ..prices.by_name import column_labels
from .base_classifiers import base_classifiers, by_leaf, leaf_codes, leaves_of, nothing, one_each
from .descent import descend
from .episodes import BadReward, Learned, Learning, Objective, learn
from .rewards import LARGEST_LOSS, Cells, World, loss_exponent, losses
from .saved import SavedDAG
from .values import EVAL, GAUSSIAN_CELLS, bins_for
from .walk import DecisionDAG, Graph, graph_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

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
        world = World(
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
            learned = self._solve(world, custom, objective, options)
        except BadReward:
            raise ValueError(
                "reward must give numbers (not NaN) of at most "
                f"{LARGEST_LOSS:g} in size; it gave another value."
            ) from None
        self.objective_, self.history_ = learned.objective, learned.history
        self._set_up(responses, base, learned.policy)

    def _solve(self, world: World, custom, objective: Objective, options: dict) -> Learned:
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
            learned = learn(world, custom, objective, learning, rng, n_threads)
        if options["solver"] == "sarsa":
            return learned
        shape = (world.cells.n_base, world.cells.n_cells)
        start = np.full(shape, EVAL, dtype=np.int8) if learned is None else learned.policy
        return descend(world, custom, objective, start, n_threads)

    def _be_constant(self, responses: Responses) -> None:
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

    def _training_prices(self, base, leaves, priced: Responses, tree_cost: float):
        """What training charges: this estimator's own prices if it has any, or 1 for each."""
        if all(getattr(self, name) is None for name in PRICES):
            return one_each(base, leaves), 0
        meter = priced.meter
        per_split = costs.split_prices(
            meter.split_cost, meter.feature_sharing, meter.n_features_in_, column_labels(meter)
        )
        return by_leaf(base, leaves, self._price_list(meter), per_split, tree_cost)

    def _set_up(self, responses: Responses, base, policy: np.ndarray) -> None:
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
