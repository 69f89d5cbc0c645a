"""Measured times, text that only draws, libraries that may be missing, and drawing anew."""

import dataclasses
import json
import lzma
import shutil

import numpy as np
import pandas as pd
import pytest

from experiments.cli import main
from experiments.publishing import output, tables
from tests.experiments.toy_artefact import make_toy, run_cell, suite

pytestmark = pytest.mark.usefixtures("cells_here")


def timed_cell(cell, dataset):
    rows = run_cell(cell, dataset)
    return [{**row, "seconds_fit": 0.125 * (row["part"] + 1), "line": "0f"} for row in rows]


def timed_toy():
    """A toy that measures times and draws text."""
    toy = make_toy(n_steps=2, sets=("nearby",))

    return dataclasses.replace(
        toy,
        run_cell=timed_cell,
        timing_columns=("seconds_fit",),
        drawn_columns=("line",),
    )


@pytest.fixture(scope="module")
def published_once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    house = suite(folder, timed_toy())
    assert main(["reproduce", "all", "--jobs", "1", "--quiet", "--publish"], house) == 0
    return folder


@pytest.fixture
def published(tmp_path, published_once):
    shutil.copytree(published_once, tmp_path / "results")
    return suite(tmp_path / "results", timed_toy())


@pytest.mark.slow
def test_times_go_to_their_own_file_and_come_back(published):
    house = published
    folder = house.results / "toy-figure2"
    header = (folder / "rows.csv").read_text().splitlines()[0].split(",")
    assert "seconds_fit" not in header
    assert "line" in header
    rows, meta = output.read_published(folder)
    assert meta["timing_columns"] == ["seconds_fit"]
    np.testing.assert_array_equal(rows["seconds_fit"], 0.125 * (rows["part"] + 1))
    assert set(rows["line"]) == {"0f"}


def test_a_lost_time_is_noticed(published):
    house = published
    path = house.results / "toy-figure2" / "timings.csv"
    table = pd.read_csv(path)
    again = pd.concat([table, table.iloc[[-1]]])
    again.to_csv(path, index=False)
    with pytest.raises(output.DamagedResults, match="cannot be read"):
        output.read_published(path.parent)


def test_meta_that_is_no_record(published):
    house = published
    (house.results / "toy-figure2" / "meta.json").write_text("[1, 2]")
    with pytest.raises(output.DamagedResults, match="no record"):
        output.read_published(house.results / "toy-figure2")


def cut_at_a_line(path):
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: len(lines) // 2]))


def cut_within_a_line(path):
    text = path.read_text()
    path.write_text(text[: text.rindex(",")])


def without_the_hash(path):
    """As results were written before rows.csv was hashed."""
    meta = json.loads((path.parent / "meta.json").read_text())
    del meta["rows_sha256"]
    (path.parent / "meta.json").write_text(json.dumps(meta))
    cut_within_a_line(path)


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("rows.csv", cut_at_a_line, "rows.csv is not what meta.json says"),
        ("rows.csv", cut_within_a_line, "rows.csv is not what meta.json says"),
        ("rows.csv", without_the_hash, "a line of rows.csv has too few fields"),
        ("rows.csv", lambda path: path.unlink(), "rows.csv is missing"),
        ("meta.json", lambda path: path.unlink(), "meta.json is missing"),
        ("meta.json", lambda path: path.write_text("{}"), "meta.json lacks 'command'"),
        ("meta.json", lambda path: path.write_text('{"data": '), "cannot be read"),
        ("timings.csv", lambda path: path.unlink(), "timings.csv is missing"),
        ("timings.csv", cut_at_a_line, "timings.csv lacks times"),
    ],
)
@pytest.mark.parametrize("command", ["redraw", "report"])
def test_damaged_results_change_nothing(published, capsys, command, name, damage, message):
    """Judging or drawing half of the rows would pass for a result."""
    house = published
    folder = house.results / "toy-figure2"
    damage(folder / name)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main([command], house) == 1
    assert message in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.slow
def test_large_tables_are_published_compressed(tmp_path, monkeypatch, capsys):
    """They are the same rows, read, drawn and linked; a smaller run takes their place plainly."""
    house = suite(tmp_path, make_toy())
    folder, command = tmp_path / "toy-figure2", ["reproduce", "all", "--jobs", "1", "--quiet"]
    assert main([*command, "--publish"], house) == 0
    rows, meta = output.read_published(folder)
    plain = {name: (folder / name).read_bytes() for name in ("rows.csv", "timings.csv")}
    monkeypatch.setattr(tables, "LARGEST", 100)
    assert main([*command, "--publish"], house) == 0
    names = {path.name for path in folder.iterdir()}
    assert {"rows.csv.xz", "timings.csv.xz"} <= names
    assert not {"rows.csv", "timings.csv"} & names
    assert lzma.decompress((folder / "rows.csv.xz").read_bytes()) == plain["rows.csv"]
    packed, of_packed = output.read_published(folder)
    pd.testing.assert_frame_equal(packed, rows, check_exact=True)
    assert of_packed["rows_sha256"] == meta["rows_sha256"]
    assert len(output.read_cell_times(folder)) == len(plain["timings.csv"].splitlines()) - 1
    for each in (["redraw"], ["report"]):
        assert main(each, house) == 0
    assert 'href="toy-figure2/rows.csv.xz"' in (tmp_path / "toy.html").read_text("utf-8")
    for damage in (b"", b"no table", (folder / "rows.csv.xz").read_bytes()[:-20]):
        (folder / "rows.csv.xz").write_bytes(damage)
        assert main(["report"], house) == 1
        assert "rows.csv.xz: " in capsys.readouterr().err
    (folder / "rows.csv.xz").write_bytes(b"of an earlier run")
    (folder / "rows.csv").write_bytes(plain["rows.csv"])  # as a run that is written there
    assert len(output.read_published(folder)[0]) == len(rows)
    monkeypatch.undo()
    assert main([*command, "--publish"], house) == 0
    assert (folder / "rows.csv").read_bytes() == plain["rows.csv"]
    assert not [*folder.glob("*.xz")]


def test_line_ends_of_a_checkout_are_no_damage(published):
    house = published
    path = house.results / "toy-figure2" / "rows.csv"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    rows, _ = output.read_published(path.parent)
    assert len(rows) == 24


def test_a_figure_that_becomes_a_table_leaves_no_picture(published):
    house = published
    table = dataclasses.replace(house.registry.artefacts[0], render=lambda rows, meta: "# T\n")
    house = suite(house.results, table)
    for command in (["reproduce", "all", "--jobs", "1", "--quiet", "--publish"], ["redraw"]):
        assert main(command, house) == 0
        names = {path.name for path in (house.results / table.id).iterdir()}
        assert "table.md" in names
        assert not {"figure.svg", "figure.png"} & names
    figure = dataclasses.replace(table, render=make_toy().render)
    assert main(["redraw"], suite(house.results, figure)) == 0
    assert not (house.results / table.id / "table.md").exists()


def test_redraw_computes_nothing_and_follows_the_artefact(published, capsys):
    house = published
    folder = house.results / "toy-figure2"
    rows = (folder / "rows.csv").read_bytes()
    before = json.loads((folder / "meta.json").read_text())
    renamed = dataclasses.replace(house.registry.artefacts[0], title="Another name", run_cell=None)
    house = suite(house.results, renamed)
    assert main(["redraw"], house) == 0
    after = json.loads((folder / "meta.json").read_text())
    assert (folder / "rows.csv").read_bytes() == rows
    assert after == {**before, "title": "Another name"}


def test_redraw_of_what_is_not_published(tmp_path, capsys):
    assert main(["redraw", "toy-figure2"], suite(tmp_path)) == 0
    assert "nothing is published" in capsys.readouterr().out


def test_short_names_of_what_stands_beside_a_paper(tmp_path):
    toy = make_toy(artefact_id="toy-training-time")
    registry = suite(tmp_path, toy).registry
    for name in ("toy-training-time", "training-time", "toy", "toy_2000", "all"):
        assert registry.resolve([name]) == ([toy], [])


def test_fewer_seeds_are_no_other_data():
    def record(kind, **checksums):
        return {"kind": kind, "checksums": checksums}

    published = {"a": record("real", s0="x", s1="y"), "b": record("synthetic", s0="x")}
    assert output.same_data({"a": record("real", s0="x")}, published) == ["a"]
    assert output.same_data({"a": record("real", s0="x", s1="z")}, published) == []
    assert output.same_data({"a": record("real", s7="x")}, published) == []
    assert output.same_data({"b": record("real", s0="x")}, published) == []
    assert output.same_data({"c": record("real", s0="x")}, published) == []


@pytest.mark.parametrize(
    ("texts", "dtype"),
    [
        (["1", "-2", "0"], "int64"),
        (["18446744073709551615"], "uint64"),
        (["1" + "0" * 30], "object"),
        (["0.1", "1e-320", "inf", ""], "float64"),
        (["9" * 30, "1.5"], "float64"),
        (["", ""], "float64"),
        (["1.5", "one"], "str"),
        ([], "str"),
    ],
)
def test_columns_of_text_are_numbers_where_all_of_it_are(texts, dtype):
    column = pd.Series(texts, dtype="str", index=range(5, 5 + len(texts)), name="score")
    found = tables.numbers(column)
    assert str(found.dtype) == dtype
    assert (found.name, list(found.index)) == ("score", list(column.index))
    if found.dtype == np.float64:
        np.testing.assert_array_equal(found, [float(text or "nan") for text in texts])
    elif dtype != "str":
        assert found.tolist() == [int(text) for text in texts]
