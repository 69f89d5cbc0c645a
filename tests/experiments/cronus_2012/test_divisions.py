"""Figure 2 on all queries: the models that are chosen are those of Figure 2's cells."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from experiments.cell import Cell
from experiments.cells.divided_queries import folds
from experiments.cronus_2012 import extra_divisions
from experiments.cronus_2012.cells import divisions, task
from experiments.cronus_2012.cells.measure import run_cell
from experiments.cronus_2012.extra_divisions import kept, lead, none_as_good
from experiments.greedy_miser_2012.cells.models import Measured, Pool
from experiments.greedy_miser_2012.show.divisions import saved_of_each
from tests.experiments.small_sets import whole

META = {"scale": "smoke", "seeds": [0], "data": {"yahoo_ltr_sample": {"kind": "real"}}}


def cell() -> Cell:
    """Without early exits and AND-OR, which take time and are pooled like the others."""
    (one,) = extra_divisions.make_cells("smoke", range(1))
    families = {name: dict(params) for name, params in one.params["families"].items()}
    del families["and_or_cascade"]
    families["raykar_cascade"]["limits"] = [2, 20]
    families["cronus"]["exits"] = {"proximity": [0.5]}
    return replace(one, params={**one.params, "families": families})


@pytest.fixture(scope="module")
def models():
    return [divisions.models_of(cell(), part) for part in folds(whole(144), 0)]


@pytest.fixture(scope="module")
def rows(models):
    """Rows of the cell, without training twice."""
    with pytest.MonkeyPatch.context() as patch:
        each = iter(models)
        patch.setattr(divisions, "models_of", lambda cell, part: next(each))
        return pd.DataFrame(divisions.measure(cell(), whole(144))).assign(seed=0)


@pytest.mark.slow
def test_models_are_those_of_figure_2_by_query(models):
    fold = next(folds(whole(144), 0))
    params = cell().params["families"]["cronus"]
    told = [
        row
        for row in run_cell(Cell("tiny", "cronus", params, 0), fold)
        if row["stage"] == 0 and row["method"] == "cronus"
    ]
    mine = list(models[0]["cronus"].values())
    assert len(mine) == len(told) == 2 * 3  # two λ with three threshold settings
    for model, row in zip(mine, told, strict=True):
        assert np.nanmean(model["test"].scores) == pytest.approx(row["test_score"], rel=1e-5)
        assert model["valid"].bill == pytest.approx(row["valid_cost_paper"], rel=1e-5)
        assert not {"valid_queries", "test_queries"} & set(row)
    part = task.part_of(Cell("tiny", "cronus", params, 0), fold, "test")
    assert len(mine[0]["test"].scores) == len(np.unique(part.query))
    assert models[0]["early_exit"].keys() > models[0]["gbrt"].keys()


@pytest.mark.slow
def test_rows_hold_the_best_within_and_the_cheapest_as_good(rows):
    assert not rows.duplicated(["budget", "query"]).any()
    good = rows[rows["budget"] == 0]
    assert (good["gbrt_cost"] == 1).all()
    assert good["cronus"].notna().all()
    full = rows[rows["budget"] == 1.0]
    np.testing.assert_array_equal(full["gbrt"], good["gbrt"])  # its best by validation, at its bill
    assert full[["early_exit", "cronus"]].notna().all(axis=None)
    assert rows["and_or_cascade"].isna().all()  # was not tried


def test_none_that_is_as_good_saves_nothing_and_loses_what_it_does_at_equal_cost():
    pools = {m: Pool([], np.array([]), np.array([])) for m in divisions.METHODS}
    pools["gbrt"] = Pool(["g"], np.array([0.8]), np.array([10.0]))
    pools["cronus"] = Pool(["a", "b", "c"], np.array([0.5, 0.6, 0.7]), np.array([1.0, 9.0, 11.0]))
    chosen, saves = divisions._chosen(pools, "g", divisions.AS_GOOD, 0.01)
    assert (chosen["cronus"], saves) == ("b", {"gbrt"})
    assert divisions._chosen(pools, "g", divisions.AS_GOOD, 0.15)[0]["cronus"] == "c"
    of = {"gbrt": Measured(np.array([0.9]), 20.0), "cronus": Measured(np.array([0.4]), 10.0)}
    about = {"panel": "b", "budget": 0.0, "fold": 1, "seed": 0}
    rows = pd.DataFrame(divisions._rows(about, [1], of, of["gbrt"], saves))
    assert np.isnan(rows.loc[0, "cronus_cost"])
    np.testing.assert_allclose(saved_of_each(rows, "b", "cronus"), [0.0])
    other_fold = rows.assign(fold=2, cronus_cost=0.1)
    np.testing.assert_allclose(none_as_good(pd.concat([rows, other_fold]), "b"), [0.5])
    np.testing.assert_allclose(kept(rows, "b"), [[-0.5]])


def test_effects_by_hand():
    rows = pd.DataFrame(
        {
            "panel": "b",
            "seed": [0, 0, 0, 0, 0],
            "budget": [0.0, 0.0, 0.1, 1.0, 0.1],
            "query": [1, 2, 1, 1, 2],
            "fold": [1, 2, 1, 1, 2],
            "gbrt": [0.4, 0.2, np.nan, 0.4, 0.2],
            "cronus": [0.6, 0.2, 0.2, 0.6, 0.6],
            "cronus_cost": [0.1, 0.01, 0.1, 0.9, 0.1],
        }
    )
    np.testing.assert_allclose(saved_of_each(rows, "b", "cronus"), [1.5])
    np.testing.assert_allclose(kept(rows, "b"), [[0.2, 0.0]])
    np.testing.assert_allclose(lead(rows, "b", "cronus", "gbrt"), [[0.2, 0.4]])


@pytest.mark.slow
def test_table_and_words(rows):
    text = extra_divisions.ARTEFACT.render(rows, META)
    assert text.count("Yahoo! LTR, a part") == len(extra_divisions.PAIRS) + 1
    assert "optimised above AND-OR | Yahoo! LTR, a part | 0 | no shared budget" in text
    each = lead(rows, "b", "cronus", "cronus_initial")
    assert f"| {each.shape[1]} | {each.to_numpy().mean():+.4f} [" in text
    synthetic = {**META, "data": {"yahoo_ltr_sample": {"kind": "synthetic"}}}
    assert "(SYNTHETIC)" in extra_divisions.ARTEFACT.render(rows, synthetic)
