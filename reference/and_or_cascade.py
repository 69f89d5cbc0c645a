"""AND-OR: stages with trees of their own; positives must pass all, negatives fail at one.

M. M. Dundar and J. Bi: Joint optimization of cascaded classifiers for computer aided detection.
IEEE Conference on Computer Vision and Pattern Recognition (2007). **The original was not at hand**:
the formulas are reconstructed from what M. Chen et al. (Classifier cascade for minimizing feature
evaluation cost, 2012, section 4) say of it, and from memory.

===============  ==========================================================================
symbol           name
===============  ==========================================================================
f_k, e_ik        Σ over the trees of pool k and a constant; 1 - y_i f_k(x_i), ``errors`` (K, n)
w_k              ``beta[k]`` (1 + T,), 0 for trees of other pools
ν₁, ν₂           ``negative_weight``, ``positive_weight``
τ, m             ``ridge``; ``copies``, Σm = 1
α, a, b, s       ``dual``; ``caps``, ``targets``, ``y`` of a block's problem
===============  ==========================================================================

Minimised is ½τ Σ_k ‖w_k‖² + ν₁ Σ_- m_i Π_k (e_ik)₊ + ν₂ Σ_+ m_i max(0, max_k e_ik), one stage (a
*block*) at a time. In a block the others make it a weighted hinge loss, which is convex:

    ½τ‖w‖² + Σ_i a_i (b_i - s_i f(x_i))₊,   s_i = y_i,

for negatives a = ν₁ m Π_{j≠k} (e_j)₊ and b = 1, for positives a = ν₂ m and b = 1 - max(0, max_{j≠k}
e_j). It is solved by coordinate ascent on its dual, max Σ α_i b_i - ‖Σ α_i s_i h_i‖²/2τ with
0 <= α <= a, up to a duality gap.

Deviations and choices

1. The constants are penalised like all weights: the dual has no equality to keep.
2. Copies are normalised, Σm = 1.
3. Costs enter by the pools alone. A row is rejected at a stage if f_k < 0.
4. Not convex as a whole: blocks start from 0, in the order of the stages; only falls are accepted.
"""

from dataclasses import dataclass

import numpy as np

from reference.cascades import Cascade

GAP = 1e-9  # of a block, relative to its loss at w = 0


@dataclass(frozen=True)
class Model:
    """A fitted cascade, and its objective after each block."""

    cascade: Cascade
    objectives: list[float]


def errors(beta, outputs, y) -> np.ndarray:
    """e_ik = 1 - y_i f_k(x_i), (K, n); ``outputs`` (n, 1 + T)."""
    return 1.0 - y * (beta @ outputs.T)


def objective(beta, outputs, y, copies, ridge, negative_weight, positive_weight) -> float:
    """The sum above."""
    e = errors(beta, outputs, y)
    negative = np.prod(np.maximum(e, 0.0), axis=0)
    positive = np.maximum(0.0, np.max(e, axis=0))
    loss = np.where(y > 0, positive_weight * positive, negative_weight * negative)
    return 0.5 * ridge * float(np.sum(beta**2)) + float(copies @ loss)


def block(k: int, beta, outputs, y, copies, negative_weight, positive_weight):
    """Caps a_i and targets b_i of stage k's problem."""
    others = np.delete(errors(beta, outputs, y), k, axis=0)
    product = np.prod(np.maximum(others, 0.0), axis=0)
    worst = np.max(others, axis=0, initial=0.0)
    caps = copies * np.where(y > 0, positive_weight, negative_weight * product)
    return caps, np.where(y > 0, 1.0 - worst, 1.0)


def hinge_loss(w, H, y, caps, targets, ridge) -> float:
    """½τ‖w‖² + Σ_i a_i (b_i - s_i f(x_i))₊."""
    return 0.5 * ridge * float(w @ w) + float(caps @ np.maximum(targets - y * (H @ w), 0.0))


def solve_block(H, y, caps, targets, ridge, max_sweeps=20_000) -> np.ndarray:
    """Dual coordinate ascent, row by row in order, until the gap is small."""
    dual, w = np.zeros(len(y)), np.zeros(H.shape[1])
    squares, at_zero = np.sum(H**2, axis=1) / ridge, float(caps @ np.maximum(targets, 0.0))
    for _ in range(max_sweeps):
        for i in range(len(y)):
            if caps[i] > 0:
                step = (targets[i] - y[i] * (H[i] @ w)) / squares[i]
                new = min(max(dual[i] + step, 0.0), caps[i])
                w += (new - dual[i]) * y[i] / ridge * H[i]
                dual[i] = new
        bound = float(dual @ targets) - 0.5 * ridge * float(w @ w)
        if hinge_loss(w, H, y, caps, targets, ridge) - bound <= GAP * at_zero:
            break
    return w


def fit(
    outputs,
    y,
    pools,
    *,
    n_stages: int,
    ridge: float = 1e-2,
    negative_weight: float = 1.0,
    positive_weight: float = 3.5,
    max_cycles: int = 20,
    tolerance: float = 1e-4,
    sample_weight=None,
) -> Model:
    """Block descent; ``outputs`` (n, T), ``pools`` (T,) stages from 0, ``y`` in {-1, +1}."""
    n = len(outputs)
    copies = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    copies = copies / copies.sum()
    H = np.column_stack([np.ones(n), outputs])
    beta, weights = np.zeros((n_stages, H.shape[1])), (negative_weight, positive_weight)
    values = [objective(beta, H, y, copies, ridge, *weights)]
    for _ in range(max_cycles):
        before = values[-1]
        for k in range(n_stages):
            mine = np.append(True, pools == k)
            caps, targets = block(k, beta, H, y, copies, *weights)
            changed = beta.copy()
            changed[k, mine] = solve_block(H[:, mine], y, caps, targets, ridge)
            value = objective(changed, H, y, copies, ridge, *weights)
            if value < values[-1]:
                beta = changed
            values.append(min(value, values[-1]))
        if not before - values[-1] > tolerance * values[-1]:
            break
    return Model(Cascade(beta, np.zeros(n_stages - 1)), values)
