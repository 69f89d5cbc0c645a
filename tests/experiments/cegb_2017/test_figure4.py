"""Figure 4 of CEGB: what a cell measures, what the claim computes, the pictures in rows."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import datasets
from experiments.artefact import Cell
from experiments.cegb_2017 import figure4
from experiments.cegb_2017.cells import segment
from experiments.curves import saving
from experiments.style import house_style, picture_bytes

META = {"scale": "smoke", "seeds": [0, 1], "data": {"flies": {"kind": "stand-in"}}}


@pytest.fixture(scope="module")
def pixels():
    return datasets.load("flies", scale="smoke")


def cell_of(algorithm, tradeoff=0.0, seed=0):
    cells = figure4.make_cells("smoke", range(seed, seed + 1))
    return next(c for c in cells if (c.algorithm, c.params["tradeoff"]) == (algorithm, tradeoff))


@pytest.fixture(scope="module")
def rows(pixels):
    found = []
    for cell in figure4.make_cells("smoke", range(1)):
        base = {"dataset": cell.dataset, "algorithm": cell.algorithm, "seed": cell.seed}
        found += [{**base, **row} for row in segment.trace(cell, pixels)]
    return pd.DataFrame(found)


# --- cells ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
def test_cells(scale):
    cells = figure4.ARTEFACT.cells(scale)
    for seed in range(figure4.ARTEFACT.seeds[scale]):
        mine = [(c.algorithm, c.params["tradeoff"]) for c in cells if c.seed == seed]
        assert mine.count(("gbrt", 0.0)) == 1
        assert ("cegb", 0.0) in mine
        assert [m for m in mine if m[0] == "cegb_literal"] == [("cegb_literal", figure4.SHOWN)]
    # "Comparison is done against regular gradient boosting": the same trees for all.
    assert len({str(c.params["settings"]) for c in cells}) == 1


# --- measuring --------------------------------------------------------------------------------


def test_rows_of_a_stage(rows):
    score = rows[rows["panel"] == "b"]
    assert sorted(score["algorithm"].unique()) == ["cegb", "cegb_literal", "gbrt"]
    for _, mine in score.groupby(["algorithm", "tradeoff"]):
        assert mine["rounds"].tolist() == list(figure4.ROUNDS["smoke"])
        assert np.all(np.diff(mine["test_cost"]) >= 0)
    assert score["test_score"].between(0, 1).all()
    assert score["test_score"].max() > 0.2
    assert set(score["threshold"]) <= set(segment.THRESHOLDS)
    # A shared evaluation costs a part of one, never more.
    assert np.all(score["test_cost"] <= score["test_splits"] * (1 + 1e-5))
    assert np.all(score["test_cost"] >= score["test_splits"] / 64 * (1 - 1e-5))
    # A price per evaluation makes evaluations fewer or coarser.
    last = score[score["rounds"] == 4].set_index(["algorithm", "tradeoff"])["test_cost"]
    assert last["cegb", figure4.SHOWN] < last["cegb", 0.0]


def test_costs_are_those_of_the_meter(pixels):
    """Against the reference's meter, row by row, on a frame of two trees."""
    model = segment.train(cell_of("gbrt"), pixels)
    image = np.random.default_rng(0).integers(90, 190, (24, 16)).astype(np.uint8)
    features = segment.pyramid(image)
    scores, cost, splits = segment.measure_frame(model, features, [2])
    X = features.rows(0, 24)
    paths, forest = [], model.trees_
    for row in X[[*range(16), *range(256, 272)]]:  # pixel rows 0 and 16
        for tree in range(2):
            node = forest.tree[tree]
            while forest.left[node] >= 0:
                paths.append(forest.feature[node])
                right = row[forest.feature[node]] > forest.threshold[node]
                node = forest.left[node] + int(right)
    assert splits[0] == pytest.approx(len(paths) / 32)
    assert cost[0] == pytest.approx(np.sum(1 / segment.SHARING[paths]) / 32)
    staged = list(model.staged_decision_function(X))[1]
    np.testing.assert_array_equal(scores[0].ravel(), staged)


def test_the_literal_reading_trains_otherwise_and_is_metered_alike(pixels):
    ours = segment.train(cell_of("cegb", figure4.SHOWN), pixels)
    literal = segment.train(cell_of("cegb_literal", figure4.SHOWN), pixels)
    np.testing.assert_array_equal(literal.feature_sharing, ours.feature_sharing)
    n_fine = [
        np.isin(m.trees_.feature[m.trees_.feature >= 0], np.flatnonzero(segment.SHARING == 1))
        for m in (ours, literal)
    ]
    # Priced as printed, a coarse pixel costs 64 times as much: it is shunned.
    assert n_fine[1].mean() > n_fine[0].mean()


def test_a_model_without_rounds_tells_nothing_apart_at_no_cost(pixels):
    cell = cell_of("cegb", figure4.SHOWN)
    cell = Cell(cell.dataset, "cegb", {**cell.params, "tradeoff": 1e6}, 0)
    rows = segment.trace(cell, pixels)
    (score,) = [row for row in rows if row["panel"] == "b"]
    assert (score["rounds"], score["test_cost"], score["test_splits"]) == (0, 0.0, 0.0)
    assert score["test_score"] < 0.02  # the whole frame is one object
    levels = {row["pixels"] for row in rows if row["kind"] == "level"}
    assert levels == {"x" + "4" * 64}  # nothing was asked


def test_thresholds_come_from_the_validation_frames(monkeypatch):
    """Two frames on which only 0.7 separates; the first of equally good thresholds is taken."""
    truth = np.zeros((8, 8), dtype=np.int32)
    truth[2:7, 2:7] = 1
    p = np.where(truth > 0, 0.75, 0.65)
    scores = np.log(p / (1 - p))[None]
    monkeypatch.setattr(segment, "measure_frame", lambda *_: (scores, np.ones(1), np.ones(1)))
    frames = [(np.zeros((8, 8), dtype=np.uint8), truth)] * 2
    thresholds, found, costs = segment.choose_thresholds(None, frames, [1])
    assert (thresholds, found, costs) == ([0.7], [1.0], [1.0])
    monkeypatch.setattr(segment, "THRESHOLDS", (0.68, 0.7, 0.9))
    assert segment.choose_thresholds(None, frames, [1])[0] == [0.68]


def test_stages_end_with_the_last_round():
    model = SimpleNamespace(n_estimators_=5)
    assert segment.stages(model, [1, 2, 4, 8]) == [1, 2, 4, 5]
    model.n_estimators_ = 0
    assert segment.stages(model, [1, 2]) == [0]


def test_busiest_window():
    truth = np.zeros((32, 32), dtype=np.int32)
    truth[20:24, 9:12] = 1
    assert segment.busiest_window(truth, 8) == (slice(16, 24), slice(4, 12))
    assert segment.busiest_window(0 * truth, 8) == (slice(0, 8), slice(0, 8))  # first of equals


def test_deciding_level_is_the_finest_tested():
    tested = np.zeros((3, 32), dtype=bool)
    tested[0, [31, 9]] = True  # 8 px and 2 px
    tested[1, 24] = True
    model = SimpleNamespace(acquired_features=lambda X: tested)
    np.testing.assert_array_equal(segment.deciding_level(model, None), [1, 3, 4])


# --- pictures ---------------------------------------------------------------------------------


def test_pictures_survive_their_rows(rows):
    (image, truth), *_ = datasets.flies.frames("test", scale="smoke", seed=0)
    grey = figure4.read_picture(rows, "a", "grey", "gbrt")
    np.testing.assert_array_equal(grey, image)  # 128 pixels: not reduced
    mask = figure4.read_picture(rows, "a", "truth", "gbrt")
    np.testing.assert_array_equal(mask, truth > 0)
    window = segment.busiest_window(truth, 64)
    np.testing.assert_array_equal(figure4.read_picture(rows, "c", "grey", "gbrt"), image[window])
    level = figure4.read_picture(rows, "c", "level", "cegb")
    assert level.shape == (64, 64)
    assert set(np.unique(level)) <= {0, 1, 2, 3, 4}
    assert figure4.read_picture(rows, "c", "grey", "cegb") is None
    # The letter keeps a file's reader from taking digits for a number.
    assert rows.loc[rows["panel"] != "b", "pixels"].str.startswith("x").all()


def test_rows_are_as_declared(rows):
    artefact = figure4.ARTEFACT
    assert set(rows.columns) == {*artefact.row_keys(), *artefact.tolerances, "pixels"}
    assert not rows.duplicated(artefact.row_keys()).any()


def test_figure_and_words(rows):
    drawn = []
    for _ in range(2):
        with house_style("cegb-figure4"):
            figure = figure4.render(rows, META)
        drawn.append(picture_bytes(figure, "svg", "cegb-figure4"))
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) < 800_000
    words = figure4.alt(rows, META)
    plain = rows[(rows["algorithm"] == "gbrt") & (rows["rounds"] == 4) & (rows["panel"] == "b")]
    assert f"{plain['test_score'].iloc[0]:.3f}" in words
    assert "stand-in" in words


def test_figure_without_pictures(rows):
    """Only seed 0 draws: the rest of the figure must stand without."""
    with house_style("cegb-figure4"):
        figure = figure4.render(rows[rows["panel"] == "b"], META)
        assert len(picture_bytes(figure, "png", "x")) > 10_000
    assert "Enlarged" not in figure4.alt(rows[rows["panel"] == "b"], META)


# --- claim ------------------------------------------------------------------------------------


def made_up(costs):
    """Three stages with SEG 0.2, 0.5, 0.8 at the given costs, two seeds."""
    rows = []
    for algorithm, cost in costs.items():
        for seed in range(2):
            for rounds, score, value in zip((1, 2, 3), (0.2, 0.5, 0.8), cost, strict=True):
                row = {"panel": "b", "algorithm": algorithm, "seed": seed, "rounds": rounds}
                row |= {"valid_score": score, "test_score": score}
                rows.append({**row, "valid_cost": value, "test_cost": value, "tradeoff": 0.0})
    return pd.DataFrame(rows)


def test_effect_of_the_claim():
    (claim,) = figure4.make_claims(pd.DataFrame(), META)
    table = made_up({"cegb": (1, 2, 5), "gbrt": (10, 30, 50)})
    np.testing.assert_allclose(claim.effects(table), [1.0, 1.0])
    table = made_up({"cegb": (10, 30, 50), "gbrt": (1, 2, 5)})
    np.testing.assert_allclose(claim.effects(table), [-1.0, -1.0])
    assert claim.smallest_effect == pytest.approx(np.log10(2), abs=1e-5)


def test_equal_score_is_the_highest_that_both_reach():
    table = made_up({"cegb": (1, 2, 5), "gbrt": (10, 30, 50)})
    table = table[(table["algorithm"] == "gbrt") | (table["rounds"] < 3)]  # CEGB only to 0.5
    np.testing.assert_allclose(saving(table, "b", "cegb", "gbrt"), np.log10(15))
