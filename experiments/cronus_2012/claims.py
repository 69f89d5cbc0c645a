"""What the Cronus paper says, as claims: its sentences, their places, and what would count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy import stats

from experiments.claims import Claim, Subject
from experiments.cronus_2012.show.choices import (
    INSENSITIVE,
    SAYS,
    effects,
    mean_by_seed,
    panels_there,
)
from experiments.cronus_2012.show.comparison import (
    BOTH_ENDS,
    MARGIN,
    RULES,
    STEPS,
    bought,
    capped_shares,
    decades_saved,
    features_by_price,
    first_stage,
    lead,
    least_lead,
    shares_remaining,
    stages_with_trees,
    there,
    times_as_long,
)
from experiments.cronus_2012.show.panels import PANELS, Panel
from experiments.curves import HALF_THE_COST

# --- Figure 2 -------------------------------------------------------------------------------------

TENFOLD = 1.0
"""Decades of cost: "an order of magnitude"."""

TIMED = ("raykar_cascade", "and_or_cascade")
"""Whose training time the paper speaks of."""

FEWEST_TIMED = 1000
"""Trees from which a claim on training times is made."""

MOST_CAPPED = 0.05
"""A rival of which this share of the trainings or more ended at a limit of ours is not timed."""

_SMALLEST_EFFECT = 0.01
_SMALLEST_DECADES = 0.05
_LEFT = 'section 4, Fig. 2 left: "each step improves the precision-cost curve"'
_TENFOLD = (
    'section 1: "reduces the average cost … by an order of magnitude … with only a marginal '
    'reduction in retrieval precision"'
)
_INITIAL = (
    'section 1: "even our initialization already significantly outperforms the current '
    'state-of-the-art"'
)
_LIMITED = 'section 4: "the benefits from early-exiting are very limited in our scenario"'
_PROXIMITY = 'section 4: "the best-performing method, Early Exits Using Proximity Threshold"'
_POOR = (
    'section 4: "both methods perform rather poorly … Because both algorithms assign trees to '
    'stages prior to learning"'
)
_WHOLE = (
    'section 3.1: "forcing the classifier to pick many weak-learners that require it, or none at '
    'all"'
)
_SLOWER = (
    'section 4: "both require several hours for a single training … Cronus can be … trained in '
    'less than one hour"'
)
_NAMES = {
    "gbrt": "GBRT",
    "single_stage": "the single stage",
    "cronus_initial": "the initialisation",
    "cronus": "Cronus",
    "early_exit": "early exit",
    "raykar_cascade": "the soft cascade",
    "and_or_cascade": "AND-OR",
}


def of_figure2(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return what the paper says, for each data set; costs by the paper's bill."""
    claims = []
    for panel in PANELS:
        if (rows["panel"] == panel.key).any():
            overlap = meta["data"][panel.dataset].get("test_overlap", 0.0)
            claim = Subject(panel.key, panel.name, panel.dataset, overlap).claim
            unit = "precision@5" if panel.ranking else "average precision"
            timed = [rival for rival in TIMED if may_be_timed(rows, panel.key, rival)]
            claims += [*_step_claims(claim, unit), *_rival_claims(claim, unit, panel, timed)]
            claims += _exit_claims(claim, unit, panel)
    return claims


def _ahead(claim: Callable, unit: str, place: str, better: str, worse: str) -> Claim:
    """Return the claim that one method lies above another."""
    text = f"{_NAMES[better]} scores higher than {_NAMES[worse]} at equal cost"
    short = {"cronus_initial": "initial", "single_stage": "single"}
    name = "-above-".join(short.get(m, m).replace("_", "-") for m in (better, worse))
    return claim(name, text, place, _SMALLEST_EFFECT, unit, lead, better=better, worse=worse)


def _step_claims(claim: Callable, unit: str) -> list[Claim]:
    claims = [_ahead(claim, unit, _LEFT, b, a) for a, b in pairwise(STEPS)]
    text = f"as good as GBRT within {MARGIN:g}, Cronus costs at most a tenth as much"
    claims.append(
        claim("tenfold", text, _TENFOLD, TENFOLD, "decades of cost", decades_saved, method="cronus")
    )
    text = "the single stage scores higher than a plain ℓ1 penalty with as many features"
    claims.append(
        claim("whole-features", text, _WHOLE, _SMALLEST_EFFECT, unit, lead,
              better="single_stage", worse="plain_l1", accounting="_features")
    )  # fmt: skip
    return claims


def _rival_claims(claim: Callable, unit: str, panel: Panel, timed: Sequence[str]) -> list[Claim]:
    frees = {"raykar_cascade": "raykar_free", "and_or_cascade": "and_or_free"}
    tried = {rival: free for rival, free in frees.items() if rival in panel.families}
    rivals = ("early_exit", *tried)
    claims = [_ahead(claim, unit, _INITIAL, "cronus_initial", rival) for rival in rivals]
    for rival, free in tried.items():
        name = _NAMES[rival]
        claims.append(_ahead(claim, unit, _POOR, "cronus", rival))
        text = f"{name} scores higher with trees in boosting order than with trees by price"
        claims.append(
            claim(f"{free.replace('_', '-')}-control", text, _POOR, _SMALLEST_EFFECT, unit, lead,
                  better=free, worse=rival)
        )  # fmt: skip
    for rival in timed:
        text = f"one training of {_NAMES[rival]} takes at least twice as long as one of Cronus"
        claims.append(
            claim(f"{rival.replace('_', '-')}-slower", text, _SLOWER, HALF_THE_COST,
                  "decades of processor time", times_as_long, method=rival, than="cronus")
        )  # fmt: skip
    return claims


def may_be_timed(rows: pd.DataFrame, panel: str, rival: str) -> bool:
    """Whether a rival's training time says anything of "several hours".

    That was with 5,000 trees: nothing is said of fewer than :data:`FEWEST_TIMED`, and nothing of a
    rival that our limits ended.
    """
    if not there(rows, panel, "gbrt", "cronus", rival):
        return False
    mine = rows[(rows["panel"] == panel) & (rows["method"] == "gbrt")]
    share = capped_shares(rows, panel).get(rival, 0.0)
    return mine["rounds"].max() >= FEWEST_TIMED and share < MOST_CAPPED


def _exit_claims(claim: Callable, unit: str, panel: Panel) -> list[Claim]:
    text = f"early exit as good as GBRT within {MARGIN:g} costs more than half as much"
    claims = [
        claim("exit-limited", text, _LIMITED, _SMALLEST_DECADES,
              "decades of cost above a half", above_half)
    ]  # fmt: skip
    if panel.ranking:
        text = "early exit by proximity scores higher than by each other rule at equal cost"
        others = tuple(f"early_exit_{rule}" for rule in RULES if rule != "proximity")
        claims.append(
            claim("proximity-best", text, _PROXIMITY, _SMALLEST_EFFECT, unit, least_lead,
                  better="early_exit_proximity", others=others)
        )  # fmt: skip
    return claims


def above_half(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return log10 of early exit's cost to half of GBRT's, where it is as good."""
    return np.log10(2) - decades_saved(rows, panel, "early_exit")


# --- Figure 3 -------------------------------------------------------------------------------------

_SMALLEST_SHARE = 0.05
_SMALLEST_STAGES = 1.0
_RAPID = (
    'section 4, Fig. 3: "The optimized classifier is more aggressive and reduces inputs more '
    'rapidly in earlier stages"'
)
_FEWER = 'section 4, Fig. 3: "the resulting cascade is reduced to four stages (1,3,4,10)"'


def of_figure3(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return what the paper says of the optimised cascade beside the initialised one."""
    claims = []
    for panel in PANELS:
        if not there(rows, panel.key, *BOTH_ENDS):
            continue
        overlap = meta["data"][panel.dataset].get("test_overlap", 0.0)
        claim = Subject(panel.key, panel.name, panel.dataset, overlap).claim
        claims += [
            claim("rejects-earlier",
                  "of the optimised cascade fewer test inputs remain at stages 2 to K than of the "
                  "initialised one, mean over stages",
                  _RAPID, _SMALLEST_SHARE, "share of the inputs", area_between),
            claim("fewer-stages",
                  "the optimised cascade has fewer stages with trees than the initialised one",
                  _FEWER, _SMALLEST_STAGES, "stages", stages_emptied),
        ]  # fmt: skip
    return claims


def area_between(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return the mean share, over stages 2 to K, that optimisation rejects more, by seed.

    Of inputs that really leave, both ends at one λ and with the thresholds that they were trained
    with. A stage without trees gives all inputs one score: it passes all of them on or none.
    """
    initial, optimised = (shares_remaining(rows, panel, m, "hard") for m in BOTH_ENDS)
    return (initial - optimised).loc[:, 2:].mean(axis=1).to_numpy()


def stages_emptied(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return how many stages fewer have trees after the optimisation, by seed.

    Never below 0, for zeros stay zeros: what is asked is whether it is a stage or more.
    """
    initial, optimised = (stages_with_trees(rows, panel, m) for m in BOTH_ENDS)
    return (initial - optimised).to_numpy(dtype=np.float64)


# --- Figure 4 -------------------------------------------------------------------------------------

CHEAP = 0.025
"""Cheap features cost up to this part of the highest price: 5 of 200 in the paper."""

DEAR = 0.1
"""Expensive ones from this part on: 20 of 200."""

VERY_DEAR = 0.5
"""And these from this part on: 100 of 200."""

_HALF_OF_THE_SEEDS = 0.5
_CHEAP_FIRST = (
    'section 4, Fig. 4: "cheap features, c ≤ 5, are extracted early-on while more expensive '
    'features c ≥ 20 are extracted near the end"'
)
_FIRST = (
    'section 4, Fig. 4: "Most cheap features (c = 1, 5) are already extracted in the first stage"'
)
_DEAR = 'section 4: "a few expensive features (c = 100, 150) are extracted in the very first stage"'


def of_figure4(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return what Figure 4 and its text say, for each data set that has such features."""
    claims = []
    for panel in PANELS:
        if not there(rows, panel.key, "cronus"):
            continue
        overlap = meta["data"][panel.dataset].get("test_overlap", 0.0)
        claim = Subject(panel.key, panel.name, panel.dataset, overlap).claim
        if has_cheap(rows, panel.key):
            claims += _cheap_claims(claim)
        claims.append(
            replace(
                claim("some-dear-at-once",
                      "a feature of half the highest price or more is bought in the first stage "
                      "that has trees, in most repetitions", _DEAR, _SMALLEST_SHARE,
                      "share of repetitions", dear_at_once),
                spread="trials",
            )
        )  # fmt: skip
    return claims


def _cheap_claims(claim: Callable) -> list[Claim]:
    unit = "share of the features"
    return [
        claim("cheap-first",
              "of the cheap features (up to a fortieth of the highest price) bought at all "
              "a larger part is bought in the first stage with trees than of the expensive ones "
              "(a tenth and more)", _CHEAP_FIRST, _SMALLEST_SHARE, unit, cheap_before_dear),
        claim("most-cheap-at-once",
              "of the cheap features that are bought at all more than half are bought in the "
              "first stage that has trees", _FIRST, _SMALLEST_SHARE, f"{unit} above ½",
              cheap_at_once),
    ]  # fmt: skip


def has_cheap(rows: pd.DataFrame, panel: str) -> bool:
    """Whether any feature of a panel's data costs up to :data:`CHEAP` of the highest price.

    Without one the paper's sentences on cheap features say nothing of the data.
    """
    prices = features_by_price(rows, panel).index
    return len(prices) > 0 and prices.min() <= CHEAP * prices.max()


def _firsts(rows: pd.DataFrame, panel: str) -> pd.DataFrame:
    """Return for each (seed, price) features bought in the first stage with trees, and in all.

    A cascade with trees in one stage alone buys everything at once: it has no order, and is left
    out.
    """
    live = stages_with_trees(rows, panel, "cronus")
    table, first = bought(rows, panel), first_stage(rows, panel)
    kept = [key for key in table.index if live.get(key[0], 0) > 1]
    at = [table.loc[key, first[key[0]]] for key in kept]
    listed = table.loc[kept].assign(first=at)
    return pd.DataFrame({"first": listed["first"], "all": listed[table.columns[-1]]})


def cheap_before_dear(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return by how much the part bought in the first stage is larger of the cheap features.

    Of the features that are bought at all, by seed: NaN of a repetition that buys no cheap one, or
    no dear one, or has no order.
    """
    highest = features_by_price(rows, panel).index.max()
    effects = dict.fromkeys(sorted(rows.loc[rows["panel"] == panel, "seed"].unique()), np.nan)
    for seed, mine in _firsts(rows, panel).groupby("seed"):
        mine = mine.droplevel("seed")
        cheap, dear = mine[mine.index <= CHEAP * highest], mine[mine.index >= DEAR * highest]
        if cheap["all"].sum() and dear["all"].sum():
            shares = [group["first"].sum() / group["all"].sum() for group in (cheap, dear)]
            effects[seed] = shares[0] - shares[1]
    return np.array([*effects.values()])


def cheap_at_once(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return by how much more than half of the cheap features are bought at once, by seed."""
    highest, firsts = features_by_price(rows, panel).index.max(), _firsts(rows, panel)
    cheap = firsts[firsts.index.get_level_values("price") <= CHEAP * highest].groupby("seed").sum()
    return (cheap["first"] / cheap["all"].where(cheap["all"] > 0) - 0.5).to_numpy()


def dear_at_once(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return bound, failures, trials: repetitions whose first stage buys nothing very dear."""
    highest, firsts = features_by_price(rows, panel).index.max(), _firsts(rows, panel)
    dear = firsts[firsts.index.get_level_values("price") >= VERY_DEAR * highest]
    buys = dear.groupby("seed")["first"].sum() > 0
    return np.array([[_HALF_OF_THE_SEEDS, float((~buys).sum()), float(len(buys))]])


# --- beside the paper: choices --------------------------------------------------------------------

TUNED = ("ours", "quantile", "positive_weight_35", "penalty_1e-4", "last_penalty_1e-3", "decay_1.1")
"""Settings that validation chooses from by the initialisation alone."""

_MARGIN, _SURELY = 0.02, 0.01
_SMALLEST_CORRELATION = 0.5
_INSENSITIVE = 'section 3.4: "surprisingly insensitive to the values of K and ε"'
_TUNING = (
    'section 3.4: "a very efficient way to set hyper-parameters … choose the best-performing setup '
    '(without further training) on a validation set"'
)


def inside(rows: pd.DataFrame, panel: str, variant: str) -> np.ndarray:
    """Return by how much the difference in score stays below the margin, one value per seed."""
    return _MARGIN - effects(rows, panel, variant)["score"].abs().to_numpy()


def foretold(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return the rank correlation, over settings, of initial and optimised scores, by seed."""
    tables = [
        pd.concat(
            [mean_by_seed(rows, panel, v, method)["valid_score"].rename(v) for v in TUNED], axis=1
        )
        for method in ("cronus_initial", "cronus")
    ]
    correlations = []
    for seed in tables[0].index:
        initial, optimised = (table.loc[seed].to_numpy() for table in tables)
        alike = np.ptp(initial) == 0 or np.ptp(optimised) == 0
        correlations.append(0.0 if alike else stats.spearmanr(initial, optimised).statistic)
    return np.array(correlations)


def of_choices(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return what the paper says of K, ε and tuning, for each data set."""
    claims = []
    for panel in panels_there(rows):
        overlap = meta["data"][panel.dataset].get("test_overlap", 0.0)
        claim = Subject(panel.key, panel.name, panel.dataset, overlap).claim
        tried = set(rows.loc[rows["panel"] == panel.key, "variant"])
        unit = "precision@5" if panel.ranking else "average precision"
        claims += _choice_claims(claim, tried, unit)
    return claims


def _choice_claims(claim: Callable, tried: set[str], unit: str) -> list[Claim]:
    claims = [
        claim(
            variant.replace("_", "-"),
            f"with {SAYS[variant]} the score differs by less than {_MARGIN:g} in each "
            "repetition, on average",
            _INSENSITIVE,
            _SURELY,
            f"{unit} inside the {_MARGIN:g}",
            inside,
            variant=variant,
        )
        for variant in INSENSITIVE
        if variant in tried
    ]
    if tried >= set(TUNED):
        claims.append(
            claim(
                "initialisation-tunes",
                "settings rank by the validation scores of their initialisations as by those of "
                "their optimised cascades",
                _TUNING,
                _SMALLEST_CORRELATION,
                "rank correlation",
                foretold,
            )
        )
    return claims
