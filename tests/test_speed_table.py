"""What docs/speed.md and its history say of times is what was measured, and agrees with itself."""

import math
import re
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks import today
from benchmarks.scale import picture

DOCS = Path(__file__).resolve().parents[1] / "docs"
TEXT = (DOCS / "speed.md").read_text(encoding="utf-8")
HISTORY = (DOCS / "speed-history.md").read_text(encoding="utf-8")
RUN = today.read(DOCS / "speed.json")


def test_the_page_has_the_table_of_the_run():
    assert today.into(TEXT, RUN) == TEXT
    assert set(RUN.parts) == set(today.PARTS)


def test_the_picture_is_that_of_the_run():
    assert (DOCS / "scale.svg").read_bytes() == picture(*today.curves(RUN))


def test_the_table_divides_rightly():
    pattern = r"^\| ([^|]+) \| ([\d.]+) \S[^|]* \| ([^|]+) \| ([\d.]+) \S[^|]* \| ([\d.]+) \|"
    lines = re.findall(pattern, TEXT, re.M)
    assert len(lines) > 20
    for what, ours, peer, theirs, ratio in lines:
        half = [0.5 * 10.0 ** -len(text.partition(".")[2]) for text in (ours, theirs, ratio)]
        least = (float(ours) - half[0]) / (float(theirs) + half[1]) - half[2]
        most = (float(ours) + half[0]) / (float(theirs) - half[1]) + half[2]
        assert least <= float(ratio) <= most, (what, peer)


def test_the_sentences_above_the_table_are_of_its_numbers():
    said = re.search(
        r"A tree takes (\S+) to (\S+) of LightGBM's time, and (\S+) to (\S+) of it where "
        r"features have prices. Prices make our own trees (\S+) to (\S+) times as dear. A whole "
        r"fit takes (\S+) to (\S+) of LightGBM's time. Time grows at most as n\^(\S+) from each "
        r"number of rows to the next \(goal 1.05(, missed)?\)\.",
        TEXT.replace("\n", " "),
    )
    of = (("a tree,", "LightGBM"), ("a tree with", "LightGBM, prices"), ("a tree with", "our own"),
          ("whole", "LightGBM"))  # fmt: skip
    expected = []
    for what, peer in of:
        ratios = [row.ratio for row in RUN.rows if row.part == "normal data"
                  and row.what.startswith(what) and row.peer == peer]  # fmt: skip
        expected += [f"{bound(ratios):.2f}" for bound in (min, max)]
    rows, times = today.curves(RUN)
    steps = pairwise(zip(rows, times["ours"], strict=True))
    growth = [math.log(t / s) / math.log(n / m) for (m, s), (n, t) in steps]
    missed = ", missed" if max(growth) > 1.05 else None
    assert said.groups() == (*expected, f"{max(growth):.2f}", missed)


def test_the_page_is_short():
    words = [line for line in TEXT.splitlines() if not line.startswith("|")]
    assert len(" ".join(words).split()) <= 300


def test_what_prices_cost_is_said_of_the_table_of_peers():
    pattern = r"^\| ([^|]*) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| [\d.]+ \|$"
    lines = re.findall(pattern, HISTORY, re.M)
    assert len(lines) == 6
    for _, ours, theirs, ratio in lines:
        assert float(ours) / float(theirs) == pytest.approx(float(ratio), abs=0.01)
    blind, priced = ([float(line[1]) for line in lines[first::2]] for first in (0, 1))
    ratios = [with_prices / without for with_prices, without in zip(priced, blind, strict=True)]
    said = re.search(r"Costs make our own training (\S+)\s+to (\S+) times as long", HISTORY)
    assert said.groups() == (f"{min(ratios):.2f}", f"{max(ratios):.2f}")
