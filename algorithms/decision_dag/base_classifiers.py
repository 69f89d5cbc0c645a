"""An additive model as a decision process takes it: base classifiers whose answers are exact.

A base classifier is a round of the model: one tree, whose leaves answer for all scores, or one tree
for each score. Answers are rounded to a grid on which the largest ones of all base classifiers sum
to 2**40, so that a row's scores are whole numbers that do not depend on its path to them.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone, is_classifier
from sklearn.frozen import FrozenEstimator

from .. import costs
from ..adaboost_mh import AdaBoostMH
from ..boosted_trees.estimator import BoostedTrees
from ..estimators.fitting import ignore_constant_parts
from ..exits.fitted_trees import FittedTrees, fitted_trees_of
from ..kernels.decorators import kernel, resolve_n_threads, threads
from ..kernels.loops import for_each
from ..trees.forest import NODE_DTYPES, Forest
from ..trees.predictor import leaf_of
from .rewards import SPAN_BITS, Prices

_BILL_BITS = 30  # of the largest bill: what rows of 2**30 copies pay fits 61 bits
_SMALLEST_UNIT, _LARGEST_TOTAL = 1e-290, 1e150  # a reward may square them
_LARGEST_START = 2.0**12  # constant scores, in the size of all answers


def fit_base(
    estimator: object,
    X: ArrayLike,
    y: ArrayLike,
    signs: NDArray[np.float64] | None,
    weights: ArrayLike | None,
) -> tuple[object, FittedTrees]:
    """Base classifiers of an estimator: fitted anew if it is this package's, else as they are."""
    if isinstance(estimator, FrozenEstimator):
        fitted = estimator.estimator
    elif isinstance(estimator, BoostedTrees | AdaBoostMH):
        fitted = clone(estimator)
        with warnings.catch_warnings():
            ignore_constant_parts()
            target = y if signs is None or is_classifier(fitted) else signs
            fitted.fit(X, target, sample_weight=weights)
    else:
        fitted = estimator
    return fitted, fitted_trees_of(fitted)


class BaseClassifiers(NamedTuple):
    """The rounds of an additive model with answers in steps of a grid."""

    # Its trees, `n_parts` for each base classifier; features are numbered within `used`
    forest: Forest
    values: np.ndarray  # (n_nodes, n_columns) float64: what each leaf adds to the scores
    initial_scores: np.ndarray  # (n_columns,) float64: scores before any base classifier
    answers: np.ndarray  # (n_nodes, n_columns) int64: the values in steps
    n_parts: int
    initial: np.ndarray  # (n_columns,) int64: the initial scores in steps
    sizes: np.ndarray  # (n_base,) int64: largest answer of each, in steps
    unit: float  # Value of a step
    used: np.ndarray  # (n_used,) int64: columns that any tree tests

    @property
    def n_base(self) -> int:
        """Number N of base classifiers."""
        return len(self.sizes)

    @property
    def evaluates(self) -> NDArray[np.bool_]:
        """Whether each looks at anything, (n_base,) bool: without a split it is a constant vote."""
        split = self.forest.left[self.forest.tree[:-1]] >= 0
        return split.reshape(-1, self.n_parts).any(axis=1)

    def fingerprint(self) -> str:
        """SHA-256 of all that answers depend on."""
        digest = hashlib.sha256()
        forest = self.forest
        parts = (forest.tree, forest.feature, forest.threshold, forest.left, self.used)
        for array in (*parts, self.answers, self.initial, np.array([self.unit])):
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


def base_classifiers(responses: FittedTrees) -> BaseClassifiers:
    """Take a model apart."""
    n_columns, forest = responses.n_columns, responses.forest
    if forest.n_trees == 0:
        raise ValueError(f"{responses.name} has no base classifiers: there is nothing to choose.")
    shared = n_columns > 1 and responses.meter.trees_ is not forest
    n_parts = 1 if shared or n_columns == 1 else n_columns
    values = _answers(responses, n_parts)
    if shared:
        forest = forest.take(np.arange(0, forest.n_trees, n_columns))
    return on_grid(responses.name, forest, values, n_parts, responses.initial_scores)


def on_grid(
    name: str, forest: Forest, values: np.ndarray, n_parts: int, initial_scores: np.ndarray
) -> BaseClassifiers:
    """Put answers on their grid."""
    largest = np.max(np.maximum.reduceat(np.abs(values), forest.tree[:-1]), axis=1)
    sizes = largest.reshape(-1, n_parts).max(axis=1)
    total = math.fsum(sizes) if sizes.max() <= _LARGEST_TOTAL else math.inf
    if not total > 0:
        raise ValueError(
            f"All base classifiers of {name} answer 0 (their weights alpha are 0): there is "
            "nothing to choose."
        )
    unit = total / 2.0 ** (SPAN_BITS - 1)
    if unit < _SMALLEST_UNIT or total > _LARGEST_TOTAL:
        raise ValueError(f"The answers of {name} are too small or too large: {total:g} in all.")
    if not np.all(np.abs(initial_scores) <= _LARGEST_START * total):
        raise ValueError(
            f"The constant scores of {name} are more than {_LARGEST_START:g} times what all its "
            "base classifiers answer."
        )
    used, feature = np.unique(forest.feature, return_inverse=True)
    if used[0] == -1:
        used, feature = used[1:], feature - 1
    return BaseClassifiers(
        forest._replace(feature=feature.astype(np.int32)),
        values,
        initial_scores,
        np.rint(values / unit).astype(np.int64),
        n_parts,
        np.rint(initial_scores / unit).astype(np.int64),
        np.rint(sizes / unit).astype(np.int64),
        unit,
        used.astype(np.int64),
    )


def nothing(initial_scores: np.ndarray) -> BaseClassifiers:
    """No base classifiers: a model that predicts the same for all rows."""
    empty = Forest(
        np.zeros(1, dtype=np.int64), *(np.zeros(0, dtype=dtype) for dtype in NODE_DTYPES.values())
    )
    n_columns, whole = len(initial_scores), np.zeros(0, dtype=np.int64)
    unit = max(float(np.max(np.abs(initial_scores))) / 2.0 ** (SPAN_BITS - 1), _SMALLEST_UNIT)
    return BaseClassifiers(
        empty, np.zeros((0, n_columns)), initial_scores, np.zeros((0, n_columns), dtype=np.int64),
        1, np.rint(initial_scores / unit).astype(np.int64), whole, unit, whole,
    )  # fmt: skip


def _answers(responses: FittedTrees, n_parts: int) -> np.ndarray:
    """What each leaf adds to each score, (n_nodes, n_columns), with trees that are shared once."""
    n_columns, forest = responses.n_columns, responses.forest
    if n_parts == 1 and n_columns > 1:
        trees = np.arange(forest.n_trees).reshape(-1, n_columns)
        nodes = [
            np.concatenate([np.arange(*forest.tree[t : t + 2]) for t in trees[:, k]])
            for k in range(n_columns)
        ]
        return np.column_stack([responses.contributions[at] for at in nodes])
    values = np.zeros((len(forest.feature), n_columns))
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree))
    values[np.arange(len(tree)), tree % n_columns] = responses.contributions
    return values


class Leaves(NamedTuple):
    """The base classifiers by leaf."""

    number: np.ndarray  # (n_nodes,) int64: number of each leaf within its tree; -1 in a split node
    values: np.ndarray  # (n_trees, n_codes, n_columns) int64: answers; 0 beyond a tree's last leaf


def leaves_of(base: BaseClassifiers) -> Leaves:
    """Number the leaves of each tree, in the order of nodes."""
    forest, leaf = base.forest, base.forest.left < 0
    before = np.concatenate([[0], np.cumsum(leaf)])
    number = before[:-1] - np.repeat(before[forest.tree[:-1]], np.diff(forest.tree))
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree))
    n_codes = int(np.max(before[forest.tree[1:]] - before[forest.tree[:-1]]))
    values = np.zeros((forest.n_trees, n_codes, base.answers.shape[1]), dtype=np.int64)
    values[tree[leaf], number[leaf]] = base.answers[leaf]
    return Leaves(np.where(leaf, number, -1), values)


def leaf_codes(base: BaseClassifiers, leaves: Leaves, X: np.ndarray, n_threads: int) -> np.ndarray:
    """Leaf of each row in each tree."""
    dtype = np.uint8 if leaves.values.shape[1] <= 256 else np.uint16
    if leaves.values.shape[1] > 2**16:
        raise ValueError("A tree of the base classifiers has more than 65536 leaves.")
    codes = np.empty((len(X), base.forest.n_trees), dtype=dtype)
    with threads(resolve_n_threads(n_threads), codes.size):
        _leaf_codes(base.forest, leaves.number, X, codes)
    return codes


@kernel
def _codes_of_row(i, forest, number, X, codes):
    for t in range(codes.shape[1]):
        codes[i, t] = number[leaf_of(forest, t, X, i)]


@kernel
def _leaf_codes(forest, number, X, codes):
    """Write the leaf in which each row ends, rows after each other."""
    for_each(_codes_of_row, codes.shape[0], True, (forest, number, X, codes))


# --- prices ---------------------------------------------------------------------------------


def one_each(base: BaseClassifiers, leaves: Leaves) -> Prices:
    """Prices of 1 for each evaluation, (8) as printed, and of 0 for a constant vote."""
    n_trees, n_codes, _ = leaves.values.shape
    each = np.zeros((n_trees, n_codes), dtype=np.int64)
    each[:: base.n_parts] = base.evaluates[:, None]
    nothing = np.zeros(0, dtype=np.int64)
    return Prices(each, np.zeros(n_trees * n_codes + 1, dtype=np.int64), nothing, nothing)


def by_leaf(
    base: BaseClassifiers,
    leaves: Leaves,
    once: costs.PriceList,
    per_split: NDArray[np.int64],
    tree_cost: float,
) -> tuple[Prices, int]:
    """What a row pays for each leaf that it may end in, on a grid that sums over rows fit."""
    forest, used, n_units = base.forest, base.used, len(once.shared)
    price = np.concatenate([once.shared, once.own[used]])
    n_splits = int(np.count_nonzero(forest.feature >= 0))
    largest = math.fsum(price) + float(np.max(per_split)) * n_splits + tree_cost * base.n_base
    exponent = _BILL_BITS - math.frexp(largest)[1] if largest > 0 else 0
    price = costs.on_grid(price, exponent)
    split = costs.on_grid(per_split[used], exponent)
    per_tree = int(costs.on_grid(np.array([tree_cost]), exponent)[0])
    n_trees, n_codes = leaves.values.shape[:2]
    each = np.zeros((n_trees, n_codes), dtype=np.int64)
    each[:: base.n_parts] = per_tree * base.evaluates[:, None]
    asked: list[list[int]] = [[] for _ in range(n_trees * n_codes)]
    for tree, code, features in _paths(forest, leaves.number):
        each[tree, code] += sum(int(split[m]) for m in features)
        wanted = {int(once.unit[used[m]]) for m in features} | {n_units + m for m in features}
        asked[tree * n_codes + code] = sorted(item for item in wanted if price[item] > 0)
    start = np.cumsum([0, *map(len, asked)]).astype(np.int64)
    item = np.array([item for items in asked for item in items], dtype=np.int64)
    kept, item = np.unique(item, return_inverse=True)
    return Prices(each, start, item.astype(np.int64), price[kept]), exponent


def _paths(forest: Forest, number: np.ndarray):
    """Yield (tree, leaf, features tested on the way) of all leaves."""
    for tree in range(forest.n_trees):
        waiting = [(int(forest.tree[tree]), [])]
        while waiting:
            node, features = waiting.pop()
            left = int(forest.left[node])
            if left < 0:
                yield tree, int(number[node]), features
                continue
            tested = [*features, int(forest.feature[node])]
            waiting += [(left, tested), (left + 1, tested)]
