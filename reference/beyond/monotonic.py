"""Monotonic constraints: scores that never fall, or never rise, along a feature.

The rule is that of LightGBM's ``monotone_constraints_method="basic"`` and of scikit-learn's
``monotonic_cst``. Each node has bounds, and the values of all leaves below it lie within them. The
root has none. A split on a feature of sign s, +1 for scores that never fall and -1 for scores that
never rise, is allowed only if s v_l <= s v_r. Then the middle of v_l and v_r becomes a bound of
either side. A split on any other feature hands the node's own bounds down. A value is -G/(H + λ),
or what of the bounds is nearest to it, and the gain is what such values take off the objective, not
what free ones would. Where a missing value goes is no matter of the constraint.

=======  =====================================================================
symbol   name
=======  =====================================================================
v        ``v``, value of a node within its bounds
s        ``signs``, by feature; 0: no constraint
λ        the L2 penalty of :mod:`reference.beyond.l2`; here H has it in it
=======  =====================================================================
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from reference.trees import NOISE, Criterion

NOTHING_BOUND = (-np.inf, np.inf)


def taken_off(G, H, v):
    """Twice what a leaf of value v takes off the objective: -(2 G v + H v²); G²/H at v = -G/H."""
    return -((2.0 * G + H * v) * v)


def bounds_of_children(v_left, v_right, sign: int, bounds: tuple[float, float]):
    """Bounds of the left and of the right child of a split on a feature of this sign."""
    if sign == 0:
        return bounds, bounds
    low, high = bounds
    middle = 0.5 * (v_left + v_right)
    below, above = (low, middle), (middle, high)
    return (below, above) if sign > 0 else (above, below)


@dataclass(frozen=True)
class Bounded(Criterion):
    """What splits and leaves are worth in a node whose values keep to bounds."""

    signs: Sequence[int]
    bounds: tuple[float, float] = NOTHING_BOUND

    def gain(self, m, GL, HL, GR, HR, G, H):
        """Raw gain of splits whose values keep to the bounds; -inf where they are the wrong way."""
        v_left, v_right = self.value(GL, HL), self.value(GR, HR)
        before = taken_off(G, H, self.value(G, H))
        raw = (taken_off(GL, HL, v_left) + taken_off(GR, HR, v_right)) - before
        return np.where(self.signs[m] * v_left > self.signs[m] * v_right, -np.inf, raw)

    def noise(self, G, H, R):
        """What rounding may gain, by the terms of :func:`taken_off` before they cancel out."""
        v = np.abs(self.value(G, H))
        return max(NOISE * ((2.0 * np.abs(G) + H * v) * v), R * R / H)

    def value(self, G, H):
        """Newton step within the bounds."""
        return self.clipped(-G / H)

    def clipped(self, v):
        """The bound that a value is beyond, or the value."""
        low, high = self.bounds
        return np.where(v < low, low, np.where(v > high, high, v))

    def of_children(self, m, v_left, v_right):
        """The middle of the values becomes a bound of either side."""
        sides = bounds_of_children(v_left, v_right, self.signs[m], self.bounds)
        return tuple(replace(self, bounds=bounds) for bounds in sides)
