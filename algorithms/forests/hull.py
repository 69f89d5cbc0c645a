"""All optimal prunings of a forest, for every trade-off between errors and cost.

The twin is :mod:`reference.budget_prune`. Optima are nested, so that the problem between two of
them is that of the splits in which they differ: each cut is about half as large as the last.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..costs import PriceList
from ..kernels.decorators import kernel
from ..trees.forest import Forest
from .closure import Closure, best_free, part_of, smallest_optimum
from .first_uses import Marks, first_uses
from .growing import CountedForest, plain_forest

_MOST = 2**61  # of all errors times all prices
_FEWEST_STEPS = 2**10  # of a price that the grid rounds


class Programme(NamedTuple):
    """What is to be decided about each split of a forest."""

    closure: Closure
    buyers: np.ndarray  # (n_purchases,) int64: rows, by weight, of each purchase
    root_errors: int  # Errors of all trees if they are pruned to their roots
    n_judged: int  # Rows, by weight, of all trees whose errors are counted
    weight: int  # Rows, by weight, that are billed
    exponent: int  # k of the price grid 2**-k


class Hull(NamedTuple):
    """All optimal prunings, from the cheapest to the one with the fewest errors."""

    # errors, cost: (n_points,) int64: of all rows together, the cost in steps of the price grid
    errors: np.ndarray
    cost: np.ndarray
    # (n_splits,) int64: first pruning in which each split stays; the number of prunings if in none
    entry: np.ndarray
    n_judged: int  # n_judged, weight, exponent: As in the programme
    weight: int
    exponent: int

    def mean_cost(self, steps: int) -> Fraction:
        """Mean bill of a row, in the unit of the prices, of steps that all rows pay together."""
        return Fraction(int(steps), self.weight) / Fraction(2) ** self.exponent

    def tradeoffs(self) -> list[Fraction]:
        """Smallest trade-off at which each pruning is taken; 0 for the last."""
        saved, more = -np.diff(self.errors), np.diff(self.cost)
        pairs = zip(saved.tolist(), more.tolist(), strict=True)
        return [*(Fraction(e, self.n_judged) / self.mean_cost(c) for e, c in pairs), Fraction(0)]

    def chosen(self, tradeoff: float, budget: float | None) -> int:
        """Pruning for a trade-off, or the best within the budget if that is cheaper."""
        place = 0
        if tradeoff != math.inf:
            wanted = Fraction(tradeoff)
            place = next(i for i, least in enumerate(self.tradeoffs()) if wanted >= least)
        if budget is not None and budget != math.inf:
            within = [self.mean_cost(cost) <= Fraction(budget) for cost in self.cost[: place + 1]]
            if not within[0]:  # one that costs nothing is always there, unless there is one alone
                raise ValueError("budget is below the cost of the only pruning.")
            place = len(within) - 1 - within[::-1].index(True)
        return place


def price_exponent(amounts: list[tuple[float, int]], gains: int) -> int:
    """Exponent k of the finest price grid on which products with the errors fit 62 bits."""
    paid = [(price, weight) for price, weight in amounts if price > 0 and weight > 0]
    if not paid:
        return 0
    most = _MOST // max(1, gains)
    exponent = math.frexp(most)[1] - math.frexp(max(paid)[0])[1] + 1
    while sum(weight * in_steps(price, exponent) for price, weight in paid) > most:
        exponent -= 1
    for price, _ in paid:
        steps = in_steps(price, exponent)
        if steps < (1 if float(np.ldexp(price, exponent)) == steps else _FEWEST_STEPS):
            raise ValueError(
                f"prices are too far apart to be added as whole numbers: {price:g} would be lost "
                f"beside {max(paid)[0]:g} and {gains} errors. Round feature_costs or split_cost to "
                "0 where they do not matter, or prune by fewer rows."
            )
    return exponent


def in_steps(price: float, exponent: int) -> int:
    """Price as a whole number of grid steps, rounded up: so that a budget is kept."""
    return math.ceil(np.ldexp(price, exponent))


def errors_of(fitted: CountedForest, judged: np.ndarray) -> np.ndarray:
    """Rows that each node's majority label gets wrong, (n_nodes,) int64."""
    label = np.argmax(fitted.counts, axis=1) if len(judged) else np.zeros(0, dtype=np.int64)
    return judged.sum(axis=1) - judged[np.arange(len(judged)), label]


def programme(
    fitted: CountedForest,
    judged: np.ndarray,
    X: np.ndarray,
    weights: np.ndarray,
    once: PriceList,
    per_split: np.ndarray,
) -> Programme:
    """Put a forest and the rows that pay for features into a programme."""
    forest = fitted.forest
    split = np.flatnonzero(forest.left >= 0)
    left, wrong = forest.left[split], errors_of(fitted, judged)
    gain = wrong[split] - wrong[left] - wrong[left + 1]
    roots, prices = forest.tree[:-1], np.concatenate([once.shared, once.own])
    uses = first_uses(forest, X, weights, Marks(once.unit, prices > 0, len(once.shared)))
    tested = forest.feature[split]
    paid = np.zeros(len(prices), dtype=np.int64)
    np.add.at(paid, uses.mark, uses.weight)
    passed = np.zeros(len(per_split), dtype=np.int64)
    np.add.at(passed, tested, uses.passed)
    amounts = [*_pairs(prices, paid), *_pairs(per_split, passed)]
    exponent = price_exponent(amounts, int(np.abs(gain).sum()))
    once_steps, split_steps = (
        np.array([in_steps(p, exponent) if n > 0 else 0 for p, n in _pairs(*each)], dtype=np.int64)
        for each in ((prices, paid), (per_split, passed))
    )
    closure = Closure(
        gain,
        split_steps[tested] * uses.passed,
        _parents(forest, split),
        uses.start,
        uses.splits,
        once_steps[uses.mark] * uses.weight,
    )
    judged_rows, errors = int(judged[roots].sum()), int(wrong[roots].sum())
    return Programme(closure, uses.weight, errors, judged_rows, int(weights.sum()), exponent)


def _pairs(prices: np.ndarray, amounts: np.ndarray) -> list[tuple[float, int]]:
    return list(zip(prices.tolist(), amounts.tolist(), strict=True))


def _parents(forest: Forest, split: np.ndarray) -> np.ndarray:
    """Split above each split, -1 of roots: (n_splits,) int32."""
    above = np.full(len(forest.left) + 1, -1, dtype=np.int32)
    left = forest.left[split]
    above[left] = above[left + 1] = np.arange(len(split))
    return above[split]


def hull_of(task: Programme) -> Hull:
    """Find all optima (M. J. Eisner and D. G. Severance 1976).

    Between two neighbours a cut with the trade-off at which both are as good shows a third, or that
    there is none.
    """
    closure = task.closure
    n_splits = len(closure.gain)
    allowed = closure.price == 0
    allowed[closure.splits] = False
    cheapest, best = np.empty(n_splits, dtype=np.bool_), np.empty(n_splits, dtype=np.bool_)
    best_free(closure.gain, closure.parent, allowed, cheapest)
    best_free(closure.gain, closure.parent, np.ones(n_splits, dtype=np.bool_), best)
    errors, cost = [task.root_errors - int(closure.gain[cheapest].sum())], [0]
    entry = np.where(cheapest, 0, n_splits + 1)
    for splits, saved, paid in _steps(closure, best & ~cheapest, cheapest):
        entry[splits] = len(errors)
        errors.append(errors[-1] - saved)
        cost.append(cost[-1] + paid)
    entry = np.minimum(entry, len(errors))
    return Hull(
        np.array(errors, dtype=np.int64),
        np.array(cost, dtype=np.int64),
        entry.astype(np.int64),
        task.n_judged,
        task.weight,
        task.exponent,
    )


def _steps(
    closure: Closure, undecided: np.ndarray, paid: np.ndarray
) -> Iterator[tuple[np.ndarray, int, int]]:
    """From each optimum to the next: splits that are added, errors saved, and what they cost."""
    waiting = [(part_of(closure, undecided, paid), np.flatnonzero(undecided))]
    while waiting:
        part, splits = waiting.pop()
        if not len(splits):
            continue
        saved = int(part.gain.sum())
        costs = int(part.price.sum()) + int(part.bought.sum())
        common = math.gcd(saved, costs)
        middle = smallest_optimum(part, costs // common, saved // common)
        if not middle.any():
            yield splits, saved, costs
            continue
        nothing = np.zeros(len(splits), dtype=np.bool_)
        waiting.append((part_of(part, ~middle, middle), splits[~middle]))
        waiting.append((part_of(part, middle, nothing), splits[middle]))


def cut_back(fitted: CountedForest, stays: np.ndarray) -> CountedForest:
    """Forest in which all but some splits are leaves."""
    forest = fitted.forest
    kept_splits = np.flatnonzero(forest.left >= 0)[stays]
    reached = np.zeros(len(forest.left), dtype=bool)
    reached[forest.tree[:-1]] = True
    left = forest.left[kept_splits]
    reached[left] = reached[left + 1] = True
    number = np.cumsum(reached) - 1
    new_left = np.full(len(forest.left), -1, dtype=np.int64)
    new_left[kept_splits] = number[left]
    new_left = new_left[reached]
    inside, counts = new_left >= 0, fitted.counts[reached]
    tree = np.concatenate([number[forest.tree[:-1]], [np.count_nonzero(reached)]])
    cut = plain_forest(
        tree.astype(np.int64),
        counts,
        np.where(inside, forest.feature[reached], -1),
        np.where(inside, forest.threshold[reached], 0.0),
        new_left,
        np.where(inside, forest.gain[reached], 0.0),
        forest.depth[reached],
    )
    return CountedForest(cut, counts, fitted.out_of_bag[reached])


# --- the authors' solver -----------------------------------------------------------------------

# Steps along a subgradient of the dual, for one trade-off. It takes the best pruning that it meets,
# which need not be an optimum. The twin is ``authors`` in :mod:`reference.budget_prune`.

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
