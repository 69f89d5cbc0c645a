"""What weighed trees cost: their evaluation, and what they need bought."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from .. import costs
from ..trees.forest import Forest
from .mixed_norms import TreePrices


def tree_prices(forest: Forest, prices: costs.PriceList, tree_cost: float) -> TreePrices:
    """What each tree costs: e if it has a split, and what it needs bought."""
    n_units = len(prices.shared)
    each = np.concatenate([prices.shared, prices.own])
    split = np.flatnonzero(forest.feature >= 0)
    tree = np.searchsorted(forest.tree, split, side="right") - 1
    feature = forest.feature[split].astype(np.int64)
    item = np.concatenate([prices.unit[feature], n_units + feature])
    pairs = np.unique(np.column_stack([item, np.tile(tree, 2)]), axis=0)
    pairs = pairs[each[pairs[:, 0]] > 0]
    items, row = np.unique(pairs[:, 0], return_inverse=True)
    shape = (len(items), forest.n_trees)
    uses = csr_matrix((np.ones(len(pairs)), (row, pairs[:, 1])), shape)
    is_split = forest.left[forest.tree[:-1]] >= 0
    return TreePrices(np.where(is_split, tree_cost, 0.0), each[items], uses)
