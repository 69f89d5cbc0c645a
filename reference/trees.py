"""Regression trees on binned features, written for reading: no caches, no subtraction tricks.

Shared by :mod:`reference.gbrt`, :mod:`reference.cegb` and :mod:`reference.greedy_miser`. Every sum
is exact, because what is summed was first rounded to a grid (:mod:`reference.grid`). Of equal gains
the lowest threshold is taken.

Two things may be other than the papers have them, and are objects for that reason: how a node may
be divided by a feature, :class:`Column`, and what splits and leaves are worth, :class:`Criterion`.
Here are those of the papers; :mod:`reference.beyond` has others. A row may be missing a feature
(NaN): where no training row of the node was, it goes to the child with more of their weight, right
if that is equal.

=========  =========================================================
symbol     name
=========  =========================================================
g, h       ``gradients``, ``hessians`` of the rows
G, H, N    ``G``, ``H``, ``N``: their sums (and the weight) over a node
B          ``max_bins``
=========  =========================================================
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reference.grid import (
    GridValues,
    RowWeights,
    real_count,
    real_sum,
    round_to_grid,
    row_weights,
)

ALL_PRESENT = float(np.finfo(np.float64).max)  # No number is above this threshold.
NOISE = 2.0**-40  # A gain below this share of G²/H may be rounding alone and never splits.

NetGain = Callable[[float, np.ndarray, int], float]
OnSplit = Callable[[int, np.ndarray, int, float, float], None]


@dataclass(frozen=True)
class Limits:
    """What bounds the growth of a tree (``None`` = unlimited)."""

    max_leaves: int | None = 31
    max_depth: int | None = None
    min_samples_leaf: float = 20
    min_hessian_leaf: float = 1e-3
    growth: str = "best_first"
    stop_on_negative_gain: bool = True
    max_bins: int = 255


LEAVES_31 = Limits()


@dataclass(frozen=True)
class Tree:
    """Node table. A leaf has ``feature`` = ``left`` = ``right`` = -1 and a ``value`` = -G/H.

    ``x[feature] <= threshold`` goes left, and so does a missing value if ``missing_left``, which
    is False in leaves. ``gain`` is the net gain of a split node at the time
    it was split, ``count`` the weight of its training rows. Values are not shrunk. A node that
    splits categories has ``sets`` and the threshold 0.
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray
    gain: np.ndarray
    count: np.ndarray
    depth: np.ndarray
    missing_left: np.ndarray
    sets: tuple

    @property
    def n_splits(self) -> int:
        """Number of split nodes."""
        return int(np.sum(self.feature >= 0))


@dataclass
class OpenNode:
    """A node under construction: its rows and, per feature, the best split."""

    rows: np.ndarray
    depth: int
    criterion: "Criterion"
    best: list["Split | None"]
    feature: int = -1
    threshold: float = 0.0
    left: int = -1
    right: int = -1
    gain: float = 0.0
    missing_left: bool = False
    sets: object = None


# --- Binning -------------------------------------------------------------------------------


def edge_between(a: float, b: float) -> float:
    """Threshold halfway between two neighbouring values a < b, never reaching b."""
    middle = 0.5 * a + 0.5 * b
    return middle if a <= middle < b else a


def bin_edges(x: np.ndarray, weights: RowWeights, max_bins: int) -> np.ndarray:
    """Edges of one feature (n,): all midpoints, or at most ``max_bins`` - 1 quantile cuts.

    Behind those of the values that are present, if some are missing, ``ALL_PRESENT``.
    """
    present = ~np.isnan(x)
    values, which = np.unique(x[present] + 0.0, return_inverse=True)  # -0.0 becomes 0.0
    last = len(values) - 1
    if len(values) <= max_bins:
        cuts = range(last)
    else:
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, which, weights.counts[present])
        below = np.cumsum(counts)
        wanted = np.arange(1, max_bins, dtype=np.int64) * below[-1]
        cuts = sorted({int(np.argmax(below * max_bins >= want)) for want in wanted} - {last})
    edges = [edge_between(float(values[i]), float(values[i + 1])) for i in cuts]
    if not np.all(present):
        edges.append(ALL_PRESENT)
    return np.array(edges, dtype=np.float64)


def bin_numbers(x: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Bin (n,), int64, of each value: the number of edges below it; missing ones are last."""
    return np.searchsorted(edges, x + 0.0, side="left").astype(np.int64)


# --- What may be other than in the papers --------------------------------------------------


@dataclass(frozen=True)
class Order:
    """Bins in an order, of which the first ones may go left, at least ``least`` of them.

    ``missing_left`` is None if none of the node's rows is missing the feature.
    """

    bins: np.ndarray
    least: int = 1
    missing_left: bool | None = None


@dataclass(frozen=True)
class Column:
    """A feature in bins, and how a node may be divided by it: here by thresholds."""

    edges: np.ndarray
    bins: np.ndarray

    def orders(self, G, H, N) -> list[Order]:
        """Orders that are tried, given the sums of the node's rows in each bin."""
        return [Order(np.arange(len(self.edges) + 1))]

    def question(self, order: Order, n_left: int) -> tuple[float, object]:
        """Threshold, or else sets, of the split that sends the first ``n_left`` bins left."""
        return float(self.edges[order.bins[n_left - 1]]), None

    def unseen_left(self, weights: RowWeights, rows: np.ndarray, goes_left: np.ndarray) -> bool:
        """Where a row goes that is missing the feature, if no training row of the node was."""
        return real_count(weights, rows[goes_left]) > real_count(weights, rows[~goes_left])


def column_of(x: np.ndarray, weights: RowWeights, max_bins: int) -> Column:
    """Put a feature in bins."""
    edges = bin_edges(x, weights, max_bins)
    return Column(edges, bin_numbers(x, edges))


def gain(GL, HL, GR, HR, G, H):  # Eq. (12) of the CEGB paper, its bracket
    """Raw gain of a split, operation by operation as in the other twin: the same bits."""
    return (GL * GL / HL + GR * GR / HR) - G * G / H


@dataclass(frozen=True)
class Criterion:
    """What splits and leaves are worth: by the papers, G²/H a leaf, at the value -G/H."""

    def gain(self, m: int, GL, HL, GR, HR, G, H):
        """Raw gain of splits on feature m."""
        return gain(GL, HL, GR, HR, G, H)

    def noise(self, G, H, R):
        """What rounding may gain, of which R is what it may have left in G."""
        return max(NOISE * (G * G / H), R * R / H)

    def value(self, G, H):  # Eq. (11a), CEGB paper
        """Newton step."""
        return -G / H

    def clipped(self, v):
        """Nearest value that a leaf may have."""
        return v

    def of_children(self, m: int, v_left, v_right) -> tuple["Criterion", "Criterion"]:
        """Criteria in the children of a split on feature m, given the values they would have."""
        return self, self


NEWTON = Criterion()


@dataclass(frozen=True)
class TrainingData:
    """Rows that count (those of weight 0 are left out), with their features in bins.

    ``rounding`` is that of a gradient, :func:`reference.losses.rounding`. A row whose count is 0
    has no part in a tree, but walks down with the others.
    """

    X: np.ndarray
    y: np.ndarray
    weights: RowWeights
    columns: list[Column]
    criterion: Criterion = NEWTON
    rounding: float = 0.0

    @property
    def edges(self) -> list[np.ndarray]:
        """Edges of the features."""
        return [column.edges for column in self.columns]

    @property
    def bins(self) -> np.ndarray:
        """Bin numbers (n, d)."""
        return np.stack([column.bins for column in self.columns], axis=1)

    def on_grid(self, values: np.ndarray, *, positive: bool = False) -> GridValues:
        """Values of the rows, rounded so that sums are exact; 0 of rows that have no part."""
        grid = round_to_grid(values, self.weights, positive=positive)
        return GridValues(grid.ints * (self.weights.counts > 0), grid.exponent)


def training_data(X, y, max_bins: int, sample_weight=None) -> TrainingData:
    """Put weights on a grid and features in bins; no weights: each row counts 1."""
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    real = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    X, y, weights = X[real > 0], y[real > 0], row_weights(real[real > 0])
    return TrainingData(X, y, weights, [column_of(x, weights, max_bins) for x in X.T])


# --- Splitting -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Split:
    """The first ``n_left`` bins of an order go left."""

    raw_gain: float
    order: Order
    n_left: int


def best_split(
    data: TrainingData, m: int, gradients, hessians, rows, limits: Limits, criterion: Criterion
) -> Split | None:
    """Best division of the node ``rows`` by feature m: that of the largest raw gain.

    The first of equals is taken. There is none if none is allowed or the gain is nothing but
    rounding.
    """
    column, weights = data.columns[m], data.weights
    G, H, N = real_sum(gradients, rows), real_sum(hessians, rows), real_count(weights, rows)
    exponents = gradients.exponent, hessians.exponent, weights.exponent
    sums = [
        np.bincount(column.bins[rows], weights=ints[rows], minlength=len(column.edges) + 1)
        for ints in (gradients.ints, hessians.ints, weights.counts)
    ]
    best, least = None, criterion.noise(G, H, N * data.rounding)
    for order in column.orders(*sums):
        GL, HL, NL = (
            np.ldexp(np.cumsum(per_bin[order.bins])[order.least - 1 : -1], -k)
            for per_bin, k in zip(sums, exponents, strict=True)
        )
        GR, HR, NR = G - GL, H - HL, N - NL
        allowed = (NL > 0) & (NR > 0)
        allowed &= np.minimum(NL, NR) >= limits.min_samples_leaf
        allowed &= np.minimum(HL, HR) >= limits.min_hessian_leaf
        raw = np.full(len(NL), -np.inf)
        sides = GL[allowed], HL[allowed], GR[allowed], HR[allowed]
        raw[allowed] = criterion.gain(m, *sides, G, H)
        if np.max(raw, initial=-np.inf) > least:
            first = int(np.argmax(raw))
            best, least = Split(float(raw[first]), order, order.least + first), raw[first]
    return best


# --- Growing -------------------------------------------------------------------------------


def grow_tree(
    data: TrainingData,
    gradients: GridValues,
    hessians: GridValues,
    limits: Limits,
    net_gain: NetGain,
    on_split: OnSplit,
    leaf_hessians: GridValues | None = None,
) -> Tree:
    """Grow one tree."""

    def open_node(rows, depth, criterion):
        what = gradients, hessians, rows, limits, criterion
        best = [best_split(data, m, *what) for m in range(len(data.columns))]
        return OpenNode(rows, depth, criterion, best)

    nodes = [open_node(np.arange(len(data.X)), 0, data.criterion)]
    visited = 0  # breadth-first: nodes below this number have had their turn
    while limits.max_leaves is None or (len(nodes) + 1) // 2 < limits.max_leaves:
        if limits.growth == "best_first":
            choice = best_first(nodes, limits, net_gain)
        else:
            choice, visited = breadth_first(nodes, visited, limits, net_gain)
        if choice is None:
            break
        net, number, m = choice
        node, column = nodes[number], data.columns[m]
        split = node.best[m]
        node.feature, node.gain = m, net
        node.threshold, node.sets = column.question(split.order, split.n_left)
        node.missing_left = bool(split.order.missing_left)
        left = goes_left(data.X[node.rows, m], node.threshold, node.missing_left, node.sets)
        if split.order.missing_left is None:
            node.missing_left = column.unseen_left(data.weights, node.rows, left)
        node.left, node.right = len(nodes), len(nodes) + 1
        on_split(number, node.rows, m, node.threshold, net)
        sides = node.rows[left], node.rows[~left]
        criteria = criteria_of_children(node, sides, gradients, hessians, limits)
        for rows, criterion in zip(sides, criteria, strict=True):
            nodes.append(open_node(rows, node.depth + 1, criterion))
    return node_table(nodes, gradients, leaf_hessians or hessians, data.weights, limits)


def goes_left(x: np.ndarray, threshold: float, missing_left: bool, sets=None) -> np.ndarray:
    """Which rows a node sends left."""
    if sets is not None:
        return sets.goes_left(x, missing_left)
    return (x <= threshold) | (np.isnan(x) & missing_left)


def criteria_of_children(node: OpenNode, sides, gradients, hessians, limits: Limits):
    """Criteria in the children of a split node, given their rows."""
    values = [leaf_value(rows, gradients, hessians, limits, node.criterion) for rows in sides]
    return node.criterion.of_children(node.feature, *values)


def best_feature(node: OpenNode, limits: Limits, net_gain: NetGain) -> tuple[float, int] | None:
    """Largest net gain of a leaf and its feature (the lowest among equals), or None."""
    if node.feature >= 0 or node.depth == limits.max_depth:
        return None
    best = None
    for m, split in enumerate(node.best):
        if split is None:
            continue
        net = net_gain(split.raw_gain, node.rows, m)
        if best is None or net > best[0]:
            best = net, m
    if best is None or best[0] == -math.inf:
        return None
    if limits.stop_on_negative_gain and not best[0] > 0:
        return None
    return best


def best_first(nodes: list[OpenNode], limits: Limits, net_gain: NetGain):
    """(net, node, feature) of the open leaf with the largest net gain (the lowest number)."""
    best = None
    for number, node in enumerate(nodes):
        candidate = best_feature(node, limits, net_gain)
        if candidate is not None and (best is None or candidate[0] > best[0]):
            best = candidate[0], number, candidate[1]
    return best


def breadth_first(nodes: list[OpenNode], visited: int, limits: Limits, net_gain: NetGain):
    """(net, node, feature) of the next node in order of number that splits; nodes visited."""
    for number in range(visited, len(nodes)):
        candidate = best_feature(nodes[number], limits, net_gain)
        if candidate is not None:
            return (candidate[0], number, candidate[1]), number + 1
    return None, len(nodes)


def leaf_value(rows, gradients, hessians, limits: Limits, criterion: Criterion) -> float:
    """Value of a leaf, Eq. (11a) of the CEGB paper; 0 where too little H makes it meaningless."""
    G, H = real_sum(gradients, rows), real_sum(hessians, rows)
    enough = H >= limits.min_hessian_leaf
    return float(criterion.value(G, H) if enough else criterion.clipped(0.0))


def node_table(nodes, gradients, hessians, weights, limits: Limits) -> Tree:
    """Turn the grown nodes into arrays; leaves get their values, and criteria by their hessians."""
    values = [0.0] * len(nodes)
    for number, node in enumerate(nodes):  # children come after their parents
        if node.feature < 0:
            values[number] = leaf_value(node.rows, gradients, hessians, limits, node.criterion)
        else:
            left, right = nodes[node.left], nodes[node.right]
            left.criterion, right.criterion = criteria_of_children(
                node, (left.rows, right.rows), gradients, hessians, limits
            )
    return Tree(
        feature=np.array([node.feature for node in nodes], dtype=np.int64),
        threshold=np.array([node.threshold for node in nodes], dtype=np.float64),
        left=np.array([node.left for node in nodes], dtype=np.int64),
        right=np.array([node.right for node in nodes], dtype=np.int64),
        value=np.array(values, dtype=np.float64),
        gain=np.array([node.gain for node in nodes], dtype=np.float64),
        count=np.array([real_count(weights, node.rows) for node in nodes], dtype=np.float64),
        depth=np.array([node.depth for node in nodes], dtype=np.int64),
        missing_left=np.array([node.missing_left for node in nodes], dtype=bool),
        sets=tuple(node.sets for node in nodes),
    )


# --- Prediction ----------------------------------------------------------------------------


def predict_tree(tree: Tree, X: np.ndarray) -> np.ndarray:
    """Leaf value (n,) of each row."""
    return tree.value[walk(tree, X)[0]]


def nodes_passed(tree: Tree, X: np.ndarray) -> np.ndarray:
    """How many split nodes on each row's path test each feature, (n, d) int64."""
    return walk(tree, X)[1]


def walk(tree: Tree, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leaf number (n,) of each row and the split nodes (n, d) it passed, by feature."""
    node = np.zeros(len(X), dtype=np.int64)
    passed = np.zeros(X.shape, dtype=np.int64)
    while np.any(tree.feature[node] >= 0):
        inside = np.flatnonzero(tree.feature[node] >= 0)
        at = node[inside]
        passed[inside, tree.feature[at]] += 1
        for number in np.unique(at):
            here = inside[at == number]
            question = tree.threshold[number], tree.missing_left[number], tree.sets[number]
            left = goes_left(X[here, tree.feature[number]], *question)
            node[here] = np.where(left, tree.left[number], tree.right[number])
    return node, passed
