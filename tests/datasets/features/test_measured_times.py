"""Tables of measured times: those of families, of Scene-15's descriptors and of faces."""

import csv

import numpy as np
import pytest

from datasets import cbcl_windows
from datasets.features import __main__ as command
from datasets.features import measured_times, prices
from datasets.features.faces import prices as faces
from datasets.features.faces.families import FAMILIES, N_FEATURES
from datasets.features.scenes import prices as scenes
from tests.datasets.face_archives import MIRROR, contents, packed
from tests.datasets.picture_archives import put

TABLES = {
    # what reads a table, where the committed one is, and its columns of times and numbers
    "families": (prices.read, prices.TABLE, ("milliseconds",)),
    "scenes": (scenes.read, scenes.TABLE, scenes.COLUMNS[1:6]),
    "faces": (faces.read, faces.TABLE, faces.COLUMNS[1:4]),
    "detector pass": (scenes.shared_part, scenes.PASS_TABLE, scenes.PASS_COLUMNS[:2]),
}


def changed(table, path, **change):
    """Write a committed table with a change of its first row."""
    with open(table, encoding="utf-8", newline="") as handle:
        first, *rows = csv.DictReader(handle)
    measured_times.write_table(path, list(first), [first | change, *rows])
    return path


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_written_as_they_are_read(tmp_path, name):
    read, table, _ = TABLES[name]
    path = changed(table, tmp_path / "times.csv")
    assert path.read_bytes() == table.read_bytes()
    assert read(path) == read()


@pytest.mark.parametrize("wrong", ["", "-1", "nan", "inf", "0", "soon"])
@pytest.mark.parametrize("name", TABLES)
def test_a_time_that_is_none_is_named(tmp_path, name, wrong):
    read, table, columns = TABLES[name]
    for column in columns:
        path = changed(table, tmp_path / "times.csv", **{column: wrong})
        message = f"times.csv: .*{column}: '{wrong}' is no positive time"
        with pytest.raises(ValueError, match=message):
            read(path)


@pytest.mark.parametrize("name", TABLES)
def test_other_columns_are_refused(tmp_path, name):
    path = tmp_path / "times.csv"
    path.write_text("family,ms\nfirst,3\n")
    with pytest.raises(ValueError, match="columns are"):
        TABLES[name][0](path)


@pytest.mark.parametrize("whole", ["3.1", "3.2"])
def test_a_part_is_shorter_than_the_whole(tmp_path, whole):
    path = tmp_path / "times.csv"
    with pytest.raises(ValueError, match=r"haar_two_across.*as long"):
        faces.read(changed(faces.TABLE, path, shared_ms="3.2", whole_ms=whole))
    with pytest.raises(ValueError, match="as long"):
        scenes.shared_part(changed(scenes.PASS_TABLE, path, pass_ms="3.2", detector_ms=whole))
    shorter = changed(scenes.PASS_TABLE, path, pass_ms="3", detector_ms="4")
    assert scenes.shared_part(shorter) == 0.75


@pytest.mark.parametrize(
    "price",
    [
        lambda: prices.of_family(prices.read()[1:], "mnist", prices.read()[0]["family"]),
        lambda: scenes.of_descriptor(scenes.read()[1:], scenes.read()[0]["descriptor"]),
        lambda: faces.prices(faces.read()[1:]),
    ],
    ids=["families", "scenes", "faces"],
)
def test_what_has_no_price_says_how_to_measure(price):
    with pytest.raises(ValueError, match=r"no measured time for .*--remeasure"):
        price()


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("mnist", "| gradient histogram | hog_oriented_4 | 2,592 |"),
        ("scene15", "| geometric_texton |"),
    ],
)
def test_command_line_shows_a_table(capsys, name, line):
    assert command.main([name]) == 0
    assert line in capsys.readouterr().out


def test_command_line_suggests_a_name(capsys):
    assert command.main(["minst"]) == 2
    assert "did you mean mnist" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "table", "named"),
    [("scene15", scenes.TABLE, "Scene-15"), ("cbcl", faces.TABLE, "cbcl.mit.edu")],
)
def test_remeasuring_needs_real_pictures(unreachable, capsys, name, table, named):
    before = table.read_bytes()
    assert command.main(["--remeasure", name]) == 3
    assert named in capsys.readouterr().err
    assert table.read_bytes() == before


def test_prices_of_faces_add_up_to_what_was_measured():
    measured, table = faces.prices(), faces.read()
    first = 0
    for row in table:
        own = measured.features[first : first + int(row["features"])]
        difference = float(row["whole_ms"]) - float(row["shared_ms"])
        assert own.sum() == pytest.approx(difference, rel=1e-12)
        assert len(np.unique(own)) == 1
        first += int(row["features"])
    assert first == N_FEATURES
    haar = [float(row["shared_ms"]) for row in table if row["family"].startswith("haar")]
    assert measured.groups[0] == np.median(haar)


def test_remeasuring_faces_replaces_the_table(cache, monkeypatch, few_faces, tmp_path, capsys):
    put(monkeypatch, cache, cbcl_windows, MIRROR, packed(contents()))
    monkeypatch.setattr(faces, "TABLE", tmp_path / "milliseconds.csv")
    monkeypatch.setattr(measured_times, "processor", lambda: "Abacus")
    monkeypatch.setattr(faces, "REPETITIONS", 3)
    monkeypatch.setattr(measured_times, "LEAST_SECONDS", 1e-3)
    assert command.main(["--remeasure", "cbcl"]) == 0
    assert "Abacus" in capsys.readouterr().out
    assert [row["family"] for row in faces.read()] == [family.name for family in FAMILIES]
    assert {row["block"] for row in faces.read()} == {"30"}


def test_least_time_is_that_of_the_work():
    with_more, with_less = np.zeros(100_000), np.zeros(1_000)
    less, more = measured_times.least_seconds(with_less.sum, with_more.sum, repetitions=10)
    assert 0 < less < more
