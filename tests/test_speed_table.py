"""What docs/speed.md says of times is what was measured, and agrees with itself."""

import re
from pathlib import Path

from benchmarks import peers, today

DOCS = Path(__file__).resolve().parents[1] / "docs"
TEXT = (DOCS / "speed.md").read_text(encoding="utf-8")
RUN = today.read(DOCS / "speed.json")


def test_the_page_has_the_table_of_the_run():
    assert today.into(TEXT, RUN) == TEXT
    assert set(RUN.parts) == set(peers.CASES)


def test_the_picture_is_that_of_the_run():
    assert (DOCS / "scale.svg").read_bytes() == today.picture(RUN)


def test_the_table_divides_rightly():
    pattern = r"^\| ([^|]+) \| ([\d.]+) \S[^|]* \| ([^|]+) \| ([\d.]+) \S[^|]* \| ([\d.]+) \|"
    lines = re.findall(pattern, TEXT, re.M)
    assert len(lines) > 20
    for what, ours, peer, theirs, ratio in lines:
        half = [0.5 * 10.0 ** -len(text.partition(".")[2]) for text in (ours, theirs, ratio)]
        least = (float(ours) - half[0]) / (float(theirs) + half[1]) - half[2]
        most = (float(ours) + half[0]) / (float(theirs) - half[1]) + half[2]
        assert least <= float(ratio) <= most, (what, peer)
