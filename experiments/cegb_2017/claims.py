"""What the CEGB paper says, as claims: its sentences, their places, and what would count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from experiments.cegb_2017.show.design import tradeoffs
from experiments.cegb_2017.show.frames import (
    DATASET as FRAMES,
)
from experiments.cegb_2017.show.frames import (
    PANEL as FRAMES_PANEL,
)
from experiments.cegb_2017.show.frames import (
    better,
    coarser,
    similar,
)
from experiments.cegb_2017.show.panels import PANELS, panel_name
from experiments.cegb_2017.show.penalties import (
    CONVERGES_LOWER,
    LARGE,
    PROGRAMS_TRADEOFF,
    SHOWN,
    SIMILAR,
    cost_saved,
    deeper_than_paths,
    fewer_buy_dear,
    loss_within,
    nearer_to_free,
    score_lost,
)
from experiments.cegb_2017.show.queries import lead_of_each_query, loss_of_each_query
from experiments.cegb_2017.show.training_time import VARIANTS, ratios
from experiments.claims import Claim, Subject
from experiments.curves import HALF_THE_COST, advantage, saving_by_validation

# --- Figure 2 -------------------------------------------------------------------------------------

_SMALLEST_EFFECT = 0.005
_PLACES = {
    "a": 'section 5, Fig. 2a: "even the shallow trees are already always strictly better"',
    "b": 'section 5, Fig. 2b: "again performs significantly better than others"',
    "c": 'section 5, Fig. 2c: "a significantly better predictor"',
    "d": 'section 5, Fig. 2d: "a significantly better predictor"',
    "e": 'section 5, Fig. 2e: "a classifier with a better tradeoff than GreedyMiser"',
    "f": 'section 5, Fig. 2f: "a classifier with a better tradeoff than GreedyMiser"',
}
_DEEP_PLACE_A = 'section 5, Fig. 2a: "better accuracy at a much lower cost"'
_PLACE_ELSEWHERE = "section 5 says it of Figs. 2a to 2f; asked of these data here"
_PAPER_ACCOUNTING = "where every row pays for all features of Greedy Miser's forest, "
_LIKE_2A = ("a", "a'", "y")
"""Yahoo! LTR, what is like it, and a part of it: Fig. 2a says more of these data."""


def of_figure2(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return for each panel that both CEGBs beat Greedy Miser, in both accountings; more of 2a."""
    claims = []
    for panel in PANELS:
        mine = rows[rows["panel"] == panel.key]
        if mine.empty:
            continue
        dataset = mine["dataset"].iloc[0]
        overlap = meta["data"][dataset].get("test_overlap", 0.0)
        subject = Subject(panel.key, panel_name(panel, dataset), dataset, overlap)
        claims += _height_claims(subject, "accuracy" if panel.relevant_from is None else "AP@5")
        if panel.key in _LIKE_2A:
            claims += _claims_like_2a(subject)
    return claims


def _place(key: str, word: str) -> str:
    if key[0] == "a":
        return _DEEP_PLACE_A if word == "deep" else _PLACES["a"]
    if word == "shallow":
        return "section 5 says it of Fig. 2a; asked of every data set here"
    return _PLACES.get(key[0], _PLACE_ELSEWHERE)


def _height_claims(subject: Subject, unit: str) -> list[Claim]:
    """Return that deep and shallow CEGB score higher on average, by the meter and by the paper.

    "Always strictly better" is no effect of its own: the smallest lead over many budgets lies below
    0 by chance alone, for either method.
    """
    claims = []
    for ending, accounting, where in (("", "", ""), ("-paper", "_paper", _PAPER_ACCOUNTING)):
        for method, word in (("cegb", "deep"), ("cegb_shallow", "shallow")):
            claims.append(
                subject.claim(
                    f"{word}{ending}",
                    f"{where}{word} CEGB scores higher than Greedy Miser at equal cost",
                    _place(subject.key, word),
                    _SMALLEST_EFFECT,
                    unit,
                    advantage,
                    better=method,
                    worse="greedy_miser",
                    accounting=accounting,
                )
            )
    return claims


def saved(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return by how many decades deep CEGB is cheaper, where validation says that it is as good."""
    return saving_by_validation(rows, panel, "cegb", "greedy_miser")[0]


def kept(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return what the model of :func:`saved` scores above Greedy Miser's on the test set."""
    return -saving_by_validation(rows, panel, "cegb", "greedy_miser")[1]


def _claims_like_2a(subject: Subject) -> list[Claim]:
    """Return that deep CEGB needs much less cost for as good a score, and what that score is."""
    chosen = "the cheapest deep CEGB that validates no worse than Greedy Miser's best "
    return [
        subject.claim(
            "saving",
            chosen + "costs at most half as much",
            _DEEP_PLACE_A,
            HALF_THE_COST,
            "decades of cost",
            saved,
        ),
        subject.claim(
            "saving-kept",
            chosen + "scores higher on the test set",
            _DEEP_PLACE_A,
            _SMALLEST_EFFECT,
            "AP@5",
            kept,
        ),
    ]


# --- Figure 3 -------------------------------------------------------------------------------------

_NEARER = 0.1
_FEWER_ROWS = 0.1
_DEEPER = 0.0414
"""log10(1.1): a tenth."""

_FIG_3A = "section 5.1, Fig. 3a: "
_SECTION_43 = 'section 4.3: "deep trees that are nevertheless cheap to compute on average"'
_SUBSET = 'section 5.1: "limiting usage of expensive features to a small subset of inputs"'
_FIG_3B = 'section 5.1, Fig. 3b: "always reaches a higher accuracy for a given prediction cost"'


def of_figure3(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return what section 5.1 says, for each data set."""
    claims = []
    for panel in SHOWN:
        mine = rows[rows["panel"] == panel.key]
        if mine.empty:
            continue
        there = set(mine["tradeoff"])
        overlap = meta["data"][panel.dataset].get("test_overlap", 0.0)
        claim = Subject(panel.key, panel_name(panel, panel.dataset), panel.dataset, overlap).claim
        claims += _penalty_claims(claim, there)
        claims += _growth_claims(claim)
        if LARGE[-1] in there:
            claims += _cheap_though_deep(claim)
    return claims


def _penalty_claims(claim: Callable, tradeoffs: set[float]) -> list[Claim]:
    """Return the claims of Fig. 3a for those λ that were run."""
    similar = _FIG_3A + '"a large λ reach similar accuracy as those with smaller λ"'
    cheaper = _FIG_3A + '"at a much cheaper cost"'
    lower = _FIG_3A + '"Only λ = 0.001 converges to a lower accuracy"'
    unit = _FIG_3A + '"behaves similarly to one learned with λ = 0"'
    claims = []
    for t in (t for t in LARGE if t in tradeoffs):
        text = f"λ = {t:g} ends less than {SIMILAR:g} below the score of λ = 0"
        claims.append(
            claim(
                f"similar-{t:g}",
                text,
                similar,
                _SMALLEST_EFFECT,
                f"AP@5 inside the {SIMILAR:g}",
                loss_within,
                tradeoff=t,
            )
        )
        text = f"λ = {t:g} ends at no more than half the cost of λ = 0"
        claims.append(
            claim(
                f"cheaper-{t:g}",
                text,
                cheaper,
                HALF_THE_COST,
                "decades of cost",
                cost_saved,
                tradeoff=t,
            )
        )
    for t in (t for t in (PROGRAMS_TRADEOFF, CONVERGES_LOWER) if t in tradeoffs):
        text = f"λ = {t:g} ends with a lower score than λ = 0"
        name = f"lower-{t:g}"
        claims.append(claim(name, text, lower, _SMALLEST_EFFECT, "AP@5", score_lost, tradeoff=t))
    if CONVERGES_LOWER in tradeoffs:
        t = CONVERGES_LOWER
        text = f"trained at β = 1 with λ = {t:g}, the final cost is nearer to λ = 0 than to β"
        claims.append(
            claim("unit-costs", text, unit, _NEARER, "decades of cost", nearer_to_free, tradeoff=t)
        )
    return claims


def _growth_claims(claim: Callable) -> list[Claim]:
    """Return the claim of Fig. 3b, on average over budgets."""
    text = "best-first growth scores higher than breadth-first at equal cost"
    both = {"better": "cegb", "worse": "cegb_breadth_first"}
    return [claim("best-first", text, _FIG_3B, _SMALLEST_EFFECT, "AP@5", advantage, **both)]


def _cheap_though_deep(claim: Callable) -> list[Claim]:
    """Return why deep trees are cheap: few rows buy dear features, and few go all the way down."""
    t = LARGE[-1]
    few = f"with λ = {t:g} fewer rows buy a feature of the highest price than with λ = 0"
    deep = f"with λ = {t:g} best-first trees reach further below their mean path than breadth-first"
    dear = (_FEWER_ROWS, "share of test rows", fewer_buy_dear)
    return [
        claim("dear", few, _SUBSET, *dear, tradeoff=t),
        claim("deeper", deep, _SECTION_43, _DEEPER, "decades", deeper_than_paths, tradeoff=t),
    ]


# --- Figure 4 -------------------------------------------------------------------------------------

_PLACE = 'section 5.2, Fig. 4b: "similar accuracy with a significantly smaller evaluation cost"'
_PLACE_C = 'section 5.2, Fig. 4c: "Coarser resolutions allow a very efficient prediction at the cost of accuracy"'  # noqa: E501
SMALLEST = 0.005
"""Smallest difference in SEG of interest."""


def of_figure4(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return the claims of panels b and c."""
    claims, only = [], "(12 consecutive frames of one sequence, silver truth)"
    for name, text, place, smallest, unit, effects in (
        (
            "similar",
            "at half of plain boosting's cost or less, CEGB's SEG is at most 0.01 lower",
            *(_PLACE, SMALLEST, "SEG (0.01 less what is lost)", similar),
        ),
        (
            "better-at-half",
            "CEGB's SEG is higher than that of plain boosting with fewer rounds, both held to half "
            "of plain boosting's cost",
            *(_PLACE, SMALLEST, "SEG", better),
        ),
        (
            "coarser-cheaper",
            "CEGB with all four resolutions costs at most half as much as with the finest alone",
            *(_PLACE_C, HALF_THE_COST, "decades of cost", partial(coarser, column="test_cost")),
        ),
        (
            "coarser-worse",
            "CEGB with all four resolutions has a lower SEG than with the finest alone",
            *(_PLACE_C, SMALLEST, "SEG", partial(coarser, column="test_score")),
        ),
    ):
        claims.append(
            Claim(
                id=f"{FRAMES_PANEL}-{name}",
                sentence=f"Microscopy {only}: {text}.",
                place=place,
                dataset=FRAMES,
                smallest_effect=smallest,
                unit=unit,
                effects=effects,
                spread="units",
            )
        )
    return claims


# --- beside the paper: training time --------------------------------------------------------------

AT_MOST = 1.5
"""As many times as long is comparable; the paper gives no number."""

_SMALLEST_RATIO = 0.263  # log2(1.5 / 1.25)


def margin(rows: pd.DataFrame, dataset: str, method: str) -> np.ndarray:
    """Return log2 of how far below :data:`AT_MOST` the ratio lies, one value per seed."""
    return np.log2(AT_MOST / ratios(rows, dataset, method)).to_numpy()


def of_training_time(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return for each data set the claim, with and without CEGB's smaller trees."""
    claims = []
    for dataset in dict.fromkeys(rows["dataset"]):
        for method, name in VARIANTS.items():
            claims.append(
                Claim(
                    id=f"{dataset}-{method.replace('_', '-')}",
                    sentence=f"{dataset}: training {name} takes less than {AT_MOST:g} times as "
                    "long as plain boosting.",
                    place='abstract: "its learning time is comparable to that of the original '
                    'gradient boosting"',
                    dataset=dataset,
                    smallest_effect=_SMALLEST_RATIO,
                    unit=f"doublings below {AT_MOST:g}",
                    effects=partial(margin, dataset=dataset, method=method),
                )
            )
    return claims


# --- beside the paper: over queries ---------------------------------------------------------------


def of_queries(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return the claims of Figures 2 and 3 whose effects are means over queries."""
    return [over_queries for _, over_queries in both_kinds(rows, meta)]


def both_kinds(rows: pd.DataFrame, meta: Mapping) -> list[tuple[Claim, Claim]]:
    """Return each claim as the figures have it, over repetitions, and over queries.

    The figures' own smallest effects, places and words: nothing is declared twice.
    """
    models = rows[rows["kind"] == "model"]
    pairs = []
    for claims, mine in (
        (of_figure2(models, meta), partial(_of_figure_2, meta["scale"])),
        (of_figure3(models, meta), _all),
    ):
        for claim in claims:
            how = _BY_QUERY.get(claim.effects.func)
            if how is not None:
                pairs.append((_over_seeds_of(claim, mine), _over_queries(claim, how, mine)))
    return pairs


def _of_figure_2(scale: str, rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out deep CEGB's models of those λ that Figure 3 alone has."""
    own = pd.Series(True, index=rows.index)
    for panel in PANELS:
        mine = (rows["panel"] == panel.key) & (rows["algorithm"] == "cegb")
        own &= ~mine | rows["tradeoff"].isin(tradeoffs(scale, panel, "cegb"))
    return rows[own]


def _all(rows: pd.DataFrame) -> pd.DataFrame:
    return rows


def _over_seeds_of(claim: Claim, mine: Callable) -> Claim:
    def effects(rows: pd.DataFrame) -> np.ndarray:
        return claim.effects(mine(rows[rows["kind"] == "model"]))

    return replace(claim, effects=effects)


def _over_queries(claim: Claim, how: Callable, mine: Callable) -> Claim:
    """Return a claim over test queries; its sentence says what it speaks for.

    Where all repetitions have the same queries, for new trainings and new queries; where each has
    its own, for these trainings and new queries.
    """
    fixed = claim.overlap == 1
    said = ("new trainings" if fixed else "these trainings") + ", on queries like these"
    text = claim.sentence.removesuffix(".")
    text = text.removesuffix(" (on these test queries, the same for every seed)")

    def effects(rows: pd.DataFrame) -> np.ndarray:
        each = how(mine(rows), **claim.effects.keywords)
        return (np.stack if fixed else np.concatenate)(each) if each else np.empty(0)

    return replace(
        claim,
        id=f"{claim.id}-over-queries",
        sentence=f"{text} ({said}).",
        spread="crossed" if fixed else "units",
        effects=effects,
    )


def within(rows: pd.DataFrame, panel: str, tradeoff: float) -> list[np.ndarray]:
    """Return what is left on each query of the margin that Figure 3 calls similar."""
    lost = loss_of_each_query(rows, panel, tradeoff)
    return [SIMILAR - each for each in lost]


_BY_QUERY = {
    advantage: lead_of_each_query,
    loss_within: within,
    score_lost: loss_of_each_query,
}
"""For each effect over repetitions that is a mean over queries: the same on each query.

Left out are costs and shares of rows, which queries do not have.
"""
