"""Builds the pages of ``results/`` from the published results and the papers' notes.

``index.html`` has the answers, a page per paper what they rest on, ``speed.html`` what is measured
of speed; ``own-data.html`` says how to compare methods on a table, and
``glossary.html`` explains the words. Each page is one file with its style and script inside; only
the pictures are files of their own, the published ones. Nothing is loaded from the network and no
page has a date of its own: equal results give equal bytes. Without its script a page lacks nothing
but pictures that a click enlarges.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

import jinja2
from markupsafe import Markup

from datasets.sources.storage import write_atomically
from experiments.artefact import Artefact
from experiments.claims.confirming import Declared
from experiments.leaderboard.card import leaderboard_card
from experiments.publishing import scoreboard
from experiments.publishing.report import content, glossary, intervals, notes
from experiments.publishing.report.papers import Paper, gather
from experiments.publishing.report.site import FOLDER, site
from experiments.registry import PAPERS
from experiments.running.provenance import ROOT

_PAPERS_FOLDER = ROOT / "experiments"
_DOCS = ROOT / "docs"

NOTHING: Declared = MappingProxyType({})
"""No preregistered claims."""

SCRIPTS = MappingProxyType(
    {
        "index.html": (),
        "paper.html": ("shared.js",),
        "speed.html": (),
        "own-data.html": (),
        "glossary.html": (),
    }
)
"""For each template the files whose content is its pages' script, in this order."""


def write(
    results: Path,
    artefacts: Sequence[Artefact],
    *,
    declared: Declared = NOTHING,
    papers_folder: Path = _PAPERS_FOLDER,
) -> list[Path]:
    """Write the pages into the folder of the results, and return where they are.

    Parameters
    ----------
    results : Path
        Folder of the published results; made if there is none.
    artefacts : sequence of Artefact
        All artefacts; those that are not published are named as such.
    declared : Mapping
        For each paper's short name its preregistered claims.
    papers_folder : Path
        Holds ``<paper>/README.md``.

    Raises
    ------
    DamagedResults
        If published results cannot be read; nothing is written then.
    """
    pages = build(results, artefacts, declared=declared, papers_folder=papers_folder)
    results.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        write_atomically(results / name, text.encode())
    return [results / name for name in pages]


def build(
    results: Path,
    artefacts: Sequence[Artefact],
    *,
    declared: Declared = NOTHING,
    papers_folder: Path = _PAPERS_FOLDER,
) -> dict[str, str]:
    """Return for each page's name its HTML; see :func:`write`."""
    boards = scoreboard.boards(results, declared, artefacts)
    papers = gather(results, artefacts, boards, papers_folder)
    environment = _environment(papers)
    environment.globals |= {
        "has_gaps": (results / "gaps.csv").exists(),
        "has_leaderboard": (results / "leaderboard.html").exists(),
    }
    there = {paper.id for paper in papers}
    return {
        "index.html": _render(
            environment,
            "index.html",
            leaderboard=leaderboard_card(results),
            to_come=[title for name, title in PAPERS.items() if name not in there],
        ),
        **{paper.page: _render(environment, "paper.html", paper=paper) for paper in papers},
        "speed.html": _render(environment, "speed.html", today=_document("speed.md", "today")),
        "own-data.html": _render(
            environment, "own-data.html", guide=_document("compare.md", "own-data")
        ),
        "glossary.html": _render(
            environment, "glossary.html", words=glossary.explained(glossary.read())
        ),
    }


def _environment(papers: Sequence[Paper]) -> jinja2.Environment:
    environment = site(papers)
    environment.globals |= {
        "anchor": lambda line: f"primary-{line.claim}",
        "drawn": intervals.drawn,
    }
    environment.filters |= {
        "counted": content.counted,
        "breakable": _breakable,
        "short": _within,
        "slug": lambda verdict: re.sub("[^a-z]+", "-", verdict).strip("-"),
    }
    return environment


def _document(name: str, prefix: str) -> Markup:
    """Return a document of ``docs/`` as part of a page; its headings' ids begin with `prefix`."""
    text = (_DOCS / name).read_text(encoding="utf-8")
    text = re.sub(r"^<!--.*?-->\n", "", text, flags=re.MULTILINE)  # marks for programs
    title = text.partition("\n")[0].removeprefix("# ")
    return notes.render(text, folder="../docs", prefix=prefix, level=3, caption=title)


def _render(environment: jinja2.Environment, template: str, **values: object) -> str:
    scripts = [(FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS[template]]
    page = environment.get_template(template).render(script=Markup("".join(scripts)), **values)
    return page if template == "glossary.html" else glossary.marked(page, glossary.read())


def _breakable(name: str) -> Markup:
    """Let names be broken after an underscore or a hyphen, rather than anywhere."""
    return Markup("<wbr>").join(re.split(r"(?<=[_-])(?=\w)", name))


def _within(title: str, paper: Paper) -> str:
    """Shorten an artefact's title among those of its own paper: ``Figure 2``."""
    own, _, rest = title.partition(", ")
    beside, _, what = title.partition(": ")
    if own == paper.name:
        return rest
    return what[:1].upper() + what[1:] if beside.startswith("Beside") else title
