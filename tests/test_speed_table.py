"""What docs/speed.md and its history say of times is what was measured, and agrees with itself."""

import math
import re
from pathlib import Path

import pytest

from benchmarks.scale import TITLES, markdown, picture, read

DOCS = Path(__file__).resolve().parents[1] / "docs"
TEXT = (DOCS / "speed.md").read_text(encoding="utf-8")
HISTORY = (DOCS / "speed-history.md").read_text(encoding="utf-8")
TABLE = read(DOCS / "scale.csv")


def column(title):
    return [float(row[TITLES.index(title)].replace(",", "") or "nan") for row in TABLE]


def about(one, other, digits):
    """A quotient of numbers that were rounded to some digits after the point, at its bounds."""
    half = 0.5 * 10.0**-digits
    return (one - half) / (other + half), (one + half) / (other - half)


def test_the_table_is_that_of_the_numbers():
    assert len(TABLE) >= 4
    assert "\n".join(markdown(TABLE)) in TEXT


def test_the_picture_is_that_of_the_numbers():
    assert (DOCS / "scale.svg").read_bytes() == picture(TABLE)


def test_ratios_are_those_of_the_columns():
    ours, rows = column("ours, ms a tree"), column("rows")
    for one, other, said in zip(ours, column("LightGBM"), column("ours / LightGBM"), strict=True):
        least, most = about(one, other, 1)
        assert least - 0.005 <= said <= most + 0.005
    for i, said in enumerate(column("exponent")[1:], 1):
        growth = math.log(rows[i] / rows[i - 1])
        least, most = (math.log(q) / growth for q in about(ours[i], ours[i - 1], 1))
        assert least - 0.005 <= said <= most + 0.005


def test_the_sentences_above_the_table_are_of_its_numbers():
    said = re.search(
        r"Training takes (\S+) to (\S+) of LightGBM's time, and (\S+) to (\S+) of it where "
        r"features have prices. Prices make our own training (\S+) to (\S+) times as long",
        TEXT.replace("\n", " "),
    )
    of = ("ours / LightGBM", "prices / LightGBM's", "prices / ours")
    expected = [bound(column(title)) for title in of for bound in (min, max)]
    assert list(map(float, said.groups())) == expected
    assert max(column("exponent")[1:]) <= 1.05
    assert "at most as n^1.05 from" in TEXT


def test_the_page_is_short():
    assert len(TEXT.split()) <= 450


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
