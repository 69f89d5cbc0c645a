"""Figures 1 and 2 of Greedy Miser: what is measured, how it is compared, the pictures."""

import math
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.text import Annotation

import datasets
from algorithms.early_exit import EarlyExit
from algorithms.metrics import accuracy, ndcg_at_k
from experiments import evaluate
from experiments.cell import Cell
from experiments.cells.gaps import gaps_between
from experiments.cronus_2012 import figure2 as cronus_figure2
from experiments.cronus_2012.cells import cascades
from experiments.cronus_2012.cells.task import boosted
from experiments.greedy_miser_2012 import figure1
from experiments.greedy_miser_2012.cells import measure, methods, usage
from experiments.greedy_miser_2012.cells.bisect_path import MOST, bisect_path
from experiments.greedy_miser_2012.show.panels import PANELS, make_cell
from experiments.looks import LOOKS
from experiments.publishing.output import read_published
from experiments.registry import of_paper
from experiments.running.provenance import ROOT
from tests.experiments.drawn_as_published import check_drawn, published
from tests.experiments.small_sets import tiny

RANKING, CLASSES = (next(p for p in PANELS if p.key == key) for key in "cg")


def cell_of(panel, algorithm="greedy_miser", rounds=30, **setting):
    return make_cell("smoke", panel, algorithm, 0, n_estimators=rounds, **setting)


# --- measuring ------------------------------------------------------------------------------------


def test_checkpoints():
    assert evaluate.rounds_by_tens(0) == [0]
    assert evaluate.rounds_by_tens(3) == [1, 2, 3]
    assert evaluate.rounds_by_tens(60) == [1, 2, 3, 5, 10, 20, 30, 50, 60]


def test_best_round_is_the_first_best_of_every_tenth_and_the_last():
    scores = np.zeros(34)
    scores[[6, 19, 29, 33]] = [0.9, 0.5, 0.5, 0.4]  # rounds 7, 20, 30, 34
    assert measure.best_round(scores.tolist()) == 20
    scores[33] = 0.6
    assert measure.best_round(scores.tolist()) == 34
    assert measure.best_round([]) == 0


@pytest.mark.parametrize("tradeoff", [0.0, 4.0])
@pytest.mark.parametrize("panel", [RANKING, CLASSES], ids=lambda p: p.name)
def test_trace_agrees_with_models_of_fewer_rounds(panel, tradeoff):
    dataset = tiny("ranking" if panel.ranking else "multiclass")
    cell = cell_of(panel, tradeoff=tradeoff)
    rows = measure.trace(cell, dataset)
    assert [row["rounds"] for row in rows] == [1, 2, 3, 5, 10, 20, 30]
    assert sum(row["best"] for row in rows) == 1
    for row in rows[::3]:
        model = measure.make_estimator(cell, dataset).set_params(n_estimators=row["rounds"])
        weight = np.where(dataset.y_train == 0, 10.0, 1.0) if panel.ranking else None
        model.fit(dataset.X_train, dataset.y_train, sample_weight=weight)
        forest = model.trees_
        n_trees = np.count_nonzero(forest.feature[forest.tree[:-1]] >= 0)
        used = np.unique(forest.feature[forest.feature >= 0])
        bill = dataset.feature_costs[used].sum() + panel.tree_cost * n_trees
        groups = dataset.group_costs or {}
        bill += sum(groups[g] for g in np.unique(dataset.feature_groups[used])) if groups else 0
        assert row["test_trees"] == n_trees
        for part in ("valid", "test"):
            X, y, query = (getattr(dataset, f"{name}_{part}") for name in ("X", "y", "query"))
            predicted = model.predict(X)
            score = ndcg_at_k(y, predicted, query, 5) if panel.ranking else accuracy(y, predicted)
            assert row[f"{part}_score"] == pytest.approx(score, rel=1e-5)
            assert row[f"{part}_cost_paper"] == pytest.approx(bill, rel=1e-5)
            asked = np.asarray(model.acquired_features(X))
            paid = asked @ dataset.feature_costs
            for g, price in groups.items():
                paid = paid + price * asked[:, dataset.feature_groups == g].any(axis=1)
            by_hand = paid.mean() + panel.tree_cost * n_trees
            assert row[f"{part}_cost"] == pytest.approx(by_hand, rel=1e-5)


def test_a_model_without_rounds_is_a_constant_at_no_cost():
    dataset = tiny()
    (row,) = measure.trace(cell_of(RANKING, tradeoff=1e9), dataset)
    assert row["test_score"] == pytest.approx(
        ndcg_at_k(dataset.y_test, np.zeros(240), dataset.query_test, 5), rel=1e-5
    )
    assert (row["rounds"], row["best"], row["test_cost"], row["test_cost_paper"]) == (0, 1, 0, 0)


def test_tradeoff_is_scaled_as_declared():
    """By hand: six rows, of which the two of grade 0 count ten times."""
    dataset = replace(
        tiny(), y_train=np.array([0.0, 0, 1, 2, 3, 4]), X_train=np.zeros((6, 5)),
        query_train=np.zeros(6, dtype=int),
    )  # fmt: skip
    y = np.array([0.0] * 20 + [1, 2, 3, 4])
    spread = np.sum((y - y.mean()) ** 2)
    assert measure.spread(dataset) == pytest.approx(spread)
    assert measure.scaled_tradeoff(dataset, 2.0) == pytest.approx(2 * 0.018 * spread / 38)
    classes = replace(tiny("multiclass"), y_train=np.array([0, 0, 1, 2]), X_train=np.zeros((4, 5)))
    assert measure.spread(classes) == pytest.approx(4 * (0.5 * 0.5 + 2 * 0.25 * 0.75))
    assert evaluate.all_prices(classes) == 45.0
    printed = cell_of(RANKING, tradeoff=2.0)
    printed = Cell(*([printed.dataset, "x", {**printed.params, "as_printed": True}]))
    assert measure.make_estimator(printed, dataset).tradeoff == 2.0


def test_subsets_hold_no_dearer_feature():
    for task, limit, allowed in (("ranking", 5, {0, 1, 2}), ("multiclass", 8, {0, 1, 2})):
        dataset = tiny(task)
        model = measure.train(cell_of(RANKING), measure.without_expensive(dataset, limit))
        assert set(np.unique(model.trees_.feature)) - {-1} <= allowed
        np.testing.assert_array_equal(dataset.X_train[:, 4], tiny(task).X_train[:, 4])


@pytest.mark.parametrize("panel", [RANKING, CLASSES], ids=lambda p: p.name)
def test_exits_are_measured_as_declared(panel):
    dataset = tiny("ranking" if panel.ranking else "multiclass")
    grid = (0.25, 1.0) if panel.ranking else (0.5, 0.9)
    cell = cell_of(panel, "early_exit", exits=grid)
    rows = measure.trace(cell, dataset)
    whole = measure.train(cell, dataset)
    assert {row["exit"] for row in rows} == set(grid)
    for s in grid:
        mine = [row for row in rows if row["exit"] == s]
        assert sum(row["best"] for row in mine) == 1
        chosen = max(mine, key=lambda row: (row["valid_score"], -row["rounds"]))
        assert chosen["best"] == 1
    deviation = np.sqrt(measure.spread(dataset) / np.sum(np.where(dataset.y_train == 0, 10, 1)))
    for row in rows:
        early = EarlyExit(
            whole.first_rounds(row["rounds"]),
            rule="proximity" if panel.ranking else "likelihood",
            threshold=row["exit"] * deviation if panel.ranking else row["exit"],
            every=1,
        )
        if panel.ranking:
            ranked = early.ranking_score(dataset.X_test, dataset.query_test)
            score = ndcg_at_k(dataset.y_test, ranked, dataset.query_test, 5)
        else:
            score = accuracy(dataset.y_test, early.predict(dataset.X_test))
        assert row["test_score"] == pytest.approx(score, rel=1e-5)
        assert row["test_cost"] <= row["test_cost_paper"] * (1 + 1e-5)


@pytest.fixture(scope="module")
def cronus():
    dataset = tiny()
    (cell,) = (c for c in figure1.make_cells("smoke", range(1)) if c.algorithm == "cronus")
    cascade = {**cell.params["cascade"], "steps": [4, 12, 30], "relevant_from": 2}
    cell = Cell("tiny", "cronus", {**cell.params, "cascade": cascade}, 0)
    return dataset, Cell("tiny", "cronus", cascade, 0), methods.run_cell(cell, dataset)


def test_cronus_is_scored_and_billed_like_every_other_method(cronus):
    """The cascade trained anew from the row; every document of a query once, its own grade."""
    dataset, own, rows = cronus
    trainer = cascades.Trainer(own, dataset, boosted(own, dataset))
    before, n_rejected = None, 0
    for row in rows:
        before = model = trainer.fit(row["tradeoff"], own.params["grid"]["start"], start=before)
        forest = model.estimator_.trees_
        for part in ("valid", "test"):
            X, y, query = (getattr(dataset, f"{name}_{part}") for name in ("X", "y", "query"))
            exits = model.exits(X)
            # Later leavers rank higher; equal scores are equal.
            _, place = np.unique(np.c_[exits.stage, exits.scores], axis=0, return_inverse=True)
            place = place.reshape(-1).astype(float)
            assert row[f"{part}_score"] == pytest.approx(ndcg_at_k(y, place, query, 5), rel=1e-5)
            paid, shown = [], []
            for stage in exits.stage:
                trees = np.flatnonzero(model.coef_[:stage].any(axis=0))
                nodes = [forest.feature[forest.tree[t] : forest.tree[t + 1]] for t in trees]
                used = {int(m) for one in nodes for m in one if m >= 0}
                paid.append(sum(dataset.feature_costs[m] for m in used) + len(trees))
                shown.append(len(trees))
            assert row[f"{part}_cost_paper"] == pytest.approx(np.mean(paid), rel=1e-5)
            assert row[f"{part}_cost"] <= row[f"{part}_cost_paper"] * (1 + 1e-5)
        assert row["test_trees"] == pytest.approx(np.mean(shown), rel=1e-5)
        assert row["rounds"] == np.count_nonzero(model.coef_.any(axis=0))
        n_rejected += np.count_nonzero(exits.stage < len(model.intercept_))
    assert n_rejected > 0


def bisected(costs, train):
    """What is tried, in order."""
    return [*bisect_path(costs, train)]


def test_a_gap_is_bisected_until_a_model_lies_inside():
    """By hand: costs of 1 / λ² at λ = 0.1 and 1; √0.1 costs 10, √0.1 · √√0.1 and so on half way."""
    costs = {1.0: 1.0, 0.1: 100.0}
    tried = bisected(costs, lambda tradeoff: 1 / tradeoff**2)
    assert tried[0] == pytest.approx(math.sqrt(0.1), rel=1e-5)
    assert tried[1] == pytest.approx(0.1**0.25, rel=1e-5)
    assert not gaps_between([*costs.values()])
    assert set(tried) | {1.0, 0.1} == set(costs)


def test_a_jump_is_given_up_after_eight_bisections():
    costs = {1.0: 1.0, 0.5: 5.0, 0.1: 6.0}
    tried = bisected(costs, lambda tradeoff: 5.0 if tradeoff < 0.7 else 1.0)
    assert len(tried) == 8
    assert gaps_between([*costs.values()]) == [(1.0, 5.0)]
    below, above = max(t for t in costs if t < 0.7), min(t for t in costs if t >= 0.7)
    assert above / below == pytest.approx(2 ** (1 / 2**8), rel=1e-4)


def test_a_cascade_without_a_tree_is_passed_over():
    """It costs nothing: the neighbours of the gap from 1 to 9 are 0.1 and 1."""
    costs = {1.0: 1.0, 0.3: 0.0, 0.1: 9.0}
    assert bisected(costs, lambda tradeoff: 3.0 if tradeoff == 0.316228 else 5.0)[0] == 0.316228


def test_a_dearer_cascade_of_a_larger_tradeoff_encloses_a_gap_too():
    costs = {0.5: 3.5, 0.1: 1.0}
    assert bisected(costs, lambda tradeoff: 1.8) == [0.223607]


def test_bisections_of_a_path_end():
    costs = {2.0**-i: 3.0**i for i in range(30)}
    tried = bisected(costs, lambda tradeoff: 3.0 ** math.ceil(-math.log2(tradeoff) - 1e-6))
    assert len(tried) == MOST


def test_bisected_cascades_join_the_path(cronus):
    dataset, own, rows = cronus
    params = {"panel": "f", "cascade": own.params, "bisected": True}
    more = methods.run_cell(Cell("tiny", "cronus", params, 0), dataset)
    costs = [row["valid_cost_paper"] for row in rows]
    path = [{**row, "panel": "f", "best": 0} for row in rows]
    assert [{**row, "best": 0} for row in more[: len(rows)]] == path
    assert bool(gaps_between(costs)) == (len(more) > len(rows))
    assert len({row["tradeoff"] for row in more}) == len(more)
    (best,) = (row for row in more if row["best"])
    assert best["valid_score"] == max(row["valid_score"] for row in more)


def test_best_cascade_by_validation(cronus):
    *_, rows = cronus
    (best,) = (row for row in rows if row["best"])
    assert best["valid_score"] == max(row["valid_score"] for row in rows)


def test_usage_counts_what_the_best_model_tests():
    dataset, cell = tiny(), cell_of(RANKING, tradeoff=1.0)
    rows = usage.usage(cell, dataset)
    assert [row["price"] for row in rows] == [1, 2, 5, 10, 20]
    model = measure.train(cell, dataset).first_rounds(rows[0]["rounds"])
    used = model.model_features()
    assert [row["n_used"] for row in rows] == used.astype(int).tolist()
    for m, row in enumerate(rows):
        first = next(
            (t + 1 for t in range(row["rounds"])
             if m in model.trees_.feature[model.trees_.tree[t] : model.trees_.tree[t + 1]]), 0,
        )  # fmt: skip
        assert row["first_round"] == first


# --- cells and pictures ---------------------------------------------------------------------------


def test_cells_of_each_scale():
    smoke = {cell.dataset for cell in figure1.make_cells("smoke", range(1))}
    assert smoke <= {r["name"] for r in datasets.status() if r["synthetic"]}
    laptop = figure1.make_cells("laptop", range(5))
    assert {cell.dataset for cell in laptop} == {panel.dataset for panel in PANELS}
    for panel in PANELS:
        mine = [cell for cell in laptop if cell.dataset == panel.dataset]
        assert len({cell.seed for cell in mine}) == (1 if panel.licensed else 5)
        tried = {c.params["tradeoff"] for c in mine if c.algorithm in ("stagewise", "greedy_miser")}
        assert {0.0, 0.5, 1.0, 2.0, 4.0} <= tried  # the paper's
        assert panel.rivals == ({0.0625, 0.25} <= tried)
    paper = [c for c in figure1.make_cells("paper", range(1)) if c.algorithm != "cronus"]
    assert {c.params["settings"]["n_estimators"] for c in paper} == {3000}
    assert {c.dataset for c in paper if c.params["as_printed"]} == {"yahoo_ltr", "yahoo_ltr_small"}


@pytest.mark.parametrize("scale", ["laptop", "overnight", "paper"])
def test_cronus_has_the_cells_of_its_own_figure(scale):
    own = {(c.dataset, c.seed): c.params for c in cronus_figure2.make_cells(scale, range(7))
           if c.algorithm == "cronus"}  # fmt: skip
    mine = [c for c in figure1.make_cells(scale, range(2)) if c.algorithm == "cronus"]
    first = {"yahoo_ltr_sample": 0, "mq2008": 0, "clueweb09": 0, "mslr": 5}
    there = {(name, first[name] + s) for name in first for s in range(2)}
    assert {(c.dataset, c.seed) for c in mine} == there
    assert there & own.keys()
    for cell in mine:
        assert cell.params.get("bisected", False) == (cell.dataset == "mslr")
        if scale != "laptop" or (cell.dataset, cell.seed) in own:  # where its figure has few sets
            assert cell.params["cascade"] == own[cell.dataset, cell.seed]
        (panel,) = (p for p in PANELS if p.key == cell.params["panel"])
        assert panel.dataset == cell.dataset


@pytest.mark.parametrize("artefact", published(of_paper("greedy_miser_2012")))
def test_what_is_drawn_can_be_read_and_synthetic_data_are_named(artefact):
    check_drawn(artefact)


def test_a_tradeoff_without_models_has_no_name():
    rows, meta = read_published(ROOT / "results" / "miser-figure1")
    rows, largest = rows[rows["panel"] == "c"], figure1.RIGHT_TRADEOFFS[-1]
    whole, less = (
        {text.get_text() for text in figure1.render(there, meta).findobj(Annotation)}
        for there in (rows, rows[rows["tradeoff"] != largest])
    )
    assert whole - less == {f"{largest:.3g}"}


def test_every_method_has_a_look():
    drawn = {cell.algorithm for cell in figure1.make_cells("laptop", range(1))}
    assert drawn <= set(LOOKS)
