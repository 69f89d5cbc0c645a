"""A run that is a part of what is published."""

import dataclasses
import json
import re

import pandas as pd
import pytest

from experiments.artefact import Cell
from experiments.cli import main
from experiments.publishing import parts
from experiments.registry import Registry, discover
from tests.experiments.toy_artefact import make_toy, suite

pytestmark = pytest.mark.usefixtures("cells_here")

SMALLER = ("cegb-figure2", "cegb-figure3", "mddag-figure2")
"""Whose laptop scale is a part of overnight. That of Cronus's figures has fewer trees instead."""


def two_scales(*, more=1):
    """A toy whose overnight scale has a third seed, and a third step of the first two."""
    toy = make_toy()

    def make_cells(scale, seeds):
        steps = range(3 if scale == "overnight" else 2)
        cells = [
            Cell(name, algorithm, {"step": step, "sleep": 0.0, "fail_at": None}, seed)
            for name in ("nearby", "made_up")
            for seed in seeds
            for algorithm in ("better", "worse")
            for step in steps
        ]
        return cells[:: -1 if scale == "smoke" else 1]

    seeds = {**toy.seeds, "laptop": 2, "overnight": 2 + more}
    return dataclasses.replace(toy, make_cells=make_cells, seeds=seeds)


def meta_of(scale, n_seeds, sets=("nearby", "made_up")):
    return {"scale": scale, "seeds": list(range(n_seeds)), "data": {name: {} for name in sets}}


def test_a_smaller_scale_compares_with_a_larger_one_that_has_its_cells():
    toy = two_scales()
    laptop, overnight = meta_of("laptop", 2), meta_of("overnight", 3)
    assert parts.comparable(toy, laptop, overnight)
    assert parts.comparable(toy, laptop, laptop)
    assert not parts.comparable(toy, overnight, laptop)
    assert not parts.comparable(toy, laptop, meta_of("overnight", 1))  # a seed is not there
    assert not parts.comparable(toy, laptop, meta_of("paper", 2))  # its data are others
    assert not parts.comparable(toy, laptop, meta_of("a scale of long ago", 2))


def test_what_is_left_out_is_named():
    toy = two_scales()
    said = parts.left_out(toy, meta_of("laptop", 2), meta_of("overnight", 3))
    assert said == (
        "Left out of the 36 cells published at scale overnight: 20, which are seeds 2 and step 2 "
        "(better, worse) of all data sets."
    )
    assert "8, which are seeds 1 of all data sets" in parts.left_out(
        toy, meta_of("laptop", 1), meta_of("laptop", 2)
    )
    assert parts.left_out(toy, meta_of("laptop", 2), meta_of("laptop", 2)) == ""
    assert parts.left_out(toy, meta_of("overnight", 3), meta_of("laptop", 2)) == ""


def test_sets_of_which_the_same_is_left_out_share_an_entry():
    """And a value that one method lacks is named for that method alone."""
    ours = [Cell(name, "a", {"x": 1, "kind": "k"}) for name in ("one", "two", "three")]
    theirs = [
        *ours,
        *(Cell(name, "a", {"x": 2, "kind": "k"}) for name in ("one", "two")),
        Cell("three", "b", {"x": 1, "kind": "other"}),
    ]
    toy = dataclasses.replace(
        make_toy(), make_cells=lambda scale, seeds: ours if scale == "laptop" else theirs
    )
    sets = ("one", "two", "three")
    said = parts.left_out(toy, meta_of("laptop", 1, sets), meta_of("overnight", 1, sets))
    assert said.endswith(": 3, which are x 2 (a) of one, two; all of b of three.")


def test_rows_of_cells_are_told_by_the_keys_that_cells_have():
    toy = two_scales()
    rows = pd.DataFrame(
        [
            (s, "nearby", "better", seed, part)
            for s in range(3)
            for seed in range(3)
            for part in (0, 1)
        ],
        columns=["step", "dataset", "algorithm", "seed", "part"],
    )
    kept = parts.rows_of(toy, rows, toy.cells("laptop"))
    assert {(row.step, row.seed) for row in kept.itertuples()} == {
        (0, 0), (0, 1), (1, 0), (1, 1)
    }  # fmt: skip
    assert len(kept) == 8


@pytest.fixture
def published(tmp_path, capsys):
    """A toy published at scale overnight; what runs commands on it."""
    toy = suite(tmp_path, two_scales())

    def run(*arguments):
        status = main([*arguments, "--jobs", "1", "--quiet"], toy)
        return status, capsys.readouterr().out

    assert run("reproduce", "toy-figure2", "--scale", "overnight", "--publish")[0] == 0
    return tmp_path / "toy-figure2", run


def test_a_run_at_laptop_scale_says_how_it_compares_and_what_it_leaves_out(published):
    _, run = published
    status, out = run("reproduce", "toy-figure2")
    assert status == 0
    identical = r"\n(\d+) of \1 rows on the same data are identical to the published ones "
    assert re.search(identical + r"of scale overnight\.", out)
    assert "only there" not in out
    assert "Left out of the 36 cells published at scale overnight: 20, which are seeds 2" in out


def test_check_holds_laptop_scale_to_the_larger_scale_that_is_published(published):
    folder, run = published
    status, out = run("check", "--scale", "laptop")
    assert status == 0
    assert "Left out of the 36 cells" in out
    meta, rows = json.loads((folder / "meta.json").read_text()), pd.read_csv(folder / "rows.csv")
    del meta["rows_sha256"]
    (folder / "meta.json").write_text(json.dumps(meta))
    beyond = (rows["seed"] == 2) | (rows["step"] == 2)
    rows.assign(score=rows["score"] + beyond).to_csv(folder / "rows.csv", index=False)
    assert run("check", "--scale", "laptop")[0] == 0  # laptop does not have these
    rows.assign(score=rows["score"] + ~beyond).to_csv(folder / "rows.csv", index=False)
    assert run("check", "--scale", "laptop")[0] == 1
    rows[rows["step"] != 1].to_csv(folder / "rows.csv", index=False)
    assert run("check", "--scale", "laptop")[0] == 0  # select may keep more of fewer models
    assert run("check", "--scale", "overnight")[0] == 1


def test_a_published_row_that_a_smaller_run_lacks_is_a_drift(published, tmp_path):
    folder, run = published
    meta, rows = json.loads((folder / "meta.json").read_text()), pd.read_csv(folder / "rows.csv")
    del meta["rows_sha256"]
    (folder / "meta.json").write_text(json.dumps(meta))
    pd.concat([rows, rows.head(1).assign(part=99)]).to_csv(folder / "rows.csv", index=False)
    status, out = run("check", "--scale", "laptop")
    assert status == 1
    assert "1 rows are missing" in out


@pytest.mark.parametrize("name", SMALLER)
def test_laptop_scale_trains_some_of_what_overnight_trains(name):
    (artefact,) = (a for a in discover() if a.id == name)
    laptop, overnight = (parts._digests(artefact.cells(s)) for s in ("laptop", "overnight"))
    assert laptop < overnight
    assert artefact.seeds["overnight"] >= 5 > artefact.seeds["laptop"]  # where verdicts come from


def test_figure_2_of_every_paper_takes_half_an_hour_together():
    """By the minutes that each artefact states."""
    chosen, notes = Registry(discover()).resolve(["figure2"])
    assert len(chosen) == 5
    assert not notes
    assert sum(artefact.minutes["laptop"] for artefact in chosen) <= 30
