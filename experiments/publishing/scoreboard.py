"""The scoreboard: what became of each paper's claims, in ``claims.md`` and the READMEs.

It is read from ``results/primary_claims.csv``. A claim that is declared and not there yet stands on
it all the same, undecided, with what it needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from datasets.sources.storage import write_atomically
from experiments.artefact import Artefact
from experiments.claims import storing
from experiments.claims.confirming import Declared, every_artefact, minutes_left, minutes_to_read
from experiments.claims.judging import judge
from experiments.claims.lines import TOO_NEAR, as_row
from experiments.claims.verdicts import SIGNS, UNDECIDED, VERDICTS
from experiments.publishing import output
from experiments.publishing.claim_lines import NOTHING, Line, Read, line_of
from experiments.publishing.findings import findings
from experiments.registry import NAMES, PAPERS, short_name

_BEGIN, _END = "<!-- scoreboard -->\n", "<!-- end of scoreboard -->"


class Board(NamedTuple):
    """A paper's preregistered claims."""

    paper: str  # paper, title: Short name; title with authors and year
    title: str
    lines: tuple[Line, ...]  # In the order they are declared in

    def counts(self) -> dict[str, list[Line]]:
        """Return the claims of each verdict that occurs, in the order of the verdicts."""
        found = {name: [one for one in self.lines if one.verdict == name] for name in VERDICTS}
        return {name: lines for name, lines in found.items() if lines}

    def readings(self) -> dict[tuple[str, str], list[tuple[Line, Read]]]:
        """Return the claims that each reading is of, by what it is called and why it is taken."""
        found: dict[tuple[str, str], list[tuple[Line, Read]]] = {}
        for line in self.lines:
            for one in line.readings:
                found.setdefault((one.name + "†" * one.seen, one.reason), []).append((line, one))
        return found

    def summary(self, names: bool = False) -> str:
        """Return in one line how many claims became what, on request with their names."""
        if not self.lines:
            return "no preregistered claim is declared yet"
        said = []
        for verdict, lines in self.counts().items():
            short = ", ".join(one.claim.removeprefix(f"{self.paper}-") for one in lines)
            text = f"{SIGNS[verdict]} {len(lines)} {verdict}"
            text += self._why_open(len(lines)) if verdict == UNDECIDED else ""
            said.append(f"{text} ({short})" if names else text)
        return " · ".join([*said, self.robust()] if self.robust() else said)

    def robust(self) -> str:
        """Return how many claims are robust, of those read otherwise; empty if none is."""
        read = [one for one in self.lines if any(reading.counts for reading in one.readings)]
        return f"{sum(one.robust for one in read)} of {len(read)} robust" if read else ""

    def not_run(self) -> int:
        """Return how many undecided claims have no repetition yet."""
        return sum(one.n == 0 for one in self.lines if one.verdict == UNDECIDED)

    def _why_open(self, n_open: int) -> str:
        """Say how many undecided claims were not run, and how many hardly will be decided."""
        near = sum(one.needs.startswith(TOO_NEAR) for one in self.lines)
        counts = {"not run yet": self.not_run(), TOO_NEAR: near}
        everyone = {n_open: "all " if n_open > 1 else ""}  # the number would read as more
        said = [f"{everyone.get(n, f'{n} ')}{why}" for why, n in counts.items() if n]
        return f", {' and '.join(said)}" if said else ""


def boards(results: Path, declared: Declared, artefacts: Sequence[Artefact]) -> list[Board]:
    """Return the scoreboard of each paper, declared or not, in the order of papers."""
    judged, artefacts = storing.read_table(results), every_artefact(declared, artefacts)
    ids = [artefact.id for artefact in artefacts]
    known, kept = storing.measured(results, ids), storing.kept_repetitions(results, ids)
    given = {"artefacts": artefacts, "measured": known, "kept": kept}
    left, to_read = partial(minutes_left, **given), partial(minutes_to_read, **given)
    past, read = storing.published(results), storing.read_readings(results)
    titles = {short_name(paper): title for paper, title in PAPERS.items()}
    others = {name: name for name in declared if name not in titles}  # which tests have
    found = []
    for paper, title in {**titles, **others}.items():
        claims = declared.get(paper, ())
        rows = [judged.get(one.id) or as_row(judge(one, {}, 1), "") for one in claims]
        lines = (
            line_of(one, row, left, past.get(one.id), read, to_read)
            for one, row in zip(claims, rows, strict=True)
        )
        found.append(Board(paper, title, tuple(lines)))
    return found


def as_markdown(found: Sequence[Board]) -> str:
    """Return the scoreboard with numbers, for ``claims.md``."""
    lines = []
    for board in (one for one in found if one.lines):
        lines += ["", f"## {board.title}", "", f"{board.summary()}.", ""]
        lines += [
            "| verdict | claim | effect on these data | for new data | in δ | δ | on each set "
            "| n | beside | place |",
            "|---|---|---:|---:|---:|---|---|---:|---|---|",
        ]
        for one in board.lines:
            clauses = [one.needs] * bool(one.needs) + one.aside()
            beside = "; ".join(clause.rstrip(".") for clause in clauses)
            sets = "; ".join(
                f"{name} {its.in_words()}"
                for name, its in zip(
                    one.sets, one.of_sets or [NOTHING] * len(one.sets), strict=True
                )
            )
            lines.append(
                f"| {one.sign} **{one.verdict}** | {one.sentence} | {one.found.in_words()} "
                f"| {one.new.in_words()} | {one.found.scaled(1 / one.delta).in_words(2)} "
                f"| {one.delta:g} {one.unit}: {one.reason} | {sets} | {one.n} | {beside} "
                f"| {one.place} |"
            )
        lines += readings_in_words(board) + changes(board.lines)
    return "\n".join(lines) + "\n"


def readings_in_words(board: Board) -> list[str]:
    """Return the readings of a paper's claims, and whether any contradicts a verdict."""
    listed = [(line, read) for line in board.lines for read in line.readings]
    if not listed:
        return []
    return [
        *(
            "",
            "| reading | of | verdict | effect | why a reader may take it |",
            "|---|---|---|---|---|",
        ),
        *(
            f"| {read.name}{'†' * read.seen} | {line.claim} "
            f"| {read.verdict or f'not run yet, {read.needs}'}{', against it' * read.contradicts} "
            f"| {read.found.in_words()}{read.beside()} | {read.reason} |"
            for line, read in listed
        ),
    ]


def in_a_line_each(found: Sequence[Board]) -> str:
    """Return one line for each paper, for ``README.md``; its title leads to its own."""
    folders = {short_name(paper): paper for paper in PAPERS}
    lines = [
        "| paper | finding | claims; robust of those read otherwise |",
        "|---|---|---|",
    ]
    for board in found:
        folder = folders.get(board.paper)
        title = f"[{NAMES[folder]}](experiments/{folder}/README.md)" if folder else board.title
        found = findings(board.lines, also_open=False)
        said = " ".join(f"**{what}:** {text}" for what, text in found)
        lines.append(f"| {title} | {said} | {board.summary()} |")
    return "\n".join(lines) + "\n"


def in_words(board: Board) -> str:
    """Return a paper's preregistered claims with their effects, for its own ``README.md``."""
    if not board.lines:
        return f"{board.summary().capitalize()}.\n"
    lines = [
        "| verdict | preregistered claim | effect on these data | for new data | δ | beside "
        "| place |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in board.lines:
        verdict = f"{one.sign} {one.verdict}" + f" ({one.needs})" * bool(one.needs)
        lines.append(
            f"| {verdict} | {one.sentence} | {one.found.in_words()} | {one.new.in_words()} "
            f"| {one.delta:g} {one.unit} | {one.marks} | {one.place} |"
        )
    return "\n".join([*lines, *changes([one for one in board.lines if one.changed])]) + "\n"


def changes(lines: Sequence[Line]) -> list[str]:
    """Return what each verdict was as published, what it is, and why it may be another."""
    changed = [one for one in lines if one.was or one.changed]
    if not changed:
        return []
    return [
        *("", "| claim | was, as published | is | why |", "|---|---|---|---|"),
        *(
            f"| {one.claim} | {one.was or 'none'} | {one.verdict} {one.found.in_words()}"
            f"{', until fresh repetitions are made' * one.due} | {one.why} |"
            for one in changed
        ),
    ]


HEAD = """# Claims of the papers, and what we found

Written by `python -m experiments decide` and `redraw`. A **preregistered claim** is one sentence
that a paper itself puts forward, declared with its sets, its smallest effect of interest δ and its
repetitions before a row of it was computed, and judged on repetitions that nobody had seen; where
it was otherwise, that is said beside the verdict. Where a rule was changed after rows had been seen
and a verdict turns by it, it stays as it was published until fresh repetitions alone have judged
it. A claim that these leave open may be asked once more, of later ones alone; it counts twice then
among the claims of its paper. Every claim stands in a last table with what it was when it was first
published (`published_claims.csv`), by one interval that mixed two questions.

Two intervals are shown. *On these data* divisions and trainings vary; its unit is a whole division,
averaged over its folds. *For new data* of the kind rows, queries or pictures vary as well; where
test rows are always the same nothing is known of others. The verdict is read off the first:

* *reproduced* lies above 0 with an effect of δ at least; *right way, too small* between 0 and δ;
  *no effect* inside ±δ with 0 in it; *not better* below δ; *opposite* below 0; *mixed* has sets
  whose own intervals lie on opposite sides of 0; else *undecided*.
* That two are the same is *reproduced* inside ±δ, and *opposite* outside. That little is lost is
  *reproduced* above -δ, and *opposite* below.

The intervals on these data of a paper's claims hold together with 95 %, however often one looked.
Those for new data do so among themselves, as do those of single sets; a reading's is as wide as
that of a claim with one look. Of an undecided claim the repetitions that there are predict the
chance that its declared ones decide it; where that is below 5 %, its effect lies too near 0 or δ
for them. A set in folds has an interval from four whole divisions on. Where one of several sets
varies far more than the others, an interval may miss up to three times as often as it says with
four divisions of each (simulated): that *rests on few divisions*.

A **reading** is what another honest reader may have taken where a paper leaves it open. It is
judged on the first repetitions that there are, so that the other methods' rows are those of the
claim; beside it stands what the claim's own effect is on them, which is not the judged one where
later ones judge. † marks those of which a result had been seen when they were declared. A reading
contradicts a claim if its interval has no effect of which the claim's verdict speaks, or the
reverse: *reproduced* speaks of δ and more, *right way, too small* of 0 to δ, *no effect* of -δ to
δ, *not better* of less than δ, *opposite* of less than 0; that two are the same of -δ to δ, that
little is lost of -δ and more, and their opposites of all else. What is undecided contradicts
nothing. A decided claim that no reading contradicts is robust. A reading that has the claim's own
effect, because it changes no method that is compared, counts for nothing.
"""


def write(results: Path, declared: Declared, artefacts: Sequence[Artefact]) -> None:
    """Write ``claims.md``, ``gaps.csv``, orders of methods, and what READMEs have between markers.

    Parameters
    ----------
    results, declared, artefacts
        As for :func:`boards`.
    """
    found = boards(results, declared, artefacts)
    text = HEAD + minutes_taken(results, declared) + as_markdown(found)
    write_atomically(results / "claims.md", text.encode())
    gaps = output.gaps_found(results, artefacts)
    write_atomically(results / "gaps.csv", output.csv_bytes(gaps))
    for name, table in output.orders(results, artefacts).items():
        write_atomically(results / name, output.csv_bytes(table))
    for path, summary in summaries(results.parent, found).items():
        if path.exists():
            old = path.read_text(encoding="utf-8")
            write_atomically(path, with_summary(old, summary).encode())


MOST_MINUTES = 480
"""What readings of all claims should take on two cores."""


def minutes_taken(results: Path, declared: Declared) -> str:
    """Say how long the readings took that were run."""
    every = [one for claims in declared.values() for one in claims]
    ids = {part.artefact for one in every for read in one.readings for part in read.parts}
    took = storing.minutes_of(every, storing.measured(results, sorted(ids)))
    return (
        f"\nRuns that were made for readings alone took {took:,.0f} minutes of two cores, some of "
        f"them beside other work; {MOST_MINUTES} were meant for all. Those of each stand in "
        "`primary_readings.csv`.\n"
    )


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
