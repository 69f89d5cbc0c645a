"""The CEGB reference grows LightGBM's trees where LightGBM's cost penalties are right.

LightGBM's raw gain lacks the ½ of Eq. (12), so its tradeoff is 2λ; coupled penalties are left
out, as LightGBM 4.7 mishandles them. It computes with float32 gradients, hence 1e-6. The data
are whole numbers, so that both see the same bins; missing values have one of their own in both.
Where a split of missing values from all others can be written in two ways, with the same rows on
swapped sides, LightGBM has the missing ones left, we have them right. (Where a node has none of a
feature, they differ in where a new row that is missing it would go: with LightGBM left, or as 0,
with us to where most rows went.) Leaves are limited by their hessian, as
LightGBM only estimates the number of rows (from the hessian) where it looks for splits.
"""

import numpy as np
import pytest

from reference import cegb, gbrt
from reference.boosting import predict
from reference.trees import Limits

lightgbm = pytest.importorskip("lightgbm")

ROUNDS = 6
LEAVES = 9
MIN_HESSIAN = 2.6  # no sum of first-round hessians (1, 1/4, 1/3) falls on it
OBJECTIVES = {"squared": "regression", "logistic": "binary", "multinomial": "multiclass"}
D = 5
BETA = np.array([0.1, 3.0, 0.5, 1.0, 0.2])


def data(loss, missing=False):
    rng = np.random.default_rng(11)
    X = rng.integers(0, 25, (500, D)).astype(float)
    score = X[:, 0] / 5 + (X[:, 1] > 9) * X[:, 2] / 8 + np.sin(X[:, 3]) + rng.normal(size=500)
    if missing:  # of one feature at random, of another where the target is large
        X[rng.random(500) < 0.3, 0] = np.nan
        X[(rng.random(500) < 0.5) & (score > 3), 1] = np.nan
    if loss == "squared":
        return X, score
    return X, np.digitize(score, [3.4] if loss == "logistic" else [2.5, 4.5])


def their_model(X, y, loss, *, split_cost=0.0, lazy=None, tradeoff=0.0, depth=-1):
    parameters = {
        "objective": OBJECTIVES[loss],
        "learning_rate": 0.3,
        "num_leaves": LEAVES,
        "max_depth": depth,
        "min_data_in_leaf": 0,
        "min_sum_hessian_in_leaf": MIN_HESSIAN,
        "min_data_in_bin": 1,
        "feature_pre_filter": False,
        "boost_from_average": False,
        "deterministic": True,
        "force_col_wise": True,
        "num_threads": 1,
        "verbosity": -1,
        "cegb_tradeoff": 2 * tradeoff,
        "cegb_penalty_split": split_cost,
    }
    if loss == "multinomial":
        parameters["num_class"] = int(y.max()) + 1
    if lazy is not None:
        parameters["cegb_penalty_feature_lazy"] = list(lazy)
    return lightgbm.train(parameters, lightgbm.Dataset(X, y), ROUNDS)


def assert_same_tree(ours, theirs, X):
    """Same features, same rows to either side, same leaf values, node for node."""

    def same(node, other, rows):
        if ours.feature[node] < 0:
            assert "split_feature" not in other
            # LightGBM stores leaf values shrunk by the learning rate.
            assert 0.3 * ours.value[node] == pytest.approx(other["leaf_value"], abs=1e-6)
            return
        m = ours.feature[node]
        assert m == other["split_feature"]
        x = X[rows, m]
        goes_left = np.where(np.isnan(x), ours.missing_left[node], x <= ours.threshold[node])
        theirs_left = np.where(np.isnan(x), other["default_left"], x <= other["threshold"])
        children = other["left_child"], other["right_child"]
        if np.array_equal(theirs_left, np.isnan(x)) and theirs_left.any():
            theirs_left, children = ~theirs_left, children[::-1]
        np.testing.assert_array_equal(goes_left, theirs_left)
        same(ours.left[node], children[0], rows[goes_left])
        same(ours.right[node], children[1], rows[~goes_left])

    same(0, theirs["tree_structure"], np.arange(len(X)))


# λ is large enough to end training early (one score) or nearly so (three classes).
SPLIT_TRADEOFF = {"squared": 0.08, "logistic": 0.015, "multinomial": 0.001}


def options_of(setting, loss):
    """What both are given, in the reference's terms."""
    return {
        "plain": {},
        "split": {"split_cost": 1.0, "tradeoff": SPLIT_TRADEOFF[loss]},
        "lazy": {"lazy": BETA, "tradeoff": 0.05},
        "split and lazy": {"split_cost": 0.5, "lazy": BETA, "tradeoff": SPLIT_TRADEOFF[loss]},
        "lazy, shallow": {"lazy": BETA, "tradeoff": 0.02, "depth": 3},
    }[setting]


SETTINGS = ["plain", "split", "lazy", "split and lazy", "lazy, shallow"]


@pytest.mark.parametrize("loss", OBJECTIVES)
@pytest.mark.parametrize(
    ("setting", "missing"),
    [*((name, False) for name in SETTINGS), ("plain", True), ("split and lazy", True)],
)
def test_equal_trees(loss, setting, missing):
    options = options_of(setting, loss)
    X, y = data(loss, missing)
    ours = cegb.fit(
        X, y, loss=loss, n_estimators=ROUNDS, learning_rate=0.3,
        tradeoff=options.get("tradeoff", 0.0),
        prices=cegb.price_list(D, options.get("split_cost", 0.0), options.get("lazy")),
        limits=Limits(LEAVES, options.get("depth"), 1, MIN_HESSIAN),
    )  # fmt: skip
    model = their_model(X, y, loss, **options)
    our_trees = [tree for trees_of_round in ours.rounds for tree in trees_of_round]
    their_trees = model.dump_model()["tree_info"]
    for mine, theirs in zip(our_trees, their_trees, strict=False):
        assert_same_tree(mine, theirs, X)
    assert len(our_trees) == len(their_trees)
    # A tree without split would differ: LightGBM's then predicts 0 instead of -G/H.
    assert min(tree.n_splits for tree in our_trees) >= 1
    assert sum(tree.n_splits for tree in our_trees) > 10
    scores = model.predict(X, raw_score=True).reshape(len(X), -1)
    np.testing.assert_allclose(predict(ours, X), scores, rtol=0, atol=1e-5)
    if missing:  # both directions occur, and missing against all that is present
        split = np.concatenate([tree.feature == 1 for tree in our_trees])
        left = np.concatenate([tree.missing_left for tree in our_trees])
        assert set(left[split]) == {True, False}


@pytest.mark.parametrize("setting", ["split", "lazy"])
def test_the_penalties_matter(setting):
    X, y = data("squared")
    plain, penalised = (
        their_model(X, y, "squared", **options_of(name, "squared")) for name in ("plain", setting)
    )
    assert not np.array_equal(plain.predict(X), penalised.predict(X))


def test_plain_gbrt_from_the_mean():
    X, y = data("squared")
    limits = Limits(LEAVES, min_samples_leaf=5)
    ours = gbrt.fit(X, y, n_estimators=ROUNDS, learning_rate=0.3, limits=limits)
    theirs = lightgbm.LGBMRegressor(
        n_estimators=ROUNDS, learning_rate=0.3, num_leaves=LEAVES, min_child_samples=5,
        min_data_in_bin=1, num_threads=1, verbosity=-1,
    ).fit(X, y)  # fmt: skip
    np.testing.assert_allclose(predict(ours, X)[:, 0], theirs.predict(X), rtol=0, atol=1e-5)
