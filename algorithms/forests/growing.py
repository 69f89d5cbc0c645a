"""Greedy minimax trees on whole row weights (BudgetRF); the twin of :mod:`reference.budget_forest`.

All counts are whole and sum to at most 2**26, so that Pairs of them are exact in float64.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np

from ..kernels.decorators import allocating_kernel, kernel
from ..trees.binning import bin_edges
from ..trees.forest import Forest

MOST_WEIGHT = 2**26
PAIRS, ENTROPY = 0, 1
_LEAST_REDUCTION = 1e-7  # of H, a row


class Rules(NamedTuple):
    """How trees grow; kernels take it as it is."""

    kind: int  # ``PAIRS`` or ``ENTROPY``
    alpha: float  # Threshold of the impurity; whole for Pairs
    n_drawn: int  # Features drawn at each node; all of them: none is drawn
    max_depth: int  # -1: unlimited
    prices: np.ndarray  # (n_features,) float64: c_t of each feature by itself
    table: np.ndarray  # n log n, for entropy


class BinnedRows(NamedTuple):
    """Training rows as the kernels read them."""

    codes: np.ndarray  # (n_features, n_samples) uint8: bin of each value, feature by feature
    n_cuts: np.ndarray  # (n_features,) int64: thresholds of each feature
    y: np.ndarray  # (n_samples,) int64: class numbers
    n_classes: int


class Grown(NamedTuple):
    """A tree while it grows, with room for more nodes than it may come to have."""

    # feature, cut, left, depth: -1 in leaves, but for the depth. The right child is the next node
    # after the left one
    feature: np.ndarray
    cut: np.ndarray
    left: np.ndarray
    depth: np.ndarray
    gain: np.ndarray  # F(S) - max F(child); 0 in leaves


class _Room(NamedTuple):
    """Memory that a tree is grown in."""

    hist: np.ndarray  # (256, n_classes) int64: weight of each bin's rows by class; 0 between uses
    weight: np.ndarray  # (256,) int64: the same over all classes
    total: np.ndarray  # (n_classes,) int64
    left: np.ndarray
    right: np.ndarray
    rows: np.ndarray  # (n_in_bag,) int32, each node's rows side by side
    scratch: np.ndarray
    start: np.ndarray  # (n_nodes,) int64, where a node's rows begin
    stop: np.ndarray
    stack: np.ndarray  # nodes still to be looked at
    order: np.ndarray  # (n_features,) int64


@kernel
def impurity(counts: np.ndarray, n: int, rules: Rules) -> float:
    """F(S) of class counts (n_classes,), int64, and their sum n: threshold-Pairs, or n·H(S)."""
    if rules.kind == ENTROPY:
        value = rules.table[n]
        for a in range(counts.shape[0]):
            value -= rules.table[counts[a]]
        return 0.0 if value < rules.alpha * n else value
    alpha, value = rules.alpha, 0.0
    if alpha == 0.0:
        for a in range(counts.shape[0]):
            value += float(counts[a]) * float(counts[a])
        return 0.5 * (float(n) * float(n) - value)
    for a in range(counts.shape[0]):
        first = counts[a] - alpha
        if first > 0.0:
            for b in range(a):
                second = counts[b] - alpha
                if second > 0.0:
                    value += max(first * second - alpha * alpha, 0.0)
    return value


@kernel
def _class_counts(data, bag, rows, start, stop, total):
    """Count a node's rows by class into `total`, and return their sum."""
    total[:] = 0
    n = 0
    for i in range(start, stop):
        row = rows[i]
        total[data.y[row]] += bag[row]
        n += bag[row]
    return n


@kernel
def _best_cut(data, feature, bag, room, start, stop, n, rules):
    """(Largest F(child), cut) of a feature's best threshold; cut -1 if all rows share a bin."""
    codes, hist, weight = data.codes[feature], room.hist, room.weight
    left, right, total = room.left, room.right, room.total
    for i in range(start, stop):
        row = room.rows[i]
        hist[codes[row], data.y[row]] += bag[row]
        weight[codes[row]] += bag[row]
    left[:] = 0
    best, best_cut, n_left = np.inf, -1, 0
    for cut in range(data.n_cuts[feature]):
        if weight[cut] == 0:
            continue  # the same children as those of the last cut
        n_left += weight[cut]
        if n_left == n:
            break
        for a in range(data.n_classes):
            left[a] += hist[cut, a]
            right[a] = total[a] - left[a]
        low, high = impurity(left, n_left, rules), impurity(right, n - n_left, rules)
        worst = low + high if rules.kind == ENTROPY else max(low, high)
        if worst < best:
            best, best_cut = worst, cut
    for i in range(start, stop):
        code = codes[room.rows[i]]
        if weight[code] != 0:
            weight[code] = 0
            hist[code, :] = 0
    return best, best_cut


@allocating_kernel
def _draw(order, n_drawn, rng):
    """Put the features to look at, ascending, at the front."""
    n_features = order.shape[0]
    for m in range(n_features):
        order[m] = m
    if n_drawn >= n_features:
        return
    for i in range(n_drawn):
        j = rng.integers(i, n_features)
        order[i], order[j] = order[j], order[i]
    order[:n_drawn].sort()


@kernel
def _best_split(data, bag, room, start, stop, n, of_node, rules, rng):
    """(Feature, cut, reduction) of the least risk; feature -1 if none reduces F."""
    feature, best_cut, risk, best_reduction = -1, -1, np.inf, 0.0
    least = _LEAST_REDUCTION * n if rules.kind == ENTROPY else 0.5
    _draw(room.order, rules.n_drawn, rng)
    for place in range(min(rules.n_drawn, room.order.shape[0])):
        m = room.order[place]
        worst, cut = _best_cut(data, m, bag, room, start, stop, n, rules)
        reduction = of_node - worst
        if cut < 0 or not reduction > least:
            continue
        own = rules.prices[m] / reduction
        free = own == 0.0 and risk == 0.0
        if feature < 0 or own < risk or (free and reduction > best_reduction):
            feature, best_cut, risk, best_reduction = m, cut, own, reduction
    return feature, best_cut, best_reduction


@kernel
def _partition(codes, cut, rows, scratch, start, stop):
    """Put the rows that go left first, in their order; return where those that go right begin."""
    middle, n_right = start, 0
    for i in range(start, stop):
        row = rows[i]
        if codes[row] <= cut:
            rows[middle] = row
            middle += 1
        else:
            scratch[n_right] = row
            n_right += 1
    for i in range(n_right):
        rows[middle + i] = scratch[i]
    return middle


@kernel
def _grow(data, bag, rules, rng, room, tree):
    """Grow a tree on the rows whose weight is not 0; return its number of nodes."""
    n_rows = 0
    for i in range(bag.shape[0]):
        if bag[i] > 0:
            room.rows[n_rows] = i
            n_rows += 1
    room.start[0], room.stop[0], tree.depth[0], room.stack[0] = 0, n_rows, 0, 0
    n_nodes = n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        node = room.stack[n_waiting]
        tree.feature[node] = tree.cut[node] = tree.left[node] = -1
        tree.gain[node] = 0.0
        start, stop, depth = room.start[node], room.stop[node], tree.depth[node]
        n = _class_counts(data, bag, room.rows, start, stop, room.total)
        of_node = impurity(room.total, n, rules)
        if not of_node > 0.0 or depth == rules.max_depth:
            continue
        m, cut, reduction = _best_split(data, bag, room, start, stop, n, of_node, rules, rng)
        if m < 0:
            continue
        middle = _partition(data.codes[m], cut, room.rows, room.scratch, start, stop)
        tree.feature[node], tree.cut[node], tree.left[node] = m, cut, n_nodes
        tree.gain[node] = reduction
        for child in range(2):
            room.start[n_nodes + child] = middle if child else start
            room.stop[n_nodes + child] = stop if child else middle
            tree.depth[n_nodes + child] = depth + 1
            room.stack[n_waiting + 1 - child] = n_nodes + child  # the left child is next
        n_waiting += 2
        n_nodes += 2
    return n_nodes


@kernel
def _count(data, tree, weights, bag, counts, outside):
    """Add each row's weight to the nodes it passes: in the bag, or out of it."""
    for i in range(bag.shape[0]):
        y, node = data.y[i], 0
        while True:
            if bag[i] > 0:
                counts[node, y] += bag[i]
            else:
                outside[node, y] += weights[i]
            if tree.left[node] < 0:
                break
            goes_right = data.codes[tree.feature[node], i] > tree.cut[node]
            node = tree.left[node] + (1 if goes_right else 0)


def bootstrap(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw as many rows as there are copies: how often each was drawn, (n_samples,) int64."""
    ends = np.cumsum(weights)
    drawn = np.searchsorted(ends, rng.integers(0, ends[-1], ends[-1]), side="right")
    return np.bincount(drawn, minlength=len(weights)).astype(np.int64)


def log_table(n: int) -> np.ndarray:
    """Table of m log m for m from 0 to n, (n + 1,) float64."""
    m = np.arange(1, n + 1, dtype=np.float64)
    return np.concatenate([[0.0], m * np.log(m)])


def binned_rows(
    X: np.ndarray, y: np.ndarray, n_classes: int, weights: np.ndarray | None, max_bins: int
) -> tuple[BinnedRows, list[np.ndarray]]:
    """Put features into bins; the second result are the thresholds of each feature."""
    edges = [bin_edges(X[:, m].copy(), weights, max_bins) for m in range(X.shape[1])]
    codes = np.empty(X.shape[::-1], dtype=np.uint8)
    for m, of_feature in enumerate(edges):
        codes[m] = np.searchsorted(of_feature, X[:, m], side="left")
    n_cuts = np.array([len(each) for each in edges], dtype=np.int64)
    return BinnedRows(codes, n_cuts, y.astype(np.int64), n_classes), edges


class GrownTree(NamedTuple):
    """A tree, and the rows of each class that reach its nodes."""

    nodes: Grown
    # counts, out_of_bag: (n_nodes, n_classes) int64: in the bootstrap sample, and out of it
    counts: np.ndarray
    out_of_bag: np.ndarray


def grow_tree(
    data: BinnedRows, weights: np.ndarray, rules: Rules, drawn: bool, seed: int
) -> GrownTree:
    """Grow one tree."""
    rng = np.random.default_rng(seed)
    bag = bootstrap(weights, rng) if drawn else weights
    n_rows, n_classes = int(np.count_nonzero(bag)), data.n_classes
    most = 2 * n_rows - 1
    by_class = (np.zeros(n_classes, dtype=np.int64) for _ in range(3))
    room = _Room(
        np.zeros((256, n_classes), dtype=np.int64),
        np.zeros(256, dtype=np.int64),
        *by_class,
        *(np.empty(n_rows, dtype=np.int32) for _ in range(2)),
        *(np.empty(most, dtype=np.int64) for _ in range(2)),
        np.empty(n_rows + 1, dtype=np.int64),
        np.empty(len(data.n_cuts), dtype=np.int64),
    )
    tree = Grown(*(np.empty(most, np.int32) for _ in range(4)), np.empty(most, np.float64))
    n_nodes = _grow(data, bag, rules, rng, room, tree)
    tree = Grown(*(each[:n_nodes].copy() for each in tree))
    counts, outside = (np.zeros((n_nodes, n_classes), dtype=np.int64) for _ in range(2))
    _count(data, tree, weights, bag, counts, outside)
    return GrownTree(tree, counts, outside)


class CountedForest(NamedTuple):
    """A forest, and the rows of each class that reach its nodes."""

    # `value` is the majority class of a leaf, `count` the rows of the bootstrap sample
    forest: Forest
    counts: np.ndarray  # counts, out_of_bag: (n_nodes, n_classes) int64
    out_of_bag: np.ndarray


def grow_forest(
    data: BinnedRows,
    edges: list[np.ndarray],
    weights: np.ndarray,
    rules: Rules,
    seeds: np.ndarray,
    *,
    drawn: bool,
    n_threads: int,
) -> CountedForest:
    """Grow a tree for each seed, several at a time."""
    grow = partial(grow_tree, data, weights, rules, drawn)
    if n_threads == 1 or len(seeds) < 2:
        grown = [grow(seed) for seed in seeds]
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            grown = list(pool.map(grow, seeds))
    return _joined(grown, edges, data.n_classes)


def _joined(grown: list[GrownTree], edges: list[np.ndarray], n_classes: int) -> CountedForest:
    """Put trees one after the other."""
    tree = np.cumsum([0, *(len(each.nodes.feature) for each in grown)], dtype=np.int64)
    if not grown:
        none = np.zeros((0, n_classes), dtype=np.int64)
        return CountedForest(plain_forest(tree, none, *(np.zeros(0) for _ in range(5))), none, none)
    feature, cut, left, depth, gain = (
        np.concatenate([each.nodes[k] for each in grown]) for k in range(5)
    )
    left = np.where(left >= 0, left + np.repeat(tree[:-1], np.diff(tree)), -1)
    ends = np.cumsum([0, *map(len, edges)])
    every_edge = np.concatenate([*edges, [0.0]])
    place = np.where(feature >= 0, ends[feature] + cut, len(every_edge) - 1)
    counts, outside = (
        np.concatenate([getattr(each, name) for each in grown]) for name in ("counts", "out_of_bag")
    )
    forest = plain_forest(tree, counts, feature, every_edge[place], left, gain, depth)
    return CountedForest(forest, counts, outside)


def plain_forest(
    tree: np.ndarray,
    counts: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    left: np.ndarray,
    gain: np.ndarray,
    depth: np.ndarray,
) -> Forest:
    """Forest whose leaves say their majority class; equal counts: the lowest."""
    n_nodes = len(feature)
    value = np.argmax(counts, axis=1) if n_nodes else np.zeros(0)
    return Forest(
        tree,
        feature.astype(np.int32),
        threshold.astype(np.float64),
        left.astype(np.int32),
        np.where(left < 0, value, 0).astype(np.float64),
        gain.astype(np.float64),
        counts.sum(axis=1).astype(np.float64),
        depth.astype(np.int32),
        np.zeros(n_nodes, dtype=np.uint8),
    )
