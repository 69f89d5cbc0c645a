"""What a run says at its end."""

import dataclasses
import json
import shutil

import numpy as np
import pandas as pd
import pytest

from experiments.cli import main
from experiments.publishing import ending, output
from tests.experiments.toy_artefact import make_toy, suite

pytestmark = pytest.mark.usefixtures("cells_here")

TOY = dataclasses.replace(make_toy(sets=("a", "b", "c")), timing_columns=("seconds",))


def rows_of(*sets, seeds=(0, 1)):
    rows = [
        {"step": step, "dataset": name, "algorithm": "better", "seed": seed, "part": 0}
        for name in sets
        for seed in seeds
        for step in range(3)
    ]
    table = pd.DataFrame(rows)
    return table.assign(score=np.arange(len(table)) / 3, note="x")


def write(folder, rows, scale="laptop", seeds=(0, 1), **kinds):
    """Results as a run writes them, with what is needed to read them back."""
    folder.mkdir()
    record = dict.fromkeys(("source", "rows", "n_features", "cost_unit", "cost_origin"), "")
    data = {
        name: {**record, "kind": kind, "checksums": {str(seed): name + kind for seed in seeds}}
        for name, kind in (dict.fromkeys(rows["dataset"], "real") | kinds).items()
    }
    texts = ("command", "processor", "processor_model", "python", "source_tree_sha256", "system")
    meta = {
        **dict.fromkeys((*texts, "title"), ""),
        **{"data": data, "scale": scale, "seeds": list(seeds), "versions": {}},
    }
    (folder / "meta.json").write_text(json.dumps(meta))
    (folder / "rows.csv").write_bytes(output.csv_bytes(rows))
    return folder


def test_rows_on_the_same_data_are_counted_and_the_rest_is_named(tmp_path):
    now = write(tmp_path / "now", rows_of("a", "b", "c"), b="synthetic")
    before = write(tmp_path / "before", rows_of("a", "b"))
    assert ending.difference(TOY, now, before) == [
        "6 of 6 rows on the same data are identical to the published ones; not compared: "
        "b (other data); c (not published)."
    ]


def test_what_differs_is_named_with_its_size(tmp_path):
    changed = rows_of("a")
    changed.loc[1, "score"] += 0.25
    changed.loc[[1, 2], "note"] = "y"
    changed.loc[4, "score"] = np.nan
    now, before = write(tmp_path / "now", changed), write(tmp_path / "before", rows_of("a"))
    assert ending.difference(TOY, now, before) == [
        "3 of 6 rows on the same data are identical to the published ones.",
        "  score: 2 differ, by at most 0.25",
        "  note: 2 differ",
    ]


def test_nothing_equals_nothing_and_times_are_not_compared(tmp_path):
    rows = rows_of("a").assign(score=np.nan)
    folders = [
        write(tmp_path / name, rows.assign(seconds=seconds))
        for name, seconds in (("now", 1.0), ("before", 2.0))
    ]
    (line,) = ending.difference(TOY, *folders)
    assert line.startswith("6 of 6 rows")


def test_rows_that_only_one_side_has(tmp_path):
    now = write(tmp_path / "now", rows_of("a").iloc[1:])
    before = write(tmp_path / "before", rows_of("a").iloc[:4])
    (line,) = ending.difference(TOY, now, before)
    assert line.startswith("3 of 3 rows on the same data are identical to the published ones; ")
    assert line.endswith("; 2 are only here; 1 are only there.")


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        (None, "Nothing is published yet to compare with (--publish writes it)."),
        ({"scale": "paper"}, "No row is compared: the scale paper is published."),
        ({"seeds": (7, 8)}, "No row is compared: a (other repetitions)."),
        ({"a": "synthetic"}, "No row is compared: a (other data)."),
    ],
)
def test_why_no_row_is_compared(tmp_path, published, expected):
    now = write(tmp_path / "now", rows_of("a"))
    if published is not None:
        rows = rows_of("a", seeds=published.get("seeds", (0, 1)))
        write(tmp_path / "before", rows, **published)
    assert ending.difference(TOY, now, tmp_path / "before") == [expected]


def test_other_key_columns_are_named(tmp_path):
    """Published before the artefact got another key."""
    now = write(tmp_path / "now", rows_of("a"))
    before = write(tmp_path / "before", rows_of("a").drop(columns="step"))
    (line,) = ending.difference(TOY, now, before)
    assert line == "No row is compared: the published rows have no column step."


def test_a_run_of_several_ends_with_all_of_them(tmp_path, capsys):
    figure = make_toy(sets=("nearby",), n_steps=1)
    table = make_toy(artefact_id="toy-table1", sets=("nearby",), n_steps=1)
    table = dataclasses.replace(table, render=lambda rows, meta: "# T\n")
    command = ["reproduce", "all", "--jobs", "1", "--quiet"]
    house = suite(tmp_path, figure, table)
    assert main([*command, "--publish"], house) == 0
    shutil.rmtree(tmp_path / "toy-table1")
    capsys.readouterr()
    assert main(command, house) == 0
    runs, lines = tmp_path / "runs", capsys.readouterr().out.splitlines()
    assert lines[0] == "2 artefacts, about 0.4 min on 2 cores together"
    assert lines[-5:] == [
        "All 2 artefacts together.",
        "  toy-figure2: 12 of 12 rows on the same data are identical to the published ones.",
        f"    Figure: {runs / 'toy-figure2' / 'figure.png'}",
        "  toy-table1: Nothing is published yet to compare with (--publish writes it).",
        f"    Table: {runs / 'toy-table1' / 'table.md'}",
    ]
