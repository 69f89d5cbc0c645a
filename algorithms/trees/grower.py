"""Growing one tree, best-first or breadth-first, section 4.3 of the CEGB paper.

What splits pay is a penalty's business (:mod:`algorithms.trees.penalty`): the grower asks it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..kernels.decorators import kernel
from ..kernels.loops import for_each
from . import histogram, splitter
from .binning import BinnedMatrix, Layout
from .monotonic import hand_down, search_features, with_bounds
from .partition import CHUNK, fill_goes_left, partition
from .penalty import begin_tree, divide, pay
from .searching_sets import send_sets, with_room_for_sets

# Below so many histogram updates, of 0.5 ns each, a parallel region saves nothing: it costs 2 us.
# (40 us if the other thread sleeps, but that spins for longer than a node takes; a virtual machine
# with 2 cores.)
_PARALLEL_WORK = 60_000
_WORK_OF_ENTRY = 10  # updates that take as long as an entry: emptied, subtracted, searched twice


class Nodes(NamedTuple):
    """A growing tree; nodes are numbered in order of creation, the root is 0."""

    feature: np.ndarray  # (n_nodes,) int64, -1 in a leaf
    threshold: np.ndarray  # (n_nodes,) int64, last bin of numbers that goes left
    left: np.ndarray  # (n_nodes,) int64; the right child is left + 1
    depth: np.ndarray  # (n_nodes,) int64
    start: np.ndarray  # (n_nodes,) int64, its rows are rows[start:stop]
    stop: np.ndarray  # (n_nodes,) int64
    sums: np.ndarray  # (n_nodes, 3) int64: gradient, hessian, count on their grids
    gain: np.ndarray  # (n_nodes,) float64, best net gain; -inf without a candidate
    candidate: np.ndarray  # (n_nodes,) int64, feature of the best net gain
    slot: np.ndarray  # (n_nodes,) int64, its histogram, -1 without
    raw_gain: np.ndarray  # (n_nodes, n_features) float64
    cut: np.ndarray  # (n_nodes, n_features) int16, the threshold of splitter.scan_features
    missing_left: np.ndarray  # (n_nodes,) bool, whether missing values go left


class Workspace(NamedTuple):
    """Where the rows are, and scratch space."""

    rows: np.ndarray  # (n_samples,) int32, rows ordered by leaf
    scratch: np.ndarray  # (n_samples,) int32, in the memory of the histograms' words
    goes_left: np.ndarray  # (256,) uint8, by code of the split's column
    chunk_left: np.ndarray  # (2, n_chunks) int64: rows going left, and those of earlier chunks
    free_slots: np.ndarray  # (n_slots + 1,) int64, a stack; the last entry is its height


class Memory(NamedTuple):
    """What one fit allocates once, for all its trees."""

    nodes: Nodes
    workspace: Workspace
    hists: histogram.Histograms
    scratch: splitter.Scratch


class Training(NamedTuple):
    """What a tree is grown on."""

    layout: Layout
    gh: np.ndarray  # see histogram.collect
    scale: splitter.Scale
    limits: splitter.Limits


class Pair(NamedTuple):
    """Two new leaves whose histograms are to be made."""

    small: int  # its histogram is built from its rows
    large: int  # -1 for the root, which is alone
    small_slot: int
    large_slot: int
    inherited: bool  # whether the slot of the large one holds the parent's histogram
    search_small: bool  # whether it may be split in turn
    search_large: bool


def allocate(
    binned: BinnedMatrix,
    max_leaves: int,
    n_words: int,
    is_categorical: np.ndarray | None = None,
    signs: np.ndarray | None = None,
) -> Memory:
    """Allocate the memory of a fit."""
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
        missing_left=np.empty(n_nodes, dtype=bool),
    )
    if is_categorical is not None:
        nodes = with_room_for_sets(nodes, is_categorical, n_tiles)
    if signs is not None:
        nodes = with_bounds(nodes, signs, n_tiles)
    n_chunks = n_samples // CHUNK + 1
    hists = histogram.allocate(layout, n_slots, n_samples, n_words)
    workspace = Workspace(
        rows=np.empty(n_samples, dtype=np.int32),
        # Words are made after a node is divided, and done with before another is.
        scratch=hists.words.reshape(-1).view(np.int32)[:n_samples],
        goes_left=np.empty(256, dtype=np.uint8),
        chunk_left=np.empty((2, n_chunks), dtype=np.int64),
        free_slots=np.empty(n_slots + 1, dtype=np.int64),
    )
    return Memory(nodes, workspace, hists, splitter.allocate_scratch(n_tiles))


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
def take_slot(workspace: Workspace) -> int:
    """Take a slot for a histogram; -1 if none is free."""
    free = workspace.free_slots
    height = free[-1]
    if height == 0:
        return -1
    free[-1] = height - 1
    return free[height - 1]


@kernel
def return_slot(workspace: Workspace, nodes: Nodes, node: int) -> None:
    """Free the slot of a node that will not be split."""
    slot, free = nodes.slot[node], workspace.free_slots
    if slot >= 0:
        free[free[-1]] = slot
        free[-1] += 1
        nodes.slot[node] = -1


@kernel
def collect_sums(training: Training, memory: Memory, node: int, which: int) -> None:
    """Make the words of a node's rows, and sum them up."""
    nodes, rows, hists = memory.nodes, memory.workspace.rows, memory.hists
    start, stop = nodes.start[node], nodes.stop[node]
    words, chunk_sums = hists.words, hists.chunk_sums[which]
    histogram.collect(rows, start, stop, training.gh, words, chunk_sums, nodes.sums[node])


@kernel
def scan_tile(training: Training, memory: Memory, node: int, slot: int, tile: int) -> None:
    """Best threshold of each feature of a tile in a node whose histogram is in `slot`."""
    layout, nodes = training.layout, memory.nodes
    least = splitter.least_steps(training.scale, training.limits)
    of_node = nodes.sums[node, 0], nodes.sums[node, 1], nodes.sums[node, 2]
    search_features(
        nodes, node, layout, memory.hists, slot, of_node, training.scale, least, memory.scratch,
        tile,
    )  # fmt: skip


@kernel
def _process_tile(tile, training, memory, pair):
    """Histograms of two new leaves over one tile, and their best thresholds per feature."""
    layout, gh = training.layout, training.gh
    nodes, workspace, hists, _ = memory
    rows, start, stop = workspace.rows, nodes.start[pair.small], nodes.stop[pair.small]
    histogram.build(layout, tile, rows, start, stop, gh, hists, 0, pair.small_slot)
    if pair.inherited:
        histogram.subtract(layout, tile, hists, pair.large_slot, pair.small_slot)
    elif pair.large >= 0:
        start, stop = nodes.start[pair.large], nodes.stop[pair.large]
        histogram.build(layout, tile, rows, start, stop, gh, hists, 1, pair.large_slot)
    if pair.search_small:
        scan_tile(training, memory, pair.small, pair.small_slot, tile)
    if pair.search_large:
        scan_tile(training, memory, pair.large, pair.large_slot, tile)


@kernel
def _process(training, memory, small, large, search_small, search_large):
    """Histograms and best thresholds of a new leaf and its sibling (-1: none), over all tiles.

    The words of the first are made already. Thresholds are sought where a leaf may be split.
    """
    layout, nodes, workspace = training.layout, memory.nodes, memory.workspace
    n_slots = workspace.free_slots.shape[0] - 1
    inherited = large >= 0 and nodes.slot[large] >= 0
    small_slot = nodes.slot[small] if nodes.slot[small] >= 0 else n_slots - 2
    large_slot = nodes.slot[large] if inherited else n_slots - 1
    pair = Pair(small, large, small_slot, large_slot, inherited, search_small, search_large)
    if large >= 0 and not inherited:
        collect_sums(training, memory, large, 1)
    n_tiles = layout.tile_start.shape[0]
    n_columns = layout.column_code.shape[0] - 1
    work = (nodes.stop[small] - nodes.start[small]) * n_columns
    work += _WORK_OF_ENTRY * layout.column_code[-1]
    shared = n_tiles > 1 and work > _PARALLEL_WORK
    for_each(_process_tile, n_tiles, shared, (training, memory, pair))


@kernel
def rank(training: Training, nodes: Nodes, penalty: Any, leaf: int) -> None:
    """Best net gain of a leaf, as the penalty is now."""
    n_rows = nodes.sums[leaf, 2] * training.scale.count
    gain, feature = splitter.rank_features(nodes.raw_gain[leaf], penalty, leaf, n_rows)
    nodes.gain[leaf] = gain
    nodes.candidate[leaf] = feature


@kernel
def _new_leaf(nodes, node, depth, start, stop):
    nodes.feature[node] = -1
    nodes.threshold[node] = -1
    nodes.missing_left[node] = False
    nodes.left[node] = -1
    nodes.depth[node] = depth
    nodes.start[node] = start
    nodes.stop[node] = stop
    nodes.gain[node] = -np.inf
    nodes.candidate[node] = -1
    nodes.slot[node] = -1
    nodes.raw_gain[node] = 0.0


@kernel
def plant(nodes: Nodes, workspace: Workspace) -> None:
    """Begin a tree: a root with all rows, and the first slot."""
    _reset(workspace)
    _new_leaf(nodes, 0, 0, 0, workspace.rows.shape[0])
    nodes.slot[0] = take_slot(workspace)


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
def next_leaf(training: Training, nodes: Nodes, penalty: Any, n_nodes: int, last: int) -> int:
    """The leaf to split after node `last`, as the penalty is now; -1 if the tree is complete."""
    limits, node = training.limits, last
    while True:
        node = _choose(nodes, n_nodes, node, limits.best_first)
        if node < 0:
            return node
        if not limits.best_first:
            rank(training, nodes, penalty, node)  # other leaves have paid since it was created
            if nodes.candidate[node] < 0:  # and left no split of it within the budget
                continue
        if limits.stop_on_negative_gain and nodes.gain[node] <= 0.0:
            if limits.best_first:
                return np.int64(-1)
            continue
        return node


@kernel
def may_split(training: Training, nodes: Nodes, node: int) -> bool:
    """Whether depth and rows of a leaf allow a split."""
    limits, count = training.limits, nodes.sums[node, 2] * training.scale.count
    shallow = limits.max_depth < 0 or nodes.depth[node] < limits.max_depth
    return shallow and count >= 2.0 * limits.min_samples_leaf


@kernel
def split_leaf(training: Training, memory: Memory, node: int, n_nodes: int) -> tuple[int, int]:
    """Turn a leaf into a split node with two leaves; return the smaller and the larger one."""
    layout, nodes, workspace = training.layout, memory.nodes, memory.workspace
    feature = nodes.candidate[node]
    found = np.int64(nodes.cut[node, feature])
    cut, missing_left = found & 255, found >= splitter.MISSING_LEFT
    start, stop = nodes.start[node], nodes.stop[node]
    fill_goes_left(layout, feature, cut, missing_left, workspace.goes_left)
    send_sets(nodes, node, layout, feature, missing_left, workspace.goes_left)
    column, scratch = layout.feature_column[feature], workspace.scratch
    middle = partition(
        layout,
        column,
        workspace.rows,
        scratch,
        workspace.goes_left,
        workspace.chunk_left,
        start,
        stop,
    )
    depth = nodes.depth[node] + 1
    left, right = n_nodes, n_nodes + 1
    _new_leaf(nodes, left, depth, start, middle)
    _new_leaf(nodes, right, depth, middle, stop)
    nodes.feature[node] = feature
    nodes.threshold[node] = cut
    nodes.missing_left[node] = missing_left
    nodes.left[node] = left
    small, large = (left, right) if middle - start <= stop - middle else (right, left)
    nodes.slot[large] = nodes.slot[node]
    nodes.slot[node] = -1
    return small, large


@kernel
def share_out(nodes: Nodes, node: int, small: int, large: int) -> None:
    """Sums of a split node's other leaf, and where its missing values go if it had none."""
    for k in range(3):
        nodes.sums[large, k] = nodes.sums[node, k] - nodes.sums[small, k]
    if nodes.cut[node, nodes.feature[node]] < splitter.MISSING_RIGHT:  # no row tells where to
        left = nodes.left[node]
        nodes.missing_left[node] = nodes.sums[left, 2] > nodes.sums[left + 1, 2]


@kernel
def _open_leaves(training, memory, node, small, large, full):
    """Sums of two new leaves, and the best thresholds of those that may be split in turn."""
    nodes, workspace = memory.nodes, memory.workspace
    collect_sums(training, memory, small, 0)
    share_out(nodes, node, small, large)
    hand_down(nodes, node, training.scale, training.limits.min_hessian_leaf)
    split_small = not full and may_split(training, nodes, small)
    split_large = not full and may_split(training, nodes, large)
    if split_small or split_large:
        nodes.slot[small] = take_slot(workspace)
        _process(training, memory, small, large, split_small, split_large)
        if not split_small:
            nodes.raw_gain[small] = 0.0
        if not split_large:
            nodes.raw_gain[large] = 0.0
    else:
        return_slot(workspace, nodes, large)


@kernel
def pay_for(
    training: Training, memory: Memory, penalty: Any, node: int, small: int, large: int
) -> bool:
    """Tell the penalty of a split; return whether other leaves are charged differently now."""
    nodes, rows = memory.nodes, memory.workspace.rows
    feature = nodes.feature[node]
    changed = pay(penalty, node, feature, rows[nodes.start[node] : nodes.stop[node]])
    of_small = rows[nodes.start[small] : nodes.stop[small]]
    divide(penalty, node, (small, large), of_small, training.gh, nodes.sums[small, 2])
    return changed


@kernel
def rank_leaves(
    training: Training, memory: Memory, penalty: Any, n_nodes: int, changed: int
) -> None:
    """Rank the two newest leaves, and all if the last split has changed what they are charged."""
    nodes, workspace = memory.nodes, memory.workspace
    if changed and training.limits.best_first:
        for leaf in range(n_nodes):
            if nodes.feature[leaf] < 0:
                rank(training, nodes, penalty, leaf)
    for leaf in range(n_nodes - 2, n_nodes):
        rank(training, nodes, penalty, leaf)
        if nodes.candidate[leaf] < 0:
            return_slot(workspace, nodes, leaf)


@kernel
def grow(training: Training, memory: Memory, penalty: NamedTuple) -> int:
    """Grow one tree."""
    nodes, workspace, limits = memory.nodes, memory.workspace, training.limits
    plant(nodes, workspace)
    begin_tree(penalty)
    # Not literal numbers, for which all that is called would be compiled again.
    root, none = np.int64(0), np.int64(-1)
    collect_sums(training, memory, root, 0)
    _process(training, memory, root, none, True, False)
    rank(training, nodes, penalty, root)
    n_nodes, n_leaves, node = np.int64(1), np.int64(1), none
    while n_leaves < limits.max_leaves:
        node = next_leaf(training, nodes, penalty, n_nodes, node)
        if node < 0:
            break
        small, large = split_leaf(training, memory, node, n_nodes)
        n_nodes += 2
        n_leaves += 1
        _open_leaves(training, memory, node, small, large, n_leaves == limits.max_leaves)
        changed = pay_for(training, memory, penalty, node, small, large)
        rank_leaves(training, memory, penalty, n_nodes, changed)
    return n_nodes
