"""A forest as a table: paths in it cost what rows pay, its columns are those of the arrays."""

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor

from algorithms.cegb import CEGBRegressor
from algorithms.interop import from_scikit_learn

rng = np.random.default_rng(4)
X = rng.integers(0, 9, (90, 3)).astype(float)
y = X[:, 0] + 3 * (X[:, 1] > 4) * X[:, 2]
PRICES = {
    "feature_costs": [1.0, 2.0, 4.0],
    "split_cost": 0.25,
    "feature_groups": ["p", "q", "q"],
    "group_costs": {"p": 0.0, "q": 8.0},
}


def leaf_of(frame, root, row):
    node = frame.loc[root]
    while pd.notna(node["left"]):
        node = frame.loc[
            node["left"] if row[node["feature"]] <= node["threshold"] else node["right"]
        ]
    return node


def test_a_row_pays_and_gets_what_its_leaf_says():
    table = pd.DataFrame(X, columns=list("abc"))
    model = CEGBRegressor(
        n_estimators=2, max_leaves=6, min_samples_leaf=5, tradeoff=0.0, n_threads=1, **PRICES
    ).fit(table, y)
    frame = model.to_frame().set_index("node", drop=False)
    first = model.first_rounds(1)
    assert len(set(first.prediction_cost(table))) > 2
    for i in range(20):
        leaf = leaf_of(frame, 0, table.iloc[i])
        assert leaf["path_cost"] == first.prediction_cost(table[i : i + 1])[0]
        score = model.initial_scores_[0] + 0.1 * leaf["value"]
        assert score == first.predict(table[i : i + 1])[0]
    assert frame["feature"].dropna().isin(list("abc")).all()
    np.testing.assert_array_equal(frame["gain"].fillna(0.0), model.trees_.gain)
    np.testing.assert_array_equal(frame["count"], model.trees_.count)
    assert frame["tree"].tolist() == np.repeat([0, 1], np.diff(model.trees_.tree)).tolist()
    for side in ("left", "right"):
        of = frame.dropna(subset=[side])
        assert (frame.loc[of[side], "parent"].to_numpy() == of["node"].to_numpy()).all()
    assert frame["parent"].isna().sum() == 2
    free = model.to_frame(feature_costs=[0, 0, 0], split_cost=1.0)
    leaves = free["left"].isna()
    bought = [8.0 * bool(8.0 <= cost) for cost in free["path_cost"]]
    np.testing.assert_array_equal(free["path_cost"] - bought, free["depth"] + ~leaves)


def test_a_forest_without_a_split_and_one_from_elsewhere():
    constant = CEGBRegressor(n_estimators=0).fit(X, y).to_frame()
    assert len(constant) == 0
    theirs = GradientBoostingRegressor(n_estimators=1, random_state=0).fit(X, y)
    metered = from_scikit_learn(theirs, feature_costs=[1, 2, 4])
    frame = metered.to_frame()
    assert frame["gain"].isna().all()
    assert frame["count"].isna().all()
    assert frame["feature"].dropna().str.startswith("feature_").all()
    assert frame["path_cost"].max() == metered.prediction_cost(X).max() > 4
