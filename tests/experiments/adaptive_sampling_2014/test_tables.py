"""Tables 1 to 4: rendering, figures of time and prediction cost, names of families."""

import csv
import importlib
from dataclasses import replace

import pandas as pd
import pytest

from datasets.features import caltech, mash, nineteen
from experiments.adaptive_sampling_2014 import (
    extra_milliseconds,
    extra_milliseconds_table,
    extra_prediction_cost,
)
from experiments.adaptive_sampling_2014.cells import measure
from experiments.adaptive_sampling_2014.cells.methods import (
    KEYS,
    METHODS,
)
from experiments.adaptive_sampling_2014.show import tables
from experiments.adaptive_sampling_2014.show.curve_panels import KINDS
from experiments.adaptive_sampling_2014.show.paper_tables import SETS
from experiments.running.provenance import ROOT
from experiments.style import LOOKS, house_style
from tests.experiments.adaptive_sampling_2014.made_up_tables import (
    line_of,
    made_up,
    meta_of,
    published,
)


def test_table_shows_ours_beside_the_papers():
    rows = made_up({"others": -1.0, "laminating": -2.0}, errors={"laminating": 1.5})
    text = tables.render(rows, meta_of("mnist"), dataset="mnist")
    cells = [part.strip() for part in line_of(text, "Laminating").split("|")[2:-1]]
    assert len(cells) == 6
    assert cells[4].startswith("**−2.00")
    assert cells[4].endswith("(−2.00)")
    assert cells[5].startswith("**1.50** ± 0.00")
    assert cells[5].endswith("(1.35)")
    assert line_of(text, "Best family*").count("36.48") == 1
    assert "| ours | 10,000 | 10,000 | 16,771 |" in text
    assert "| paper | 60,000 | 10,000 | 16,775 in 19 subsets |" in text
    assert "real, from the mirror" in text
    assert "UCB: 2^0, 2^1, 2^2, 2^3, 2^4" in text
    assert "Best family: identity, smoothed, fourier, fourier_magnitude, haar;" in text
    assert "over 5 repetitions" in text
    assert line_of(text, "T = 1,000: loss").startswith("| T = 1,000: loss | 13 |")
    assert line_of(text, "T = 1,000: error").endswith(" points |")


def test_table_says_what_a_budget_does_not_pay_for():
    rows = made_up({"others": -1.0})
    mine = (rows["algorithm"] == "tasting_1q") & (rows["budget"] == "all")
    rows.loc[mine & (rows["rounds"] == 10), ["used_rounds", "log10_loss"]] = [0, 0.0]
    rows.loc[mine & (rows["rounds"] == 100), "used_rounds"] = 9
    rows.loc[mine & (rows["rounds"] == 1_000), "short"] = 1
    text = tables.render(rows, meta_of("mnist"), dataset="mnist")
    cells = [part.strip() for part in line_of(text, "Tasting 1.Q", nth=1).split("|")[2:-1]]
    assert cells[0] == "no round (−0.43)"
    assert "[9]" in cells[2]
    assert "[1000†]" in cells[4]
    assert "no round" not in line_of(text, "Tasting 1.Q")


def test_a_stand_in_is_said():
    rows, meta = made_up({"others": -1.0}), meta_of("mnist", kind="synthetic")
    assert "SYNTHETIC data" in tables.render(rows, meta, dataset="mnist")
    assert "(SYNTHETIC)" in tables.alt(rows, meta, dataset="mnist")
    assert "(SYNTHETIC)" in extra_milliseconds.alt(rows, meta)
    assert "SYNTHETIC" in extra_milliseconds_table.render(rows, meta)


def test_time_and_prediction_cost_say_of_which_families_and_rules_they_are():
    """No cell is of Tables 1, 2 and 4; the prediction cost reads those of Table 3."""
    said = "first families and rules of before: not the classifiers of Tables 1, 2 and 4"
    rows, meta = made_up({"others": -1.0}), meta_of("mnist")
    assert said in extra_milliseconds_table.render(rows, meta)
    for module in (extra_milliseconds, extra_prediction_cost):
        assert said in module.render(rows, meta).get_suptitle()
    mine = [cell.to_json() for cell in extra_prediction_cost.ARTEFACT.cells("laptop", 1)]
    for name, shared in (("table1", 0), ("table2", 0), ("table3", 13), ("table4", 0)):
        table = importlib.import_module(f"experiments.adaptive_sampling_2014.{name}").ARTEFACT
        theirs = [cell.to_json() for cell in table.cells("laptop")]
        assert sum(cell in theirs for cell in mine) == shared


@pytest.mark.slow
def test_a_part_of_the_real_data_is_said():
    rows, meta = made_up({"others": -1.0}), meta_of("mnist")
    record = meta["data"]["mnist"]
    assert "(real)" in extra_prediction_cost.render(rows, meta).axes[0].get_title(loc="left")
    for part in ({"selection": "the first 10,000 of 60,000"}, {"missing": "most of it"}):
        meta["data"]["mnist"] = record | part
        (said,) = part.values()
        assert said in tables.render(rows, meta, dataset="mnist")
        figure = extra_prediction_cost.render(rows, meta)
        assert "(real, a part)" in figure.axes[0].get_title(loc="left")
        assert "## MNIST (real, a part), 10,000" in extra_milliseconds_table.render(rows, meta)


def test_one_repetition_has_no_spread():
    rows = made_up({"others": -1.0}, n_seeds=1)
    text = tables.render(rows, meta_of("mnist", n_seeds=1), dataset="mnist")
    assert "±" not in line_of(text, "UCB")
    assert "*ours, 1 repetition (paper" in text


def two_sets():
    rows = [made_up({"others": -1.0, "laminating": -2.0}, name) for name in ("mnist", "cifar10")]
    return pd.concat(rows, ignore_index=True), meta_of("mnist", "cifar10")


@pytest.mark.parametrize(
    ("artefact", "n_lines"), [(extra_milliseconds.ARTEFACT, 4), (extra_prediction_cost.ARTEFACT, 2)]
)
def test_figures_have_a_panel_for_each_set_and_kind_with_every_method(artefact, n_lines):
    rows, meta = two_sets()
    with house_style(artefact.id):
        figure = artefact.render(rows, meta)
    assert len(figure.axes) == n_lines * len(KINDS)
    assert sorted(key for methods in KINDS.values() for key in methods) == sorted(KEYS)
    for ax, methods in zip(figure.axes, [*KINDS.values()] * n_lines, strict=True):
        assert len(ax.lines) == len(KEYS)
        in_front = {line.get_color() for line in ax.lines if line.get_zorder() > 2}
        assert in_front == {LOOKS[key].colour for key in methods}
    assert "MNIST" in artefact.alt(rows, meta)


def test_equal_time_reads_the_last_row_within():
    rows, meta = two_sets()
    slow = rows["algorithm"] == "laminating"
    rows.loc[slow, "training_seconds"] *= 5  # 2.5, 7 and 52 seconds instead of 2.1, 3 and 12
    text = extra_milliseconds_table.render(rows, meta)
    cells = [part.strip() for part in line_of(text, "Laminating").split("|")[2:-1]]
    assert cells[0] == "no round"
    assert "[10]" in cells[1]
    assert "[100]" in cells[2]
    assert cells[3:] == ["2", "50", "103"]
    assert "[1000]" in line_of(text, "Uniform Naive")
    assert "[1000†]" in line_of(text, "UCB")


def test_the_dagger_knows_where_a_sets_own_training_ended():
    rows, meta = two_sets()
    name = [dataset for dataset in SETS if dataset in set(rows["dataset"])][-1]
    rows = rows[(rows["dataset"] != name) | (rows["rounds"] <= 100)]
    text = extra_milliseconds_table.render(rows, meta)
    assert "[100†]" in line_of(text[text.index(f"## {SETS[name].title}") :], "UCB")


def test_cheapest_classifier_near_the_smallest_error():
    rows, _ = two_sets()
    mine = (rows["dataset"] == "mnist") & (rows["algorithm"] == "ucb")
    rows.loc[mine & (rows["rounds"] == 100), "test_error"] = 5.0
    rows.loc[mine & (rows["rounds"] == 1_000), "test_error"] = 4.8
    found = extra_prediction_cost.cheapest(rows, "mnist")
    assert found == ("ucb", 100, 5.0, 100.0)
    assert extra_prediction_cost.cheapest(rows, "inria_person") is None


def test_every_table_is_declared_with_its_number():
    for name, paper in SETS.items():
        artefact = tables.make_table(name, minutes={})
        assert artefact.id == f"sampling-table{paper.table}"
        assert {c.dataset for c in artefact.cells("smoke")} == {name}
        assert len(artefact.cells("laptop")) == 5 * len(METHODS)
        assert replace(artefact, id="x").data_form == "features"


def test_families_that_the_set_no_longer_has_keep_their_numbers():
    meta = meta_of("mnist")
    meta["data"]["mnist"]["families"] = {"forgotten": 10, "also_forgotten": 10}
    text = tables.render(made_up({"others": -1.0}), meta, dataset="mnist")
    assert "Best family: family number 0 of the run, family number 1 of the run" in text


@pytest.mark.parametrize("dataset", list(SETS))
def test_published_names_of_kept_families(dataset):
    """Two other ways to the family: its place in the module's own list, and what it costs.

    A model of Best family uses one family, so its prediction costs that family's committed
    milliseconds and a little for each stump.
    """
    folder = ROOT / "results" / f"sampling-table{SETS[dataset].table}"
    name, rows = published(dataset)
    rows = [row for row in rows if row["algorithm"] == "best_family"]
    with (ROOT / "datasets" / "features" / "milliseconds.csv").open(newline="") as file:
        priced = [row for row in csv.DictReader(file) if row["dataset"] == name]
    named = (folder / "table.md").read_text().partition("Kept: Best family: ")[2]
    named = named.partition(";")[0].split(", ")
    own_list = {**nineteen.FAMILIES, **mash.FAMILIES, **caltech.FAMILIES}[name]
    for seed, name in zip(sorted({int(row["seed"]) for row in rows}), named, strict=True):
        mine = [row for row in rows if int(row["seed"]) == seed]
        assert {own_list[int(row["kept"])].name for row in mine} == {name}
        bill = float(mine[0]["prediction_ms"]) - int(mine[0]["used_rounds"]) * measure.SPLIT_COST
        nearest = min(priced, key=lambda row: abs(float(row["milliseconds"]) - bill))
        assert nearest["family"] == name
    assert len(named) == len({row["seed"] for row in rows})
