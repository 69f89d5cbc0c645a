"""Measured times, text that only draws, libraries that may be missing, and drawing anew."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from experiments import output
from experiments.cli import main
from tests.toy_artefact import make_toy, run_cell, suite


def timed_cell(cell, dataset):
    rows = run_cell(cell, dataset)
    return [{**row, "seconds_fit": 0.125 * (row["part"] + 1), "line": "0f"} for row in rows]


def timed_toy(seen):
    """A toy that measures times, draws text, and notes what its picture and words are given."""
    toy = make_toy(n_steps=2, sets=("nearby",))

    def alt(rows, meta):
        seen.append(rows)
        return f"The longest takes {rows['seconds_fit'].max():.3f} s."

    return dataclasses.replace(
        toy,
        run_cell=timed_cell,
        timing_columns=("seconds_fit",),
        drawn_columns=("line",),
        alt=alt,
    )


@pytest.fixture
def published(tmp_path):
    seen = []
    house = suite(tmp_path, timed_toy(seen))
    assert main(["reproduce", "all", "--jobs", "1", "--quiet", "--publish"], house) == 0
    return house, seen


def test_times_go_to_their_own_file_and_come_back(published):
    house, _ = published
    folder = house.results / "toy-figure2"
    header = (folder / "rows.csv").read_text().splitlines()[0].split(",")
    assert "seconds_fit" not in header
    assert "line" in header
    rows, meta = output.read_published(folder)
    assert meta["timing_columns"] == ["seconds_fit"]
    np.testing.assert_array_equal(rows["seconds_fit"], 0.125 * (rows["part"] + 1))
    assert set(rows["line"]) == {"0f"}


def test_a_lost_time_is_noticed(published):
    house, _ = published
    path = house.results / "toy-figure2" / "timings.csv"
    table = pd.read_csv(path)
    again = pd.concat([table, table.iloc[[-1]]])
    again.to_csv(path, index=False)
    with pytest.raises(output.DamagedResults, match="cannot be read"):
        output.read_published(path.parent)


def test_meta_that_is_no_record(published):
    house, _ = published
    (house.results / "toy-figure2" / "meta.json").write_text("[1, 2]")
    with pytest.raises(output.DamagedResults, match="no record"):
        output.read_published(house.results / "toy-figure2")


def test_redraw_computes_nothing_and_follows_the_artefact(published, capsys):
    house, _ = published
    folder = house.results / "toy-figure2"
    rows = (folder / "rows.csv").read_bytes()
    before = json.loads((folder / "meta.json").read_text())
    renamed = dataclasses.replace(house.registry.artefacts[0], title="Another name", run_cell=None)
    house = suite(house.results, renamed)
    assert main(["redraw"], house) == 0
    after = json.loads((folder / "meta.json").read_text())
    assert (folder / "rows.csv").read_bytes() == rows
    assert after == {**before, "title": "Another name"}
    assert "Another name" in (house.results / "claims.md").read_text()


def test_redraw_of_what_is_not_published(tmp_path, capsys):
    assert main(["redraw", "toy-figure2"], suite(tmp_path)) == 0
    assert "nothing is published" in capsys.readouterr().out


@pytest.fixture
def needy(tmp_path):
    toy = make_toy(artefact_id="toy-peers", sets=("nearby",))
    needy = dataclasses.replace(toy, requires=("a_library_nobody_has",))
    return suite(tmp_path, make_toy(sets=("nearby",)), needy)


def test_missing_library_by_name_is_an_error(needy, capsys):
    assert main(["reproduce", "toy-peers"], needy) == 2
    text = capsys.readouterr().err
    assert "a_library_nobody_has" in text
    assert "make setup-peers" in text


@pytest.mark.parametrize("command", [["reproduce", "toy"], ["check"], ["check", "all"]])
def test_missing_library_among_others_is_left_out_loudly(needy, command, capsys):
    main([*command, "--jobs", "1", "--quiet"], needy)
    text = capsys.readouterr().out
    assert "LEFT OUT: toy-peers needs a_library_nobody_has" in text
    runs = needy.results / "runs"
    assert not list(runs.rglob("toy-peers"))
    assert list(runs.rglob("toy-figure2"))


def test_required_libraries_are_part_of_the_key(tmp_path, capsys):
    """Another version of a peer computes anew; the toy stands for it with a library we have."""
    plain = make_toy(sets=("nearby",))
    peer = dataclasses.replace(plain, requires=("click",))
    command = ["reproduce", "all", "--jobs", "1", "--quiet"]
    assert main(command, suite(tmp_path, plain)) == 0
    capsys.readouterr()
    assert main(command, suite(tmp_path, peer)) == 0
    assert "0 from the store" in capsys.readouterr().out
    meta = json.loads((tmp_path / "runs" / "toy-figure2" / "meta.json").read_text())
    assert "click" in meta["versions"]


def test_short_names_of_what_stands_beside_a_paper(tmp_path):
    toy = make_toy(artefact_id="toy-training-time")
    registry = suite(tmp_path, toy).registry
    for name in ("toy-training-time", "training-time", "toy", "toy_2000", "all"):
        assert registry.resolve([name]) == ([toy], [])
