"""The scoreboard: what became of each paper's primary claims, in ``claims.md`` and the READMEs.

It is read from ``results/primary_claims.csv``. A claim that is declared and not there yet stands on
it all the same, undecided, with what it needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from datasets.sources.storage import write_atomically
from experiments.artefact import Artefact
from experiments.primaries import storing
from experiments.primaries.confirming import Declared, minutes_left, rough
from experiments.primaries.declared import Primary
from experiments.primaries.judging import OTHER_DATA, as_row, hopeless, judge, outlook
from experiments.primaries.verdicts import SIGNS, UNDECIDED, VERDICTS
from experiments.publishing import output
from experiments.registry import PAPERS, short_name

Left = Callable[[Primary, int], float]
"""The minutes that a claim with so many repetitions still needs."""

_BEGIN, _END = "<!-- scoreboard -->\n", "<!-- end of scoreboard -->"


class Line(NamedTuple):
    """A primary claim on the scoreboard."""

    claim: str
    sentence: str
    place: str
    verdict: str
    sign: str
    sets: tuple[str, ...]  # Data sets
    # The effect on each of them, in units of δ; empty before the first look
    of_sets: tuple[float, ...]
    effect: float  # effect, low, high: In units of δ; NaN before the first look
    low: float
    high: float
    delta: float  # delta, unit, reason: See :class:`~experiments.primaries.declared.Primary`
    unit: str
    reason: str
    n: int  # Repetitions
    needs: str  # What it still needs, with the minutes on 2 cores; empty if it is decided
    chance: float  # Of a verdict by the declared repetitions; NaN where it is not predicted

    def in_units(self) -> Line:
        """Return the line with effects in the claim's unit in place of δ."""
        effect, low, high, *of_sets = (
            self.delta * value for value in (self.effect, self.low, self.high, *self.of_sets)
        )
        return self._replace(effect=effect, low=low, high=high, of_sets=tuple(of_sets))

    def said(self) -> str:
        """Return verdict, effect and interval in the claim's unit, and what is needed."""
        text, own = f"{self.sign} {self.verdict}: {self.claim}", self.in_units()
        if not math.isnan(own.effect):
            text += f", {own.effect:+.4f} {own.unit} [{own.low:+.4f}, {own.high:+.4f}]"
        text += f", δ = {own.delta:g}, n = {own.n}"
        return text + f"; needs {own.needs}" * bool(own.needs)


class Board(NamedTuple):
    """A paper's primary claims."""

    paper: str  # paper, title: Short name; title with authors and year
    title: str
    lines: tuple[Line, ...]  # In the order they are declared in

    def counts(self) -> dict[str, list[Line]]:
        """Return the claims of each verdict that occurs, in the order of the verdicts."""
        found = {name: [one for one in self.lines if one.verdict == name] for name in VERDICTS}
        return {name: lines for name, lines in found.items() if lines}

    def summary(self, names: bool = False) -> str:
        """Return in one line how many primary claims became what, on request with their names."""
        if not self.lines:
            return "no primary claim is declared yet"
        said = []
        for verdict, lines in self.counts().items():
            short = ", ".join(one.claim.removeprefix(f"{self.paper}-") for one in lines)
            text = f"{SIGNS[verdict]} {len(lines)} {verdict}"
            text += self._why_open(len(lines)) if verdict == UNDECIDED else ""
            said.append(f"{text} ({short})" if names else text)
        return " · ".join(said)

    def not_run(self) -> int:
        """Return how many undecided claims have no repetition yet."""
        return sum(one.n == 0 for one in self.lines if one.verdict == UNDECIDED)

    def _why_open(self, n_open: int) -> str:
        """Say how many undecided claims were not run, and how many want other data."""
        other = sum(one.needs.startswith(OTHER_DATA) for one in self.lines)
        counts = {"not run yet": self.not_run(), f"for want of {OTHER_DATA}": other}
        everyone = {n_open: "all " if n_open > 1 else ""}  # the number would read as more
        said = [f"{everyone.get(n, f'{n} ')}{why}" for why, n in counts.items() if n]
        return f", {' and '.join(said)}" if said else ""


def boards(results: Path, declared: Declared, artefacts: Sequence[Artefact]) -> list[Board]:
    """Return the scoreboard of each paper, declared or not, in the order of papers."""
    judged = storing.read_table(results)
    ids = [artefact.id for artefact in artefacts]
    known, kept = storing.measured(results, ids), storing.kept_repetitions(results, ids)
    left = partial(minutes_left, artefacts=artefacts, measured=known, kept=kept)
    titles = {short_name(paper): title for paper, title in PAPERS.items()}
    found = []
    for paper, title in titles.items():
        claims = declared.get(paper, ())
        lines = tuple(_line(one, len(claims), judged, left) for one in claims)
        found.append(Board(paper, title, lines))
    return [*found, *_others(declared, titles, judged, left)]


def _others(declared: Declared, titles: Mapping, judged: Mapping, left: Left) -> list[Board]:
    """Boards of what is no paper of the suite, which tests have."""
    return [
        Board(name, name, tuple(_line(one, len(claims), judged, left) for one in claims))
        for name, claims in declared.items()
        if name not in titles
    ]


def _line(one: Primary, n_claims: int, judged: Mapping, left: Left) -> Line:
    row = judged.get(one.id) or as_row(judge(one, {}, n_claims), "")
    scale = 1 / one.delta
    return Line(
        claim=one.id,
        sentence=one.sentence,
        place=one.place,
        verdict=row["verdict"],
        sign=SIGNS[row["verdict"]],
        sets=tuple(part.dataset for part in one.parts),
        of_sets=tuple(scale * float(value) for value in str(row["of_sets"]).split()),
        **{name: scale * row[name] for name in ("effect", "low", "high")},
        delta=one.delta,
        unit=one.unit,
        reason=one.reason,
        n=int(row["n"]),
        needs=_needs(one, row, left),
        chance=row["chance"],
    )


def _needs(one: Primary, row: Mapping, left: Left) -> str:
    text = row["needs"]
    if row["verdict"] != UNDECIDED:
        return text
    minutes, likely = left(one, int(row["n"])), outlook(one, row["chance"])
    if int(row["n"]) == 0:
        text = f"not run yet: {one.looks[0]} repetitions of each set"
    if minutes and not hopeless(row["chance"]):
        text += f", about {rough(minutes)} min"
    return f"{text}; {likely}" if likely else text


def as_markdown(found: Sequence[Board]) -> str:
    """Return the scoreboard with numbers, for ``claims.md``."""
    lines = []
    for board in (one for one in found if one.lines):
        lines += ["", f"## {board.title}", "", f"{board.summary()}.", ""]
        lines += [
            "| verdict | claim | effect [interval] in δ | δ | sets | n | needs | place |",
            "|---|---|---:|---|---|---:|---|---|",
        ]
        for one in board.lines:
            lines.append(
                f"| {one.sign} **{one.verdict}** | {one.sentence} | {_in_delta(one)} "
                f"| {one.delta:g} {one.unit}: {one.reason} | {', '.join(one.sets)} | {one.n} "
                f"| {one.needs} | {one.place} |"
            )
    return "\n".join(lines) + "\n"


def _in_delta(one: Line) -> str:
    if math.isnan(one.effect):
        return ""
    return f"{one.effect:+.2f} [{one.low:+.2f}, {one.high:+.2f}]"


def in_a_line_each(found: Sequence[Board]) -> str:
    """Return one line for each paper, for ``README.md``; its title leads to its own."""
    folders = {short_name(paper): paper for paper in PAPERS}
    lines = ["| paper | its primary claims |", "|---|---|"]
    for board in found:
        folder = folders.get(board.paper)
        title = f"[{board.title}](experiments/{folder}/README.md)" if folder else board.title
        lines.append(f"| {title} | {board.summary(names=True)} |")
    return "\n".join(lines) + "\n"


def in_words(board: Board) -> str:
    """Return a paper's primary claims with their effects, for its own ``README.md``."""
    if not board.lines:
        return f"{board.summary().capitalize()}.\n"
    lines = ["| verdict | primary claim | effect [interval] | δ | place |", "|---|---|---|---|---|"]
    for one in board.lines:
        verdict = f"{one.sign} {one.verdict}" + f" ({one.needs})" * bool(one.needs)
        own = one.in_units()
        effect = (
            "" if math.isnan(own.effect) else f"{own.effect:.3f} [{own.low:.3f}, {own.high:.3f}]"
        )
        lines.append(
            f"| {verdict} | {one.sentence} | {effect} | {one.delta:g} {one.unit} | {one.place} |"
        )
    return "\n".join(lines) + "\n"


HEAD = """# Claims of the papers, and what we found

Written by `python -m experiments decide` and `redraw`. A **primary claim** is one sentence that a
paper itself puts forward, declared with its sets, its smallest effect of interest δ and its
repetitions before a row of it was computed, and judged on repetitions that nobody had seen. The
verdict is read off one interval, in units of δ: *reproduced* lies above 0 with an effect of δ at
least; *right way, too small* lies between 0 and δ; *no effect* inside ±δ with 0 in it; *not better*
below δ; *opposite* below 0; else *undecided*. A claim that two are the same is *reproduced* where
the interval lies inside ±δ, one that little is lost where it lies above -δ. All intervals of a
paper hold together with 95 %, however often one looked. Of an undecided claim the repetitions that
there are predict the chance that its declared ones decide it; where that is below 5 %, more of them
on the same test data are not worth their time, and other data are needed.
"""


def write(results: Path, declared: Declared, artefacts: Sequence[Artefact]) -> None:
    """Write ``claims.md``, ``gaps.csv``, orders of methods, and what READMEs have between markers.

    Parameters
    ----------
    results, declared, artefacts
        As for :func:`boards`.
    """
    found = boards(results, declared, artefacts)
    text = HEAD + as_markdown(found)
    write_atomically(results / "claims.md", text.encode())
    gaps = output.gaps_found(results, artefacts)
    write_atomically(results / "gaps.csv", output.csv_bytes(gaps))
    for name, table in output.orders(results, artefacts).items():
        write_atomically(results / name, output.csv_bytes(table))
    for path, summary in summaries(results.parent, found).items():
        if path.exists():
            old = path.read_text(encoding="utf-8")
            write_atomically(path, with_summary(old, summary).encode())


def summaries(root: Path, found: Sequence[Board]) -> dict[Path, str]:
    """Return what belongs between the markers of each README."""
    folders = {short_name(paper): root / "experiments" / paper for paper in PAPERS}
    own = {folders[b.paper] / "README.md": in_words(b) for b in found if b.paper in folders}
    return {root / "README.md": in_a_line_each(found), **own}


def with_summary(text: str, summary: str) -> str:
    """Return a README with the scoreboard between its two markers, if it has them."""
    head, marker, after = text.partition(_BEGIN)
    _, closed, tail = after.partition(_END)
    return head + _BEGIN + summary + _END + tail if marker and closed else text


def without_summary(text: str) -> str:
    """Return a README without its markers and what is between them."""
    head, marker, after = text.partition(_BEGIN)
    _, closed, tail = after.partition(_END)
    return head + tail.lstrip("\n") if marker and closed else text
