"""The figures of Cronus: how methods are compared, the claims, the pictures."""

import math

import numpy as np
import pandas as pd
import pytest

import datasets
from experiments.artefact import SCALES
from experiments.cronus_2012 import figure1, figure2, figure3, figure4
from experiments.cronus_2012.cells.measure import run_cell
from experiments.cronus_2012.cells.rows import model_row, stage_row
from experiments.cronus_2012.registered import ARTEFACTS
from experiments.cronus_2012.show import comparison
from experiments.cronus_2012.show.panels import PANELS, REJECTIONS, make_cell
from experiments.style import LOOKS, house_style, picture_bytes
from tests.experiments.pictures import unreadable

FIGURES = (figure1, figure2, figure3, figure4)
PANEL = next(panel for panel in PANELS if panel.key == "b")
META = {
    "scale": "laptop",
    "seeds": [0, 1, 2, 3, 4],
    "data": {
        "yahoo_ltr_sample": {
            "kind": "real",
            "test_overlap": 1.0,
            "cost_unit": "units",
            "n_features": 218,
            "rows": {"train": 2000, "valid": 900, "test": 700},
        }
    },
}
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


def claims_of(figure, rows=ROWS, meta=META):
    return {claim.id: claim for claim in figure.ARTEFACT.make_claims(rows, meta)}


# --- comparing ------------------------------------------------------------------------------------


def test_savings_are_those_by_hand():
    saved = comparison.decades_saved(ROWS, "b", "cronus")
    np.testing.assert_allclose(10**saved, 20, rtol=1e-6)
    worse = ROWS.copy()
    worse.loc[worse["method"] == "cronus", "test_score"] = 0.4
    np.testing.assert_allclose(comparison.decades_saved(worse, "b", "cronus"), 0.0)
    assert comparison.decades_saved(ROWS, "b", "nobody").size == 0


def test_early_exits_have_the_models_without_exits():
    whole = comparison.models(ROWS)
    mine = whole[(whole["algorithm"] == "early_exit") & (whole["seed"] == 0)]
    assert set(mine["method"]) == {"gbrt", *(f"early_exit_{rule}" for rule in comparison.RULES)}
    assert mine.loc[mine["method"] == "gbrt", "rounds"].tolist() == [5, 60]
    without = comparison.models(ROWS[ROWS["method"] == "cronus"])
    assert set(without["algorithm"]) == {"cronus"}


def test_both_ends_of_one_training_are_compared():
    table = comparison.shares_remaining(ROWS, "b", "cronus", "hard")
    assert table.loc[0].tolist() == [1.0, 0.3, 0.3]  # of λ = 1e-4, which validates best
    table = comparison.shares_remaining(ROWS, "b", "cronus_initial", "soft")
    np.testing.assert_allclose(table.loc[4], [1.0, 0.85, 0.7225])


# --- claims ---------------------------------------------------------------------------------------


def test_every_claim_of_figure_2_by_hand():
    claims = claims_of(figure2)
    assert len(claims) == 14
    effects = {name: claim.effects(ROWS) for name, claim in claims.items()}
    np.testing.assert_allclose(effects["b-tenfold"], np.log10(20))
    assert np.all(effects["b-single-above-gbrt"] > 0)
    budgets = 10.0 ** (np.arange(21, 41) / 12)  # from the first beyond 50 to the first beyond 2,000
    by_hand = 0.02 * np.mean(budgets >= 150)  # of equal models below, 0.02 apart above
    np.testing.assert_allclose(effects["b-initial-above-single"], by_hand)
    by_hand = 0.03 * np.mean(10.0 ** (np.arange(0, 25) / 12) >= 10 * (1 - 1e-9))
    np.testing.assert_allclose(effects["b-whole-features"], by_hand)
    by_hand = np.mean(budgets >= 120)
    np.testing.assert_allclose(effects["b-raykar-free-control"], 0.03 * by_hand)
    np.testing.assert_allclose(effects["b-and-or-free-control"], -0.02 * by_hand)
    np.testing.assert_allclose(effects["b-exit-limited"], np.log10(1.5))
    assert np.all(effects["b-proximity-best"] > 0)
    assert all("the same for every seed" in claim.sentence for claim in claims.values())


def test_nothing_is_said_of_slower_with_few_trees_or_a_rival_that_our_limits_ended():
    many = ROWS.copy()
    many.loc[(many["method"] == "gbrt") & (many["rounds"] == 60), "rounds"] = 1000
    effects = {name: claim.effects(many) for name, claim in claims_of(figure2, many).items()}
    np.testing.assert_allclose(effects["b-raykar-cascade-slower"], np.log10(4))
    np.testing.assert_allclose(effects["b-and-or-cascade-slower"], np.log10(0.5))
    capped = many.copy()
    capped.loc[capped["method"] == "and_or_cascade", "capped"] = 1
    slower = {name for name in claims_of(figure2, capped) if name.endswith("slower")}
    assert slower == {"b-raykar-cascade-slower"}
    assert not [name for name in claims_of(figure2) if name.endswith("slower")]


def test_shares_of_trainings_that_ended_at_a_limit():
    rows = ROWS.copy()
    rows.loc[(rows["method"] == "cronus") & (rows["seed"] < 2), "capped"] = 1
    rows.loc[rows["method"] == "cronus_initial", "capped"] = 1  # is not trained
    shares = {"cronus": 0.4, "raykar_cascade": 0.0, "and_or_cascade": 0.0}
    assert comparison.capped_shares(rows, "b") == pytest.approx(shares)
    assert "Cronus 40 %" in comparison.capped_in_words(rows)
    assert comparison.capped_in_words(rows) in figure2.ARTEFACT.alt(rows, META)


def test_figures_of_stages_show_cascades_as_they_were_trained():
    """A moved threshold that validates better changes nothing there."""
    moved = ROWS[(ROWS["method"] == "cronus") & (ROWS["stage"] == 0)].assign(setting=2.0)
    moved["valid_score"] += 0.2
    rows = pd.concat([ROWS, moved[moved["tradeoff"] == 1e-3]], ignore_index=True)
    table = comparison.shares_remaining(rows, "b", "cronus", "hard")
    assert table.loc[0].tolist() == [1.0, 0.3, 0.3]
    assert len(comparison.chosen_stages(rows)) == len(comparison.chosen_stages(ROWS))


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("b-cronus-above-initial", "cronus"),
        ("b-cronus-above-raykar-cascade", "cronus"),
        ("b-initial-above-early-exit", "cronus_initial"),
        ("b-initial-above-and-or-cascade", "cronus_initial"),
    ],
)
def test_a_claim_turns_round_with_the_scores(name, method):
    claim = claims_of(figure2)[name]
    assert np.all(claim.effects(ROWS) > 0)
    low = ROWS.copy()
    low.loc[low["method"] == method, ["valid_score", "test_score"]] = 0.1
    assert np.all(claim.effects(low) < 0)


def test_what_was_not_measured_is_not_judged():
    rows = ROWS[ROWS["method"].isin(["gbrt", "cronus"])]
    for name, claim in claims_of(figure2, rows).items():
        if name != "b-tenfold":
            assert claim.effects(rows).size == 0, name


def test_claims_of_figure_3_by_hand():
    claims = claims_of(figure3)
    np.testing.assert_allclose(claims["b-rejects-earlier"].effects(ROWS), 0.4)
    np.testing.assert_allclose(claims["b-fewer-stages"].effects(ROWS), 1.0)
    names = {"cronus": "cronus_initial", "cronus_initial": "cronus"}
    turned = ROWS.copy()
    staged = turned["stage"] > 0
    turned.loc[staged, "method"] = turned.loc[staged, "method"].map(names)
    kept = turned[(turned["stage"] == 0) | (turned["tradeoff"] == 1e-4)]
    assert len(kept) < len(turned)
    np.testing.assert_allclose(claims["b-rejects-earlier"].effects(kept), -0.4)
    np.testing.assert_allclose(claims["b-fewer-stages"].effects(kept), -1.0)


def test_claims_of_figure_4_by_hand():
    claims = claims_of(figure4)
    # Bought at once of what is bought at all: 8 of 8 cheap ones; of the dear ones 1 of 3, 1 of 1.
    np.testing.assert_allclose(claims["b-cheap-first"].effects(ROWS), 8 / 8 - 2 / 4)
    np.testing.assert_allclose(claims["b-most-cheap-at-once"].effects(ROWS), 0.5)
    assert claims["b-some-dear-at-once"].spread == "trials"
    np.testing.assert_array_equal(claims["b-some-dear-at-once"].effects(ROWS), [[0.5, 0, 5]])
    late = ROWS.copy()
    dear = (late["price"] == 150.0) & (late["stage"] == 1) & (late["seed"] == 3)
    late.loc[dear, "n_features"] = 0
    np.testing.assert_array_equal(claims["b-some-dear-at-once"].effects(late), [[0.5, 1, 5]])
    cheap = (late["price"] == 1.0) & (late["stage"] == 1)
    late.loc[cheap, "n_features"] = 0
    assert np.all(claims["b-cheap-first"].effects(late) < 0)
    np.testing.assert_allclose(claims["b-most-cheap-at-once"].effects(late), -0.5)
    all_dear = ROWS[ROWS["price"] != 1.0]
    none = claims["b-cheap-first"].effects(all_dear)  # nothing to compare with
    assert none.size == 5
    assert np.isnan(none).all()


def test_a_cascade_with_one_live_stage_has_no_order():
    one = ROWS.copy()
    last = (one["stage"] == 3) & (one["method"] == "cronus") & (one["seed"] == 2)
    one.loc[last & (one["price"] < 0), "n_trees"] = 0
    for name, claim in claims_of(figure4, one).items():
        if name == "b-some-dear-at-once":
            np.testing.assert_array_equal(claim.effects(one), [[0.5, 0, 4]])
        else:
            assert np.count_nonzero(~np.isnan(claim.effects(one))) == 4, name


def test_nothing_is_claimed_of_cheap_features_where_there_are_none():
    """A fortieth of the highest price, 150, is 3.75; the claim on dear ones stays."""
    all_dear = ROWS[ROWS["price"] != 1.0]
    about_cheap = {"b-cheap-first", "b-most-cheap-at-once"}
    for rows, cheap in ((ROWS, True), (all_dear, False)):
        claims = {claim.id for claim in figure4.ARTEFACT.make_claims(rows, META)}
        assert "b-some-dear-at-once" in claims
        assert claims & about_cheap == (about_cheap if cheap else set())


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
            overnight = 1 if panel.licensed else 5
            wanted = panel.at_laptop if scale == "laptop" else overnight
            assert len({cell.seed for cell in mine}) == wanted
            assert {cell.algorithm for cell in mine} == (set(panel.families) if wanted else set())
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


@pytest.mark.parametrize("figure", FIGURES, ids=lambda f: f.ARTEFACT.id)
def test_pictures_are_the_same_bytes_and_name_the_data(figure):
    artefact = figure.ARTEFACT
    pictures = []
    for _ in range(2):
        with house_style(artefact.id):
            drawn = artefact.render(ROWS, META)
        pictures.append(picture_bytes(drawn, "svg", artefact.id))
    assert pictures[0] == pictures[1]
    assert unreadable(drawn) == []
    titles = [ax.get_title(loc="left") for ax in drawn.axes]
    assert any("Yahoo! LTR, a part" in title and "real data" in title for title in titles)
    record = {**META["data"]["yahoo_ltr_sample"], "kind": "synthetic"}
    synthetic = {**META, "data": {"yahoo_ltr_sample": record}}
    with house_style(artefact.id):
        drawn = artefact.render(ROWS, synthetic)
    assert any("SYNTHETIC" in ax.get_title(loc="left") for ax in drawn.axes)
    assert "SYNTHETIC" in artefact.alt(ROWS, synthetic)


def test_words_have_the_numbers():
    text = figure2.ARTEFACT.alt(ROWS, META)
    assert "(b) Yahoo! LTR, a part: 1.0, 1.0, 20.0, 1.3" in text
    assert "stages 1, 3, 30.0 % come to the last" in figure1.ARTEFACT.alt(ROWS, META)
    assert "0.60 and 0.30" in figure3.ARTEFACT.alt(ROWS, META)
    assert "price 1 0.80 and price 150 0.25" in figure4.ARTEFACT.alt(ROWS, META)


def test_every_method_has_a_look():
    drawn = {method for method, *_ in MODELS if not method.startswith("early_exit")}
    assert drawn | {"early_exit"} <= set(LOOKS)


def test_figure_2_joins_the_figures_of_all_papers():
    ids = {artefact.id for artefact in ARTEFACTS}
    assert {f"cronus-figure{k}" for k in (1, 2, 3, 4)} | {
        "cronus-choices",
        "cronus-divisions",
    } == ids


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
