"""docs/data.md says of each set what the set itself declares."""

import re

import pytest

import datasets
from tests.test_layers import ROOT

LINES = re.findall(
    r"^\| (`\w+`(?:, `\w+`)*) \| ([^|]*) \|",
    (ROOT / "docs" / "data.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


def declared(name):
    described = datasets.describe(name)
    return " ".join(str(described[key]) for key in ("title", "shape", "split_rule", "missing"))


def said(text):
    """Numbers of a cell; of images those of the whole set, which stand before a semicolon."""
    return re.findall(r"\d[\d,.]*\d|\d", text.partition(";")[0])


def in_millions(text):
    numbers = re.findall(r"\d[\d,]*", text)
    return [f"{int(number.replace(',', '')) / 1e6:.1f}" for number in numbers]


@pytest.mark.parametrize(("names", "text"), LINES)
def test_numbers_are_those_that_the_set_declares(names, text):
    spec = " ".join(map(declared, re.findall(r"\w+", names)))
    known = [*re.findall(r"\d[\d,.]*\d|\d", spec), *in_millions(spec)]
    if "million" not in text:
        known = known[: -len(in_millions(spec))]
    unknown = [number for number in said(text) if number not in known]
    assert unknown == []


def test_there_are_sets_to_look_at():
    assert len(LINES) >= 13
