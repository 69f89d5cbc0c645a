"""Figures 3 and 4 of Greedy Miser: the baselines, the claims, the pictures."""

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC, LinearSVC

import datasets
from datasets import scene15
from datasets.features.scenes import prices
from experiments.cells.sample_images import run_cell
from experiments.curves import budgets_between
from experiments.greedy_miser_2012 import figure3, figure4
from experiments.greedy_miser_2012.cells import measure, pictures, scenes, shared_pass
from experiments.greedy_miser_2012.claims import CLAIMS
from experiments.greedy_miser_2012.show import pictures as by_picture
from experiments.style import house_style


@pytest.fixture(scope="module")
def dataset():
    return datasets.load("scene15", scale="smoke", seed=0)


def cell_of(algorithm):
    return next(c for c in figure3.make_cells("smoke", range(1)) if c.algorithm == algorithm)


def test_averaged_kernel_machine_against_votes_of_its_own_machines(dataset):
    row, shared = scenes.measure(cell_of("svm_averaged_kernel"), dataset)
    kernel = scene15.averaged_kernel(scale="smoke")
    values = [
        SVC(kernel="precomputed", C=row["tradeoff"])
        .fit(kernel.train, kernel.y_train == k)
        .decision_function(kernel.test)
        for k in range(15)
    ]
    right = np.argmax(values, axis=0) == kernel.y_test
    assert row["test_score"] == pytest.approx(right.mean(), abs=1e-6)
    cost = kernel.kernel_cost + 15 * kernel.machine_cost
    assert row["test_cost"] == row["test_cost_paper"] == pytest.approx(cost, rel=1e-5)
    numbers, answers = pictures.unpacked(row["right"])
    np.testing.assert_array_equal(answers, right)
    assert len(numbers) == len(right)
    # 13 detectors at the smallest scale: twelve passes are saved.
    less = cost - 12 * shared_pass.pass_price()
    assert shared == {**row, "panel": "p"} | {
        f"{part}_cost{kind}": shared["test_cost"] for part in ("valid", "test")
        for kind in ("", "_paper")
    }  # fmt: skip
    assert shared["test_cost"] == pytest.approx(less, rel=1e-5)


def test_l1_pays_for_the_descriptors_it_uses(dataset):
    cell = cell_of("l1_raw_descriptors")
    row, _ = scenes.measure(cell, dataset)
    raw = scene15.raw_descriptors(scale="smoke")
    model = LinearSVC(
        penalty="l1", dual=False, C=row["tradeoff"], max_iter=2000, random_state=0
    ).fit(raw.X_train / 255.0, raw.y_train)
    used = {raw.descriptor[m] for m in range(raw.X_train.shape[1]) if model.coef_[:, m].any()}
    assert row["test_cost"] == pytest.approx(sum(raw.descriptor_costs[g] for g in used), rel=1e-5)
    right = model.predict(raw.X_test / 255.0) == raw.y_test
    assert row["test_score"] == pytest.approx(right.mean(), abs=1e-6)
    tight = figure3._with(cell, penalties=[1e-5])  # nothing is used, nothing is paid
    for nothing in scenes.measure(tight, dataset):
        assert nothing["test_cost"] == 0.0


def test_one_pass_is_charged_from_the_first_detector_on(dataset):
    """The bill of descriptors with a pass each, less all passes but one."""
    cell = next(c for c in figure3.make_cells("smoke", range(1)) if c.params["panel"] == "p")
    cheap = shared_pass.without_pass(dataset)
    detectors = shared_pass.detectors_of(dataset)
    assert detectors.any()
    assert not detectors.all()
    model = measure.train(cell, cheap)
    beyond = shared_pass.pass_of(dataset, model)
    forest = model.trees_
    for r in range(model.n_estimators_ + 1):
        nodes = forest.feature[: forest.tree[15 * r]]
        used = np.unique(nodes[nodes >= 0])
        groups = np.unique(dataset.feature_groups[used])
        dear = set(np.unique(dataset.feature_groups[used[detectors[used]]]))
        bill = dataset.feature_costs[used].sum() + sum(dataset.group_costs[g] for g in groups)
        ours = ([0.0, *model.staged_forest_cost()])[r] + beyond[r]
        assert ours == pytest.approx(shared_pass.once(bill, len(dear)), rel=1e-9)
    assert 0 < prices.shared_part() < 1


def test_penalty_is_chosen_by_validation():
    class Model:
        def __init__(self, C):
            self.C = C

        def predict(self, X):
            return np.full(len(X), int(self.C in (1.0, 10.0)))

    model, C = scenes._best(Model, [10.0, 1.0, 0.1], np.zeros((4, 1)), np.ones(4))
    assert (model.C, C) == (1.0, 1.0)


def made_up():
    rows = []
    for seed in range(5):
        for algorithm, tradeoff, exit_at, score, cost in (
            ("stagewise", 0.0, 0.0, 0.80, 400.0),
            ("greedy_miser", 1.0, 0.0, 0.79, 100.0),
            ("early_exit", 0.0, 0.4, 0.795, 300.0),
            ("svm_averaged_kernel", 10.0, 0.0, 0.80, 500.0),
            ("l1_raw_descriptors", 0.1, 0.0, 0.70, 450.0),
        ):
            scored = {f"{part}_score": score + 0.001 * seed for part in ("valid", "test")}
            costs = {f"{part}_cost{a}": cost for part in ("valid", "test") for a in ("", "_paper")}
            rows.append(
                {"panel": "s", "dataset": "scene15", "algorithm": algorithm, "seed": seed,
                 "tradeoff": tradeoff, "limit": 0.0, "exit": exit_at, "rounds": 10, "best": 1,
                 "test_trees": 1.0, **scored, **costs}
            )  # fmt: skip
    return pd.DataFrame(rows)


@pytest.mark.slow
def test_claims_need_no_other_cells_than_they_want(dataset):
    """Effects of the rows of wanted cells are those of all rows."""
    parts = [p for one in CLAIMS for p in one.parts if p.artefact == "miser-figure3"]
    assert len(parts) == 2
    cells = figure3.make_cells("smoke", range(1))
    rows = [
        (cell, {"dataset": cell.dataset, "algorithm": cell.algorithm, "seed": cell.seed, **row})
        for cell in cells
        for row in figure3.ARTEFACT.run_cell(cell, dataset)
    ]
    for part in parts:
        assert 0 < sum(map(part.wants, cells)) < len(cells)
        wanted = part.effects(pd.DataFrame([row for cell, row in rows if part.wants(cell)]))
        assert wanted.size
        np.testing.assert_array_equal(wanted, part.effects(pd.DataFrame([row for _, row in rows])))


def test_samples_show_every_class_and_stay_at_home():
    artefact = figure4.ARTEFACT
    assert not artefact.committed_picture
    assert artefact.drawn_columns == ("pixels",)
    (cell,) = artefact.cells("smoke")
    images = datasets.load_images("scene15", scale="smoke")
    rows = pd.DataFrame(
        [{"dataset": "scene15", "algorithm": cell.algorithm, "seed": 0, **row}
         for row in run_cell(cell, images)]
    )  # fmt: skip
    assert sorted(rows["label"]) == list(range(15))
    for kind in ("real", "synthetic"):
        meta = {"data": {"scene15": {"kind": kind}}, "scale": "smoke"}
        with house_style(artefact.id):
            figure = artefact.render(rows, meta)
        assert ("SYNTHETIC" in figure.get_suptitle()) == (kind != "real")
        names = [ax.get_title() for ax in figure.axes]
        assert names == list(figure4.CLASSES)


def test_pictures_are_pooled_over_the_draws_that_test_them():
    """Two draws, a picture tested by both and one by each; budgets by validation, by hand."""
    rows = made_up()
    rows = rows[rows["seed"] < 2].copy()
    tested = {0: [0, 2], 1: [2, 5]}
    right = {"greedy_miser": [1, 1], "early_exit": [0, 1], "stagewise": [1, 0]}
    rows["right"] = [
        pictures.packed(np.array(right.get(a, [1, 0])) > 0, np.array(tested[s]))
        for a, s in zip(rows["algorithm"], rows["seed"], strict=True)
    ]
    given = ("s", "greedy_miser", "svm_averaged_kernel", 0.01)
    saved, none = by_picture.saved_beside(rows, *given)
    np.testing.assert_allclose(10**saved, [5.0, 5.0])
    assert not none.any()
    better = rows["valid_score"].mask(rows["algorithm"] == "svm_averaged_kernel", 2.0)
    nothing, none = by_picture.saved_beside(rows.assign(valid_score=better), *given)
    assert none.all()
    assert not nothing.any()  # a model that does not exist saves nothing
    # Shared are budgets from 300 (first early exit) to 400 (stage-wise regression, of both).
    lead = by_picture.lead_of_each(rows, "s", "greedy_miser", "early_exit")
    n_budgets = len(budgets_between(300, 400))
    both = 1 / n_budgets  # at the last budget both are stage-wise regression
    np.testing.assert_allclose(lead[0, :2], [1 - both, 0])
    np.testing.assert_allclose(lead[1, 1:], [1 - both, 0])
