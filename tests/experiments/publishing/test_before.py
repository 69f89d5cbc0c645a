"""What became of each claim that once had a verdict."""

from __future__ import annotations

import pandas as pd
import pytest

from experiments.primaries.declared import discover as declared_claims
from experiments.publishing import before, output, scoreboard
from experiments.registry import discover
from experiments.running.provenance import ROOT

RESULTS = ROOT / "results"


def written() -> pd.DataFrame:
    return pd.read_csv(RESULTS / before.FILE, dtype=str, keep_default_na=False)


def test_every_claim_of_before_is_there_once():
    table = written()
    assert tuple(table.columns) == before.COLUMNS
    assert len(table) == 483
    assert not table.duplicated(["artefact", "claim"]).any()
    assert table["verdict_before"].value_counts().to_dict()["inconclusive"] == 261
    assert set(table["became"].str.split(":").str[0]) == {"primary", "described", "gone"}
    assert (RESULTS / before.FILE).stat().st_size < 150_000


def test_what_they_became_is_what_is_published_now():
    tables = {}
    for artefact in discover():
        path = RESULTS / artefact.id / "claims.csv"
        if path.exists():
            tables[artefact.id] = ({}, output.read_rows(path))
    boards = scoreboard.boards(RESULTS, declared_claims(), discover())
    verdicts = {line.claim: line.verdict for board in boards for line in board.lines}
    now = before.brought_up_to_date(written(), verdicts, tables)
    pd.testing.assert_frame_equal(now, written())


def test_what_there_is_not_is_refused():
    table = pd.DataFrame({"artefact": ["a"], "claim": ["c"], "verdict_before": ["x"]})
    with pytest.raises(ValueError, match="there is no primary:gone-again"):
        before.brought_up_to_date(table.assign(became="primary:gone-again"), {}, {})
    gone = before.brought_up_to_date(table.assign(became="gone:a reason"), {}, {})
    assert gone["now"].tolist() == [""]
