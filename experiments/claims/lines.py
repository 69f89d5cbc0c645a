"""Lines of the tables of claims and readings: what was judged, and what is still needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd

from experiments.cell import rounded
from experiments.claims.declared import Claim
from experiments.claims.judging import Judged, ReadAs, decides
from experiments.claims.pooling import Pooled, enough
from experiments.claims.verdicts import UNDECIDED

COLUMNS = (
    *("paper", "claim", "sentence", "place", "sets", "delta", "unit", "reason"),
    *("effect", "low", "high", "new_low", "new_high", "level", "n", "n_seen", "tau"),
    *("of_sets", "low_of_sets", "high_of_sets", "none_as_good"),
    *("verdict", "carries_over", "needs", "finds", "floor", "chance"),
    *("readings", "contradicted_by", "robust", "marks"),
)
"""Columns of ``results/primary_claims.csv``; `n_seen` are repetitions that were known when a rule
was changed: the verdict is read off `n` later ones alone."""

TOO_NEAR = "too near a bound"
"""What an effect is that more repetitions do not tell from 0 or δ, or hardly."""


def as_row(judged: Judged, paper: str) -> dict[str, Any]:
    """Return a line of ``results/primary_claims.csv``."""
    claim, found = judged.claim, judged.found
    known = _ends("", found, ("effect", "low", "high", "tau"))
    known |= _ends("new_", judged.new, ("low", "high"))
    known["finds"] = math.nan if found is None else rounded(found.finds * claim.delta)
    known |= _ends("", judged.of_kind, ("floor",))
    each = () if found is None else found.of_each()
    return {
        "paper": paper,
        "claim": claim.id,
        "sentence": claim.sentence,
        "place": claim.place,
        "sets": " ".join(part.dataset for part in claim.parts),
        "delta": claim.delta,
        "unit": claim.unit,
        "reason": claim.reason,
        **known,
        "of_sets": " ".join(f"{one.effect:.6g}" for one in each),
        "low_of_sets": " ".join(f"{one.low:.6g}" for one in each),
        "high_of_sets": " ".join(f"{one.high:.6g}" for one in each),
        "none_as_good": judged.none_as_good,
        "level": math.nan if judged.look is None else rounded(judged.look.level),
        "n": judged.n,
        "n_seen": claim.seen,
        "verdict": judged.verdict,
        "carries_over": judged.carries_over,
        "needs": needs(judged),
        "chance": rounded(judged.chance),
        "readings": "; ".join(f"{one.reading.name}: {_said(one)}" for one in judged.readings),
        "contradicted_by": "; ".join(judged.contradicted_by),
        "robust": judged.robust,
        "marks": "; ".join(judged.marks),
    }


def _said(read: ReadAs) -> str:
    """Say the verdict of a reading."""
    text = read.verdict or "not run yet"
    return text + ", as ours" * read.changes_nothing + " (exploratory)" * read.reading.seen


RULE_CHANGED = "its rule was changed"
"""What the need of a claim ends with that waits for fresh repetitions."""


def needs(judged: Judged) -> str:
    """Say what an undecided claim still needs; nothing of one that is decided."""
    if judged.claim.seen and judged.next is not None:
        return f"{judged.claim.fresh} fresh repetitions of each set: {RULE_CHANGED}"
    if judged.verdict != UNDECIDED:
        return ""
    if judged.hopeless:
        return TOO_NEAR
    if judged.next is not None:
        return f"{judged.next.n - judged.n} more repetitions of each set"
    wanted = enough(judged.found, judged.n, partial(decides, judged.claim))
    if math.isinf(wanted):
        return TOO_NEAR
    unit = max(one.unit for one in judged.found.sets)  # folds come in whole divisions
    whole = math.ceil(wanted / unit) * unit
    return f"about {whole} repetitions of each set, beyond its declared limit"


def outlook(claim: Claim, chance: float) -> str:
    """Say how likely the declared repetitions decide; nothing where that is not predicted."""
    if math.isnan(chance):
        return ""
    said = f"{chance:.0%}"
    if not 0.01 <= chance <= 0.99:  # a prediction is never sure
        said = "less than 1%" if chance < 0.01 else "more than 99%"
    return f"a verdict by {claim.looks[-1]} repetitions has a chance of {said}"


def table(judged: Sequence[Judged], paper: str) -> pd.DataFrame:
    """Return the lines of a paper's claims."""
    return pd.DataFrame([as_row(one, paper) for one in judged], columns=list(COLUMNS))


def readings_of(judged: Judged) -> list[dict[str, Any]]:
    """Return the lines of ``results/primary_readings.csv``: a claim's readings that were run."""
    return [
        {
            "claim": judged.claim.id,
            "reading": read.reading.name,
            "seen": int(read.reading.seen),
            "sets": " ".join(part.dataset for part in read.reading.parts),
            "n": " ".join(str(read.reading.n_of(part)) for part in read.reading.parts),
            **_ends("", read.found, ("effect", "low", "high")),
            **_ends("new_", read.new, ("low", "high")),
            **_ends("own_", read.own, ("effect", "low", "high")),
            "level": rounded(read.found.level),
            "verdict": read.verdict,
        }
        for read in judged.readings
        if read.found is not None
    ]


def _ends(prefix: str, found: Pooled | None, names: Sequence[str]) -> dict[str, float]:
    """Numbers of an interval, NaN where there is none."""
    return {
        prefix + name: math.nan if found is None else rounded(getattr(found, name))
        for name in names
    }
