"""The cascade of boosted stages (Viola & Jones, IJCV 2004): targets on validation rows.

The algorithm is reconstructed, see :mod:`reference.viola_jones`, which also lists the choices.
"""

from __future__ import annotations

import copy
import math
import warnings
from typing import ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import validate_data

from .cascades.classifier import KINDS
from .cascades.parameters import FINAL_THRESHOLD, PRICED_STUMPS
from .cascades.stump_cascade import Stump, StumpCascade
from .estimators.fitting import all_or_nothing
from .estimators.parameters import (
    Parameter,
    check_number,
    check_whole_number,
    checked_parameters,
    documented,
    keep,
    shown,
    whole,
)
from .grid import row_weights
from .kernels.decorators import threads
from .stumps.boosting import alpha_of, best_stump
from .stumps.columns import Columns
from .stumps.pair_weights import PairWeights
from .stumps.sampling import Problem
from .stumps.search import DefaultCodes

_SLACK = 1e-9  # 1 - 0.9 of ten rows is one row


class UnreachedRateWarning(UserWarning):
    """A stage ended before its false positive rate was reached; the message says which and why."""


def _check_rate(name: str, value) -> float:
    """Give a rate as a float; refuse what is not in (0, 1]."""
    rate = check_number(name, value, positive=True)
    if rate > 1:
        raise ValueError(f"{name} must be above 0 and at most 1, got {shown(value)}.")
    return rate


def _check_share(name: str, value) -> float:
    """Give a share as a float; refuse what is not in [0, 1)."""
    share = check_number(name, value)
    if share >= 1:
        raise ValueError(f"{name} must be at least 0 and below 1, got {shown(value)}.")
    return share


class Rows(NamedTuple):
    """Rows that earlier stages let pass, and what all rows weigh.

    Attributes
    ----------
    X : ndarray of shape (n_inside, n_features), uint8 or float64
    positive : ndarray of shape (n_inside,), bool
    counts : ndarray of shape (n_inside,), int64
    totals : tuple of float
        Weight of all positives and all negatives, also of those that are rejected.
    """

    X: np.ndarray
    positive: np.ndarray
    counts: np.ndarray
    totals: tuple[float, float]

    def take(self, rows: np.ndarray) -> Rows:
        """Keep some rows, of those that are inside."""
        return self._replace(X=self.X[rows], positive=self.positive[rows], counts=self.counts[rows])


class Stage(NamedTuple):
    """A trained stage.

    Attributes
    ----------
    stumps : list of Stump
    threshold : float
        A row with a lower score is rejected.
    rates : tuple of float
        Shares of all validation positives and negatives that are left after it.
    reached : bool
        Whether it has the rate of negatives that was asked for.
    target : int
        Place of that rate, from 0.
    """

    stumps: list[Stump]
    threshold: float
    rates: tuple[float, float]
    reached: bool
    target: int = 0

    def passing(self, X: np.ndarray) -> np.ndarray:
        """Rows that it does not reject, (n_samples,) bool."""
        scores = np.zeros(len(X))
        for stump in self.stumps:
            scores += stump.answers(X)
        return ~(scores < self.threshold)


def divide(positive: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Validation rows (n_samples,) bool: a share of each class, drawn; positives first."""
    valid = np.zeros(len(positive), dtype=bool)
    for side in (positive, ~positive):
        rows = rng.permutation(np.flatnonzero(side))
        valid[rows[: round(share * len(rows))]] = True
    return valid


def _balanced(weights: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Weights with which both classes weigh the same; whole numbers stay whole."""
    sums = math.fsum(weights[positive]), math.fsum(weights[~positive])
    if np.all(weights == np.rint(weights)):
        common = math.gcd(int(sums[0]), int(sums[1]))
        return weights * np.where(positive, sums[1] / common, sums[0] / common)
    return weights / np.where(positive, sums[0], sums[1])


def _threshold(scores: np.ndarray, counts: np.ndarray, needed: float) -> float:
    """Largest threshold, 0 at most, that keeps enough weight of some positives."""
    order = np.argsort(-scores, kind="stable")
    scores, kept = scores[order], np.cumsum(counts[order])
    enough = int(np.flatnonzero(kept >= needed)[0])  # equal ones stay together
    return min(0.0, float(scores[enough]))


class _Boosting:
    """Boosts the stages on the training rows that are left, their columns kept as bytes."""

    def __init__(self, X, signs, weights, max_stumps: int, n_threads: int) -> None:
        self._X, self._positive = X, signs > 0
        self._weights = np.ones(len(signs)) if weights is None else weights
        self._max_stumps, self._n_threads = max_stumps, n_threads
        self._columns = Columns(X, weights)
        self.inside = np.ones(len(signs), dtype=bool)

    def negatives(self) -> int:
        """Number of negatives that are left."""
        return int(np.count_nonzero(self.inside & ~self._positive))

    def reject(self, stage: Stage) -> int:
        """Leave the negatives out that a stage rejects, and tell how many."""
        before = self.negatives()
        self.inside &= self._positive | stage.passing(self._X)
        return before - self.negatives()

    def _problem(self) -> tuple[Problem, Columns]:
        """The rows that are left, with fresh weights."""
        rows = np.flatnonzero(self.inside)
        columns, positive = copy.copy(self._columns), self._positive[rows]
        if len(rows) < len(self.inside):
            columns.codes = np.ascontiguousarray(columns.codes[:, rows])
            columns.codes.flags.writeable = False
            columns.defaults = DefaultCodes(columns.codes)
        targets = np.where(positive, 1, -1).astype(np.int8)[:, None]
        problem = Problem(
            columns=columns.codes,
            defaults=columns.defaults,
            families=[np.arange(len(columns.codes))],
            max_cost=1.0,
            n_rounds=self._max_stumps,
            weights=PairWeights(targets, _balanced(self._weights[rows], positive)),
            rng=np.random.default_rng(0),
            n_threads=self._n_threads,
        )
        return problem, columns

    def stage(self, valid: Rows, tpr: float, fpr: float) -> Stage:
        """Boost until the rates are reached on the validation rows."""
        problem, columns = self._problem()
        features, weights = problem.all_features(), problem.weights
        scores, stage = np.zeros(len(valid.X)), Stage([], 0.0, (1.0, 1.0), False)
        while len(stage.stumps) < self._max_stumps:
            taken = best_stump(problem, features)
            alpha = alpha_of(taken.edge, weights.total)
            if alpha == 0 and stage.stumps:
                break
            constant = taken.feature < 0
            threshold = 0.0 if constant else columns.threshold(taken.feature, taken.cut)
            stump = Stump(taken.feature, threshold, int(taken.votes[0]), alpha)
            column = problem.columns[max(taken.feature, 0)]
            weights.add(column, taken.cut, alpha * taken.votes)
            problem.next_round()
            scores += stump.answers(valid.X)
            stage = _judged([*stage.stumps, stump], scores, valid, tpr, fpr)
            if stage.reached or alpha == 0:
                break
        return stage


def _judged(stumps: list[Stump], scores, valid: Rows, tpr: float, fpr: float) -> Stage:
    """A stage by what it does to the validation rows."""
    positive, counts = valid.positive, valid.counts
    needed = tpr * valid.totals[0] * (1 - _SLACK)
    threshold = _threshold(scores[positive], counts[positive], needed)
    passing = ~(scores < threshold)
    left = [int(counts[passing & side].sum()) for side in (positive, ~positive)]
    rates = left[0] / valid.totals[0], left[1] / valid.totals[1]
    return Stage(stumps, threshold, rates, left[1] <= fpr * valid.totals[1] * (1 + _SLACK))


_PARAMETERS = {
    "max_fpr": Parameter(
        "float",
        "p_FPR: after m stages at most this to the power of m of all validation negatives may be "
        "left.",
        _check_rate,
    ),
    "min_tpr": Parameter(
        "float",
        "p_TPR: after m stages at least this to the power of m of all validation positives must be "
        "left.",
        _check_rate,
    ),
    "max_stages": whole(
        "int",
        "Stages at most; fewer if no negatives are left, or one reaches the rates of several.",
        1,
    ),
    "max_stumps": whole(
        "int",
        "Stumps of a stage at most. A stage that has so many without its `max_fpr`, or whose next "
        "stump would tell nothing, ends as it is, with a warning; if it rejects nothing, it is "
        "dropped.",
        1,
    ),
    "validation_share": Parameter(
        "float",
        "Share of the training rows of each class that is drawn for validation if `fit` has no "
        "`eval_set`. 0: the rates are those of the training rows.",
        _check_share,
    ),
    **PRICED_STUMPS,
    "random_state": Parameter(
        "int or None", "Seed by which validation rows are drawn.",
        lambda name, value: check_whole_number(name, value, 0, or_none=True),
    ),
}  # fmt: skip
_ATTRIBUTES = {
    **StumpCascade._attributes,
    "final_threshold_": FINAL_THRESHOLD,
    "rates_": Parameter(
        "ndarray of shape (n_stages, 2)",
        "Shares of the validation positives and negatives that are left after each stage.",
    ),
    "targets_": Parameter(
        "ndarray of shape (n_stages,), int64",
        "m - 1 of the rates that each stage was trained for. Rates that were reached before have "
        "no stage, nor have those for which a stage would reject nothing.",
    ),
    "reached_": Parameter(
        "ndarray of shape (n_stages,), bool", "Whether each stage reached its rate of negatives."
    ),
}


@documented
class ViolaJonesClassifier(StumpCascade):
    """A cascade of stages that are each boosted on the rows that the earlier ones let pass.

    A stage gets stumps, by AdaBoost, until so few validation negatives pass it that the target is
    met, its threshold being as low as the target of the positives demands.

    The second class is the positive one.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    A file (:meth:`save`) holds the stages; what else tells of the training is not kept.

    Examples
    --------
    >>> import numpy as np
    >>> from algorithms.viola_jones import ViolaJonesClassifier
    >>> x = np.arange(200.0)
    >>> X = np.column_stack([x // 20, x])
    >>> model = ViolaJonesClassifier(min_tpr=1.0, random_state=0).fit(X, x >= 190)
    >>> model.predict([[1.0, 20.0], [9.0, 199.0]])
    array([False,  True])
    """

    _parameters = _PARAMETERS
    _attributes = _ATTRIBUTES
    _stored_numbers: ClassVar = ("final_threshold",)

    def __init__(
        self,
        *,
        max_fpr=0.5,
        min_tpr=0.99,
        max_stages=10,
        max_stumps=200,
        validation_share=0.2,
        tree_cost=1.0,
        feature_costs=None,
        split_cost=0.0,
        feature_groups=None,
        group_costs=None,
        n_threads=None,
        random_state=None,
    ):
        keep(self, locals())

    @all_or_nothing
    def fit(self, X, y, *, sample_weight=None, eval_set=None):
        """Train stage after stage.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            uint8, used as it is, or numbers to be binned as :class:`AdaBoostMH` has it.
        y : array-like of shape (n_samples,)
            Two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights >= 0. A weight of 3 equals three copies of the row, except that rows are
            drawn for validation with their copies; rows of weight 0 are left out.
        eval_set : tuple (X, y), optional
            Validation rows, of both classes.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an input or a parameter does not fit, or there are no validation rows of a class.
        """
        options = checked_parameters(self)
        X, _, signs, weights = self._read_rows(X, y, sample_weight, None)
        X = check_array(X, dtype=KINDS)
        self._responses([])  # a wrong price must not first show when predicting
        stages, missed = [], []
        if len(self.classes_) == 2:
            valid, X, signs, weights = self._validation(X, signs, weights, eval_set, options)
            with threads(options["n_threads"], X.size):
                most = (options["max_stumps"], options["n_threads"])
                stages, missed = _train(_Boosting(X, signs, weights, *most), valid, options)
        self._take_over(stages)
        if missed:
            first = missed[0]
            warnings.warn(
                f"{len(missed)} stages ended without their false positive rate. The first, stage "
                f"{first.target + 1}, left {first.rates[1]:.3g} of the validation negatives with "
                f"{len(first.stumps)} stumps, and max_fpr={options['max_fpr']:g} asks for "
                f"{options['max_fpr'] ** (first.target + 1):.3g}.",
                UnreachedRateWarning,
                stacklevel=3,
            )

    def _validation(self, X, signs, weights, eval_set, options):
        """Validation rows, and the training rows that are left."""
        if eval_set is not None:
            valid = (*self._read_eval_set(eval_set), None)
        elif options["validation_share"] > 0:
            seed = options["random_state"]
            seed = check_random_state(None).randint(2**31 - 1) if seed is None else seed
            drawn = divide(signs > 0, options["validation_share"], np.random.default_rng(seed))
            of_drawn = None if weights is None else weights[drawn]
            valid = X[drawn], signs[drawn], of_drawn
            X, signs = X[~drawn], signs[~drawn]
            weights = None if weights is None else weights[~drawn]
        else:
            valid = X, signs, weights
        for part, name in ((signs, "training"), (valid[1], "validation")):
            if len(np.unique(part)) < 2:
                raise ValueError(
                    f"There are no {name} rows of one of the classes: give an eval_set that has "
                    "both, or another validation_share."
                )
        positive, counts = valid[1] > 0, row_weights(valid[2], len(valid[1])).counts
        counts = np.ones(len(positive), dtype=np.int64) if counts is None else counts
        totals = tuple(float(counts[side].sum()) for side in (positive, ~positive))
        return Rows(valid[0], positive, counts, totals), X, signs, weights

    def _read_eval_set(self, eval_set) -> tuple[np.ndarray, np.ndarray]:
        """Validation rows and ±1."""
        if not isinstance(eval_set, tuple | list) or len(eval_set) != 2:
            raise ValueError("eval_set must be (X, y).")
        X, y = validate_data(self, *eval_set, dtype=KINDS, reset=False)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"eval_set has a class that the training data lack: {unknown.tolist()[0]!r}."
            )
        return X, np.where(y == self.classes_[1], 1.0, -1.0)

    def _take_over(self, stages: list[Stage]) -> None:
        """Stages as weights of all stumps; without any a constant model, of one class."""
        self.rates_ = np.array([stage.rates for stage in stages]).reshape(-1, 2)
        self.targets_ = np.array([stage.target for stage in stages], dtype=np.int64)
        self.reached_ = np.array([stage.reached for stage in stages], dtype=bool)
        stumps = [stump for stage in stages for stump in stage.stumps]
        of_stage = np.repeat(np.arange(len(stages)), [len(stage.stumps) for stage in stages])
        coef = np.zeros((max(1, len(stages)), len(stumps)))
        coef[of_stage, np.arange(len(stumps))] = [stump.alpha for stump in stumps]
        thresholds = np.array([stage.threshold for stage in stages])
        last = thresholds[-1] if stages else 0.0
        self.final_threshold_ = float(np.nextafter(last, -np.inf))
        self._set_up(self._responses(stumps), coef, np.zeros(len(coef)), thresholds[:-1])

    def _set_up(self, responses, coef, intercept, thresholds) -> None:
        super()._set_up(responses, coef, intercept, thresholds, self.final_threshold_)


def _train(boosting: _Boosting, valid: Rows, options: dict) -> tuple[list[Stage], list[Stage]]:
    """Train stages for one target after the other, until no negatives are left.

    Returns
    -------
    stages : list of Stage
    missed : list of Stage
        Those without their rate of negatives, also those that were dropped.
    """
    stages, missed, tpr, fpr, left = [], [], 1.0, 1.0, 1.0
    for k in range(options["max_stages"]):
        tpr, fpr = tpr * options["min_tpr"], fpr * options["max_fpr"]
        if stages and left <= fpr * valid.totals[1] * (1 + _SLACK):
            continue
        stage = boosting.stage(valid, tpr, fpr)._replace(target=k)
        if not stage.reached:
            missed.append(stage)
        passing = stage.passing(valid.X)
        gone = boosting.reject(stage) + np.count_nonzero(~passing & ~valid.positive)
        if not gone and (stages or k < options["max_stages"] - 1):
            continue
        stages.append(stage)
        valid = valid.take(passing)
        left = float(valid.counts[~valid.positive].sum())
        if not boosting.negatives() or valid.positive.all():
            break
    return stages, missed
