"""What a paper's verdicts come to: what holds, what does not, what hangs on a reading."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from experiments.claims.verdicts import DECIDED, DENIED, REPRODUCED, UNDECIDED
from experiments.publishing.claim_lines import Line, Read

_DENIED = "Denied by the paper's own table"

_FACTORS = {"decades": 10.0, "doublings": 2.0}
"""Units that are logarithms, with their base."""


def findings(lines: Sequence[Line]) -> list[tuple[str, str]]:
    """Return up to three findings, each with what it is, from the claims' own sentences.

    Of several the first declared counts, before it those that no reading contradicts and that carry
    over to new data; of readings that contradict a claim the one that moves its effect the most.
    Where our rows say of none that it does not hold, the paper's own table may deny one, or one is
    open. What was not run has no effect to tell.
    """
    lines = [line for line in lines if not math.isnan(line.effect)]
    sure = [line for line in lines if line.verdict in DECIDED and not line.due]
    sure.sort(key=lambda line: (not line.robust, line.carries_over == "no"))
    found = {
        "Holds": next((one for one in sure if one.verdict == REPRODUCED), None),
        "Does not hold": next((one for one in sure if one.verdict != REPRODUCED), None),
    }
    if found["Does not hold"] is None:
        denied = [(_DENIED, one) for one in lines if one.verdict == DENIED]
        unsure = [("Open", one) for one in lines if one.verdict == UNDECIDED and not one.due]
        found |= dict((denied or unsure)[:1])
    said = [(what, of_line(one)) for what, one in found.items() if one]
    hanging = [(line, read) for line in sure for read in line.readings if read.contradicts]
    waiting = [line for line in lines if line.due and line.was]
    if hanging:
        said.append(("Hangs on a reading", _hangs(hanging)))
    elif waiting:
        said.append(("Hangs on a rule", _waits(waiting[0])))
    return said


def of_line(line: Line) -> str:
    """Return a claim's sentence with its effect in its own unit, and its verdict if it fails."""
    failed = "" if line.verdict in (REPRODUCED, DENIED) else f", {line.verdict}"
    failed += ", on these data alone" * (line.carries_over == "no")
    return f"{_short(line.sentence)} ({amount(line.effect, line.unit)}{failed})."


def amount(effect: float, unit: str) -> str:
    """Say an effect in its unit; one that is a logarithm as a factor, too."""
    text = f"{_signed(effect)} {unit}"
    base = next((b for name, b in _FACTORS.items() if unit.startswith(name)), None)
    return text if base is None else f"{text}, a factor of {base ** abs(effect):.2g}"


def _signed(effect: float) -> str:
    return f"{effect:+.2g}".replace("-", "−", 1) if effect < 0 else f"{effect:+.2g}"


def _short(sentence: str) -> str:
    """A claim's sentence without what it says of the sets in brackets, and without its end."""
    return re.sub(r" \((?:of|on) [^()]*\)", "", sentence).rstrip(".")


def _hangs(hanging: Sequence[tuple[Line, Read]]) -> str:
    line, read = max(
        hanging, key=lambda one: abs(one[1].found.effect - one[0].effect) / one[0].delta
    )
    other = f"{read.verdict} ({_signed(read.found.effect)})"
    ours = f"{line.verdict} ({amount(line.effect, line.unit)})"
    name = f'"{read.name}"{" (exploratory)" * read.seen}'
    more = len({one.claim for one, _ in hanging}) - 1
    also = f" So {'does' if more == 1 else 'do'} {more} more." if more else ""
    return f"{_short(line.sentence)}: {ours}, but read {name} {other}.{also}"


def _waits(line: Line) -> str:
    return (
        f"{_short(line.sentence)} ({amount(line.effect, line.unit)}): {line.verdict}, until fresh "
        "repetitions judge."
    )
