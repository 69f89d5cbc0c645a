"""Builds ``results/index.html`` from the published results, the papers' notes and asv's history.

The page is one file beside the results, with its style and script inside, so that it keeps its
look wherever it is copied; only the pictures are files of their own, the published ones. It loads
nothing from the network and has no date of its own: equal results give equal bytes. Without its
script nothing is missing but filters, sorting and the choice of lines.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jinja2
from markupsafe import Markup

from experiments.artefact import Artefact
from experiments.primaries.confirming import Declared
from experiments.publishing import scoreboard
from experiments.publishing.report import content, intervals, notes
from experiments.publishing.report.chart import key
from experiments.publishing.report.history import read_history
from experiments.registry import PAPERS, short_name
from experiments.running.provenance import ROOT
from experiments.running.store import write_atomically

_FOLDER = Path(__file__).resolve().parent
_PAPERS_FOLDER = ROOT / "experiments"

NOTHING: Declared = MappingProxyType({})
"""No primary claims."""

SCRIPTS = ("claims.js", "lines.js")
"""Files whose content is the page's script, in this order."""


def write(
    results: Path,
    artefacts: Sequence[Artefact],
    *,
    declared: Declared = NOTHING,
    name: str = "index.html",
    papers_folder: Path = _PAPERS_FOLDER,
) -> None:
    """Write the page into the folder of the results.

    Parameters
    ----------
    results : Path
        Folder of the published results; made if there is none.
    artefacts : sequence of Artefact
        All artefacts; those that are not published are named as such.
    declared : Mapping
        For each paper's short name its primary claims.
    name : {"index.html", "dashboard.html"}
        The second one also links to asv's own pages, which only exist where they were made: it is
        not for publishing.
    papers_folder : Path
        Holds ``<paper>/README.md``.

    Raises
    ------
    DamagedResults
        If published results cannot be read; nothing is written then.
    """
    dashboard = name == "dashboard.html"
    text = build(
        results, artefacts, declared=declared, papers_folder=papers_folder, dashboard=dashboard
    )
    results.mkdir(parents=True, exist_ok=True)
    write_atomically(results / name, text.encode())


def _words(text: str) -> Markup:
    """Escape text that stands between tags, where quotation marks need none."""
    return Markup(html.escape(text, quote=False))


def _breakable(name: str) -> Markup:
    """Let a name be broken after an underscore, rather than anywhere."""
    return Markup("_<wbr>").join(name.split("_"))


def _compact(page: str) -> str:
    """Leave out what HTML lets be left out where there is much of it, in tables above all.

    Quotation marks around values that need none, the ends of cells and rows before the next one or
    the end of what holds them, and the space between. Of a table with more numbers than words the
    words' cells have a class.
    """
    page = _MANY.sub(lambda tag: _QUOTED.sub(r"=\1", tag.group()), page)
    page = _ROW_END.sub("", _CELL_END.sub("", page))
    page = _BEFORE_CELL.sub(r"\1", page)
    return _TABLE.sub(lambda table: _numbers_by_default(table.group()), page)


def _numbers_by_default(table: str) -> str:
    """Let the cells that stand to the right need no class, if they are most of a table."""
    if 2 * table.count(_RIGHT) <= table.count("<td"):
        return table
    start, cells = table[: len("<table>")], table[len("<table>") :]
    cells = cells.replace("<td>", "<td class=l>").replace(_RIGHT, "<td>")
    return start.replace(">", " class=numbers>") + cells


_MANY = re.compile(
    r'<(?:t[rdh]|circle|text|line|span class="(?:sign|place|whole)|a class="anchor|a href)\b[^<>]*>'
)
# A slash at the end of a value would be taken for the tag's own, as in <line … />.
_QUOTED = re.compile(r'="([\w.#/-]*[\w.#-])"(?=[\s>])')
_ROW_END = re.compile(r"</tr>\s*(?=<tr\b|</t(?:head|body|able)>)")
_BEFORE_CELL = re.compile(r"(<tr\b[^<>]*>)\s+(?=<t[dh]\b)")
_TABLE = re.compile("<table>.*?</table>", re.DOTALL)
_RIGHT = "<td class=r>"
_CELL_END = re.compile(r"</t[dh]>\s*(?=<t[dh]\b|</tr>)")


def build(
    results: Path,
    artefacts: Sequence[Artefact],
    *,
    declared: Declared = NOTHING,
    papers_folder: Path = _PAPERS_FOLDER,
    dashboard: bool = False,
) -> str:
    """Return the page as HTML; see :func:`write`."""
    papers = _papers(results, artefacts, papers_folder)
    boards = [board for board in scoreboard.boards(results, declared, artefacts) if board.lines]
    published = [
        entry["published"] for paper in papers for entry in paper["artefacts"] if entry["published"]
    ]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["key"] = key
    environment.globals["panel_id"] = content.panel_id
    environment.globals["anchor"] = content.anchor
    environment.globals["drawn"] = intervals.drawn
    environment.globals["tally"] = content.tally
    environment.filters["counted"] = content.counted
    environment.filters["words"] = _words
    environment.filters["breakable"] = _breakable
    environment.filters["slug"] = lambda verdict: re.sub("[^a-z]+", "-", verdict).strip("-")
    claims = [claim for one in published for claim in one.claims]
    page = environment.get_template("template.html").render(
        style=Markup((_FOLDER / "style.css").read_text(encoding="utf-8")),
        script=Markup("".join((_FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS)),
        papers=papers,
        headline=_headline(papers),
        boards=boards,
        ids={paper["short"]: paper["id"] for paper in papers},
        tallies=content.tally(boards),
        n_primary=sum(len(board.lines) for board in boards),
        n_claims=len(claims),
        datasets=sorted({claim["dataset"] for claim in claims}),
        extents=list(dict.fromkeys(claim["shown_data"] for claim in claims)),
        to_come=[title for name, title in PAPERS.items() if name not in {p["id"] for p in papers}],
        machines=read_history(results / "asv"),
        dashboard=dashboard,
    )
    return _compact(page)


def _papers(
    results: Path, artefacts: Sequence[Artefact], papers_folder: Path
) -> list[dict[str, Any]]:
    """Return for each paper that has artefacts its title, its artefacts and its notes."""
    papers = []
    for paper in dict.fromkeys(artefact.paper for artefact in artefacts):
        entries = [
            {"artefact": artefact, "published": content.read(results, artefact)}
            for artefact in artefacts
            if artefact.paper == paper
        ]
        papers.append(
            {
                "id": paper,
                "short": short_name(paper),
                "title": PAPERS.get(paper, paper),
                "artefacts": entries,
                "notes": _notes(papers_folder, paper),
            }
        )
    return papers


def _headline(papers: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the first published Figure 2, what the README shows too, or None."""
    entries = [entry for paper in papers for entry in paper["artefacts"] if entry["published"]]
    seconds = [entry for entry in entries if entry["artefact"].id.endswith("-figure2")]
    return next((entry for entry in seconds if entry["published"].picture), None)


def _notes(papers_folder: Path, paper: str) -> Markup | None:
    """Return a paper's ``README.md`` as HTML, without its scoreboard; None if it has none."""
    path = papers_folder / paper / "README.md"
    if not path.exists():
        return None
    return notes.render(
        scoreboard.without_summary(path.read_text(encoding="utf-8")),
        folder=f"../experiments/{paper}",
        prefix=paper,
        level=4,
        caption=f"{short_name(paper)}: artefacts",
    )
