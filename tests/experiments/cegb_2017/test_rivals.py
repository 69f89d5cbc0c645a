"""The rivals of Figure 2 b–d: what is measured of them, where they are trained and where not."""

import pytest

from algorithms.budget_forest import BudgetForestClassifier
from algorithms.budget_prune import BudgetPruneClassifier
from algorithms.metrics import accuracy
from experiments.cegb_2017 import figure2
from experiments.cegb_2017.cells.rivals import follow
from experiments.cegb_2017.claims import CLAIMS
from experiments.cegb_2017.show.design import without_rivals
from experiments.cell import Cell
from tests.experiments.small_sets import tiny


@pytest.mark.parametrize("method", ["budget_forest", "budget_prune"])
def test_what_is_measured_is_the_estimators_own(method):
    dataset = tiny("binary")
    params = {"panel": "c", "tradeoff": 0.05, "impurity": "entropy", "n_trees": 5}
    params["settings"] = {"relevant_from": None}
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
    assert rows[-1]["test_score"] == pytest.approx(score, rel=1e-5)
    bill = last.prediction_cost(dataset.X_test).mean()
    assert rows[-1]["test_cost"] == pytest.approx(bill, rel=1e-5)


def test_the_rivals_stand_in_the_papers_panels_with_its_trees_and_no_claim_waits_for_them():
    cells = figure2.make_cells("overnight", range(5))
    rivals = [cell for cell in cells if not without_rivals(cell)]
    trees = {cell.params["panel"]: cell.params["n_trees"] for cell in rivals}
    assert trees == {"b": 140, "b'": 140, "c": 40, "d": 40}
    assert len(rivals) == 4 * 5 * 2 * 4  # panels, repetitions, methods, impurities
    assert all(without_rivals(cell) for cell in figure2.make_cells("laptop", range(3)))
    parts = [part for claim in CLAIMS for part in claim.parts]
    wanted = {part.wants for part in parts if part.artefact == "cegb-figure2"}
    assert wanted == {without_rivals}
