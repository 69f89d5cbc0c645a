"""asv's history in the report: what is read, drawn and written of it."""

from __future__ import annotations

import json
import re

import pytest

from experiments.cli import main
from experiments.publishing import report
from experiments.publishing.report import chart, history
from tests.experiments.publishing.test_report_pages import text_of
from tests.experiments.toy_artefact import suite


def write_history(folder, *runs, **changes):
    """Write asv's files: a timed benchmark with two parameters, one run for each (hash, date…)."""
    entry = {
        "name": "toy.Toy.time_fit",
        "params": [["'a'", "'b'"]],
        "type": "time",
        "unit": "seconds",
        "version": "now",
    }
    (folder / "quiet").mkdir(parents=True)
    catalogue = {entry["name"]: entry | changes, "version": 2}
    (folder / "benchmarks.json").write_text(json.dumps(catalogue))
    machine = {"machine": "quiet", "cpu": "Z80", "num_cpu": "2", "ram": "3221225472", "version": 1}
    (folder / "quiet" / "machine.json").write_text(json.dumps(machine))
    for commit, date, result, version in runs:
        params = changes.get("params", entry["params"])
        lows = [-float("inf"), 1e-4, *(2 * [-float("inf")])][: len(result or [])]
        highs = [float("inf"), 9e-3, *(2 * [float("inf")])][: len(result or [])]
        row = [result, params, version, 1, 2, lows, highs]
        run = {
            "commit_hash": commit * 40,
            "date": date,
            "env_name": "virtualenv-py3.11",
            "result_columns": [
                *("result", "params", "version", "started_at", "duration"),
                *("stats_ci_99_a", "stats_ci_99_b"),
            ],
            "results": {entry["name"]: row},
            "version": 2,
        }
        (folder / "quiet" / f"{commit * 8}-virtualenv-py3.11.json").write_text(json.dumps(run))


def test_history_in_order_of_the_commits(tmp_path):
    write_history(
        tmp_path,
        ("a", 3000, [0.002, float("nan")], "now"),
        ("b", 1000, [0.001, 0.004], "now"),
        ("c", 2000, [9.0, 9.0], "of another version of the benchmark"),
        ("d", 4000, None, "now"),
    )
    (machine,) = history.read_history(tmp_path)
    assert [commit.hash[0] for commit in machine.commits] == ["b", "c", "a", "d"]
    (benchmark,) = machine.benchmarks
    assert (benchmark.title, benchmark.unit) == ("Toy time_fit", "ms")
    assert [line.label for line in benchmark.series] == ["a", "b"]
    shown = [[line.shown(i) for i in range(4)] for line in benchmark.series]
    assert shown == [["1", "–", "2", "–"], ["4", "–", "–", "–"]]
    assert benchmark.series[0].points[0] == chart.Point(1.0, 1.0, 1.0)  # infinite interval: none
    assert benchmark.series[1].points[0] == chart.Point(*(1e3 * s for s in (4e-3, 1e-4, 9e-3)))
    assert machine.facts == "Z80, 2 cores, 3 GiB of memory"
    (drawn,) = benchmark.charts
    assert "Toy time_fit, ms, over 4 commits: a 1 to 2; b 4." in drawn.drawing
    assert "<title>a at aaaaaaaa: 2 ms</title>" in drawn.drawing
    assert "<title>b at bbbbbbbb: 4 ms, 0.1 to 9</title>" in drawn.drawing
    assert [line.change() for line in benchmark.series] == ["+100.0 %", "–"]


def test_history_on_the_page(tmp_path):
    write_history(tmp_path / "asv", ("a", 1, [0.5, 2.5], "now"))
    html = report.build(tmp_path, [], papers_folder=tmp_path)["speed.html"]
    text = text_of(html)
    assert "1 commit, of 1970-01-01." in text
    assert "quiet, virtualenv-py3.11" in text
    assert "Toy time_fit a s 0.5" in text
    assert "<svg viewBox" not in html  # one commit is no history, only numbers
    assert "finds no rise" in text
    assert "no history yet" not in text


def test_the_machine_that_measured_most_comes_first(tmp_path):
    day = 86_400_000
    write_history(tmp_path / "asv", ("a", 1, [0.5, 2.5], "now"), ("b", day, [0.5, 2.5], "now"))
    write_history(tmp_path / "other", ("b", day, [0.7, 2.5], "now"))
    (tmp_path / "other" / "quiet").rename(tmp_path / "asv" / "a-new-one")
    machine = tmp_path / "asv" / "a-new-one" / "machine.json"
    machine.write_text(machine.read_text().replace("quiet", "a-new-one"))
    assert [one.name for one in history.read_history(tmp_path / "asv")] == ["quiet", "a-new-one"]
    text = text_of(report.build(tmp_path, [], papers_folder=tmp_path)["speed.html"])
    first, second = (
        text.index(words)
        for words in ("2 commits, from 1970-01-01 to 1970-01-02.", "1 commit, of 1970-01-02.")
    )
    assert first < second
    assert "Numbers of two machines do not compare." in text


def test_lines_are_grouped_by_the_first_parameter(tmp_path):
    params = [["'a'", "'b'"], ["1", "2"]]
    rows = [[c, 1.0 + c, 4.0, None if c else 5.0] for c in (0.0, 1.0)]
    write_history(
        tmp_path,
        *[("ab"[i], i, row, "now") for i, row in enumerate(rows)],
        params=params,
    )
    (machine,) = history.read_history(tmp_path)
    (benchmark,) = machine.benchmarks
    assert [chart.title for chart in benchmark.charts] == ["Toy time_fit, a", "Toy time_fit, b"]
    assert [chart.labels for chart in benchmark.charts] == [["1", "2"], ["1", "2"]]
    assert [line.change() for line in benchmark.series] == ["–", "+100.0 %", "+0.0 %", "–"]


@pytest.mark.parametrize(
    ("values", "changes", "found"),
    [
        (
            [1, 1.01, 1, 1.5, 1.51, 1.5],
            {},
            ["1 to 1.5 s (+50 %) between 22222222 and 33333333, 1970-01-01"],
        ),
        ([1, 1.01, 1, 1.02, 1, 1.01], {}, []),
        ([1.5, 1.51, 1.5, 1, 1.01, 1], {}, []),
        ([1, 1.01, 1, 1.5, 1.51, 1.5, 1, 1.01, 1.02], {}, []),
        ([1, 1.01, 1, 1.5, 1.51, 1.5], {"type": "track"}, []),
        ([1, 1.2, 1.01, 1.21, 1, 1.45], {}, []),
        ([1, 1.01, 1, 1.02, 1.5], {}, []),
        (
            [1, 1.01, 1, 1.01, 1.51, 1.5],
            {},
            ["1.005 to 1.505 s (+50 %) between 33333333 and 44444444, 1970-01-01"],
        ),
        ([1, 1.01, 1, 1.5, 1.51, 1.5, 1.02, 1.02], {}, []),
    ],
    ids=[
        "a step up",
        "noise",
        "a step down",
        "a step taken back",
        "accuracy",
        "much noise",
        "the newest alone",
        "the newest two",
        "taken back but for a little",
    ],
)
def test_steps_that_asv_detects_are_named(tmp_path, values, changes, found):
    runs = [(str(i), i, [value, 2.0], "now") for i, value in enumerate(values)]
    write_history(tmp_path / "asv", *runs, **changes)
    (machine,) = history.read_history(tmp_path / "asv")
    assert machine.regressions() == [f"Toy time_fit, a: {text}" for text in found]
    text = text_of(report.build(tmp_path, [], papers_folder=tmp_path)["speed.html"])
    assert all(one in text for one in found)


def test_what_never_moved_and_what_is_long_ago_has_no_chart(tmp_path):
    runs = [(f"{i:02d}", i, [i + 1.0, 1.0], "now") for i in range(25)]
    write_history(tmp_path, *runs)
    (machine,) = history.read_history(tmp_path)
    ((drawn,), n_drawn) = machine.benchmarks[0].charts, history._CHARTED
    assert f"over {n_drawn} commits: a {26 - n_drawn} to 25; b 1 to 1." in drawn.drawing
    write_history(tmp_path / "still", *[(c, i, [0.5, 2.5], "now") for i, c in enumerate("ab")],
                  type="track")  # fmt: skip
    (machine,) = history.read_history(tmp_path / "still")
    assert machine.benchmarks[0].charts == []
    assert [line.change() for line in machine.benchmarks[0].series] == ["+0.0 %", "+0.0 %"]


def test_long_history_shows_its_latest_numbers(tmp_path):
    runs = [("0123456789ab"[i], i, [i + 1.0, 1.0], "now") for i in range(12)]
    write_history(tmp_path / "asv", *runs)
    html = report.build(tmp_path, [], papers_folder=tmp_path)["speed.html"]
    assert "the last 8 of 12 commits, newest first" in text_of(html)
    heads = re.findall(r'<th scope="col">(\w)\1{7} <', html)
    assert heads == list("ba987654")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[:20], "cannot be read"),
        (lambda text: text.replace('"version": 2', '"version": 3'), "version 3"),
        (lambda text: text.replace('"date"', '"day"'), "lacks date"),
        (lambda text: "[]", "cannot be read"),
    ],
)
def test_damaged_history_is_named(tmp_path, capsys, damage, message):
    write_history(tmp_path / "asv", ("a", 1, [1.0, 2.0], "now"))
    path = tmp_path / "asv" / "quiet" / "aaaaaaaa-virtualenv-py3.11.json"
    path.write_text(damage(path.read_text()))
    assert main(["report"], suite(tmp_path)) == 1
    error = capsys.readouterr().err
    assert message in error
    assert path.name in error


@pytest.mark.parametrize("from_zero", [False, True])
@pytest.mark.parametrize("values", [[0.0], [5.0, 5.0], [1e-9, 2e-9], [0.3, 7e5], [0.8361, 0.8914]])
def test_charts_hold_all_points(values, from_zero):
    points = [chart.Point(value, value, value) for value in values]
    commits = [f"c{i}" for i in range(len(values))]
    svg = chart.draw("t", "s", [chart.Series("all", points)], commits, from_zero=from_zero)
    centres = re.findall(r'<circle cx="([-\d.]+)" cy="([-\d.]+)"', svg)
    assert len(centres) == len(values)
    for x, y in centres:
        assert 0 < float(x) < 340
        assert 0 < float(y) <= 168
    ticks = re.findall(r'text-anchor="end">([-\d.,e+]+)</text>', svg)
    assert len(set(ticks)) == len(ticks) >= 3
    assert [commit in svg for commit in commits] == [True] * len(commits)


def test_an_interval_is_drawn_down_to_the_axis():
    """Of few samples asv's interval of a time may reach below 0."""
    points = [chart.Point(2.0, -9.0, 3.0), chart.Point(2.0, 1.0, 3.0)]
    svg = chart.draw("t", "s", [chart.Series("all", points)], ["a", "b"], from_zero=True)
    (path,) = re.findall(r'<path class="cross" d="([^"]*)"', svg)
    lowest = max(float(y) for y in re.findall(r"M\S+ ([-\d.]+)V", path))
    assert lowest == chart._BOTTOM
