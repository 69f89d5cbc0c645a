"""Says in one sentence what became of a paper, from the verdicts on its primary claims alone."""

from __future__ import annotations

from experiments.primaries import verdicts
from experiments.publishing.scoreboard import Board

_PREDICATES = {
    verdicts.REPRODUCED: ("is reproduced", "are reproduced"),
    verdicts.TOO_SMALL: (
        "goes the right way but is too small",
        "go the right way but are too small",
    ),
    verdicts.NO_EFFECT: ("shows no effect", "show no effect"),
    verdicts.NOT_BETTER: ("is not better", "are not better"),
    verdicts.OPPOSITE: ("comes out opposite", "come out opposite"),
    verdicts.MIXED: ("is mixed", "are mixed"),
    verdicts.UNDECIDED: ("is undecided", "are undecided"),
    verdicts.UNDECIDABLE: ("is undecidable on these data", "are undecidable on these data"),
    verdicts.NOT_TESTABLE: ("is not testable here", "are not testable here"),
    verdicts.DENIED: ("is denied by the paper’s own table", "are denied by the paper’s own table"),
    verdicts.WITHDRAWN: ("is withdrawn", "are withdrawn"),
}
_OPEN = (verdicts.UNDECIDED, verdicts.UNDECIDABLE, verdicts.NOT_TESTABLE)
_NOT_OURS = (*_OPEN, verdicts.DENIED, verdicts.WITHDRAWN)
"""Verdicts that say nothing of whether the claim holds in our rows."""


def answer(board: Board) -> str:
    """Return one sentence: whether the paper holds, and how many claims became what."""
    counts = {verdict: len(lines) for verdict, lines in board.counts().items()}
    if not counts:
        return "Not known yet: no primary claim is declared."
    not_run = board.not_run()
    aside = {verdicts.UNDECIDED: f" ({not_run} not run yet)" * bool(not_run)}
    parts = [
        f"{n} {_PREDICATES[verdict][n != 1]}{aside.get(verdict, '')}"
        for verdict, n in counts.items()
    ]
    n = len(board.lines)
    if len(parts) == 1:
        (verdict,) = counts
        more = aside.get(verdict, "")
        one = f"its one primary claim {_PREDICATES[verdict][False]}{more}"
        all_of_them = f"all of its {n} primary claims {_PREDICATES[verdict][True]}{more}"
        return f"{_lead(counts)}: {one if n == 1 else all_of_them}."
    listed = f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"{_lead(counts)}: of its {n} primary claims {listed}."


def _lead(counts: dict[str, int]) -> str:
    holding = counts.get(verdicts.REPRODUCED, 0)
    failing = sum(
        n for verdict, n in counts.items() if verdict not in (verdicts.REPRODUCED, *_NOT_OURS)
    )
    if holding + failing == 0:
        return "Not known yet"
    still_open = sum(counts.get(verdict, 0) for verdict in _OPEN)
    if 2 * still_open > sum(counts.values()):
        return "Mostly not known yet"
    so_far = " so far" if still_open else ""
    if failing == 0:
        return f"Holds{so_far}"
    return f"Does not hold{so_far}" if holding == 0 else f"Holds in part{so_far}"
