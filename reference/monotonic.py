"""Monotonic constraints: scores that never fall, or never rise, along a feature.

The rule is that of LightGBM's ``monotone_constraints_method="basic"`` and of scikit-learn's
``monotonic_cst``; none of the papers has constraints. Each node has bounds, and the values of all
leaves below it lie within them. The root has none. A split on a feature of sign s, +1 for scores
that never fall and -1 for scores that never rise, is allowed only if s v_l <= s v_r. Then the
middle of v_l and v_r becomes a bound of either side. A split on any other feature hands the node's
own bounds down. A value is -G/(H + λ), or what of the bounds is nearest to it, and the gain is
what such values take off the objective, not what free ones would. Where a missing value goes is
no matter of the constraint.

=======  ==============================================
symbol   name
=======  ==============================================
v        ``v``, value of a node within its bounds
s        ``sign``, of each feature; 0: no constraint
λ        ``reg_lambda``; here H has it in it already
=======  ==============================================
"""

from dataclasses import dataclass

import numpy as np

NOTHING_BOUND = (-np.inf, np.inf)


@dataclass(frozen=True)
class Within:
    """Bounds of a node, and the sign of the feature that is to split it."""

    bounds: tuple[float, float]
    sign: int


def clipped(v, bounds: tuple[float, float]):
    """Give the bound that a value is beyond, or the value."""
    low, high = bounds
    return np.where(v < low, low, np.where(v > high, high, v))


def value(G, H, bounds):
    """Newton step -G/H within the bounds."""
    return clipped(-G / H, bounds)


def taken_off(G, H, v):
    """Twice what a leaf of value v takes off the objective: -(2 G v + H v²); G²/H at v = -G/H."""
    return -((2.0 * G + H * v) * v)


def bounded_gain(GL, HL, GR, HR, G, H, within: Within):
    """Raw gain of splits whose values keep to the bounds; -inf where they are the wrong way."""
    v_left, v_right = value(GL, HL, within.bounds), value(GR, HR, within.bounds)
    before = taken_off(G, H, value(G, H, within.bounds))
    raw = (taken_off(GL, HL, v_left) + taken_off(GR, HR, v_right)) - before
    return np.where(within.sign * v_left > within.sign * v_right, -np.inf, raw)


def size_of_terms(G, H, bounds):
    """How large the terms of :func:`taken_off` are for a node, before they cancel each other."""
    v = np.abs(value(G, H, bounds))
    return (2.0 * np.abs(G) + H * v) * v


def bounds_of_children(v_left, v_right, sign: int, bounds):
    """Bounds of the left and of the right child of a split on a feature of this sign."""
    if sign == 0:
        return bounds, bounds
    low, high = bounds
    middle = 0.5 * (v_left + v_right)
    below, above = (low, middle), (middle, high)
    return (below, above) if sign > 0 else (above, below)
