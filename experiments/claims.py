"""Checkable sentences of a paper, and what our rows say about them.

A verdict is drawn from one interval: the confidence interval of the effect at level
1 - 0.05/m, where m is the number of claims of the artefact on which a verdict is drawn
(Bonferroni, so that all of an artefact's intervals hold together with 95 %).

* *reproduced*: the interval lies above 0, and the effect is at least the smallest effect of
  interest;
* *not reproduced*: the interval lies below the smallest effect of interest;
* *inconclusive*: neither, or fewer than five repetitions;
* *not run at this scale*: there are no rows on it, for example on 10,000 rounds where 1,000 were
  run;
* *not testable here*: the data are a stand-in of ours, which could contain the claim;
* *denied by the paper's own table*: of the numbers that the paper prints the same effect is not
  above 0. That is a verdict on the paper, whatever our data say.

The paper's own numbers come first, then the kind of data, then whether there are rows. A
simulation that needs no data (:mod:`experiments.data_kinds`) can be judged like real data.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from experiments.cell import rounded
from experiments.data_kinds import EXTENTS, KIND, extent
from experiments.estimates import Estimate, over_seeds, over_trials, over_units

ERROR_RATE = 0.05
"""Chance that any of an artefact's intervals misses its effect."""

FEWEST_SEEDS = 5
"""Repetitions from which a verdict is drawn."""

JUDGED = ("real", KIND)
"""Kinds of data on which a verdict is drawn."""

REPRODUCED, NOT_REPRODUCED, INCONCLUSIVE = "reproduced", "not reproduced", "inconclusive"
NOT_RUN, NOT_TESTABLE = "not run at this scale", "not testable here"
DENIED = "denied by the paper's own table"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, INCONCLUSIVE, NOT_RUN, NOT_TESTABLE, DENIED)
"""All verdicts there are, in the order they are counted."""

_BINARY_ERROR = 1e-9


@dataclass(frozen=True)
class Claim:
    """One checkable sentence of a paper.

    Attributes
    ----------
    id : str
        Short name, unique within the artefact.
    sentence : str
        What the paper says, made precise.
    place : str
        Where it says so.
    dataset : str
        Data set it is tested on.
    smallest_effect : float
        Smallest effect of interest, set before any result was seen; > 0.
    unit : str
        Unit of the effect.
    effects : callable
        ``rows -> (n,) float``: positive where the claim holds, one value per repetition or, with
        ``spread="units"``, per query or test row; NaN values are left out. With
        ``spread="trials"``, ``rows -> (k, 3) float``, see
        :func:`experiments.estimates.over_trials`.
    spread : {"seeds", "units", "trials"}
        Where the uncertainty comes from: repetitions (paired t interval), the units of one test
        set (bootstrap, BCa), or independent trials that fail or not (Clopper and Pearson).
    overlap : float
        Share of test rows that two repetitions have in common, in [0, 1]. Repetitions that re-split
        the same rows are correlated; the t interval is widened as Nadeau and Bengio do (Machine
        Learning 52, 2003), variance s²·(1/n + overlap/(1 - overlap)). With a fixed test set, 1,
        nothing of that sort can be known: the interval is the plain one and speaks for these test
        rows only, which the sentence should say.
    paper_effect : float
        The same effect of the numbers that the paper prints; NaN where it prints none.
    """

    id: str
    sentence: str
    place: str
    dataset: str
    smallest_effect: float
    unit: str
    effects: Callable[[pd.DataFrame], np.ndarray]
    spread: str = "seeds"
    overlap: float = 0.0
    paper_effect: float = math.nan


@dataclass(frozen=True)
class Subject:
    """What the claims on one panel of a figure have in common.

    Attributes
    ----------
    key, name : str
        The panel's key, with which their ids begin, and what sentences call its data.
    dataset : str
        See :class:`Claim`.
    overlap : float
        See :class:`Claim`; with 1 each sentence says that it speaks for these test queries only.
    """

    key: str
    name: str
    dataset: str
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


def verdict(claim: Claim, kind: str, measured: bool, estimate: Estimate) -> str:
    """Draw the verdict; see the head of this module.

    Parameters
    ----------
    claim : Claim
        What is judged.
    kind : str
        Of the data: one of :data:`JUDGED`, or ``"stand-in"``.
    measured : bool
        Whether there are rows on it.
    estimate : Estimate
        Its effect.
    """
    if is_denied(claim):
        return DENIED
    if kind not in JUDGED:
        return NOT_TESTABLE
    if not measured:
        return NOT_RUN
    fewest = FEWEST_SEEDS if claim.spread == "seeds" else 2
    if estimate.n < fewest or math.isnan(estimate.low):
        return INCONCLUSIVE
    if estimate.high < claim.smallest_effect:
        return NOT_REPRODUCED
    if estimate.low > 0 and estimate.effect >= claim.smallest_effect:
        return REPRODUCED
    return INCONCLUSIVE


def is_denied(claim: Claim) -> bool:
    """Whether the paper's printed numbers contradict its sentence: their effect is not above 0.

    Differences of printed decimals are not exact in binary; what is 0 but for that is 0.
    """
    return claim.paper_effect < _BINARY_ERROR


def evaluate(
    claims: Sequence[Claim], rows: pd.DataFrame, data: Mapping[str, Mapping]
) -> pd.DataFrame:
    """Test the claims of one artefact.

    Parameters
    ----------
    claims : sequence of Claim
        All claims of the artefact: the number of those that are tested sets the correction.
    rows : DataFrame
        The artefact's rows.
    data : Mapping
        Provenance of each data set; ``kind`` is one of :data:`JUDGED` or ``"stand-in"``.

    Returns
    -------
    DataFrame
        One row per claim: ``claim, dataset, data, extent`` (whole set, part, simulation or
        stand-in), ``verdict, effect, low, high, level, n, smallest_effect, detectable``
        (the smallest effect that would be detected), ``paper_effect, unit, sentence, place``.
    """
    measured = [
        (claim, data[claim.dataset], np.asarray(claim.effects(rows), dtype=np.float64))
        for claim in claims
        if claim.dataset in data
    ]
    # What nothing was measured for is not tested, so it widens no other claim's interval.
    drawn = sum(record["kind"] in JUDGED and effects.size > 0 for _, record, effects in measured)
    level = 1 - ERROR_RATE / max(drawn, 1)
    return pd.DataFrame([_evaluate_one(*one, level) for one in measured], columns=_COLUMNS)


_COLUMNS = [
    *("claim", "dataset", "data", "extent", "verdict", "effect", "low", "high", "level", "n"),
    *("smallest_effect", "detectable", "paper_effect", "unit", "sentence", "place"),
]


def _evaluate_one(claim: Claim, record: Mapping, effects: np.ndarray, level: float) -> dict:
    if claim.spread == "trials":
        estimate = over_trials(effects, level)
    elif claim.spread == "seeds":
        estimate = over_seeds(effects[~np.isnan(effects)], level, claim.overlap)
    else:
        estimate = over_units(effects[~np.isnan(effects)], level)
    return {
        "claim": claim.id,
        "dataset": claim.dataset,
        "data": record["kind"],
        "extent": extent(record),
        "verdict": verdict(claim, record["kind"], effects.size > 0, estimate),
        **{name: rounded(getattr(estimate, name)) for name in ("effect", "low", "high")},
        "level": rounded(level),
        "n": estimate.n,
        "smallest_effect": claim.smallest_effect,
        "detectable": rounded(estimate.detectable),
        "paper_effect": rounded(claim.paper_effect),
        "unit": claim.unit,
        "sentence": claim.sentence,
        "place": claim.place,
    }


def _effect(row: Mapping) -> str:
    """Return effect and interval of an evaluated claim, as far as there are any."""
    if math.isnan(row["effect"]):
        return "no effect measured"
    text = f"{row['effect']:+.4f} {row['unit']}"
    if not math.isnan(row["low"]):
        text += f" [{row['low']:+.4f}, {row['high']:+.4f}]"
    return text


def sentence(row: Mapping) -> str:
    """Return one line on an evaluated claim: verdict, effect, interval."""
    text = f"{row['verdict']:21s} {row['claim']}: {_effect(row)}"
    text += f", smallest effect of interest {row['smallest_effect']:g}"
    if row["verdict"] == INCONCLUSIVE and not math.isnan(row["detectable"]):
        text += f", smallest detectable effect {row['detectable']:.4f}"
    if not math.isnan(row["paper_effect"]):
        text += f", the paper's own {row['paper_effect']:+.4g}"
    return text


def counted(verdicts: Sequence[str]) -> str:
    """Return a sentence that counts verdicts, in the order of :data:`VERDICTS`."""
    if not verdicts:
        return "No claims are made of it."
    counts = [(list(verdicts).count(one), one) for one in VERDICTS if one in verdicts]
    if len(verdicts) == 1:
        return f"The one claim is {verdicts[0]}."
    texts = [f"{n:,} {one}" for n, one in counts]
    texts[0] = texts[0].replace(" ", " are " if counts[0][0] > 1 else " is ", 1)
    listed = " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))
    return f"Of {len(verdicts):,} claims {listed}."


def count_by_extent(claims: Iterable[Mapping]) -> dict[str, dict[str, int]]:
    """Return for each verdict how many claims rest on whole sets, on parts and so on.

    Parameters
    ----------
    claims : iterable of Mapping
        Evaluated claims, with ``verdict`` and ``extent``.

    Returns
    -------
    dict of str to dict of str to int
        All of :data:`VERDICTS` and :data:`~experiments.data_kinds.EXTENTS`, in that order.
    """
    counts = Counter((claim["verdict"], claim["extent"]) for claim in claims)
    return {name: {part: counts[name, part] for part in EXTENTS} for name in VERDICTS}


def _by_extent(claims: Sequence[Mapping]) -> list[str]:
    """Return :func:`count_by_extent` as a sentence and a markdown table."""
    counts = count_by_extent(claims)
    reproduced = counts[REPRODUCED]
    lines = [
        f"Of the {sum(reproduced.values())} claims that are reproduced, "
        f"{reproduced['whole set']} rest on whole sets, {reproduced['part']} on parts of them "
        f"and {reproduced['simulation']} on simulations of what the paper itself defines.",
        "",
        f"| verdict | {' | '.join(EXTENTS)} | all |",
        "|---|" + "---:|" * (len(EXTENTS) + 1),
    ]
    total = [sum(numbers[part] for numbers in counts.values()) for part in EXTENTS]
    rows = {name: list(numbers.values()) for name, numbers in counts.items()}
    for name, numbers in {**rows, "**all**": total}.items():
        lines.append(f"| {name} | {' | '.join(str(n or '') for n in numbers)} | {sum(numbers)} |")
    return lines


def summary(tables: Mapping[str, tuple[Mapping, pd.DataFrame]]) -> str:
    """Return one markdown table: how many claims of each artefact got which verdict.

    Parameters
    ----------
    tables : Mapping of str to (meta, DataFrame)
        As for :func:`scoreboard`; artefacts without claims are left out.

    Returns
    -------
    str
        Artefacts in the order they are given in.
    """
    lines = [
        f"| | {' | '.join(VERDICTS)} |",
        "|---|" + "---:|" * len(VERDICTS),
    ]
    counts = {
        meta["title"]: [int((table["verdict"] == verdict).sum()) for verdict in VERDICTS]
        for meta, table in tables.values()
        if len(table)
    }
    total = [sum(column) for column in zip(*counts.values(), strict=True)] or [0] * len(VERDICTS)
    for title, numbers in {**counts, "**all**": total}.items():
        lines.append(f"| {title} | {' | '.join(str(n or '') for n in numbers)} |")
    return "\n".join(lines) + "\n"


def scoreboard(tables: Mapping[str, tuple[Mapping, pd.DataFrame]]) -> str:
    """Return ``claims.md``: one table of all published claims.

    Parameters
    ----------
    tables : Mapping of str to (meta, DataFrame)
        For each artefact its ``meta.json`` and its evaluated claims, in the order they are to
        stand in.
    """
    claims = [claim for _, table in tables.values() for claim in table.to_dict("records")]
    lines = [
        "# Claims of the papers, and what we found",
        "",
        "Written by `python -m experiments reproduce … --publish`. Intervals are those of all of "
        "an artefact's claims together (95 %). On a stand-in that we wrote no verdict is drawn: "
        "it could contain the claim. The paper's own effect is the same quantity, of the numbers "
        "it prints, where it prints any. The smallest effect of interest was set beforehand; the "
        "smallest detectable one is what so many repetitions of such a spread would find in four "
        "cases of five. A *decade* is a factor of ten: half the cost is 0.301 decades less.",
        "",
        *_by_extent(claims),
    ]
    for artefact_id, (meta, table) in tables.items():
        if table.empty:
            continue
        lines += ["", f"## {meta['title']} (`{artefact_id}`, scale {meta['scale']})", ""]
        lines += [
            "| verdict | data | claim | effect [interval] | the paper's own "
            "| smallest effect of interest | smallest detectable | place |",
            "|---|---|---|---|---:|---:|---:|---|",
        ]
        for row in table.to_dict("records"):
            detectable = "" if math.isnan(row["detectable"]) else f"{row['detectable']:.4f}"
            paper = "" if math.isnan(row["paper_effect"]) else f"{row['paper_effect']:+.4g}"
            data = f"{row['dataset']} ({row['extent']})"
            lines.append(
                f"| **{row['verdict']}** | {data} | {row['sentence']} "
                f"| {_effect(row)}, n = {row['n']} | {paper} | {row['smallest_effect']:g} "
                f"| {detectable} "
                f"| {row['place']} |"
            )
    return "\n".join(lines) + "\n"
