"""Preregistered claims on the MDDAG paper, declared on 2026-11-25, before any of their rows.

The paper's false positive rates are not legible. All sentences on true positive rates are judged at
0.1, the largest of ours: there θ rests on the most windows, 24 of the pedestrians' backgrounds (12
at 0.05 and two at 0.01) and 91 of CBCL's. Other rates are descriptive, in Figure 2's claims.

Section 3.2 chooses runs by training TPR, and so it is between readings of one name: MDDAG.I keeps
the policy of the least objective, or of the fewest errors; MDDAG.EXP has the loss of f or, by
footnote 1, of f/Σα, and a learning rate of 0.2 or, as SARSA does not learn from the loss of f at
that rate, 0.02. Each has 24 settings, as each cascade has. The three cascades together are held
against three of MDDAG: as many trials.

The pilot was division 0 of each set: by its runs Viola and Jones's grid and FCBoost's reach to two
base classifiers, and FCBoost's has no gap up to thirty.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from experiments.claims.declared import Claim, Part, Reading, otherwise
from experiments.mddag_2012.show.comparison import (
    CASCADES,
    FEW,
    FULL_RANGE,
    SLIGHTLY_HIGHER,
    evaluations_fall,
    train_minus_test,
)
from experiments.mddag_2012.show.repetitions import lead_of_each, lead_over_twice

QUALITY, AT = "tpr_10", "at an FPR of 0.1"

ZERO_ONE = ("mddag_i", "mddag_i_accuracy")
EXPONENTIAL = ("mddag_exp", "mddag_exp_shares", "mddag_exp_slow")
_EITHER_LOSS = ("mddag_i", "mddag_exp", "mddag_exp_slow")

_PANELS = {"a": "vj_faces", "b": "cbcl_divided", "d": "daimler_pedestrians"}
_FEWER_BINS = ("mddag.n_bins=101",)
_BINS_OPEN = (
    "the paper does not say how it approximates values; ours has a bin for each base classifier, "
    "1,001, the authors' program of 2011 has 11 unless told, and training can choose, as it does "
    "runs"
)
_RELEVANT, _SLIGHTLY = 0.02, 0.01
_ONE_IN_FIFTY = "one object in fifty"
_ONE_IN_100 = 'one object in a hundred: the sentence says "slightly"'
_LOW = (
    'section 3.2: "MDDAG outperforms the three benchmark algorithms consistently in the regime of '
    'low number base classifiers"'
)
_BOTH = 'section 3.2: "MDDAG.I is slightly better at low complexities, whereas MDDAG.EXP is more '
_BOTH += 'effective at a slightly higher number of base classifiers"'
_TWOFOLD = (
    'section 3.3, Fig. 3: "MDDAG performs as well as AdaBoost.MH with roughly two-fold savings"'
)


def _on_windows(effect: Callable, **given) -> tuple[Part, ...]:
    return tuple(
        Part("mddag-figure2", dataset, partial(effect, panel=panel, **given), folds=True)
        for panel, dataset in _PANELS.items()
    )


def _lead(better: tuple[str, ...], worse: tuple[str, ...], low: float, high: float):
    return _on_windows(
        lead_of_each, better=better, worse=worse, quality=QUALITY, low=low, high=high
    )


def _low_above(rival: str, name: str, **given) -> Claim:
    return Claim(
        f"mddag-low-above-{rival.replace('_', '-')}",
        f"{AT[0].upper()}{AT[1:]} and up to {FEW:g} base classifiers MDDAG.I finds more objects "
        f"than {name}.",
        _LOW,
        "TPR",
        _RELEVANT,
        _ONE_IN_FIFTY,
        _lead(("mddag_i",), (rival,), 1.0, FEW),
        **given,
    )


def _as_good_as_twice(name: str, label: str, methods: tuple[str, ...], **given) -> Claim:
    return Claim(
        f"mddag-twofold-{name}",
        f"{label}'s averaged NDCG is less than {_RELEVANT:g} below that of AdaBoost.MH with twice "
        "as many base classifiers, from three on.",
        _TWOFOLD,
        "averaged NDCG",
        _RELEVANT,
        "a fiftieth of what a perfect ranking has",
        (
            Part(
                "mddag-figure3",
                "mq2008",
                partial(lead_over_twice, panel="b", methods=methods),
                folds=True,
            ),
        ),
        kind="margin",
        **given,
    )


def _turned(now: str, was: str, seen: int = 40) -> dict:
    """Say what the rule's change does to the rows that were published, of which it judges none.

    The fresh repetitions are four whole divisions of each set.
    """
    changed = (
        f"Whole divisions of the rows that were published say: {now}; with a quarter of the "
        f"variance of folds beside, as published, they said: {was}. Fresh ones are judged."
    )
    return {"changed": changed, "seen": seen, "fresh": 20}


_CLAIMS = (
    _low_above("viola_jones", "the cascade of Viola and Jones"),
    _low_above("fcboost", "FCBoost"),
    _low_above(
        "bourdev_cascade",
        "SoftCascade",
        **_turned("no effect", "open"),
    ),
    Claim(
        "mddag-competitive",
        f"Up to {FULL_RANGE:g} base classifiers and {AT} the better of MDDAG.I and MDDAG.EXP finds "
        f"at most {_RELEVANT:g} of the objects less than the best of the three cascades.",
        'section 3.2: "it is competitive with them over the full range"',
        "TPR",
        _RELEVANT,
        _ONE_IN_FIFTY,
        _lead(_EITHER_LOSS, CASCADES, 1.0, FULL_RANGE),
        kind="margin",
    ),
    Claim(
        "mddag-i-low",
        f"Up to {FEW:g} base classifiers and {AT} MDDAG.I finds more objects than MDDAG.EXP.",
        _BOTH,
        "TPR",
        _SLIGHTLY,
        _ONE_IN_100,
        _lead(ZERO_ONE, EXPONENTIAL, 1.0, FEW),
        **_turned("mixed, sets go opposite ways", "open"),
    ),
    Claim(
        "mddag-exp-high",
        f"From {FEW:g} to {SLIGHTLY_HIGHER:g} base classifiers and {AT} MDDAG.EXP finds more "
        "objects than MDDAG.I.",
        _BOTH,
        "TPR",
        _SLIGHTLY,
        _ONE_IN_100,
        _lead(EXPONENTIAL, ZERO_ONE, FEW, SLIGHTLY_HIGHER),
        **_turned("no effect", "not better"),
    ),
    Claim(
        "mddag-adaboost",
        f"Up to {FULL_RANGE:g} base classifiers and {AT} AdaBoost finds at most {_RELEVANT:g} of "
        "the objects less than the best of the three cascades.",
        'section 3.2: "vanilla AdaBoost is fairly competitive with tailor-made cascade detectors"',
        "TPR",
        _RELEVANT,
        _ONE_IN_FIFTY,
        _lead(("adaboost",), CASCADES, 1.0, FULL_RANGE),
        kind="margin",
        **_turned("opposite", "open"),
    ),
    _as_good_as_twice(
        "i",
        "MDDAG.I",
        ("mddag_i",),
        **_turned("reproduced", "open", seen=20),
    ),
    _as_good_as_twice(
        "exp",
        "MDDAG.EXP",
        EXPONENTIAL,
        **_turned("open", "reproduced", seen=20),
    ),
    Claim(
        "mddag-not-overfitted",
        f"Of MDDAG.I's policies the objective (8) is less than {_RELEVANT:g} higher on test than "
        "on training windows.",
        'section 2.2: "overfitting the MDP was a non-issue"',
        "objective (8)",
        _RELEVANT,
        "one window in fifty",
        _on_windows(train_minus_test, method="mddag_i", margin=0.0),
        kind="margin",
        **_turned("opposite", "open"),
    ),
    Claim(
        "mddag-beta",
        "The larger β, the fewer base classifiers MDDAG.I evaluates.",
        'section 5: "one user-provided hyperparameter with a clear semantics of directly '
        'determining the accuracy-speed trade-off"',
        "correlation of logarithms",
        0.5,
        "β then explains a quarter of the variance",
        _on_windows(evaluations_fall, method="mddag_i"),
    ),
)


def _officially(part: Part) -> Part:
    """Return CBCL with its official test windows in place of CBCL divided anew."""
    if part.dataset != "cbcl_divided":
        return part
    effects = partial(part.effects.func, **part.effects.keywords | {"panel": "c"})
    return replace(part, dataset="cbcl", effects=effects, folds=False)


def _of_unweighted(rows: pd.DataFrame, effect: Callable) -> np.ndarray:
    """Effects of the runs that multiply no losses of negatives."""
    return effect(rows[rows["negative_weight"] <= 1.0])  # 0 of methods that have no such weight


def _unweighted(part: Part) -> Part:
    return replace(part, effects=partial(_of_unweighted, effect=part.effects))


def _with_readings(one: Claim) -> Claim:
    """Add what CBCL's official test windows, losses without weights and other bins say."""
    readings = []
    if any(part.dataset == "cbcl_divided" for part in one.parts):
        readings.append(
            Reading(
                "CBCL's official test windows",
                "CBCL comes with a test part, which is of another kind than its training part; the "
                "paper divides its sets and does not say how",
                tuple(map(_officially, one.parts)),
                seen=True,  # rows at other seeds are published
            )
        )
    effect = one.parts[0].effects
    if effect.func is lead_of_each:
        readings.append(
            Reading(
                "no class weights",
                "the paper's losses have no weights of classes; ours, and FCBoost's, of which this "
                "leaves half the runs, are chosen from 1 and 5",
                tuple(map(_unweighted, one.parts)),
                n=20,
                seen=True,  # the rows are those of the claim
            )
        )
    if one.id != "mddag-adaboost":  # which compares none of its policies
        readings.append(
            Reading(
                "101 bins of a score",
                _BINS_OPEN,
                tuple(otherwise(part, _FEWER_BINS) for part in one.parts),
                n=20,
                seen=True,  # a pilot division of VJ faces lost the lead at few base classifiers
            )
        )
    if one.id != "mddag-adaboost" and effect.func in (lead_of_each, lead_over_twice):
        readings.append(
            Reading(
                "bins chosen in training",  # From both, as runs are: twice the settings of a rival
                _BINS_OPEN,
                tuple(otherwise(part, _FEWER_BINS, as_well=True) for part in one.parts),
                n=20,
                seen=True,  # the rows are those of the claim and of the reading before
            )
        )
    return replace(one, readings=tuple(readings))


CLAIMS = tuple(map(_with_readings, _CLAIMS))
