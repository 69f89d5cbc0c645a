"""Preregistered claims on the Greedy Miser paper, declared on 2026-11-25, before any of their rows.

Rankings are judged on every query of real sets, over random divisions of all queries into five
folds, for new trainings and new queries; the pilot was division 0. What is saved is judged for
these queries, over divisions. 0.02 of NDCG@5 is about one more relevant document among five for one
query in ten; 0.301 decades are half the cost.

Two of the paper's sentences are no claims here: that features dominate early exit's cost says
why, not what comes out, and follows from prices of 1 to 200 beside 1 for a tree; that early exit
costs half is about a rival alone. Both are descriptive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

from experiments.cell import Cell
from experiments.claims.declared import Claim, Part, Reading, otherwise
from experiments.curves import HALF_THE_COST
from experiments.greedy_miser_2012 import extra_scale as scale
from experiments.greedy_miser_2012.extra_training_time import AT_MOST
from experiments.greedy_miser_2012.show import pictures
from experiments.greedy_miser_2012.show.comparison import (
    SCENES,
    shares,
)
from experiments.greedy_miser_2012.show.divisions import (
    SHOWN,
    beside_baseline_of_each,
    lead_of_each,
    saved_of_each,
    step_of_each,
)
from experiments.training_time import margin


def dearer_fall(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return the mean rank correlation of -λ with the used shares of higher prices, by seed."""
    falls = []
    for _, table in shares(rows, panel).groupby("seed"):
        tradeoffs = table.index.get_level_values("tradeoff").to_numpy()
        # A share that never changes neither falls nor rises.
        each = [
            0.0 if np.ptp(column) == 0 else stats.spearmanr(-tradeoffs, column).statistic
            for column in table.iloc[:, 1:].to_numpy().T
        ]
        falls.append(np.mean(each))
    return np.array(falls)


SIMILAR = 0.01
"""Accuracy called similar to that of the support vector machine."""

HALF_THE_DATA = 1.0
"""Doublings: a training needs half as much memory again as its data take."""

TWICE = 0.415
"""Doublings below twice as long for each row: 1.5 times."""

MEMORY = 'section 6: "requires no significant operational memory besides the data"'

MILLIONS = 'section 6: "scales easily to millions of data points"'

RELEVANT = 0.02
"""NDCG@5: about one more relevant document among five for one query in ten."""


_DIVISIONS = (5, 10, 20)
"""Looks where a repetition tests all queries: trainings differ by less than queries do."""

_DRAWS = (10, 20)
"""Looks where a repetition takes ten minutes."""

_ONE_IN_TEN = "about one more relevant document among five for one query in ten"
_HALF = "half the cost"
_RIGHT = "section 6, Fig. 1 right: "


_PRINTED = "the paper prints the depth, the trees of a round, and how prices are measured"
_OF_ROWS = "as many rows as the paper trains on, and a tenth of them; Yahoo!'s are licensed"

_TIMES = {"method": "greedy_miser", "base": "stagewise", "at_most": AT_MOST}


def _complete(rows: pd.DataFrame, effect: Callable, **given) -> np.ndarray:
    """Effects on the queries that have a score in every division."""
    return effect(rows, **given).dropna(axis="columns").to_numpy()


def _on(keys: str, effect: Callable, **given) -> tuple[Part, ...]:
    return tuple(
        Part(
            "miser-divisions",
            panel.dataset,
            partial(_complete, effect=effect, panel=panel.key, **given),
        )
        for panel in SHOWN
        if panel.key in keys
    )


def _ahead(worse: str, keys: str = "cdef") -> tuple[Part, ...]:
    return _on(keys, lead_of_each, better="greedy_miser", worse=worse)


def _beside_svm(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    return pictures.saved_beside(rows, SCENES.key, "greedy_miser", "svm_averaged_kernel", SIMILAR)


def _svm_saved(rows: pd.DataFrame) -> np.ndarray:
    return _beside_svm(rows)[0]


def _no_miser_as_good(rows: pd.DataFrame) -> np.ndarray:
    return _beside_svm(rows)[1]


def _each_with_its_own_pass(cell: Cell) -> bool:
    """Want the panel that claims are made on, without the baseline that none is held against."""
    return cell.params["panel"] == SCENES.key and cell.algorithm != "l1_raw_descriptors"


def _scenes(effects: Callable, **given) -> tuple[Part, ...]:
    return (Part("miser-figure3", SCENES.dataset, effects, wants=_each_with_its_own_pass, **given),)


_CLAIMS = (
    Claim(
        "miser-cheaper",
        "Greedy Miser's cheapest model that validates as well as stage-wise regression within "
        "0.005 costs at most half as much (on these queries).",
        f'{_RIGHT}"can almost match the ranking accuracy … with 1/10 of the cost"',
        "decades of cost",
        HALF_THE_COST,
        _HALF,
        tuple(
            Part("miser-divisions", panel.dataset, partial(saved_of_each, panel=panel.key))
            for panel in SHOWN
        ),
        looks=_DIVISIONS,
    ),
    Claim(
        "miser-almost-matches",
        "At a tenth of the cost of stage-wise regression Greedy Miser loses less than 0.02.",
        f'{_RIGHT}"can almost match the ranking accuracy … with 1/10 of the cost"',
        "NDCG@5",
        RELEVANT,
        _ONE_IN_TEN,
        _on("cdef", beside_baseline_of_each, budget=0.1),
        kind="margin",
        looks=_DIVISIONS,
    ),
    Claim(
        "miser-above-early-exit",
        "At equal cost Greedy Miser ranks better than early exit with an exit after every round.",
        f'{_RIGHT}"stays consistently above that of Cronus and Early Exits"',
        "NDCG@5",
        RELEVANT,
        _ONE_IN_TEN,
        _ahead("early_exit"),
        looks=_DIVISIONS,
    ),
    Claim(
        "miser-above-cronus",
        "At equal cost Greedy Miser ranks better than Cronus.",
        f'{_RIGHT}"stays consistently above that of Cronus and Early Exits"',
        "NDCG@5",
        RELEVANT,
        _ONE_IN_TEN,
        _ahead("cronus", "cd"),
        looks=_DIVISIONS,
    ),
    Claim(
        "miser-above-subsets",
        "At equal cost Greedy Miser ranks better than stage-wise regression on feature subsets.",
        'section 6, caption of Fig. 1: "consistently above prior work", with feature subsets',
        "NDCG@5",
        RELEVANT,
        _ONE_IN_TEN,
        _ahead("stagewise_subsets"),
        looks=_DIVISIONS,
    ),
    Claim(
        "miser-dear-features",
        "The larger λ, the smaller the used share of a price, on average over all but the lowest.",
        'section 6, Fig. 2: "expensive features (c ≥ 5) are extracted more often when λ is small"',
        "rank correlation with -λ",
        0.5,
        "half of a perfect order",
        tuple(
            Part(
                "miser-figure2",
                panel.dataset,
                partial(dearer_fall, panel=panel.key),
                panel.dataset in ("mq2008", "clueweb09"),
            )
            for panel in SHOWN
        ),
        unread="no score has a part in it; depth is read where scores are compared",
        changed="Its sentence said every price; its effect is, and was, the mean over them.",
    ),
    Claim(
        "miser-half-of-svm",
        "On Scene-15 Greedy Miser's cheapest model that validates as well as the support vector "
        f"machine on the averaged kernel within {SIMILAR:g} costs at most half as much.",
        'section 6, Fig. 3: "similar accuracy as the SVM with multiple kernels with only half its '
        'test-time cost"',
        "decades of cost",
        HALF_THE_COST,
        _HALF,
        _scenes(_svm_saved, none=_no_miser_as_good),
        looks=_DRAWS,
        unread=_PRINTED,
        changed="On these data it is reproduced; with the pictures that draws share, as published, "
        "that was open. The six λ published ended at the paper's 4, which nine of ten draws chose; "
        "fresh draws also choose among 16, 64 and 256.",
        seen=10,
    ),
    Claim(
        "miser-scenes-above-early-exit",
        "On Scene-15 Greedy Miser is right more often than early exit at equal cost.",
        'section 6, Fig. 3: "champions the accuracy/cost tradeoff"',
        "accuracy",
        0.01,
        "one picture in a hundred",
        _scenes(
            partial(
                pictures.lead_of_each, panel=SCENES.key, better="greedy_miser", worse="early_exit"
            )
        ),
        looks=_DRAWS,
        unread=_PRINTED,
    ),
    Claim(
        "miser-training-time",
        f"Greedy Miser trains at most {AT_MOST:g} times as long as stage-wise regression.",
        'section 6: "requires comparable amount of time as stage-wise regression"',
        f"doublings below {AT_MOST:g}",
        0.1,
        "1.17 times as long",
        tuple(
            Part("miser-training-time", name, partial(margin, dataset=name, **_TIMES))
            for name in ("yahoo_ltr_sample", "mq2008", "thyroid")
        ),
        unread="both train the same trees",
    ),
    Claim(
        "miser-step",
        "Between steps of 0.05 and 0.2 the score at λ = 1 differs by less than 0.02, each with as "
        "many rounds as validation chooses.",
        'section 5.2: "The algorithm is not particularly sensitive to the exact step-size η"',
        "NDCG@5",
        RELEVANT,
        _ONE_IN_TEN,
        _on("cdef", step_of_each, step="step_0.2", than="step_0.05"),
        kind="equivalence",
        looks=_DIVISIONS,
    ),
    Claim(
        "miser-memory",
        "On 473,134 rows of Covertype training needs less memory beside the data than these take.",
        MEMORY,
        "doublings below the data's own memory",
        HALF_THE_DATA,
        "half as much as the data",
        (Part("miser-scale", "covertype", scale.memory_below_data),),
        unread=_OF_ROWS,
        looks=_DRAWS,
    ),
    Claim(
        "miser-scales",
        "A row of 473,134, half a million of the paper's millions, takes less than twice as long "
        "as one of 50,000 (of Covertype).",
        MILLIONS,
        "doublings below twice as long",
        TWICE,
        "1.5 times as long",
        (Part("miser-scale", "covertype", scale.below_at_most),),
        unread=_OF_ROWS,
        looks=_DRAWS,
    ),
)

_OF_RANKING = ("cheaper", "almost-matches", "above", "dear-features", "step")

_DEPTHS = (3, 6)


def _with_readings(one: Claim) -> Claim:
    """Add what trees of other depths say to a claim that divisions of the data judge."""
    if any(part.artefact != "miser-divisions" for part in one.parts):
        return one
    readings = tuple(
        Reading(
            f"trees of depth {depth}",
            'the paper says of depth "e.g. b = 4" and prints none of its ranking experiments',
            tuple(otherwise(part, [f"all.max_depth={depth}"]) for part in one.parts),
            n=_DIVISIONS[0],
        )
        for depth in _DEPTHS
    )
    return replace(one, readings=readings)


CLAIMS = tuple(
    replace(one, said_of=("ranking",))
    if one.id.startswith(tuple(f"miser-{name}" for name in _OF_RANKING))
    else one
    for one in map(_with_readings, _CLAIMS)
)
