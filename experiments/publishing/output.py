"""Writes what a run produced, compares it with what is published, and publishes it."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from datasets.sources.storage import write_atomically
from experiments import setting
from experiments.artefact import Artefact
from experiments.data_kinds import PUBLISHED, in_words, is_synthetic
from experiments.publishing import beside, gaps
from experiments.publishing.tables import content_of, csv_bytes, path_of, read_rows, write_table
from experiments.registry import short_name
from experiments.running import provenance
from experiments.running.run import Result
from experiments.style import drawn_curves, house_style, not_recomputed, picture_bytes

PICTURES = ("svg", "png")
"""Formats in which figures are published."""

NEEDED = {
    "command": str,
    "data": dict,
    "processor": str,
    "processor_model": str,
    "python": str,
    "scale": str,
    "seeds": list,
    "source_tree_sha256": str,
    "system": str,
    "title": str,
    "versions": dict,
}
"""What ``meta.json`` of a run must say, and of which type."""
_OF_DATA = ("kind", "source", "rows", "n_features", "cost_unit", "cost_origin", "checksums")


class DamagedResults(ValueError):
    """Results on disk that cannot be read."""


def json_bytes(meta: Mapping[str, Any]) -> bytes:
    """Return provenance as JSON that people can read."""
    return (json.dumps(meta, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def write_run(
    folder: Path,
    artefact: Artefact,
    result: Result,
    meta: Mapping[str, Any],
    kinds: Sequence[str] = PICTURES,
    published: Path | None = None,
) -> None:
    """Write rows, times, pictures or table and provenance of a run."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = result.rows.drop(columns=list(artefact.timing_columns))
    settings = meta.get("set")
    rows = csv_bytes(setting.marked(kept, settings) if settings else kept)
    meta = {**meta, "rows_sha256": _sha256(rows)}
    write_atomically(folder / "rows.csv", rows)
    write_atomically(folder / "timings.csv", csv_bytes(result.timings))
    write_atomically(folder / "meta.json", json_bytes(meta))
    if settings and meta["data"]:
        draw(folder, artefact, result.rows, meta, kinds, published)
        return
    rows, meta = with_published(artefact, result.rows, meta, published)
    if meta["data"]:
        draw(folder, artefact, rows, meta, kinds)


def _sha256(rows: bytes) -> str:
    """Hash ``rows.csv``, whatever a checkout made of its line ends."""
    return hashlib.sha256(rows.replace(b"\r\n", b"\n")).hexdigest()


def with_published(
    artefact: Artefact, rows: pd.DataFrame, meta: Mapping[str, Any], published: Path | None
) -> tuple[pd.DataFrame, Mapping[str, Any]]:
    """Add to a run what is published of real data that it lacks: to be drawn, never to be written.

    Returns
    -------
    rows : DataFrame
    meta : dict
        With the published record of each such data set, its kind :data:`PUBLISHED`; all of what is
        published is described by its own ``meta.json`` if the run has no data.
    """
    lacking = meta.get("absent", {})
    before = read_published(published) if lacking and published is not None else None
    if before is None or not artefact.committed_picture:
        return rows, meta
    old_rows, old = before
    records = {
        name: {**old["data"][name], "kind": PUBLISHED, "scale": old["scale"]}
        for name in lacking
        if old["data"].get(name, {}).get("kind") == "real"
    }
    of_them = old_rows[old_rows["dataset"].isin(records)]
    if not meta["data"]:
        return of_them, {**old, "data": records}
    of_them = of_them.reindex(columns=rows.columns)
    data = {**meta["data"], **records}
    return pd.concat([rows, of_them], ignore_index=True), {**meta, "data": data}


class NotPublishable(ValueError):
    """A run that may not take the place of what is published."""


def check_publishable(folder: Path, published: Path) -> None:
    """Raise :class:`NotPublishable` if a run lacks published real data, or has synthetic ones."""
    meta, before = read_meta(folder), read_published(published)
    if "set" in meta:
        raise NotPublishable(f"not published, for it has {setting.in_words(meta['set'])}")
    if made := [name for name, record in meta["data"].items() if is_synthetic(record)]:
        raise NotPublishable(f"not published, for these data are synthetic: {', '.join(made)}")
    lacking, old = meta.get("absent", {}), {} if before is None else before[1]["data"]
    lost = [name for name in lacking if old.get(name, {}).get("kind") == "real"]
    if lost or not meta["data"]:
        lines = [f"  {name}: {lacking[name]}" for name in lost or lacking]
        raise NotPublishable("\n".join(["not published, for these data are not here:", *lines]))


def _rendered_beside(artefact: Artefact, rows, meta: Mapping[str, Any], published: Path | None):
    """Return the picture or table of a run with ``--set``, and what is published of its data."""
    settings, before = meta["set"], None if published is None else read_published(published)
    ends, said = setting.labels(rows, settings), setting.in_words(settings)
    old, scale = None, ""
    with house_style(artefact.id, ends):
        drawn = artefact.render(rows, meta)
    if before is not None and (same := same_data(meta["data"], before[1]["data"])):
        old_rows, old_meta = before
        scale, data = old_meta["scale"], {name: old_meta["data"][name] for name in same}
        old = rendered(
            artefact, old_rows[old_rows["dataset"].isin(same)], {**old_meta, "data": data}
        )
    if isinstance(drawn, str):
        return beside.add_to_table(drawn, said, old, scale)
    beside.add_to_figure(drawn, said, set(ends.values()), old, scale)
    return drawn


def rendered(artefact: Artefact, rows: pd.DataFrame, meta: Mapping[str, Any]):
    """Return an artefact's picture, or its table with a line for each set that is not here."""
    with house_style(artefact.id):
        drawn = artefact.render(rows, meta)
    if isinstance(drawn, str):
        for name, record in meta["data"].items():
            if record["kind"] == PUBLISHED:
                said = " ".join(not_recomputed(record).split())
                drawn += f"\n{name}: {in_words(record)}, {said}\n"
    return drawn


def draw(
    folder: Path,
    artefact: Artefact,
    rows: pd.DataFrame,
    meta: Mapping[str, Any],
    kinds: Sequence[str] = PICTURES,
    published: Path | None = None,
) -> None:
    """Render rows into a figure, with its curves as ``curves.csv``, or into ``table.md``.

    Of a run with ``--set`` beside what is published.
    """
    if meta.get("set"):
        drawn = _rendered_beside(artefact, rows, meta, published)
    else:
        drawn = rendered(artefact, rows, meta)
    (folder / "curves.csv").unlink(missing_ok=True)
    if isinstance(drawn, str):
        write_atomically(folder / "table.md", drawn.encode())
        for kind in PICTURES:
            (folder / f"figure.{kind}").unlink(missing_ok=True)
        return
    (folder / "table.md").unlink(missing_ok=True)
    for kind in kinds:
        write_atomically(folder / f"figure.{kind}", picture_bytes(drawn, kind, artefact.id))
    if len(curves := drawn_curves(drawn)):
        write_atomically(folder / "curves.csv", csv_bytes(curves))


def read_published(folder: Path) -> tuple[pd.DataFrame, dict] | None:
    """Return rows and meta of a published (or other) run, or None if there is none.

    Columns that the artefact timed itself are joined to the rows.
    """
    path = path_of(folder, "rows.csv")
    if not (path.exists() or (folder / "meta.json").exists()):
        return None
    meta = read_meta(folder)
    try:
        if meta.get("rows_sha256") not in (None, _sha256(content_of(path))):
            raise ValueError(f"{path.name} is not what meta.json says was written")
        rows = read_rows(path)
        timed = meta.get("timing_columns", [])
        return _with_times(rows, path_of(folder, "timings.csv"), timed) if timed else rows, meta
    except FileNotFoundError as error:
        raise damaged(folder, f"{Path(error.filename).name} is missing") from None
    except (ValueError, KeyError) as error:
        raise damaged(folder, error) from error


def read_meta(folder: Path) -> dict[str, Any]:
    """Return what ``meta.json`` says of a run."""
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        _check_meta(meta)
    except FileNotFoundError:
        raise damaged(folder, "meta.json is missing") from None
    except ValueError as error:
        raise damaged(folder, error) from error
    return meta


def read_cell_times(folder: Path) -> pd.DataFrame:
    """Return what each cell of a published run took, a row per cell of ``timings.csv``.

    What an artefact timed itself has no cell's name there. It is part of a cell, and left out.
    """
    try:
        times = read_rows(path_of(folder, "timings.csv"))
        times = times.loc[times["cell"].astype(str) != "", ["dataset", "seed", "cell", "seconds"]]
        return times.astype({"seconds": float})
    except FileNotFoundError:
        raise damaged(folder, "timings.csv is missing") from None
    except (ValueError, KeyError) as error:
        raise damaged(folder, f"timings.csv: {error!r}") from error


def damaged(folder: Path, what: object) -> DamagedResults:
    """Return the error that says what is wrong with results, and what to do."""
    return DamagedResults(
        f"The results in {folder} cannot be read: {what}.\nRestore them from version control, or "
        "remove the folder and publish anew."
    )


def _check_meta(meta: object) -> None:
    """Raise ValueError if ``meta.json`` lacks what claims, pictures and the report need."""
    if not isinstance(meta, dict):
        raise ValueError("meta.json holds no record")
    for name, kind in NEEDED.items():
        if not isinstance(meta.get(name), kind):
            raise ValueError(f"meta.json lacks {name!r}")
    for dataset, record in meta["data"].items():
        for name in _OF_DATA:
            if not isinstance(record, dict) or name not in record:
                raise ValueError(f"meta.json lacks {name!r} of the data set {dataset}")


def _with_times(rows: pd.DataFrame, path: Path, timed: list[str]) -> pd.DataFrame:
    """Join to rows what the artefact itself timed; the other lines of the file are cells."""
    times = read_rows(path)
    times = times[times["cell"] == ""]
    keys = [name for name in rows.columns if name in times.columns]
    joined = rows.merge(
        times[[*keys, *timed]], on=keys, how="left", validate="one_to_one", indicator="there"
    )
    if (joined.pop("there") != "both").any():  # a time itself may be missing: not all are taken
        raise ValueError(f"{path.name} lacks times of some rows")
    return joined


def read_expected(path: Path) -> pd.DataFrame:
    """Read the values that ``check`` holds an artefact to; DamagedResults if that fails."""
    try:
        return read_rows(path)
    except ValueError as error:
        raise DamagedResults(
            f"The expected values in {path} cannot be read: {error}.\nRestore them from version "
            "control, or remove the file and write it anew: python -m experiments check --update"
        ) from error


def same_data(a: Mapping[str, Mapping], b: Mapping[str, Mapping]) -> list[str]:
    """Return the data sets that are the same in two runs: kind, and all draws that both have."""
    same = []
    for name in a:
        if name not in b or a[name]["kind"] != b[name]["kind"]:
            continue
        one, other = a[name]["checksums"], b[name]["checksums"]
        shared = one.keys() & other.keys()
        if shared and all(one[seed] == other[seed] for seed in shared):
            same.append(name)
    return same


def publish(
    run_folder: Path, results: Path, artefacts: Sequence[Artefact], artefact_id: str
) -> None:
    """Copy a run to ``results/<id>``, large tables compressed.

    Parameters
    ----------
    run_folder : Path
        What :func:`write_run` wrote.
    results : Path
        Folder of the published results.
    artefacts : sequence of Artefact
        All artefacts.
    artefact_id : str
        Which one is published now.
    """
    target = results / artefact_id
    target.mkdir(parents=True, exist_ok=True)
    (artefact,) = (a for a in artefacts if a.id == artefact_id)
    rows = (run_folder / "rows.csv").read_bytes()
    if not artefact.committed_picture:
        rows = csv_bytes(committed(artefact, read_rows(run_folder / "rows.csv")))
    write_table(target, "rows.csv", rows)
    write_table(target, "timings.csv", (run_folder / "timings.csv").read_bytes())
    (target / "figure.svg").unlink(missing_ok=True)  # of a run; results have the one picture
    names = ["meta.json", "table.md", "figure.png", "curves.csv"]
    for name in names:
        shown = artefact.committed_picture or not name.startswith("figure.")
        if shown and (run_folder / name).exists():
            shutil.copyfile(run_folder / name, target / name)
        else:  # a figure that has become a table, or the other way round
            (target / name).unlink(missing_ok=True)
    if not artefact.committed_picture:
        meta = json.loads((target / "meta.json").read_text(encoding="utf-8"))
        write_atomically(target / "meta.json", json_bytes({**meta, "rows_sha256": _sha256(rows)}))


def committed(artefact: Artefact, rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows as they may be committed: without the pixels of a picture that may not be."""
    return rows if artefact.committed_picture else rows.drop(columns=[*artefact.drawn_columns])


def redraw(results: Path, artefact: Artefact) -> bool:
    """Write the picture of published rows anew; False if nothing is published.

    For a new title or picture, which change no row. What ``meta.json`` says of the run
    stays; what the artefact says of itself is brought up to date.
    """
    folder = results / artefact.id
    published = read_published(folder)
    if published is None:
        return False
    rows, meta = published
    meta |= provenance.describe_artefact(artefact)
    meta["rows_sha256"] = _sha256(content_of(path_of(folder, "rows.csv")))
    write_atomically(folder / "meta.json", json_bytes(meta))
    if artefact.committed_picture:
        draw(folder, artefact, rows, meta, ("png",))
    return True


def orders(results: Path, artefacts: Sequence[Artefact]) -> dict[str, pd.DataFrame]:
    """Return ``<paper>-order.csv``: orders of methods against those that papers print."""
    found: dict[str, list[pd.DataFrame]] = {}
    for artefact in artefacts:
        if artefact.orders is not None and (published := read_published(results / artefact.id)):
            table = artefact.orders(*published)
            table.insert(0, "table", artefact.id)
            found.setdefault(f"{short_name(artefact.paper)}-order.csv", []).append(table)
    return {name: pd.concat(tables, ignore_index=True) for name, tables in found.items()}


def gaps_found(results: Path, artefacts: Sequence[Artefact]) -> pd.DataFrame:
    """Return ``gaps.csv``: the gaps of all published curves."""
    records: list[dict] = []
    for artefact in artefacts:
        published = read_published(results / artefact.id)
        if artefact.curve is not None and published is not None:
            records += gaps.widest_gaps(artefact, *published)
    return pd.DataFrame(records, columns=list(gaps.COLUMNS))
