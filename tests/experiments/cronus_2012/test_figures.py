"""The figures of Cronus: how methods are compared, the claims, the pictures."""

import math

import numpy as np
import pandas as pd
import pytest

import datasets
from algorithms.exits.exit_rules import RANKING_RULES
from experiments.artefact import SCALES
from experiments.claims.declared import FIRST_SEED
from experiments.cronus_2012 import figure1, figure2, figure3, figure4
from experiments.cronus_2012.cells.measure import run_cell
from experiments.cronus_2012.cells.rows import model_row, stage_row
from experiments.cronus_2012.show import comparison
from experiments.cronus_2012.show.panels import PANELS, REJECTIONS, make_cell
from experiments.looks import LOOKS
from experiments.registry import of_paper
from tests.experiments.drawn_as_published import check_drawn, published

PANEL = next(panel for panel in PANELS if panel.key == "b")
MODELS = (  # method, λ, setting, rounds, score, cost, features, CPU seconds
    ("gbrt", 0.0, 0.0, 5, 0.40, 200.0, 20, 1.0),
    ("gbrt", 0.0, 0.0, 60, 0.50, 2000.0, 100, 2.0),
    ("single_stage", 1e-4, 0.0, 5, 0.45, 150.0, 10, 1.0),
    ("plain_l1", 0.0, 1e-3, 5, 0.42, 400.0, 10, 1.0),
    ("cronus_initial", 1e-4, 0.0, 8, 0.47, 150.0, 12, math.nan),
    ("cronus", 1e-4, 0.0, 8, 0.495, 100.0, 12, 10.0),
    ("cronus", 1e-3, 0.0, 2, 0.30, 20.0, 3, 10.0),
    ("early_exit_proximity", 0.0, 1.0, 60, 0.50, 1500.0, 100, 2.0),
    ("early_exit_rank", 0.0, 5.0, 60, 0.45, 1500.0, 100, 2.0),
    ("early_exit_score", 0.0, 0.0, 60, 0.45, 1500.0, 100, 2.0),
    ("early_exit_capacity", 0.0, 0.5, 60, 0.45, 1500.0, 100, 2.0),
    ("raykar_cascade", 1e-4, 0.0, 24, 0.35, 120.0, 40, 40.0),
    ("raykar_free", 1e-4, 0.0, 24, 0.38, 120.0, 40, 40.0),
    ("and_or_cascade", 1e-3, 0.0, 24, 0.35, 120.0, 40, 5.0),
    ("and_or_free", 1e-3, 0.0, 24, 0.33, 120.0, 40, 5.0),
)
ENDS = [  # so that all methods share budgets: little for 50, their best for 2,000
    (method, 1.0 + i, 9.0, 1 + 79 * i, score if i else 0.25, (50.0, 2000.0)[i], 100**i, seconds)
    for method, _, _, _, score, _, _, seconds in MODELS
    if method != "gbrt" and score != 0.30
    for i in (0, 1)
]


def made_up(seeds=range(5)):
    """Rows of panel b in which Cronus is as good as GBRT at a twentieth of its cost."""
    found = []
    for seed in seeds:
        for method, tradeoff, setting, rounds, score, cost, features, seconds in [*MODELS, *ENDS]:
            cell = make_cell("smoke", PANEL, "cronus", seed)
            values = {"n_trees": rounds, "n_features": features, "fit_seconds": seconds}
            values |= {f"{part}_score": score + 0.001 * seed for part in ("valid", "test")}
            for bill in ("cost", "cost_paper"):
                values |= {f"{part}_{bill}": cost for part in ("valid", "test")}
            about = {"tradeoff": tradeoff, "setting": setting, "rounds": rounds}
            rows = [model_row(cell, method, values, **about)]
            if method.startswith("cronus") and tradeoff < 1.0:
                rows += stages(cell, method, about)
            base = {"dataset": cell.dataset, "algorithm": cell.algorithm, "seed": seed}
            found += [{**base, **row} for row in rows]
    return pd.DataFrame(found)


def stages(cell, method, about):
    """Three stages; optimised, the second is empty and more is rejected at the first."""
    initial = method == "cronus_initial"
    hard = (1.0, 0.8, 0.6) if initial else (1.0, 0.3, 0.3)
    trees = (2, 3, 8) if initial else (2, 0, 8)
    rows = []
    for k in range(1, 4):
        values = {"hard": hard[k - 1], "soft": 0.85 ** (k - 1), "n_trees": trees[k - 1]}
        values |= {"n_features": 5 * k, "threshold": -0.9 if k < 3 else math.nan}
        rows.append(stage_row(cell, method, k, -1.0, values, **about))
        for price, bought, listed in ((1.0, 8, 10), (20.0, k, 20), (150.0, 1, 4)):
            values = {"n_trees": 0, "n_features": bought, "n_listed": listed}
            rows.append(stage_row(cell, method, k, price, values, **about))
    return rows


ROWS = made_up()


# --- comparing ------------------------------------------------------------------------------------


def test_both_ends_of_one_training_are_compared():
    table = comparison.shares_remaining(ROWS, "b", "cronus", "hard")
    assert table.loc[0].tolist() == [1.0, 0.3, 0.3]  # of λ = 1e-4, which validates best
    table = comparison.shares_remaining(ROWS, "b", "cronus_initial", "soft")
    np.testing.assert_allclose(table.loc[4], [1.0, 0.85, 0.7225])


# --- claims ---------------------------------------------------------------------------------------


def test_shares_of_trainings_that_ended_at_a_limit():
    rows = ROWS.copy()
    rows.loc[(rows["method"] == "cronus") & (rows["seed"] < 2), "capped"] = 1
    rows.loc[rows["method"] == "cronus_initial", "capped"] = 1  # is not trained
    said = "Cronus 40 %, Soft cascade (Raykar) 0 %, AND-OR (Dundar & Bi) 0 %"
    assert comparison.capped_in_words(rows) == said


def test_figures_of_stages_show_cascades_as_they_were_trained():
    """A moved threshold that validates better changes nothing there."""
    moved = ROWS[(ROWS["method"] == "cronus") & (ROWS["stage"] == 0)].assign(setting=2.0)
    moved["valid_score"] += 0.2
    rows = pd.concat([ROWS, moved[moved["tradeoff"] == 1e-3]], ignore_index=True)
    table = comparison.shares_remaining(rows, "b", "cronus", "hard")
    assert table.loc[0].tolist() == [1.0, 0.3, 0.3]
    assert len(comparison.chosen_stages(rows)) == len(comparison.chosen_stages(ROWS))


# --- cells and pictures ---------------------------------------------------------------------------


def test_figures_1_3_and_4_train_nothing_of_their_own():
    for scale in SCALES:
        there = [cell.to_json() for cell in figure2.make_cells(scale, range(2))]
        for figure in (figure1, figure3, figure4):
            assert figure.ARTEFACT.run_cell is figure2.ARTEFACT.run_cell is run_cell
            for cell in figure.make_cells(scale, range(2)):
                assert cell.to_json() in there


def test_cells_of_each_scale():
    smoke = {cell.dataset for cell in figure2.make_cells("smoke", range(1))}
    assert smoke <= {r["name"] for r in datasets.status() if r["synthetic"]}
    for scale in ("laptop", "overnight"):
        cells = figure2.make_cells(scale, range(5))
        for panel in PANELS:
            mine = [cell for cell in cells if cell.dataset == panel.dataset]
            overnight = 0 if panel.judged else 1 if panel.licensed else 5
            wanted = panel.at_laptop if scale == "laptop" else overnight
            assert len({cell.seed for cell in mine}) == wanted
            assert {cell.algorithm for cell in mine} == (set(panel.families) if wanted else set())
    fresh = figure2.make_cells("overnight", range(FIRST_SEED, FIRST_SEED + 1))
    assert {"cbcl", "cbcl_divided"} <= {cell.dataset for cell in fresh}  # that claims ask for
    paper = figure2.make_cells("paper", range(1))
    assert {cell.params["trees"]["n_estimators"] for cell in paper} == {5000}
    steps = next(cell.params["steps"] for cell in paper if cell.algorithm == "cronus")
    assert set(range(10)) <= set(steps)  # the paper's ten
    primary = next(cell for cell in figure2.make_cells("overnight", range(1)))
    assert (primary.dataset, primary.params["trees"]["n_estimators"]) == ("vj_faces", 1000)
    steps = primary.params["steps"]
    assert len(steps) == 12
    assert 1.3 ** (max(steps) - min(steps)) > 1000


def test_all_methods_have_as_many_threshold_settings_and_overnight_as_many_models():
    panel = next(panel for panel in PANELS if panel.key == "b")
    cells = {f: make_cell("overnight", panel, f, 0).params for f in panel.families}
    assert {tuple(params["rejections"]) for params in cells.values()} == {REJECTIONS}
    exits = cells["cronus"]["exits"].values()
    assert {len(grid) + 1 for grid in exits} == {len(REJECTIONS)}  # and the trees without exits
    trained = [len(cells["cronus"]["steps"])]
    for family, own in (("raykar_cascade", "tradeoffs"), ("and_or_cascade", "ridges")):
        of = cells[family]
        trained.append(len(of["sizes"]) * len(of["positive_weights"]) * len(of[own]))
    assert trained == [12, 12, 12]


@pytest.mark.parametrize("artefact", published(of_paper("cronus_2012"), slow=["cronus-figure2"]))
def test_what_is_drawn_can_be_read_and_synthetic_data_are_named(artefact):
    check_drawn(artefact)


def test_every_method_has_a_look():
    drawn = {method for method, *_ in MODELS if not method.startswith("early_exit")}
    assert drawn | {"early_exit"} <= set(LOOKS)


def test_one_choice_for_all_models_of_a_draw():
    """Validation chooses once for a method and draw; two values of one are an error."""
    row = {"panel": "b", "method": "cronus", "seed": 0, "penalty": 1e-5, "last_penalty": 1e-3}
    row |= {"decay": 1.3, "positive_weight": 3.5, "quantile": 0.0}
    rows = pd.DataFrame([row, row, {**row, "method": "gbrt", "penalty": 0.0}])
    chosen = comparison.chosen_by_validation(rows)
    assert chosen == {"b": {"cronus": {"0": {k: row[k] for k in list(row)[3:]}}}}
    rows.loc[1, "decay"] = 1.1
    with pytest.raises(ValueError, match="several hyper-parameters"):
        comparison.chosen_by_validation(rows)


def test_early_exits_have_the_models_without_exits():
    whole = comparison.models(ROWS)
    mine = whole[(whole["algorithm"] == "early_exit") & (whole["seed"] == 0)]
    assert set(mine["method"]) == {"gbrt", *(f"early_exit_{rule}" for rule in RANKING_RULES)}
    assert mine.loc[mine["method"] == "gbrt", "rounds"].tolist() == [5, 60]
    without = comparison.models(ROWS[ROWS["method"] == "cronus"])
    assert set(without["algorithm"]) == {"cronus"}
