"""What is published fits what the code says of it now; nothing is computed here."""

import functools

import pandas as pd
import pytest

from experiments.publishing import output
from experiments.registry import discover
from experiments.running.provenance import ROOT
from experiments.style import drawn_curves

RESULTS = ROOT / "results"
ARTEFACTS = discover()
PUBLISHED = [a for a in ARTEFACTS if (RESULTS / a.id / "meta.json").exists()]
MEND = "bring it up to date with: python -m experiments redraw"


@functools.cache
def published(artefact_id):
    """Rows and meta, read once for all tests."""
    return output.read_published(RESULTS / artefact_id)


def test_something_is_published():
    assert PUBLISHED


def test_no_file_is_more_than_a_repository_should_hold():
    large = [path for path in RESULTS.rglob("*") if path.is_file() and path.stat().st_size > 10**6]
    assert [path for path in large if "runs" not in path.relative_to(RESULTS).parts] == []


@pytest.mark.parametrize("artefact", PUBLISHED, ids=lambda a: a.id)
def test_meta_says_what_the_artefact_says(artefact):
    meta = output.read_meta(RESULTS / artefact.id)
    for name, value in output.provenance.describe_artefact(artefact).items():
        assert meta[name] == value, MEND


@pytest.mark.slow
@pytest.mark.parametrize(
    "artefact", [a for a in PUBLISHED if a.committed_picture], ids=lambda a: a.id
)
def test_curves_are_those_of_the_picture(artefact):
    drawn, path = output.rendered(artefact, *published(artefact.id)), RESULTS / artefact.id
    curves = pd.DataFrame() if isinstance(drawn, str) else drawn_curves(drawn)
    assert (path / "curves.csv").exists() == bool(len(curves)), MEND
    if len(curves):
        assert output.csv_bytes(curves) == (path / "curves.csv").read_bytes(), MEND
