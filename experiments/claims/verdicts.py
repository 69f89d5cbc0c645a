"""The verdict on a claim: one interval of one pooled effect, held against 0 and ±δ."""

from __future__ import annotations

import math
from collections.abc import Sequence

from experiments.claims.pooling import Pooled

REPRODUCED = "reproduced"
TOO_SMALL = "right way, too small"
NO_EFFECT = "no effect (equivalent)"
NOT_BETTER = "not better"
OPPOSITE = "opposite"
MIXED = "mixed"
UNDECIDED = "undecided"
NOT_TESTABLE = "not testable here"
DENIED = "denied by the paper's own table"
WITHDRAWN = "withdrawn"
VERDICTS = (
    *(REPRODUCED, TOO_SMALL, NO_EFFECT, NOT_BETTER, OPPOSITE, MIXED),
    *(UNDECIDED, NOT_TESTABLE, DENIED, WITHDRAWN),
)
"""All verdicts on preregistered claims, in the order they are counted."""

DECIDED = VERDICTS[: VERDICTS.index(UNDECIDED)]
"""Those that an interval decides."""

SIGNS = dict(zip(VERDICTS, ("✓", "↗", "≈", "≤", "✗", "≶", "?", "–", "!", "×"), strict=True))
"""A sign for each."""

_BINARY_ERROR = 1e-9


def contradict(one: tuple[str, Pooled], other: tuple[str, Pooled], kind: str, delta: float) -> bool:
    """Whether the interval of one verdict has no effect of which the other speaks, or the reverse.

    One that is undecided contradicts none; that sets go opposite ways contradicts all else.
    """
    if not {one[0], other[0]} <= {*DECIDED}:
        return False
    if MIXED in (one[0], other[0]):
        return one[0] != other[0]
    return _excludes(one[1], other, kind, delta) or _excludes(other[1], one, kind, delta)


def _excludes(found: Pooled, other: tuple[str, Pooled], kind: str, delta: float) -> bool:
    low, high = spoken_of(*other, kind, delta)
    return found.high <= low or found.low >= high


def spoken_of(verdict: str, found: Pooled, kind: str, delta: float) -> tuple[float, float]:
    """Return the effects between which a decided verdict says that the true one lies."""
    if verdict == REPRODUCED:
        return {"direction": (delta, math.inf), "margin": (-delta, math.inf)}.get(
            kind, (-delta, delta)
        )
    if verdict == OPPOSITE:
        beyond = 0.0 if kind == "direction" else delta
        return (beyond, math.inf) if found.low > beyond else (-math.inf, -beyond)
    return {TOO_SMALL: 0.0, NO_EFFECT: -delta, NOT_BETTER: -math.inf}[verdict], delta


def is_denied(paper_effect: float) -> bool:
    """Whether the paper's printed numbers contradict its sentence: their effect is not above 0.

    Differences of printed decimals are not exact in binary; what is 0 but for that is 0. Where the
    paper prints none, NaN, nothing is denied.
    """
    return paper_effect < _BINARY_ERROR


def of_direction(found: Pooled, delta: float) -> str:
    """Judge "the effect is above 0"."""
    if found.low > 0 and found.high < delta:
        return TOO_SMALL
    if found.low > 0:
        return REPRODUCED if found.effect >= delta else UNDECIDED
    if found.high < 0:
        return OPPOSITE
    if found.high < delta:
        return NO_EFFECT if found.low > -delta else NOT_BETTER
    return UNDECIDED


def of_equivalence(found: Pooled, delta: float) -> str:
    """Judge "the two are the same": the whole interval of signed differences inside ±δ."""
    if -delta < found.low and found.high < delta:
        return REPRODUCED
    return OPPOSITE if found.low > delta or found.high < -delta else UNDECIDED


def of_margin(found: Pooled, delta: float) -> str:
    """Judge "loses less than δ": the effect is the first's lead, and -δ is the margin."""
    if found.low > -delta:
        return REPRODUCED
    return OPPOSITE if found.high < -delta else UNDECIDED


def is_mixed(sets: Sequence[Pooled]) -> bool:
    """Whether intervals of single sets exclude 0 on opposite sides."""
    return any(one.low > 0 for one in sets) and any(one.high < 0 for one in sets)


def of_claim(kind: str, found: Pooled, sets: Sequence[Pooled], delta: float) -> str:
    """Judge a claim by its pooled interval and by those of its sets.

    That two are the same, or that no more than a margin is lost, is asked first.
    """
    verdict = RULES[kind](found, delta)
    same = verdict == NO_EFFECT or (kind != "direction" and verdict == REPRODUCED)
    return MIXED if not same and is_mixed(sets) else verdict


RULES = {"direction": of_direction, "equivalence": of_equivalence, "margin": of_margin}
"""What kinds of claims there are, each with its rule."""
