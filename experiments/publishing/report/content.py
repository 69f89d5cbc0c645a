"""Gathers from the published results what the page says of each artefact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup
from PIL import Image

from experiments.artefact import Artefact
from experiments.data_kinds import in_words
from experiments.publishing import output
from experiments.publishing.output import damaged
from experiments.publishing.report import notes
from experiments.publishing.tables import path_of
from experiments.style import SAVED_DPI

_LINKED = ("rows.csv", "curves.csv", "timings.csv", "meta.json", "figure.png")
_PAGE_DPI = 96


@dataclass(frozen=True)
class Picture:
    """An artefact's figure."""

    path: str  # Relative to the page
    width: int  # width, height: Natural size in pixels
    height: int


@dataclass(frozen=True)
class Published:
    """What the page shows of published results."""

    meta: Mapping[str, Any]  # Content of ``meta.json``
    picture: Picture | None  # The figure, or None for a table
    table: Markup | None  # The rendered table, or None for a figure
    data: list[dict[str, Any]]  # One record for each data set, see :func:`_data_set`
    measured: str  # How long its cells took
    files: list[str]  # Names of the files that can be looked into


def read(results: Path, artefact: Artefact) -> Published | None:
    """Read what is published of an artefact, or return None."""
    folder = results / artefact.id
    published = output.read_published(folder)
    if published is None:
        return None
    _, meta = published
    figure, table = folder / "figure.png", folder / "table.md"
    if artefact.committed_picture and figure.exists() == table.exists():
        raise damaged(folder, "there must be either figure.png or table.md")
    if not artefact.committed_picture and figure.exists():
        raise damaged(folder, "its picture is made of a data set's own images: remove figure.*")
    picture = _picture(figure, artefact.id) if figure.exists() else None
    return Published(
        meta=meta,
        picture=picture,
        table=_table(table, artefact) if table.exists() else _not_here(artefact),
        data=[_data_set(name, record) for name, record in sorted(meta["data"].items())],
        measured=_measured(folder, artefact, meta),
        files=[path.name for path in (path_of(folder, n) for n in _LINKED) if path.exists()],
    )


def _not_here(artefact: Artefact) -> Markup | None:
    """Say why there is neither picture nor table, where that is meant."""
    if artefact.committed_picture:
        return None
    return Markup(
        "<p>The picture is made of the data sets’ own images, so it is regenerated, not published: "
        "the command below writes <code>results/runs/{}/figure.png</code>.</p>"
    ).format(artefact.id)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise damaged(path.parent, f"{path.name}: {error}") from error


def _picture(path: Path, artefact_id: str) -> Picture:
    """Return a figure with its size; it has more pixels to the inch than a page has."""
    try:
        with Image.open(path) as picture:
            picture.load()
            size = [round(length * _PAGE_DPI / SAVED_DPI) for length in picture.size]
    except OSError as error:
        raise damaged(path.parent, f"{path.name}: {error}") from error
    return Picture(f"{artefact_id}/{path.name}", *size)


def _table(path: Path, artefact: Artefact) -> Markup:
    return notes.render_folded(
        _text(path),
        folder=artefact.id,
        prefix=artefact.id,
        level=4,
        caption=artefact.title,
    )


def _data_set(name: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page says of a data set; synthetic data can never be taken for real data."""
    files = ", ".join(file["file"] for file in record.get("files", []))
    rows = [record["rows"].get(part, 0) for part in ("train", "valid", "test")]
    others = record.get("other_draws", {})
    varies = any("rows" in draw for draw in others.values())
    return {
        "name": name,
        "kind": in_words(record),
        "source": f"{record['source']}: {files}" if files else record["source"],
        "rows": " / ".join(f"{n:,}" for n in rows)
        + (f" (first of {1 + len(others)} draws)" if varies else ""),
        "n_features": f"{record['n_features']:,}",
        "missing": record.get("missing", ""),
        "cost_unit": record["cost_unit"],
        "cost_origin": record["cost_origin"],
        "terms": record.get("terms", ""),
    }


def _measured(folder: Path, artefact: Artefact, meta: Mapping) -> str:
    """Return the time its cells took, from ``timings.csv``."""
    n_cells, workers = len(output.read_cell_times(folder)), meta.get("workers")
    took, cells = duration(elapsed(folder, artefact, meta, workers or 1)), counted(n_cells, "cell")
    if not workers:
        return f"{took} of work in {cells}, on a cluster"
    return f"{took} measured: {cells} on {counted(workers, 'worker')}"


def elapsed(folder: Path, artefact: Artefact, meta: Mapping, workers: int) -> float:
    """Return the seconds that a run's cells take on so many workers.

    Cells that measure time run alone, the others beside each other: as long as the longest.
    """
    times = output.read_cell_times(folder)
    cells = artefact.make_cells(
        meta["scale"], range(artefact.repetitions(meta["scale"], meta["seeds"]))
    )
    alone = times["cell"].isin([cell.label() for cell in cells if cell.alone])
    timed, others = times["seconds"][alone], times["seconds"][~alone]
    return timed.sum() + max(others.sum() / workers, others.max() if len(others) else 0.0)


def duration(seconds: float) -> str:
    """Return a time in the unit in which it is short, with two digits as far as they say much."""
    if seconds < 1:
        return "less than a second"
    if seconds < 60:
        return counted(float(f"{seconds:.2g}"), "second")
    minutes = seconds / 60
    return counted(float(f"{minutes:.2g}") if minutes < 10 else round(minutes), "minute")


def counted(n: float, noun: str) -> str:
    """Return a number with what it counts: "1 seed", "1,500 minutes"."""
    number = f"{n:,}" if isinstance(n, int) else f"{n:g}"
    return f"{number} {noun}" if n == 1 else f"{number} {noun}s"
