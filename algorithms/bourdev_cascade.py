"""The soft cascade of detectors (Bourdev & Brandt, CVPR 2005): a pool in a new order, thresholds.

The algorithm is reconstructed, see :mod:`reference.bourdev_cascade`, which also lists the choices.
"""

from __future__ import annotations

import math
import warnings
from numbers import Real
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_array

from .adaboost_mh import AdaBoostMH
from .estimators.fitting import ConstantModelWarning, all_or_nothing
from .estimators.parameters import (
    Parameter,
    check_rate,
    checked_parameters,
    documented,
    keep,
    shown,
    whole,
)
from .estimators.threads import threads_of
from .exits.classifier import KINDS, CascadeClassifier
from .exits.fitted_trees import FittedTrees, check_classes, fit_trees, fitted_trees_of
from .exits.prices import ESTIMATOR, FINAL_THRESHOLD, PRICED_CLASSES, THRESHOLDS
from .grid import round_to_grid, row_weights
from .kernels.decorators import threads
from .stump_cascades.classifier import CumulativeCascade
from .trees.predictor import leaf_nodes
from .validation.types import ClassWeight, FeatureCosts, FeatureGroups, GroupCosts, Seed

_SLACK = 1e-9  # 1 - 0.9 of ten rows is one row
_BLOCK_ROWS = 4096  # walked down at a time: their values need not all be doubles


def _check_alpha(name: str, value) -> float:
    """Give a finite number of any sign as a float."""
    number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    try:
        number = number and math.isfinite(float(value))
    except OverflowError:  # a whole number beyond any float
        number = False
    if not number:
        raise ValueError(f"{name} must be a finite number, got {shown(value)}.")
    return float(value)


class Calibrated(NamedTuple):
    """A pool in its new order."""

    order: np.ndarray  # (n_stages,) int64
    thresholds: np.ndarray  # (n_stages,) float64
    gaps: np.ndarray  # (n_stages,) float64
    remaining: np.ndarray  # (n_stages, 2) float64


def rejection_vector(n_stages: int, alpha: float) -> np.ndarray:
    """Share of all rejections that each stage may have made, (n_stages,); the last is 1."""
    t = np.arange(1, n_stages + 1)
    until = np.cumsum(np.exp(alpha * (t / n_stages) - max(alpha, 0.0)))
    return until / until[-1]


def _threshold(scores: np.ndarray, counts: np.ndarray, allowed: float) -> float:
    """Largest of some scores below which no more weight than allowed lies."""
    order = np.argsort(scores, kind="stable")
    scores, below = scores[order], np.cumsum(counts[order]) - counts[order]
    below = below[np.searchsorted(scores, scores, side="left")]  # equal ones leave together
    return float(scores[np.flatnonzero(below <= allowed)[-1]])


def calibrate(
    outputs: np.ndarray,
    signs: np.ndarray,
    weights: np.ndarray | None,
    shares: np.ndarray,
    initial_score: float,
) -> Calibrated:
    """Order classifiers by the gap of the class means of the rows that remain.

    Sums of the classes are brought up to date by the rows that leave, each once.
    """
    of_rows = row_weights(weights, len(signs))
    counts = np.ones(len(signs), dtype=np.int64) if of_rows.counts is None else of_rows.counts
    answers, exponent = round_to_grid(outputs, of_rows)
    unit = of_rows.exponent - exponent
    rows = np.flatnonzero(signs > 0), np.flatnonzero(signs <= 0)
    sums = [answers[:, inside].sum(axis=1) for inside in rows]
    left = [int(counts[inside].sum()) for inside in rows]
    allowed = shares * float(left[0]) * (1.0 + _SLACK)
    scores, rejected = [np.full(len(inside), initial_score) for inside in rows], 0
    taken, decided = np.zeros(len(outputs), dtype=bool), []
    for t in range(len(shares)):
        gaps = sums[0] / float(left[0]) - sums[1] / float(left[1])
        gaps[taken] = -np.inf
        best = int(np.argmax(gaps))  # the first of equals
        taken[best] = True
        scores = [s + outputs[best, inside] for s, inside in zip(scores, rows, strict=True)]
        threshold = _threshold(scores[0], counts[rows[0]], allowed[t] - rejected)
        stays, before = [~(s < threshold) for s in scores], left[0]
        for k in (0, 1):
            gone = rows[k][~stays[k]]
            sums[k] = sums[k] - answers[:, gone].sum(axis=1)
            left[k] -= int(counts[gone].sum())
        rows = rows[0][stays[0]], rows[1][stays[1]]
        scores = [scores[0][stays[0]], scores[1][stays[1]]]
        rejected += before - left[0]
        decided.append((best, threshold, math.ldexp(float(gaps[best]), unit), *left))
        if left[1] == 0:
            break
    order, thresholds, of_means, *remaining = zip(*decided, strict=True)
    return Calibrated(
        np.array(order, dtype=np.int64),
        np.array(thresholds),
        np.array(of_means),
        np.ldexp(np.column_stack(remaining).astype(np.float64), -of_rows.exponent),
    )


_PARAMETERS = {
    "estimator": Parameter(
        ESTIMATOR.kind,
        "The pool: base classifiers that add up to one score. AdaBoostMH and boosted trees of this "
        "package are cloned and fitted, regressors on -1 and +1; what is in a FrozenEstimator, a "
        "MeteredForest, and models of LightGBM, CatBoost and scikit-learn are taken as fitted. "
        "None: AdaBoostMH. To set thresholds on other rows than the pool was trained on, give it "
        "in a FrozenEstimator.",
    ),
    "n_stages": whole(
        "int or None",
        "T: base classifiers to take; None: all of the pool. Fewer are taken if all training "
        "negatives are rejected before.",
        1,
        or_none=True,
    ),
    "detection_rate": Parameter(
        "float",
        "D: share of the training positives that the last stage still accepts at least.",
        check_rate,
    ),
    "alpha": Parameter(
        "float",
        "When the others may be rejected: until stage t of T in proportion to the sum of "
        "exp(alpha t / T). Large values reject late.",
        _check_alpha,
    ),
    **PRICED_CLASSES,
}
_ATTRIBUTES = {
    "order_": Parameter("ndarray of shape (n_stages,), int64", "Place in the pool of each stage."),
    "thresholds_": THRESHOLDS,
    "final_threshold_": FINAL_THRESHOLD,
    "initial_score_": Parameter("float", "What the scores start from: the pool's."),
    "gaps_": Parameter(
        "ndarray of shape (n_stages,)", "Gap of the class means that each stage was taken for."
    ),
    "remaining_": Parameter(
        "ndarray of shape (n_stages, 2)",
        "Weight of the training positives and negatives that remain after each stage.",
    ),
    **{
        name: CascadeClassifier._attributes[name]
        for name in ("estimator_", "classes_", "n_features_in_", "feature_names_in_")
    },
}


@documented
class BourdevCascadeClassifier(CascadeClassifier):
    """A pool of boosted classifiers, re-ordered, that rows leave after any of them.

    Each stage is the classifier with the largest gap of class means on the rows that remain, and
    rejects what has a lower sum of scores than the positives that are to be kept.

    The second class is the positive one.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    A file (:meth:`save`) holds the pool and the stages; what else tells of the training is not
    kept. The `estimator` of a loaded cascade is its pool.

    Examples
    --------
    >>> import numpy as np
    >>> from algorithms.bourdev_cascade import BourdevCascadeClassifier
    >>> x = np.arange(100.0)
    >>> X = np.column_stack([x // 10, x])
    >>> model = BourdevCascadeClassifier(n_stages=3, detection_rate=1.0).fit(X, x >= 95)
    >>> model.predict([[1.0, 10.0], [9.0, 99.0]])
    array([False,  True])
    >>> model.evaluations([[1.0, 10.0], [9.0, 99.0]])
    array([1, 1])
    """

    _parameters = _PARAMETERS
    _attributes = _ATTRIBUTES
    _stored_arrays: ClassVar = {
        name: kind
        for name, kind in CascadeClassifier._stored_arrays.items()
        if name not in ("coef", "intercept")
    } | {"order": (np.int64, "stages")}
    _stored_numbers: ClassVar = ("final_threshold", "initial_score")

    def __init__(
        self,
        estimator: object = None,
        *,
        n_stages: int | None = None,
        detection_rate: float = 0.99,
        alpha: float = 0.0,
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

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the pool, unless it is, order it, and set the thresholds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights >= 0. A weight of 3 equals three copies of the row; rows of weight 0 are
            left out.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an input or a parameter does not fit, or the pool has fewer classifiers than stages
            are wanted.
        """
        options = checked_parameters(self)
        X, y, signs, weights = self._read_rows(X, y, sample_weight, None)
        self.estimator_, responses = _pool(self.estimator, X, y, signs, weights)
        check_classes(responses, self.classes_)
        priced = self._priced(responses)
        initial = float(responses.initial_scores[0])
        calibrated = Calibrated(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros((0, 2)))
        if len(self.classes_) == 2:
            n_stages = _number_of_stages(options["n_stages"], responses)
            shares = (1.0 - options["detection_rate"]) * rejection_vector(
                n_stages, options["alpha"]
            )
            outputs = _answers(priced, check_array(X, dtype=KINDS), threads_of(self))
            calibrated = calibrate(outputs, signs, weights, shares, initial)
        self.gaps_, self.remaining_ = calibrated.gaps, calibrated.remaining
        last = calibrated.thresholds[-1] if len(calibrated.order) else 0.0
        self.initial_score_, self.final_threshold_ = initial, float(np.nextafter(last, -np.inf))
        self._set_up(responses, calibrated.order, calibrated.thresholds[:-1])

    def _set_up(self, responses: FittedTrees, order, thresholds) -> None:
        """Take over a cascade; a ValueError says what no fit can have left."""
        self._hard_ = CumulativeCascade(
            responses, order, self.initial_score_, thresholds, self.final_threshold_
        )
        self._responses_ = responses
        self.order_, self.thresholds_ = order, thresholds

    def _stored_stages(self) -> dict[str, np.ndarray]:
        return {"order": self.order_, "thresholds": self.thresholds_}

    def _restore_stages(self, responses: FittedTrees, arrays: dict[str, np.ndarray]) -> None:
        self._set_up(responses, arrays["order"], arrays["thresholds"])


def _pool(estimator, X, y, signs: np.ndarray, weights) -> tuple[object, FittedTrees]:
    """Base classifiers: fitted anew if they are this package's, else as they are."""
    estimator = AdaBoostMH() if estimator is None else estimator
    if isinstance(estimator, AdaBoostMH):
        fitted = clone(estimator)
        with warnings.catch_warnings():  # one warning is enough, and the cascade gives it
            warnings.simplefilter("ignore", ConstantModelWarning)
            fitted.fit(X, y, sample_weight=weights)
        estimator = FrozenEstimator(fitted)
    fitted, _ = fit_trees(estimator, X, y, signs, weights)
    responses = fitted_trees_of(fitted)
    forest = responses.forest._replace(value=np.ascontiguousarray(responses.contributions))
    return fitted, responses._replace(forest=forest, contributions=forest.value)


def _number_of_stages(wanted: int | None, responses: FittedTrees) -> int:
    """T, of so many base classifiers as there are."""
    n_trees = responses.forest.n_trees
    if not n_trees:
        raise ValueError(f"{responses.name} has no base classifiers.")
    if wanted is not None and wanted > n_trees:
        raise ValueError(
            f"n_stages must be at most the {n_trees} base classifiers of {responses.name}, got "
            f"{wanted}."
        )
    return n_trees if wanted is None else wanted


def _answers(responses: FittedTrees, X: np.ndarray, n_threads: int) -> np.ndarray:
    """What each classifier adds to each row's score: (n_classifiers, n_samples) float64."""
    forest, n_samples = responses.forest, len(X)
    outputs = np.empty((forest.n_trees, n_samples))
    for begin in range(0, n_samples, _BLOCK_ROWS):
        rows = responses.meter._check_X(X[begin : begin + _BLOCK_ROWS])
        nodes = np.empty((len(rows), forest.n_trees), dtype=np.int64)
        with threads(n_threads, rows.size):
            leaf_nodes(forest, rows, nodes)
        outputs[:, begin : begin + len(rows)] = responses.contributions[nodes].T
    return outputs
