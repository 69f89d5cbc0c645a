"""From rows to verdicts on a paper's preregistered claims."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.claims.declared import (
    FIRST_SEED,
    FOLDS,
    Claim,
    Part,
    Reading,
    base_of,
    n_judged,
)
from experiments.claims.pooling import (
    Pooled,
    SetMean,
    chance,
    of_divisions,
    of_drawn_queries,
    of_queries,
    of_repetitions,
    pooled,
)
from experiments.claims.stages import ERROR_RATE, Look, looks, next_after
from experiments.claims.verdicts import (
    DECIDED,
    DENIED,
    NOT_TESTABLE,
    RULES,
    UNDECIDED,
    WITHDRAWN,
    contradict,
    is_denied,
    of_claim,
)
from experiments.data_kinds import KIND
from experiments.publishing.output import DamagedResults

_FOLD = 0.25  # of a fold's variance no number of folds of the same rows removes

LEAST_CHANCE = 0.05
"""Of a verdict; with less, more repetitions of the same data are not worth their time."""

RESTS_ON = "rests on few divisions of"
"""What the mark of a verdict says that one set decides, see :attr:`Judged.loud`."""

LOUD, FEW = 0.75, 5
"""Share of a pooled variance, and degrees of freedom: a set with more of the one and fewer of the
other makes an interval miss up to three times as often as it says (``test_truths.py``)."""

Runs = Mapping[str, tuple[pd.DataFrame, Mapping[str, Any]]]
"""For each artefact that was run its rows and its ``meta``."""


class ReadAs(NamedTuple):
    """A reading of a claim and what its rows say."""

    reading: Reading
    verdict: str = ""  # Empty before its repetitions are there
    found: Pooled | None = None
    new: Pooled | None = None  # The interval for new data of the kind, where it is known
    own: Pooled | None = None  # The claim as it is, on as many first repetitions

    def contradicts(self, judged: Judged) -> bool:
        """Whether its interval and the claim's verdict cannot both hold, or the reverse."""
        ours, its = (judged.verdict, judged.found), (self.verdict, self.found)
        return contradict(ours, its, judged.claim.kind, judged.claim.delta)

    @property
    def changes_nothing(self) -> bool:
        """Whether it has the claim's own effect, because no method compared is another."""
        return None not in (self.own, self.found) and self.own.effect == self.found.effect

    @property
    def counts(self) -> bool:
        """Whether it was run and changes something."""
        return self.found is not None and not self.changes_nothing


class Judged(NamedTuple):
    """A claim and what its rows say."""

    claim: Claim
    verdict: str
    # Repetitions of each set that the interval rests on; before the first look those there are
    n: int
    look: Look | None  # The look at which it was judged; None before the first
    next: Look | None  # The look that would decide more; None if it is decided or at its limit
    found: Pooled | None  # Effect and interval; None before the first look
    # Predicted probability that one of the looks that are left decides it; NaN where nothing is to
    # be predicted
    chance: float = math.nan
    # The interval for new data of the kind; where it is not known, what is known of its width
    of_kind: Pooled | None = None
    is_known: bool = False  # Whether it is known, see :func:`_never_changes`
    none_as_good: str = ""  # For each set in how many repetitions no model validates as well
    readings: tuple[ReadAs, ...] = ()

    @property
    def new(self) -> Pooled | None:
        """The interval for new data of the kind, None where nothing is known of them."""
        return self.of_kind if self.is_known else None

    @property
    def is_due(self) -> bool:
        """Whether it stays as it was published until fresh repetitions are made."""
        return bool(self.claim.seen) and self.next is not None

    @property
    def carries_over(self) -> str:
        """Whether the interval for new data has the same verdict; empty where none is known."""
        if self.new is None or self.verdict not in DECIDED or self.is_due:
            return ""
        return "yes" if _verdict(self.claim, self.new) == self.verdict else "no"

    @property
    def contradicted_by(self) -> list[str]:
        """Names of the readings that contradict it."""
        return [one.reading.name for one in self.readings if one.contradicts(self)]

    @property
    def robust(self) -> str:
        """Whether it is decided and no reading contradicts it; empty where none counts."""
        if not any(one.counts for one in self.readings):
            return ""
        return "yes" if self.verdict in DECIDED and not self.contradicted_by else "no"

    @property
    def marks(self) -> list[str]:
        """What is to be known beside the verdict, in few words each."""
        of_kind = {"yes": "carries over to new data", "no": "on these data alone"}
        decided = self.verdict in DECIDED and not self.is_due
        said = {
            "rule changed after rows were seen": decided and self.claim.seen > 0,
            of_kind.get(self.carries_over, "new data unknown"): decided,
            "robust": self.robust == "yes",
            "hangs on a reading": self.contradicted_by,
            f"{RESTS_ON} {self.loud}": decided and self.loud,
        }
        return [mark for mark, holds in said.items() if holds]

    @property
    def loud(self) -> str:
        """Name the set that varies far more than the others, by few divisions; empty if none does.

        Satterthwaite's freedom is too large then, and the interval misses more often than it says.
        """
        sets = () if self.found is None else self.found.sets
        variances = [one.variance() for one in sets]
        for one, variance, part in zip(sets, variances, self.claim.parts, strict=False):
            if len(sets) > 1 and variance > LOUD * sum(variances) and one.freedom() < FEW:
                return part.dataset
        return ""

    @property
    def hopeless(self) -> bool:
        """Whether more repetitions would hardly decide it."""
        return hopeless(self.chance)


def hopeless(chance: float) -> bool:
    """Whether a predicted chance of a verdict is below :data:`LEAST_CHANCE`; False of NaN."""
    return chance < LEAST_CHANCE


def judge(claim: Claim, runs: Runs, n_claims: int, published: str = "") -> Judged:
    """Judge a claim by the rows of its sets.

    Parameters
    ----------
    claim : Claim
    runs : Mapping
    n_claims : int
        Claims that share the paper's error rate.
    published : str
        Its published verdict, which stays where a changed rule turns it until repetitions are there
        of which no row had been seen.
    """
    effects = [_effects(part, runs) for part in claim.parts]
    n = min(len(values) for values in effects)
    if n and any(_kind(part, runs) not in ("real", KIND) for part in claim.parts):
        return Judged(claim, NOT_TESTABLE, n, None, None, None)
    judged = _by_looks(claim, effects, runs, looks(claim.looks, n_claims))
    if claim.seen:
        judged = _by_fresh(claim, effects, runs, n_claims, judged, published)
    judged = judged._replace(none_as_good=_counts(judged, runs))
    readings = tuple(_read_as(claim, one, effects, runs, n_claims) for one in claim.readings)
    judged = judged._replace(readings=readings)
    for verdict, why in ((DENIED, is_denied(claim.paper_effect)), (WITHDRAWN, claim.withdrawn)):
        if why:
            judged = judged._replace(verdict=verdict, next=None, chance=math.nan)
    return judged


def _by_looks(claim: Claim, effects: list, runs: Runs, all_looks: Sequence[Look]) -> Judged:
    """Judge at each look until one decides."""
    n = min(len(values) for values in effects)
    last = found = None
    for look in (look for look in all_looks if look.n <= n):
        chosen = [
            _of_first(part, runs, look.n, whole)
            for part, whole in zip(claim.parts, effects, strict=True)
        ]
        found = _pooled(claim, chosen, look.level)
        last, verdict = look, _verdict(claim, found)
        judged = Judged(claim, verdict, look.n, look, None, found)
        judged = _with_new_data(judged, chosen, runs)
        if verdict != UNDECIDED:
            return judged
    following = next_after(all_looks, n)
    if last is None:
        return Judged(claim, UNDECIDED, n, None, following, None)
    left = [look for look in all_looks if look.n > last.n]
    best = max((_chance(claim, found.sets, look) for look in left), default=math.nan)
    return judged._replace(next=following, chance=best)


def _by_fresh(
    claim: Claim, effects: list, runs: Runs, n_claims: int, seen: Judged, published: str
) -> Judged:
    """Judge by repetitions beyond those that had been seen; until then as it was published."""
    look = Look(claim.seen + claim.fresh, 1 - ERROR_RATE / n_claims)
    if min(len(values) for values in effects) < look.n:
        return seen._replace(verdict=published or UNDECIDED, next=look, chance=math.nan)
    chosen = [
        _of_first(part, runs, look.n, whole)[claim.seen :]
        for part, whole in zip(claim.parts, effects, strict=True)
    ]
    found = _pooled(claim, chosen, look.level)
    judged = Judged(claim, _verdict(claim, found), claim.fresh, look, None, found)
    return _with_new_data(judged, chosen, runs)


def _read_as(claim: Claim, reading: Reading, own: list, runs: Runs, n_claims: int) -> ReadAs:
    """Judge a reading at its declared repetitions, as the claim would be at its only look."""
    level, asked = 1 - ERROR_RATE / n_claims, replace(claim, parts=reading.parts)
    effects = [_effects(part, runs) for part in reading.parts]
    if (chosen := _first_of(asked, reading, effects, runs)) is None:
        return ReadAs(reading)
    found = _pooled(asked, chosen, level)
    of_kind, is_known = _for_new_data(asked, found, level, chosen, runs)
    ours = _first_of(claim, reading, own, runs)
    return ReadAs(
        reading,
        _verdict(asked, found),
        found,
        of_kind if is_known else None,
        None if ours is None else _pooled(claim, ours, level),
    )


def _first_of(claim: Claim, reading: Reading, effects: list, runs: Runs) -> list | None:
    """Effects of a claim's sets in as many repetitions as a reading has; None if some lack."""
    pairs = list(zip(claim.parts, effects, strict=True))
    if any(len(values) < reading.n_of(part) for part, values in pairs):
        return None
    return [_of_first(part, runs, reading.n_of(part), values) for part, values in pairs]


def _pooled(claim: Claim, effects: Sequence[np.ndarray], level: float) -> Pooled:
    """Return the interval on these data."""
    folds = [FOLDS if part.folds else 1 for part in claim.parts]
    sets = [of_divisions(values, k) for values, k in zip(effects, folds, strict=True)]
    return pooled(sets, level, claim.delta)


def _verdict(claim: Claim, found: Pooled) -> str:
    return of_claim(claim.kind, found, found.of_each(), claim.delta)


def _counts(judged: Judged, runs: Runs) -> str:
    """Say for each set in how many repetitions no model validates as well; - where unrecorded."""
    claim, look = judged.claim, judged.look
    if look is None or all(part.none is None for part in claim.parts):
        return ""
    mine = slice(look.n - judged.n, look.n)  # the fresh ones, where these alone are judged
    counts = [
        "-" if part.none is None else f"{np.sum(part.none(runs[part.artefact][0])[mine]):g}"
        for part in claim.parts
    ]
    return " ".join(counts)


def _chance(claim: Claim, sets: Sequence[SetMean], look: Look) -> float:
    """Chance that a look decides, by the sets' means of an earlier one."""
    return chance(sets, look.n, look.level, claim.delta, partial(decides, claim))


def decides(claim: Claim, found: Pooled) -> bool:
    """Whether an interval does; that sets go opposite ways is not predicted."""
    return RULES[claim.kind](found, claim.delta) != UNDECIDED


def judge_all(
    claims: Sequence[Claim], runs: Runs, published: Mapping[str, str] | None = None
) -> list[Judged]:
    """Judge all claims of a paper, in their order; `published` are earlier verdicts."""
    n, before = n_judged(claims), published or {}
    return [judge(one, runs, n, before.get(one.id, "")) for one in claims]


def _effects(part: Part, runs: Runs) -> np.ndarray:
    """Effects of a set's repetitions, in the order of their seeds; empty if it was not run."""
    if part.artefact not in runs:
        return np.empty(0)
    if part.dataset not in runs[part.artefact][1]["data"]:
        return np.empty(0)
    return _effects_in(part, _rows(part, runs))


def _rows(part: Part, runs: Runs) -> pd.DataFrame:
    """Rows that effects are of.

    Of an artefact with other parameters the methods that are set have rows; beside them stand the
    claim's own rows of the other methods, or of all, of the same repetitions. A method that lacks
    some of them is left out, so that nothing is judged by fewer.
    """
    rows, _ = runs[part.artefact]
    base = base_of(part.artefact)
    if base == part.artefact:
        return rows
    mine = rows[rows["dataset"] == part.dataset]
    theirs = runs[base][0] if base in runs else rows[:0]
    theirs = theirs[(theirs["dataset"] == part.dataset) & theirs["seed"].isin(mine["seed"])]
    if not part.as_well:
        theirs = theirs[~theirs["algorithm"].isin(mine["algorithm"])]
    counts = theirs.groupby("algorithm")["seed"].transform("nunique")
    theirs = theirs[counts == mine["seed"].nunique()]
    return pd.concat([mine, theirs], ignore_index=True)


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
    rows = _rows(part, runs)
    if "seed" in rows:
        mine = rows["dataset"] == part.dataset
        seeds = np.unique(rows.loc[mine, "seed"])
        later = seeds[seeds >= FIRST_SEED][n:]  # a drawing beside the repetitions is none of them
        if len(later):
            effects = _effects_in(part, rows[~mine | ~rows["seed"].isin(later)])
    return effects[:n]


def _kind(part: Part, runs: Runs) -> str:
    return runs[part.artefact][1]["data"][part.dataset]["kind"]


def _with_new_data(judged: Judged, effects: Sequence[np.ndarray], runs: Runs) -> Judged:
    """Add the interval for new data of the kind."""
    asked = (judged.claim, judged.found, judged.look.level)
    of_kind, is_known = _for_new_data(*asked, effects, runs)
    return judged._replace(of_kind=of_kind, is_known=is_known)


def _for_new_data(
    claim: Claim, here: Pooled, level: float, effects: Sequence[np.ndarray], runs: Runs
) -> tuple[Pooled, bool]:
    """Return the interval for new data, where rows, queries or pictures vary, and if it is known.

    It is never narrower than that on these data, though it may have more degrees of freedom: what
    varies there varies here.
    """
    pairs = list(zip(claim.parts, effects, strict=True))
    sets = [_mean(part, values, runs) for part, values in pairs]
    known = not any(_never_changes(part, values, runs) for part, values in pairs)
    found = pooled(sets, level, claim.delta)
    low, high = min(found.low, here.low), max(found.high, here.high)
    return replace(found, low=low, high=high), known


def _overlap(part: Part, runs: Runs) -> float:
    return runs[part.artefact][1]["data"][part.dataset].get("test_overlap") or 0.0


def _never_changes(part: Part, effects: np.ndarray, runs: Runs) -> bool:
    """Whether a set's test rows are always the same, and effects are not known by row.

    Nothing is known then of how others would differ.
    """
    return effects.ndim == 1 and not part.folds and _overlap(part, runs) >= 1


def _mean(part: Part, effects: np.ndarray, runs: Runs) -> SetMean:
    """Mean of a set for new data: wider where its repetitions share rows."""
    if effects.ndim == 2:
        return of_drawn_queries(effects) if np.isnan(effects).any() else of_queries(effects)
    overlap = _overlap(part, runs)
    shared = overlap / (1.0 - overlap) if overlap < 1 else 0.0
    return of_repetitions(effects, _FOLD if part.folds else shared)
