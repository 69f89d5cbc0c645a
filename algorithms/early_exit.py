"""Early exits: rows leave an additive model before all of its trees are evaluated.

B. B. Cambazoglu, H. Zaragoza, O. Chapelle, J. Chen, C. Liao, Z. Zheng and J. Degenhardt: Early
exit optimizations for additive machine learned ranking systems. Proceedings of the third ACM
International Conference on Web Search and Data Mining (2010), pages 411-420. The rules are as Xu,
Weinberger and Chapelle (The Greedy Miser, 2012, section 6) describe them. The reference is
:mod:`reference.early_exit`.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from . import costs
from .cost_meter.meter import from_bits, warn_if_free
from .estimators.fitting import check_queries
from .estimators.parameters import (
    Parameter,
    check_number,
    checked_parameters,
    choice,
    documented,
    whole,
)
from .exits.exit_rules import (
    RANKING_RULES,
    RULES,
    StagedExits,
    check_threshold,
    documents_stay,
    exit_rounds,
    ranks_by_exit,
)
from .exits.files import SavedWithModel
from .exits.fitted_trees import FittedTrees, fitted_trees_of
from .exits.hard_cascade import Stages, stages_of, walk
from .forest_costs import staged_bill
from .kernels.decorators import resolve_n_threads, threads
from .metrics import query_starts
from .validation.prices import column_labels
from .validation.types import AcquiredFeatures, FeatureCosts


class Exits(NamedTuple):
    """How each row left."""

    exit: np.ndarray  # (n_samples,) int64: exit 1 … E, or E + 1 for rows that never left
    rounds: np.ndarray  # (n_samples,) int64: rounds evaluated
    scores: np.ndarray  # (n_samples, n_columns) float64: raw scores after them


class _Read(NamedTuple):
    """A model as it was read, and what it was read of."""

    model: object
    trees: object
    every: int
    responses: FittedTrees
    stages: Stages
    n_exits: int


_PARAMETERS = {
    "model": Parameter(
        "fitted model",
        "Boosted trees of this package, a :class:`algorithms.interop.MeteredForest`, or a "
        "boosted forest of LightGBM, XGBoost, CatBoost or scikit-learn. To give the latter prices, "
        "read them with :mod:`algorithms.interop`.",
    ),
    "threshold": Parameter(
        "float",
        "s: a margin, score, share, rank or likelihood, by the rule; in the unit of the "
        "scores, or without.",
    ),
    "rule": choice("Who leaves.", *RULES),
    "every": whole("int", "Rounds between exits.", 1),
    "place": whole("int", "The place that proximity looks at.", 1),
}
_ATTRIBUTES = {
    "responses_": Parameter(
        "FittedTrees", "The model, see :class:`algorithms.exits.fitted_trees.FittedTrees`."
    ),
    "n_exits_": Parameter("int", "Number E of exits."),
    "n_features_in_": Parameter("int", "Number of columns, the model's."),
    "feature_names_in_": Parameter("ndarray of str", "Names of the columns, if the model has any."),
    "classes_": Parameter("ndarray of shape (n_classes,)", "Class labels, of a classifier."),
}


@documented
class EarlyExit(StagedExits, SavedWithModel, BaseEstimator):
    """A fitted additive model that rows leave early; they pay, and compute, until their exit.

    There is an exit after every `every` rounds, E in all. At each, among the documents of a query
    that remain,

    * ``"proximity"``: those leave whose score is more than (E - i)/(E - 1) s below that of the
      fifth best (`place`), at exit i; fewer than five documents all stay;
    * ``"score"``: those with a score below s leave;
    * ``"capacity"``: the best share s of them stays (rounded up);
    * ``"rank"``: those beyond rank s leave;
    * ``"likelihood"`` (classifiers): rows leave whose largest class likelihood is above s.

    Who leaves later ranks higher, whatever the scores. Equal scores have equal fates. `query_id`
    says which rows are documents of the same query; without it all rows are one. Classes are
    decided row by row.

    The model is taken as it is when :meth:`fit` is called, or at the first prediction. Boosted
    trees of this package that are fitted again are noticed; after any other change of a model
    call :meth:`fit`.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from algorithms.early_exit import EarlyExit
    >>> from algorithms.gbrt import GBRTRegressor
    >>> X = np.arange(100.0)[:, None]
    >>> model = GBRTRegressor(n_estimators=40).fit(X, X[:, 0])
    >>> early = EarlyExit(model, rule="capacity", threshold=0.5)
    >>> np.bincount(early.exit_stage(X)).tolist()
    [0, 50, 25, 5, 0, 20]
    """

    _parameters = _PARAMETERS
    _attributes = _ATTRIBUTES

    def __init__(
        self,
        model: object,
        *,
        threshold: float,
        rule: Literal["proximity", "score", "capacity", "rank", "likelihood"] = "proximity",
        every: int = 10,
        place: int = 5,
    ) -> None:
        self.model = model
        self.threshold = threshold
        self.rule = rule
        self.every = every
        self.place = place

    # --- reading the model ----------------------------------------------------------------------

    def fit(self, X: object = None, y: object = None) -> Self:
        """Read the model anew; nothing is learned.

        Parameters
        ----------
        X, y : ignored

        Returns
        -------
        self
        """
        self._read = None
        self._checked()
        return self

    def _check_restored(self) -> None:
        self._checked()

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the model is."""
        if callable(is_fitted := getattr(self.model, "is_fitted", None)):  # CatBoost's
            return bool(is_fitted())
        try:
            check_is_fitted(self.model)
        except NotFittedError:
            return False
        except TypeError:  # no estimator: a forest, or a booster, which is never without its trees
            return True
        return True

    def __sklearn_clone__(self):
        """Return a copy around the same fitted model, to search for a threshold.

        scikit-learn's ``clone`` would take the model's training from it.
        """
        return type(self)(**self.get_params(deep=False))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier" if self.rule == "likelihood" else "regressor"
        return tags

    def _current(self) -> _Read:
        """Return the model as it was read; read it if that has not been done."""
        every = checked_parameters(self)["every"]
        read, trees = getattr(self, "_read", None), getattr(self.model, "trees_", None)
        if (
            read is None
            or read.model is not self.model
            or read.trees is not trees
            or read.every != every
        ):
            responses = fitted_trees_of(self.model)
            stops = exit_rounds(responses.n_rounds, every)
            stages = stages_of(responses, stops)
            read = _Read(self.model, trees, every, responses, stages, len(stops))
            self._read = read
        return read

    @property
    def responses_(self) -> FittedTrees:
        """The model as cascades see it."""
        return self._current().responses

    @property
    def n_exits_(self) -> int:
        """Number of exits."""
        return self._current().n_exits

    @property
    def classes_(self) -> np.ndarray:
        """Class labels, of a classifier."""
        responses = self._responses_or_none_such()
        if responses.link is None:
            raise AttributeError(f"{responses.name} is no classifier and has no classes_.")
        return responses.link.classes

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the model."""
        return self._responses_or_none_such().meter.n_features_in_

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the model's columns, if it was told any."""
        responses = self._responses_or_none_such()
        names = getattr(responses.meter, "feature_names_in_", None)
        if names is None:
            raise AttributeError(f"{responses.name} was trained without names of columns.")
        return names

    def _responses_or_none_such(self) -> FittedTrees:
        """FittedTrees, for what scikit-learn asks by ``hasattr``: there an error is a no."""
        try:
            return self.responses_
        except ValueError as error:
            raise AttributeError(str(error)) from error

    def _checked(self) -> tuple[_Read, float]:
        """Check the parameters against each other and the model; give the latter and s."""
        read = self._current()
        s = check_threshold(self.rule, self.threshold)
        responses = read.responses
        name, link = responses.name, responses.link
        if self.rule == "likelihood":
            if link is None:
                raise ValueError(
                    f"rule='likelihood' is for classifiers, and {name} predicts numbers: use one "
                    f"of {', '.join(map(repr, RANKING_RULES))}."
                )
            if link.likelihood is None:
                raise ValueError(
                    f"rule='likelihood' needs class likelihoods, but the scores of {name} are no "
                    "log-odds."
                )
        elif link is not None:
            raise ValueError(
                f"rule={self.rule!r} ranks documents by a predicted number, and {name} is a "
                "classifier: use rule='likelihood'."
            )
        elif responses.n_columns > 1:
            raise ValueError(
                f"rule={self.rule!r} needs one score for each row; {name} has "
                f"{responses.n_columns}."
            )
        return read, s

    # --- leaving ----------------------------------------------------------------------------------

    def exits(self, X: ArrayLike, query_id: ArrayLike | None = None) -> Exits:
        """Walk the rows through the model until each leaves.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        query_id : array-like of shape (n_samples,), optional
            Query of each row, in blocks. Without it all rows are one query.

        Returns
        -------
        Exits

        Raises
        ------
        ValueError
            If a parameter does not fit the model, an input does not fit, or a query's rows are not
            one block.
        """
        return self._exits(*self._rows(X, query_id))

    def _rows(self, X, query_id) -> tuple[np.ndarray, np.ndarray]:
        """Rows as the model compares them, and the first row of each query."""
        read, _ = self._checked()
        X = read.responses.meter._check_X(X)
        if np.isnan(X).any():
            raise ValueError(
                "X contains NaN: EarlyExit does not support missing values, though its model may. "
                "Fill them in before the model is trained, or predict with the model itself."
            )
        query_id = check_queries(query_id, len(X), "query_id")
        starts = np.zeros(1, dtype=np.int64) if query_id is None else query_starts(query_id)
        return X, starts

    def _exits(self, X: np.ndarray, starts: np.ndarray) -> Exits:
        read, s = self._checked()
        by_query = None if self.rule in ("likelihood", "score") else starts
        n_threads = resolve_n_threads(read.responses.meter.n_threads)

        def stays(i, scores, query):
            with threads(n_threads, scores.size):
                if self.rule == "likelihood":
                    return read.responses.largest_likelihood(scores) <= s
                return documents_stay(self.rule, s, i + 1, read.n_exits, self.place, scores, query)

        left = walk(read.stages, read.n_exits, X, by_query, stays)
        stops = [*read.stages.stops[: read.n_exits], read.responses.n_rounds]
        return Exits(left.stage + 1, np.array(stops, dtype=np.int64)[left.stage], left.scores)

    def exit_stage(self, X: ArrayLike, query_id: ArrayLike | None = None) -> np.ndarray:
        """Exit at which each row leaves.

        Parameters
        ----------
        X, query_id
            As in :meth:`exits`.

        Returns
        -------
        ndarray of shape (n_samples,), int64
            1 … E, or E + 1 for rows that pass the whole model.
        """
        return self.exits(X, query_id).exit

    def decision_function(self, X: ArrayLike, query_id: ArrayLike | None = None) -> np.ndarray:
        """Raw scores at the exit.

        Parameters
        ----------
        X, query_id
            As in :meth:`exits`.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) if there are several, float64
        """
        scores = self.exits(X, query_id).scores
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: ArrayLike, query_id: ArrayLike | None = None) -> np.ndarray:
        """Predict by the scores at the exit: classes of a classifier, else numbers as the model.

        To rank, take :meth:`ranking_score`: scores at different exits do not compare.

        Parameters
        ----------
        X, query_id
            As in :meth:`exits`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._predicted(self.exits(X, query_id).scores)

    def _predicted(self, scores: np.ndarray) -> np.ndarray:
        """What scores (n_samples, n_columns) predict."""
        responses = self.responses_
        return responses.numbers(scores) if responses.link is None else responses.labels(scores)

    def ranking_score(self, X: ArrayLike, query_id: ArrayLike | None = None) -> np.ndarray:
        """Number of documents of the same query that rank lower.

        They left earlier, or at the same exit with lower scores.

        Parameters
        ----------
        X, query_id
            As in :meth:`exits`.

        Returns
        -------
        ndarray of shape (n_samples,), float64
            To be given to a ranking metric in the place of scores.

        Raises
        ------
        ValueError
            Of a classifier, and as :meth:`exits`.
        """
        X, starts = self._rows(X, query_id)
        if self.rule == "likelihood":
            raise ValueError("rule='likelihood' classifies and does not rank.")
        exits = self._exits(X, starts)
        return ranks_by_exit(exits.exit, exits.scores[:, 0], starts)

    # --- paying -------------------------------------------------------------------------------

    def evaluations(self, X: ArrayLike, query_id: ArrayLike | None = None) -> np.ndarray:
        """Split nodes that each row passes until its exit.

        Parameters
        ----------
        X, query_id
            As in :meth:`exits`.

        Returns
        -------
        ndarray of shape (n_samples,), int64
        """
        X, starts = self._rows(X, query_id)
        nothing = costs.free_of_charge(X.shape[1])
        return self.responses_.charge(X, nothing, self._exits(X, starts).rounds)[2]

    def acquired_features(
        self, X: ArrayLike, query_id: ArrayLike | None = None
    ) -> AcquiredFeatures:
        """Features that each row's paths ask for until its exit.

        Parameters
        ----------
        X, query_id
            As in :meth:`exits`.

        Returns
        -------
        ndarray of bool, or CSR matrix if there are more than 256 features, \
of shape (n_samples, n_features)
        """
        X, starts = self._rows(X, query_id)
        nothing = costs.free_of_charge(X.shape[1])
        used, _, _ = self.responses_.charge(X, nothing, self._exits(X, starts).rounds)
        return from_bits(used, X.shape[1])

    def prediction_cost(
        self,
        X: ArrayLike,
        query_id: ArrayLike | None = None,
        *,
        feature_costs: FeatureCosts = None,
        split_cost: float | None = None,
        tree_cost: float = 0.0,
    ) -> np.ndarray:
        """Cost of predicting each row: what its paths ask for until its exit.

        Parameters
        ----------
        X, query_id
            As in :meth:`exits`.
        feature_costs, split_cost : optional
            Charge these prices instead of the model's own. A dict or a Series is matched by the
            names of the columns.
        tree_cost : float
            e, the price of each tree evaluated that has a split, beside the meter's.

        Returns
        -------
        ndarray of shape (n_samples,), float64
            In the unit of the prices. Never above the cost of the whole model.
        """
        tree_cost = check_number("tree_cost", tree_cost)
        responses = self.responses_
        prices = responses.meter._grid_prices(feature_costs, split_cost)
        X, starts = self._rows(X, query_id)
        if tree_cost == 0:
            warn_if_free(responses.meter, feature_costs, split_cost)
        rounds = self._exits(X, starts).rounds
        _, paid, _ = responses.charge(X, prices, rounds)
        n_trees = responses.meter.trees_.n_split_trees(responses.n_columns)
        return prices.cost(paid) + tree_cost * n_trees[rounds]

    def forest_cost_until_exit(
        self,
        X: ArrayLike,
        query_id: ArrayLike | None = None,
        *,
        feature_costs: FeatureCosts = None,
        tree_cost: float = 1.0,
    ) -> np.ndarray:
        """Cost by the bill of the papers on test-time budgets: all features of the trees evaluated.

        Each row pays for every feature that any tree tests before its exit, on its paths or not,
        and e for each of these trees.

        Parameters
        ----------
        X, query_id
            As in :meth:`exits`.
        feature_costs : optional
            Charge these prices instead of the model's own.
        tree_cost : float
            e, the price of a tree that has a split.

        Returns
        -------
        ndarray of shape (n_samples,), float64
            In the unit of the prices.
        """
        tree_cost = check_number("tree_cost", tree_cost)
        responses = self.responses_
        meter = responses.meter
        prices = costs.price_list(
            meter._in_its_spelling(meter.feature_costs if feature_costs is None else feature_costs),
            meter.feature_groups,
            meter.group_costs,
            meter.n_features_in_,
            column_labels(meter),
        )
        rounds = self.exits(X, query_id).rounds
        bills = [0.0, *staged_bill(meter.trees_, responses.n_columns, prices, tree_cost)]
        return np.array(bills)[rounds]
