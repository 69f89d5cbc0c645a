"""Pictures and tables of what is published, drawn anew; the tests of all papers use it."""

import pytest
from matplotlib.text import Text

from experiments.data_kinds import SYNTHETIC
from experiments.publishing import output
from experiments.running.provenance import ROOT
from tests.experiments.pictures import unreadable


def published(artefacts, slow=()):
    """Give those artefacts of a paper that have a published picture or table."""
    shown = [one for one in artefacts if (ROOT / "results" / one.id / "meta.json").exists()]
    return [
        pytest.param(one, id=one.id, marks=[pytest.mark.slow] * (one.id in slow))
        for one in shown
        if one.committed_picture
    ]


def check_drawn(artefact, stamped=True):
    """Draw an artefact as if its last data set were synthetic; give the picture and its words.

    Everything can be read. Of that set it is said that it is synthetic, in words and by a stamp in
    a picture's panels; of others in a picture that they are real.
    """
    rows, meta = output.read_published(ROOT / "results" / artefact.id)
    *others, last = meta["data"].values()
    if invented := last["kind"] == "real":
        last["kind"] = SYNTHETIC
    drawn = words = output.rendered(artefact, rows, meta)
    stamps = 0
    if not isinstance(drawn, str):
        assert unreadable(drawn) == []
        said = [text.get_text() for text in drawn.findobj(Text) if text.get_visible()]
        stamps, words = said.count("SYNTHETIC"), "\n".join(said)
        assert "real" in words or not others
        assert (stamps > 0) == (invented and stamped)
    assert (words.count("SYNTHETIC") > stamps) == invented
    return drawn, words
