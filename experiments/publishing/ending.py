"""What a run says at its end: rows against the published ones, the picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from experiments import setting
from experiments.artefact import Artefact
from experiments.publishing import parts
from experiments.publishing.output import read_meta, read_published, same_data
from experiments.running.suite import shown


class Ending(NamedTuple):
    """What came of one artefact."""

    artefact_id: str
    comparison: str  # The first line of what is said of its panels and of :func:`difference`
    picture: Path  # Its figure or table


def end(artefact: Artefact, folder: Path, published: Path) -> tuple[Ending, list[str]]:
    """Return the :class:`Ending` of a run, and the lines that say it on the terminal."""
    meta = read_meta(folder)
    compared = panels_computed(artefact, meta)
    if "set" in meta:
        said = setting.in_words(meta["set"])
        compared.append(f"With {said}: beside what is published, never in its place.")
    else:
        compared += difference(artefact, folder, published)
    found = Ending(artefact.id, compared[0], picture_of(folder))
    return found, [*compared, _pictured(found.picture)]


def together(endings: Sequence[Ending]) -> list[str]:
    """Return the lines that end a run of several artefacts: each in a line."""
    lines = [f"\nAll {len(endings)} artefacts together."]
    for one in endings:
        lines += [f"  {one.artefact_id}: {one.comparison}", f"    {_pictured(one.picture)}"]
    return lines


def picture_of(folder: Path) -> Path:
    """Return the picture of a run, or its table."""
    figure = folder / "figure.png"
    return figure if figure.exists() else folder / "table.md"


def panels_computed(artefact: Artefact, meta: Mapping) -> list[str]:
    """Say how many panels a run computed, if not all, and what gets the data of the others."""
    absent = meta.get("absent", {})
    if not absent:
        return []
    cells = artefact.cells(meta["scale"])
    panels = {(cell.dataset, cell.params.get("panel", "")) for cell in cells}
    here = [panel for panel in panels if panel[0] not in absent]
    first = f"{len(here)} of {len(panels)} panels computed; the data of the others are not here:"
    return [first, *(f"  {name}: {advice}" for name, advice in absent.items())]


def _pictured(path: Path) -> str:
    if not path.exists():
        return "No picture: nothing is published of it."
    return f"{'Figure' if path.suffix == '.png' else 'Table'}: {shown(path)}"


def difference(artefact: Artefact, folder: Path, published: Path) -> list[str]:
    """Say how a run differs from what is published."""
    before, now = read_published(published), read_published(folder)
    if before is None:
        return ["Nothing is published yet to compare with (--publish writes it)."]
    (rows, meta), (old_rows, old_meta) = now, before
    if not parts.comparable(artefact, meta, old_meta):
        return [f"No row is compared: the scale {old_meta['scale']} is published."]
    smaller = parts.left_out(artefact, meta, old_meta)
    if smaller:
        old_rows = parts.rows_of(artefact, old_rows, parts.cells_of_run(artefact, meta))
    same = same_data(meta["data"], old_meta["data"])
    left_out = _left_out(meta["data"], old_meta["data"], same)
    if not same:
        return [f"No row is compared: {left_out or 'none was computed'}."]
    keys = artefact.row_keys()
    if not set(keys) <= set(old_rows):
        lacking = ", ".join(key for key in keys if key not in old_rows)
        return [f"No row is compared: the published rows have no column {lacking}."]
    both = rows[rows["dataset"].isin(same)].merge(
        old_rows[old_rows["dataset"].isin(same)],
        on=keys,
        how="outer",
        suffixes=("", _OLD),
        indicator=True,
    )
    counts = both["_merge"].value_counts()
    shared = both[both["_merge"] == "both"]
    measured = [name for name in rows.columns if name in old_rows.columns and name not in keys]
    equal = pd.DataFrame(
        {
            name: _equal(shared[name], shared[name + _OLD])
            for name in measured
            if name not in artefact.timing_columns
        },
        index=shared.index,
    )
    first = (
        f"{equal.all(axis=1).sum():,} of {len(shared):,} rows on the same data are identical to "
        "the published ones"
    )
    first += f" of scale {old_meta['scale']}" * (old_meta["scale"] != meta["scale"])
    first += f"; {counts['left_only']:,} are only here" * bool(counts["left_only"])
    first += f"; {counts['right_only']:,} are only there" * bool(counts["right_only"])
    first += f"; not compared: {left_out}" * bool(left_out)
    return [f"{first}.", *_columns(shared, equal), *[smaller] * bool(smaller)]


_OLD = "_published"


def _left_out(data: Mapping, old: Mapping, same: Sequence[str]) -> str:
    """Name the data sets of a run that are not compared, with the reason."""
    reasons: dict[str, list[str]] = {}
    for name in sorted(set(data) - set(same)):
        reasons.setdefault(_reason(data[name], old.get(name)), []).append(name)
    return "; ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons.items())


def _reason(record: Mapping, old: Mapping | None) -> str:
    if old is None:
        return "not published"
    if record["kind"] == old["kind"] and not record["checksums"].keys() & old["checksums"].keys():
        return "other repetitions"
    return "other data"


def _equal(values: pd.Series, old: pd.Series) -> pd.Series:
    """Whether values are the same, bit for bit; nothing equals nothing."""
    return (values == old) | (values.isna() & old.isna())


def _columns(shared: pd.DataFrame, equal: pd.DataFrame) -> list[str]:
    """Return a line for each column that differs, with the largest difference of numbers."""
    lines = []
    for name in equal.columns[~equal.all()]:
        values, old = shared[name], shared[name + _OLD]
        line = f"  {name}: {int((~equal[name]).sum()):,} differ"
        if values.dtype.kind in "if" and old.dtype.kind in "if":
            line += f", by at most {(values - old).abs().max():.6g}"
        lines.append(line)
    return lines
