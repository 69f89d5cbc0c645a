"""Lists all claims for ``claims.html``: the primary ones first, then what is described."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.primaries.verdicts import VERDICTS
from experiments.publishing.report.papers import Entry, Paper
from experiments.publishing.scoreboard import Line

DESCRIBED = "described"
"""Stands for the verdict of a claim that has none."""


@dataclass(frozen=True)
class Row:
    """A claim in the list."""

    id: str  # On the page
    paper: Paper
    entry: Entry | None  # The artefact that describes it; None for a primary claim
    verdict: str  # verdict, sign: ``described`` without a sign, where there is no verdict
    sign: str
    sentence: str
    place: str
    sets: list[str]  # Data sets
    # What the rows are of, for example ``whole set`` or ``part``; empty for primary claims
    rests: str
    effect: float  # effect, low, high: In `unit`; NaN where there is none
    low: float
    high: float
    unit: str  # unit, shown, interval: Effect and interval as printed
    shown: str
    interval: str
    paper_effect: str  # The paper's own, if it prints one
    n: int  # Repetitions
    smallest: float  # Smallest effect of interest
    note: str
    about: str  # Address of what it is about

    @property
    def numbers(self) -> str:
        """Effect and interval for the page's script; empty where there are none."""
        values = (self.effect, self.low, self.high)
        return " ".join("" if math.isnan(value) else f"{value:.6g}" for value in values)


@dataclass(frozen=True)
class Listing:
    """All claims, and what they can be chosen by."""

    rows: list[Row]
    verdicts: list[str]
    sets: list[str]
    rests: list[str]


def of(papers: Sequence[Paper]) -> Listing:
    """Return the claims of all papers, the primary ones first."""
    rows = [_primary(paper, line) for paper in papers for line in paper.board.lines]
    rows += [row for paper in papers for row in _described(paper)]
    there = {row.verdict for row in rows}
    return Listing(
        rows,
        [verdict for verdict in VERDICTS if verdict in there],
        sorted({name for row in rows for name in row.sets}),
        list(dict.fromkeys(row.rests for row in rows if row.rests)),
    )


def anchor(line: Line) -> str:
    """Return the id of a primary claim, on its paper's page and in the list."""
    return f"primary-{line.claim}"


def _primary(paper: Paper, line: Line) -> Row:
    effect, low, high = (value * line.delta for value in (line.effect, line.low, line.high))
    shown, interval = printed(effect, low, high, line.unit)
    return Row(
        id=anchor(line),
        paper=paper,
        entry=None,
        verdict=line.verdict,
        sign=line.sign,
        sentence=line.sentence,
        place=line.place,
        sets=list(line.sets),
        rests="",
        effect=effect,
        low=low,
        high=high,
        unit=line.unit,
        shown=shown,
        interval=interval,
        paper_effect="",
        n=line.n,
        smallest=line.delta,
        note=line.needs,
        about=f"{paper.page}#{anchor(line)}",
    )


def _described(paper: Paper) -> Iterator[Row]:
    for entry in paper.published:
        for claim in entry.published.claims:
            yield _of_artefact(paper, entry, claim)


def _of_artefact(paper: Paper, entry: Entry, claim: dict[str, Any]) -> Row:
    shown, interval = printed(*(claim[name] for name in ("effect", "low", "high", "unit")))
    return Row(
        id=claim["anchor"],
        paper=paper,
        entry=entry,
        verdict=DESCRIBED,
        sign="",
        sentence=claim["sentence"],
        place=claim["place"],
        sets=[claim["dataset"]],
        rests=claim["extent"],
        effect=claim["effect"],
        low=claim["low"],
        high=claim["high"],
        unit=claim["unit"],
        shown=shown,
        interval=interval,
        paper_effect=claim["shown_paper"],
        n=claim["n"],
        smallest=claim["smallest_effect"],
        note=claim["note"],
        about=f"{paper.page}#{claim['about']}",
    )


def printed(effect: float, low: float, high: float, unit: str) -> tuple[str, str]:
    """Return effect and interval, as far as there are any; four decimals as in ``claims.md``."""
    if math.isnan(effect):
        return "no effect measured", ""
    shown = [f"{value:+.4f}".replace("-", "−") for value in (effect, low, high)]
    interval = "" if math.isnan(low) else f"[{shown[1]}, {shown[2]}]"
    return f"{shown[0]} {unit}", interval
