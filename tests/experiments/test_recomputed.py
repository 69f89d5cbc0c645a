"""Every published claim computed another way: its effect, its interval, its note.

The computations are plain loops over the published files (``tests/recomputed/``), written from the
words of the papers' READMEs and of the claims; nothing of the suite is called. What is published
may change: nothing here counts claims or knows a number of them.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from experiments.adaptive_sampling_2014.show.paper_tables import SETS, TABLES
from tests.experiments import published_rows
from tests.experiments.published_rows import RESULTS, ROOT, lines, number, record
from tests.recomputed import intervals, registry, sampling

CLAIMS = "claims.csv"
WITH_CLAIMS = sorted(
    path.parent.name for path in RESULTS.glob(f"*/{CLAIMS}") if lines(path.parent.name, CLAIMS)
)

of_every_artefact = pytest.mark.parametrize("artefact", WITH_CLAIMS)


def printed_effect(artefact: str, claim: str) -> float:
    """Effect of the numbers that the paper prints; only that on adaptive sampling prints any."""
    for dataset, its in SETS.items():
        if artefact.removesuffix("-rules") == f"sampling-table{its.table}":
            return sampling.printed(claim, TABLES[dataset])
    return math.nan


def extent(data: dict) -> str:
    """What data are, from their record."""
    if data["kind"] != "real":
        return {"no data": "simulation", "simulation": "simulation"}.get(data["kind"], "synthetic")
    whole = data.get("missing", "nothing") == "nothing" and data.get("selection", "all") == "all"
    return "whole set" if whole else "part"


def recomputed(artefact: str, row: dict) -> tuple[str, list, intervals.Interval]:
    """Spread of a claim, its values, and what follows from them."""
    one = registry.recomputation(artefact, row["claim"])
    values, spread = one.values(row["claim"]), one.spread
    data = record(artefact)["data"][row["dataset"]]
    overlap = data.get("test_overlap") or 0.0 if one.tests else 0.0
    if spread == "crossed" and overlap < 1:  # each repetition has queries of its own
        spread, values = "units", [value for each in values for value in each]
    if spread == "trials":
        return spread, values, intervals.of_trials(values)
    if spread == "crossed":
        return spread, values, intervals.of_crossed(values)
    found = intervals.of_seeds(values, overlap if spread == "seeds" else 0.0)
    if spread == "units" and found.n >= intervals.FEWEST_FOR_BOOTSTRAP:
        ends = {name: number(row[name]) for name in ("low", "high")}  # of a bootstrap, as published
        assert ends["low"] < found.effect < ends["high"]
        found = found._replace(**ends)
    return spread, values, found


def same(one: float, other: float) -> bool:
    """Equal to the six digits that are published."""
    return one == pytest.approx(other, rel=1e-5, abs=1e-9, nan_ok=True)


def disagreements(artefact: str, row: dict) -> list[str]:
    """What of a published claim is not what comes out here."""
    spread, values, found = recomputed(artefact, row)
    paper = printed_effect(artefact, row["claim"])
    numbers = {**found._asdict(), "paper_effect": paper}
    del numbers["n"]  # which is exact
    wrong = [
        f"{name}: {row[name] or 'nothing'} published, {value} here"
        for name, value in numbers.items()
        if not same(number(row[name]), value)
    ]
    data = record(artefact)["data"][row["dataset"]]
    words = {
        "n": str(found.n),
        "data": data["kind"],
        "extent": extent(data),
        "note": intervals.notes(row, spread, values, paper),
    }
    wrong += [
        f"{name}: {row[name]} published, {value} here"
        for name, value in words.items()
        if row[name] != value
    ]
    return wrong


def test_there_are_claims():
    assert WITH_CLAIMS


def test_nothing_of_the_suite_recomputes():
    files = [*(ROOT / "tests" / "recomputed").glob("*.py"), Path(published_rows.__file__)]
    assert len(files) > 5
    pattern = re.compile(r"^\s*(?:from|import) (experiments|algorithms|reference)\b", re.MULTILINE)
    assert pattern.search("import math\nfrom experiments.curves import advantage\n")
    assert not [file.name for file in files if pattern.search(file.read_text(encoding="utf-8"))]


@of_every_artefact
def test_every_claim_has_a_recomputation(artefact):
    without = [
        row["claim"]
        for row in lines(artefact, CLAIMS)
        if registry.recomputation(artefact, row["claim"]) is None
    ]
    assert not without, (
        f"of {artefact} nothing recomputes {without}: see tests/recomputed/registry.py"
    )


@of_every_artefact
def test_every_effect_interval_and_note(artefact):
    rows = lines(artefact, CLAIMS)
    wrong = {row["claim"]: disagreements(artefact, row) for row in rows}
    assert not {claim: said for claim, said in wrong.items() if said}


# --- that it fires --------------------------------------------------------------------------------


def test_a_claim_that_nothing_recomputes_is_found():
    assert registry.recomputation("miser-figure2", "c-cheap-kept")
    assert registry.recomputation("miser-figure2", "c-something-new") is None
    assert registry.recomputation("a-new-artefact", "c-cheap-kept") is None


def test_a_claim_that_two_patterns_fit_is_found(monkeypatch):
    one = registry.Recomputation(list)
    monkeypatch.setitem(registry.PATTERNS, "toy", {"a.*": one, ".*b": one})
    assert registry.recomputation("toy", "a") is one
    assert registry.recomputation("toy", "ab") is None


@of_every_artefact
def test_a_changed_claim_is_noticed(artefact):
    row = next(row for row in lines(artefact, CLAIMS) if abs(number(row["effect"])) > 1e-4)
    for name, value in {"effect": 1.001 * float(row["effect"]), "n": int(row["n"]) + 1}.items():
        said = disagreements(artefact, {**row, name: str(value)})
        assert any(text.startswith(f"{name}:") for text in said)
    said = disagreements(artefact, {**row, "note": "true", "extent": "half of it"})
    assert [text.split(":")[0] for text in said] == ["extent", "note"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.1, 0.2, 0.3, 0.4, 0.5], ""),
        ([0.1, 0.2, 0.3, 0.4], "fewer than five repetitions"),
        ([0.1] * 5, "all 5 values are equal"),
        ([0.1], "one repetition"),
        ([math.nan] * 5, "no repetition has a value"),
        ([], "not run at this scale"),
    ],
)
def test_the_rule_of_notes(values, expected):
    for kind, own, before in (
        ("real", math.nan, ""),
        ("no data", 1.0, ""),
        ("synthetic", math.nan, "synthetic: contains what we built into it"),
        ("real", 0.0, "denied by the paper's own table"),
    ):
        said = intervals.notes({"data": kind}, "seeds", values, own)
        assert said == "; ".join(filter(None, [before, expected]))


def test_what_does_not_vary_makes_no_interval():
    found = intervals.of_seeds([0.1] * 6)
    assert (found.n, math.isnan(found.low)) == (6, True)
    # The textbook's: mean 2, standard error 1/√3, t = 4.303 at two degrees of freedom.
    plain, wider = (intervals.of_seeds([1.0, 2.0, 3.0], share) for share in (1.0, 0.5))
    assert plain.high - 2 == pytest.approx(4.3027 / math.sqrt(3), rel=1e-4)
    assert wider.high - 2 == pytest.approx(4.3027 * math.sqrt(1 / 3 + 1), rel=1e-4)
