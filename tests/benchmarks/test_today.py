"""The table of today, of made-up numbers."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from benchmarks import today
from benchmarks.timing import Row
from benchmarks.today import Run

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
        today.gone_on(now, path, {"a": {"": part("a")}, "b": {"": part("b", fails=True)}})
    parts = {"a": {"": part("a")}, "b": {"": part("b")}}
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


def test_a_busy_machine_is_refused():
    today.refuse_if_busy((0.2, 0.1, 9.0))
    with pytest.raises(click.ClickException, match="not idle: its load is 0"):
        today.refuse_if_busy((0.1, 1.0, 0.0))
