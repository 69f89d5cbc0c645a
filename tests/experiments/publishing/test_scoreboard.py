"""The scoreboard: from declared and judged claims to lines, tables and pictures."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import re
from collections import Counter

import pandas as pd
import pytest

from experiments.claims import declared, storing
from experiments.claims.confirming import minutes, minutes_left, rough
from experiments.claims.declared import discover as declared_claims
from experiments.claims.lines import RULE_CHANGED
from experiments.claims.verdicts import SIGNS, VERDICTS, is_denied
from experiments.publishing import output, scoreboard
from experiments.publishing.claim_lines import Read
from experiments.publishing.findings import findings
from experiments.publishing.report import intervals
from experiments.registry import PAPERS, discover
from experiments.running.provenance import ROOT
from tests.experiments.claims.test_command import CLAIMS
from tests.experiments.toy_artefact import make_toy

MEND = "bring it up to date with: python -m experiments redraw"
TOY = make_toy(n_steps=1)


def table_of(*rows):
    """Judged claims as they are written, from (claim, verdict, effect, low, high, n, of_sets)."""
    names = ("claim", "verdict", "effect", "low", "high", "n", "of_sets")
    table = pd.DataFrame([dict(zip(names, row, strict=True)) for row in rows])
    ends = {"low_of_sets": table["of_sets"], "high_of_sets": table["of_sets"]}
    return table.assign(**ends).reindex(columns=storing.COLUMNS, fill_value="")


def toy_board(results, *rows, claims=CLAIMS):
    if rows:
        (results / storing.TABLE).write_bytes(output.csv_bytes(table_of(*rows)))
    return next(b for b in scoreboard.boards(results, {"toy": claims}, [TOY]) if b.paper == "toy")


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
    assert one.found == pytest.approx((0.25, 0.1, 0.4))
    assert one.found.scaled(1 / one.delta) == pytest.approx((2.5, 1.0, 4.0))
    assert [its.effect for its in one.of_sets] == [0.25]
    assert other.verdict == "undecided"
    assert board.summary() == "✓ 1 reproduced · ? 1 undecided, not run yet"
    text = scoreboard.as_markdown([board])
    both = "+0.250 [+0.100, +0.400] |  | +2.50 [+1.00, +4.00] | 0.1 score"
    assert f"| ✓ **reproduced** | Better is better. | {both}" in text
    assert (
        "| ✓ reproduced | Better is better. | +0.250 [+0.100, +0.400] |  | 0.1 score |  "
        "| section 1 |" in scoreboard.in_words(board)
    )


@pytest.mark.parametrize(
    ("chance", "needs"),
    [
        (0.3, "2 more, about {} min; a verdict by 5 repetitions has a chance of 30%"),
        (1.0, "2 more, about {} min; a verdict by 5 repetitions has a chance of more than 99%"),
        (0.004, "too near a bound; a verdict by 5 repetitions has a chance of less than 1%"),
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
    want = " and 1 too near a bound" * (chance == 0.004)
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


def test_what_was_published_stays_readable_beside_what_is(tmp_path):
    """A claim whose rule was changed says what it was, and why it is another."""
    changed = dataclasses.replace(CLAIMS[0], changed="Folds are averaged.", seen=3)
    was = table_of(("toy-better", "undecided", 0.2, -0.1, 0.5, 3, "0.2")).assign(sets="nearby")
    (tmp_path / storing.PUBLISHED).write_bytes(output.csv_bytes(was))
    board = toy_board(tmp_path, BETTER, claims=(changed,))
    said = "was undecided +0.200 [-0.100, +0.500] by 3 repetitions: Folds are averaged."
    fresh = "rule changed after rows were seen: 5 later ones judge alone"
    assert board.lines[0].aside()[:2] == [said, fresh]
    (row,) = [one for one in scoreboard.changes(board.lines) if "toy-better" in one]
    assert row.startswith("| toy-better | undecided +0.200 [-0.100, +0.500] by 3 repetitions | rep")


@pytest.mark.parametrize(
    ("needs", "due"),
    [
        (f"3 fresh repetitions of each set: {RULE_CHANGED}", True),
        ("about 6 repetitions of each set, beyond its declared limit", False),
    ],
)
def test_a_claim_waits_only_until_its_fresh_repetitions_are_made(tmp_path, needs, due):
    changed = (dataclasses.replace(CLAIMS[0], changed="Folds are averaged.", seen=3),)
    table = table_of(("toy-better", "undecided", 0.05, -0.1, 0.2, 5, "0.05")).assign(needs=needs)
    (tmp_path / storing.TABLE).write_bytes(output.csv_bytes(table))
    board = toy_board(tmp_path, claims=changed)
    assert board.lines[0].due == due
    assert ("Open" in dict(findings(board.lines))) != due


def test_findings_are_made_of_the_claims_own_sentences_and_numbers(tmp_path):
    line = toy_board(tmp_path, BETTER).lines[0]
    worse = line._replace(verdict="opposite", found=line.found.scaled(-1), unit="decades of cost")
    read = Read("another", "why", True, "opposite", worse.found, True, "")
    hangs = line._replace(claim="toy-hangs", readings=(read,), robust=False)
    denied = worse._replace(verdict="denied by the paper's own table")
    unsure = line._replace(verdict="undecided")
    said = "Better is better (−0.25 decades of cost, a factor of 1.8)."
    is_open = ("Open", "Better is better: not known (+0.25 score, +0.1 to +0.4).")
    assert findings([line, unsure, denied])[1:] == [
        ("Denied by the paper's own table", said),
        is_open,
    ]
    assert findings([line, unsure, denied], also_open=False)[1:] == [
        ("Denied by the paper's own table", said)
    ]
    assert findings([unsure], also_open=False) == [is_open]
    assert "Holds" not in dict(findings([hangs]))  # what a reading contradicts neither does
    here = line._replace(robust=True, sentence="Here.", carries_over="no")
    beyond = here._replace(sentence="It is.", carries_over="yes")
    nearer = hangs._replace(
        claim="nearer", readings=(read._replace(name="n", found=line.found.scaled(-0.5)),)
    )
    assert findings([here]) == [("Holds", "Here (+0.25 score, on these data alone).")]
    assert findings([nearer, hangs, worse, here, beyond]) == [
        ("Holds", "It is (+0.25 score, new data too)."),
        (
            "Does not hold",
            "Better is better: no, the opposite (−0.25 decades of cost, a factor of 1.8).",
        ),
        (
            "Hangs on a reading",
            'Better is better: reproduced (+0.25 score), but read "another" (exploratory) opposite '
            "(−0.25). So does 1 more.",
        ),
    ]


def test_a_claim_without_readings_says_why_it_has_none():
    every = [one for claims in declared_claims().values() for one in claims]
    there = [one for one in every if not (one.withdrawn or is_denied(one.paper_effect))]
    assert [one.id for one in there if bool(one.readings) == bool(one.unread)] == []


def test_a_claim_that_is_not_as_it_was_published_says_why(boards):
    for line in (line for board in boards for line in board.lines if line.was):
        same = f"{line.verdict} {line.found.effect:+.3f} "
        assert line.why or line.was.startswith(same), line.claim


def test_minutes_of_readings_count_what_several_share_once():
    part = CLAIMS[0].parts[0]
    other = declared.otherwise(part, ["twice.n=3"])
    read = declared.Reading("read", "why", (other, part), n=4)
    claims = [dataclasses.replace(one, readings=(read,)) for one in CLAIMS[:2]]
    each = {part.artefact: {(part.dataset, part.scale): 9.0}}
    each[other.artefact] = {(part.dataset, part.scale): 0.5}
    assert storing.minutes_of(claims, each) == storing.minutes_of(claims[:1], each, "read") == 2.0
    assert storing.minutes_of(claims, each, "another") == 0.0


# --- the picture ----------------------------------------------------------------------------------


def test_the_interval_lies_on_an_axis_in_the_claims_unit(tmp_path):
    """The axis reaches from -δ, the lowest that is drawn, to the interval's end: 0.5 of score."""
    line = toy_board(tmp_path, BETTER).lines[0]
    picture = intervals.drawn(line)
    at = {value: f"{8 + (value + 0.1) / 0.5 * 224:.1f}" for value in (-0.1, 0.0, 0.1, 0.25, 0.4)}
    assert f'cx="{at[0.25]}" cy="13"' in picture
    assert f'd="M{at[0.1]} 13H{at[0.4]}' in picture
    assert f'x="{at[-0.1]}" y="2" width="{float(at[0.1]) - float(at[-0.1]):.1f}"' in picture
    assert picture.count('class="set"') == 1
    said = "Effect +0.25 score, on these data from +0.1 to +0.4; nearby +0.25; δ is 0.1"
    assert f'aria-label="{said}"' in picture


def test_no_interval_is_cut_off_and_that_for_new_data_stands_beside(tmp_path):
    line = toy_board(tmp_path, BETTER).lines[0]
    wide = line._replace(new=scoreboard.NOTHING._replace(effect=0.25, low=-9.0, high=9.0))
    picture = intervals.drawn(wide)
    assert 'class="interval new" d="M8.0 21H232.0"' in picture
    assert "for new data from −9 to +9" in picture


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
    took = scoreboard.minutes_taken(ROOT / "results", declared_claims())
    assert written.startswith(scoreboard.HEAD + took + scoreboard.as_markdown(boards)), MEND


def test_every_paper_has_a_line_and_at_most_twelve_claims(boards):
    assert [board.title for board in boards] == list(PAPERS.values())
    there = [
        line
        for board in boards
        for line in board.lines
        if line.verdict not in ("withdrawn", "denied by the paper's own table")
    ]
    assert max(Counter(line.claim.partition("-")[0] for line in there).values()) <= 12
    assert all(
        line.needs for board in boards for line in board.lines if line.verdict == "undecided"
    )


@pytest.mark.slow
def test_the_published_table_is_that_of_the_rows(tmp_path):
    """``primary_claims.csv`` is what the rows in ``results/primary`` say now."""
    results = ROOT / "results"
    if not (results / storing.TABLE).exists():
        pytest.skip("no preregistered claim is judged yet")
    for name in (storing.FOLDER, storing.PUBLISHED):
        (tmp_path / name).symlink_to(results / name)
    storing.write_table(tmp_path, declared_claims())
    before, now = (pd.read_csv(folder / storing.TABLE) for folder in (results, tmp_path))
    pd.testing.assert_frame_equal(before, now, rtol=1e-4), MEND
