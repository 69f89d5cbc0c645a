"""From rows to verdicts on a paper's primary claims."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.cell import rounded
from experiments.data_kinds import KIND
from experiments.primaries.declared import FIRST_SEED, Part, Primary
from experiments.primaries.pooling import (
    Pooled,
    SetMean,
    chance,
    enough,
    of_drawn_queries,
    of_queries,
    of_repetitions,
    pooled,
)
from experiments.primaries.stages import Look, looks, next_after
from experiments.primaries.verdicts import (
    DENIED,
    NOT_TESTABLE,
    RULES,
    UNDECIDABLE,
    UNDECIDED,
    is_denied,
)
from experiments.publishing.output import DamagedResults

COLUMNS = (
    *("paper", "claim", "sentence", "place", "sets", "delta", "unit", "reason"),
    *("effect", "low", "high", "level", "n", "tau", "of_sets", "verdict", "needs", "floor"),
    "chance",
)
"""Columns of ``results/primary_claims.csv``."""

_FOLD = 0.25  # of a fold's variance no number of folds of the same rows removes

OTHER_DATA = "other test data"
"""What a claim needs that more repetitions of its sets do not decide, or hardly."""

LEAST_CHANCE = 0.05
"""Of a verdict; with less, more repetitions of the same data are not worth their time."""

Runs = Mapping[str, tuple[pd.DataFrame, Mapping[str, Any]]]
"""For each artefact that was run its rows and its ``meta``."""


class Judged(NamedTuple):
    """A claim and what its rows say."""

    primary: Primary
    verdict: str
    # Repetitions of each set that the interval rests on; before the first look those there are
    n: int
    look: Look | None  # The look at which it was judged; None before the first
    next: Look | None  # The look that would decide more; None if it is decided or at its limit
    found: Pooled | None  # Effect and interval; None before the first look
    # Predicted probability that one of the looks that are left decides it; NaN where nothing is to
    # be predicted
    chance: float = math.nan

    @property
    def hopeless(self) -> bool:
        """Whether more repetitions would hardly decide it."""
        return hopeless(self.chance)


def hopeless(chance: float) -> bool:
    """Whether a predicted chance of a verdict is below :data:`LEAST_CHANCE`; False of NaN."""
    return chance < LEAST_CHANCE


def judge(primary: Primary, runs: Runs, n_claims: int) -> Judged:
    """Judge a claim by the rows of its sets."""
    effects = [_effects(part, runs) for part in primary.parts]
    n = min(len(values) for values in effects)
    all_looks = looks(primary.looks, n_claims)
    if n and any(_kind(part, runs) not in ("real", KIND) for part in primary.parts):
        return Judged(primary, NOT_TESTABLE, n, None, None, None)
    last = found = None
    denied = is_denied(primary.paper_effect)
    for look in all_looks:
        if look.n > n:
            break
        sets = [
            _mean(part, _of_first(part, runs, look.n, whole), runs)
            for part, whole in zip(primary.parts, effects, strict=True)
        ]
        last, found = look, pooled(sets, look.level, primary.delta)
        verdict = RULES[primary.kind](found, primary.delta)
        if verdict != UNDECIDED and not denied:
            return Judged(primary, verdict, look.n, look, None, found)
    if denied:
        return Judged(primary, DENIED, n if last is None else last.n, last, None, found)
    if primary.undecidable and last:
        return Judged(primary, UNDECIDABLE, last.n, last, None, found)
    following = next_after(all_looks, n)
    if last is None:
        return Judged(primary, UNDECIDED, n, None, following, None)
    left = [look for look in all_looks if look.n > last.n]
    best = max((_chance(primary, sets, look) for look in left), default=math.nan)
    return Judged(primary, UNDECIDED, last.n, last, following, found, best)


def _chance(primary: Primary, sets: Sequence[SetMean], look: Look) -> float:
    """Chance that a look decides, by the sets' means of an earlier one."""
    return chance(sets, look.n, look.level, primary.delta, partial(_decides, primary))


def _decides(primary: Primary, found: Pooled) -> bool:
    return RULES[primary.kind](found, primary.delta) != UNDECIDED


def as_row(judged: Judged, paper: str) -> dict[str, Any]:
    """Return a line of ``results/primary_claims.csv``."""
    primary, found = judged.primary, judged.found
    numbers = ("effect", "low", "high", "tau", "floor")
    known = {name: math.nan if found is None else getattr(found, name) for name in numbers}
    return {
        "paper": paper,
        "claim": primary.id,
        "sentence": primary.sentence,
        "place": primary.place,
        "sets": " ".join(part.dataset for part in primary.parts),
        "delta": primary.delta,
        "unit": primary.unit,
        "reason": primary.reason,
        **{name: rounded(value) for name, value in known.items()},
        "of_sets": " ".join(f"{v:.6g}" for v in (() if found is None else found.of_sets)),
        "level": math.nan if judged.look is None else rounded(judged.look.level),
        "n": judged.n,
        "verdict": judged.verdict,
        "needs": needs(judged),
        "chance": rounded(judged.chance),
    }


def needs(judged: Judged) -> str:
    """Say what an undecided claim still needs; nothing of one that is decided."""
    if judged.verdict == UNDECIDABLE:
        return judged.primary.undecidable
    if judged.verdict != UNDECIDED:
        return ""
    if judged.hopeless:
        return OTHER_DATA
    if judged.next is not None:
        return f"{judged.next.n - judged.n} more repetitions of each set"
    wanted = enough(judged.found, judged.n, partial(_decides, judged.primary))
    if math.isinf(wanted):
        return OTHER_DATA
    return f"about {wanted:.0f} repetitions of each set, beyond its declared limit"


def outlook(primary: Primary, chance: float) -> str:
    """Say how likely the declared repetitions decide; nothing where that is not predicted."""
    if math.isnan(chance):
        return ""
    said = f"{chance:.0%}"
    if not 0.01 <= chance <= 0.99:  # a prediction is never sure
        said = "less than 1%" if chance < 0.01 else "more than 99%"
    return f"a verdict by {primary.looks[-1]} repetitions has a chance of {said}"


def table(primaries: Sequence[Primary], runs: Runs, paper: str) -> pd.DataFrame:
    """Judge all primary claims of a paper, in their order."""
    rows = [as_row(judge(one, runs, len(primaries)), paper) for one in primaries]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _effects(part: Part, runs: Runs) -> np.ndarray:
    """Effects of a set's repetitions, in the order of their seeds; empty if it was not run."""
    if part.artefact not in runs:
        return np.empty(0)
    rows, meta = runs[part.artefact]
    if part.dataset not in meta["data"]:
        return np.empty(0)
    return _effects_in(part, rows)


def _effects_in(part: Part, rows: pd.DataFrame) -> np.ndarray:
    try:
        return np.asarray(part.effects(rows), dtype=np.float64)
    except KeyError as error:
        raise DamagedResults(
            f"The repetitions that are kept of {part.artefact} lack {error}, which its effects "
            f"on {part.dataset} need.\nRestore them from version control, or remove them and "
            "decide anew."
        ) from error


def _of_first(part: Part, runs: Runs, n: int, effects: np.ndarray) -> np.ndarray:
    """Effects of the first `n` repetitions, by their rows alone.

    Later ones must not even choose a rival that is the best over all of them. `effects` are those
    of all repetitions.
    """
    rows, _ = runs[part.artefact]
    if "seed" in rows:
        mine = rows["dataset"] == part.dataset
        seeds = np.unique(rows.loc[mine, "seed"])
        later = seeds[seeds >= FIRST_SEED][n:]  # a drawing beside the repetitions is none of them
        if len(later):
            effects = _effects_in(part, rows[~mine | ~rows["seed"].isin(later)])
    return effects[:n]


def _kind(part: Part, runs: Runs) -> str:
    return runs[part.artefact][1]["data"][part.dataset]["kind"]


def _mean(part: Part, effects: np.ndarray, runs: Runs) -> SetMean:
    """Mean of a set, wider where its repetitions share rows.

    Where all test rows are the same for every repetition (an overlap of 1) nothing is known of new
    ones: the interval speaks for these, as the sentence says.
    """
    if effects.ndim == 2:
        return of_drawn_queries(effects) if np.isnan(effects).any() else of_queries(effects)
    overlap = runs[part.artefact][1]["data"][part.dataset].get("test_overlap") or 0.0
    shared = overlap / (1.0 - overlap) if overlap < 1 else 0.0
    return of_repetitions(effects, _FOLD if part.folds else shared)
