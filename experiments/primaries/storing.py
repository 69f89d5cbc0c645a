"""Rows that primary claims are judged by: ``results/primary/<artefact>``, and the table of all.

Each data set has a file of its own, ``<dataset>.csv.gz``: rows of forty repetitions of several sets
are more than a file of a repository should hold.
"""

from __future__ import annotations

import gzip
import io
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.primaries.declared import Primary
from experiments.primaries.judging import COLUMNS, Runs, table
from experiments.publishing.output import csv_bytes, damaged, json_bytes, numbers, read_rows
from experiments.running.store import write_atomically

FOLDER = "primary"
TABLE = "primary_claims.csv"
_SECONDS = 120.0
"""Of one core in a minute of two."""

_OF_A_RUN = ("command", "scale", "seeds", "source_tree_sha256", "versions", "processor_model")


def add(results: Path, artefact_id: str, rows: pd.DataFrame, meta: Mapping[str, Any]) -> None:
    """Keep the rows of a run, in the place of those of the same data sets.

    Parameters
    ----------
    results : Path
    artefact_id : str
    rows : DataFrame
        With a column ``dataset``; sets that it lacks stay as they are kept.
    meta : Mapping
        Of this run. Of each set its own command, seeds, sources and ``cell_seconds``, the seconds
        that its cells took together, are recorded under ``sets``.

    Raises
    ------
    DamagedResults
        If what is kept cannot be read, or has other columns.
    """
    own = {name: meta[name] for name in _OF_A_RUN if name in meta}
    meta = dict(meta)
    seconds = meta.pop("cell_seconds")
    kept = {"sets": {name: {**own, "cell_seconds": seconds[name]} for name in meta["data"]}}
    folder = results / FOLDER / artefact_id
    if (before := read(results, [artefact_id]).get(artefact_id)) is not None:
        old_rows, old_meta = before
        if list(old_rows.columns) != list(rows.columns):
            raise damaged(folder, "the rows of other sets have other columns")
        kept["sets"] = old_meta["sets"] | kept["sets"]
        kept["data"] = old_meta["data"] | meta["data"]
        kept["seeds"] = sorted({*old_meta["seeds"], *meta["seeds"]})
    folder.mkdir(parents=True, exist_ok=True)
    for dataset, of_set in rows.groupby("dataset"):
        packed = gzip.compress(csv_bytes(of_set), mtime=0)
        write_atomically(_file(folder, dataset), packed)
    write_atomically(folder / "meta.json", json_bytes({**meta, **kept}))


def read(results: Path, artefact_ids: Sequence[str]) -> Runs:
    """Return what was run, for each artefact that was.

    Raises
    ------
    DamagedResults
        If a file is missing or cannot be read.
    """
    runs = {}
    for artefact_id in artefact_ids:
        folder = results / FOLDER / artefact_id
        if not folder.exists():
            continue
        try:
            meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
            sets = [_texts(_file(folder, dataset)) for dataset in sorted(meta["sets"])]
            rows = pd.concat(sets, ignore_index=True).apply(numbers)
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            raise damaged(folder, error) from error
        runs[artefact_id] = (rows, meta)
    return runs


def _file(folder: Path, dataset: str) -> Path:
    return folder / f"{dataset}.csv.gz"


def _texts(path: Path) -> pd.DataFrame:
    """Rows of a set as text, so that columns get their types from the rows of all sets."""
    text = gzip.decompress(path.read_bytes()).decode()
    return pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)


def repetitions(runs: Runs) -> dict[tuple[str, str, str], int]:
    """Return how many repetitions of an artefact's set at a scale are kept."""
    return {
        (artefact_id, dataset, one["scale"]): len(one["seeds"])
        for artefact_id, (_, meta) in runs.items()
        for dataset, one in meta["sets"].items()
    }


def measured(results: Path, artefact_ids: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return for each artefact the minutes that one repetition of each set took on 2 cores.

    Raises
    ------
    DamagedResults
        If what is kept of a run cannot be read.
    """
    found = {}
    for artefact_id in artefact_ids:
        path = results / FOLDER / artefact_id / "meta.json"
        if not path.exists():
            continue
        try:
            sets = json.loads(path.read_text(encoding="utf-8"))["sets"]
            found[artefact_id] = {
                name: one["cell_seconds"] / len(one["seeds"]) / _SECONDS
                for name, one in sets.items()
                if "cell_seconds" in one
            }
        except (OSError, ValueError, KeyError, TypeError, ZeroDivisionError) as error:
            raise damaged(path.parent, error) from error
    return found


def write_table(results: Path, declared: Mapping[str, Sequence[Primary]]) -> pd.DataFrame:
    """Judge the primary claims of all papers and write :data:`TABLE`.

    Parameters
    ----------
    results : Path
    declared : Mapping of str to sequence of Primary
        For each paper's short name its claims.

    Returns
    -------
    DataFrame
        See :data:`experiments.primaries.judging.COLUMNS`.
    """
    ids = {part.artefact for claims in declared.values() for one in claims for part in one.parts}
    runs = read(results, sorted(ids))
    tables = [table(claims, runs, paper) for paper, claims in declared.items()]
    judged = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=COLUMNS)
    write_atomically(results / TABLE, csv_bytes(judged))
    return judged


def read_table(results: Path) -> dict[str, dict[str, Any]]:
    """Return each judged claim of :data:`TABLE` by its id; none if there is no table.

    Raises
    ------
    DamagedResults
        If it cannot be read or has other columns.
    """
    path = results / TABLE
    if not path.exists():
        return {}
    try:
        table = read_rows(path)
    except ValueError as error:
        raise damaged(results, error) from error
    if tuple(table.columns) != COLUMNS:
        raise damaged(results, f"{TABLE} has other columns (python -m experiments redraw)")
    words = {name: table[name].map(_word) for name in ("of_sets", "needs")}
    return {row["claim"]: row for row in table.assign(**words).to_dict("records")}


def _word(read: str | float) -> str:
    """Text that may have been read as a number, or as none."""
    if isinstance(read, str):
        return read
    return "" if math.isnan(read) else f"{read:.6g}"
