"""What the MDDAG paper says, as claims: its sentences, their places, and what would count."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

from experiments.claims import Claim
from experiments.mddag_2012.cells.operating import FPRS
from experiments.mddag_2012.show.choices import difference, panels_there
from experiments.mddag_2012.show.comparison import (
    CASCADES,
    FEW,
    FULL_RANGE,
    SLIGHTLY_HIGHER,
    evaluations_fall,
    train_minus_test,
)
from experiments.mddag_2012.show.panels import PANELS, Panel
from experiments.mddag_2012.show.rankings import FEWEST_TREES, RANKINGS
from experiments.mddag_2012.show.repetitions import lead_of_each, lead_over_twice
from experiments.mddag_2012.show.selection import there
from experiments.mddag_2012.show.toy import DATASET, of, on_two_paths
from experiments.style import LOOKS

# --- Figure 1 -------------------------------------------------------------------------------------

_SMALLEST_TOY_CORRELATION, _SMALLEST_DIFFERENCE = 0.3, 0.5
_TENFOLD, _SMALLEST_SHARE = 1.0, 0.05
_EASY = (
    "section 3.1, Fig. 1(b): \"the 'easier' the instance, the smaller the number of base "
    'classifiers are needed"'
)
_SELECTIVE = (
    'section 3.1, Fig. 1(c): "base classifiers are used selectively, depending on whether the '
    'positive instance is in the blue or red cluster"'
)
_FEW = 'section 3.1: "the number of realized paths is quite small"'
_TWO = 'section 3.1: "the bulk of the data mostly follows two paths"'


def easy_use_less(rows: pd.DataFrame, method: str = "mddag_i") -> np.ndarray:
    """Return minus the rank correlation of margin and evaluations, by seed.

    The margin is that of all of AdaBoost: the more, the easier. 0 where all evaluate alike.
    """
    correlations = []
    for _, mine in of(rows, "point", method).groupby("seed"):
        alike = mine["evaluations"].nunique() < 2 or mine["margin"].nunique() < 2
        ranked = 0.0 if alike else stats.spearmanr(mine["margin"], mine["evaluations"]).statistic
        correlations.append(-ranked)
    return np.array(correlations)


def largest_difference(rows: pd.DataFrame, method: str = "mddag_i") -> np.ndarray:
    """Return the largest difference between the clusters' shares that use a classifier, by seed."""
    differences = []
    for seed, points in of(rows, "point", method).groupby("seed"):
        used = of(rows, "classifier", method)
        used, sizes = used[used["seed"] == seed], points["cluster"].value_counts()
        apart = used["first"] / sizes[0] - used["second"] / sizes[1]
        differences.append(apart.abs().max() if len(apart) else 0.0)
    return np.array(differences)


def points_per_path(rows: pd.DataFrame, method: str = "mddag_i") -> np.ndarray:
    """Return log10 of the positive points for each path that any of them takes, by seed."""
    points = of(rows, "point", method).groupby("seed").size()
    return np.log10(points / of(rows, "path", method).groupby("seed").size()).to_numpy()


def above_half(rows: pd.DataFrame) -> np.ndarray:
    """Return by how much the two most frequent paths carry more than half of the points."""
    return on_two_paths(rows) - 0.5


def of_figure1(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return what section 3.1 says of the figure."""
    declared = (
        ("easy-use-less",
         "the larger the margin of a positive point under all of AdaBoost, the fewer base "
         "classifiers it evaluates", _EASY, _SMALLEST_TOY_CORRELATION, "rank correlation",
         easy_use_less),
        ("use-differs",
         "a base classifier is evaluated for a much larger share of one positive cluster than of "
         "the other", _SELECTIVE, _SMALLEST_DIFFERENCE, "largest difference of shares",
         largest_difference),
        ("few-paths", "ten positive points or more come to each path that is realised", _FEW,
         _TENFOLD, "decades of points a path", points_per_path),
        ("two-paths", "more than half of the positive points follow the two most frequent paths",
         _TWO, _SMALLEST_SHARE, "share of points above ½", above_half),
    )  # fmt: skip
    return [
        Claim(
            id=name,
            sentence=f"Toy data: {text}.",
            place=place,
            dataset=DATASET,
            smallest_effect=smallest,
            unit=unit,
            effects=effects,
        )
        for name, text, place, smallest, unit, effects in declared
    ]


# --- Figure 2 -------------------------------------------------------------------------------------

_SMALLEST_TPR = 0.01
_SLIGHTLY = 0.005
_INSIDE = 0.001  # of a margin: the sentence says where it ends, so hardly more is asked
_MARGIN, _ADABOOST_MARGIN, _FITTED_MARGIN = 0.01, 0.02, 0.01
_SMALLEST_CORRELATION = 0.5
_LOW = (
    'section 3.2: "MDDAG outperforms the three benchmark algorithms consistently in the regime of '
    'low number base classifiers"'
)
_FULL = 'section 3.2: "it is competitive with them over the full range"'
_LOSSES = (
    'section 3.2: "MDDAG.I is slightly better at low complexities, whereas MDDAG.EXP is more '
    'effective at a slightly higher number of base classifiers"'
)
_VANILLA = (
    'section 3.2: "vanilla AdaBoost is fairly competitive with tailor-made cascade detectors"'
)
_OVERFITTING = 'section 2.2: "overfitting the MDP was a non-issue"'
_BETA = 'section 5: "one user-provided hyperparameter … directly determining the accuracy-speed"'


def of_figure2(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return what the paper says, for each data set."""
    claims = []
    for panel in PANELS:
        if (rows["panel"] == panel.key).any():
            claims += _detection_claims(rows, panel, meta["data"][panel.dataset])
    return claims


def _detection_claims(rows: pd.DataFrame, panel: Panel, record: Mapping) -> list[Claim]:
    overlap = record.get("test_overlap", 0.0)
    only = " (on these test windows, the same for every seed)" if overlap == 1 else ""
    declared = [*_of_policies(), *(one for fpr in panel.fprs for one in _at_rate(fpr))]
    return [
        Claim(
            id=f"{panel.key}-{name}",
            sentence=f"{panel.name}: {text}{only}.",
            place=place,
            dataset=panel.dataset,
            smallest_effect=smallest,
            unit=unit,
            effects=partial(effects, panel=panel.key),
            overlap=overlap,
        )
        for name, text, place, smallest, unit, effects in declared
        if there(rows, panel.key, *_compared(effects))
    ]


def _compared(effects: partial) -> tuple[str, ...]:
    """Return the methods of both sides: of what no rows have nothing is claimed."""
    sides = (effects.keywords.get(name, ()) for name in ("better", "worse"))
    return tuple(method for side in sides for method in side)


def inside(rows: pd.DataFrame, panel: str, margin: float, **compared) -> np.ndarray:
    """Return the margin plus :func:`lead_of_each`, by seed."""
    return margin + lead_of_each(rows, panel, **compared)


def _at_rate(suffix: str) -> list[tuple]:
    """Return what is claimed at one false positive rate: means over rates would hide signs."""
    quality, at = f"tpr_{suffix}", f"at an FPR of {FPRS[suffix]:g}"

    def range_of(low: float, high: float) -> tuple[str, dict]:
        where = f"from {low:g} to {high:g}" if low > 1 else f"up to {high:g}"
        given = {"quality": quality, "low": low, "high": high}
        return f"{at} and {where} base classifiers", given

    few, low = range_of(1.0, FEW)
    more, higher = range_of(FEW, SLIGHTLY_HIGHER)
    full, all_of_it = range_of(1.0, FULL_RANGE)
    margin = f"TPR inside the {_ADABOOST_MARGIN:g}"
    declared = [
        *((f"low-above-{method.replace('_', '-')}",
           f"{few} MDDAG.I's TPR is higher than that of {LOOKS[method].label}", _LOW,
           _SMALLEST_TPR, "TPR", partial(lead_of_each, better=("mddag_i",), worse=(method,), **low))
          for method in CASCADES),
        ("competitive", f"{full} the better of MDDAG.I and MDDAG.EXP is "
         f"less than {_MARGIN:g} below the best cascade", _FULL, _INSIDE,
         f"TPR inside the {_MARGIN:g}",
         partial(inside, margin=_MARGIN, better=("mddag_i", "mddag_exp"), worse=CASCADES,
                 **all_of_it)),
        ("i-low", f"{few} MDDAG.I's TPR is higher than MDDAG.EXP's", _LOSSES, _SLIGHTLY, "TPR",
         partial(lead_of_each, better=("mddag_i",), worse=("mddag_exp",), **low)),
        *((name, f"{more} {words} is higher than MDDAG.I's", _LOSSES, _SLIGHTLY, "TPR",
           partial(lead_of_each, better=(method,), worse=("mddag_i",), **higher))
          for name, words, method in (
              ("exp-high", "MDDAG.EXP's TPR", "mddag_exp"),
              ("exp-shares-high", "the TPR of MDDAG.EXP with the loss of f/Σα", "mddag_exp_shares"),
              ("exp-slow-high", "the TPR of MDDAG.EXP with learning rate 0.02", "mddag_exp_slow"),
          )),
        *((name, f"{where} AdaBoost is less than {_ADABOOST_MARGIN:g} below the best cascade",
           _VANILLA, _INSIDE, margin,
           partial(inside, margin=_ADABOOST_MARGIN, better=("adaboost",), worse=CASCADES, **given))
          for name, (where, given) in (("adaboost", (full, all_of_it)),
                                       ("adaboost-high", range_of(FEW, FULL_RANGE)))),
    ]  # fmt: skip
    return [(f"{name}-at-{suffix}", *others) for name, *others in declared]


def _of_policies() -> list[tuple]:
    """Return what is claimed of MDDAG.I's policies, whatever the false positive rate."""
    return [
        ("not-overfitted", "of MDDAG.I's policies the objective (8) is less than "
         f"{_FITTED_MARGIN:g} higher on test than on training windows", _OVERFITTING, _INSIDE,
         f"objective inside the {_FITTED_MARGIN:g}",
         partial(train_minus_test, method="mddag_i", margin=_FITTED_MARGIN)),
        ("beta", "the larger β, the fewer base classifiers MDDAG.I evaluates", _BETA,
         _SMALLEST_CORRELATION, "correlation of logarithms",
         partial(evaluations_fall, method="mddag_i")),
    ]  # fmt: skip


# --- Figure 3 -------------------------------------------------------------------------------------

_NDCG_MARGIN, _SMALLEST_NDCG = 0.01, 0.001  # the sentence says where the margin ends
_TWOFOLD = (
    'section 3.3, Fig. 3: "MDDAG performs as well as AdaBoost.MH with roughly two-fold savings in '
    'the number of base classifiers"'
)


def as_good_as_twice(rows: pd.DataFrame, panel: str, method: str) -> np.ndarray:
    """Return the margin plus :func:`lead_over_twice` of one method, by seed."""
    return _NDCG_MARGIN + lead_over_twice(rows, panel, (method,))


def of_figure3(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return what section 3.3 says, for each data set and loss."""
    return [
        Claim(
            id=f"{panel.key}-{method.replace('_', '-')}",
            sentence=f"{panel.name}: {LOOKS[method].label}'s averaged NDCG is less than "
            f"{_NDCG_MARGIN:g} below that of AdaBoost.MH with twice as many base classifiers, from "
            f"{FEWEST_TREES:g} on.",
            place=_TWOFOLD,
            dataset=panel.dataset,
            smallest_effect=_SMALLEST_NDCG,
            unit=f"NDCG inside the {_NDCG_MARGIN:g}",
            effects=partial(as_good_as_twice, panel=panel.key, method=method),
            overlap=meta["data"][panel.dataset].get("test_overlap", 0.0),
        )
        for panel in RANKINGS
        if (rows["panel"] == panel.key).any()
        for method in ("mddag_i", "mddag_exp")
    ]


# --- beside the paper: choices --------------------------------------------------------------------

_SMALLEST_EFFECT = 0.005
_DECREASING = (
    'section 2.2: a learning rate that decreases to 0 "forced the algorithm to converge too fast '
    'to suboptimal solutions. Instead we set the learning rate to a constant 0.2"'
)


def of_choices(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return the one sentence of the paper on these choices, for each data set."""
    return [
        Claim(
            id=f"{panel.key}-decreasing-worse",
            sentence=f"{panel.name}: with a decreasing learning rate the objective (8) on training "
            "windows ends higher than with a constant one.",
            place=_DECREASING,
            dataset=panel.dataset,
            smallest_effect=_SMALLEST_EFFECT,
            unit="objective",
            effects=partial(
                difference, panel=panel.key, variant="rate_decreasing", value="train_objective"
            ),
            overlap=meta["data"][panel.dataset].get("test_overlap", 0.0),
        )
        for panel in panels_there(rows)
    ]
