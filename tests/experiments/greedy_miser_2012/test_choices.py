"""What our choices change, and training time: each variant is what it says."""

import numpy as np
import pandas as pd
import pytest

from algorithms.metrics import ndcg_letor_at_k
from experiments.cell import Cell
from experiments.greedy_miser_2012 import extra_choices, extra_training_time
from experiments.greedy_miser_2012.cells import measure, stopwatch, variants
from experiments.training_time import margin
from tests.experiments.greedy_miser_2012.test_figure1 import RANKING, cell_of
from tests.experiments.small_sets import tiny


def with_variant(variant, tradeoff=1.0):
    cell = cell_of(RANKING, tradeoff=tradeoff)
    return Cell(cell.dataset, cell.algorithm, {**cell.params, "variant": variant}, 0)


@pytest.mark.parametrize("variant", [v for v in variants.CHANGES if v != "all_splits"])
def test_a_variant_is_the_model_that_it_says(variant):
    dataset = tiny()
    (row,) = variants.varied(with_variant(variant), dataset)
    model = measure.make_estimator(with_variant("ours"), dataset)
    model.set_params(**variants.CHANGES[variant])
    model.set_params(n_estimators={"step_0.05": 60, "step_0.2": 15}.get(variant, 30))
    weight = np.where(dataset.y_train == 0, 10.0, 1.0)
    model.fit(dataset.X_train, dataset.y_train, sample_weight=weight)
    model = model.first_rounds(row["rounds"])
    assert row["test_cost_paper"] == pytest.approx(model.forest_cost(), rel=1e-5)
    if variant == "letor":
        score = ndcg_letor_at_k(
            dataset.y_test, model.predict(dataset.X_test), dataset.query_test, 5
        )
    else:
        score = measure.score(model.predict(dataset.X_test), dataset, "test")
    assert row["test_score"] == pytest.approx(score, rel=1e-5)


def test_without_prices_forced_splits_are_the_only_difference():
    """At λ = 0 a split never raises the impurity: restricted CEGB is ours, split for split."""
    one, other = (variants.varied(with_variant(v, 0.0), tiny())[0] for v in ("ours", "all_splits"))
    assert {**one, "variant": ""} == {**other, "variant": ""}
    dear = [variants.varied(with_variant(v, 64.0), tiny())[0] for v in ("ours", "all_splits")]
    assert dear[1]["test_cost_paper"] > dear[0]["test_cost_paper"]


def test_every_variant_has_words():
    assert [change.name for change in extra_choices.CHANGES] == [
        v for v in variants.CHANGES if v != "ours"
    ]


def test_the_race_is_between_the_same_trees_with_and_without_prices():
    cell = cell_of(RANKING, tradeoff=1.0, rounds=4)
    rows = stopwatch.run_cell(cell, tiny())
    assert [row["method"] for row in rows] == ["stagewise", "greedy_miser"]
    assert all(row["fit_seconds"] > 0 for row in rows)
    free = measure.train(cell_of(RANKING, tradeoff=0.0, rounds=4), tiny())
    assert rows[0]["n_splits"] == np.count_nonzero(free.trees_.feature >= 0)


def test_training_time_by_hand():
    rows = pd.DataFrame(
        [
            {"dataset": "mq2008", "algorithm": "greedy_miser", "seed": seed, "method": method,
             "tradeoff": 1.0, "n_splits": 9, "fit_seconds": seconds * (1 + seed)}
            for seed in range(2)
            for method, seconds in (("stagewise", 2.0), ("greedy_miser", 2.5))
        ]
    )  # fmt: skip
    found = margin(rows, "mq2008", "greedy_miser", "stagewise", 1.25)
    np.testing.assert_allclose(found, 0.0, atol=1e-12)
    record = {"kind": "real", "rows": {"train": 9630}, "n_features": 46}
    meta = {"data": {"mq2008": record}, "scale": "laptop", "seeds": [0, 1]}
    assert "| MQ2008 | 9,630 × 46 | 3 | 1.25 (1.25 to 1.25) |" in extra_training_time.render(
        rows, meta
    )


def test_smoke_scale_alone_leaves_panels_out_of_the_times():
    panels = {
        scale: {cell.params["panel"] for cell in extra_training_time.make_cells(scale, range(1))}
        for scale in ("smoke", "laptop", "overnight")
    }
    every = {panel.key for panel in extra_training_time.SHOWN}
    assert panels["laptop"] == panels["overnight"] == every > panels["smoke"] > set()
