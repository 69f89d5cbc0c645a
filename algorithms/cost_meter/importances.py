"""Which features a forest lives on: by the gain of its splits, and by what rows pay for them."""

from __future__ import annotations

import numpy as np

from .. import costs
from ..kernels.decorators import kernel
from ..trees.forest import Forest
from ..trees.predictor import next_node


def gain_shares(forest: Forest, n_features: int) -> np.ndarray:
    """Share of each feature in the net gain of all splits."""
    split = forest.feature >= 0
    gain = np.maximum(forest.gain[split], 0.0)
    largest = np.max(gain, initial=0.0)
    if largest == 0.0:
        return np.zeros(n_features)
    # In units of the largest, no sum of gains is too large for a float64.
    shares = np.bincount(forest.feature[split], weights=gain / largest, minlength=n_features)
    return shares / np.sum(shares)


@kernel
def _pay_by_feature(forest, prices, X, used, paid):
    """Walk every row down every tree, as :func:`algorithms.trees.predictor.charge` does."""
    one, n_units = np.uint64(1), prices.unit_price.shape[0]
    for i in range(X.shape[0]):
        used[:] = 0
        for t in range(forest.tree.shape[0] - 1):
            node = forest.tree[t]
            while forest.left[node] >= 0:
                feature = np.int64(forest.feature[node])
                steps = prices.split_price[feature]
                for mark, price in (
                    (prices.unit[feature], prices.unit_price[prices.unit[feature]]),
                    (n_units + feature, prices.own_price[feature]),
                ):
                    if price > 0:
                        bit = one << np.uint64(mark & 63)
                        if used[mark >> 6] & bit == np.uint64(0):
                            used[mark >> 6] |= bit
                            steps += price
                paid[feature] += np.float64(steps)
                node = next_node(forest, node, X[i, feature])


def mean_cost_by_feature(forest: Forest, prices: costs.GridPrices, X: np.ndarray) -> np.ndarray:
    """What a row pays on average for each feature."""
    marks = np.zeros(-(-(len(prices.unit_price) + X.shape[1]) // 64), dtype=np.uint64)
    paid = np.zeros(X.shape[1])
    _pay_by_feature(forest, prices, X, marks, paid)
    return np.ldexp(paid / len(X), -prices.exponent)
