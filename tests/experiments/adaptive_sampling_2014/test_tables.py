"""Tables 1 to 4: rendering, figures of time and prediction cost, names of families."""

import csv
from dataclasses import replace

import pandas as pd
import pytest

from datasets.features import caltech, mash, nineteen
from experiments.adaptive_sampling_2014 import extra_milliseconds_table
from experiments.adaptive_sampling_2014.cells import measure
from experiments.adaptive_sampling_2014.cells.methods import METHODS
from experiments.adaptive_sampling_2014.show import tables
from experiments.adaptive_sampling_2014.show.paper_tables import SETS
from experiments.registry import of_paper
from experiments.running.provenance import ROOT
from tests.experiments import drawn_as_published
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
    assert "differ in what the methods draw, not in the images." in text
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


@pytest.mark.parametrize(
    "artefact", drawn_as_published.published(of_paper("adaptive_sampling_2014"))
)
def test_what_is_drawn_can_be_read_and_synthetic_data_are_named(artefact):
    _, words = drawn_as_published.check_drawn(artefact)
    if artefact.id == "sampling-figure2":
        assert "Uniform Naive: Q = 3, S = 60,000" in words


def test_one_repetition_has_no_spread():
    rows = made_up({"others": -1.0}, n_seeds=1)
    text = tables.render(rows, meta_of("mnist", n_seeds=1), dataset="mnist")
    assert "±" not in line_of(text, "UCB")
    assert "*ours, 1 repetition (paper" in text


def two_sets():
    rows = [made_up({"others": -1.0, "laminating": -2.0}, name) for name in ("mnist", "cifar10")]
    return pd.concat(rows, ignore_index=True), meta_of("mnist", "cifar10")


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
