"""The authors' solver of BudgetPrune: steps along a subgradient of the dual, for one trade-off.

It takes the best pruning that it meets, which need not be an optimum. The twin is ``authors`` in
:mod:`reference.budget_prune`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..kernels.decorators import kernel
from .closure import Closure
from .hull import Hull, Programme

_STEPS = 50
_DAMPING = 500  # m of the length of a step, (1 + m) gap / (squares (step + m))


class _Dual(NamedTuple):
    """Multipliers, and what they are made with."""

    beta: np.ndarray  # (n_edges,) float64, of each purchase and each of its splits
    slope: np.ndarray  # (n_edges,) int64
    buyers: np.ndarray  # (n_purchases,) int64
    limits: np.ndarray  # (n_purchases,) float64: λ times the price of one row
    gains: np.ndarray  # (n_splits,) float64: shares of errors, less λ times the price of passing
    worth: np.ndarray  # (n_splits,) float64


@kernel
def _keep(closure, dual, kept):
    """Splits that stay at these multipliers; return the sum of what the roots are worth."""
    for j in range(dual.gains.shape[0]):
        dual.worth[j] = dual.gains[j]
    for s in range(closure.bought.shape[0]):
        for edge in range(closure.start[s], closure.start[s + 1]):
            dual.worth[closure.splits[edge]] -= dual.buyers[s] * dual.beta[edge]
    for j in range(kept.shape[0] - 1, -1, -1):  # children come later
        if dual.worth[j] > 0 and closure.parent[j] >= 0:
            dual.worth[closure.parent[j]] += dual.worth[j]
    for j in range(kept.shape[0]):
        parent = closure.parent[j]
        kept[j] = dual.worth[j] > 0 and (parent < 0 or kept[parent])


@kernel
def _totals(closure, kept):
    """Errors saved and steps paid by a pruning."""
    saved = paid = 0
    for j in range(kept.shape[0]):
        if kept[j]:
            saved += closure.gain[j]
            paid += closure.price[j]
    for s in range(closure.bought.shape[0]):
        for edge in range(closure.start[s], closure.start[s + 1]):
            if kept[closure.splits[edge]]:
                paid += closure.bought[s]
                break
    return saved, paid


@kernel
def _slopes(closure, dual, kept, value):
    """Subgradient at these multipliers; return the dual value and the sum of its squares."""
    squares = 0
    for j in range(kept.shape[0]):
        if kept[j] and closure.parent[j] < 0:
            value -= dual.worth[j]
    for s in range(closure.bought.shape[0]):
        total = 0.0
        for edge in range(closure.start[s], closure.start[s + 1]):
            total += dual.beta[edge]
        over = total - dual.limits[s]
        if over > 0:
            value -= dual.buyers[s] * over
        for edge in range(closure.start[s], closure.start[s + 1]):
            slope = (1 if kept[closure.splits[edge]] else 0) - (1 if over > 0 else 0)
            dual.slope[edge] = slope
            squares += dual.buyers[s] * abs(slope)
    return value, squares


@kernel
def _move(dual, length):
    for edge in range(dual.beta.shape[0]):
        dual.beta[edge] = max(0.0, dual.beta[edge] + length * dual.slope[edge])


def authors_pruning(task: Programme, tradeoff: float) -> Hull:
    """Best pruning that 50 steps meet, as a hull of one point."""
    closure: Closure = task.closure
    judged, n_splits = max(1, task.n_judged), len(task.closure.gain)
    unit = math.ldexp(tradeoff, -task.exponent) / task.weight
    dual = _Dual(
        np.zeros(len(closure.splits)),
        np.zeros(len(closure.splits), dtype=np.int64),
        task.buyers,
        unit * (closure.bought / task.buyers),
        closure.gain / judged - unit * closure.price,
        np.empty(n_splits),
    )
    kept, best, least = np.empty(n_splits, dtype=np.bool_), None, math.inf
    for step in range(1, _STEPS + 1):
        _keep(closure, dual, kept)
        saved, paid = _totals(closure, kept)
        errors = task.root_errors - int(saved)
        primal = errors / judged + unit * int(paid)
        if primal < least:
            best, least = (kept.copy(), errors, int(paid)), primal
        value, squares = _slopes(closure, dual, kept, task.root_errors / judged)
        if squares == 0 or least <= value:
            break
        _move(dual, (1 + _DAMPING) * (least - value) / (squares * (step + _DAMPING)))
    stays, errors, paid = best
    return Hull(
        np.array([errors], dtype=np.int64),
        np.array([paid], dtype=np.int64),
        np.where(stays, 0, 1),
        task.n_judged,
        task.weight,
        task.exponent,
    )
