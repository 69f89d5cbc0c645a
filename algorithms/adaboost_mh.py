"""AdaBoost.MH with decision stumps, and samplers of features and examples.

C. Dubout, F. Fleuret: Adaptive sampling for large scale boosting. Journal of Machine Learning
Research 15 (2014), pages 1431-1453; R. E. Schapire, Y. Singer: Improved boosting algorithms using
confidence-rated predictions. Machine Learning 37 (1999). The reference is
:mod:`reference.adaboost_mh`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .estimators.fitting import ConstantModelWarning, all_or_nothing, check_sample_weight
from .estimators.parameters import (
    METERED,
    N_THREADS,
    Parameter,
    check_whole_number,
    checked_parameters,
    documented,
    number,
    whole,
)
from .grid import row_weights
from .kernels.decorators import resolve_n_threads, threads
from .metering.stumps import MeteredStumps
from .metrics import labels_of
from .stumps.boosting import Boosted, Stumps, boost, boost_best
from .stumps.files import SavedStumps
from .stumps.pair_weights import PairWeights, add_scores
from .stumps.samplers import new_samplers
from .stumps.sampling import Problem
from .stumps.search import DefaultCodes, code_above
from .trees.binning import MAX_BINS, bin_edges

_KINDS = [np.float64, np.uint8]  # what features are kept as; all else becomes the first


def check_families(families, n_features: int) -> list[np.ndarray]:
    """Validate a partition of the features.

    Parameters
    ----------
    families : list of array-like of int, or None
        Columns of each family; None: all are one family.
    n_features : int

    Returns
    -------
    list of ndarray of int64
        Ascending columns of each family.

    Raises
    ------
    ValueError
        If a family has no columns, or a column is missing, unknown or in two families.
    """
    if families is None:
        return [np.arange(n_features)]
    if not isinstance(families, list | tuple | np.ndarray):
        raise ValueError(f"families must be a list of lists of column numbers, got {families!r}.")
    checked = []
    for k, family in enumerate(families):
        try:
            columns = np.asarray(family)
        except ValueError:  # a list of lists of different lengths
            columns = np.empty((0, 0))
        if columns.ndim != 1 or (columns.size and columns.dtype.kind not in "iu"):
            raise ValueError(f"families: family {k} must be a list of column numbers.")
        if not columns.size:
            raise ValueError(f"families: family {k} has no columns.")
        if columns.min() < 0 or columns.max() >= n_features:
            raise ValueError(
                f"families: family {k} has a column that X lacks (0 to {n_features - 1})."
            )
        checked.append(np.sort(columns).astype(np.int64))
    counts = np.bincount(np.concatenate([*checked, np.zeros(0, int)]), minlength=n_features)
    if np.any(counts != 1):
        column = int(np.argmax(counts != 1))
        raise ValueError(
            "families must hold every column of X exactly once; column "
            f"{column} is in {counts[column]} of them."
        )
    return checked


class _Columns:
    """The training features as 8-bit columns, and the thresholds between their codes."""

    def __init__(self, X: np.ndarray, sample_weight: np.ndarray | None) -> None:
        self._edges = None
        if X.dtype == np.uint8:  # no copy if X is in Fortran order, so it may be a file
            codes = np.ascontiguousarray(X.T)
        else:
            codes = np.empty(X.shape[::-1], dtype=np.uint8)
            counts = row_weights(sample_weight, len(X)).counts
            self._edges = [bin_edges(X[:, m].copy(), counts, MAX_BINS) for m in range(X.shape[1])]
            for m, edges in enumerate(self._edges):
                codes[m] = np.searchsorted(edges, X[:, m], side="left")
        self.codes = codes.view()
        self.codes.flags.writeable = False
        self.defaults = DefaultCodes(self.codes)

    def threshold(self, feature: int, cut: int) -> float:
        """Halfway between the values that the cut separates."""
        if self._edges is not None:
            return float(self._edges[feature][cut])
        return 0.5 * (cut + float(code_above(self.codes[feature], cut)))


_PARAMETERS = {
    "n_estimators": whole(
        "int",
        "Rounds T; one stump each. A perfect stump does not end the training, nor does a round "
        "without any edge (whose α is 0).",
        0,
    ),
    "sampler": Parameter(
        "str, object, or list of them",
        '"all_features", "best_family", "uniform_naive", "uniform_1q", "uniform_q1", "ucb", '
        '"exp3p", "epsilon_greedy", "tasting_1q", "tasting_q1", "mas_naive", "mas_1q", "mas_q1", '
        '"laminating", or a :class:`algorithms.stumps.sampling.Sampler`; of an object a copy is '
        "used. With a list the model is trained with each, and the one with the smallest final "
        'training loss is kept: that is how the paper tunes the bandits, and "best_family" is '
        "the list of all families.",
    ),
    "max_cost": number(
        "float",
        "What a round may cost, as the paper counts, in passes of one feature over all training "
        'rows: so many features (at least one) for those that use all rows. "all_features" does '
        "not heed it, nor does Laminating if given both its sizes; and however little it is, each "
        "method looks at one feature and one row at least, M.A.S. 1.Q and Q.1 at one feature of "
        "each family.",
        positive=True,
    ),
    "families": Parameter(
        "list of array-like of int, or None",
        "Disjoint subsets of the columns, all of them together; None: one family.",
    ),
    "feature_costs": METERED["feature_costs"],
    "split_cost": Parameter("float", "Cost of evaluating one stump, for the cost meter."),
    "feature_groups": METERED["feature_groups"],
    "group_costs": METERED["group_costs"],
    "random_state": Parameter(
        "int, RandomState or None", "Seed of the one `numpy.random.Generator` of a fit."
    ),
    "n_threads": N_THREADS,
}
_ATTRIBUTES = {
    "stumps_": Parameter("Stumps", "All stumps as arrays, in the order they were added."),
    "n_estimators_": Parameter("int", "Number of stumps."),
    "train_loss_, log_train_loss_": Parameter(
        "ndarray of shape (n_estimators_,)",
        "Mean of exp(-y f) over all pairs of a training row and a label, after each round, rows "
        "weighted; and its natural logarithm, exact where the loss is too small for a float64.",
    ),
    "sampling_cost_": Parameter(
        "ndarray of shape (n_estimators_, 2), int64",
        "Evaluations of a feature on a row in each round: as the paper counts, and all. The second "
        "counts every training of a list.",
    ),
    "family_rows_": Parameter(
        "ndarray of shape (n_estimators_, n_families), int64",
        "Training rows that asked for any feature of a family for the first time in that round: "
        "what is to be computed, if what was computed is kept.",
    ),
    "best_sampler_": Parameter(
        "int",
        'Place of the sampler kept, which is the number of the family with "best_family"; only of '
        "a list.",
    ),
    "classes_": Parameter("ndarray of shape (n_classes,)", "Class labels, ascending."),
    "n_features_in_": Parameter("int", "Number of columns."),
    "feature_names_in_": Parameter(
        "ndarray of str", "Names of the columns, if `fit` was given a table with names."
    ),
}


@documented
class AdaBoostMH(MeteredStumps, SavedStumps, ClassifierMixin, BaseEstimator):
    """AdaBoost.MH with decision stumps that vote -1 or 1 for each label.

    Features of dtype uint8 are used as they are, with a threshold at every midpoint between two
    values present. All others are converted to float64 and binned, at most 255 bins a feature
    (:func:`algorithms.trees.binning.bin_edges`); for training they are kept as one byte a value.

    More than two classes have one label each; two classes share one label. Scores are no
    log-odds, so there are no class probabilities.

    :meth:`save` writes a sampler of this package as its name and parameters. Of one of your own it
    writes nothing, and says so: the loaded model predicts, but cannot be fitted until it is given
    a sampler.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from algorithms.adaboost_mh import AdaBoostMH
    >>> X = np.array([[0, 9], [1, 9], [2, 8], [3, 9]], dtype=np.uint8)
    >>> model = AdaBoostMH(n_estimators=1).fit(X, ["a", "a", "b", "b"])
    >>> model.predict(X).tolist(), model.stumps_.threshold.tolist()
    (['a', 'a', 'b', 'b'], [1.5])
    """

    _parameters = _PARAMETERS
    _attributes = _ATTRIBUTES

    def __init__(
        self,
        *,
        n_estimators=100,
        sampler="all_features",
        max_cost=10,
        families=None,
        feature_costs=None,
        split_cost=0.0,
        feature_groups=None,
        group_costs=None,
        random_state=None,
        n_threads=None,
    ):
        self.n_estimators = n_estimators
        self.sampler = sampler
        self.max_cost = max_cost
        self.families = families
        self.feature_costs = feature_costs
        self.split_cost = split_cost
        self.feature_groups = feature_groups
        self.group_costs = group_costs
        self.random_state = random_state
        self.n_threads = n_threads

    # --- fitting ------------------------------------------------------------------------------

    @all_or_nothing
    def fit(self, X, y, *, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            uint8, or numbers to be binned; missing and infinite values are refused. uint8 in
            Fortran order is not copied.
        y : array-like of shape (n_samples,)
            Class labels. One class only: the model is constant, and says so.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights >= 0. A weight of 3 equals three copies of the row, except that what is
            counted in rows, `max_cost` and the sizes of a sampler's samples, counts it once. Rows
            of weight 0 are left out: their classes and values are not known to the model, nor
            counted. Samplers that draw rows by boosting weight draw by these weights too.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an input or a parameter does not fit. Whatever stops a fit, an earlier one is then
            still there, whole.
        """
        checked = checked_parameters(self)
        n_estimators, n_threads = checked["n_estimators"], checked["n_threads"]
        X, y = validate_data(self, X, y, dtype=_KINDS)
        check_classification_targets(y)
        sample_weight, kept = check_sample_weight(sample_weight, len(X))
        if kept is not None:
            X, y, sample_weight = X.T[:, kept].T, y[kept], sample_weight[kept]
        families = check_families(self.families, X.shape[1])
        samplers = new_samplers(self.sampler, len(families))
        self._grid_prices(None, None, 0)  # a wrong price must not first show when predicting
        seed = self._seed()
        targets = self._encode_targets(y)
        if len(self.classes_) == 1:
            n_estimators = 0

        def new_problem():
            return Problem(
                columns=columns.codes,
                defaults=columns.defaults,
                families=families,
                max_cost=checked["max_cost"],
                n_rounds=n_estimators,
                weights=PairWeights(targets, sample_weight),
                rng=np.random.default_rng(seed),
                n_threads=n_threads,
            )

        with threads(n_threads, X.size):
            columns = _Columns(X, sample_weight)
            options = (n_estimators, columns.threshold)
            if isinstance(samplers, list):
                fitted, self.best_sampler_ = boost_best(new_problem, samplers, *options)
            else:
                fitted = boost(new_problem(), samplers, *options)
        self._set_fitted(fitted)
        return self

    def _seed(self) -> int:
        """Number from `random_state`: every training of a list starts a generator from it."""
        seed = self.random_state
        if isinstance(seed, Integral) and not isinstance(seed, bool):
            return check_whole_number("random_state", seed, 0)
        return check_random_state(seed).randint(2**31 - 1)

    def _encode_targets(self, y) -> np.ndarray:
        """Labels -1 or 1, (n_samples, n_labels) int8; one label for two classes."""
        self.classes_, y = np.unique(y, return_inverse=True)
        K = len(self.classes_)
        if K == 1:
            warnings.warn(
                f"y is constant ({self.classes_.tolist()[0]!r}): the model predicts it for every "
                "row.",
                ConstantModelWarning,
                stacklevel=4,
            )
        numbers = np.arange(K) if K > 2 else np.array([K - 1])
        return np.where(y[:, None] == numbers, 1, -1).astype(np.int8)

    def _check_all_parameters(self) -> None:
        """Check all parameters but the random state, for a model that `fit` did not make."""
        checked_parameters(self)
        families = check_families(self.families, self.n_features_in_)
        new_samplers(self.sampler, len(families))

    def _set_fitted(self, fitted: Boosted) -> None:
        self.stumps_: Stumps = fitted.stumps
        self.n_estimators_ = len(fitted.stumps.alpha)
        self.log_train_loss_ = fitted.log_loss
        self.train_loss_ = np.exp(fitted.log_loss)
        self.sampling_cost_ = fitted.cost
        self.family_rows_ = fitted.family_rows

    # --- prediction ---------------------------------------------------------------------------

    def _check_X(self, X) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=_KINDS, reset=False)

    def _staged_scores(self, X, step: int) -> Iterator[np.ndarray]:
        """Scores (n_samples, n_labels) after every `step` rounds; the same array each time."""
        stumps = self.stumps_
        used = np.unique(stumps.feature[stumps.feature >= 0])
        place = np.where(stumps.feature >= 0, np.searchsorted(used, stumps.feature), -1)
        values = np.array(X[:, used], order="C")
        steps = stumps.alpha[:, None] * stumps.votes
        scores = np.zeros((len(X), steps.shape[1]))
        for first in range(0, self.n_estimators_, step):
            last = min(first + step, self.n_estimators_)
            with threads(resolve_n_threads(self.n_threads), len(X) * (last - first)):
                add_scores(values, place, stumps.threshold, steps, first, last, scores)
            yield scores

    def _raw_scores(self, X) -> np.ndarray:
        if self.n_estimators_ == 0:
            return np.zeros((len(X), self.stumps_.votes.shape[1]))
        return next(self._staged_scores(X, self.n_estimators_))

    def _labels(self, scores: np.ndarray) -> np.ndarray:
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(scores))
        return self.classes_[labels_of(scores)]

    def decision_function(self, X) -> np.ndarray:
        """Scores f.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes), float64
            Score of the second class, or one for each of three classes or more.
        """
        scores = self._raw_scores(self._check_X(X))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """Scores with the first 1, 2, … rounds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_classes), float64
            As :meth:`decision_function`. A model of one class has no rounds: nothing is yielded.
        """
        for scores in self._staged_scores(self._check_X(X), 1):
            yield scores[:, 0].copy() if scores.shape[1] == 1 else scores.copy()

    def predict(self, X) -> np.ndarray:
        """Predict classes; equal scores go to the first class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), of the dtype of `classes_`
        """
        return self._labels(self._raw_scores(self._check_X(X)))

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Predict classes with the first 1, 2, … rounds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        ndarray of shape (n_samples,), of the dtype of `classes_`
            As :meth:`predict`. A model of one class has no rounds: nothing is yielded.
        """
        for scores in self._staged_scores(self._check_X(X), 1):
            yield self._labels(scores)
