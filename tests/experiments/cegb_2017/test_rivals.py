"""The rivals of Figure 2 b–d: their metric by hand, what is measured, both metrics in panel b."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from algorithms.budget_forest import BudgetForestClassifier
from algorithms.budget_prune import BudgetPruneClassifier
from algorithms.metrics import accuracy
from experiments.cegb_2017 import extra_rivals, figure2
from experiments.cegb_2017.cells.rivals import follow, unbroken_run
from experiments.cell import Cell


def test_the_run_at_the_top_by_hand():
    grades = np.array([1, 1, 0, 1, 1, 2, 0, 0, 1, 1])
    scores = np.array([9, 8, 7, 6, 5, 4, 9, 8, 1, 2.0])
    queries = np.array([1, 1, 1, 1, 1, 1, 2, 2, 3, 3])
    # First query: two, then one that is none; second: none is relevant; third: all are.
    assert unbroken_run(grades, scores, queries, 1) == pytest.approx((2 / 5 + 0 + 1) / 3)
    long = np.r_[np.ones(7, dtype=int), 0]
    assert unbroken_run(long, -np.arange(8.0), np.zeros(8), 1) == 1.0  # at most five count
    tied = unbroken_run(np.array([1, 0]), np.zeros(2), np.zeros(2), 1)
    assert tied == 0.0  # equal scores: rising grades, as the score of a ranking has them


@pytest.fixture(scope="module")
def dataset():
    rng = np.random.default_rng(0)
    parts = {}
    for part, n in (("train", 200), ("valid", 100), ("test", 100)):
        X = np.round(rng.normal(size=(n, 4)), 1)
        parts |= {f"X_{part}": X, f"y_{part}": (X[:, 0] + X[:, 1] > 0).astype(np.int64)}
    costs = np.array([1.0, 2.0, 4.0, 8.0])
    return SimpleNamespace(**parts, task="binary", feature_costs=costs, feature_groups=None)


@pytest.mark.parametrize("method", ["budget_forest", "budget_prune"])
def test_what_is_measured_is_the_estimators_own(dataset, method):
    params = {
        "panel": "c",
        "setting": "entropy 0.05",
        "impurity": "entropy",
        "impurity_threshold": 0.05,
        "n_trees": 5,
        "settings": {"relevant_from": None},
    }
    rows = follow(Cell("x", method, params, seed=3), dataset)
    forest = BudgetForestClassifier(
        n_estimators=5, impurity="entropy", impurity_threshold=0.05,
        feature_costs=dataset.feature_costs, random_state=3,
    )  # fmt: skip
    if method == "budget_forest":
        forest.fit(dataset.X_train, dataset.y_train)
        last = forest
        assert [row["rounds"] for row in rows] == [1, 2, 3, 5]
    else:
        model = BudgetPruneClassifier(forest)
        model.fit(dataset.X_train, dataset.y_train, eval_set=(dataset.X_valid, dataset.y_valid))
        last = model.pruned(point=rows[-1]["rounds"])
        assert rows[-1]["rounds"] == len(model.curve_.cost) - 1
        assert rows[0]["valid_cost"] == 0
        costs = [row["valid_cost"] for row in rows]
        assert costs == sorted(costs)
    score = accuracy(dataset.y_test, last.predict(dataset.X_test))
    assert rows[-1]["test_score"] == rows[-1]["test_run"] == pytest.approx(score, rel=1e-5)
    bill = last.prediction_cost(dataset.X_test).mean()
    assert rows[-1]["test_cost"] == pytest.approx(bill, rel=1e-5)


def test_cegb_is_that_of_figure_2_and_the_forests_are_the_papers():
    cells = extra_rivals.make_cells("overnight", range(5))
    ours = [cell for cell in cells if cell.algorithm == "cegb"]
    theirs = {
        (cell.dataset, cell.seed, cell.params["tradeoff"], str(cell.params["settings"]))
        for cell in figure2.make_cells("overnight", range(5))
        if cell.algorithm == "cegb"
    }
    for cell in ours:
        settings = str(cell.params["settings"])
        assert (cell.dataset, cell.seed, cell.params["tradeoff"], settings) in theirs
    trees = {
        cell.params["panel"]: cell.params["n_trees"] for cell in cells if "n_trees" in cell.params
    }
    assert trees == {"b": 140, "b'": 140, "c": 40, "d": 40}
    nothing = pd.DataFrame(columns=["panel", "valid_run", "test_run"])
    assert len(extra_rivals._places(nothing)) == 6  # b and b' by both metrics
