"""The reference's splits of categories: against all sets there are, and by hand."""

from itertools import combinations

import numpy as np
import pytest

from reference import cegb, grid, trees
from reference.beyond import Beyond, categories
from reference.beyond.by_name import fit
from reference.boosting import predict


@pytest.mark.parametrize("seed", range(20))
def test_no_set_gains_more(seed):
    """Fisher's theorem, for the reference: the best place in the order is the best of all sets."""
    rng = np.random.default_rng([1958, seed])
    n_known = int(rng.integers(2, 8))
    x = rng.integers(0, n_known, 60).astype(float)
    weights = grid.row_weights(rng.integers(1, 4, 60).astype(float))
    beyond = Beyond(sample_weight=weights.real, categorical_features=[0])
    limits = trees.Limits(min_samples_leaf=1, min_hessian_leaf=0.0)
    data = beyond.training_data(x[:, None], np.zeros(60), limits)
    g = grid.round_to_grid(rng.normal(size=60), data.weights)
    h = grid.round_to_grid(rng.random(60) + 0.1, data.weights, positive=True)
    rows, known = np.arange(60), data.columns[0].known
    found = trees.best_split(data, 0, g, h, rows, limits, trees.NEWTON)
    G, H = grid.real_sum(g, rows), grid.real_sum(h, rows)
    gains = []
    for size in range(1, len(known)):
        for left in combinations(known, size):
            there = np.flatnonzero(np.isin(x, left))
            GL, HL = grid.real_sum(g, there), grid.real_sum(h, there)
            gains.append(trees.gain(GL, HL, G - GL, H - HL, G, H))
    assert found.raw_gain == pytest.approx(max(gains), rel=1e-12)


def test_known_categories_by_hand():
    x = np.array([5.0, 5, 5, 2, 2, 9, 9, np.nan, 7])
    ones = grid.row_weights(np.ones(9))
    assert categories.known_categories(x, ones, 255, 2).tolist() == [2, 5, 9]
    assert categories.known_categories(x, ones, 2, 1).tolist() == [2, 5]  # of 2 and 9 the lower
    heavier = grid.row_weights(np.array([1.0, 1, 1, 1, 1, 1, 1, 1, 9]))
    assert categories.known_categories(x, heavier, 2, 1).tolist() == [5, 7]


def test_what_a_node_has_not_seen_goes_where_missing_values_go():
    x = np.array([0.0] * 6 + [1] * 6 + [2] * 6 + [3])
    y = np.array([0.0] * 6 + [5] * 6 + [9] * 6 + [50])
    model = fit(
        cegb, x[:, None], y, n_estimators=1, learning_rate=1.0, max_leaves=2, tradeoff=0.0,
        min_samples_leaf=2, categorical_features=[0],
    )  # fmt: skip
    tree = model.rounds[0][0]
    assert tree.sets[0] == categories.Sets(frozenset([2.0]), frozenset([0.0, 1.0]))
    assert tree.missing_left[0]  # the row of 3 is alone, too rare, and counts as missing
    scores = predict(model, np.array([[2.0], [3.0], [4.0], [np.nan], [-1.0]]))[:, 0]
    assert len(set(scores)) == 1
    assert scores[0] > predict(model, np.array([[1.0]]))[0, 0]
