"""Regression trees on binned features, written for reading: no caches, no subtraction tricks.

Shared by :mod:`reference.gbrt` and :mod:`reference.cegb`. Every sum is exact, because what is
summed was first rounded to a grid (:mod:`reference.grid`).

Missing values (NaN; the papers have none). A feature that a training row is missing has one bin
more, the last, for those rows, and one threshold more, :data:`ALL_PRESENT`, which every number is
below. A split sends them right, or left, whichever gains more; with the last threshold all other
rows go left and they go right. Where no training row of a node is missing the feature, a row that
comes to miss it goes to the child with more of the training rows' weight, right if that is equal.
Of equal gains that with missing values right is taken, then the lowest threshold. A row pays for
a feature that it asks for, whether the answer is a number or that there is none. A feature may
be of categories instead of numbers; :mod:`reference.categories` has the rule. Scores may have to
rise or fall along a feature; :mod:`reference.monotonic` has the rule.

An L2 penalty ½ λ Σ v² on leaf values (``reg_lambda``, as in XGBoost; no paper here has it) is λ
more in every H of a gain and of a value. ``min_hessian_leaf`` looks at H itself.

=========  =========================================================
symbol     name
=========  =========================================================
g, h       ``gradients``, ``hessians`` of the rows
G, H, N    ``G``, ``H``, ``N``: their sums (and the weight) over a node
λ          ``reg_lambda``
B          ``max_bins``
=========  =========================================================
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from reference.categories import (
    Sets,
    coded,
    divided,
    in_order_of_gradient,
    known_categories,
    sent_left,
)
from reference.grid import GridValues, RowWeights, real_count, real_sum, row_weights
from reference.monotonic import (
    NOTHING_BOUND,
    Within,
    bounded_gain,
    bounds_of_children,
    clipped,
    size_of_terms,
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
    rounding: float = 0.0  # of a gradient: ``losses.rounding``
    reg_lambda: float = 0.0
    signs: tuple[int, ...] | None = None  # of monotonic constraints, by feature


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
    sets: tuple[Sets | None, ...] = ()

    @property
    def n_splits(self) -> int:
        """Number of split nodes."""
        return int(np.sum(self.feature >= 0))


@dataclass
class OpenNode:
    """A node under construction: its rows and, per feature, the best split."""

    rows: np.ndarray
    depth: int
    best: list["Split"]
    bounds: tuple[float, float] = NOTHING_BOUND
    feature: int = -1
    threshold: float = 0.0
    left: int = -1
    right: int = -1
    gain: float = 0.0
    missing_left: bool = False
    sets: Sets | None = None


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


def bin_features(X: np.ndarray, edges: list[np.ndarray]) -> np.ndarray:
    """Bin numbers (n, d), int64: the number of edges below each value; missing ones are last."""
    columns = [np.searchsorted(edges[m], X[:, m] + 0.0, side="left") for m in range(X.shape[1])]
    return np.stack(columns, axis=1).astype(np.int64)


@dataclass(frozen=True)
class TrainingData:
    """Rows that count (those of weight 0 are left out), with their features in bins.

    ``categories`` has, of each feature of categories, those that have a bin, in its order.
    """

    X: np.ndarray
    y: np.ndarray
    weights: RowWeights
    edges: list[np.ndarray]
    bins: np.ndarray
    categories: dict[int, np.ndarray]


def training_data(
    X, y, sample_weight, max_bins: int, categorical=None, min_samples_leaf: float = 1
) -> TrainingData:
    """Put weights on a grid and features in bins; no weights: each row counts 1.

    ``categorical`` are the numbers of the features whose values are categories; None: of none.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    real = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    X, y, weights = X[real > 0], y[real > 0], row_weights(real[real > 0])
    columns = () if categorical is None else categorical
    known = {m: known_categories(X[:, m], weights, max_bins, min_samples_leaf) for m in columns}
    Z = coded(X, known)
    edges = [bin_edges(Z[:, m], weights, max_bins) for m in range(X.shape[1])]
    return TrainingData(X, y, weights, edges, bin_features(Z, edges), known)


# --- Splitting -----------------------------------------------------------------------------


def gain(GL, HL, GR, HR, G, H):  # Eq. (12) of the CEGB paper, its bracket
    """Raw gain of a split, operation by operation as in the other twin: the same bits."""
    return (GL * GL / HL + GR * GR / HR) - G * G / H


@dataclass(frozen=True)
class Split:
    """A threshold of one feature, as the number of its edge, and where missing values go.

    ``missing_left`` is None if none of the node's rows is missing the feature. Without a split
    that is allowed, ``raw_gain`` is 0 and ``edge`` -1. Of categories there is their ``order``,
    and those up to the place ``edge`` in it go left.
    """

    raw_gain: float = 0.0
    edge: int = -1
    missing_left: bool | None = None
    order: np.ndarray | None = None


def best_split(
    bins: np.ndarray,
    edges: np.ndarray,
    gradients: GridValues,
    hessians: GridValues,
    weights: RowWeights,
    rows: np.ndarray,
    limits: Limits,
    within: Within | None = None,
) -> Split:
    """Best threshold of one feature in the node ``rows``: that of the largest raw gain.

    Missing values are tried on the right, then on the left; the first of equals is taken. There
    is no split if no threshold is allowed or the gain is nothing but rounding. ``within`` is None
    if no feature has a monotonic constraint.
    """
    n_edges = len(edges)
    missing = is_missing(bins[rows], edges) & (weights.counts[rows] > 0)

    def left_sums(ints, exponent):
        per_bin = np.bincount(bins[rows], weights=ints[rows], minlength=n_edges + 1)
        below = np.cumsum(per_bin)[:-1]
        if np.any(missing):
            below = np.append(below, below[:-1] + per_bin[-1])
        return np.ldexp(below, -exponent)

    if n_edges == 0:
        return Split()
    G, H, N = real_sum(gradients, rows), real_sum(hessians, rows), real_count(weights, rows)
    GL = left_sums(gradients.ints, gradients.exponent)
    HL = left_sums(hessians.ints, hessians.exponent)
    NL = left_sums(weights.counts, weights.exponent)
    GR, HR, NR = G - GL, H - HL, N - NL
    allowed = (NL > 0) & (NR > 0)
    allowed &= np.minimum(NL, NR) >= limits.min_samples_leaf
    allowed &= np.minimum(HL, HR) >= limits.min_hessian_leaf
    raw, H = np.full(len(GL), -np.inf), H + limits.reg_lambda
    sides = (GL[allowed], HL[allowed] + limits.reg_lambda)
    sides += (GR[allowed], HR[allowed] + limits.reg_lambda)
    if within is None:
        raw[allowed], terms = gain(*sides, G, H), G * G / H
    else:
        raw[allowed] = bounded_gain(*sides, G, H, within)
        terms = size_of_terms(G, H, within.bounds)
    best = int(np.argmax(raw))  # the first of equals
    if raw[best] > max(NOISE * terms, rounding_gain(N, H, limits.rounding), 0.0):
        side = best >= n_edges if np.any(missing) else None
        return Split(float(raw[best]), best % n_edges, side)
    return Split()


def best_set(
    bins, edges, n_known, gradients, hessians, weights, rows, limits, within=None
) -> Split:
    """Best split of the ``n_known`` categories of one feature: as of numbers, in their order."""
    order = in_order_of_gradient(bins[rows], n_known, gradients.ints[rows], hessians.ints[rows])
    if len(order) == 0:
        return Split()
    place = np.zeros(n_known + 1, dtype=np.int64)  # of categories that no row that counts has, too
    place[order], place[n_known] = np.arange(len(order)), len(order)  # missing ones are last
    between = np.arange(len(order) - 1) + 0.5
    if len(edges) == n_known:  # the last edge is ALL_PRESENT
        between = np.append(between, ALL_PRESENT)
    split = best_split(place[bins], between, gradients, hessians, weights, rows, limits, within)
    return replace(split, order=order)


def rounding_gain(N: float, H: float, rounding: float) -> float:
    """G²/H of rows whose gradients are all what rounding may have left of them."""
    G = N * rounding
    return G * G / H


def is_missing(bins: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Which rows are in the bin of missing values of a feature."""
    return (bins == len(edges)) & has_missing(edges)


def has_missing(edges: np.ndarray) -> bool:
    """Whether a training row is missing a feature."""
    return len(edges) > 0 and bool(edges[-1] == ALL_PRESENT)


# --- Growing -------------------------------------------------------------------------------


def grow_tree(
    bins: np.ndarray,
    edges: list[np.ndarray],
    gradients: GridValues,
    hessians: GridValues,
    weights: RowWeights,
    limits: Limits,
    net_gain: NetGain,
    on_split: OnSplit,
    leaf_hessians: GridValues | None = None,
    features: np.ndarray | None = None,
    categories: dict[int, np.ndarray] | None = None,
) -> Tree:
    """Grow one tree.

    Parameters
    ----------
    bins : (n, d) int64
        Bin numbers of the training rows.
    edges : list of d arrays
        Edges of the features.
    gradients, hessians : GridValues
        What the splits are judged by.
    weights : RowWeights
        Weights of the rows.
    limits : Limits
        Where growth ends.
    net_gain : callable (raw_gain, rows, feature) -> float
        Raw gain minus penalties; asked again before every split, as penalties may change.
        ``-inf`` forbids the split.
    on_split : callable (node, rows, feature, threshold, net_gain)
        Told of every split, before the next question to ``net_gain``.
    leaf_hessians : GridValues, optional
        Hessians of the leaf values, if they differ from those of the splits.
    features : (d,) bool, optional
        Which features may be split on; by default all.
    categories : dict, optional
        Of each feature of categories those that have a bin, in its order.
    """
    known = categories or {}
    allowed = np.ones(bins.shape[1], dtype=bool) if features is None else features

    signs = limits.signs

    def best_of(m, rows, bounds):
        within = None if signs is None else Within(bounds, signs[m])
        what = (gradients, hessians, weights, rows, limits, within)
        if not allowed[m]:
            return Split()
        if m in known:
            return best_set(bins[:, m], edges[m], len(known[m]), *what)
        return best_split(bins[:, m], edges[m], *what)

    def open_node(rows, depth, bounds):
        best = [best_of(m, rows, bounds) for m in range(bins.shape[1])]
        return OpenNode(rows, depth, best, bounds)

    nodes = [open_node(np.arange(len(bins)), 0, NOTHING_BOUND)]
    visited = 0  # breadth-first: nodes below this number have had their turn
    while limits.max_leaves is None or (len(nodes) + 1) // 2 < limits.max_leaves:
        if limits.growth == "best_first":
            choice = best_first(nodes, limits, net_gain)
        else:
            choice, visited = breadth_first(nodes, visited, limits, net_gain)
        if choice is None:
            break
        net, number, m = choice
        node = nodes[number]
        split = node.best[m]
        node.feature, node.gain = m, net
        here = bins[node.rows, m]
        if split.order is None:
            goes_left, is_unknown = here <= split.edge, is_missing(here, edges[m])
            node.threshold = float(edges[m][split.edge])
        else:
            goes_left = np.isin(here, split.order[: split.edge + 1])
            is_unknown = ~np.isin(here, split.order)
            node.sets = divided(known[m][split.order], split.edge + 1)
        if split.missing_left:
            goes_left |= is_unknown
        node.missing_left = split.missing_left
        if split.missing_left is None:
            node.missing_left = larger_is_left(weights, node.rows, goes_left)
            unseen = m in known or has_missing(edges[m])  # by rows that are drawn, not by others
            if unseen and not np.all(weights.counts):
                node.missing_left = False
        node.left, node.right = len(nodes), len(nodes) + 1
        on_split(number, node.rows, m, node.threshold, net)
        sides = node.rows[goes_left], node.rows[~goes_left]
        bounds = handed_down(sides, node, gradients, hessians, limits)
        nodes.append(open_node(sides[0], node.depth + 1, bounds[0]))
        nodes.append(open_node(sides[1], node.depth + 1, bounds[1]))
    if signs is not None and leaf_hessians is not None:
        bound_anew(nodes, gradients, leaf_hessians, limits)
    return node_table(nodes, gradients, leaf_hessians or hessians, weights, limits)


def handed_down(sides, node: OpenNode, gradients, hessians, limits: Limits):
    """Bounds of the two sides of a split node, given their rows."""
    if limits.signs is None:
        return NOTHING_BOUND, NOTHING_BOUND
    values = [leaf_value(rows, gradients, hessians, limits, node.bounds) for rows in sides]
    return bounds_of_children(*values, limits.signs[node.feature], node.bounds)


def bound_anew(nodes: list[OpenNode], gradients, hessians: GridValues, limits: Limits) -> None:
    """Bounds by the hessians of the leaf values, where others have chosen the splits.

    Children come after their parents. Values that are the wrong way round end in their middle.
    """
    for node in nodes:
        if node.feature >= 0:
            left, right = nodes[node.left], nodes[node.right]
            sides = left.rows, right.rows
            left.bounds, right.bounds = handed_down(sides, node, gradients, hessians, limits)


def larger_is_left(weights: RowWeights, rows: np.ndarray, goes_left: np.ndarray) -> bool:
    """Whether the rows that go left weigh more than those that go right."""
    return real_count(weights, rows[goes_left]) > real_count(weights, rows[~goes_left])


def best_feature(node: OpenNode, limits: Limits, net_gain: NetGain) -> tuple[float, int] | None:
    """Largest net gain of a leaf and its feature (the lowest among equals), or None."""
    if node.feature >= 0 or node.depth == limits.max_depth:
        return None
    best = None
    for m, split in enumerate(node.best):
        if split.edge < 0:
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


def leaf_value(
    rows: np.ndarray,
    gradients: GridValues,
    hessians: GridValues,
    limits: Limits,
    bounds: tuple[float, float] = NOTHING_BOUND,
) -> float:  # Eq. (11a), CEGB paper
    """Newton step -G/(H + λ); 0 where too little H makes it meaningless; within the bounds."""
    G, H = real_sum(gradients, rows), real_sum(hessians, rows)
    v = -G / (H + limits.reg_lambda) if H >= limits.min_hessian_leaf else 0.0
    return v if limits.signs is None else float(clipped(v, bounds))


def node_table(nodes, gradients, hessians, weights, limits: Limits) -> Tree:
    """Turn the grown nodes into arrays; leaves get their values."""
    values = [
        leaf_value(node.rows, gradients, hessians, limits, node.bounds) if node.feature < 0 else 0.0
        for node in nodes
    ]
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
        m = tree.feature[at]
        passed[inside, m] += 1
        x = X[inside, m]
        goes_left = (x <= tree.threshold[at]) | (np.isnan(x) & tree.missing_left[at])
        goes_left = sent_left(tree.sets, at, x, tree.missing_left[at], goes_left)
        node[inside] = np.where(goes_left, tree.left[at], tree.right[at])
    return node, passed
