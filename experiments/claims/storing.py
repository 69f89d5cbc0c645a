"""Rows that claims are judged by: ``results/primary/<artefact>``, and the table of all.

Each data set has a file of its own, ``<dataset>.csv.xz``: rows of forty repetitions of several sets
are more than a file of a repository should hold.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from datasets.sources.storage import write_atomically
from experiments.artefact import Artefact
from experiments.claims.confirming import Minutes
from experiments.claims.declared import AS_SET, Claim, every_part
from experiments.claims.judging import Runs, judge_all
from experiments.claims.lines import COLUMNS, readings_of, table
from experiments.publishing.check import compare
from experiments.publishing.output import (
    DamagedResults,
    damaged,
    json_bytes,
    read_cell_times,
    read_meta,
)
from experiments.publishing.tables import content_of, csv_bytes, numbers, packed, read_rows

FOLDER = "primary"
TABLE = "primary_claims.csv"
READINGS = "primary_readings.csv"
"""What readings of claims say, of those that were run."""

PUBLISHED = "published_claims.csv"
"""Claims and verdicts as they were published on 2026-11-28, before the rules of intervals changed:
they stay readable beside those of :data:`TABLE`. The file is never written again."""
_SECONDS = 120.0
"""Of one core in a minute of two."""

_OF_A_RUN = (
    *("command", "scale", "source_tree_sha256", "versions"),
    *("python", "system", "processor", "processor_model"),
)
_SAME_BITS = ("versions", "python", "system", "processor")
"""Where these are the same, every bit of a row is."""


class Made(NamedTuple):
    """Repetitions of one data set, as a run made them."""

    rows: pd.DataFrame  # With a column ``seed``
    meta: Mapping[str, Any]  # Of the run
    seconds: float  # What their cells took together


def add(results: Path, artefact_id: str, dataset: str, made: Made) -> None:
    """Keep the repetitions of a set, in the place of those that are kept of it.

    Parameters
    ----------
    results : Path
    artefact_id, dataset : str
    made : Made
        Its command, seeds, sources and ``cell_seconds``, which its cells took together, are
        recorded under ``sets``. Other sets stay as they are kept.

    Raises
    ------
    DamagedResults
        If what is kept cannot be read, or has other columns.
    """
    _write(results, artefact_id, dataset, _as_texts(made.rows), made.meta, _of_run(made))


def extend(results: Path, artefact: Artefact, dataset: str, made: Made) -> str:
    """Keep further repetitions of a set beside those that are kept, if these still come out alike.

    Parameters
    ----------
    results : Path
    artefact : Artefact
    dataset : str
    made : Made
        Further repetitions, and with them one or more of those that are kept. With the same
        processor, system and versions these must have the same bits; elsewhere they may differ as
        ``check`` allows.

    Returns
    -------
    str
        What differs, and then nothing is written; empty if all is well.

    Raises
    ------
    DamagedResults
        If what is kept cannot be read.
    """
    _, meta = read(results, [artefact.id])[artefact.id]
    kept, now = _texts(_file(results / FOLDER / artefact.id, dataset)), _as_texts(made.rows)
    of_set, record, fresh = meta["sets"][dataset], meta["data"][dataset], made.meta["data"][dataset]
    seeds = sorted({*of_set["seeds"]} & {*_seeds(made.rows)})
    same = all((meta | of_set).get(name) == made.meta[name] for name in _SAME_BITS)
    again = [table[table["seed"].map(int).isin(seeds)] for table in (kept, now)]
    differs = _other_data(record, fresh, seeds) or _other_rows(artefact, *again, exactly=same)
    if differs:
        return differs
    new = now.drop(index=again[1].index)
    order = pd.concat([kept, new], ignore_index=True)
    keys = order[artefact.row_keys()].apply(numbers)
    rows = order.loc[keys.sort_values(artefact.row_keys(), kind="stable").index]
    before = {name: of_set[name] for name in (*_OF_A_RUN, "seeds") if name in of_set}
    joined = {
        **_of_run(made),
        "seeds": sorted({*of_set["seeds"], *_seeds(made.rows)}),
        "made_again": seeds,
        "earlier": [*of_set.get("earlier", []), before],
    }
    draws = {
        name: {**record[name], **fresh.get(name, {})}
        for name in ("checksums", "other_draws")
        if name in record
    }
    data = {**made.meta["data"], dataset: {**record, **draws}}
    _write(results, artefact.id, dataset, rows, {**made.meta, "data": data}, joined)
    return ""


def _other_data(kept: Mapping[str, Any], now: Mapping[str, Any], seeds: Sequence[int]) -> str:
    """Say whether the data are others than those of the kept repetitions."""
    if any(kept["checksums"][str(seed)] != now["checksums"][str(seed)] for seed in seeds):
        return "its data have another checksum"
    return ""


def _other_rows(artefact: Artefact, kept: pd.DataFrame, now: pd.DataFrame, *, exactly: bool) -> str:
    """Say how rows of the same repetitions, as text, differ; times are not compared."""
    timed = list(artefact.timing_columns)
    tables = [table.drop(columns=timed, errors="ignore") for table in (kept, now)]
    if list(tables[0].columns) != list(tables[1].columns):
        return "there are other columns"
    columns, problems = compare(artefact, *(table.apply(numbers) for table in tables))
    problems += [
        f"{one.column} was {one.expected:g} and is {one.now:g}, {one.where}"
        for one in columns
        if not one.passed
    ]
    first, second = (table.reset_index(drop=True) for table in tables)
    if exactly and not problems and not first.equals(second):
        return "rows have other bits, though processor and versions are the same"
    return next(iter(problems), "")


def _of_run(made: Made) -> dict[str, Any]:
    """What a set's own record says of a run; its seconds are those of as many repetitions."""
    of_run = {name: made.meta[name] for name in _OF_A_RUN if name in made.meta}
    seeds = _seeds(made.rows)
    took = {"cell_seconds": made.seconds, "timed_repetitions": len(seeds)}
    return {**of_run, "seeds": seeds, **took}


def _seeds(rows: pd.DataFrame) -> list[int]:
    return sorted({int(seed) for seed in rows["seed"]})


def _as_texts(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows as they are read back."""
    return pd.read_csv(io.BytesIO(csv_bytes(rows)), dtype=str, keep_default_na=False)


def _write(
    results: Path,
    artefact_id: str,
    dataset: str,
    rows: pd.DataFrame,
    meta: Mapping[str, Any],
    of_set: Mapping[str, Any],
) -> None:
    """Write a set's rows, and ``meta.json`` with what is kept of the others."""
    folder, kept = results / FOLDER / artefact_id, {"sets": {dataset: of_set}}
    if (before := read(results, [artefact_id]).get(artefact_id)) is not None:
        _, old_meta = before
        for other in old_meta["sets"].keys() - {dataset}:
            if list(_texts(_file(folder, other)).columns) != list(rows.columns):
                raise damaged(folder, "the rows of other sets have other columns")
        kept["sets"] = old_meta["sets"] | kept["sets"]
        kept["data"] = old_meta["data"] | meta["data"]
    kept["seeds"] = sorted({seed for one in kept["sets"].values() for seed in one["seeds"]})
    folder.mkdir(parents=True, exist_ok=True)
    short = _with_short_times(rows, meta.get("timing_columns", ()))
    write_atomically(_file(folder, dataset), packed(csv_bytes(short)))
    described = {name: value for name, value in meta.items() if name != "chosen"}
    write_atomically(folder / "meta.json", json_bytes({**described, **kept}))


def _with_short_times(rows: pd.DataFrame, timed: Sequence[str]) -> pd.DataFrame:
    """Round times to six digits: those behind are chance, and were a quarter of a file."""
    return rows.assign(
        **{name: [text and f"{float(text):.6g}" for text in rows[name]] for name in timed}
    )


def read(results: Path, artefact_ids: Sequence[str]) -> Runs:
    """Return what was run, for each artefact that was."""
    runs = {}
    for artefact_id in artefact_ids:
        folder = results / FOLDER / artefact_id
        if not folder.exists():
            continue
        try:
            meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
            sets = [_texts(_file(folder, dataset)) for dataset in sorted(meta["sets"])]
            rows = pd.concat(sets, ignore_index=True).apply(numbers)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise damaged(folder, error) from error
        runs[artefact_id] = (rows, meta)
    return runs


def _file(folder: Path, dataset: str) -> Path:
    return folder / f"{dataset}.csv.xz"


def _texts(path: Path) -> pd.DataFrame:
    """Rows of a set as text, so that columns get their types from the rows of all sets."""
    text = content_of(path).decode()
    return pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)


def repetitions(runs: Runs) -> dict[tuple[str, str, str], int]:
    """Return how many repetitions of an artefact's set at a scale are kept."""
    found: dict[tuple[str, str, str], int] = {}
    for artefact_id, (_, meta) in runs.items():
        found |= _repetitions_of(artefact_id, meta)
    return found


def _repetitions_of(artefact_id: str, meta: Mapping[str, Any]) -> dict[tuple[str, str, str], int]:
    return {
        (artefact_id, dataset, one["scale"]): len(one["seeds"])
        for dataset, one in meta["sets"].items()
    }


def kept_repetitions(results: Path, artefact_ids: Sequence[str]) -> dict[tuple[str, str, str], int]:
    """Return what :func:`repetitions` does, without reading the rows."""
    found: dict[tuple[str, str, str], int] = {}
    for artefact_id in artefact_ids:
        folder = results / FOLDER / artefact_id
        if not (folder / "meta.json").exists():
            continue
        try:
            meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
            found |= _repetitions_of(artefact_id, meta)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise damaged(folder, error) from error
    return found


def measured(results: Path, artefact_ids: Sequence[str]) -> dict[str, Minutes]:
    """Return for each artefact the minutes that one repetition of a set took on 2 cores.

    They are those of the kept repetitions, and where there are none those of the published run.

    Returns
    -------
    dict
        By artefact, and then by set and scale.

    Raises
    ------
    DamagedResults
        If what is kept of a run cannot be read.
    """
    found = {}
    for artefact_id in artefact_ids:
        known: dict[tuple[str, str], float] = {}
        for folder, read_minutes in (
            (results / artefact_id, _minutes_of_cells),
            (results / FOLDER / artefact_id, _minutes_of_sets),
        ):
            if not (folder / "meta.json").exists():
                continue
            try:
                known |= read_minutes(folder)
            except DamagedResults:  # it is said already which file
                raise
            except (OSError, ValueError, KeyError, TypeError, ZeroDivisionError) as error:
                raise damaged(folder, error) from error
        if known:
            found[artefact_id] = known
    return found


def _minutes_of_cells(folder: Path) -> Minutes:
    """Minutes of a repetition by what the cells of a published run took."""
    scale = read_meta(folder)["scale"]
    return {
        (str(name), scale): float(cells["seconds"].sum()) / cells["seed"].nunique() / _SECONDS
        for name, cells in read_cell_times(folder).groupby("dataset")
    }


def _minutes_of_sets(folder: Path) -> Minutes:
    """Minutes of a repetition by what was recorded of the kept ones."""
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    return {
        (name, one.get("scale", meta.get("scale"))): one["cell_seconds"]
        / one.get("timed_repetitions", len(one["seeds"]))
        / _SECONDS
        for name, one in meta["sets"].items()
        if "cell_seconds" in one
    }


def write_table(results: Path, declared: Mapping[str, Sequence[Claim]]) -> pd.DataFrame:
    """Judge the preregistered claims of all papers and write :data:`TABLE`."""
    every = (part for claims in declared.values() for one in claims for part in every_part(one))
    ids = {part.artefact for part in every}
    runs = read(results, sorted(ids))
    before = published_verdicts(results)
    judged = {paper: judge_all(claims, runs, before) for paper, claims in declared.items()}
    tables = [table(claims, paper) for paper, claims in judged.items()]
    every_line = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=COLUMNS)
    write_atomically(results / TABLE, csv_bytes(every_line))
    known = measured(results, sorted(ids))
    read_as = [
        line | {"minutes": round(minutes_of([one.claim], known, line["reading"]), 1)}
        for claims in judged.values()
        for one in claims
        for line in readings_of(one)
    ]
    if read_as:
        write_atomically(results / READINGS, csv_bytes(pd.DataFrame(read_as)))
    return every_line


def minutes_of(
    claims: Iterable[Claim], measured: Mapping[str, Minutes], reading: str = ""
) -> float:
    """Return the minutes on 2 cores of runs that were made for readings alone, or for one of them.

    What several share counts once.
    """
    took = {}
    for read in (read for one in claims for read in one.readings if reading in ("", read.name)):
        for part in (part for part in read.parts if AS_SET in part.artefact):
            each = measured.get(part.artefact, {}).get((part.dataset, part.scale), 0.0)
            key = (part.artefact, part.dataset)
            took[key] = max(took.get(key, 0.0), each * read.n_of(part))
    return sum(took.values())


def read_readings(results: Path) -> list[dict[str, Any]]:
    """Return the readings that were run, a dict each, as :data:`READINGS` has them."""
    path = results / READINGS
    return read_rows(path).to_dict("records") if path.exists() else []


def published(results: Path) -> dict[str, dict[str, Any]]:
    """Return the lines of :data:`PUBLISHED` by claim; none if there is no such file."""
    path = results / PUBLISHED
    lines = read_rows(path).to_dict("records") if path.exists() else []
    return {line["claim"]: line for line in lines}


def published_verdicts(results: Path) -> dict[str, str]:
    """Return the verdicts of :func:`published`."""
    return {claim: line["verdict"] for claim, line in published(results).items()}


def read_table(results: Path) -> dict[str, dict[str, Any]]:
    """Return each judged claim of :data:`TABLE` by its id; none if there is no table."""
    path = results / TABLE
    if not path.exists():
        return {}
    try:
        table = read_rows(path)
    except ValueError as error:
        raise damaged(results, error) from error
    if tuple(table.columns) != COLUMNS:
        raise damaged(results, f"{TABLE} has other columns (python -m experiments redraw)")
    words = {name: table[name].map(_word) for name in _WORDS}
    return {row["claim"]: row for row in table.assign(**words).to_dict("records")}


_WORDS = (
    *("of_sets", "low_of_sets", "high_of_sets", "none_as_good", "needs"),
    *("carries_over", "readings", "contradicted_by", "robust", "marks"),
)
"""Columns that may read as numbers, or as none, and are words."""


def _word(read: str | float) -> str:
    """Text that may have been read as a number, or as none."""
    if isinstance(read, str):
        return read
    return "" if math.isnan(read) else f"{read:.6g}"
