"""What docs/speed.md says of times is what was measured, and agrees with itself."""

import math
import re
from itertools import pairwise
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


def test_the_sentences_above_the_table_are_of_its_numbers():
    said = re.search(
        r"On normal data a tree takes (\S+) to (\S+) of LightGBM's time, and (\S+) to (\S+) of it "
        r"where features have prices. Prices make our own trees (\S+) to (\S+) times as dear. Time "
        r"grows at most as n\^(\S+) from each number of rows to the next \(goal 1.05(, missed)?"
        r"\)\. A whole fit takes (\S+) to (\S+) of LightGBM's time there, (\S+) on MiniBooNE, "
        r"(\S+) and (\S+) on Covertype\.",
        TEXT.replace("\n", " "),
    )
    of = (("normal data: a tree,", "LightGBM"), ("normal data: a tree with", "LightGBM, prices"),
          ("normal data: a tree with", "our own"), ("normal data: whole", "LightGBM"))  # fmt: skip
    tree, priced, dearer, whole = (
        [f"{bound(ratios(*one)):.2f}" for bound in (min, max)] for one in of
    )
    rows, times = today.curves(RUN)
    steps = pairwise(zip(rows, times["ours"], strict=True))
    growth = [math.log(t / s) / math.log(n / m) for (m, s), (n, t) in steps]
    missed = ", missed" if max(growth) > 1.05 else None
    real = [f"{ratio:.2f}" for ratio in ratios("(MiniBooNE|Covertype).*: whole", "LightGBM")]
    growth = (f"{max(growth):.2f}", missed)
    assert said.groups() == (*tree, *priced, *dearer, *growth, *whole, *real)


def ratios(what, peer):
    """Ours over a peer's, in the order of the table."""
    rows = [row for row in RUN.rows if re.match(what, f"{row.part}: {row.what}")]
    return [row.ratio for row in rows if row.peer == peer]


def test_the_page_is_short():
    words = [line for line in TEXT.splitlines() if not line.startswith("|")]
    assert len(" ".join(words).split()) <= 300
