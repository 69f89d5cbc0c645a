"""Growing one tree, best-first or breadth-first, section 4.3 of the CEGB paper."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange

from algorithms.kernels import kernel, parallel_kernel
from algorithms.trees import histogram, splitter, usage
from algorithms.trees.binning import BinnedMatrix
from algorithms.trees.partition import CHUNK, PARALLEL_ROWS, fill_goes_left, partition

# Below this many histogram updates a parallel region costs more than it saves.
_PARALLEL_WORK = 30_000


class Nodes(NamedTuple):
    """A growing tree; nodes are numbered in order of creation, the root is 0."""

    feature: np.ndarray  # (n_nodes,) int64, -1 in a leaf
    threshold: np.ndarray  # (n_nodes,) int64, last bin that goes left
    left: np.ndarray  # (n_nodes,) int64; the right child is left + 1
    depth: np.ndarray  # (n_nodes,) int64
    start: np.ndarray  # (n_nodes,) int64, its rows are rows[start:stop]
    stop: np.ndarray  # (n_nodes,) int64
    sums: np.ndarray  # (n_nodes, 3) int64: gradient, hessian, count on their grids
    gain: np.ndarray  # (n_nodes,) float64, best net gain; -inf without a candidate
    candidate: np.ndarray  # (n_nodes,) int64, feature of the best net gain
    slot: np.ndarray  # (n_nodes,) int64, its histogram, -1 without
    raw_gain: np.ndarray  # (n_nodes, n_features) float64
    cut: np.ndarray  # (n_nodes, n_features) int16, last bin that goes left
    fresh: np.ndarray  # (n_nodes, n_marks) int64, weighted rows that have not used the unit


class Workspace(NamedTuple):
    """Memory that one fit allocates once."""

    rows: np.ndarray  # (n_samples,) int32, rows ordered by leaf
    scratch: np.ndarray  # (n_samples,) int32
    tile_sums: np.ndarray  # (n_tiles, 2, 3) int64
    goes_left: np.ndarray  # (256,) uint8, by code of the split's column
    chunk_left: np.ndarray  # (2, n_chunks) int64: rows going left, and those of earlier chunks
    mark_counts: np.ndarray  # (n_chunks, 64 * n_words) int64
    free_slots: np.ndarray  # (n_slots + 1,) int64, a stack; the last entry is its height


def allocate(
    binned: BinnedMatrix, max_leaves: int, n_marks: int
) -> tuple[Nodes, Workspace, histogram.Histograms, splitter.Scratch]:
    """Allocate the nodes and the workspace of a fit.

    Parameters
    ----------
    binned : BinnedMatrix
    max_leaves : int
    n_marks : int
        Number of units with a price per row.

    Returns
    -------
    Nodes, Workspace, Histograms, Scratch
    """
    layout, n_samples = binned.layout, binned.n_samples
    n_nodes, n_features = 2 * max_leaves - 1, len(layout.feature_column)
    n_tiles, n_entries = len(layout.tile_start), int(layout.column_code[-1])
    # Histograms of open leaves are kept for subtraction up to half a gibibyte; a leaf without
    # one has its children's built from rows. Two slots more serve those.
    n_slots = int(min(max_leaves, max(2, 2**29 // (24 * n_entries)))) + 2
    integers = [np.empty(n_nodes, dtype=np.int64) for _ in range(6)]
    nodes = Nodes(
        *integers,
        sums=np.empty((n_nodes, 3), dtype=np.int64),
        gain=np.empty(n_nodes),
        candidate=np.empty(n_nodes, dtype=np.int64),
        slot=np.empty(n_nodes, dtype=np.int64),
        raw_gain=np.empty((n_nodes, n_features)),
        cut=np.empty((n_nodes, n_features), dtype=np.int16),
        fresh=np.zeros((n_nodes, n_marks), dtype=np.int64),
    )
    n_chunks = n_samples // CHUNK + 1
    workspace = Workspace(
        rows=np.empty(n_samples, dtype=np.int32),
        scratch=np.empty(n_samples, dtype=np.int32),
        tile_sums=np.zeros((n_tiles, 2, 3), dtype=np.int64),
        goes_left=np.empty(256, dtype=np.uint8),
        chunk_left=np.empty((2, n_chunks), dtype=np.int64),
        mark_counts=np.zeros((n_chunks, 64 * (-(-n_marks // 64))), dtype=np.int64),
        free_slots=np.empty(n_slots + 1, dtype=np.int64),
    )
    return nodes, workspace, histogram.allocate(layout, n_slots), splitter.allocate_scratch(n_tiles)


@kernel
def _reset(workspace):
    rows, free = workspace.rows, workspace.free_slots
    for i in range(rows.shape[0]):
        rows[i] = i
    n_slots = free.shape[0] - 1
    for i in range(n_slots - 2):  # the last two serve leaves without a slot of their own
        free[i] = n_slots - 3 - i
    free[n_slots] = n_slots - 2


@kernel
def _take_slot(workspace):
    free = workspace.free_slots
    height = free[-1]
    if height == 0:
        return -1
    free[-1] = height - 1
    return free[height - 1]


@kernel
def _return_slot(workspace, nodes, node):
    slot, free = nodes.slot[node], workspace.free_slots
    if slot >= 0:
        free[free[-1]] = slot
        free[-1] += 1
        nodes.slot[node] = -1


@kernel
def _process_tile(
    layout, tile, nodes, workspace, hists, scratch, gh, scale, limits, child, other, slots
):
    """Histograms of two new leaves over one tile, and their best thresholds per feature.

    Parameters
    ----------
    child : int
        The smaller leaf; its histogram is built from its rows.
    other : int
        Its sibling, -1 for the root. If it has inherited the parent's histogram it is obtained by
        subtraction.
    slots : tuple of int
        Where the two histograms are written, and 1 if the second starts as the parent's.
    """
    sums, rows = workspace.tile_sums[tile], workspace.rows
    histogram.build(layout, tile, rows, nodes.start[child], nodes.stop[child], gh, hists, slots[0])
    histogram.totals(layout, tile, hists, slots[0], sums[0])
    if other >= 0:
        if slots[2] == 1:
            histogram.subtract(layout, tile, hists, slots[1], slots[0])
        else:
            histogram.build(
                layout, tile, rows, nodes.start[other], nodes.stop[other], gh, hists, slots[1]
            )
        histogram.totals(layout, tile, hists, slots[1], sums[1])
    least = splitter.least_steps(scale, limits)
    for which in range(2 if other >= 0 else 1):
        node = child if which == 0 else other
        total = sums[which, 0], sums[which, 1], sums[which, 2]
        for position in range(layout.tile_feature[tile], layout.tile_feature[tile + 1]):
            feature = layout.tile_features[position]
            gain, cut = splitter.scan_feature(
                layout, feature, hists, slots[which], total, scale, least, scratch, tile
            )
            nodes.raw_gain[node, feature] = gain
            nodes.cut[node, feature] = cut


@parallel_kernel
def _process(layout, nodes, workspace, hists, scratch, gh, scale, limits, child, other):
    """Histograms and best thresholds of a new leaf and its sibling, over all tiles."""
    n_slots = workspace.free_slots.shape[0] - 1
    inherited = 1 if other >= 0 and nodes.slot[other] >= 0 else 0
    slot = nodes.slot[child] if nodes.slot[child] >= 0 else n_slots - 2
    slot_other = nodes.slot[other] if inherited == 1 else n_slots - 1
    slots = (slot, slot_other, inherited)
    n_tiles = layout.tile_start.shape[0]
    n_columns = layout.column_code.shape[0] - 1
    work = (nodes.stop[child] - nodes.start[child]) * n_columns + 4 * layout.column_code[-1]
    if n_tiles > 1 and work > _PARALLEL_WORK:
        for tile in prange(n_tiles):
            _process_tile(
                layout,
                tile,
                nodes,
                workspace,
                hists,
                scratch,
                gh,
                scale,
                limits,
                child,
                other,
                slots,
            )
    else:
        for tile in range(n_tiles):
            _process_tile(
                layout,
                tile,
                nodes,
                workspace,
                hists,
                scratch,
                gh,
                scale,
                limits,
                child,
                other,
                slots,
            )
    nodes.sums[child] = workspace.tile_sums[0, 0]
    if other >= 0:
        nodes.sums[other] = workspace.tile_sums[0, 1]


@parallel_kernel
def _count_fresh(nodes, workspace, penalties, gh, parent, child, other):
    """Rows of the two children that have not used each priced unit."""
    start, stop = nodes.start[child], nodes.stop[child]
    counts, marks = workspace.mark_counts, penalties.marks
    if stop - start > PARALLEL_ROWS:
        n_chunks = (stop - start + CHUNK - 1) // CHUNK
        for c in prange(n_chunks):
            a, b = start + c * CHUNK, min(stop, start + (c + 1) * CHUNK)
            usage.count_marks(marks, workspace.rows, a, b, gh, counts[c])
        for c in range(1, n_chunks):
            counts[0] += counts[c]
    else:
        usage.count_marks(marks, workspace.rows, start, stop, gh, counts[0])
    n_child = nodes.sums[child, 2]
    for m in range(nodes.fresh.shape[1]):
        nodes.fresh[child, m] = n_child - counts[0, m]
        nodes.fresh[other, m] = nodes.fresh[parent, m] - nodes.fresh[child, m]


@kernel
def _pay(nodes, penalties, workspace, node, feature):
    """All rows of the node, and the model, have used the feature from here on.

    Returns
    -------
    bool
        Whether a feature with a price per model has become free.
    """
    mark = penalties.mark[feature]
    if mark >= 0 and nodes.fresh[node, mark] > 0:
        usage.mark_rows(penalties.marks, workspace.rows, nodes.start[node], nodes.stop[node], mark)
        penalties.root_fresh[mark] -= nodes.fresh[node, mark]
    unit = penalties.unit[feature]
    if penalties.model_uses[unit] == 0:
        penalties.model_uses[unit] = 1
        return penalties.model_price[feature] > 0.0
    return False


@kernel
def _rank(nodes, penalties, scale, node):
    """Best net gain of a leaf under the present C and D."""
    gain, feature = splitter.rank_features(
        nodes.raw_gain[node],
        nodes.sums[node, 2] * scale.count,
        nodes.fresh[node],
        scale.count,
        penalties,
    )
    nodes.gain[node] = gain
    nodes.candidate[node] = feature


@kernel
def _new_leaf(nodes, node, depth, start, stop):
    nodes.feature[node] = -1
    nodes.threshold[node] = -1
    nodes.left[node] = -1
    nodes.depth[node] = depth
    nodes.start[node] = start
    nodes.stop[node] = stop
    nodes.gain[node] = -np.inf
    nodes.candidate[node] = -1
    nodes.slot[node] = -1
    nodes.raw_gain[node] = 0.0


@kernel
def _choose(nodes, n_nodes, last, best_first):
    """The leaf to split next, -1 if there is none; ties go to the lowest number."""
    best, at = -np.inf, -1
    for node in range(0 if best_first else last + 1, n_nodes):
        if nodes.feature[node] < 0 and nodes.gain[node] > best:
            best, at = nodes.gain[node], node
            if not best_first:
                break
    return at


@kernel
def _may_split(nodes, node, scale, limits):
    count = nodes.sums[node, 2] * scale.count
    shallow = limits.max_depth < 0 or nodes.depth[node] < limits.max_depth
    return shallow and count >= 2.0 * limits.min_samples_leaf


@kernel
def _split(layout, nodes, workspace, gh, scale, penalties, node, n_nodes):
    """Turn a leaf into a split node with two leaves; return the smaller and the larger one."""
    feature = nodes.candidate[node]
    cut = np.int64(nodes.cut[node, feature])
    start, stop = nodes.start[node], nodes.stop[node]
    fill_goes_left(layout, feature, cut, workspace.goes_left)
    column = layout.feature_column[feature]
    rows, memory = workspace.rows, (workspace.scratch, workspace.goes_left, workspace.chunk_left)
    middle = partition(layout, column, rows, *memory, start, stop)
    depth = nodes.depth[node] + 1
    left, right = n_nodes, n_nodes + 1
    _new_leaf(nodes, left, depth, start, middle)
    _new_leaf(nodes, right, depth, middle, stop)
    nodes.feature[node] = feature
    nodes.threshold[node] = cut
    nodes.left[node] = left
    small, large = (left, right) if middle - start <= stop - middle else (right, left)
    nodes.slot[large] = nodes.slot[node]
    nodes.slot[node] = -1
    return small, large


@kernel
def _count_rows(nodes, workspace, gh, parent, small, large):
    """Weighted number of rows of two new leaves."""
    count = nodes.stop[small] - nodes.start[small]
    if gh.shape[1] == 3:
        count = np.int64(0)
        for i in range(nodes.start[small], nodes.stop[small]):
            count += np.int64(gh[workspace.rows[i], 2])
    nodes.sums[small, 2] = count
    nodes.sums[large, 2] = nodes.sums[parent, 2] - count


@kernel
def _sum_rows(nodes, workspace, gh, parent, small, large):
    """Gradient and hessian sums of two leaves that will not be split and get no histogram."""
    g = h = np.int64(0)
    for i in range(nodes.start[small], nodes.stop[small]):
        row = workspace.rows[i]
        g += np.int64(gh[row, 0])
        h += np.int64(gh[row, 1])
    nodes.sums[small, 0], nodes.sums[small, 1] = g, h
    for k in range(2):
        nodes.sums[large, k] = nodes.sums[parent, k] - nodes.sums[small, k]


@kernel
def grow(layout, nodes, workspace, hists, scratch, gh, scale, limits, penalties):
    """Grow one tree.

    Parameters
    ----------
    layout : Layout
    nodes : Nodes
        Output.
    hists : Histograms
    scratch : Scratch
    workspace : Workspace
        On return ``rows[start:stop]`` of each leaf are its rows.
    gh : ndarray, see :func:`algorithms.trees.histogram.build`
    scale : Scale
    limits : Limits
    penalties : Penalties
        Its marks, `model_uses` and `root_fresh` are brought up to date.

    Returns
    -------
    int
        Number of nodes.
    """
    _reset(workspace)
    n_samples = workspace.rows.shape[0]
    lazy = penalties.root_fresh.shape[0] > 0
    _new_leaf(nodes, 0, 0, 0, n_samples)
    nodes.slot[0] = _take_slot(workspace)
    nodes.fresh[0] = penalties.root_fresh
    _process(layout, nodes, workspace, hists, scratch, gh, scale, limits, 0, -1)
    _rank(nodes, penalties, scale, 0)
    n_nodes, n_leaves, node = 1, 1, -1
    while n_leaves < limits.max_leaves:
        node = _choose(nodes, n_nodes, node, limits.best_first)
        if node < 0:
            break
        if not limits.best_first:
            _rank(nodes, penalties, scale, node)  # C and D have moved on since it was created
        if limits.stop_on_negative_gain and nodes.gain[node] <= 0.0:
            if limits.best_first:
                break
            continue
        small, large = _split(layout, nodes, workspace, gh, scale, penalties, node, n_nodes)
        freed = _pay(nodes, penalties, workspace, node, nodes.feature[node])
        n_nodes += 2
        n_leaves += 1
        _count_rows(nodes, workspace, gh, node, small, large)
        split_small = _may_split(nodes, small, scale, limits)
        split_large = _may_split(nodes, large, scale, limits)
        if n_leaves < limits.max_leaves and (split_small or split_large):
            nodes.slot[small] = _take_slot(workspace)
            _process(layout, nodes, workspace, hists, scratch, gh, scale, limits, small, large)
            if not split_small:
                nodes.raw_gain[small] = 0.0
            if not split_large:
                nodes.raw_gain[large] = 0.0
        else:
            _sum_rows(nodes, workspace, gh, node, small, large)
            _return_slot(workspace, nodes, large)
        if lazy:
            _count_fresh(nodes, workspace, penalties, gh, node, small, large)
            mark = penalties.mark[nodes.feature[node]]
            if mark >= 0:
                nodes.fresh[small, mark] = 0
                nodes.fresh[large, mark] = 0
        if freed and limits.best_first:
            for leaf in range(n_nodes):
                if nodes.feature[leaf] < 0:
                    _rank(nodes, penalties, scale, leaf)
        _rank(nodes, penalties, scale, small)
        _rank(nodes, penalties, scale, large)
        if nodes.candidate[small] < 0:
            _return_slot(workspace, nodes, small)
        if nodes.candidate[large] < 0:
            _return_slot(workspace, nodes, large)
    return n_nodes
