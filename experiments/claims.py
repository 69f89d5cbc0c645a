"""Checkable sentences of a paper, and what our rows say about them: description, no verdict.

What became of a paper is answered by its few primary claims (:mod:`experiments.primaries`), which
were declared before their rows were computed. All else is here: an effect with its plain 95 %
interval, beside the smallest effect of interest that was set beforehand. One in twenty such
intervals misses, so nothing is concluded from a single one. Where there is none, or it says less
than it seems, a note says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from experiments.cell import rounded
from experiments.data_kinds import SYNTHETIC, extent
from experiments.estimates import (
    Estimate,
    do_not_vary,
    over_crossed,
    over_seeds,
    over_trials,
    over_units,
)
from experiments.primaries.verdicts import DENIED, is_denied

FEWEST_SEEDS = 5
"""Repetitions below which a note says that there are few."""


@dataclass(frozen=True)
class Claim:
    """One checkable sentence of a paper."""

    id: str  # Short name, unique among the paper's claims on its data set
    sentence: str  # What the paper says, made precise
    place: str  # Where it says so
    dataset: str  # Data set it is tested on
    smallest_effect: float  # Smallest effect of interest, set before any result was seen; > 0
    unit: str  # Unit of the effect
    # ``rows -> (n,) float``: positive where the claim holds, one value per repetition or, with
    # ``spread="units"``, per query or test row; NaN values are left out. With ``spread="crossed"``,
    # ``rows -> (n, n_queries) float``; with ``spread="trials"``, ``rows -> (k, 3) float``, see
    # :func:`experiments.estimates.over_trials`
    effects: Callable[[pd.DataFrame], np.ndarray]
    # Where the uncertainty comes from: repetitions (paired t interval), the units of one test set
    # (for these trainings), repetitions and queries together, or independent trials that fail or
    # not (Clopper and Pearson)
    spread: str = "seeds"
    # Share of test rows that two repetitions have in common, in [0, 1]. Repetitions that re-split
    # the same rows are correlated; the t interval is widened as Nadeau and Bengio do (Machine
    # Learning 52, 2003), variance s²·(1/n + overlap/(1 - overlap)). With a fixed test set, 1,
    # nothing of that sort can be known: the interval is the plain one and speaks for these test
    # rows only, which the sentence should say
    overlap: float = 0.0
    # The same effect of the numbers that the paper prints; NaN where it prints none
    paper_effect: float = math.nan


@dataclass(frozen=True)
class Subject:
    """What the claims on one panel of a figure have in common."""

    # key, name: The panel's key, with which their ids begin, and what sentences call its data
    key: str
    name: str
    dataset: str  # See :class:`Claim`
    # See :class:`Claim`; with 1 each sentence says that it speaks for these test queries only
    overlap: float

    def claim(
        self,
        name: str,
        text: str,
        place: str,
        smallest_effect: float,
        unit: str,
        effects: Callable,
        **given,
    ) -> Claim:
        """Return a claim; `effects` is called with the rows, ``panel`` and what is given."""
        only = " (on these test queries, the same for every seed)" if self.overlap == 1 else ""
        return Claim(
            id=f"{self.key}-{name}",
            sentence=f"{self.name}: {text}{only}.",
            place=place,
            dataset=self.dataset,
            smallest_effect=smallest_effect,
            unit=unit,
            effects=partial(effects, panel=self.key, **given),
            overlap=self.overlap,
        )


COLUMNS = (
    *("claim", "dataset", "data", "extent", "effect", "low", "high", "n"),
    *("smallest_effect", "paper_effect", "unit", "note", "sentence", "place"),
)
"""Columns of ``claims.csv``."""


def evaluate(
    claims: Sequence[Claim], rows: pd.DataFrame, data: Mapping[str, Mapping]
) -> pd.DataFrame:
    """Describe what the rows of an artefact say of its claims."""
    found = [
        _describe(claim, rows, data[claim.dataset]) for claim in claims if claim.dataset in data
    ]
    return pd.DataFrame(found, columns=list(COLUMNS))


def _describe(claim: Claim, rows: pd.DataFrame, record: Mapping) -> dict:
    effects = np.asarray(claim.effects(rows), dtype=np.float64)
    known = effects if effects.ndim == 2 else effects[~np.isnan(effects)]
    estimate = _estimate(claim, known)
    where = extent(record)
    return {
        "claim": claim.id,
        "dataset": claim.dataset,
        "data": record["kind"],
        "extent": where,
        **{name: rounded(getattr(estimate, name)) for name in ("effect", "low", "high")},
        "n": estimate.n,
        "smallest_effect": claim.smallest_effect,
        "paper_effect": rounded(claim.paper_effect),
        "unit": claim.unit,
        "note": "; ".join(_notes(claim, where, effects, known)),
        "sentence": claim.sentence,
        "place": claim.place,
    }


def _estimate(claim: Claim, known: np.ndarray) -> Estimate:
    if known.size == 0:
        return Estimate(0, math.nan)
    if claim.spread == "seeds":
        return over_seeds(known, overlap=claim.overlap)
    return {"units": over_units, "crossed": over_crossed, "trials": over_trials}[claim.spread](
        known
    )


STANDS_IN = "synthetic: contains what we built into it"
NOT_RUN = "not run at this scale"


def _notes(claim: Claim, where: str, effects: np.ndarray, known: np.ndarray) -> list[str]:
    """Say what keeps an effect from saying more; nothing of most."""
    notes = [DENIED] * is_denied(claim.paper_effect) + [STANDS_IN] * (where == SYNTHETIC)
    if effects.size == 0:
        return [*notes, NOT_RUN]
    what = "repetition" if claim.spread in ("seeds", "crossed") else "unit"
    if known.size == 0:
        return [*notes, f"no {what} has a value"]
    if lost := len(effects) - len(known):
        notes.append(f"{lost} of {len(effects)} {what}s without a value")
    if claim.spread == "trials":
        return notes
    if claim.spread == "crossed":
        n, n_queries = known.shape
        notes.append(f"{n} repetition{'s' * (n > 1)} × {n_queries} queries")
    elif len(known) == 1:
        notes.append(f"one {what}")
    elif do_not_vary(known):
        notes.append(f"all {len(known)} values are equal")
    elif what == "repetition" and len(known) < FEWEST_SEEDS:
        notes.append("fewer than five repetitions")
    return notes


def shown_effect(row: Mapping) -> str:
    """Return effect and interval of a described claim, as far as there are any."""
    if math.isnan(row["effect"]):
        return "no effect measured"
    text = f"{row['effect']:+.4f} {row['unit']}"
    if not math.isnan(row["low"]):
        text += f" [{row['low']:+.4f}, {row['high']:+.4f}]"
    return text


def sentence(row: Mapping) -> str:
    """Return one line on a described claim: effect, interval, notes."""
    text = f"{row['claim']}: {shown_effect(row)}, n = {row['n']}"
    text += f", smallest effect of interest {row['smallest_effect']:g}"
    if not math.isnan(row["paper_effect"]):
        text += f", the paper's own {row['paper_effect']:+.4g}"
    return f"{text} ({row['note']})" if row["note"] else text


def described(tables: Mapping[str, tuple[Mapping, pd.DataFrame]]) -> str:
    """Return one markdown table for each artefact that has claims."""
    lines = []
    for artefact_id, (meta, table) in tables.items():
        if table.empty:
            continue
        lines += ["", f"### {meta['title']} (`{artefact_id}`, scale {meta['scale']})", ""]
        lines += [
            "| claim | data | effect [95 % interval] | n | smallest of interest | the paper's own "
            "| note | place |",
            "|---|---|---|---:|---:|---:|---|---|",
        ]
        for row in table.to_dict("records"):
            paper = "" if math.isnan(row["paper_effect"]) else f"{row['paper_effect']:+.4g}"
            lines.append(
                f"| {row['sentence']} | {row['dataset']} ({row['extent']}) | {shown_effect(row)} "
                f"| {row['n']} | {row['smallest_effect']:g} | {paper} | {row['note']} "
                f"| {row['place']} |"
            )
    return "\n".join(lines) + "\n"
