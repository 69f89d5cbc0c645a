"""What the Greedy Miser paper says, as claims: its sentences, their places, what would count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

from experiments.claims import Claim, Subject
from experiments.curves import HALF_THE_COST, advantage
from experiments.greedy_miser_2012.cells.pictures import COLUMN
from experiments.greedy_miser_2012.show import pictures
from experiments.greedy_miser_2012.show.comparison import (
    BASELINE,
    ONE_PASS,
    PAPER,
    RIVALS,
    SCENES,
    chosen,
    decades_saved,
    feature_share,
    largest_step,
    of_panel,
    pooled,
    shares,
    shortfall_left,
)
from experiments.greedy_miser_2012.show.panels import LEFT_TRADEOFFS, PANELS, WITH_CRONUS, Panel

# --- Figure 1 -------------------------------------------------------------------------------------

A_TENTH = 1.0
"""Decades of cost."""

_SMALLEST_EFFECT = 0.005
_HALF_THE_MARGIN = 0.0025
_GRADUAL, _SURELY_GRADUAL = 0.01, 0.005
_SMALLEST_SHARE = 0.05
_RIGHT = "section 6, Fig. 1 right: "
_TENTH = (
    f'{_RIGHT}"almost match the ranking accuracy of stage-wise regression with 1/10 of the cost"'
)
_HALF = f'{_RIGHT}"Early-Exits to 1/2"'
_ABOVE = f'{_RIGHT}"stays consistently above that of Cronus and Early Exits"'
_ABOVE_SUBSETS = f"{_RIGHT}drawn above the curve of feature subsets"
_REACH = (
    f'{_RIGHT}"all algorithms manage to match the unconstrained cost-results of stage-wise '
    'regression"'
)
_DROPS = 'section 6, Fig. 1 left: "drops very gradually"'
_EXITS_LIMITED = (
    'section 6: "limited because the cost is dominated by the feature acquisition, rather than '
    'tree computation"'
)
_FUTURE = "section 7: early exits are complementary and should be combined (future work)"


def of_figure1(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return what section 6 says, for each data set; costs in the paper's accounting."""
    claims = []
    for panel in PANELS:
        if of_panel(rows, panel.key, BASELINE).empty:
            continue
        overlap = meta["data"][panel.dataset].get("test_overlap", 0.0)
        claim = Subject(panel.key, panel.name, panel.dataset, overlap).claim
        claims.append(_gradual(claim))
        if panel.rivals:
            claims += _saving_claims(claim)
            claims += _rival_claims(claim, panel)
    return claims


def _gradual(claim: Callable) -> Claim:
    return claim(
        "gradual",
        f"between neighbouring λ from 0 to {LEFT_TRADEOFFS[-1]:g} the mean score never differs by "
        f"more than {_GRADUAL:g}",
        _DROPS,
        _SURELY_GRADUAL,
        f"score inside the {_GRADUAL:g}",
        gradual,
    )


def gradual(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return by how much the largest step between the paper's λ stays below the margin."""
    tried = set(of_panel(rows, panel, "greedy_miser")["tradeoff"]) | {0.0}
    papers = tuple(t for t in tried if t <= LEFT_TRADEOFFS[-1])
    return _GRADUAL - largest_step(rows, panel, papers)


def _saving_claims(claim: Callable) -> list[Claim]:
    """Return how much cheaper the baseline's score is had."""
    text = "as good as λ = 0 within 0.005, {} costs {} as much"
    unit = "decades of cost"
    return [
        claim("tenth", text.format("Greedy Miser", "at most a tenth"), _TENTH, A_TENTH, unit,
              decades_saved, method="greedy_miser"),
        claim("half", text.format("early exit", "at most half"), _HALF, HALF_THE_COST, unit,
              decades_saved, method="early_exit"),
    ]  # fmt: skip


def _rival_claims(claim: Callable, panel: Panel) -> list[Claim]:
    """Return who lies above whom, who reaches the baseline, and what limits early exit."""
    unit = "NDCG@5" if panel.ranking else "accuracy"
    claims = []
    rivals = dict(RIVALS)
    if panel.key not in WITH_CRONUS["paper"]:
        del rivals["cronus"]
    for rival, name in rivals.items():
        place = _ABOVE_SUBSETS if rival == "stagewise_subsets" else _ABOVE
        text = f"Greedy Miser scores higher than {name} at equal cost"
        claims.append(
            claim(f"above-{rival.replace('_', '-')}", text, place, _SMALLEST_EFFECT, unit,
                  lead, better="greedy_miser", worse=rival)
        )  # fmt: skip
    # Feature subsets end at the whole set, which is the baseline.
    ending = {"greedy_miser": "Greedy Miser", **rivals}
    del ending["stagewise_subsets"]
    for method, name in ending.items():
        claims.append(
            claim(f"reaches-{method.replace('_', '-')}",
                  f"the best model of {name} scores no less than 0.005 below λ = 0",
                  _REACH, _HALF_THE_MARGIN, f"{unit} inside the 0.005", shortfall_left,
                  method=method)
        )  # fmt: skip
    if panel.tree_cost:  # else there is nothing but features
        claims.append(
            claim("exit-limited",
                  "where early exit is as good as λ = 0 within 0.005, features are at least half "
                  "of what is left of its cost",
                  _EXITS_LIMITED, _SMALLEST_SHARE, "share of the cost above ½", above_half,
                  tree_cost=panel.tree_cost)
        )  # fmt: skip
    claims.append(
        claim("with-exits", "Greedy Miser with early exits scores higher than Greedy Miser at "
              "equal cost", _FUTURE, _SMALLEST_EFFECT, unit, lead,
              better="greedy_miser_early_exit", worse="greedy_miser")
    )  # fmt: skip
    return claims


def lead(rows: pd.DataFrame, panel: str, better: str, worse: str) -> np.ndarray:
    """Return the mean lead over shared budgets, logarithmically spaced, one value per seed."""
    if any(of_panel(rows, panel, method).empty for method in (better, worse)):
        return np.empty(0)
    return advantage(pooled(rows), panel, better, worse, PAPER)


def above_half(rows: pd.DataFrame, panel: str, tree_cost: float) -> np.ndarray:
    """Return by how much the features' share of early exit's cost lies above a half."""
    if of_panel(rows, panel, "early_exit").empty:
        return np.empty(0)
    return feature_share(rows, panel, tree_cost) - 0.5


# --- Figure 2 -------------------------------------------------------------------------------------

KEPT = 0.8
"""Share of the cheapest features used without prices that large λ still uses."""

DEAR = 0.75
"""A feature is expensive from this part of the largest price on: 150 of 200 in the paper."""

FIRST_PART = 0.1
"""Early is the first tenth of the rounds."""

_SMALLEST_CORRELATION = 0.5
_HALF_OF_THE_SEEDS = 0.5
_CHEAP = 'section 6, Fig. 2: "cheap features (c = 1) are extracted constantly in different λ"'
_FEWER = 'section 6, Fig. 2: "expensive features (c ≥ 5) are extracted more often when λ is small"'
_ALWAYS = (
    'section 6, Fig. 2: "the most expensive (and invaluable) feature c = 200 is always extracted"'
)
_EARLY = (
    'section 6: "a few expensive features (cost ≥ 150) are always extracted within early '
    'iterations"'
)


def of_figure2(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return what Figure 2 and its text say, for each data set."""
    claims = []
    for panel in PANELS:
        mine = rows[rows["panel"] == panel.key]
        if mine.empty:
            continue
        overlap = meta["data"][panel.dataset].get("test_overlap", 0.0)
        claims += [
            Claim(
                id=f"{panel.key}-{name}",
                sentence=f"{panel.name}: {text}.",
                place=place,
                dataset=panel.dataset,
                smallest_effect=smallest,
                unit=unit,
                effects=partial(effects, panel=panel.key),
                spread=spread,
                overlap=overlap,
            )
            for name, text, place, smallest, unit, spread, effects in _figure2_sayings(
                mine["price"].max()
            )
        ]
    return claims


def _figure2_sayings(highest: float) -> list[tuple]:
    """Return the sentences: name, text, place, smallest effect, unit, spread, effects."""
    return [
        ("cheap-kept",
         "of the features of the lowest price the largest λ uses at least 0.8 times as many as "
         "λ = 0", _CHEAP, _SMALLEST_SHARE, "ratio above 0.8", "seeds", cheap_kept),
        ("dearer-fall",
         "the larger λ, the smaller the used share of every higher price (rank correlation, mean "
         "over prices)", _FEWER, _SMALLEST_CORRELATION, "rank correlation with -λ", "seeds",
         dearer_fall),
        ("dearest-always",
         "a feature of the highest price is used at every λ, in most repetitions",
         _ALWAYS, _SMALLEST_SHARE, "share of repetitions", "trials", dearest_always),
        ("dear-early",
         f"at every λ a feature of price {DEAR * highest:g} or more is used in the first tenth of "
         "the rounds, in most repetitions",
         _EARLY, _SMALLEST_SHARE, "share of repetitions", "trials", dear_early),
    ]  # fmt: skip


def cheap_kept(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return the ratio of used shares of the lowest price, largest λ to λ = 0, less 0.8."""
    cheapest = shares(rows, panel).iloc[:, 0].unstack()
    free = cheapest[0.0].where(cheapest[0.0] > 0)
    return (cheapest[cheapest.columns.max()] / free - KEPT).to_numpy()


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


def dearest_always(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return bound, failures, trials: repetitions in which some λ uses nothing of that price."""
    used = shares(rows, panel).iloc[:, -1].unstack() > 0
    return np.array([[_HALF_OF_THE_SEEDS, float((~used.all(axis=1)).sum()), float(len(used))]])


def dear_early(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return bound, failures, trials: repetitions in which some λ uses nothing dear early."""
    mine = rows[rows["panel"] == panel]
    mine = mine[mine["price"] >= DEAR * mine["price"].max()]
    # Every model has a first tenth: at least its first round.
    limit = np.maximum(1, np.ceil(FIRST_PART * mine["rounds"]))
    early = mine.assign(early=(mine["first_round"] > 0) & (mine["first_round"] <= limit))
    by_seed = early.groupby(["seed", "tradeoff"])["early"].any().unstack().all(axis=1)
    return np.array([[_HALF_OF_THE_SEEDS, float((~by_seed).sum()), float(len(by_seed))]])


# --- Figure 3 -------------------------------------------------------------------------------------

SIMILAR = 0.01
"""Accuracy called similar to that of the support vector machine."""

L1_NEVER_ABOVE = 0.74
_SMALLEST_DECADES = 0.05
_FIGURE = (
    'section 6, Fig. 3: "obtains similar accuracy as the SVM with multiple kernels with only half '
    'its test-time cost"'
)
_L1 = (
    'section 6: "original vision features with ℓ1 regularization … its accuracy never exceeds 0.74"'
)
_CHAMPIONS = 'section 6, Fig. 3: "champions the accuracy/cost tradeoff"'
_LIMITED = 'section 6, Fig. 3: "Early Exit has only limited improvement"'


def of_figure3(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return what section 6 says of Scene-15; costs in the paper's accounting."""
    if rows.empty:
        return []
    overlap = meta["data"][SCENES.dataset].get("test_overlap", 0.0)
    claim = Subject(SCENES.key, SCENES.name, SCENES.dataset, overlap).claim
    # Rows from before both prices do not say which pictures are right.
    by_picture = of_pictures(rows, meta) if COLUMN in rows else []
    return [
        claim(
            "half-of-svm",
            f"Greedy Miser is no more than {SIMILAR:g} less accurate than the support vector "
            "machine on the averaged kernel at no more than half its cost",
            _FIGURE,
            HALF_THE_COST,
            "decades of cost",
            decades_saved,
            method="greedy_miser",
            beside="svm_averaged_kernel",
            margin=SIMILAR,
        ),
        claim(
            "l1-below",
            f"a linear model with ℓ1 penalty on the descriptors is less than {L1_NEVER_ABOVE:g} "
            "accurate",
            _L1,
            _SMALLEST_EFFECT,
            "accuracy",
            below_limit,
        ),
        claim(
            "above-early-exit",
            "Greedy Miser is more accurate than stage-wise regression with early exits at equal "
            "cost",
            _CHAMPIONS,
            _SMALLEST_EFFECT,
            "accuracy",
            lead,
            better="greedy_miser",
            worse="early_exit",
        ),
        claim(
            "exit-limited",
            "early exits as accurate as stage-wise regression within 0.01 cost more than half of "
            "it",
            _LIMITED,
            _SMALLEST_DECADES,
            "decades of cost above a half",
            more_than_half,
        ),
        *by_picture,
    ]


def of_pictures(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return Figure 3's sentences at both prices of detectors, with intervals over pictures.

    Saved is what validation chooses: see :func:`.show.pictures.beside_of_each`. Its loss on test
    pictures is a sentence of its own.
    """
    overlap, inside = meta["data"][SCENES.dataset].get("test_overlap", 0.0), SIMILAR / 2
    beside = {"method": "greedy_miser", "beside": "svm_averaged_kernel", "margin": SIMILAR}
    claims = []
    for panel in (SCENES, ONE_PASS):
        made = partial(_of_pictures, panel)
        lead = partial(
            pictures.lead_of_each, panel=panel.key, better="greedy_miser", worse="early_exit"
        )
        claims += [
            made("svm-saved", "Greedy Miser's cheapest model that validates as well as the support "
                 f"vector machine within {SIMILAR:g} costs at most half as much", _FIGURE,
                 HALF_THE_COST, "decades of cost", partial(_saved, panel=panel.key, **beside),
                 spread="seeds", overlap=overlap),
            made("svm-lost", f"there it is less than {2 * SIMILAR:g} less accurate", _FIGURE,
                 inside, f"accuracy inside the {2 * SIMILAR:g}",
                 partial(_left, panel=panel.key, **beside)),
            made("lead-early-exit", "Greedy Miser is right more often than early exit at equal "
                 "cost", _CHAMPIONS, _SMALLEST_EFFECT, "accuracy", partial(_mean_of_each, lead)),
        ]  # fmt: skip
    return claims


def _of_pictures(panel: Panel, name, text, place, smallest, unit, effects, **given) -> Claim:
    return Claim(
        id=f"{panel.key}-{name}",
        sentence=f"{panel.name}: {text}.",
        place=place,
        dataset=panel.dataset,
        smallest_effect=smallest,
        unit=unit,
        effects=effects,
        **{"spread": "units", **given},
    )


def _saved(rows: pd.DataFrame, **given) -> np.ndarray:
    return pictures.beside_of_each(rows, **given)[0]


def _left(rows: pd.DataFrame, **given) -> np.ndarray:
    return 2 * SIMILAR + pictures.of_each_picture(pictures.beside_of_each(rows, **given)[1])


def _mean_of_each(effect: Callable, rows: pd.DataFrame) -> np.ndarray:
    return pictures.of_each_picture(effect(rows))


def below_limit(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return how far the ℓ1 baseline's accuracy lies below 0.74."""
    return (L1_NEVER_ABOVE - chosen(rows, panel, "l1_raw_descriptors")["test_score"]).to_numpy()


def more_than_half(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return log10 of early exit's cost, as accurate as λ = 0 within 0.01, to half of λ = 0's."""
    return np.log10(2) - decades_saved(rows, panel, "early_exit", margin=SIMILAR)
