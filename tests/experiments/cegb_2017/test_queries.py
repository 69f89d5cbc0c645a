"""Claims of Figures 2 and 3 over queries: places, effects on each query, and what is published."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import datasets
from algorithms.metrics import average_precision_at_k
from experiments.cegb_2017 import extra_queries, figure2, figure3
from experiments.cegb_2017.cells.measure import trace
from experiments.cegb_2017.cells.queries import (
    average_precisions,
    places_of,
    relevant_documents,
    score_queries,
)
from experiments.cegb_2017.claims import within
from experiments.cegb_2017.show import penalties
from experiments.cegb_2017.show.queries import lead_of_each_query, loss_of_each_query
from experiments.curves import advantage, curves
from experiments.registry import discover
from tests.datasets.contract import NEEDS_MIRROR
from tests.experiments.published_rows import (
    claims,
    lines,
    published,
)
from tests.recomputed import cegb

FIXED, ROTATING = ("a'", "b'", "y"), ("m", "w")
IS_PUBLISHED = published("cegb-queries")

# --- places -------------------------------------------------------------------------------------

GRADES = np.array([2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0])
SCORES = np.array([0.9, 0.8, 0.7, 0.5, 0.4, 0.3, 0.6, 0.6, 0.6])
QUERIES = np.array([4, 4, 4, 7, 7, 7, 9, 9, 9])
"""Three queries: relevant at 1 and 3; none; two of three that are tied, so at 2 and 3."""


def test_places_by_hand():
    assert relevant_documents(GRADES, QUERIES, 1) == "q22"
    assert places_of(GRADES, SCORES, QUERIES, 1) == "q56"
    values = average_precisions("q22", "q56")
    assert values == pytest.approx([(1 / 1 + 2 / 3) / 2, (1 / 2 + 2 / 3) / 2])
    assert relevant_documents(GRADES, QUERIES, 2) == "q1"
    assert places_of(GRADES, SCORES, QUERIES, 2) == "q1"
    assert average_precisions("q1", "q1").tolist() == [1.0]
    assert (relevant_documents(GRADES, QUERIES, 3), average_precisions("q", "q").size) == ("q", 0)


def test_more_relevant_documents_than_places():
    grades, queries = np.ones(7), np.zeros(7)
    assert relevant_documents(grades, queries, 1) == "q5"
    assert places_of(grades, np.arange(7.0), queries, 1) == "qv"
    assert average_precisions("q5", "qv").tolist() == [1.0]


def test_places_say_what_the_metric_says():
    """With ties in nearly every query, queries of one document, and of none that is relevant."""
    rng = np.random.default_rng(0)
    queries = np.repeat(np.arange(300), rng.integers(1, 12, size=300))
    grades = rng.integers(0, 3, size=len(queries)).astype(float)
    scores = rng.integers(0, 4, size=len(queries)).astype(float)
    for relevant_from in (1, 2):
        expected = average_precision_at_k(
            grades, scores, queries, 5, relevant_from=relevant_from, per_query=True
        )
        assert np.isnan(expected).any()
        relevant = relevant_documents(grades, queries, relevant_from)
        values = average_precisions(relevant, places_of(grades, scores, queries, relevant_from))
        assert values == pytest.approx(expected[~np.isnan(expected)], abs=1e-15)


# --- effects on each query ------------------------------------------------------------------------


def model(algorithm, seed, cost, places, tradeoff=0.0, rounds=1, valid=None):
    """A model of panel m or another, whose validation score grows with its cost."""
    numbers = {"valid_score": cost / 100 if valid is None else valid, "test_score": math.nan}
    costs = ("valid_cost", "valid_cost_paper", "test_cost", "test_cost_paper")
    return {
        "dataset": "mq2008",
        "algorithm": algorithm,
        "seed": seed,
        "kind": "model",
        "tradeoff": tradeoff,
        "rounds": rounds,
        **numbers,
        **dict.fromkeys(costs, float(cost)),
        "places": places,
    }


def table(models, relevant, panel="m"):
    """Rows of a panel; `relevant` says for each seed how many relevant documents queries have."""
    rows = list(models)
    for algorithm, seed in sorted({(m["algorithm"], m["seed"]) for m in models}):
        rows.append(model(algorithm, seed, 0, relevant[seed], rounds=0) | {"kind": "queries"})
    rows = pd.DataFrame([{"panel": panel, **row} for row in rows])
    mine = rows["kind"] == "model"
    rows.loc[mine, "test_score"] = [
        average_precisions(relevant[row.seed], row.places).mean() for row in rows[mine].itertuples()
    ]
    return rows


RELEVANT = {0: "q11", 1: "q111"}


def two_folds():
    """Two queries in one fold, three in the other; from the second half of costs on all change."""
    return table(
        [
            model("cegb", 0, 1, "q10"),  # 1 and nothing
            model("cegb", 0, 10, "q11"),  # 1 and 1
            model("greedy_miser", 0, 1, "q20"),  # ½ and nothing
            model("greedy_miser", 0, 10, "q22"),  # ½ and ½
            model("cegb", 1, 1, "q000"),
            model("cegb", 1, 10, "q001"),
            model("greedy_miser", 1, 1, "q000"),
            model("greedy_miser", 1, 10, "q100"),
        ],
        RELEVANT,
    )


def test_leads_by_hand():
    """Of 13 budgets from 1 to 10 the last alone has the second models."""
    first, second = lead_of_each_query(two_folds(), "m", "cegb", "greedy_miser")
    assert first == pytest.approx([0.5, 0.5 / 13])
    assert second == pytest.approx([-1 / 13, 0, 1 / 13])


def test_means_over_queries_are_the_advantage():
    rows = two_folds()
    models = rows[rows["kind"] == "model"]
    for accounting in ("", "_paper"):
        each = lead_of_each_query(rows, "m", "cegb", "greedy_miser", accounting)
        whole = advantage(models, "m", "cegb", "greedy_miser", accounting)
        assert [values.mean() for values in each] == pytest.approx(whole)


def test_curves_that_do_not_overlap_share_where_the_dearer_begins():
    rows = table([model("cegb", 0, 1, "q1"), model("greedy_miser", 0, 50, "q1")], {0: "q1"})
    assert [each.tolist() for each in lead_of_each_query(rows, "m", "cegb", "greedy_miser")] == [
        [0]
    ]
    assert lead_of_each_query(rows, "m", "cegb", "gbrt") == []


def test_losses_are_those_of_the_last_models():
    rows = table(
        [
            model("cegb", 0, 10, "q11", rounds=5),
            model("cegb", 0, 1, "q00", rounds=1),
            model("cegb", 0, 5, "q12", tradeoff=0.1, rounds=9),
            model("cegb", 0, 1, "q11", tradeoff=0.1, rounds=2),
            model("cegb_breadth_first", 0, 10, "q00", rounds=50),
        ],
        RELEVANT,
    )
    (lost,) = loss_of_each_query(rows, "m", 0.1)
    assert lost.tolist() == [0.0, 0.5]
    models = rows[rows["kind"] == "model"]
    assert lost.mean() == penalties.score_lost(models, "m", 0.1)
    (left,) = within(rows, "m", 0.1)
    assert left.mean() == pytest.approx(penalties.loss_within(models, "m", 0.1)[0])


def test_methods_must_have_the_same_queries():
    rows = two_folds()
    rows.loc[rows.index[-1], "places"] = "q211"
    with pytest.raises(ValueError, match="panel m have different test queries"):
        lead_of_each_query(rows, "m", "cegb", "greedy_miser")


# --- cells ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["smoke", "laptop", "overnight"])
def test_cells_train_the_models_of_figures_2_and_3(scale):
    wanted = {}
    for figure in (figure2, figure3):
        for cell in figure.ARTEFACT.cells(scale):
            key = (cell.params["panel"], cell.dataset, cell.algorithm, cell.seed)
            grids = wanted.setdefault(key, ([], cell.params["settings"]))[0]
            grids.append((figure.__name__, cell.params["tradeoff"]))
            assert cell.params["settings"] == wanted[key][1]
    cells = extra_queries.ARTEFACT.cells(scale)
    panels = {"a"} if scale == "smoke" else {*FIXED, *ROTATING}
    assert {cell.params["panel"] for cell in cells} == panels
    for cell in cells:
        key = (cell.params["panel"], cell.dataset, cell.algorithm, cell.seed)
        models, settings = wanted.pop(key)
        names = list(dict.fromkeys(name for name, _ in models))
        grids = [[value for name, value in models if name == one] for one in names]
        assert (cell.params["grids"], cell.params["settings"]) == (grids, settings)
    left = {key for key in wanted if key[0] in panels}
    assert {method for _, _, method, _ in left} <= {"cegb_as_miser", "gbrt", "cegb_unit_costs"}


def test_a_cell_keeps_what_budgets_choose_and_says_its_queries():
    cell = next(c for c in extra_queries.ARTEFACT.cells("smoke", 1) if c.algorithm == "cegb")
    dataset = datasets.load(cell.dataset, scale="smoke", data="auto", seed=cell.seed)
    queries, *found = score_queries(cell, dataset)
    assert queries["kind"] == "queries"
    for row in found:
        values = average_precisions(queries["places"], row["places"])
        assert values.mean() == pytest.approx(row["test_score"], rel=1e-5)
    params = {name: cell.params[name] for name in ("panel", "settings")}
    grids = cell.params["grids"]
    traced = [
        row
        for tradeoff in sorted({*grids[0], *grids[1]})
        for row in trace(replace(cell, params={**params, "tradeoff": tradeoff}), dataset)
    ]
    for grid in grids:  # the curve of each figure is as if every row were there
        kept, whole = (
            pd.DataFrame(rows).assign(algorithm="cegb", seed=0) for rows in (found, traced)
        )
        both = [rows[rows["tradeoff"].isin(grid)] for rows in (kept, whole)]
        for accounting in ("", "_paper"):
            drawn = [figure2_curve(rows, accounting) for rows in both]
            np.testing.assert_array_equal(*drawn)


def figure2_curve(rows, accounting):
    curve = curves(rows, "a", "cegb", accounting)
    return np.vstack([curve.budgets, curve.score, curve.cost])


@NEEDS_MIRROR
@pytest.mark.parametrize("panel", ["y", "m", "w", "a'"])
def test_real_queries_are_the_same_or_each_in_one_fold(panel):
    dataset = next(one.dataset for one in figure2.PANELS if one.key == panel)
    queries = [
        list(dict.fromkeys(datasets.load(dataset, data="real", seed=seed).query_test.tolist()))
        for seed in range(15, 20)
    ]
    if panel in FIXED:
        assert queries == 5 * [queries[0]]
    else:
        assert len({one for each in queries for one in each}) == sum(map(len, queries))


# --- claims and table -----------------------------------------------------------------------------

META = {"scale": "overnight", "seeds": [15, 16]}


def meta(overlap):
    record = {"kind": "real", "source": "cache", "test_overlap": overlap}
    return META | {"data": {"mq2008": record}}


def whole_panel():
    """Every method and λ that the claims of panel m are about, on two folds."""
    models = []
    for seed, words in {
        0: ("q10", "q21", "q12", "q11"),
        1: ("q100", "q210", "q012", "q111"),
    }.items():
        for number, algorithm in enumerate(extra_queries.METHODS):
            for k, tradeoff in enumerate((0.0, 3e-4, 5e-4, 1e-3)):
                if algorithm in ("cegb", "cegb_breadth_first") or tradeoff != 5e-4:
                    word = words[(k + number) % 4]
                    models.append(model(algorithm, seed, 10 - k, word, tradeoff, 4 - k))
    rows = table(models, RELEVANT)
    return rows.assign(**dict.fromkeys(("test_dear", "mean_depth", "mean_path"), 1.0))


def test_claims_are_those_of_the_figures():
    rows = whole_panel()
    models = rows[rows["kind"] == "model"]
    wanted = {
        c.id: c
        for figure in (figure2, figure3)
        for c in figure.ARTEFACT.make_claims(models, meta(0))
    }
    found = extra_queries.ARTEFACT.make_claims(rows, meta(0))
    names = (
        *("m-deep", "m-shallow", "m-deep-paper", "m-shallow-paper"),
        *("m-similar-0.0003", "m-lower-0.0005", "m-lower-0.001", "m-best-first"),
    )
    assert [claim.id for claim in found] == [f"{name}-over-queries" for name in names]
    of_figure_2 = figure2.ARTEFACT.make_claims(models, meta(0))[0]
    assert found[0].sentence.startswith(of_figure_2.sentence.removesuffix("."))
    for claim in found:
        assert claim.spread == "units"
        assert claim.smallest_effect == 0.005
        name = claim.id.removesuffix("-over-queries")
        assert claim.place in {wanted[name].place, of_figure_2.place}
        assert claim.sentence.endswith("(these trainings, on queries like these).")
        assert claim.effects(rows).shape == (5,)


def test_figure_2_does_not_have_the_penalty_of_figure_3():
    rows = whole_panel()
    deep, *_ = extra_queries.ARTEFACT.make_claims(rows, meta(0))
    without = rows[(rows["algorithm"] != "cegb") | (rows["tradeoff"] != 5e-4)]
    expected = lead_of_each_query(without, "m", "cegb", "greedy_miser")
    assert deep.effects(rows) == pytest.approx(np.concatenate(expected))
    with_it = lead_of_each_query(rows, "m", "cegb", "greedy_miser")
    assert deep.effects(rows) != pytest.approx(np.concatenate(with_it))


def test_sentences_of_fixed_queries():
    rows = whole_panel()
    rows = rows[rows["seed"] == 0]
    rows = pd.concat([rows, rows.assign(seed=1)], ignore_index=True)
    claim = extra_queries.ARTEFACT.make_claims(rows, meta(1.0))[0]
    assert claim.sentence.endswith("at equal cost (new trainings, on queries like these).")
    assert claim.spread == "crossed"
    assert claim.effects(rows).shape == (2, 2)


def test_table_and_words():
    rows = whole_panel()
    text = extra_queries.render(rows, meta(0))
    lines_of_table = [line for line in text.splitlines() if line.startswith("| m |")]
    assert len(lines_of_table) == 8
    assert lines_of_table[0].startswith("| m | mq2008 | deep | 5 | ")
    assert "of 2 repetitions, with 95 % intervals" in text
    assert (
        "* *best-first*: best-first growth scores higher than breadth-first at equal cost" in text
    )
    alt = extra_queries.alt(rows, meta(0))
    assert "Of 8 intervals over queries these leave out 0: " in alt
    assert "times as wide as those over repetitions" in alt
    assert extra_queries.ARTEFACT in discover()


# --- what is published ----------------------------------------------------------------------------


def means(claim):
    return [statistics.mean(values) for _, values in sorted(cegb.by_query(claim).items())]


@IS_PUBLISHED
def test_means_over_queries_are_what_the_figures_publish():
    """For each claim and seed, from the words of the README and from other rows."""
    names = list(claims("cegb-queries"))
    assert len(names) == 36
    for name in names:
        own = name.removesuffix("-over-queries")
        of_figure = cegb.ahead if own.split("-")[1] in cegb.METHODS else cegb.of_ends
        if own.endswith("-best-first"):
            of_figure = cegb.best_first
        assert means(name) == pytest.approx(of_figure(own), abs=2e-6), name


@IS_PUBLISHED
def test_published_models_are_those_of_the_figures():
    key = ("panel", "algorithm", "seed", "tradeoff", "rounds")
    others = {}
    for artefact in ("cegb-figure3", "cegb-figure2"):
        others |= {tuple(row[k] for k in key): row for row in lines(artefact)}
    mine = [row for row in lines("cegb-queries") if row["kind"] == "model"]
    assert len(mine) > 1000
    columns = ("valid_score", "valid_cost", "test_score", "test_cost", "test_cost_paper")
    for row in mine:
        other = others[tuple(row[k] for k in key)]
        assert [row[c] for c in columns] == [other[c] for c in columns]


@IS_PUBLISHED
def test_published_places_say_the_published_scores():
    for by_seed in cegb.models_of_queries().values():
        for pool in by_seed.values():
            for one in pool:
                assert statistics.mean(one["queries"]) == pytest.approx(
                    one["test_score"], rel=1e-5, abs=1e-9
                )
