"""AdaBoost.MH with decision stumps or Hamming trees, and samplers of features and examples.

C. Dubout, F. Fleuret: Adaptive sampling for large scale boosting. Journal of Machine Learning
Research 15 (2014), pages 1431-1453; R. E. Schapire, Y. Singer: Improved boosting algorithms using
confidence-rated predictions. Machine Learning 37 (1999). The reference is
:mod:`reference.adaboost_mh`, that of trees :mod:`reference.hamming_trees`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from .cost_meter.stumps import MeteredStumps
from .costs import check_split_cost, price_list
from .estimators.fitting import (
    ConstantModelWarning,
    all_or_nothing,
    check_sample_weight,
    of_dask,
    weights_by_class,
)
from .estimators.parameters import (
    CLASS_WEIGHT,
    METERED,
    MOST_ROUNDS,
    N_JOBS,
    N_THREADS,
    Parameter,
    check_number,
    check_rounds,
    check_seed,
    check_seed_or_state,
    checked_parameters,
    choice,
    documented,
    keep,
    number,
    shown,
    whole,
)
from .estimators.scoring import ScoredInFull
from .estimators.threads import threads_elsewhere, threads_of
from .estimators.validation import keep_column_numbers, validate_data
from .feature_sampling import check_trees_can_grow, new_samplers
from .kernels.decorators import threads
from .metrics import labels_of
from .stumps.boosting import Boosted, Callback, StumpLearner, Stumps, boost, boost_best, watching
from .stumps.columns import Columns, check_families
from .stumps.files import SavedStumps
from .stumps.hamming_trees import HammingTrees, TreeLearner
from .stumps.pair_weights import PairWeights, targets_of
from .stumps.sampling import Problem, Sampler
from .validation.prices import column_labels
from .validation.types import ClassWeight, FeatureCosts, FeatureGroups, GroupCosts, Seed

_KINDS = [np.float64, np.uint8]  # what features are kept as; all else becomes the first
_MOST_SMOOTHING = 1e100  # α is then 0 in any float64


def _check_smoothing(name: str, value) -> float:
    number = check_number(name, value)
    if number > _MOST_SMOOTHING:
        raise ValueError(f"{name} must be at most {_MOST_SMOOTHING:g}, got {shown(value)}.")
    return number


_PARAMETERS = {
    "n_estimators": whole(
        "int",
        "Rounds T; one stump or tree each. A perfect one does not end the training, nor does a "
        "round without any edge (whose α is 0).",
        0,
        most=MOST_ROUNDS,
    ),
    "weak_learner": choice(
        "Stumps, or trees of them, grown best first, whose leaves vote as the stump above them "
        "does on that side: see :mod:`reference.hamming_trees`. All stumps of a tree are sought "
        "among the features that the sampler proposes for its round. Samplers that seek the one "
        "feature of a stump, M.A.S. and Laminating, are refused with trees.",
        "stump",
        "hamming_tree",
    ),
    "n_leaves": whole(
        "int", "Leaves of a tree at most; stumps do not heed it. Two are a stump.", 2
    ),
    "initial_weights": choice(
        "What an example's labels weigh before the first round: all the same, or, as in "
        "MultiBoost, its own as much as all others together. Two classes are one label, with "
        "which nothing changes.",
        "uniform",
        "balanced",
    ),
    "smoothing": Parameter(
        "float",
        "s of α = ½ log((ε₊ + s/N) / (ε₋ + s/N)), ε₊ and ε₋ being the shares of weight that a "
        "weak learner has right and wrong, and N the number of rows, or of the copies that whole "
        "weights stand for (of other weights their sum in units of the largest). MultiBoost's is "
        "0.01.",
        _check_smoothing,
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
    "split_cost": Parameter(
        "float", "Cost of evaluating one stump, also inside a tree, for the cost meter."
    ),
    "feature_groups": METERED["feature_groups"],
    "group_costs": METERED["group_costs"],
    "random_state": Parameter(
        "int, RandomState or None",
        "Seed of the one `numpy.random.Generator` of a fit.",
        check_seed_or_state,
    ),
    "class_weight": CLASS_WEIGHT._replace(
        text=f"{CLASS_WEIGHT.text} A fit to rows of Dask refuses it."
    ),
    "n_threads": N_THREADS,
    "n_jobs": N_JOBS,
    "verbose": whole(
        "int", "Print a line after every so many rounds, with the training loss. 0: none.", 0
    ),
}
_ATTRIBUTES = {
    "stumps_": Parameter("Stumps", "All stumps as arrays, in the order they were added."),
    "trees_": Parameter("HammingTrees", "All trees as arrays; in the place of `stumps_`."),
    "n_estimators_": Parameter("int", "Number of stumps or trees."),
    "train_loss_, log_train_loss_": Parameter(
        "ndarray of shape (n_estimators_,)",
        "Mean of exp(-y f) over all pairs of a training row and a label, after each round, "
        "weighted as they are initially; and its natural logarithm, exact where the loss is too "
        "small for a float64.",
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


class _Training(NamedTuple):
    """What a training begins with, wherever its rows are."""

    families: list[np.ndarray]
    samplers: Sampler | list[Sampler]
    seed: int


@documented
class AdaBoostMH(MeteredStumps, SavedStumps, ScoredInFull, ClassifierMixin, BaseEstimator):
    """AdaBoost.MH with decision stumps, or trees of them, that vote -1 or 1 for each label.

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
    _trains_on_dask = True

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        weak_learner: Literal["stump", "tree"] = "stump",
        n_leaves: int = 8,
        initial_weights: Literal["uniform", "balanced"] = "uniform",
        smoothing: float = 0.0,
        sampler: str | object | list | None = "all_features",
        max_cost: float | None = 10,
        families: Sequence[ArrayLike] | None = None,
        feature_costs: FeatureCosts = None,
        split_cost: float | None = 0.0,
        feature_groups: FeatureGroups = None,
        group_costs: GroupCosts = None,
        random_state: Seed = None,
        class_weight: ClassWeight = None,
        n_threads: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    # --- fitting ------------------------------------------------------------------------------

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        callbacks: Sequence[Callback] | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like, Dask array or Dask frame of shape (n_samples, n_features)
            uint8, or numbers to be binned; missing and infinite values are refused. uint8 in
            Fortran order is not copied. The rows of a Dask collection stay with the workers of
            this process's Dask client; the model is the same, bit for bit
            (:mod:`algorithms.distributed`).
        y : array-like of shape (n_samples,)
            Class labels. One class only: the model is constant, and says so.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights >= 0. A weight of 3 equals three copies of the row, except that what is
            counted in rows, `max_cost` and the sizes of a sampler's samples, counts it once. Rows
            of weight 0 are left out: their classes and values are not known to the model, nor
            counted. Samplers that draw rows by boosting weight draw by these weights too.
        callbacks : list of callable, optional
            Each is called after every round with a :class:`algorithms.stumps.boosting.Round`
            (number, training loss); one that returns True makes the round the last. Neither they
            nor `verbose` are for a list of samplers, which trains several models, nor for Dask.

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
        self._check_watched(X, callbacks)
        checked["callbacks"] = watching(callbacks, checked["verbose"])
        train = self._trained_by_workers if of_dask(X) else self._trained_here
        fitted = train(X, y, sample_weight, checked)
        if len(self.classes_) == 1:
            warnings.warn(
                f"y is constant ({self.classes_.tolist()[0]!r}): the model predicts it for every "
                "row.",
                ConstantModelWarning,
                stacklevel=3,
            )
        self._set_fitted(fitted)
        return self

    def _check_watched(self, X, callbacks) -> None:
        """Refuse what cannot be watched, or weighed by class."""
        if (callbacks or self.verbose) and (isinstance(self.sampler, list) or of_dask(X)):
            raise ValueError(
                "callbacks and verbose are for one training in this process: neither for a list of "
                "samplers nor for Dask arrays."
            )
        if self.class_weight is not None and of_dask(X):
            raise ValueError(
                "class_weight is not read with Dask arrays: give the rows sample_weight instead."
            )

    def _trained_here(self, X, y, sample_weight, checked: dict) -> Boosted:
        """Train on rows in this process."""
        X, y = validate_data(self, X, y, dtype=_KINDS)
        check_classification_targets(y)
        sample_weight, kept = check_sample_weight(sample_weight, len(X))
        if kept is not None:
            X, y, sample_weight = X.T[:, kept].T, y[kept], sample_weight[kept]
        training = self._training(X.shape[1], checked)
        self.classes_, y = np.unique(y, return_inverse=True)
        sample_weight = weights_by_class(self.class_weight, self.classes_, y, sample_weight)
        targets = targets_of(y, len(self.classes_))

        def new_problem(**options):
            weights = PairWeights(targets, sample_weight, checked["initial_weights"])
            return Problem(columns.codes, columns.defaults, weights=weights, **options)

        with threads(checked["n_threads"], X.size):
            columns = Columns(X, sample_weight)
            return self._boost(new_problem, columns.threshold, training, checked)

    def _trained_by_workers(self, X, y, sample_weight, checked: dict) -> Boosted:
        """Train on rows that the workers of a Dask cluster hold."""
        from .distributed.stump_training import PairsOfAll, ProblemOfAll
        from .distributed.stump_workers import PairRows  # Dask is no dependency of this package
        from .distributed.training import as_dask_arrays, dask_column_names
        from .distributed.workers import rows_on_workers

        if (names := dask_column_names(X)) is not None:
            self.feature_names_in_ = names
        keep_column_numbers(self, X)
        X, y, weights = as_dask_arrays(X, y, sample_weight)
        with rows_on_workers(PairRows, X, y, weights, True, threads_elsewhere(self)) as asked:
            pairs = PairsOfAll(*asked)
            self.n_features_in_, self.classes_ = X.shape[1], pairs.targets
            training = self._training(X.shape[1], checked)
            pairs.begin(X.shape[1], training.families, checked["initial_weights"])
            new_problem = partial(ProblemOfAll, pairs)
            return self._boost(new_problem, pairs.threshold, training, checked)

    def _training(self, n_features: int, checked: dict) -> _Training:
        """Check what depends on the number of columns."""
        families = check_families(self.families, n_features)
        samplers = self._new_samplers(len(families))
        # A wrong price must not first show when predicting.
        price_list(
            self.feature_costs,
            self.feature_groups,
            self.group_costs,
            n_features,
            column_labels(self),
        )
        check_split_cost(self.split_cost)
        return _Training(families, samplers, self._seed())

    def _boost(self, new_problem, threshold_of, training: _Training, checked: dict) -> Boosted:
        """Boost with the sampler, or with each of a list."""
        n_rounds = checked["n_estimators"] if len(self.classes_) > 1 else 0
        learner = StumpLearner(threshold_of)
        if checked["weak_learner"] == "hamming_tree":
            learner = TreeLearner(threshold_of, checked["n_leaves"])

        def fresh():
            return new_problem(
                families=training.families,
                max_cost=checked["max_cost"],
                n_rounds=n_rounds,
                rng=np.random.default_rng(training.seed),
                n_threads=checked["n_threads"],
            )

        options = n_rounds, learner, checked["smoothing"]
        if not isinstance(training.samplers, list):
            return boost(fresh(), training.samplers, *options, checked["callbacks"])
        fitted, self.best_sampler_ = boost_best(fresh, training.samplers, *options)
        return fitted

    def _seed(self) -> int:
        """Number from `random_state`: every training of a list starts a generator from it."""
        return check_seed("random_state", self.random_state)

    def _new_samplers(self, n_families: int):
        """Samplers of a training; a ValueError if they do not fit the weak learner."""
        samplers = new_samplers(self.sampler, n_families)
        if self.weak_learner == "hamming_tree":
            check_trees_can_grow(samplers)
        return samplers

    def _check_all_parameters(self) -> None:
        """Check all parameters but the random state, for a model that `fit` did not make."""
        checked_parameters(self)
        n_families = 1  # of all columns, however many a file says there are
        if self.families is not None:
            n_families = len(check_families(self.families, self.n_features_in_))
        self._new_samplers(n_families)

    def _set_fitted(self, fitted: Boosted) -> None:
        if isinstance(fitted.learners, Stumps):
            self.stumps_: Stumps = fitted.learners
        else:
            self.trees_: HammingTrees = fitted.learners
        self.n_estimators_ = len(fitted.learners.alpha)
        self.log_train_loss_ = fitted.log_loss
        self.train_loss_ = np.exp(fitted.log_loss)
        self.sampling_cost_ = fitted.cost
        self.family_rows_ = fitted.family_rows

    # --- prediction ---------------------------------------------------------------------------

    def _check_X(self, X) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=_KINDS, reset=False)

    @property
    def _learners(self) -> Stumps | HammingTrees:
        """What was boosted."""
        return self.trees_ if hasattr(self, "trees_") else self.stumps_

    def _staged_scores(self, X, rounds) -> Iterator[np.ndarray]:
        """Scores (n_samples, n_labels) after some rounds, or each; the same array each time."""
        if rounds is None:
            rounds = range(1, self.n_estimators_ + 1)
        else:
            rounds = check_rounds(rounds, self.n_estimators_)
        return self._learners.staged_scores(X, rounds, threads_of(self))

    def _raw_scores(self, X) -> np.ndarray:
        if self.n_estimators_ == 0:
            return np.zeros((len(X), self._learners.votes.shape[1]))
        return next(self._staged_scores(X, [self.n_estimators_]))

    def _labels(self, scores: np.ndarray) -> np.ndarray:
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(scores))
        return self.classes_[labels_of(scores)]

    def decision_function(self, X: ArrayLike) -> np.ndarray:
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

    def staged_decision_function(
        self, X: ArrayLike, *, rounds: Iterable[int] | None = None
    ) -> Iterator[np.ndarray]:
        """Scores with the first 1, 2, … rounds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        rounds : iterable of int, optional
            Only after these, ascending: some of many rounds take a fraction of the time of each.

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_classes), float64
            As :meth:`decision_function`. A model of one class has no rounds: nothing is yielded.

        Raises
        ------
        ValueError
            If the model does not have these rounds, or they do not ascend.
        """
        for scores in self._staged_scores(self._check_X(X), rounds):
            yield scores[:, 0].copy() if scores.shape[1] == 1 else scores.copy()

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict classes; equal scores go to the first class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), of the dtype of `classes_`
        """
        return self._labels(self._raw_scores(self._check_X(X)))

    def staged_predict(
        self, X: ArrayLike, *, rounds: Iterable[int] | None = None
    ) -> Iterator[np.ndarray]:
        """Predict classes with the first 1, 2, … rounds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        rounds : iterable of int, optional
            As of :meth:`staged_decision_function`.

        Yields
        ------
        ndarray of shape (n_samples,), of the dtype of `classes_`
            As :meth:`predict`. A model of one class has no rounds: nothing is yielded.
        """
        for scores in self._staged_scores(self._check_X(X), rounds):
            yield self._labels(scores)
