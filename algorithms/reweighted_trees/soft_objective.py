"""A cascade whose exits are soft: Cronus's smoothed objective (8), and its cyclic optimisation.

Chen et al. 2012, sections 3.2 and 3.3. The derivatives include what later stages cost: d_j, j > k,
depends on (β^k, θ^k), which the printed (9) leaves out. The reference is :mod:`reference.cronus`.
"""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.sparse import csr_matrix
from scipy.special import expit

from .. import costs
from ..trees.forest import Forest
from .mixed_norms import Stage, TreePrices, inverse, prices_of_weights, solve_stage, without_traces
from .tree_outputs import TreeOutputs

_AT_ONCE = 50  # evaluations between two updates of the auxiliary variables
_TINY = 1e-5  # of a stage's largest weight: what is smaller after a cycle is dropped


class Soft(NamedTuple):
    """What does not change while a cascade is optimised."""

    outputs: TreeOutputs
    # y, omega, copies: (n_samples,) float64: ±1; weight in the loss, Σω = 1; share of the training
    # rows, Σm = 1
    y: np.ndarray
    omega: np.ndarray
    copies: np.ndarray
    prices: TreePrices
    tradeoff: float  # λ
    penalties: np.ndarray  # (n_stages,) float64: ρ^k
    steepness: float  # γ
    smoothing: float  # μ; 0 for the roots of Eq. (11) as they are printed, where a zero stays zero

    def take(self, trees: np.ndarray) -> Soft:
        """Return the same with some of the trees only."""
        return self._replace(outputs=self.outputs.take(trees), prices=self.prices.take(trees))


class Weights(NamedTuple):
    """A cascade: `weights` (K, T), `constants` (K,), `thresholds` (K - 1,)."""

    weights: np.ndarray
    constants: np.ndarray
    thresholds: np.ndarray

    def replaced(
        self, k: int, weights: NDArray[np.float64], constant: float, threshold: float
    ) -> Weights:
        """Return the same with another stage k."""
        new = Weights(*(part.copy() for part in self))
        new.weights[k], new.constants[k] = weights, constant
        if k < len(new.thresholds):
            new.thresholds[k] = threshold
        return new


class Spent(NamedTuple):
    """A stage was optimised: cycle and stage from 0, (8) after it, and evaluations."""

    cycle: int
    stage: int
    objective: float
    evaluations: int


# --- values -------------------------------------------------------------------------------------


def scores_of(weights: NDArray[np.float64], constant: float, outputs: TreeOutputs) -> np.ndarray:
    """f^k of all rows."""
    used = np.flatnonzero(weights)
    return outputs.times(used, weights[used], constant)


def passing(scores: np.ndarray, thresholds: np.ndarray, steepness: float) -> np.ndarray:
    """I (K, n), 0 for the last stage."""
    out = np.zeros_like(scores)
    out[:-1] = expit(steepness * (scores[:-1] - thresholds[:, None]))
    return out


def reaching(passes: np.ndarray) -> np.ndarray:
    """Give p (K, n): the product of I over the stages before."""
    out = np.ones_like(passes)
    np.cumprod(passes[:-1], axis=0, out=out[1:])
    return out


class _Values(NamedTuple):
    """(8) and what it is made of: f and I (K, n), d (K,), Σ_j (β_t^j d_j)² (T,)."""

    objective: float
    scores: np.ndarray
    passes: np.ndarray
    remaining: np.ndarray
    paid: np.ndarray


def values(cascade: Weights, soft: Soft, scores: np.ndarray | None = None) -> _Values:
    """Evaluate (8).

    Parameters
    ----------
    cascade : Weights
    soft : Soft
    scores : ndarray of shape (n_stages, n_samples), optional
        If they are known already.
    """
    if scores is None:
        parts = zip(cascade.weights, cascade.constants, strict=True)
        scores = np.array([scores_of(w, c, soft.outputs) for w, c in parts])
    passes = passing(scores, cascade.thresholds, soft.steepness)
    reach = reaching(passes)
    expected = np.zeros_like(soft.y)
    for k in range(len(scores)):
        expected += reach[k] * (1.0 - passes[k]) * (soft.y - scores[k]) ** 2
    d, mu = reach @ soft.copies, soft.smoothing
    paid = np.sum((cascade.weights * d[:, None]) ** 2, axis=0)
    absolute = np.sqrt(cascade.weights**2 + mu**2)
    kappa, eta = _roots(paid, soft)
    cost = float(soft.prices.tree @ kappa + soft.prices.item @ eta)
    total = 0.5 * float(soft.omega @ expected) + float(soft.penalties @ absolute.sum(axis=1))
    return _Values(total + soft.tradeoff * cost, scores, passes, d, paid)


def _roots(paid: np.ndarray, soft: Soft) -> tuple[np.ndarray, np.ndarray]:
    """κ and η, Eq. (11)."""
    square = soft.smoothing**2
    return np.sqrt(paid + square), np.sqrt(soft.prices.uses @ paid + square)


# --- thresholds of the initialisation ---------------------------------------------------------


def soft_threshold(
    scores: NDArray[np.float64],
    reach: NDArray[np.float64],
    copies: NDArray[np.float64],
    steepness: float,
    rejection: float,
) -> float:
    """θ such that a share ε of what is expected to be there is rejected; -∞ if all are alike."""
    if rejection == 0 or np.all(scores == scores[0]):
        return -math.inf
    goal = (1.0 - rejection) * float(copies @ reach)
    margin = (40.0 + math.log(1e6)) / steepness
    here = reach * copies

    def excess(theta):
        return float(here @ expit(steepness * (scores - theta))) - goal

    return brentq(excess, scores.min() - margin, scores.max() + margin, xtol=1e-14, rtol=1e-14)


def quantile_threshold(
    scores: NDArray[np.float64],
    alive: NDArray[np.bool_],
    copies: NDArray[np.float64],
    rejection: float,
) -> float:
    """Largest θ, between two scores, that rejects at most a share ε of the rows `alive`."""
    kept, share = scores[alive], copies[alive]
    distinct, which = np.unique(kept, return_inverse=True)
    below = np.cumsum(np.bincount(which, weights=share, minlength=len(distinct)))[:-1]
    n = int(np.searchsorted(below, rejection * float(share.sum()), side="right"))
    return -math.inf if n == 0 else float(0.5 * (distinct[n - 1] + distinct[n]))


# --- one stage, the others fixed ----------------------------------------------------------------


class StageSurrogate:
    """(8) by a stage's weights and threshold, with the auxiliary variables of (11) fixed; k < K."""

    def __init__(
        self,
        soft: Soft,
        cascade: Weights,
        now: _Values,
        k: int,
        support: NDArray[np.int64],
        own: TreeOutputs,
    ) -> None:
        self.soft, self.outputs = soft, own
        kappa, eta = _roots(now.paid, soft)
        prices = prices_of_weights(kappa, eta, soft.prices)  # a_t
        reach = reaching(now.passes)
        self.reach, self.remaining = reach[k], float(now.remaining[k])
        others = now.passes.copy()
        others[k] = 1.0
        self.tail = reaching(others)[k + 1 :]  # p̃^j
        self.later_loss = np.zeros_like(soft.y)  # A
        for j, tail in enumerate(self.tail, start=k + 1):
            self.later_loss += tail * (1.0 - others[j]) * (soft.y - now.scores[j]) ** 2
        self.later_prices = cascade.weights[k + 1 :] ** 2 @ prices  # B_j
        weights = cascade.weights[k, support]
        sigma = np.sqrt(weights**2 + soft.smoothing**2)
        self.moves = sigma > 0
        self.curvature = soft.penalties[k] * inverse(sigma)
        self.curvature += soft.tradeoff * self.remaining**2 * prices[support]  # Λ
        self.start = np.concatenate(
            [[cascade.constants[k]], weights, cascade.thresholds[k : k + 1]]
        )

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Value and derivatives by the constant, the weights and the threshold."""
        soft, weights = self.soft, x[1:-1]
        scores = self.outputs.times(None, weights, x[0])
        r = soft.y - scores
        at_stage = soft.omega * self.reach
        passes = expit(soft.steepness * (scores - x[-1]))
        stays = 1.0 - passes
        d_later = self.tail @ (soft.copies * passes)
        r2 = r**2
        expected = self.reach * stays * r2 + passes * self.later_loss  # Eq. (9)
        value = 0.5 * float(soft.omega @ expected)
        value += 0.5 * soft.tradeoff * float(d_later**2 @ self.later_prices)
        by_pass = 0.5 * soft.omega * (self.later_loss - self.reach * r2)
        by_pass += soft.tradeoff * soft.copies * ((d_later * self.later_prices) @ self.tail)
        v = by_pass * (soft.steepness * passes * stays)
        by_score = v - at_stage * stays * r
        value += 0.5 * float(self.curvature @ weights**2)
        by_weight = self.outputs.correlations(by_score) + self.curvature * weights
        by_weight[~self.moves] = 0.0
        return value, np.concatenate([[float(by_score.sum())], by_weight, [-float(v.sum())]])

    def scales(self) -> np.ndarray:
        """√(diag(HᵀΩH) + Λ), and a bound of the curvature by the threshold."""
        soft, x = self.soft, self.start
        at_stage = soft.omega * self.reach
        diagonal = self.outputs.correlations(at_stage, squared=True) + self.curvature
        r2 = (soft.y - self.outputs.times(None, x[1:-1], x[0])) ** 2
        size = 0.5 * float(soft.omega @ (self.later_loss + self.reach * r2))
        by_threshold = 0.1 * soft.steepness**2 * size  # |σ''| < 0.1 γ²
        every = np.concatenate([[at_stage.sum()], diagonal, [by_threshold]])
        return np.sqrt(np.where(every > 0, every, 1.0))

    def minimise(self, max_evaluations: int) -> tuple[np.ndarray, int]:
        """Return constant, weights and threshold at a minimum, and the evaluations."""
        scale = self.scales()

        def scaled(z):
            value, gradient = self(z / scale)
            return value, gradient / scale

        options = {"maxfun": max_evaluations, "maxiter": max_evaluations}
        options |= {"ftol": 1e-12, "gtol": 1e-9}
        start = scale * self.start
        optimum = minimize(scaled, start, jac=True, method="L-BFGS-B", options=options)
        return optimum.x / scale, int(optimum.nfev)


# --- Algorithm 1 ----------------------------------------------------------------------------------


def optimise(
    cascade: Weights, soft: Soft, max_cycles: int, tolerance: float, max_evaluations: int,
    smoothing: float,
) -> tuple[Weights, list[Spent]]:  # fmt: skip
    """Lower (8) stage by stage, in cycles; what does not lower it is not accepted.

    With ``soft.smoothing`` of 0 a zero stays zero, and weights below 1e-5 of their stage's largest
    are dropped after each cycle.
    """
    now, trace, last = values(cascade, soft), [], len(cascade.thresholds)
    for cycle in range(max_cycles):
        before = now.objective
        for k in range(last + 1):
            if k == last:
                cascade, now, spent = _optimise_last(cascade, now, soft, smoothing)
            else:
                limits = (tolerance, max_evaluations)
                cascade, now, spent = _optimise_stage(cascade, now, soft, k, *limits)
            trace.append(Spent(cycle, k, now.objective, spent))
        if soft.smoothing == 0:
            cascade = without_tiny(cascade)
            now = values(cascade, soft)
        if not before - now.objective > tolerance * now.objective:
            break
    return cascade, trace


def without_tiny(cascade: Weights) -> Weights:
    """Weights below 1e-5 of their stage's largest set to 0."""
    sizes = np.abs(cascade.weights)
    largest = np.max(sizes, axis=1, initial=0.0, keepdims=True)
    return cascade._replace(weights=np.where(sizes < _TINY * largest, 0.0, cascade.weights))


def _support(cascade: Weights, soft: Soft, k: int) -> np.ndarray:
    """Trees that Algorithm 1 may give weight to at a stage."""
    may = (cascade.weights[k] != 0) | (soft.smoothing > 0)
    return np.flatnonzero(may)


def _with_stage(cascade, now, soft, k, stage) -> tuple[Weights, _Values]:
    """A cascade with another stage (weights, constant, threshold), and its values."""
    changed, scores = cascade.replaced(k, *stage), now.scores.copy()
    scores[k] = scores_of(changed.weights[k], changed.constants[k], soft.outputs)
    return changed, values(changed, soft, scores)


def _optimise_stage(cascade, now, soft, k, tolerance, max_evaluations):
    """Algorithm 1, lines 5 to 8; a threshold of -∞ cannot move, and its stage is left alone."""
    spent = 0
    if cascade.thresholds[k] == -math.inf:
        return cascade, now, spent
    support = _support(cascade, soft, k)
    own = soft.outputs.take(support).paired()
    while spent < max_evaluations:
        surrogate = StageSurrogate(soft, cascade, now, k, support, own)
        x, evaluations = surrogate.minimise(min(_AT_ONCE, max_evaluations - spent))
        spent += evaluations
        weights = np.zeros(soft.outputs.n_trees)
        weights[support] = x[1:-1]
        changed, after = _with_stage(cascade, now, soft, k, (weights, x[0], x[-1]))
        gain = now.objective - after.objective
        if gain > 0:
            cascade, now = changed, after
        if not gain > tolerance * now.objective:
            break
    return cascade, now, spent


def _optimise_last(cascade, now, soft, smoothing):
    """Algorithm 1 for the last stage: convex, and solved whole with one HᵀΩH."""
    k = len(cascade.thresholds)
    reach, d = reaching(now.passes)[k], now.remaining
    before = np.sum((cascade.weights[:k] * d[:k, None]) ** 2, axis=0)
    stage = Stage(
        soft.outputs, soft.y, soft.omega * reach, float(d[k]), before,
        float(soft.penalties[k]), soft.tradeoff, soft.prices, smoothing,
    )  # fmt: skip
    solved = solve_stage(stage, support=_support(cascade, soft, k))
    weights = without_traces(solved.weights, smoothing)
    changed, after = _with_stage(cascade, now, soft, k, (weights, solved.constant, None))
    return (changed, after, 1) if after.objective < now.objective else (cascade, now, 1)


# --- whether anything is saved, and from which trade-off on it would ---------------------------

_MOST_STEPS = 30


class NothingSavedWarning(UserWarning):
    """Each row pays for all features; the message names a `tradeoff` that would save some."""


def warn_if_nothing_is_saved(soft: Soft, cascade: Weights, inflation: float) -> None:
    """Warn if whoever leaves a cascade first has paid for all that its trees need.

    At the trade-off that is named the first stage of Algorithm 2 was solved: it is there, and does
    without something. Algorithm 1 keeps zeros. It is looked for by steps of ten, then by bisection.

    Parameters
    ----------
    soft : Soft
        As Algorithm 2 has it.
    cascade : Weights
    inflation : float
        δ^(K - 1) = λ_1 / λ.
    """
    prices = soft.prices
    if soft.tradeoff == 0 or not len(prices.item):
        return
    leaves = int(np.argmax(np.append(cascade.thresholds > -math.inf, True)))
    if not _needed(prices, cascade.weights[: leaves + 1]).all():
        return
    low, high = soft.tradeoff, math.inf  # all is needed; nothing is
    for _ in range(_MOST_STEPS):
        tried = float(f"{10 * low if high == math.inf else math.sqrt(low * high):.3g}")
        needed = _needed(prices, _first_stage(soft, inflation * tried))
        if not low < tried < high or 0 < np.count_nonzero(needed) < len(needed):
            break
        low, high = (tried, high) if needed.any() else (low, tried)
    if 0 < np.count_nonzero(needed) < len(needed):
        paid, whole = math.fsum(prices.item[needed]), math.fsum(prices.item)
        advice = f"With tradeoff={tried:g} its first stage pays {paid:g} of {whole:g}."
    else:
        advice = (
            f"A larger one does not help: the first stage needs all with {low:g}, and has no tree "
            f"left with {high:g}. Give it trees that need fewer features each, shallower ones."
        )
    warnings.warn(
        "This cascade saves no feature: whoever leaves it first has paid for all of them. "
        f"tradeoff={soft.tradeoff:g} is too little for {soft.outputs.n_trees} trees (the paper's "
        f"1e-4 is for 5,000). {advice}",
        NothingSavedWarning,
        stacklevel=4,
    )


def _needed(prices: TreePrices, weights: np.ndarray) -> np.ndarray:
    """Which items the trees need that have weight at some stage (K, T)."""
    return prices.uses @ np.any(weights != 0, axis=0).astype(np.float64) > 0


def _first_stage(soft: Soft, tradeoff: float) -> np.ndarray:
    """Weights of the first stage of Algorithm 2, (1, n_trees), at λ_1."""
    before = np.zeros(soft.outputs.n_trees)
    stage = Stage(
        soft.outputs, soft.y, soft.omega, float(soft.copies.sum()), before,
        float(soft.penalties[0]), tradeoff, soft.prices, soft.smoothing,
    )  # fmt: skip
    solved = solve_stage(stage, np.flatnonzero(before))
    return without_traces(solved.weights, soft.smoothing)[None, :]


# --- what trees cost: their evaluation, and what they need bought ------------------------------


def tree_prices(forest: Forest, prices: costs.PriceList, tree_cost: float) -> TreePrices:
    """What each tree costs: e if it has a split, and what it needs bought."""
    n_units = len(prices.shared)
    each = np.concatenate([prices.shared, prices.own])
    split = np.flatnonzero(forest.feature >= 0)
    tree = np.searchsorted(forest.tree, split, side="right") - 1
    feature = forest.feature[split].astype(np.int64)
    item = np.concatenate([prices.unit[feature], n_units + feature])
    pairs = np.unique(np.column_stack([item, np.tile(tree, 2)]), axis=0)
    pairs = pairs[each[pairs[:, 0]] > 0]
    items, row = np.unique(pairs[:, 0], return_inverse=True)
    shape = (len(items), forest.n_trees)
    uses = csr_matrix((np.ones(len(pairs)), (row, pairs[:, 1])), shape)
    is_split = forest.left[forest.tree[:-1]] >= 0
    return TreePrices(np.where(is_split, tree_cost, 0.0), each[items], uses)
