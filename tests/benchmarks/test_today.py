"""The table of today, of made-up numbers."""

from __future__ import annotations

import click
import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks import today
from benchmarks.today import Row, Run

ROWS = (
    Row("normal data", "whole fit", "s", 0.3, "LightGBM", 0.5, 0.6),
    Row("normal data", "a tree", "ms", 123.4, "LightGBM", 200.0, 0.6, drawn=1000),
    Row("500 trees", "one row", "µs", 9.6, None, None, 5.0, "ours"),
    Row("500 trees", "rows", "µs", 1.0, "XGBoost", 3.0),
    Row("normal data", "with prices", "ms", 130.0, "our own", 123.4, 1.05, drawn=1000),
    Row("normal data", "a tree", "ms", 12.0, "LightGBM", 20.0, 0.6, drawn=100),
    Row("normal data", "with prices", "ms", 13.0, "our own", 12.0, 1.05, drawn=100),
)
RUN = Run("two cores", "0123456789abcdef", "2026-11-25", ROWS, ("all",))
TABLE = """2026-11-25, commit 01234567, two cores.

|  | ours | peer | theirs | ours / theirs | goal |
|---|--:|--:|--:|--:|--:|
| normal data: whole fit | 0.30 s | LightGBM | 0.50 s | 0.60 | 0.6 |
| normal data: a tree | 123 ms | LightGBM | 200 ms | 0.62 | 0.6, missed |
| 500 trees: one row | 9.60 µs |  |  |  | 5 µs, missed |
| 500 trees: rows | 1.00 µs | XGBoost | 3.00 µs | 0.33 |  |
| normal data: with prices | 130 ms | our own | 123 ms | 1.05 | 1.05 |
| normal data: a tree | 12.0 ms | LightGBM | 20.0 ms | 0.60 | 0.6 |
| normal data: with prices | 13.0 ms | our own | 12.0 ms | 1.08 | 1.05, missed |"""


def test_a_page_gets_the_table_and_keeps_the_rest(tmp_path):
    page = tmp_path / "speed.md"
    page.write_text(f"# How fast\n\n{today.BEGIN}\nold\n{today.END}\n\nWhy.\n")
    path = tmp_path / "run.json"
    today.save(RUN, path)
    assert today.read(path) == RUN
    for _ in range(2):  # as often as one likes
        result = CliRunner().invoke(today.main, ["write", str(path), str(page)])
        assert result.exit_code == 0, result.output
        text = page.read_text("utf-8")
        assert text == f"# How fast\n\n{today.BEGIN}\n{TABLE}\n{today.END}\n\nWhy.\n"
    drawn = (tmp_path / "scale.svg").read_text("utf-8")
    for words in ("training rows, 28 features", "this package, with prices", "LightGBM"):
        assert words in drawn


def test_the_picture_shows_the_rows_that_say_so():
    rows, times = today.curves(RUN)
    assert rows == [100, 1000]
    assert times == {"ours": [12.0, 123.4], "prices": [13.0, 130.0], "lightgbm": [20.0, 200.0]}


BOTH = f"{today.BEGIN}\n{today.END}"


@pytest.mark.parametrize(
    "page", ["", f"{today.BEGIN}\n", f"{today.END}\n{today.BEGIN}\n", f"{BOTH}\n{BOTH}"]
)
def test_a_page_without_the_two_lines(page):
    with pytest.raises(ValueError, match="needs a line"):
        today.into(page, RUN)


def test_a_run_goes_on_but_nowhere_else(tmp_path):
    path, now, calls = tmp_path / "run.json", RUN._replace(rows=(), parts=()), []

    def part(name, fails=False):
        def measure():
            if fails:
                raise KeyboardInterrupt
            calls.append(name)
            return [ROWS[len(calls)]]

        return measure

    with pytest.raises(KeyboardInterrupt):
        today.gone_on(now, path, {"a": part("a"), "b": part("b", fails=True)})
    parts = {"a": part("a"), "b": part("b")}
    for _ in range(2):
        assert today.gone_on(now, path, parts).rows == ROWS[1:3]
    assert calls == ["a", "b"]
    for change in ({"day": "2026-11-26"}, {"commit": "f" * 40}, {"machine": "three cores"}):
        with pytest.raises(click.ClickException, match="name another"):
            today.gone_on(now._replace(**change), path, parts)


@pytest.mark.parametrize(
    "content", ["[", "{}", '{"machine": "m", "commit": "c", "day": "d", "rows": [{"what": "w"}]}']
)
def test_a_file_that_is_no_run(tmp_path, content):
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(ValueError, match="no run of"):
        today.read(tmp_path / "run.json")
    with pytest.raises(ValueError, match="Nothing is measured"):
        today.table(RUN._replace(rows=()))


def test_parts_give_rows_of_what_others_measure(monkeypatch):
    """Each part's rows, of programs that take no time."""
    from benchmarks import cronus, mddag, peers, scale, single_row
    from benchmarks.followed import scanning

    line = scale.Line(10, 1.0, 1.1, 2.0, float("nan"), 3.0, 0.5, 0.7)
    monkeypatch.setattr(scale, "measure", lambda *given, **options: line)
    monkeypatch.setattr(peers, "training_sets", lambda: {"MiniBooNE": (0, 0)})
    spent = {"ours": 1.0, "LightGBM": 2.0, "XGBoost": 4.0}
    monkeypatch.setattr(peers, "compare_training", lambda *given, **options: spent)
    monkeypatch.setattr(peers, "prediction_micros", lambda *given: dict(spent))
    names = ("ours, predict", "LightGBM, Booster.predict", "ours, fast_predictor()",
             "LightGBM, C function for single rows")  # fmt: skip
    monkeypatch.setattr(single_row, "one_row", lambda *given: dict.fromkeys(names, 4.0))
    monkeypatch.setattr(mddag, "rows_of", lambda name: (0, 0, "real"))
    monkeypatch.setattr(mddag, "stumps_of", lambda *rows: None)
    monkeypatch.setattr(mddag, "sarsa", lambda *given: mddag.Sarsa(None, 0.3, 10_000_000))
    lines = {"all stumps": scanning.Line(100, 2000, 4e-5), "MDDAG": scanning.Line(100, 300, 3e-6)}
    monkeypatch.setattr(scanning, "scan_all", lambda: (lines, "synthetic"))
    monkeypatch.setattr(cronus, "yahoo_sized", lambda *sizes: (np.ones((9, 2)), *np.ones((4, 9))))
    monkeypatch.setattr(cronus, "timed_fit", lambda *given, **options: (None, 1.0, 1.0))
    monkeypatch.setattr(cronus, "speed_up", lambda *given: cronus.SpeedUp(50.0, 100.0, 4.0))
    monkeypatch.setattr(today, "_FIRST_FIT", "print(36.5)")
    rows = [row for part in today.PARTS.values() for row in part()]
    assert len(rows) == 4 * len(scale.SIZES) + 3 + 4 + 2 + len(lines) + 1 + 1
    assert rows[-1].ours == 36.5
    ratios = {row.ratio for row in rows[:-1]} - {None}
    assert ratios == {0.5, 0.25, 1.0, 1.1, 0.5 / 0.7, 1.0 / 3.0, 2.0}
    text = today.table(RUN._replace(rows=tuple(rows)))
    assert "MiniBooNE: with prices | 1.00 s | LightGBM | 2.00 s | 0.50 | 0.1, missed" in text
    assert "one row, fast_predictor | 4.00 µs" in text
    assert "a step of SARSA, β = 0.001 | 30.0 ns |  |  |  | 12 ns, missed" in text
    scans = "detector of faces (synthetic) scans a picture: an evaluation, all stumps"
    assert f"{scans} | 20.0 ns |  |  |  | 12 ns, missed" in text
    assert "an evaluation, MDDAG | 10.0 ns |  |  |  | 12 ns |" in text
    assert "a row | 4.00 µs | all trees / counted speed-up | 2.00 µs | 2.00 | 2 |" in text
