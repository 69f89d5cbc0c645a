"""FCBoost (Saberian & Vasconcelos, NIPS 2010): a cascade grown stump by stump, at any stage.

The formulas are reconstructed, see :mod:`reference.fcboost`, which also lists the choices.
"""

from __future__ import annotations

import copy
import warnings
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from .estimators.fitting import ConstantModelWarning, all_or_nothing
from .estimators.parameters import (
    MOST_ROUNDS,
    Parameter,
    check_seed_or_state,
    check_whole_number,
    checked_parameters,
    documented,
    keep,
    number,
    whole,
)
from .exits.classifier import KINDS
from .exits.prices import PRICED_STUMPS
from .grid import RowWeights, round_to_grid, row_weights
from .kernels.decorators import threads
from .stump_cascades.classifier import Stump, StumpCascade
from .stump_cascades.smooth_cascade import Line, SmoothCascade, objective_of
from .stumps.columns import Columns
from .stumps.histograms import best_stumps
from .validation.types import ClassWeight, FeatureCosts, FeatureGroups, GroupCosts, Seed


class Candidate(NamedTuple):
    """A stump at a stage, and the objective after it."""

    stage: int
    feature: int
    cut: int
    vote: int
    alpha: float
    objective: float


class _Growing:
    """Grows a cascade on training rows whose columns are kept as bytes."""

    def __init__(self, columns: np.ndarray, weights: RowWeights, n_threads: int) -> None:
        self._columns, self._weights, self._n_threads = columns, weights, n_threads

    def votes(self, stump) -> np.ndarray:
        """Votes ±1 of a stump, (n_samples,) float64."""
        if stump.feature < 0:
            return np.full(self._columns.shape[1], float(stump.vote))
        above = self._columns[stump.feature] > stump.cut
        return np.where(above, float(stump.vote), -float(stump.vote))

    def candidates(self, cascade: SmoothCascade, longer: SmoothCascade) -> list[Candidate]:
        """The best stump of each stage, and of a new one, each in the cascade that it would make.

        The copy is there for a stump of its own only: beside one for another stage it is dropped.
        """
        n_stages = len(cascade.f)
        falls = [*cascade.falls(), *longer.falls()[n_stages:]]
        falls = [round_to_grid(of_stage, self._weights)[0] for of_stage in falls]
        listed = []
        stumps = best_stumps(self._columns, np.array(falls), self._n_threads)
        for k, stump in enumerate(stumps):
            made = cascade if k < n_stages else longer
            line = Line(made, k, self.votes(stump), int(stump.feature >= 0))
            alpha = line.best_step()
            if alpha > 0:
                tested = stump.feature, stump.cut, stump.vote
                listed.append(Candidate(k, *tested, alpha, line.value(alpha)))
        return listed


_PARAMETERS = {
    "n_estimators": whole(
        "int",
        "Stumps at most, one an iteration; fewer if none lowers the objective any more.",
        0,
        most=MOST_ROUNDS,
    ),
    "eta": number(
        "float",
        "Price of a stump that a negative evaluates, in units of the mean exponential loss.",
    ),
    "steepness": number(
        "float", "sigma of the smooth steps (1 + tanh(sigma f)) / 2.", positive=True
    ),
    **PRICED_STUMPS,
    "random_state": Parameter(
        "int or None", "Not used: nothing is drawn at random.", check_seed_or_state
    ),
}
_ATTRIBUTES = {
    **StumpCascade._attributes,
    "objective_": Parameter("float", "Risk and complexity at the end."),
    "objectives_": Parameter(
        "ndarray of shape (n_estimators_ + 1,)", "The same before, and after each stump."
    ),
    "n_estimators_": Parameter("int", "Number of stumps."),
    "stage_": Parameter(
        "ndarray of shape (n_estimators_,), int64", "Stage, from 0, that each stump was added to."
    ),
}


@documented
class FCBoostClassifier(StumpCascade):
    """A cascade grown stump by stump, each where it lowers risk and complexity most.

    A new stage begins as a copy of the last, whose stumps it has for free.

    The second class is the positive one.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    A file (:meth:`save`) holds the stages and the objective; what else tells of the training is
    not kept.

    Examples
    --------
    >>> import numpy as np
    >>> from algorithms.fcboost import FCBoostClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 256, size=(500, 4)).astype(np.uint8)
    >>> y = X.sum(axis=1, dtype=int) > 600
    >>> model = FCBoostClassifier(n_estimators=40, eta=0.05).fit(X, y)
    >>> model.evaluations(X[~y]).mean() < model.evaluations(X[y]).mean()
    np.True_
    """

    _parameters = _PARAMETERS
    _attributes = _ATTRIBUTES

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        eta: float = 0.02,
        steepness: float = 1.0,
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
    def fit(self, X: ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the cascade.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            uint8, used as it is, or numbers to be binned as :class:`AdaBoostMH` has it.
        y : array-like of shape (n_samples,)
            Two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights >= 0. A weight of 3 equals three copies of the row, but for the last bits of
            sums along a line; rows of weight 0 are left out.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an input or a parameter does not fit.
        """
        options = checked_parameters(self)
        X, _, signs, weights = self._read_rows(X, y, sample_weight, None)
        X = check_array(X, dtype=KINDS)
        self._responses([])  # a wrong price must not first show when predicting
        stumps, members, objectives, stages = [], np.zeros((0, 1), dtype=bool), [0.0], []
        if len(self.classes_) == 2:
            with threads(options["n_threads"], X.size):
                stumps, members, objectives, stages = _grow(X, signs, weights, options)
            if not stumps and options["n_estimators"]:
                warnings.warn(
                    f"No stump lowers the objective with eta={options['eta']:g}: the model "
                    f"predicts {self.classes_.tolist()[0]!r} for every row.",
                    ConstantModelWarning,
                    stacklevel=3,
                )
        self._take_over(stumps, members, np.array(objectives), np.array(stages, dtype=np.int64))

    def _take_over(self, stumps: list[Stump], members, objectives, stages) -> None:
        """What :func:`_grow` found, with lists as arrays."""
        self._stumps = stumps
        self.objectives_, self.objective_ = objectives, float(objectives[-1])
        self.n_estimators_, self.stage_ = len(stumps), stages
        coef = members.T * np.array([stump.alpha for stump in stumps])
        n_stages = len(coef)
        self._set_up(self._responses(stumps), coef, np.zeros(n_stages), np.zeros(n_stages - 1))

    def first_rounds(self, n_rounds: int) -> FCBoostClassifier:
        """Return the cascade as it was after its first stumps, without training it anew.

        Parameters
        ----------
        n_rounds : int
            1 … ``n_estimators_``.

        Returns
        -------
        FCBoostClassifier
            What a fit with this ``n_estimators`` gives, to the last bit.

        Raises
        ------
        ValueError
            If there are not so many stumps, or the cascade was loaded from a file, which does not
            hold the order in which it grew.
        """
        check_is_fitted(self)
        n_rounds = check_whole_number("n_rounds", n_rounds, 1, most=self.n_estimators_)
        if not hasattr(self, "_stumps"):
            raise ValueError("A loaded cascade does not know in which order it grew.")
        model, stages = copy.copy(self), self.stage_[:n_rounds]
        model.n_estimators = n_rounds
        # Of a stump of no stage yet there are no weights; no stump that is there has weight 0.
        members = self.coef_[: stages.max() + 1, :n_rounds].T != 0
        objectives = self.objectives_[: n_rounds + 1]
        model._take_over(self._stumps[:n_rounds], members, objectives, stages)
        return model

    def _restore(self, header, arrays) -> None:
        super()._restore(header, arrays)
        self.n_estimators_ = self.coef_.shape[1]


def _grow(X: np.ndarray, signs: np.ndarray, weights, options: dict):
    """Add stumps."""
    columns = Columns(X, weights)
    growing = _Growing(columns.codes, row_weights(weights, len(X)), options["n_threads"])
    objective = objective_of(signs, weights, options["steepness"], options["eta"])
    cascade = SmoothCascade(np.zeros((1, len(X))), np.zeros(1, dtype=np.int64), objective)
    stumps, members, stages = [], np.zeros((0, 1), dtype=bool), []
    objectives = [cascade.value]
    for _ in range(options["n_estimators"]):
        longer = cascade.longer()
        listed = growing.candidates(cascade, longer)
        best = min(listed, key=lambda one: one.objective, default=None)
        if best is None or not best.objective < objectives[-1]:
            break
        k = best.stage
        if k == members.shape[1]:
            cascade, members = longer, np.concatenate([members, members[:, -1:]], axis=1)
        cascade = cascade.added(k, best.alpha * growing.votes(best), int(best.feature >= 0))
        members = np.concatenate([members, np.arange(members.shape[1])[None, :] == k])
        threshold = 0.0 if best.feature < 0 else columns.threshold(best.feature, best.cut)
        stumps.append(Stump(best.feature, threshold, best.vote, best.alpha))
        objectives.append(best.objective)
        stages.append(k)
    return stumps, members, objectives, stages
