"""Gathers what the pages say of each paper: its findings, its artefacts, its README."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from experiments.artefact import Artefact
from experiments.publishing.findings import findings
from experiments.publishing.report import content, notes
from experiments.publishing.report.content import Published
from experiments.publishing.scoreboard import Board, without_summary
from experiments.registry import NAMES, PAPERS, short_name

FACES = {
    "cegb_2017": "cegb-figure2",
    "adaptive_sampling_2014": "sampling-figure2",
    "greedy_miser_2012": "miser-figure1",
    "cronus_2012": "cronus-figure2",
    "mddag_2012": "mddag-figure2",
}
"""For each paper the figure that stands for it."""


FOLDED = ("Results", "Data and grids")
"""Parts of a README that are folded on the page."""


@dataclass(frozen=True)
class Entry:
    """An artefact with what is published of it, or None."""

    artefact: Artefact
    published: Published | None

    @property
    def is_own(self) -> bool:
        """Whether it is one of the paper's own figures or tables."""
        return re.search(r", (Figure|Table) \w+(: [\w -]+)?$", self.artefact.title) is not None

    def is_wide(self, paper: Paper) -> bool:
        """Whether its picture takes the page's width: the paper's face, unless it is tall."""
        picture = self.published.picture if self.published else None
        return self is paper.face and picture is not None and picture.height < picture.width


@dataclass(frozen=True)
class Paper:
    """A paper on the pages."""

    id: str  # id, short: Name of its folder and on the command line
    short: str
    name: str  # name, title: The name that people use; title with authors and year
    title: str
    board: Board  # Its preregistered claims, perhaps none
    entries: list[Entry]  # Its artefacts
    face: Entry | None  # The one whose picture stands for it
    in_words: Markup | None  # in_words, notes: Its README up to the scoreboard, and from there on
    notes: Markup | None

    @property
    def page(self) -> str:
        """Name of its page."""
        return f"{self.short}.html"

    @property
    def findings(self) -> list[tuple[str, str]]:
        """What holds, what does not and what hangs on a reading."""
        return findings(self.board.lines)

    @property
    def published(self) -> list[Entry]:
        """Entries with results."""
        return [entry for entry in self.entries if entry.published]


def gather(
    results: Path, artefacts: Sequence[Artefact], boards: Sequence[Board], folder: Path
) -> list[Paper]:
    """Return the papers that have artefacts, in their order."""
    own = {board.paper: board for board in boards}
    names = list(dict.fromkeys(artefact.paper for artefact in artefacts))
    return [
        _paper(
            name,
            own.get(short_name(name), Board(short_name(name), name, ())),
            [Entry(a, content.read(results, a)) for a in artefacts if a.paper == name],
            folder,
            _pages(names),
        )
        for name in names
    ]


def _paper(name: str, board: Board, entries: list[Entry], folder: Path, pages: dict) -> Paper:
    title = PAPERS.get(name, name)
    called, face = NAMES.get(name, title), FACES.get(name, "")
    pictured = [entry for entry in entries if entry.published and entry.published.picture]
    first = next((entry for entry in pictured if entry.artefact.id == face), None)
    in_words, rest = _readme(folder, name, pages)
    return Paper(
        id=name,
        short=short_name(name),
        name=called,
        title=title,
        board=board,
        entries=entries,
        face=first or next(iter(pictured), None),
        in_words=in_words,
        notes=rest,
    )


def _pages(names: Sequence[str]) -> dict[str, str]:
    """Return the page that says what a Markdown file says, where one does."""
    readmes = {f"../experiments/{name}/README.md": f"{short_name(name)}.html" for name in names}
    return {
        **readmes,
        "../results/claims.md": "index.html",
        "claims.md": "index.html",
        "../README.md": "index.html",
    }


def _readme(folder: Path, paper: str, pages: dict[str, str]) -> Iterator[Markup | None]:
    """Yield a paper's ``README.md`` in two parts as HTML, each None if there is nothing.

    Of the second, results that the page shows already, and grids, are folded.
    """
    path = folder / paper / "README.md"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    for part in _in_two(text):
        yield (
            notes.render_folded(
                part,
                folds=FOLDED,
                folder=f"../experiments/{paper}",
                prefix=paper,
                level=3,
                caption=f"{short_name(paper)}: artefacts",
                pages=pages,
            )
            if part.strip()
            else None
        )


def _in_two(text: str) -> tuple[str, str]:
    """Split a README behind the section of its scoreboard; that and its title are left out."""
    start = text.find("<!-- scoreboard -->")
    title = text.rfind("\n## ", 0, max(start, 0))
    if title >= 0:
        text = text[: title + 1] + text[start:]
        start = title + 1
    text = without_summary(text)
    end = -1 if start < 0 else text.find("\n## ", start)
    return ("", text) if end < 0 else (text[: end + 1], text[end + 1 :])
