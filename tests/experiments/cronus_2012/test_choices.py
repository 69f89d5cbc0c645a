"""What our choices change: each variant is what it says."""

import numpy as np
import pytest

from experiments.cell import Cell
from experiments.cronus_2012 import extra_choices
from experiments.cronus_2012.cells import task, variants
from experiments.cronus_2012.cells.cascades import Trainer
from experiments.cronus_2012.show.panels import START
from tests.experiments.cronus_2012.test_cells import PANEL, cell_of
from tests.experiments.small_sets import tiny


def with_variant(variant):
    return extra_choices._with("smoke", PANEL, 0, variant)


def trained(variant, dataset):
    """Train the variant's cascade from what its name says."""
    cell = with_variant(variant)
    params = {
        "no_copies": {"train_copies": False},
        "steepness_200": {"steepness": 200.0},
        "stages_5": {"n_stages": 5},
        "rejection_0.3": {"rejection": 0.3},
        "leaves_8": {"trees": {**cell.params["trees"], "max_depth": 3}},
        "zeros_return": {"limits": {**cell.params["limits"], "support": "cascade"}},
    }.get(variant, {})
    chosen = {**START, **({"quantile": 1} if variant == "quantile" else {})}
    chosen |= {"decay": 1.1} if variant == "decay_1.1" else {}
    cell = Cell(cell.dataset, cell.algorithm, {**cell.params, **params}, 0)
    trees = task.boosted(cell, dataset)
    if variant == "after_step":
        trees.trees_ = trees.trees_._replace(value=0.1 * trees.trees_.value)
    trainer = Trainer(cell, dataset, trees)
    return trainer.fit(1e-4 * 1.3 ** (trainer.empty_from(chosen) - 4), chosen), cell


@pytest.mark.slow
@pytest.mark.parametrize(
    "variant",
    [
        *("ours", "quantile", "no_copies", "steepness_200", "stages_5", "rejection_0.3"),
        *("leaves_8", "after_step", "decay_1.1", "zeros_return"),
    ],
)
def test_a_variant_is_the_cascade_that_it_says(variant):
    dataset = tiny(n=144)
    row = variants.varied(with_variant(variant), dataset)[-1]
    model, cell = trained(variant, dataset)
    test = task.part_of(cell, dataset, "test")
    assert row["method"] == "cronus"
    score = test.score(model.ranking_score(test.X, test.query))
    assert row["test_score"] == pytest.approx(score, rel=1e-5)
    bill = test.mean(model.forest_cost_until_exit(test.X))
    assert row["test_cost_paper"] == pytest.approx(bill, rel=1e-5)
    assert row["n_stages"] == np.count_nonzero(model.coef_.any(axis=1))


def test_leaves_of_a_copy_are_scaled_and_the_model_is_left_alone():
    model = task.boosted(cell_of("cronus"), tiny(n=144))
    before = model.trees_.value.copy()
    np.testing.assert_array_equal(variants.scaled(model, 0.1).trees_.value, 0.1 * before)
    np.testing.assert_array_equal(model.trees_.value, before)


def test_every_variant_has_words():
    assert {change.name for change in extra_choices.CHANGES} == {*variants.VARIANTS, "tied"} - {
        "ours"
    }
