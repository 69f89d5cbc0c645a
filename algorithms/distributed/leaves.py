"""What a worker does to the leaves of its own rows while a tree grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.decorators import kernel
from ..kernels.loops import for_each
from ..trees import histogram
from ..trees.grower import collect_sums, pay_for, plant, split_leaf
from ..trees.penalty import begin_tree
from ..trees.splitter import unbundle

if TYPE_CHECKING:
    from typing import NamedTuple

    from ..trees.binning import Layout
    from ..trees.grower import Memory, Training
    from ..trees.histogram import Histograms
    from ..trees.splitter import Scratch


@kernel
def open_root(training: Training, memory: Memory, penalty: Any) -> None:
    """Begin a tree: all rows are in node 0, whose sums are made."""
    plant(memory.nodes, memory.workspace)
    begin_tree(penalty)
    collect_sums(training, memory, np.int64(0), np.int64(0))


@kernel
def divide_leaf(
    training: Training,
    memory: Memory,
    penalty: NamedTuple,
    node: int,
    feature: int,
    found: int,
    small: int,
    large: int,
) -> None:
    """Split the rows of a leaf, and make the sums of the two new ones."""
    nodes = memory.nodes
    nodes.candidate[node] = feature
    nodes.cut[node, feature] = found
    split_leaf(training, memory, node, min(small, large))
    collect_sums(training, memory, small, np.int64(0))
    for k in range(3):
        nodes.sums[large, k] = nodes.sums[node, k] - nodes.sums[small, k]
    pay_for(training, memory, penalty, node, small, large)


@kernel
def _build_tile(tile, layout, rows, start, stop, gh, hists):
    histogram.build(layout, tile, rows, start, stop, gh, hists, 0, 0)


@kernel
def build_histogram(
    layout: Layout, rows: Any, start: int, stop: int, gh: np.ndarray, hists: Histograms
) -> None:
    """Histogram of rows[start:stop], whose words are made, in slot 0."""
    captured = layout, rows, start, stop, gh, hists
    for_each(_build_tile, layout.tile_start.shape[0], True, captured)


@kernel
def tell_histogram(
    layout: Layout,
    hists: Histograms,
    sums: NDArray[np.int64],
    scratch: Scratch,
    with_hessians: bool,
    out: NDArray[np.int64],
) -> None:
    """Write the histogram in slot 0 feature by feature, none of them bundled."""
    n_entries = np.sum(layout.feature_n_bins)
    counts_at = 2 * n_entries if with_hessians else n_entries
    total, bins, to = (sums[0], sums[1], sums[2]), scratch.bins, 0
    slot = np.int64(0)
    for feature in range(layout.feature_n_bins.shape[0]):
        n_bins, default = layout.feature_n_bins[feature], layout.feature_default[feature]
        entry = layout.column_code[layout.feature_column[feature]] + layout.feature_code[feature]
        if default >= 0:
            unbundle(hists, slot, entry, n_bins, default, total, scratch, slot)
        for b in range(n_bins):
            if default >= 0:
                g, h, n = bins[0, 0, b], bins[0, 1, b], bins[0, 2, b]
            else:
                at = entry + b
                g, h, n = hists.gradient[0, at], hists.hessian[0, at], hists.count[0, at]
            out[to + b] = g
            out[counts_at + to + b] = n
            if with_hessians:
                out[n_entries + to + b] = h
        to += n_bins
