"""What docs/speed.md says of the growth with the rows is what was measured and saved."""

from pathlib import Path

from benchmarks.scale import HEADER, markdown, picture, read

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_the_table_is_that_of_the_numbers():
    text = (DOCS / "speed.md").read_text(encoding="utf-8")
    table = markdown(read(DOCS / "scale.csv"))
    assert len(table) >= 4
    assert "\n".join([HEADER, "|" + "---|" * (HEADER.count("|") - 1), *table]) in text


def test_the_picture_is_that_of_the_numbers():
    assert (DOCS / "scale.svg").read_bytes() == picture(read(DOCS / "scale.csv"))


def test_ratios_are_those_of_the_columns():
    lines = read(DOCS / "scale.csv")
    for line, row in zip(lines, markdown(lines), strict=True):
        fields = [field.strip() for field in row.strip("|").split("|")]
        assert fields[0] == f"{line.rows:,}"
        assert fields[5] == f"{line.ours / line.lightgbm:.2f}"
        assert fields[3] == f"{line.prices / line.ours:.2f}"
