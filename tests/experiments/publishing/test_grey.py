"""Published rows of data that are not here: drawn in grey, never written, never published."""

from __future__ import annotations

import pytest
from matplotlib.text import Text

from datasets.registered import images_named
from experiments.data_kinds import PUBLISHED
from experiments.publishing import output
from experiments.registry import discover
from experiments.running.provenance import ROOT
from tests.experiments.pictures import unreadable

SHOWN = [a for a in discover() if (ROOT / "results" / a.id).exists() and a.committed_picture]
DATA = {a.id: list(output.read_meta(ROOT / "results" / a.id)["data"]) for a in SHOWN}
LACKING = [
    pytest.param(artefact, DATA[artefact.id][1:] or DATA[artefact.id], id=artefact.id)
    for artefact in SHOWN
    if DATA[artefact.id] not in (["simulation"], ["toy"])
]


@pytest.mark.slow
@pytest.mark.parametrize(("artefact", "absent"), LACKING)
def test_every_picture_is_drawn_of_what_is_not_here(artefact, absent):
    """The first of several data sets is here; what is drawn says what gets the others."""
    folder = ROOT / "results" / artefact.id
    rows, meta = output.read_published(folder)
    here = {name: record for name, record in meta["data"].items() if name not in absent}
    meta |= {"data": here, "absent": dict.fromkeys(absent, "allow access to it.")}
    rows = rows[rows["dataset"].isin(here)]
    rows, meta = output.with_published(artefact, rows, meta, folder)
    assert {name for name, r in meta["data"].items() if r["kind"] == PUBLISHED} == set(absent)
    drawn = said = output.rendered(artefact, rows, meta)
    if not isinstance(drawn, str):
        assert not unreadable(drawn)
        said = " ".join(text.get_text() for text in drawn.findobj(Text) if text.get_visible())
    assert all(f"data fetch {images_named(name)}" in said for name in absent)
