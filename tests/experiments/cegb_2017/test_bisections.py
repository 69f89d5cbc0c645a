"""Bisections of λ at the gaps of Figure 2's curves."""

from __future__ import annotations

import math
from itertools import pairwise

import pandas as pd
import pytest

import datasets
from experiments.cegb_2017 import extra_bisections as bisections
from experiments.cegb_2017 import figure2
from experiments.cegb_2017.cells import bisect as module
from experiments.cegb_2017.cells.bisect import bisect, bisect_gaps
from experiments.cegb_2017.cells.measure import trace_and_describe
from experiments.cells.bisection import between, bracket, cost_after
from experiments.cells.gaps import IN_A_ROW, gaps_between
from experiments.publishing.bisections import outcome, outcomes, why_not
from experiments.publishing.output import read_published
from experiments.registry import discover
from experiments.running.provenance import ROOT


def model(*costs, score=0.5):
    """Rows of a model measured after 1, 2, 3, … rounds."""
    names = ("valid_score", "test_score", "test_cost", "valid_cost_paper", "test_cost_paper")
    return [
        {"rounds": n, "valid_cost": float(cost), **dict.fromkeys(names, score)}
        for n, cost in enumerate(costs, 1)
    ]


# --- one gap, by hand ---------------------------------------------------------------------------


def test_a_model_in_the_middle_closes_a_gap():
    """The cost is 1/λ: between 0.1 and 1 lies λ = 0.316 with 3.16, which parts 10 too widely."""
    tried = []

    def train(tradeoff):
        tried.append(tradeoff)
        return model(0.5, 1 / tradeoff)

    grid = {t: train(t) for t in (0.1, 1.0)}
    tried.clear()
    steps = bisect(train, grid, (1.0, 10.0))
    assert tried == [0.316228, 0.177828, 0.562342]
    assert [step["inside"] for step in steps] == [0, 1, 1, 1]
    assert [step["widest_left"] for step in steps] == pytest.approx(
        [10, 3.16228, 3.16228, 1.77828], rel=1e-5
    )
    assert (steps[1]["part_below"], steps[1]["part_above"]) == (1.0, 10.0)
    assert (steps[2]["part_below"], steps[2]["part_above"]) == (steps[1]["valid_cost"], 10.0)
    assert (steps[2]["tradeoff_low"], steps[2]["tradeoff_high"]) == (0.1, 0.316228)
    assert steps[0]["tradeoff"] == steps[0]["rounds"] == 0
    assert steps[1]["rounds"] == 2


def test_a_jump_stays_a_gap_after_eight_bisections():
    """Below λ = 0.05 the model costs 7, above it 2: nothing is inside, and the jump is found."""
    tried = []

    def train(tradeoff):
        tried.append(tradeoff)
        return model(7 if tradeoff < 0.05 else 2)

    steps = bisect(train, {0.0: model(7), 0.01: model(7), 0.1: model(2)}, (2.0, 7.0))
    assert len(tried) == IN_A_ROW == 8
    assert tried[:3] == [0.0316228, 0.0562342, 0.0421697]
    assert abs(math.log(tried[-1] / 0.05)) < math.log(10) / 2**7
    assert all(step["inside"] == 0 and step["widest_left"] == 3.5 for step in steps)
    assert all(step["valid_cost"] == step["rounds"] == 0 for step in steps)


def test_the_count_begins_anew_after_a_find():
    """A model at 3 is met by the fourth bisection alone; then eight find nothing from 3 to 9."""
    calls = []

    def train(tradeoff):
        calls.append(tradeoff)
        return model(3) if len(calls) == 4 else model(9 if tradeoff < 0.05 else 2)

    steps = bisect(train, {0.01: model(9), 0.1: model(2)}, (2.0, 9.0))
    assert [step["inside"] for step in steps] == [0, 0, 0, 0, 1] + 8 * [0]
    assert steps[-1]["widest_left"] == 3.0


def test_models_of_the_grid_may_fill_a_gap_alone():
    def train(tradeoff):
        raise AssertionError

    (step,) = bisect(train, {0.0: model(2, 3, 5), 0.1: model(2)}, (2.0, 5.0))
    assert (step["inside"], step["widest_left"]) == (1, 1.66667)


def test_a_gap_that_all_models_jump_together_has_no_bracket():
    grid = {0.0: model(1, 9), 0.1: model(1, 9)}
    assert bracket(grid, (1.0, 9.0)) is None
    (step,) = bisect(None, grid, (1.0, 9.0))
    assert step["widest_left"] == 9.0


def test_no_gap_is_bisected_for_ever(monkeypatch):
    """Each model lies a little higher than the last: finds that never close the gap.

    It also ends where the two λ differ in the sixth digit alone: there is none between them.
    """
    costs = iter(2 + 0.001 * n for n in range(1, 1000))
    steps = bisect(lambda t: model(next(costs)), {0.01: model(9), 0.1: model(2)}, (2.0, 9.0))
    assert len(steps) < 20
    assert len({step["tradeoff"] for step in steps}) == len(steps)
    assert outcome(pd.DataFrame(steps).assign(step=range(len(steps)))).kind == "unfinished"
    monkeypatch.setattr(module, "MOST", 5)
    steps = bisect(lambda t: model(next(costs)), {0.01: model(9), 0.1: model(2)}, (2.0, 9.0))
    assert len(steps) == 1 + 5


def test_bracket_by_hand():
    """After 2 rounds 9 and 3 are nearer than after 1 (8 and 1); a model that ended counts on."""
    known = {0.0: model(8, 9), 0.1: model(1, 3), 1.0: model(1)}
    assert bracket(known, (3.0, 8.0)) == (0.0, 0.1, 2)
    assert bracket(known, (1.0, 3.0)) == (0.1, 1.0, 2)
    assert [cost_after(known[0.1], n) for n in (0, 1, 2, 9)] == [0.0, 1.0, 3.0, 3.0]
    same = {0.1: model(8), 0.2: model(1), 0.3: model(1), 0.4: model(8)}
    assert bracket(same, (1.0, 8.0)) == (0.3, 0.4, 1)


def test_between():
    assert between(0.01, 0.1) == 0.0316228
    assert between(0.0, 0.01) == 0.00316228


# --- cells --------------------------------------------------------------------------------------


def test_cells_train_the_models_of_figure_2():
    """At each scale the same models: settings, λ and seeds of Figure 2's own cells."""
    for scale in ("laptop", "overnight"):
        wanted = {}
        for cell in figure2.ARTEFACT.cells(scale):
            key = (cell.params["panel"], cell.algorithm, cell.seed, cell.dataset)
            wanted.setdefault(key, []).append(cell.params)
        for cell in bisections.ARTEFACT.cells(scale):
            models = wanted[cell.params["panel"], cell.algorithm, cell.seed, cell.dataset]
            assert cell.params["tradeoffs"] == [one["tradeoff"] for one in models]
            assert all(cell.params["settings"] == one["settings"] for one in models)
            assert cell.params["thinned"] == (cell.params["panel"] in "abef")


def test_a_cell_bisects_the_gaps_that_figure_2_would_publish():
    (cell,) = [c for c in bisections.ARTEFACT.cells("smoke", 1) if c.params["panel"] == "f"]
    dataset = datasets.load(cell.dataset, scale="smoke", data="auto", seed=cell.seed)

    def traced(tradeoff):
        params = {"panel": "f", "settings": cell.params["settings"], "tradeoff": tradeoff}
        return trace_and_describe(
            type(cell)(cell.dataset, cell.algorithm, params, cell.seed), dataset
        )

    rows = bisect_gaps(cell, dataset)
    assert bisect_gaps(cell, dataset) == rows
    whole = pd.DataFrame([row for t in cell.params["tradeoffs"] for row in traced(t)])
    published = figure2.selectable(whole.assign(algorithm=cell.algorithm, seed=cell.seed))
    costs = sorted({cost for cost in published["valid_cost"] if cost > 0})
    gaps = [(a, b) for a, b in pairwise(costs) if b > 2 * a]
    assert sorted({(row["below"], row["above"]) for row in rows}) == gaps != []
    for row in (row for row in rows if row["step"] > 0):
        inside = [
            r for r in traced(row["tradeoff"])
            if row["part_below"] < r["valid_cost"] < row["part_above"]
        ]  # fmt: skip
        assert row["inside"] == len(inside)
        assert not inside or any(
            all(row[name] == r[name] for name in ("rounds", "valid_score", "test_score"))
            for r in inside
        )


# --- outcomes and the rule ----------------------------------------------------------------------


def steps_of(inside, left, below=1.0, above=9.0, seed=0):
    return pd.DataFrame(
        {
            "panel": "a",
            "algorithm": "cegb",
            "seed": seed,
            "dataset": "real",
            "gap": 0,
            "step": range(len(inside)),
            "below": below,
            "above": above,
            "tradeoff_low": 0.001,
            "tradeoff_high": 0.1,
            "tradeoff": [0.0, *(0.01 * n for n in range(1, len(inside)))],
            "inside": inside,
            "widest_left": left,
        }
    )


@pytest.mark.parametrize(
    ("inside", "left", "kind", "words"),
    [
        ([3], 1.8, "hidden", "filled by 3 of the grid's models, which no budget chooses"),
        ([0, 0, 2], 1.9, "closed", "closed by a model at λ = 0.02"),
        ([0, 1, 2], 2.0, "closed", "closed by models at λ = 0.01, 0.02"),
        ([0] + 8 * [0], 9.0, "empty", "none in eight"),
        (
            [1, 4] + 8 * [0],
            2.5,
            "narrowed",
            "narrowed to 2.50 by 1 of the grid's models, which no budget chooses and a model at "
            "λ = 0.01; then none in eight",
        ),
        ([0], 9.0, "no bracket", "no two λ lie on either side"),
        ([0] + 7 * [0], 9.0, "unfinished", "unfinished after 7: 9.00 is left"),
        ([0, 1] + 7 * [0], 3.0, "unfinished", "unfinished after 8: 3.00 is left"),
    ],
)
def test_outcomes_in_words(inside, left, kind, words):
    found = outcome(steps_of(inside, left))
    assert (found.kind, found.words) == (kind, words)


def published(cost=(1.0, 9.0), tradeoffs=(0.0, 0.1)):
    rows = [
        {"panel": "a", "algorithm": "cegb", "seed": 0, "tradeoff": t, "valid_cost": c}
        for c, t in zip(cost, tradeoffs, strict=True)
    ]
    return pd.DataFrame(rows)


def bisectable(rows):
    """Whether the rule asks for bisections of a row's curve: it has more than one λ."""
    return rows.groupby(["panel", "algorithm"])["tradeoff"].transform("nunique") > 1


def refused(rows, cost, found):
    """Gaps, of all repetitions, that the rule does not let pass: not bisected, or not enough."""
    wrong = []
    mine = rows[bisectable(rows)]
    for (panel, method, seed), models in mine.groupby(["panel", "algorithm", "seed"]):
        for below, above in gaps_between(models[cost]):
            key = (panel, method, seed, below, above)
            if key not in found or found[key].kind in ("unfinished", "no bracket"):
                wrong.append(key)
    return wrong


def test_the_rule_refuses_what_was_not_bisected_or_not_often_enough():
    key = ("a", "cegb", 0, 1.0, 9.0)
    enough = outcomes(steps_of([0] + 8 * [0], 9.0))
    assert refused(published(), "valid_cost", enough) == []
    assert refused(published(), "valid_cost", {}) == [key]
    too_few = outcomes(steps_of([0] + 7 * [0], 9.0))
    assert refused(published(), "valid_cost", too_few) == [key]
    no_bracket = outcomes(steps_of([0], 9.0))
    assert refused(published(), "valid_cost", no_bracket) == [key]
    for ended in ([3], 1.8), ([0, 2], 1.9), ([1, 4] + 8 * [0], 2.5):
        assert refused(published(), "valid_cost", outcomes(steps_of(*ended))) == []
    other_seed = outcomes(steps_of([0] + 8 * [0], 9.0, seed=1))
    assert refused(published(), "valid_cost", other_seed) == [key]
    other_gap = outcomes(steps_of([0] + 8 * [0], 9.0, above=8.0))
    assert refused(published(), "valid_cost", other_gap) == [key]
    assert refused(published((1.0, 2.0)), "valid_cost", {}) == []
    assert refused(published(tradeoffs=(0.0, 0.0)), "valid_cost", {}) == []


def test_why_nobody_bisected():
    assert why_not(published(tradeoffs=(0.0, 0.0)), "a", "cegb") == "has no λ"
    assert why_not(published(), "a", "cegb") == "not bisected"


@pytest.fixture(scope="module")
def figure():
    return read_published(ROOT / "results" / "cegb-figure2")


def test_every_published_curve_with_a_gap_is_bisected(figure):
    """The list of curves is what the published rows ask for, in plain Python.

    Of panels that only the owners of their data can compute it has all that have a λ, for no
    published row says where they have gaps.
    """
    rows, _ = figure
    wanted, costs, tradeoffs = set(), {}, {}
    for row in rows.itertuples():
        tradeoffs.setdefault((row.panel, row.algorithm), set()).add(row.tradeoff)
        if row.valid_cost > 0:
            costs.setdefault((row.panel, row.algorithm, row.seed), set()).add(row.valid_cost)
    for (panel, method, _), values in costs.items():
        wide = any(b / a > 2 for a, b in pairwise(sorted(values)))
        if wide and len(tradeoffs[panel, method]) > 1:
            wanted.add((panel, method))
    unpublished = {panel.key for panel in figure2.PANELS} - set(rows["panel"])
    assert unpublished == {"a", "b", "e", "f"}
    of_owners = {(p, m) for p in unpublished for m in figure2.SHOWN if m != "gbrt"}
    listed = {(p, m) for p, methods in bisections.CURVES.items() for m in methods}
    assert listed == wanted | of_owners


def test_every_published_gap_was_bisected_to_an_end(figure):
    """Until models left no part wider than a factor of two, or eight in a row found none."""
    rows, meta = figure
    tried, of = read_published(ROOT / "results" / "cegb-bisections")
    assert of["scale"] == meta["scale"] == "overnight"
    found = outcomes(tried)
    assert refused(rows, "valid_cost", found) == []
    fewer = dict(list(found.items())[1:])
    assert refused(rows, "valid_cost", fewer) == [next(iter(found))]
    assert len(found) == sum(
        len(gaps_between(models["valid_cost"]))
        for _, models in rows[bisectable(rows)].groupby(["panel", "algorithm", "seed"])
    )


# --- table --------------------------------------------------------------------------------------


def test_table_and_words():
    hidden = [steps_of([2], 1.5, seed=seed) for seed in (2, 3)]
    rows = pd.concat([steps_of([0, 2], 1.5), steps_of([0] + 8 * [0], 9.0, seed=1), *hidden])
    text = bisections.render(rows, {"scale": "overnight"})
    assert "4 gaps, 9 bisections:" in text
    assert "Not bisected, as the grid fills them: (a) CEGB, deep: 2. Bisected:" in text
    assert "* 1 closed by models that bisections found;" in text
    assert (
        "| a | CEGB, deep | 0 | 1 | 9 | 9.0 | 0.001 and 0.1 | 1 | closed by a model at λ = 0.01 |"
        in text
    )
    assert "| 1 | 1 | 9 | 9.0 | 0.001 and 0.1 | 8 | none in eight |" in text
    alt = bisections.alt(rows, {})
    assert "4 gaps" in alt
    assert "them: none. Bisected:" in bisections.render(steps_of([0, 2], 1.5), {"scale": "smoke"})
    assert "1 closed by models that bisections found; 1 without a model inside" in alt
    assert bisections.ARTEFACT in discover()
