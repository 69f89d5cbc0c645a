"""FCBoost (Saberian & Vasconcelos, NIPS 2010): a cascade grown stump by stump, at any stage.

The formulas are reconstructed, see :mod:`reference.fcboost`, which also lists the choices.
"""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_array

from .cascades.classifier import KINDS
from .cascades.parameters import PRICED_STUMPS
from .cascades.stump_cascade import Stump, StumpCascade
from .estimators.fitting import ConstantModelWarning, all_or_nothing
from .estimators.parameters import (
    Parameter,
    checked_parameters,
    documented,
    keep,
    number,
    whole,
)
from .grid import RowWeights, round_to_grid, row_weights
from .kernels.decorators import threads
from .stumps.columns import Columns
from .stumps.many_weightings import best_stumps

_LARGEST_STEP = 8.0
_STEP_GRID = 2.0**-12


class Candidate(NamedTuple):
    """A stump at a stage, and the objective after it.

    Attributes
    ----------
    stage, feature, cut, vote : int
    alpha, objective : float
    """

    stage: int
    feature: int
    cut: int
    vote: int
    alpha: float
    objective: float


class Objective(NamedTuple):
    """Labels and weights of the risk and of the complexity.

    Attributes
    ----------
    y, of_risk, of_cost : ndarray of shape (n_samples,), float64
        ±1; weights that sum to 1, the second ones of the negatives only.
    per_copy : tuple of float
        Weight of all rows, and of all negatives.
    steepness, eta : float
    """

    y: np.ndarray
    of_risk: np.ndarray
    of_cost: np.ndarray
    per_copy: tuple[float, float]
    steepness: float
    eta: float

    def value(self, scores: np.ndarray, costs: np.ndarray) -> float:
        """The objective, of F_1 and C_1 (n_samples,)."""
        risk = np.sum(self.of_risk * np.exp(-self.y * scores))
        return float(risk + self.eta * np.sum(self.of_cost * costs))


class SmoothCascade:
    """Scores of the stages, and what follows from them.

    Parameters
    ----------
    f : ndarray of shape (n_stages, n_samples), float64
        Scores of the stages.
    n_own : ndarray of shape (n_stages,), int64
        Stumps that each stage is the first to evaluate.
    objective : Objective

    Attributes
    ----------
    steps, slopes : ndarray of shape (n_stages - 1, n_samples), float64
        u(f), the smooth step, and its derivative.
    scores, costs : ndarray of shape (n_stages, n_samples), float64
        F_k and C_k: of the cascade from each stage on.
    reach : ndarray of shape (n_stages, n_samples), float64
        How much of a row comes to each stage.
    """

    def __init__(self, f: np.ndarray, n_own: np.ndarray, objective: Objective) -> None:
        self.f, self.n_own, self.objective = f, n_own, objective
        t = np.tanh(objective.steepness * f[:-1])
        self.steps = 0.5 * (1.0 + t)
        self.slopes = 0.5 * objective.steepness * (1.0 - t * t)
        self.scores, self.reach = f.copy(), np.ones_like(f)
        self.costs = np.repeat(n_own[:, None].astype(np.float64), f.shape[1], axis=1)
        for k in range(len(f) - 2, -1, -1):
            u = self.steps[k]
            self.scores[k] = f[k] * (1.0 - u) + u * self.scores[k + 1]
            self.costs[k] = n_own[k] + u * self.costs[k + 1]
        for k in range(1, len(f)):
            self.reach[k] = self.reach[k - 1] * self.steps[k - 1]

    @property
    def value(self) -> float:
        """The objective."""
        return self.objective.value(self.scores[0], self.costs[0])

    def falls(self) -> np.ndarray:
        """How much the objective falls by each stage's score of each row, for one copy of it."""
        of, f, u = self.objective, self.f, self.steps
        slopes = self.reach.copy()
        slopes[:-1] *= 1.0 - u + self.slopes * (self.scores[1:] - f[:-1])
        falls = of.y * np.exp(-of.y * self.scores[0]) * slopes / of.per_copy[0]
        costs = self.reach[:-1] * self.slopes * self.costs[1:]
        falls[:-1] -= np.where(of.y < 0, of.eta * costs / of.per_copy[1], 0.0)
        return falls

    def longer(self) -> SmoothCascade:
        """The cascade with a neutral stage: the last once more."""
        if not np.any(self.f):
            return self  # nothing has been added yet: the first stage is the new one
        f = np.concatenate([self.f, self.f[-1:]])
        return SmoothCascade(f, np.append(self.n_own, 0), self.objective)

    def added(self, stage: int, answers: np.ndarray, cost: int) -> SmoothCascade:
        """The cascade with a stump more."""
        f, n_own = self.f.copy(), self.n_own.copy()
        f[stage] += answers
        n_own[stage] += cost
        return SmoothCascade(f, n_own, self.objective)


class Line:
    """The objective along a stump that is added to a stage.

    Parameters
    ----------
    cascade : SmoothCascade
    stage : int
    votes : ndarray of shape (n_samples,), float64
        ±1.
    cost : int
        Of the stump.
    """

    def __init__(self, cascade: SmoothCascade, stage: int, votes: np.ndarray, cost: int) -> None:
        k, self._of = stage, cascade.objective
        self._f, self._votes, self._reach = cascade.f[k], votes, cascade.reach[k]
        self._own = cascade.n_own[k] + float(cost)
        self._later = None
        if k < len(cascade.f) - 1:
            self._later = cascade.scores[k + 1], cascade.costs[k + 1]
        self._other_scores = cascade.scores[0] - self._reach * cascade.scores[k]
        self._other_costs = cascade.costs[0] - self._reach * cascade.costs[k]

    def _step(self, moved: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        t = np.tanh(self._of.steepness * moved)
        return 0.5 * (1.0 + t), 0.5 * self._of.steepness * (1.0 - t * t)

    def value(self, alpha: float) -> float:
        """The objective after a step."""
        score, cost = self._f + alpha * self._votes, self._own
        if self._later is not None:
            u, _ = self._step(score)
            score, cost = score * (1.0 - u) + u * self._later[0], cost + u * self._later[1]
        score = self._other_scores + self._reach * score
        return self._of.value(score, self._other_costs + self._reach * cost)

    def slope(self, alpha: float) -> float:
        """Its derivative by the step."""
        of, moved = self._of, self._f + alpha * self._votes
        score, score_slope, cost_slope = moved, 1.0, 0.0
        if self._later is not None:
            u, slope = self._step(moved)
            score = moved * (1.0 - u) + u * self._later[0]
            score_slope = 1.0 - u + slope * (self._later[0] - moved)
            cost_slope = slope * self._later[1]
        score = self._other_scores + self._reach * score
        falls = (
            of.of_risk * of.y * np.exp(-of.y * score) * (self._reach * score_slope * self._votes)
        )
        rises = of.of_cost * (self._reach * cost_slope * self._votes)
        return float(of.eta * np.sum(rises) - np.sum(falls))

    def best_step(self) -> float:
        """The first minimum, on the grid of steps; 0 if the objective does not fall."""
        low, high = 0.0, 0.125
        falls, rises = self.slope(low), self.slope(high)
        if not falls < 0:
            return 0.0
        while rises < 0:
            low, high, falls = high, 2.0 * high, rises
            if high > _LARGEST_STEP:
                return low
            rises = self.slope(high)
        moved = 0  # so often has the same end moved, the higher if above 0
        while high - low > _STEP_GRID:
            share = falls / (falls - rises) if falls < 0 and abs(moved) < 3 else 0.5
            middle = math.floor((low + (high - low) * share) / _STEP_GRID) * _STEP_GRID
            middle = min(max(middle, low + _STEP_GRID), high - _STEP_GRID)
            slope = self.slope(middle)
            if slope < 0:
                rises = 0.5 * rises if moved < 0 else rises
                low, falls, moved = middle, slope, min(moved, 0) - 1
            else:
                falls = 0.5 * falls if moved > 0 else falls
                high, rises, moved = middle, slope, max(moved, 0) + 1
        return low


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

    def candidates(self, cascade: SmoothCascade) -> list[Candidate]:
        """The best stump of each stage."""
        falls = [round_to_grid(of_stage, self._weights)[0] for of_stage in cascade.falls()]
        listed = []
        stumps = best_stumps(self._columns, np.array(falls), self._n_threads)
        for k, stump in enumerate(stumps):
            line = Line(cascade, k, self.votes(stump), int(stump.feature >= 0))
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
    ),
    "eta": number(
        "float",
        "Price of a stump that a negative evaluates, in units of the mean exponential loss.",
    ),
    "steepness": number(
        "float", "sigma of the smooth steps (1 + tanh(sigma f)) / 2.", positive=True
    ),
    **PRICED_STUMPS,
    "random_state": Parameter("int or None", "Not used: nothing is drawn at random."),
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
        n_estimators=100,
        eta=0.02,
        steepness=1.0,
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
    def fit(self, X, y, *, sample_weight=None):
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
        self.objectives_, self.objective_ = np.array(objectives), objectives[-1]
        self.n_estimators_, self.stage_ = len(stumps), np.array(stages, dtype=np.int64)
        coef = members.T * np.array([stump.alpha for stump in stumps])
        n_stages = len(coef)
        self._set_up(self._responses(stumps), coef, np.zeros(n_stages), np.zeros(n_stages - 1))

    def _restore(self, header, arrays) -> None:
        super()._restore(header, arrays)
        self.n_estimators_ = self.coef_.shape[1]


def _objective(signs: np.ndarray, weights, options: dict) -> Objective:
    """Weights of both terms."""
    w = np.ones(len(signs)) if weights is None else weights
    negative = np.where(signs < 0, w, 0.0)
    per_copy = math.fsum(w), math.fsum(negative)
    shares = w / per_copy[0], negative / per_copy[1]
    return Objective(signs, *shares, per_copy, options["steepness"], options["eta"])


def _grow(X: np.ndarray, signs: np.ndarray, weights, options: dict):
    """Add stumps.

    Returns
    -------
    stumps : list of Stump
    members : ndarray of shape (n_stumps, n_stages), bool
        Stages that each stump belongs to.
    objectives : list of float
    stages : list of int
        Stage that each stump was added to.
    """
    columns = Columns(X, weights)
    growing = _Growing(columns.codes, row_weights(weights, len(X)), options["n_threads"])
    cascade = SmoothCascade(
        np.zeros((1, len(X))), np.zeros(1, dtype=np.int64), _objective(signs, weights, options)
    )
    stumps, members, stages = [], np.zeros((0, 1), dtype=bool), []
    objectives = [cascade.value]
    for _ in range(options["n_estimators"]):
        longer = cascade.longer()
        best = min(growing.candidates(longer), key=lambda one: one.objective, default=None)
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
