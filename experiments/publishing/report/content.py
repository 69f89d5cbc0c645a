"""Gathers from the published results what the page says of each artefact."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from experiments.artefact import Artefact
from experiments.claims import COLUMNS
from experiments.data_kinds import in_words
from experiments.lines import Lines
from experiments.publishing import output
from experiments.publishing.output import damaged
from experiments.publishing.report import notes
from experiments.publishing.tables import path_of, read_rows

_LINKED = ("rows.csv", "timings.csv", "claims.csv", "meta.json", "figure.svg", "figure.png")
_PIXELS_PER_POINT = 96 / 72


@dataclass(frozen=True)
class Picture:
    """An artefact's figure."""

    path: str  # Relative to the page
    width: int  # width, height: Natural size in pixels
    height: int
    # For the key of each panel that is known its place in the picture, as CSS
    panels: dict[str, str]


@dataclass(frozen=True)
class Published:
    """What the page shows of published results."""

    meta: Mapping[str, Any]  # Content of ``meta.json``
    alt: str  # The picture in words
    picture: Picture | None  # The figure, or None for a table
    table: Markup | None  # The rendered table, or None for a figure
    data: list[dict[str, Any]]  # One record for each data set, see :func:`_data_set`
    # Rows of ``claims.csv``, with ``anchor``, its id on the page, ``about``, that of its panel or
    # artefact, and ``shown_…``, what is printed of it
    claims: list[dict[str, Any]]
    measured: str  # How long its cells took
    files: list[str]  # Names of the files that can be looked into
    lines: str | None  # Curves that the page's script draws, see :func:`packed`


def read(results: Path, artefact: Artefact) -> Published | None:
    """Read what is published of an artefact, or return None."""
    folder = results / artefact.id
    published = output.read_published(folder)
    if published is None:
        return None
    rows, meta = published
    figure, table = folder / "figure.svg", folder / "table.md"
    claims = _claims(folder, artefact, rows, meta)
    lines = None if artefact.lines is None else artefact.lines(rows, meta)
    if artefact.committed_picture and figure.exists() == table.exists():
        raise damaged(folder, "there must be either figure.svg or table.md")
    if not artefact.committed_picture and figure.exists():
        raise damaged(folder, "its picture is made of a data set's own images: remove figure.*")
    picture = _picture(figure, artefact.id, lines) if figure.exists() else None
    for claim in claims:
        claim["about"] = _about(claim["claim"], artefact.id, picture)
    return Published(
        meta=meta,
        alt=artefact.alt(rows, meta),
        picture=picture,
        table=_table(table, artefact) if table.exists() else _not_here(artefact),
        data=[_data_set(name, record) for name, record in sorted(meta["data"].items())],
        claims=claims,
        measured=_measured(folder, artefact, meta),
        files=[path.name for path in (path_of(folder, n) for n in _LINKED) if path.exists()],
        lines=None if lines is None else packed(lines.record()),
    )


def packed(record: Mapping) -> str:
    """Return a record as the page's script reads it: JSON, compressed by gzip, in base64."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def unpacked(text: str) -> dict:
    """Return what :func:`packed` was given; its bytes are another compressor's business."""
    return json.loads(gzip.decompress(base64.b64decode(text)))


def panel_id(artefact_id: str, key: str) -> str:
    """Return the id of a panel on the page."""
    return f"{artefact_id}-panel-{key.replace(chr(39), '-prime')}"


def _about(claim_id: str, artefact_id: str, picture: Picture | None) -> str:
    """Return the id of what a claim is about: its panel where that is known, else its artefact."""
    keys = [] if picture is None else [k for k in picture.panels if claim_id.startswith(f"{k}-")]
    return panel_id(artefact_id, max(keys, key=len)) if keys else artefact_id


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


def _picture(path: Path, artefact_id: str, lines: Lines | None) -> Picture:
    """Return a figure with its size, which matplotlib writes in points, and its panels."""
    text = _text(path)
    head = text[:2000]
    sizes = [re.search(rf'<svg[^>]*\s{name}="([0-9.]+)pt"', head) for name in ("width", "height")]
    if None in sizes:
        raise damaged(path.parent, "figure.svg does not state its size in points")
    if not text.rstrip().endswith("</svg>"):
        raise damaged(path.parent, "figure.svg has no end")
    points = [float(size.group(1)) for size in sizes]
    width, height = (round(size * _PIXELS_PER_POINT) for size in points)
    panels = {} if lines is None else _places(path, text, points, lines)
    return Picture(f"{artefact_id}/{path.name}", width, height, panels)


def _places(path: Path, text: str, points: list[float], lines: Lines) -> dict[str, str]:
    """Return for each key the place of its axes in a picture of a size in points, as CSS."""
    corners: dict[str, list[list[float]]] = {}
    for panel in lines.panels:
        if panel.number is None:
            continue
        ground = rf'<g id="axes_{panel.number}">\s*<g id="patch_\d+">\s*<path d="([^"]*)"'
        found = re.search(ground, text)
        if found is None:
            raise damaged(path.parent, f"figure.svg has no axes number {panel.number}")
        numbers = [float(number) for number in re.findall(r"[\d.]+", found.group(1))]
        corners.setdefault(panel.key, []).append([*numbers[:2], *numbers[4:6]])
    return {key: _place(boxes, *points) for key, boxes in corners.items()}


def _place(boxes: list[list[float]], width: float, height: float) -> str:
    """Return what surrounds boxes, each two opposite corners, in shares of a picture."""
    x, y = ([box[i] for box in boxes for i in pair] for pair in ((0, 2), (1, 3)))
    shares = {
        "left": min(x) / width,
        "top": min(y) / height,
        "width": (max(x) - min(x)) / width,
        "height": (max(y) - min(y)) / height,
    }
    return ";".join(f"{name}:{100 * share:.1f}%" for name, share in shares.items())


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


def _claims(folder: Path, artefact: Artefact, rows, meta: Mapping) -> list[dict[str, Any]]:
    stated = [c.id for c in artefact.make_claims(rows, meta) if c.dataset in meta["data"]]
    try:
        table = read_rows(folder / "claims.csv")
        if tuple(table.columns) != COLUMNS:
            raise ValueError("other columns (python -m experiments redraw)")
        if list(table["claim"].astype(str)) != stated:
            raise ValueError("other claims than the artefact states (python -m experiments redraw)")
        claims = table.to_dict("records")
        for claim in claims:
            claim["anchor"] = f"claim-{artefact.id}-{claim['claim']}"
            claim["note"] = claim["note"] if isinstance(claim["note"], str) else ""
            paper = claim["paper_effect"]
            claim["shown_paper"] = "" if math.isnan(paper) else f"{paper:+.4g}".replace("-", "−")
    except FileNotFoundError:
        raise damaged(folder, "claims.csv is missing") from None
    except (ValueError, KeyError) as error:
        raise damaged(folder, f"claims.csv: {error!r}") from error
    return claims


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
