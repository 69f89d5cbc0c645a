"""FCBoost's smooth cascade: risk and complexity, their derivatives, and steps along a stump.

The formulas are those of :mod:`reference.fcboost`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

LARGEST_STEP = 8.0
STEP_GRID = 2.0**-12


class Objective(NamedTuple):
    """Labels and weights of the risk and of the complexity."""

    # y, of_risk, of_cost: (n_samples,) float64: ±1; weights that sum to 1, the second ones of the
    # negatives only
    y: np.ndarray
    of_risk: np.ndarray
    of_cost: np.ndarray
    per_copy: tuple[float, float]  # Weight of all rows, and of all negatives
    steepness: float
    eta: float

    def value(self, scores: np.ndarray, costs: np.ndarray) -> float:
        """The objective, of F_1 and C_1 (n_samples,)."""
        risk = np.sum(self.of_risk * np.exp(-self.y * scores))
        return float(risk + self.eta * np.sum(self.of_cost * costs))


class SmoothCascade:
    """Scores of the stages, and what follows from them."""

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
    """The objective along a stump that is added to a stage."""

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
            if high > LARGEST_STEP:
                return low
            rises = self.slope(high)
        moved = 0  # so often has the same end moved, the higher if above 0
        while high - low > STEP_GRID:
            share = falls / (falls - rises) if falls < 0 and abs(moved) < 3 else 0.5
            middle = math.floor((low + (high - low) * share) / STEP_GRID) * STEP_GRID
            middle = min(max(middle, low + STEP_GRID), high - STEP_GRID)
            slope = self.slope(middle)
            if slope < 0:
                rises = 0.5 * rises if moved < 0 else rises
                low, falls, moved = middle, slope, min(moved, 0) - 1
            else:
                falls = 0.5 * falls if moved > 0 else falls
                high, rises, moved = middle, slope, max(moved, 0) + 1
        return low


def objective_of(
    signs: np.ndarray, weights: np.ndarray | None, steepness: float, eta: float
) -> Objective:
    """Weights of both terms, from ±1 and the rows' weights."""
    w = np.ones(len(signs)) if weights is None else weights
    negative = np.where(signs < 0, w, 0.0)
    per_copy = math.fsum(w), math.fsum(negative)
    shares = w / per_copy[0], negative / per_copy[1]
    return Objective(signs, *shares, per_copy, steepness, eta)
