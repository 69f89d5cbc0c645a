"""The cascade of boosted stages (Viola & Jones, IJCV 2004): targets on validation rows.

The algorithm is reconstructed, see :mod:`reference.viola_jones`, which also lists the choices.
"""

from __future__ import annotations

import warnings
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_random_state

from .estimators.fitting import all_or_nothing, one_eval_set
from .estimators.parameters import (
    Parameter,
    check_number,
    check_rate,
    check_whole_number,
    checked_parameters,
    documented,
    keep,
    shown,
    whole,
)
from .estimators.validation import validate_data
from .exits.classifier import KINDS
from .exits.prices import FINAL_THRESHOLD, PRICED_STUMPS
from .grid import row_weights
from .kernels.decorators import threads
from .stump_cascades.boosted_stages import SLACK, Rows, Stage, StageBoosting
from .stump_cascades.classifier import StumpCascade
from .validation.types import ClassWeight, EvalSet, FeatureCosts, FeatureGroups, GroupCosts, Seed


class UnreachedRateWarning(UserWarning):
    """A stage ended before its false positive rate was reached; the message says which and why."""


def _check_share(name: str, value) -> float:
    """Give a share as a float; refuse what is not in [0, 1)."""
    share = check_number(name, value)
    if share >= 1:
        raise ValueError(f"{name} must be at least 0 and below 1, got {shown(value)}.")
    return share


def divide(positive: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Validation rows (n_samples,) bool: a share of each class, drawn; positives first."""
    valid = np.zeros(len(positive), dtype=bool)
    for side in (positive, ~positive):
        rows = rng.permutation(np.flatnonzero(side))
        valid[rows[: round(share * len(rows))]] = True
    return valid


_PARAMETERS = {
    "max_fpr": Parameter(
        "float",
        "p_FPR: after m stages at most this to the power of m of all validation negatives may be "
        "left.",
        check_rate,
    ),
    "min_tpr": Parameter(
        "float",
        "p_TPR: after m stages at least this to the power of m of all validation positives must be "
        "left.",
        check_rate,
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
        max_fpr: float = 0.5,
        min_tpr: float = 0.99,
        max_stages: int = 10,
        max_stumps: int = 200,
        validation_share: float = 0.2,
        tree_cost: float = 1.0,
        feature_costs: FeatureCosts = None,
        split_cost: float | None = 0.0,
        feature_groups: FeatureGroups = None,
        group_costs: GroupCosts = None,
        class_weight: ClassWeight = None,
        n_threads: int | None = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        keep(self, locals())

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        eval_set: EvalSet | None = None,
    ) -> Self:
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
        eval_set : tuple (X, y), or a list of one, optional
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
                stages, missed = _train(StageBoosting(X, signs, weights, *most), valid, options)
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
        eval_set = one_eval_set(eval_set)
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


def _train(boosting: StageBoosting, valid: Rows, options: dict) -> tuple[list[Stage], list[Stage]]:
    """Train stages for one target after the other, until no negatives are left."""
    stages, missed, tpr, fpr, left = [], [], 1.0, 1.0, 1.0
    for k in range(options["max_stages"]):
        tpr, fpr = tpr * options["min_tpr"], fpr * options["max_fpr"]
        if stages and left <= fpr * valid.totals[1] * (1 + SLACK):
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
