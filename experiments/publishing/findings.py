"""What a paper's verdicts come to: what holds, what does not, what hangs, what is open."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from experiments.claims.verdicts import (
    DECIDED,
    DENIED,
    MIXED,
    NO_EFFECT,
    NOT_BETTER,
    OPPOSITE,
    REPRODUCED,
    TOO_SMALL,
    UNDECIDED,
)
from experiments.publishing.claim_lines import Line, Read

_FACTORS = {"decades": 10.0, "doublings": 2.0}
"""Units that are logarithms, with their base."""

_NAMES = {
    "TPR": "in true positive rate",
    "AP@5": "in average precision at 5",
    "NDCG@5": "in NDCG at 5",
    "precision@5": "in precision at 5",
    "accuracy": "in accuracy",
}
"""How a number in a unit is read, where the unit alone does not say it."""

_WORDS = {
    TOO_SMALL: "{claim}, but by less than {delta} ({size}).",
    NO_EFFECT: "{claim}: no, the difference is less than {delta} ({size}).",
    NOT_BETTER: "{claim}: no, or by less than {delta} ({size}).",
    OPPOSITE: "{claim}: no, {otherwise} ({size}).",
    MIXED: "{claim} on some sets, and the opposite on others (on average {size}).",
    UNDECIDED: "{claim}: not known ({size}).",
}
"""What is said of a claim that has not the verdict that the paper would like."""

_OTHERWISE = {
    "direction": "the opposite",
    "margin": "more is lost",
    "equivalence": "they differ by more",
}
"""What the opposite of each kind of claim is."""


def findings(lines: Sequence[Line], *, also_open: bool = True) -> list[tuple[str, str]]:
    """Return up to four findings, each with what it is, from the claims' own sentences.

    Of several the first declared counts, before it those that are robust, and of these first those
    that are not known to be of these data alone; what a reading contradicts neither holds nor
    fails. Of readings that contradict a claim the one that moves its effect the most counts. Where
    our rows say of none that it does not hold, the paper's own table may deny one. What was not run
    has no effect to tell.

    Parameters
    ----------
    lines : sequence of Line
    also_open : bool
        Whether to say what is open where something does not hold, too.
    """
    lines = [line for line in lines if not math.isnan(line.effect)]
    decided = [line for line in lines if line.verdict in DECIDED and not line.due]
    sure = [line for line in decided if not line.hangs]
    sure.sort(key=lambda line: (not line.robust, line.carries_over == "no"))
    kinds = {
        "Holds": [one for one in sure if one.verdict == REPRODUCED],
        "Does not hold": [one for one in sure if one.verdict != REPRODUCED],
        "Denied by the paper's own table": [one for one in lines if one.verdict == DENIED],
        "Open": [one for one in lines if one.verdict == UNDECIDED and not one.due],
    }
    found = {what: of_line(ones[0]) for what, ones in kinds.items() if ones}
    _, fails, denied, is_open = kinds
    if fails in found:
        found.pop(denied, None)
    if not also_open and (fails in found or denied in found):
        found.pop(is_open, None)
    said = [*found.items()]
    hanging = [(line, read) for line in decided for read in line.readings if read.contradicts]
    waiting = [line for line in lines if line.due and line.was]
    if hanging:
        said.append(("Hangs on a reading", _hangs(hanging)))
    elif waiting:
        said.append(("Hangs on a rule", _waits(waiting[0])))
    return said


def of_line(line: Line) -> str:
    """Return a claim's sentence with its effect in its own unit, worded by its verdict."""
    size = amount(line.effect, line.unit)
    if line.verdict in DECIDED:
        size += {"no": ", on these data alone", "yes": ", new data too"}.get(line.carries_over, "")
    if line.verdict == UNDECIDED:
        size += f", {_signed(line.found.low)} to {_signed(line.found.high)}"
    return _WORDS.get(line.verdict, "{claim} ({size}).").format(
        claim=_short(line.sentence),
        size=size,
        delta=f"{line.delta:.2g} {line.unit}",
        otherwise=_OTHERWISE[line.kind],
    )


def amount(effect: float, unit: str) -> str:
    """Say an effect in its unit; one that is a logarithm as a factor, too."""
    text = f"{_signed(effect)} {_NAMES.get(unit, unit)}"
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
