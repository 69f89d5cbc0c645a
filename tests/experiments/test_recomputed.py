"""The effect and the intervals of every published claim computed another way.

The computations are plain loops over the kept repetitions (``tests/recomputed/``), written from the
words of the papers' READMEs and of the claims; nothing of the suite is called.
"""

from __future__ import annotations

import math
import re
import statistics
from pathlib import Path

import pytest

from experiments.claims.declared import discover
from tests.experiments import published_rows
from tests.experiments.published_rows import ROOT, claims, fresh
from tests.recomputed import cegb, cronus, greedy_miser, intervals, mddag, sampling

EFFECTS = {
    claim: effect
    for paper in (cegb, cronus, greedy_miser, mddag, sampling)
    for claim, effect in paper.CLAIMS.items()
}
BESIDE = set(range(2_000))
"""Seeds of what is drawn beside repetitions; theirs are higher."""

DECLARED = {one.id: one for claims in discover().values() for one in claims}


def test_nothing_of_the_suite_recomputes():
    files = [*(ROOT / "tests" / "recomputed").glob("*.py"), Path(published_rows.__file__)]
    assert len(files) > 5
    pattern = re.compile(r"^\s*(?:from|import) (experiments|algorithms|reference)\b", re.MULTILINE)
    assert pattern.search("import math\nfrom experiments.curves import advantage\n")
    assert not [file.name for file in files if pattern.search(file.read_text(encoding="utf-8"))]


def test_every_claim_has_a_recomputation():
    assert set(EFFECTS) == set(DECLARED)


def effects_of(claim, parts, judged, variant="", weighted=True, both=False):
    """The effects on each set by some repetitions; a variant takes Laminating's place.

    Where nothing may be weighted, runs that multiply losses of negatives are left out. Where what
    is set is chosen, the claim's own runs of the same method are chosen from as well.
    """
    found = []
    for part, slice_ in zip(parts, judged, strict=True):
        rows = fresh(part.artefact, part.dataset)
        base = part.artefact.partition("@")[0]
        if base != part.artefact:  # only what is set was run: of other methods the claim's own
            run = {row["algorithm"] for row in rows}
            seeds = {row["seed"] for row in rows}
            theirs = [row for row in fresh(base, part.dataset) if row["seed"] in seeds]
            rows = [*rows, *(row for row in theirs if both or row["algorithm"] not in run)]
        there = sorted({int(row["seed"]) for row in rows} - BESIDE)
        others = {*there} - {*there[slice_]}
        rows = [row for row in rows if int(row["seed"]) not in others]
        if variant:
            others = [row for row in rows if row["algorithm"] not in ("laminating", variant)]
            mine = [row for row in rows if row["algorithm"] == variant]
            rows = [*others, *({**row, "algorithm": "laminating"} for row in mine)]
        if not weighted:
            rows = [row for row in rows if float(row["negative_weight"]) != 5]
        found.append(EFFECTS[claim](rows))
    return found


def compare(published, parts, found, prefix=""):
    """Hold a published effect and its interval against the effects on each set."""
    of_sets = [statistics.mean(intervals.means(effects)) for effects in found]
    effect, level = statistics.mean(of_sets), float(published["level"])
    assert float(published[f"{prefix}effect"]) == pytest.approx(effect, rel=1e-5)
    pairs = list(zip(found, parts, strict=True))
    errors = [intervals.here(effects, part.folds) for effects, part in pairs]
    ends = intervals.of_sets(effect, errors, level)
    assert _ends(published, prefix) == as_wide(*ends)
    if not prefix:
        errors = [intervals.elsewhere(e, part.folds, overlap(part)) for e, part in pairs]
        if None in errors:
            assert published["new_low"] == published["new_high"] == ""
        else:  # never narrower than on these data
            low, high = intervals.of_sets(effect, errors, level)
            low, high = min(low, ends[0]), max(high, ends[1])
            assert _ends(published, "new_") == as_wide(low, high)
    return of_sets


def _ends(published, prefix):
    return float(published[f"{prefix}low"]), float(published[f"{prefix}high"])


def as_wide(low, high):
    """Levels are published to six digits, by which an interval's width is known to four."""
    return pytest.approx((low, high), rel=1e-5, abs=1e-4 * (high - low))


def overlap(part):
    """The share of its test rows that a set's repetitions have in common."""
    record = published_rows.record(f"primary/{part.artefact}")
    return record["data"][part.dataset].get("test_overlap") or 0.0


@pytest.mark.slow
@pytest.mark.parametrize("claim", EFFECTS)
def test_effect_and_intervals_on_each_set_and_on_all(claim):
    published = claims(claim.partition("-")[0])[claim]
    is_due = "its rule was changed" in published["needs"]  # and no fresh repetition was made yet
    begin = 0 if is_due else DECLARED[claim].seen
    judged = slice(begin, begin + int(published["n"]))
    parts = DECLARED[claim].parts
    found = effects_of(claim, parts, [judged] * len(parts))
    of_sets = compare(published, parts, found)
    assert of_sets == pytest.approx([float(one) for one in published["of_sets"].split()], rel=1e-5)
    level = 1 - (1 - float(published["level"])) / len(parts)
    each = zip(found, parts, of_sets, strict=True)
    ends = [intervals.of_sets(mean, [intervals.here(e, p.folds)], level) for e, p, mean in each]
    lows, highs = ([*map(float, published[f"{end}_of_sets"].split())] for end in ("low", "high"))
    for said, (low, high) in zip(zip(lows, highs, strict=True), ends, strict=True):
        assert said == as_wide(low, high)


READINGS = {
    (line["claim"], line["reading"]): line
    for line in published_rows.lines(".", "primary_readings.csv")
}


@pytest.mark.slow
@pytest.mark.parametrize(("claim", "name"), READINGS)
def test_effect_and_intervals_of_each_reading(claim, name):
    published = READINGS[claim, name]
    (reading,) = (one for one in DECLARED[claim].readings if one.name == name)
    first = re.fullmatch(r"Q = (\d+) in Laminating", name)
    variant = f"laminating_{first[1]}" if first else ""
    weighted, both = name != "no class weights", name == "bins chosen in training"
    of_each = [int(n) for n in published["n"].split()]
    least = {False: reading.n, True: max(reading.n, 20)}  # four divisions in five folds
    assert of_each == [least[part.folds] for part in reading.parts]
    judged = [slice(n) for n in of_each]
    found = effects_of(claim, reading.parts, judged, variant, weighted, both)
    compare(published, reading.parts, found)
    if published["own_effect"]:  # the claim as it is, on the same repetitions
        parts = DECLARED[claim].parts
        judged = [slice(least[part.folds]) for part in parts]
        compare(published, parts, effects_of(claim, parts, judged), "own_")


SPOKEN_OF = {  # in δ, of a direction
    "reproduced": (1, math.inf),
    "right way, too small": (0, 1),
    "no effect (equivalent)": (-1, 1),
    "not better": (-math.inf, 1),
    "opposite": (-math.inf, 0),
}
OF_MARGINS = {"reproduced": (-1, math.inf), "opposite": (-math.inf, -1)}


@pytest.mark.parametrize("claim", EFFECTS)
def test_which_readings_contradict_a_claim(claim):
    published, kind = claims(claim.partition("-")[0])[claim], DECLARED[claim].kind
    spoken, found = SPOKEN_OF if kind == "direction" else OF_MARGINS, []
    if kind == "equivalence":
        spoken = {"reproduced": (-1, 1)}
    for (of, name), line in READINGS.items():
        verdicts = [line["verdict"], published["verdict"]]
        if of != claim or not {*verdicts} <= {*spoken, "mixed"}:
            continue
        ends = [
            [float(one[end]) / float(published["delta"]) for end in ("low", "high")]
            for one in (published, line)
        ]
        apart = len({*verdicts}) == 2 if "mixed" in verdicts else False
        for (low, high), verdict in zip(ends, verdicts, strict=True):
            least, most = spoken.get(verdict, (-math.inf, math.inf))
            apart |= "mixed" not in verdicts and (high <= least or low >= most)
        found += [name] * apart
    assert published["contradicted_by"].split("; ") == (found or [""])
