"""The scoreboard: from declared and judged claims to lines, tables and pictures."""

from __future__ import annotations

import functools
import json
import math
import re

import pandas as pd
import pytest

from experiments.primaries import storing
from experiments.primaries.confirming import minutes, minutes_left, rough
from experiments.primaries.declared import discover as declared_claims
from experiments.primaries.verdicts import SIGNS, VERDICTS
from experiments.publishing import output, scoreboard
from experiments.publishing.report import intervals
from experiments.registry import PAPERS, discover
from experiments.running.provenance import ROOT
from tests.experiments.primaries.test_command import CLAIMS
from tests.experiments.toy_artefact import make_toy

MEND = "bring it up to date with: python -m experiments redraw"
TOY = make_toy(n_steps=1)


def table_of(*rows):
    """Judged claims as they are written, from (claim, verdict, effect, low, high, n, of_sets)."""
    names = ("claim", "verdict", "effect", "low", "high", "n", "of_sets")
    table = pd.DataFrame([dict(zip(names, row, strict=True)) for row in rows])
    return table.reindex(columns=storing.COLUMNS, fill_value="")


def toy_board(results, *rows):
    if rows:
        (results / storing.TABLE).write_bytes(output.csv_bytes(table_of(*rows)))
    return next(b for b in scoreboard.boards(results, {"toy": CLAIMS}, [TOY]) if b.paper == "toy")


BETTER = ("toy-better", "reproduced", 0.25, 0.1, 0.4, 5, "0.25")
"""Of δ = 0.1: an effect of 2.5 δ, from 1 to 4."""


def test_what_was_never_run_is_undecided_and_says_what_it_takes(tmp_path):
    board = toy_board(tmp_path)
    assert [line.verdict for line in board.lines] == ["undecided", "undecided"]
    wanted = minutes(TOY, 3, ["nearby"], "overnight", {})
    assert board.lines[0].needs == (
        f"not run yet: 3 repetitions of each set, about {wanted:.2g} min"
    )
    assert math.isnan(board.lines[0].effect)
    assert board.summary() == "? 2 undecided, all not run yet"
    assert board.summary(names=True) == "? 2 undecided, all not run yet (better, much-better)"
    assert intervals.drawn(board.lines[0]) == ""


def test_a_table_of_some_claims_leaves_the_others_to_be_run(tmp_path):
    board = toy_board(tmp_path, BETTER)
    one, other = board.lines
    assert (one.verdict, one.sign, one.needs) == ("reproduced", "✓", "")
    assert (one.effect, one.low, one.high) == pytest.approx((2.5, 1.0, 4.0))
    assert one.of_sets == pytest.approx((2.5,))
    assert other.verdict == "undecided"
    assert board.summary() == "✓ 1 reproduced · ? 1 undecided, not run yet"
    text = scoreboard.as_markdown([board])
    assert "| ✓ **reproduced** | Better is better. | +2.50 [+1.00, +4.00] | 0.1 score" in text
    assert (
        "| ✓ reproduced | Better is better. | 0.250 [0.100, 0.400] | 0.1 score | section 1 |"
        in scoreboard.in_words(board)
    )


@pytest.mark.parametrize(
    ("chance", "needs"),
    [
        (0.3, "2 more, about {} min; a verdict by 5 repetitions has a chance of 30%"),
        (1.0, "2 more, about {} min; a verdict by 5 repetitions has a chance of more than 99%"),
        (0.004, "other test data; a verdict by 5 repetitions has a chance of less than 1%"),
        ("", "2 more, about {} min"),
    ],
)
def test_an_undecided_claim_says_its_chance(tmp_path, chance, needs):
    row = ("toy-better", "undecided", 0.05, -0.1, 0.2, 3, "0.05")
    table = table_of(row).assign(needs=re.split("[,;]", needs)[0], chance=chance)
    (tmp_path / storing.TABLE).write_bytes(output.csv_bytes(table))
    board = toy_board(tmp_path)
    left = minutes(TOY, 2 + 1, ["nearby"], "overnight", {})  # the first is made again
    assert board.lines[0].needs == needs.format(rough(left))
    want = " and 1 for want of other test data" * (chance == 0.004)
    assert board.summary() == f"? 2 undecided, 1 not run yet{want}"


def test_a_claim_that_is_no_longer_declared_is_not_shown(tmp_path):
    board = toy_board(tmp_path, ("toy-gone", *BETTER[1:]))
    assert {line.verdict for line in board.lines} == {"undecided"}


def test_minutes_to_the_next_look_and_none_after_the_last():
    claim = CLAIMS[0]  # looks at 3 and 5
    left = functools.partial(minutes_left, claim, artefacts=[TOY], measured={})
    whole = minutes(TOY, 5, ["nearby"], "overnight", {})
    assert (left(0), left(3)) == pytest.approx((whole * 3 / 5, whole * 3 / 5))
    assert left(5) == 0
    assert minutes_left(claim, 0, [], {}) == 0


def test_minutes_are_said_to_two_digits_without_an_exponent():
    assert [rough(m) for m in (0.0312, 4.44, 28.4, 134.0, 1250.0)] == [
        "0.031", "4.4", "28", "130", "1200",
    ]  # fmt: skip


def test_a_set_that_was_run_takes_as_long_again(tmp_path):
    """Two repetitions of ten minutes of one core: a third and fourth take as much."""
    rows = pd.DataFrame({"dataset": "nearby", "seed": [2000, 2001]})
    made = storing.Made(rows, {"data": {"nearby": {}}, "scale": "overnight"}, 600.0)
    storing.add(tmp_path, TOY.id, "nearby", made)
    measured = storing.measured(tmp_path, [TOY.id, "never-run"])
    assert measured == {TOY.id: {("nearby", "overnight"): 2.5}}
    assert minutes_left(CLAIMS[0], 0, [TOY], measured) == pytest.approx(3 * 2.5)
    assert minutes_left(CLAIMS[0], 3, [TOY], measured) == pytest.approx((2 + 1) * 2.5)
    part = CLAIMS[0].parts[0]
    assert storing.kept_repetitions(tmp_path, [TOY.id, "never-run"]) == {
        (TOY.id, "nearby", "overnight"): 2
    }
    kept = {(part.artefact, part.dataset, part.scale): 10_000}  # of it nothing is run again
    assert minutes_left(CLAIMS[0], 3, [TOY], measured, kept) == 0
    (tmp_path / "primary" / TOY.id / "meta.json").write_text("{}")
    with pytest.raises(output.DamagedResults, match="sets"):
        storing.measured(tmp_path, [TOY.id])


def test_a_board_counts_no_set_again_of_which_more_is_kept(tmp_path):
    """Four are kept and three were judged: of five the first and the last are left to be run."""
    rows = pd.DataFrame({"dataset": "nearby", "seed": range(2000, 2004)})
    made = storing.Made(rows, {"data": {"nearby": {}}, "scale": "overnight"}, 1200.0)
    storing.add(tmp_path, TOY.id, "nearby", made)
    undecided = ("toy-better", "undecided", 0.05, -0.1, 0.2, 3, "0.05")
    table = table_of(undecided).assign(needs="2 more", chance=0.3)
    (tmp_path / storing.TABLE).write_bytes(output.csv_bytes(table))
    assert toy_board(tmp_path).lines[0].needs.startswith("2 more, about 5 min;")


def test_a_set_takes_as_long_as_in_the_published_run_of_its_scale(tmp_path):
    folder = tmp_path / TOY.id
    folder.mkdir()
    timings = pd.DataFrame(
        {
            "dataset": ["nearby", "nearby", "nearby", "far", "nearby"],
            "seed": [0, 1, 1, 0, 0],
            "cell": ["a", "b", "c", "d", ""],  # the last was timed by the artefact, within a cell
            "seconds": [120.0, 100.0, 20.0, 999.0, 60.0],
        }
    )
    (folder / "timings.csv").write_bytes(output.csv_bytes(timings))
    meta = {name: kind() for name, kind in output.NEEDED.items()}
    (folder / "meta.json").write_text(json.dumps(meta | {"scale": "overnight"}))
    measured = storing.measured(tmp_path, [TOY.id])
    assert measured[TOY.id]["nearby", "overnight"] == 1.0
    assert minutes_left(CLAIMS[0], 0, [TOY], measured) == 3
    (folder / "meta.json").write_text(json.dumps(meta | {"scale": "smoke"}))
    unlike = storing.measured(tmp_path, [TOY.id])
    assert minutes_left(CLAIMS[0], 0, [TOY], unlike) == minutes_left(CLAIMS[0], 0, [TOY], {})
    (folder / "timings.csv").write_text("a,b\n1,2\n")
    with pytest.raises(output.DamagedResults, match=r"timings\.csv: KeyError") as error:
        storing.measured(tmp_path, [TOY.id])
    assert str(error.value).count("cannot be read") == 1


def test_a_table_of_other_columns_is_damaged(tmp_path):
    (tmp_path / storing.TABLE).write_text("claim,verdict\ntoy-better,reproduced\n")
    with pytest.raises(output.DamagedResults, match="other columns"):
        storing.read_table(tmp_path)


def test_words_that_look_like_numbers_are_read_as_words(tmp_path):
    two = ("toy-much-better", "undecided", "", "", "", 3, "")
    for rows in ((BETTER,), (BETTER, two)):
        (tmp_path / storing.TABLE).write_bytes(output.csv_bytes(table_of(*rows)))
        assert storing.read_table(tmp_path)["toy-better"]["of_sets"] == "0.25"
    assert storing.read_table(tmp_path)["toy-much-better"]["of_sets"] == ""


def test_summary_goes_between_its_markers_only():
    text = "before\n<!-- scoreboard -->\nold\n<!-- end of scoreboard -->\nafter\n"
    new = scoreboard.with_summary(text, "new\n")
    assert new == "before\n<!-- scoreboard -->\nnew\n<!-- end of scoreboard -->\nafter\n"
    assert scoreboard.with_summary(new, "new\n") == new
    assert scoreboard.with_summary("no markers\n", "new\n") == "no markers\n"
    half = "<!-- scoreboard -->\nkeep me\n"
    assert scoreboard.with_summary(half, "new\n") == half
    assert scoreboard.without_summary(text) == "before\nafter\n"
    assert scoreboard.without_summary(half) == half


def test_every_verdict_is_counted_in_its_order(tmp_path):
    line = toy_board(tmp_path).lines[0]
    lines = tuple(line._replace(verdict=v, sign=SIGNS[v]) for v in reversed(VERDICTS))
    board = scoreboard.Board("toy", "Toy", lines)
    assert list(board.counts()) == list(VERDICTS)


# --- the picture ----------------------------------------------------------------------------------


def test_the_interval_lies_on_an_axis_in_units_of_delta(tmp_path):
    picture = intervals.drawn(toy_board(tmp_path, BETTER).lines[0])
    middle, per_delta = 120, 22.4  # 240 wide, 8 at each side, ten δ
    assert f'cx="{middle + 2.5 * per_delta:.1f}" cy="13"' in picture
    assert f'M{middle + per_delta:.1f} 13H{middle + 4 * per_delta:.1f}"' in picture
    assert f'x="{middle - per_delta:.1f}" y="2" width="{2 * per_delta:.1f}"' in picture
    assert picture.count('class="set"') == 1
    assert 'aria-label="Effect +2.50 δ, interval from +1.00 to +4.00 δ; nearby +2.50"' in picture


def test_what_lies_beyond_the_axis_has_an_arrow(tmp_path):
    line = toy_board(tmp_path, BETTER).lines[0]._replace(low=-9.0, high=9.0)
    picture = intervals.drawn(line)
    assert 'd="M14.0 9L8.0 13L14.0 17"' in picture
    assert 'd="M226.0 9L232.0 13L226.0 17"' in picture
    assert "from −9.00 to +9.00" in picture


# --- what is published ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def boards():
    return scoreboard.boards(ROOT / "results", declared_claims(), discover())


def test_published_scoreboards_are_up_to_date(boards):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "<!-- scoreboard -->" in readme
    for path, summary in scoreboard.summaries(ROOT, boards).items():
        text = path.read_text(encoding="utf-8")
        assert scoreboard.with_summary(text, summary) == text, f"{path}: {MEND}"
    written = (ROOT / "results" / "claims.md").read_text(encoding="utf-8")
    assert written.startswith(scoreboard.HEAD + scoreboard.as_markdown(boards)), MEND


def test_every_paper_has_a_line_and_at_most_twelve_claims(boards):
    assert [board.title for board in boards] == list(PAPERS.values())
    assert all(len(board.lines) <= 12 for board in boards)
    assert all(
        line.needs for board in boards for line in board.lines if line.verdict == "undecided"
    )


@pytest.mark.slow
def test_the_published_table_is_that_of_the_rows(tmp_path):
    """``primary_claims.csv`` is what the rows in ``results/primary`` say now."""
    results = ROOT / "results"
    if not (results / storing.TABLE).exists():
        pytest.skip("no primary claim is judged yet")
    (tmp_path / storing.FOLDER).symlink_to(results / storing.FOLDER)
    storing.write_table(tmp_path, declared_claims())
    before, now = (pd.read_csv(folder / storing.TABLE) for folder in (results, tmp_path))
    pd.testing.assert_frame_equal(before, now, rtol=1e-4), MEND
