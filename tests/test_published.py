"""What is published fits what the code says of it now; nothing is computed here."""

import pandas as pd
import pytest

from experiments import output
from experiments.claims import scoreboard, summary
from experiments.provenance import ROOT
from experiments.registry import discover

RESULTS = ROOT / "results"
ARTEFACTS = discover()
PUBLISHED = [a for a in ARTEFACTS if (RESULTS / a.id / "meta.json").exists()]
MEND = "bring it up to date with: python -m experiments redraw"


def test_something_is_published():
    assert PUBLISHED


@pytest.mark.parametrize("artefact", PUBLISHED, ids=lambda a: a.id)
def test_claims_are_those_of_the_rows(artefact):
    rows, meta = output.read_published(RESULTS / artefact.id)
    now = output.evaluate_claims(artefact, rows, meta)
    written = pd.read_csv(RESULTS / artefact.id / "claims.csv")
    assert list(written["claim"]) == list(now["claim"]), MEND
    if now.empty:
        return
    for name in now.columns:
        if now[name].dtype.kind == "f":  # bootstrap and t quantiles may differ in the last digits
            assert written[name].to_numpy() == pytest.approx(
                now[name].to_numpy(), rel=1e-4, nan_ok=True
            ), MEND
        else:
            assert list(written[name]) == list(now[name]), MEND


@pytest.mark.parametrize("artefact", PUBLISHED, ids=lambda a: a.id)
def test_meta_says_what_the_artefact_says(artefact):
    _, meta = output.read_published(RESULTS / artefact.id)
    for name, value in output.provenance.describe_artefact(artefact).items():
        assert meta[name] == value, MEND


def test_scoreboards_are_up_to_date():
    tables = output.published_claims(RESULTS, ARTEFACTS)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "<!-- scoreboard -->" in readme
    assert output.with_summary(readme, summary(tables)) == readme, MEND
    written = (RESULTS / "claims.md").read_text(encoding="utf-8").splitlines()
    now = scoreboard(tables).splitlines()
    # Verdicts and sentences to the letter; the digits of intervals are held by claims.csv.
    assert [line.split("|")[1:4] for line in written] == [line.split("|")[1:4] for line in now]


@pytest.mark.parametrize("artefact", PUBLISHED, ids=lambda a: a.id)
def test_words_for_who_cannot_see_it(artefact):
    rows, meta = output.read_published(RESULTS / artefact.id)
    text = artefact.alt(rows, meta)
    assert 40 < len(text) < 2000
    assert "nan" not in text.lower().split()


def test_summary_goes_between_its_markers_only():
    text = "before\n<!-- scoreboard -->\nold\n<!-- end of scoreboard -->\nafter\n"
    new = output.with_summary(text, "new\n")
    assert new == "before\n<!-- scoreboard -->\nnew\n<!-- end of scoreboard -->\nafter\n"
    assert output.with_summary(new, "new\n") == new
    assert output.with_summary("no markers\n", "new\n") == "no markers\n"
    half = "<!-- scoreboard -->\nkeep me\n"
    assert output.with_summary(half, "new\n") == half
