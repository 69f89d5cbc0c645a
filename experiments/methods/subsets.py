"""Which features to take within a budget: greedily, by what they tell for their price.

The rule is the same for all learners, looks at training rows alone, and is cheap. What a feature
tells is how far the mean of the residuals in each of its bins, from one half of the rows, lowers
the squared error of the other half; of features that are paid together, how far a small tree on
them does. The residuals are those of a few boosted trees on what is taken already; classes are
indicators. Each step takes what tells most for its price to the power of an exponent (1: by price,
0: whatever it costs), as long as all features together, groups' prices included, are within the
budget, and as long as something tells anything. Where luck has a hand in it, gains are multiplied
by random numbers, and what remains of the budget is filled up at random.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from algorithms.costs import PriceList, price_list
from experiments.cell import Cell
from experiments.methods.problem import Part, Problem

_MOST_ROWS = 4000
_MOST_OUTPUTS = 8
_N_BINS = 16
_LEAVES = 12
_TREES = 3  # a step, each with half of its answer
_MOST_STEPS = 40


def prices_of(problem: Problem) -> PriceList:
    """Give the prices of features and of what is acquired together."""
    prices = problem.prices
    named = [prices[name] for name in ("feature_costs", "feature_groups", "group_costs")]
    return price_list(*named, len(problem.names))


def price_alone(problem: Problem) -> np.ndarray:
    """Give what each feature costs if it is bought alone, its group's price with it: (d,) float64.

    What heeds prices and knows no groups is trained at these.
    """
    prices = prices_of(problem)
    return prices.shared[prices.unit] + prices.own


def price_of(prices: PriceList, columns: Sequence[int]) -> float:
    """Give what a row pays that asks for all of these features, in twelve digits.

    So 0.1 and 0.2 are within 0.3.
    """
    columns = np.asarray(columns, dtype=np.int64)
    each = [*prices.shared[np.unique(prices.unit[columns])], *prices.own[columns]]
    return float(f"{math.fsum(each):.12g}")


def run_subset(cell: Cell, problem: Problem) -> list[dict]:
    """Choose features within a budget."""
    params = cell.params
    return [
        {"columns": within_budget(problem, params["budget"], params["exponent"], params["seed"])}
    ]


def within_budget(
    problem: Problem, budget: float, exponent: float, seed: int | None
) -> list[int] | None:
    """Choose features within a budget; None if all are affordable together."""
    prices = prices_of(problem)
    if price_of(prices, np.arange(len(problem.names))) <= budget:
        return None
    train = problem.parts["train"]
    search = _Forward(train, problem.task, prices, problem.fit_weight(train))
    return search.within(budget, exponent, seed)


class _Forward:
    """The greedy search on a sample of the training rows."""

    def __init__(self, part: Part, task: str, prices: PriceList, weight: np.ndarray | None) -> None:
        rng = np.random.default_rng(0)
        rows = np.sort(rng.permutation(len(part))[:_MOST_ROWS])
        self._prices = prices
        self._codes = _binned(part.X.to_numpy()[rows])
        self._weight = np.ones(len(rows)) if weight is None else weight[rows]
        self._residual = _outputs(part.y[rows], task)
        self._residual -= np.average(self._residual, axis=0, weights=self._weight)
        self._half = rng.permutation(len(rows)) % 2 == 0
        members = [np.flatnonzero(prices.unit == unit) for unit in range(len(prices.shared))]
        self._together = [columns for columns in members if len(columns) > 1]

    def within(self, budget: float, exponent: float, seed: int | None) -> list[int]:
        """Give the columns, ascending."""
        d = len(self._prices.unit)
        luck = np.ones(d)
        if seed is not None:
            luck = np.exp(np.random.default_rng(seed).normal(scale=0.7, size=d))
        taken: list[int] = []
        at_a_time = max(1, d // _MOST_STEPS)
        for _ in range(2 * _MOST_STEPS):
            candidates = self._candidates(taken, budget)
            if not candidates:
                break
            price = np.array([self._price(taken, columns) for columns in candidates])
            gain = self._gains(candidates) * [float(np.max(luck[c])) for c in candidates]
            least = np.min(price[price > 0], initial=np.inf)
            value = gain / np.maximum(price, least / 100 if np.isfinite(least) else 1.0) ** exponent
            added = False
            for at in np.argsort(-value, kind="stable")[:at_a_time]:
                new = [m for m in candidates[at] if m not in taken]
                within = price_of(self._prices, [*taken, *new]) <= budget
                if new and within and (gain[at] > 0 or not taken):
                    taken += new
                    added = True
            if not added:
                break
            self._learn(taken)
        if seed is not None:
            self._fill(taken, budget, luck)
        return sorted(int(m) for m in taken)

    def _fill(self, taken: list[int], budget: float, luck: np.ndarray) -> None:
        """Take whatever else is affordable by luck: alone it told nothing, together it may."""
        for m in np.argsort(-luck, kind="stable"):
            if m not in taken and price_of(self._prices, [*taken, m]) <= budget:
                taken.append(int(m))

    def _price(self, taken: list[int], columns) -> float:
        before = price_of(self._prices, taken) if taken else 0.0
        return price_of(self._prices, np.union1d(taken, columns).astype(np.int64)) - before

    def _candidates(self, taken: list[int], budget: float) -> list[np.ndarray]:
        """Single features, and all of a unit that no feature is taken of; those within budget."""
        prices = self._prices
        own = np.setdiff1d(np.arange(len(prices.unit)), taken)
        opened = set(prices.unit[taken].tolist()) if taken else set()
        whole = [c for c in self._together if prices.unit[c[0]] not in opened]
        for_nothing = {int(prices.unit[c[0]]) for c in whole if not prices.own[c].any()}
        single = [np.array([m]) for m in own if int(prices.unit[m]) not in for_nothing]
        each = [*single, *whole]
        return [c for c in each if price_of(prices, np.union1d(taken, c).astype(int)) <= budget]

    def _gains(self, candidates: list[np.ndarray]) -> np.ndarray:
        return np.array([
            self._bins_tell(c[0]) if len(c) == 1 else self._tree_tells(c) for c in candidates
        ])  # fmt: skip

    def _bins_tell(self, column: int) -> float:
        """Fall of the squared error in one half by the means of the other half."""
        codes, fall = self._codes[:, column].astype(np.int64), 0.0
        for half in (self._half, ~self._half):
            weight = np.bincount(codes[half], self._weight[half], _N_BINS + 1)
            there = np.bincount(codes[~half], self._weight[~half], _N_BINS + 1)
            for r in self._residual.T:
                mean = np.bincount(codes[half], (self._weight * r)[half], _N_BINS + 1)
                mean /= np.maximum(weight, 1e-300)
                mean *= weight > 0
                others = np.bincount(codes[~half], (self._weight * r)[~half], _N_BINS + 1)
                fall += float(np.sum(2 * mean * others - there * mean**2))
        return fall

    def _tree_tells(self, columns: np.ndarray) -> float:
        """Likewise by a small tree on several features."""
        fall, weight = 0.0, self._weight[:, None]
        for half in (self._half, ~self._half):
            answer = self._tree(columns, half).predict(self._codes[~half][:, columns])
            r = self._residual[~half]
            answer = answer.reshape(r.shape)
            fall += float(np.sum(weight[~half] * (2 * answer * r - answer**2)))
        return fall

    def _learn(self, taken: list[int]) -> None:
        """Lower the residuals by what the features taken tell together."""
        everything = np.ones(len(self._codes), dtype=bool)
        for _ in range(_TREES):
            tree = self._tree(np.array(taken), everything)
            answer = tree.predict(self._codes[:, taken]).reshape(self._residual.shape)
            self._residual = self._residual - 0.5 * answer

    def _tree(self, columns: np.ndarray, rows: np.ndarray) -> DecisionTreeRegressor:
        least = max(2, int(rows.sum()) // 100)
        tree = DecisionTreeRegressor(max_leaf_nodes=_LEAVES, min_samples_leaf=least, random_state=0)
        X, y = self._codes[rows][:, columns], self._residual[rows]
        return tree.fit(X, y, sample_weight=self._weight[rows])


def _binned(X: np.ndarray) -> np.ndarray:
    """Give the number of each value's bin, of about equally many rows; missing: the last one."""
    codes = np.empty(X.shape, dtype=np.float32)
    for m, column in enumerate(X.T):
        there = column[~np.isnan(column)]
        shares = np.linspace(0, 1, _N_BINS + 1)[1:-1]
        edges = np.unique(np.quantile(there, shares, method="higher")) if len(there) else []
        codes[:, m] = np.searchsorted(edges, column, side="left")
        codes[np.isnan(column), m] = _N_BINS
    return codes


def _outputs(y: np.ndarray, task: str) -> np.ndarray:
    """Give what is predicted as numbers (n, k): indicators of the most frequent classes."""
    if task != "classification":
        spread = float(np.std(y))
        return (y[:, None] / spread if spread > 0 else y[:, None]).astype(np.float64)
    _, numbers, counts = np.unique(y, return_inverse=True, return_counts=True)
    if len(counts) == 2:
        return (numbers == 1).astype(np.float64)[:, None]
    most = np.argsort(-counts, kind="stable")[:_MOST_OUTPUTS]
    return (numbers[:, None] == most).astype(np.float64)
