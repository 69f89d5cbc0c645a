"""What the Greedy Miser paper says of things that stand beside its figures, as claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pandas as pd

from experiments.claims import Claim
from experiments.greedy_miser_2012.cells.divisions import AS_GOOD
from experiments.greedy_miser_2012.show import digits, divisions, scale
from experiments.greedy_miser_2012.show.choices import SAYS, SHOWN, effects
from experiments.greedy_miser_2012.show.training_time import panels_there, ratios

_SMALLEST_EFFECT = 0.005

# --- choices --------------------------------------------------------------------------------------

_MARGIN, _SURELY = 0.005, 0.0025
_STEP = 'section 5.2: "The algorithm is not particularly sensitive to the exact step-size η"'


def inside_margin(rows: pd.DataFrame, panel: str, variant: str) -> np.ndarray:
    """Return by how much the difference in score stays inside the margin, one value per seed.

    Sameness is judged on the signed differences, on the side of 0 where their mean lies: an
    interval above 0 says that theirs lies inside the margin on both sides.
    """
    signed = effects(rows, panel, variant)["score"].to_numpy()
    return _MARGIN - np.sign(signed.mean()) * signed


def of_choices(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return the one sentence of the paper on these choices, for each data set and step."""
    return [
        Claim(
            id=f"{panel.key}-{variant.replace('_', '-')}",
            sentence=f"{panel.name}: with {SAYS[variant]} the score differs by less than "
            f"{_MARGIN:g} on average.",
            place=_STEP,
            dataset=panel.dataset,
            smallest_effect=_SURELY,
            unit=f"NDCG@5 inside the {_MARGIN:g}",
            effects=partial(inside_margin, panel=panel.key, variant=variant),
            overlap=meta["data"][panel.dataset].get("test_overlap", 0.0),
        )
        for panel in SHOWN
        if (rows["panel"] == panel.key).any()
        for variant in ("step_0.05", "step_0.2")
    ]


# --- training time --------------------------------------------------------------------------------

AT_MOST = 1.25
"""As many times as long is comparable; the paper gives no number."""

_SMALLEST_RATIO = 0.1
"""Doublings: 1.17 times as long."""


def margin(rows: pd.DataFrame, dataset: str) -> np.ndarray:
    """Return log2 of how far below :data:`AT_MOST` the ratio lies, one value per seed."""
    return np.log2(AT_MOST / ratios(rows, dataset)).to_numpy()


def of_training_time(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return the paper's sentence for each data set."""
    return [
        Claim(
            id=f"{panel.key}-training",
            sentence=f"{panel.name}: training Greedy Miser takes at most "
            f"{AT_MOST / 2**_SMALLEST_RATIO:.3g} times as long as stage-wise regression, and "
            f"surely less than {AT_MOST:g} times.",
            place='section 6: "requires comparable amount of time as stage-wise regression"',
            dataset=panel.dataset,
            smallest_effect=_SMALLEST_RATIO,
            unit=f"doublings below {AT_MOST:g}",
            effects=partial(margin, dataset=panel.dataset),
        )
        for panel in panels_there(rows)
    ]


# --- MNIST at prices of families ------------------------------------------------------------------

IN_A_HUNDRED = 0.01
"""Accuracy: one image in a hundred."""


def of_digits(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return Figure 1's sentences on MNIST, with intervals over test images."""
    left = f"accuracy inside the {IN_A_HUNDRED:g}"
    place = "section 6, Fig. 1 right, of rankings"
    return [
        Claim(
            id=name,
            sentence=f"MNIST at prices of families: {text}.",
            place=place,
            dataset=digits.DIGITS.dataset,
            smallest_effect=smallest,
            unit=unit,
            effects=effects,
            spread="units",
        )
        for name, text, smallest, unit, effects in (
            ("n-at-a-tenth", "at a tenth of λ = 0's bill Greedy Miser loses less than 0.01",
             IN_A_HUNDRED / 2, left, partial(_inside_of_digits, share=0.1)),
            ("n-at-half", "at half of λ = 0's bill Greedy Miser loses less than 0.01",
             IN_A_HUNDRED / 2, left, partial(_inside_of_digits, share=0.5)),
            ("n-above-early-exit", "Greedy Miser is right more often than early exit at equal cost",
             _SMALLEST_EFFECT, "accuracy",
             partial(digits.lead, better="greedy_miser", worse="early_exit")),
            ("n-above-subsets",
             "Greedy Miser is right more often than stage-wise regression on cheap families",
             _SMALLEST_EFFECT, "accuracy",
             partial(digits.lead, better="greedy_miser", worse="stagewise_subsets")),
        )
    ]  # fmt: skip


def _inside_of_digits(rows: pd.DataFrame, share: float) -> np.ndarray:
    return IN_A_HUNDRED + digits.beside_baseline(rows, share)


# --- memory and time over rows --------------------------------------------------------------------

HALF_THE_DATA = 1.0
"""Doublings: a training needs half as much memory again as its data take."""

TWICE = 0.415
"""Doublings below twice as long for each row: 1.5 times."""

MEMORY = 'section 6: "requires no significant operational memory besides the data"'
MILLIONS = 'section 6: "scales easily to millions of data points"'


def of_scale(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return what the paper says of memory and of many rows, on the largest table."""
    n_rows, name = f"{rows['n_rows'].max():,}", rows["dataset"].iloc[0]
    return [
        Claim(
            id="memory",
            sentence=f"{name}: on {n_rows} rows training needs at most half as much memory "
            "beside the data as these take.",
            place=MEMORY,
            dataset=name,
            smallest_effect=HALF_THE_DATA,
            unit="doublings below the data's own memory",
            effects=scale.memory_below_data,
        ),
        Claim(
            id="scales",
            sentence=f"{name}: a row of {n_rows} takes at most 1.5 times as long as one of "
            f"{rows['n_rows'].min():,}, and surely less than twice.",
            place=MILLIONS,
            dataset=name,
            smallest_effect=TWICE,
            unit="doublings below 2",
            effects=scale.below_at_most,
        ),
    ]


# --- all queries, over random divisions -----------------------------------------------------------

RELEVANT = 0.02
"""NDCG@5: about one more relevant document among five for one query in ten."""

_RIGHT = "section 6, Fig. 1 right: "
_FUTURE = "section 7: early exits are complementary and should be combined (future work)"
_TENTH = (
    f'{_RIGHT}"almost match the ranking accuracy of stage-wise regression with 1/10 of the cost"'
)
_ABOVE = f'{_RIGHT}"stays consistently above that of Cronus and Early Exits"'


def _inside(rows: pd.DataFrame, panel: str, budget: float) -> np.ndarray:
    """Return by query how far within :data:`RELEVANT` of λ = 0 Greedy Miser's score lies."""
    return RELEVANT + divisions.beside_baseline(rows, panel, budget)


_LEADS = (
    ("lead-early-exit", "Greedy Miser scores higher than early exit with an exit after every round "
     "at equal cost", _ABOVE, {"better": "greedy_miser", "worse": "early_exit"}),
    ("lead-cronus", "Greedy Miser scores higher than Cronus at equal cost", _ABOVE,
     {"better": "greedy_miser", "worse": "cronus"}),
    ("lead-subsets", "Greedy Miser scores higher than feature subsets at equal cost",
     f"{_RIGHT}drawn above the curve of feature subsets",
     {"better": "greedy_miser", "worse": "stagewise_subsets"}),
    ("exits-on-top",
     "Greedy Miser with early exits scores higher than Greedy Miser at equal cost", _FUTURE,
     {"better": "greedy_miser_early_exit", "worse": "greedy_miser"}),
)  # fmt: skip
_MARGINS = (
    ("at-a-tenth", "at a tenth of λ = 0's bill Greedy Miser loses less than 0.02", _TENTH, 0.1),
    ("at-half", "at half of λ = 0's bill Greedy Miser loses less than 0.02", f"{_TENTH}, likewise",
     0.5),
    ("lost", "where Greedy Miser validates as well as λ = 0 within 0.005 it loses less than 0.02",
     f"{_TENTH}, likewise", AS_GOOD),
)  # fmt: skip


def of_divisions(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return the paper's sentences for each data set, with intervals over queries."""
    claims = []
    for panel in divisions.panels_there(rows):
        of_panel = partial(_of_queries, panel)
        claims += [
            of_panel(name, text, place, RELEVANT, "NDCG@5", partial(divisions.lead, **who))
            for name, text, place, who in _LEADS
            if rows.loc[rows["panel"] == panel.key, who["worse"]].notna().any()
        ]
        inside = f"NDCG@5 inside the {RELEVANT:g}"
        claims += [
            of_panel(name, text, place, RELEVANT / 2, inside, partial(_inside, budget=budget))
            for name, text, place, budget in _MARGINS
        ]
    return claims


def _of_queries(
    panel, name: str, text: str, place: str, smallest: float, unit: str, of_each: Callable
) -> Claim:
    return Claim(
        id=f"{panel.key}-{name}",
        sentence=f"{panel.name}: {text}.",
        place=place,
        dataset=panel.dataset,
        smallest_effect=smallest,
        unit=unit,
        effects=partial(of_each, panel=panel.key),
        spread="units",
    )
