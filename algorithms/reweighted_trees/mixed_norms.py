"""A stage of a cascade as if it were the last: trees re-weighted under mixed norms, convex.

Minimises (7) of Cronus (Chen et al. 2012), or (8) by the last stage's weights, on a *working set*
of trees: those that may have weight. A duality gap over all trees certifies the result; what
violates it joins the set. So HᵀΩH is computed of some hundred trees, not of thousands. The
reference, :mod:`reference.mixed_norms`, alternates the closed forms (11) and (14), thousands of
times where a norm is nearly 0; Newton's method on weights and on dual variables of the norms (Chan,
Golub & Mulet 1999) takes tens of steps to the same end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import csr_matrix

from ..kernels.decorators import kernel
from .tree_outputs import TreeOutputs

# --- dual variables, and who uses what, laid out for Newton's method ---------------------------


class Duals(NamedTuple):
    """Dual variables of the norms, each within the unit ball; at the optimum u = x/‖x‖."""

    # penalty, tree: (n_trees,) float64: of |β_t|, and of the roots of a tree's price: their part by
    # this stage's weight
    penalty: np.ndarray
    tree: np.ndarray
    # (n_uses,) float64: of the roots of items' prices, one for each use in a :class:`Uses`
    item: np.ndarray


class Uses(NamedTuple):
    """Which tree needs which item, an entry for each use, ordered by item.

    SciPy's sparse matrices take longer to be made than what is computed with them here.
    """

    start: np.ndarray  # (n_items + 1,) int64: where the uses of each item begin
    item: np.ndarray  # item, tree: (n_uses,) int64
    tree: np.ndarray

    @classmethod
    def of(cls, uses: csr_matrix) -> Uses:
        """Return the uses of a matrix of ones, (n_items, n_trees)."""
        start = uses.indptr.astype(np.int64)
        items = np.repeat(np.arange(len(start) - 1), np.diff(start))
        return cls(start, items, uses.indices.astype(np.int64))

    def by_item(self, values: np.ndarray) -> np.ndarray:
        """Sum of the values of each item's uses, (n_items,) float64."""
        return np.bincount(self.item, weights=values, minlength=len(self.start) - 1)

    def across(self, left: np.ndarray, right: np.ndarray, n_trees: int) -> np.ndarray:
        """leftᵀ right of two matrices with a value for each use: (n_trees, n_trees) float64."""
        out = np.zeros((n_trees, n_trees))
        _across(self.start, self.tree, left, right, out)
        return out

    def within(self, duals: Duals) -> Duals:
        """Return duals shortened to 1 where they are longer."""
        used = np.flatnonzero(np.diff(self.start))
        norm = np.ones(len(self.start) - 1)
        norm[used] = np.sqrt(np.add.reduceat(duals.item * duals.item, self.start[used]))
        item = duals.item * (1.0 / np.maximum(1.0, norm))[self.item]
        return Duals(np.clip(duals.penalty, -1, 1), np.clip(duals.tree, -1, 1), item)


@kernel
def _across(start, tree, left, right, out):
    """Add the products of the uses of each item, by their trees."""
    for item in range(start.shape[0] - 1):
        for a in range(start[item], start[item + 1]):
            for b in range(start[item], start[item + 1]):
                out[tree[a], tree[b]] += left[a] * right[b]


# --- one stage ---------------------------------------------------------------------------------

SMOOTHING = 1e-7
ZERO = 100.0  # times the smoothing; weights within are 0 in the end
GAP = 1e-9  # of a solved problem, relative to the loss of f = 0
_FIRST_TREES = 200  # in the working set
_MAX_ITERATIONS = 5_000
_MAX_STALLED = 5  # iterations without a fall of the loss: rounding leaves nothing to gain
_BACKTRACKS, _SHORTER = 8, 0.4  # a step is shortened so often at most, and by so much
_POLISHING = 3  # steps after the gap is closed
_START = 0.9  # length of dual variables at the start, of norms that are not 0
_LEAST = 1e-12  # of the curvature by (11) that Newton's method keeps
_MAX_SETS = 100
_NOT_ZERO = 1e-10  # derivatives by free weights, relative, beyond which they are not at their best


class TreePrices(NamedTuple):
    """What trees cost: e_t, c_α > 0, and F."""

    tree: np.ndarray  # (n_trees,) float64
    # (n_items,) float64: prices of what is bought once: features, groups of features
    item: np.ndarray
    uses: csr_matrix  # (n_items, n_trees) float64: 1 where a tree needs the item

    def take(self, trees: np.ndarray) -> TreePrices:
        """Return the prices of some trees."""
        return TreePrices(self.tree[trees], self.item, self.uses[:, trees])


class Stage(NamedTuple):
    """A convex problem."""

    outputs: TreeOutputs
    y: np.ndarray  # (n_samples,) float64: -1 or +1
    # (n_samples,) float64: Ω: weight of each row in the loss times the probability that it comes
    # here
    weights: np.ndarray
    remaining: float  # d_k
    before: np.ndarray  # (n_trees,) float64: sum of (β_t^j d_j)² over the stages before
    penalty: float  # penalty, tradeoff: ρ_k and λ_k
    tradeoff: float
    prices: TreePrices
    smoothing: float  # μ


class Solution(NamedTuple):
    """Weights (n_trees,) and constant that solve a stage, their loss, its gap, and iterations."""

    weights: np.ndarray
    constant: float
    loss: float
    gap: float
    iterations: int


def smoothing_of(outputs: TreeOutputs, copies: np.ndarray) -> float:
    """μ: 1e-7, and less where trees answer with numbers beyond 1."""
    mean_squares = outputs.correlations(copies / copies.sum(), squared=True)
    scale = np.sqrt(np.max(mean_squares, initial=0.0))
    return SMOOTHING * min(1.0, 1.0 / scale) if scale > 0 else SMOOTHING


def prices_of_weights(
    kappa: NDArray[np.float64], eta: NDArray[np.float64], prices: TreePrices
) -> np.ndarray:
    """a_t = e_t/κ_t + Σ_α c_α F_αt/η_α."""
    return prices.tree * inverse(kappa) + prices.uses.T @ (prices.item * inverse(eta))


def inverse(root: np.ndarray) -> np.ndarray:
    """1/x; 0 where x is 0, as only weights of 0 are multiplied with that."""
    return np.where(root > 0, 1.0 / np.where(root > 0, root, 1.0), 0.0)


def solve_quadratic(
    gram: NDArray[np.float64], moments: NDArray[np.float64], curvature: NDArray[np.float64]
) -> np.ndarray:  # Eq. (14)
    """(gram + curvature)⁻¹ moments, of least norm where singular; scaled to a unit diagonal."""
    diagonal = np.diag(gram) + curvature
    scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    matrix = gram * scale
    matrix *= scale[:, None]
    matrix[np.diag_indices_from(matrix)] = np.where(diagonal > 0, 1.0, 0.0)
    if np.min(curvature[1:], initial=np.inf) > 0:
        try:
            return scale * cho_solve(cho_factor(matrix), scale * moments)
        except LinAlgError:
            pass  # singular to working precision: the solution of least norm
    return scale * np.linalg.lstsq(matrix, scale * moments, rcond=1e-13)[0]


class _State(NamedTuple):
    """Weights of a working set, constant first, and what follows from them.

    ``gradient`` is HᵀΩ(y - Hβ); ``curvature`` Λ; ``sigma``, ``kappa`` by tree, ``eta`` by item.
    """

    beta: np.ndarray
    gradient: np.ndarray
    sigma: np.ndarray
    kappa: np.ndarray
    eta: np.ndarray
    curvature: np.ndarray
    loss: float
    squares: float


class WorkingSet:
    """A stage restricted to some trees; the others have no weight."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.trees = np.zeros(0, dtype=np.int64)
        wy = stage.weights * stage.y
        self._all_moments = stage.outputs.correlations(wy)
        self._moment = float(wy.sum())
        self._squares = float(wy @ stage.y)
        self._constant = np.array([-1])
        self.gram = stage.outputs.products(self._constant, self._constant, stage.weights)
        self._items_before = stage.prices.uses @ stage.before
        self._set_up()

    def _set_up(self) -> None:
        stage, trees = self.stage, self.trees
        self.moments = np.append(self._moment, self._all_moments[trees])
        self.prices, self.before = stage.prices.take(trees), stage.before[trees]
        self._uses = Uses.of(self.prices.uses)
        out = np.ones(len(stage.before), dtype=bool)
        out[trees] = False
        self.others = np.flatnonzero(out)
        mu = stage.smoothing
        roots = np.sqrt(stage.before[out] + mu**2)
        self._loss_of_others = stage.penalty * mu * len(self.others)
        self._loss_of_others += stage.tradeoff * float(stage.prices.tree[out] @ roots)

    def add(self, trees: np.ndarray) -> None:
        """Take more trees into the set."""
        stage = self.stage
        columns = np.concatenate([self._constant, self.trees, trees])
        new = stage.outputs.products(columns, trees, stage.weights)
        n = len(self.gram)
        gram = np.empty((len(columns), len(columns)))
        gram[:n, :n], gram[:, n:], gram[n:, :n] = self.gram, new, new[:n].T
        self.gram, self.trees = gram, np.concatenate([self.trees, trees])
        self._set_up()

    def state(self, beta: np.ndarray) -> _State:
        """Roots, curvature and loss at these weights; the constant at its best."""
        stage, mu = self.stage, self.stage.smoothing
        gradient = self.moments - self.gram @ beta
        shift = gradient[0] / self.gram[0, 0] if self.gram[0, 0] > 0 else 0.0
        beta = beta.copy()
        beta[0] += shift
        gradient -= shift * self.gram[0]
        moved = (stage.remaining * beta[1:]) ** 2
        sigma = np.sqrt(beta[1:] ** 2 + mu**2)
        kappa = np.sqrt(self.before + moved + mu**2)
        eta = np.sqrt(self._items_before + self.prices.uses @ moved + mu**2)
        charged = stage.tradeoff * stage.remaining**2 * prices_of_weights(kappa, eta, self.prices)
        curvature = np.append(0.0, stage.penalty / sigma + charged)
        squares = max(0.0, self._squares - float(beta @ (self.moments + gradient)))
        loss = 0.5 * squares + stage.penalty * float(sigma.sum()) + self._loss_of_others
        loss += stage.tradeoff * float(self.prices.tree @ kappa + stage.prices.item @ eta)
        return _State(beta, gradient, sigma, kappa, eta, curvature, loss, squares)

    def step(self, state: _State) -> _State:
        """(14)."""
        return self.state(solve_quadratic(self.gram, self.moments, state.curvature))

    def directions(self, state: _State, beta: np.ndarray) -> Duals:
        """What these weights (without the constant) are of each norm's length."""
        moved, uses = self.stage.remaining * beta, self._uses
        by_item = (1.0 / state.eta)[uses.item] * moved[uses.tree]
        return Duals(beta / state.sigma, moved / state.kappa, by_item)

    def newton_step(self, state: _State, duals: Duals) -> tuple[_State, Duals] | None:
        """Linearise the conditions of an optimum in weights and duals; None if nothing falls.

        Their Hessian holds the duals where that of the smoothed roots holds x/‖x‖, which is wrong
        by orders of magnitude until a norm that will be 0 is as small as the smoothing.
        """
        stage, uses, u = self.stage, self._uses, self.directions(state, state.beta[1:])
        d2 = stage.remaining**2
        bent = Duals(1.0 - duals.penalty * u.penalty, 1.0 - duals.tree * u.tree, duals.item)
        diagonal = stage.penalty * bent.penalty / state.sigma
        diagonal += stage.tradeoff * d2 * self.prices.tree * bent.tree / state.kappa
        each = stage.tradeoff * d2 * stage.prices.item / state.eta
        diagonal += self.prices.uses.T @ each
        diagonal = np.maximum(diagonal, _LEAST * state.curvature[1:])
        across = uses.across(u.item * each[uses.item], duals.item, len(self.trees))
        hessian = self.gram.copy()
        hessian[1:, 1:] -= 0.5 * (across + across.T)
        descent = state.gradient - state.curvature * state.beta
        step = solve_quadratic(hessian, descent, np.append(0.0, diagonal))
        for _ in range(_BACKTRACKS):
            moved = self.state(state.beta + step)
            if moved.loss < state.loss:
                break
            step *= _SHORTER
        else:
            return None
        by = self.directions(state, step[1:])
        along = self.stage.remaining * uses.by_item(u.item * step[1:][uses.tree]) / state.eta
        item = u.item + by.item - duals.item * along[uses.item]
        penalty, tree = u.penalty + bent.penalty * by.penalty, u.tree + bent.tree * by.tree
        return moved, uses.within(Duals(penalty, tree, item))

    def solve(self, beta: np.ndarray, tolerance: float) -> tuple[_State, int]:
        """Iterate until the gap among the set's trees is within the tolerance."""
        state, iterations, stalled = self.state(beta), 0, 0
        duals = self.directions(state, _START * state.beta[1:])
        while iterations < _MAX_ITERATIONS and stalled < _MAX_STALLED:
            iterations += 1
            after_step = self.newton_step(state, duals)
            if after_step is None:
                moved = self.step(state)
                stalled = 0 if moved.loss < state.loss else stalled + 1
                state = moved if moved.loss < state.loss else state
                duals = self.directions(state, _START * state.beta[1:])
            else:
                state, duals = after_step
            if state.loss - self.bound(state) <= tolerance:
                return self.polished(state, duals), iterations
        return state, iterations

    def polished(self, state: _State, duals: Duals) -> _State:
        """Take some more steps: they converge quadratically, and weights settle after the loss."""
        for _ in range(_POLISHING):
            after_step = self.newton_step(state, duals)
            if after_step is None:
                break
            state, duals = after_step
        return state

    def bound(self, state: _State, certificate: Certificate | None = None) -> float:
        """Lower bound of the loss: of the set's trees, or of all with what the others add."""
        stage = self.stage
        curvature, gradient = state.curvature[1:], state.gradient[1:]
        free = curvature <= 0
        size = np.sqrt(np.diag(self.gram)[1:] * self._squares)
        if np.any(np.abs(gradient[free]) > _NOT_ZERO * size[free]):
            return -np.inf
        point = np.where(free, 0.0, gradient / np.where(free, 1.0, curvature))
        moved = (stage.remaining * point) ** 2
        mu = stage.smoothing
        parts = [  # price, ‖u‖, s of each root
            (np.full(len(point), stage.penalty), np.abs(point) / state.sigma, mu),
            (stage.tradeoff * self.prices.tree, np.sqrt(moved) / state.kappa,
             np.sqrt(self.before + mu**2)),
        ]  # fmt: skip
        squared = (self.prices.uses @ moved) / state.eta**2
        s = np.sqrt(self._items_before + mu**2)
        if certificate is not None:
            squared = squared + certificate.items
            parts += certificate.parts
        parts.append((stage.tradeoff * stage.prices.item, np.sqrt(squared), s))
        outside = max([1.0, *(float(np.max(size[p > 0], initial=0.0)) for p, size, _ in parts)])
        if not np.isfinite(outside):
            return -np.inf
        # Σ Ω r y and Σ Ω r² by the products that are there
        residual_y = self._squares - float(state.beta @ self.moments)
        bound = residual_y / outside - 0.5 * state.squares / outside**2
        for price, size, start in parts:
            u0 = np.sqrt(np.maximum(0.0, 1.0 - np.minimum(size / outside, 1.0) ** 2))
            bound += float(np.sum(price * start * u0))
        if certificate is None:
            bound += self._loss_of_others
        return bound

    def certificate(self, state: _State) -> Certificate:
        """Look at the trees outside the set: what they add to the bound, and who should join."""
        stage, others = self.stage, self.others
        scores = stage.outputs.times(self.trees, state.beta[1:], state.beta[0])
        pull = np.abs(stage.outputs.correlations(stage.weights * (stage.y - scores))[others])
        before, mu = stage.before[others], stage.smoothing
        by_penalty = np.full(len(others), stage.penalty)
        tree = stage.tradeoff * stage.prices.tree[others]
        by_tree = np.where(before == 0, tree * stage.remaining, 0.0)
        used = state.eta > ZERO * mu  # their norms point elsewhere already
        room = np.where(used, 0.0, stage.tradeoff * stage.remaining * stage.prices.item)
        coverage = stage.prices.uses.T[others] @ room
        excess = np.maximum(0.0, pull - by_penalty - by_tree)
        excess[excess <= _NOT_ZERO * np.sqrt(self._squares * self.gram[0, 0])] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(excess > 0, excess / coverage, 0.0)
            wish = np.where(excess > 0, pull / (by_penalty + by_tree + coverage), 0.0)
            u_penalty = np.where(by_penalty > 0, np.minimum(1.0, pull / by_penalty), 0.0)
            left = np.maximum(0.0, pull - by_penalty)
            u_tree = np.where(by_tree > 0, np.minimum(1.0, left / by_tree), 0.0)
        wanted = stage.prices.uses[:, others]
        open_items = wanted.multiply(~used[:, None]).tocsr()
        with np.errstate(over="ignore"):
            items = open_items @ np.where(np.isfinite(ratio), ratio, 1e150) ** 2
        alone = ~np.isfinite(ratio)
        parts = [
            (by_penalty, u_penalty, np.full(len(others), mu)),
            (tree, u_tree, np.sqrt(before + mu**2)),
            (np.ones(1), np.array([np.inf if np.any(alone) else 0.0]), np.zeros(1)),
        ]
        order = np.argsort(-wish, kind="stable")
        return Certificate(items, parts, others[order[wish[order] > 0]])


class Certificate(NamedTuple):
    """What trees outside a working set add to the dual point, and who should join, in order."""

    items: np.ndarray
    parts: list
    wanted: np.ndarray


def solve_stage(
    stage: Stage, favourites: np.ndarray | None = None, support: np.ndarray | None = None
) -> Solution:
    """Minimise a stage's loss."""
    n_trees = stage.outputs.n_trees
    working = WorkingSet(stage)
    scale = 0.5 * float(stage.weights @ stage.y**2)
    state, total = working.state(np.zeros(1)), 0
    if support is not None:
        working.add(support)
    elif n_trees <= _FIRST_TREES:
        working.add(np.arange(n_trees))
    else:
        first = working.certificate(state).wanted[:_FIRST_TREES]
        chosen = first if favourites is None else np.union1d(first, favourites)
        working.add(np.sort(chosen))
    start = np.append(state.beta, np.full(len(working.trees), 0.1))
    for _ in range(_MAX_SETS):
        state, iterations = working.solve(start, 0.5 * GAP * scale)
        total += iterations
        if support is not None:
            gap = state.loss - working.bound(state)
            break
        certificate = working.certificate(state)
        gap = state.loss - working.bound(state, certificate)
        if gap <= GAP * scale or not len(certificate.wanted):
            break
        joining = certificate.wanted[: max(50, len(working.trees) // 2)]
        working.add(np.sort(joining))
        start = np.append(state.beta, np.full(len(joining), 0.01))
    weights = np.zeros(n_trees)
    weights[working.trees] = state.beta[1:]
    return Solution(weights, float(state.beta[0]), state.loss, float(gap), total)


def without_traces(weights: np.ndarray, smoothing: float) -> np.ndarray:
    """Weights that the smoothing left near 0 set to 0."""
    return np.where(np.abs(weights) > ZERO * smoothing, weights, 0.0)
