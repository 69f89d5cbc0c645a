"""The effect of every published claim computed another way.

The computations are plain loops over the kept repetitions (``tests/recomputed/``), written from the
words of the papers' READMEs and of the claims; nothing of the suite is called.
"""

from __future__ import annotations

import math
import re
import statistics
from pathlib import Path

import pytest

from experiments.primaries.declared import discover
from tests.experiments import published_rows
from tests.experiments.published_rows import ROOT, fresh, primaries
from tests.recomputed import cegb, cronus, greedy_miser, mddag, sampling

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


@pytest.mark.slow
@pytest.mark.parametrize("claim", EFFECTS)
def test_effect_on_each_set_and_on_all(claim):
    published, means = primaries(claim.partition("-")[0])[claim], []
    is_due = "its rule was changed" in published["needs"]  # and no fresh repetition was made yet
    begin = 0 if is_due else DECLARED[claim].seen
    judged = slice(begin, begin + int(published["n"]))
    for part in DECLARED[claim].parts:
        rows = fresh(part.artefact, part.dataset)
        there = sorted({int(row["seed"]) for row in rows} - BESIDE)
        others = {*there} - {*there[judged]}
        values = EFFECTS[claim]([row for row in rows if int(row["seed"]) not in others])
        known = [value for value in values if not math.isnan(value)]
        assert known
        means.append(statistics.mean(known))
    assert means == pytest.approx([float(one) for one in published["of_sets"].split()], rel=1e-5)
    assert float(published["effect"]) == pytest.approx(statistics.mean(means), rel=1e-5)
