"""Trees over tiles of coded rows: the scores of walking, bit for bit, in any parts."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.kernels.decorators import threads
from algorithms.trees.predictor import walk_scores
from algorithms.trees.tiles import (
    fill_tiles,
    pack_tiles,
    score_tiles,
    scratch_words,
    tiled_forest,
)


def rows(rng, n_rows, n_features=3):
    """Rows with ties, so that many values are thresholds themselves or lie beside one."""
    return rng.integers(-20, 20, (n_rows, n_features)) / 4


def tiles_of(forest, X):
    """All features, coded in two turns; the rows come in another order than in memory."""
    n_tiles, n_tested = -(-len(X) // 16), len(forest.tested)
    tiles = np.full((n_tiles, n_tested * 16), 7, dtype=np.int16)
    backwards, rows = X[::-1].copy(), np.arange(len(X))[::-1].copy()
    for first, last in ((0, n_tested // 2), (n_tested // 2, n_tested)):
        fill_tiles(forest, backwards, rows, np.ones(n_tiles, dtype=bool), first, last, tiles)
    return tiles


def scores_in_tiles(forest, X, n_columns, stops):
    """Scores after the last of some numbers of trees."""
    tiles = tiles_of(forest, X)
    out = np.zeros((len(tiles) * 16, n_columns))
    words = scratch_words(forest, 2, 2)
    wanted = np.ones(len(tiles), dtype=bool)
    for first, last in zip([0, *stops], stops, strict=False):
        score_tiles(forest, first, last, tiles, wanted, words, out)
    return out[: len(X)]


def walked(forest, contributions, X, n_columns):
    out = np.zeros((len(X), n_columns))
    with threads(1, X.size):
        walk_scores(forest, 0, contributions, X, out)
    return out


@pytest.mark.parametrize(
    ("max_leaves", "bits"), [(2, 16), (16, 16), (17, 32), (32, 32), (33, 64), (64, 64)]
)
@pytest.mark.parametrize("n_rows", [1, 16, 203])
def test_scores_are_those_of_walking(max_leaves, bits, n_rows):
    rng = np.random.default_rng(max_leaves)
    X = rng.normal(size=(600, 3)).round(1)
    y = X[:, 0] * X[:, 1] + rng.normal(size=600)
    model = GBRTRegressor(n_estimators=150, max_leaves=max_leaves, min_samples_leaf=1).fit(X, y)
    forest, contributions = model.trees_, model._contributions
    tiled = tiled_forest(forest, contributions)
    assert scratch_words(tiled, 1, 1).itemsize * 8 == bits
    Z = rows(rng, n_rows)
    expected = walked(forest, contributions, Z, 1)
    for stops in ([150], [1, 2, 66, 150], [*range(10, 151, 10)]):
        np.testing.assert_array_equal(scores_in_tiles(tiled, Z, 1, stops), expected)


@pytest.mark.parametrize("n_classes", [3, 7])
def test_columns_take_turns(n_classes):
    rng = np.random.default_rng(n_classes)
    X = rows(rng, 300)
    model = GBRTClassifier(n_estimators=30, max_leaves=5).fit(X, np.arange(300) % n_classes)
    tiled = tiled_forest(model.trees_, model._contributions)
    expected = walked(model.trees_, model._contributions, X, n_classes)
    for stops in ([30], [4, 30], [*range(1, 31)]):
        stops = [stop * n_classes for stop in stops]
        np.testing.assert_array_equal(scores_in_tiles(tiled, X, n_classes, stops), expected)


def test_codes_count_thresholds_below():
    rng = np.random.default_rng(2)
    X = rows(rng, 100)
    model = GBRTRegressor(n_estimators=20, max_leaves=6).fit(X, X[:, 0] - X[:, 2])
    forest = model.trees_
    threshold = forest.threshold.copy()
    splits = np.flatnonzero(forest.feature == 0)
    threshold[splits[:2]] = [np.inf, -np.inf]  # as other libraries may have them
    tiled = tiled_forest(forest._replace(threshold=threshold), forest.value)
    X = np.vstack([X, [[1e300] * 3, [-1e300] * 3, [0.0] * 3, [-0.0] * 3]])
    tiles = tiles_of(tiled, X)
    places = np.arange(len(X))
    for u, m in enumerate(tiled.tested):
        distinct = np.unique(threshold[forest.feature == m])
        codes = tiles[places // 16, u * 16 + places % 16].astype(int) + 2**15
        np.testing.assert_array_equal(codes, np.searchsorted(distinct, X[:, m]))
    kept = np.flatnonzero(rng.random(len(X)) < 0.4)
    packed = np.full((-(-len(kept) // 16), tiles.shape[1]), 7, dtype=np.int16)
    pack_tiles(tiles, kept, len(tiled.tested), packed)
    at = np.arange(len(kept))
    for u in range(len(tiled.tested)):
        np.testing.assert_array_equal(
            packed[at // 16, u * 16 + at % 16], tiles[kept // 16, u * 16 + kept % 16]
        )


def test_what_has_no_tiles():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 2))
    deep = GBRTRegressor(n_estimators=1, max_leaves=65, min_samples_leaf=1)
    deep.fit(X, rng.normal(size=300))
    assert tiled_forest(deep.trees_, deep._contributions) is None
    assert tiled_forest(deep.trees_.first(0), np.zeros(0)) is None
    # One split a tree, each with a threshold of its own.
    stump = GBRTRegressor(n_estimators=1, max_leaves=2).fit(X, X[:, 0]).trees_
    for n_trees, there in ((65_535, True), (65_536, False)):
        first = 3 * np.arange(n_trees + 1)
        many = stump._replace(
            tree=first,
            **{name: np.tile(getattr(stump, name), n_trees) for name in stump._fields[1:]},
        )
        many.left[::3] = first[:-1] + 1
        many.threshold[::3] = np.arange(n_trees)
        tiled = tiled_forest(many, many.value)
        assert (tiled is not None) == there
        if there:
            Z = np.array([[-1.0, 0], [0.0, 0], [0.5, 0], [65_533.5, 0], [1e9, 0]])
            np.testing.assert_array_equal(
                scores_in_tiles(tiled, Z, 1, [n_trees]), walked(many, many.value, Z, 1)
            )


def test_features_in_the_order_of_stages_and_only_where_wanted():
    rng = np.random.default_rng(4)
    X = rows(rng, 100, 8)
    model = GBRTRegressor(n_estimators=12, max_leaves=3).fit(X, X @ np.arange(8) ** 2)
    forest = model.trees_
    tiled = tiled_forest(forest, model._contributions, range(1, forest.n_trees))
    for t in range(forest.n_trees + 1):
        tested = forest.feature[: forest.tree[t]]
        first = tiled.tested[: tiled.n_needed[t]]
        np.testing.assert_array_equal(np.sort(first), np.unique(tested[tested >= 0]))
    assert 0 < tiled.n_needed[1] < len(tiled.tested)
    whole = tiled_forest(forest, model._contributions)
    np.testing.assert_array_equal(whole.tested, np.unique(tested[tested >= 0]))
    assert whole.n_needed.tolist() == [0] + [len(whole.tested)] * forest.n_trees
    tiles = np.full((7, len(tiled.tested) * 16), 7, dtype=np.int16)
    wanted = np.arange(7) % 2 == 0
    fill_tiles(tiled, X, np.arange(100), wanted, 0, 2, tiles)
    np.testing.assert_array_equal(tiles[wanted][:, :32], tiles_of(tiled, X)[wanted][:, :32])
    assert np.all(tiles[~wanted] == 7)
    assert np.all(tiles[:, 32:] == 7)


def test_of_a_stage_features_rise_and_no_tree_waits_for_one():
    rng = np.random.default_rng(5)
    X = rows(rng, 200, 12)
    model = GBRTRegressor(n_estimators=20, max_leaves=3).fit(X, X @ rng.normal(size=12))
    forest = model.trees_
    stops = [0, 3, 3, 8]  # an empty stage, one twice, and the last one unnamed
    tiled = tiled_forest(forest, model._contributions, stops)
    for begin, end in ((0, 3), (3, 8), (8, 20)):
        stage = tiled.tested[tiled.n_needed[begin] : tiled.n_needed[end]]
        assert (np.diff(stage) > 0).all()
        assert (tiled.n_needed[begin + 1 : end + 1] == tiled.n_needed[end]).all()
        tested = forest.feature[: forest.tree[end]]
        assert set(tiled.tested[: tiled.n_needed[end]]) == set(tested[tested >= 0])
    Z = rows(rng, 50, 12)
    expected = walked(forest, model._contributions, Z, 1)
    np.testing.assert_array_equal(scores_in_tiles(tiled, Z, 1, [3, 8, 20]), expected)
