"""What became of the 483 claims that had a verdict until November 2026: ``claims_before.csv``.

The file is its own source: which claim became what is written in it once; what that says now is
brought up to date from the scoreboard and the descriptions.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from datasets.sources.storage import write_atomically
from experiments.claims import shown_effect
from experiments.publishing.output import damaged
from experiments.publishing.tables import csv_bytes

FILE = "claims_before.csv"
COLUMNS = ("artefact", "claim", "verdict_before", "became", "now")
"""`became` is ``primary:<claim>``, ``described:<artefact>/<claim>`` or ``gone:<reason>``."""


def brought_up_to_date(
    before: pd.DataFrame,
    verdicts: Mapping[str, str],
    tables: Mapping[str, tuple[Mapping, pd.DataFrame]],
) -> pd.DataFrame:
    """Return the table with `now` as it is now."""
    known = {f"primary:{claim}": verdict for claim, verdict in verdicts.items()}
    for artefact_id, (_, table) in tables.items():
        for row in table.to_dict("records"):
            known[f"described:{artefact_id}/{row['claim']}"] = shown_effect(row)
    gone = before["became"].str.startswith("gone:")
    unknown = sorted(set(before.loc[~gone, "became"]) - set(known))
    if unknown:
        raise ValueError(f"there is no {', '.join(unknown)}")
    now = before["became"].map(lambda became: known.get(became, ""))
    return before.assign(now=now)[list(COLUMNS)]


def refresh(
    results: Path,
    verdicts: Mapping[str, str],
    tables: Mapping[str, tuple[Mapping, pd.DataFrame]],
) -> None:
    """Bring :data:`FILE` up to date, where there is one."""
    path = results / FILE
    if not path.exists():
        return
    before = pd.read_csv(path, dtype=str, keep_default_na=False)
    try:
        now = brought_up_to_date(before, verdicts, tables)
    except ValueError as error:
        raise damaged(results, f"{FILE}: {error}") from error
    write_atomically(path, csv_bytes(now))
