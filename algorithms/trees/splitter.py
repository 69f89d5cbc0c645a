"""Best split of a node: per feature by raw gain, then over features by net gain, Eqs. (12)-(13)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from algorithms.kernels import kernel

# A gain below this share of the parent's own score is rounding noise, not a reason to split.
MIN_RELATIVE_GAIN = 2.0**-40


class Scale(NamedTuple):
    """Powers of two that turn the integer sums into numbers (exact)."""

    gradient: float
    hessian: float
    count: float


class Limits(NamedTuple):
    """What a tree may become."""

    max_leaves: int
    max_depth: int
    min_samples_leaf: float
    min_hessian_leaf: float
    best_first: bool
    stop_on_negative_gain: bool


class Penalties(NamedTuple):
    """Prices of Eqs. (4)-(6), and what has been paid for already.

    A *unit* is what one acquisition brings: a feature, or a group of them. A *mark* is a priced
    unit's bit in the row's words of `marks`.
    """

    tradeoff: float  # lambda
    split_price: np.ndarray  # (n_features,) alpha / eps_m
    row_price: np.ndarray  # (n_features,) beta_m
    model_price: np.ndarray  # (n_features,) gamma_m
    unit: np.ndarray  # (n_features,) int64
    mark: np.ndarray  # (n_features,) int64, -1 where beta_m is 0
    model_uses: np.ndarray  # (n_units,) uint8, D(k, m)
    marks: np.ndarray  # (n_samples, n_words) uint64, C(k, i, m)
    root_fresh: np.ndarray  # (n_marks,) int64, weighted rows that have not used the unit yet


@kernel
def _prefix_plain(hists, slot, entry, n_bins, scale, left):
    g = h = n = np.int64(0)
    gradient, hessian, count = hists.gradient[slot], hists.hessian[slot], hists.count[slot]
    for b in range(n_bins - 1):
        g += gradient[entry + b]
        h += hessian[entry + b]
        n += count[entry + b]
        left[0, b] = g * scale.gradient
        left[1, b] = h * scale.hessian
        left[2, b] = n * scale.count


@kernel
def _prefix_bundled(hists, slot, entry, n_bins, default, total, scale, left):
    """The same for a feature in a bundle: its default bin holds what the others leave over."""
    gradient, hessian, count = hists.gradient[slot], hists.hessian[slot], hists.count[slot]
    g0, h0, n0 = total[0], total[1], total[2]
    for b in range(n_bins - 1):
        g0 -= gradient[entry + b]
        h0 -= hessian[entry + b]
        n0 -= count[entry + b]
    g = h = n = np.int64(0)
    for b in range(n_bins - 1):
        if b == default:
            g += g0
            h += h0
            n += n0
        else:
            e = entry + (b if b < default else b - 1)
            g += gradient[e]
            h += hessian[e]
            n += count[e]
        left[0, b] = g * scale.gradient
        left[1, b] = h * scale.hessian
        left[2, b] = n * scale.count


@kernel
def scan_feature(layout, feature, hists, slot, total, scale, limits, left, raw_gain, threshold):
    """Best threshold of one feature by raw gain; ties go to the lowest threshold.

    Parameters
    ----------
    total : ndarray of shape (3,), int64
        Gradient, hessian and count of the node on their grids.
    left : ndarray of shape (4, 256), float64
        Scratch space.
    raw_gain, threshold : ndarray of shape (n_features,), float64 and int64
        Outputs, written at `feature`: the raw gain (0 if no split is allowed) and the last bin
        that goes left.
    """
    entry = layout.column_code[layout.feature_column[feature]] + layout.feature_code[feature]
    default = layout.feature_default[feature]
    n_cuts = layout.feature_n_bins[feature] - 1
    if default < 0:
        _prefix_plain(hists, slot, entry, n_cuts + 1, scale, left)
    else:
        _prefix_bundled(hists, slot, entry, n_cuts + 1, default, total, scale, left)
    G, H, N = total[0] * scale.gradient, total[1] * scale.hessian, total[2] * scale.count
    parent = G * G / H
    min_n, min_h = limits.min_samples_leaf, limits.min_hessian_leaf
    g, h, n, gains = left[0], left[1], left[2], left[3]
    for b in range(n_cuts):  # branch-free, so that it runs on vector units
        GL, HL, NL = g[b], h[b], n[b]
        GR, HR, NR = G - GL, H - HL, N - NL
        gain = (GL * GL / HL + GR * GR / HR) - parent
        allowed = (min_n <= NL) & (min_n <= NR) & (min_h <= HL) & (min_h <= HR)
        gains[b] = gain if allowed else -np.inf
    best, at = MIN_RELATIVE_GAIN * parent, -1
    for b in range(n_cuts):
        if gains[b] > best:
            best, at = gains[b], b
    raw_gain[feature] = best if at >= 0 else 0.0
    threshold[feature] = at


@kernel
def rank_features(raw_gain, n_rows, fresh, count_scale, penalties):
    """Best feature of a node by net gain, Eq. (12); ties go to the lowest feature index.

    Parameters
    ----------
    raw_gain : ndarray of shape (n_features,)
        Best raw gain per feature; 0 where there is no candidate.
    n_rows : float
        |I_p|, weighted.
    fresh : ndarray of shape (n_marks,), int64
        Rows of the node that have not used the unit yet, weighted, on the weights' grid.
    count_scale : float
        Step of the weights' grid.

    Returns
    -------
    net : float
        -inf if no feature is a candidate.
    feature : int
        -1 if no feature is a candidate.
    """
    best, at = -np.inf, -1
    for m in range(raw_gain.shape[0]):
        if raw_gain[m] > 0.0:
            coupled = 0.0
            if penalties.model_uses[penalties.unit[m]] == 0:
                coupled = penalties.model_price[m]
            rows = 0.0
            if penalties.mark[m] >= 0:
                rows = fresh[penalties.mark[m]] * count_scale
            penalty = (n_rows * penalties.split_price[m] + coupled) + penalties.row_price[m] * rows
            net = 0.5 * raw_gain[m] - penalties.tradeoff * penalty
            if net > best:
                best, at = net, m
    return best, at
