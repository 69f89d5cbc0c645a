"""What is published fits what the code says of it now; nothing is computed here."""

import functools

import pandas as pd
import pytest

from experiments.cegb_2017 import extra_deviations
from experiments.claims import described
from experiments.publishing import output
from experiments.registry import discover
from experiments.running.provenance import ROOT

RESULTS = ROOT / "results"
ARTEFACTS = discover()
PUBLISHED = [a for a in ARTEFACTS if (RESULTS / a.id / "meta.json").exists()]
MEND = "bring it up to date with: python -m experiments redraw"


@functools.cache
def published(artefact_id):
    """Rows and meta, read once for all tests."""
    return output.read_published(RESULTS / artefact_id)


@functools.cache
def claims_now(artefact_id):
    """The claims of the rows as the code evaluates them today."""
    (artefact,) = (one for one in PUBLISHED if one.id == artefact_id)
    return output.evaluate_claims(artefact, *published(artefact_id))


def test_something_is_published():
    assert PUBLISHED


def test_no_file_is_more_than_a_repository_should_hold():
    large = [path for path in RESULTS.rglob("*") if path.is_file() and path.stat().st_size > 10**6]
    assert [path for path in large if "runs" not in path.relative_to(RESULTS).parts] == []


@pytest.mark.parametrize("artefact", PUBLISHED, ids=lambda a: a.id)
def test_claims_are_those_of_the_rows(artefact):
    now = claims_now(artefact.id)
    written = pd.read_csv(RESULTS / artefact.id / "claims.csv", keep_default_na=False)
    assert list(written["claim"]) == list(now["claim"]), MEND
    if now.empty:
        return
    for name in now.columns:
        if now[name].dtype.kind == "f":  # bootstrap and t quantiles may differ in the last digits
            assert pd.to_numeric(written[name]).to_numpy() == pytest.approx(
                now[name].to_numpy(), rel=1e-4, nan_ok=True
            ), MEND
        else:
            assert list(written[name]) == list(now[name]), MEND


@pytest.mark.parametrize("artefact", PUBLISHED, ids=lambda a: a.id)
def test_meta_says_what_the_artefact_says(artefact):
    _, meta = published(artefact.id)
    for name, value in output.provenance.describe_artefact(artefact).items():
        assert meta[name] == value, MEND


def test_descriptions_are_up_to_date():
    tables = {one.id: (published(one.id)[1], claims_now(one.id)) for one in PUBLISHED}
    written = (RESULTS / "claims.md").read_text(encoding="utf-8")
    written = (
        written.partition("# Everything else, described")[2].partition("\n###")[2].splitlines()
    )
    now = described(tables).partition("\n###")[2].splitlines()
    # Sentences and notes to the letter; the digits of intervals are held by claims.csv.
    assert [line.split("|")[1:3] for line in written] == [line.split("|")[1:3] for line in now]


@pytest.mark.parametrize("artefact", PUBLISHED, ids=lambda a: a.id)
def test_words_for_who_cannot_see_it(artefact):
    rows, meta = published(artefact.id)
    text = artefact.alt(rows, meta)
    assert 40 < len(text) < 2000
    assert "nan" not in text.lower().split()


# --- numbers in the paper's README ---------------------------------------------------------------

CEGB = (ROOT / "experiments" / "cegb_2017" / "README.md").read_text(encoding="utf-8")


def published_rows(artefact_id):
    return published(artefact_id)[0]


@pytest.mark.parametrize(
    ("variant", "panel", "tradeoff", "column", "form"),
    [
        ("all_splits", "a'", 3e-4, "cost", "{:.2f} ± {:.2f}"),
        ("all_splits", "a'", 3e-3, "cost", "{:.1f} ± {:.1f}"),
        ("all_splits", "d", 1e-1, "score", "{:.3f} ± {:.3f}"),
        ("start_at_zero", "c", 1e-2, "score", "{:.4f} ± {:.4f}"),
        ("start_at_zero", "d", 1e-2, "score", "{:.3f} ± {:.3f}"),
        ("exact", "c", 0.0, "score", "{:.4f} ± {:.4f}"),
        ("exact", "d", 0.0, "score", "{:+.4f} ± {:.4f}"),
        ("exact", "a'", 0.0, "score", "{:.3f} ± {:.3f}"),
        ("fewer_rows", "c", 1e-2, "score", "{:.4f} ± {:.4f}"),
        ("fewer_rows", "c", 1e-2, "cost", "{:.2f} ± {:.2f}"),
    ],
)
def test_effects_of_the_deviations(variant, panel, tradeoff, column, form):
    rows = published_rows("cegb-deviations")
    (change,) = (c for c in extra_deviations.CHANGES if c.variant == variant)
    values = extra_deviations.effects(rows, change, panel, tradeoff)[column]
    assert form.format(values.mean(), values.std(ddof=1)) in CEGB
