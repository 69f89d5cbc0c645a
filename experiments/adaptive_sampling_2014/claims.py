"""What the paper on adaptive sampling says, as claims: its sentences and what would count.

Those on tables speak about the training loss at equal cost as the paper counts it. Where the paper
says "methods", "procedures" or "baselines", the mean over the group is meant: its single members do
not all keep the order in the paper's own tables. Each claim carries the same effect of the numbers
that the paper prints: where that is not above 0, the paper's own table denies its sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from experiments.adaptive_sampling_2014.cells.methods import (
    BASELINE,
    KEYS,
    LAMINATING,
    MAS,
    TASTING,
    group,
)
from experiments.adaptive_sampling_2014.show.orderings import (
    EARLY,
    FINAL,
    at,
    best_of,
    headline_of,
    lead,
    lead_over_best,
    missing,
    of_set,
    paper_at,
)
from experiments.adaptive_sampling_2014.show.paper_tables import SETS
from experiments.adaptive_sampling_2014.show.simulations import (
    COSTS,
    SHOWN_BOUNDS,
    STDS,
    against,
    best_size,
    differences,
)
from experiments.claims import Claim
from experiments.data_kinds import NAME, is_synthetic

# --- Tables 1 to 4 --------------------------------------------------------------------------------

SMALLEST_EFFECT_ON_LOSS = 0.01
"""Smallest difference of log10 losses of interest: the last digit of the paper's tables."""

SMALLEST_EFFECT_ON_ERROR = 0.1
"""Smallest difference of test errors of interest, in percentage points."""

SIMILAR = 0.5
"""Percentage points of test error within which two methods count as alike."""

_UNIFORM = ("uniform_naive", "uniform_1q", "uniform_q1")
_UNIT, _POINTS = "decades of loss", "percentage points"


def of_table(dataset: str, rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return the claims of a data set's table.

    Those about 10,000 rounds are always there; without rows they are not run at this scale.
    """
    if dataset == "caltech101":
        claims = [*_no_advantage(dataset), *_beaten(dataset), *_at_the_end(dataset)]
    else:
        claims = [*_ahead(dataset), *_at_the_end(dataset)]
    features = headline_of(dataset, meta)
    drawn = is_synthetic(meta["data"][features])
    only = "" if drawn else " (on these images, the same for every seed)"
    return [
        replace(
            claim,
            dataset=features,
            sentence=claim.sentence + only,
            effects=partial(_effects_of_set, features=features, effects=claim.effects),
        )
        for claim in claims
    ]


def early(dataset: str, rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return a table's claims on up to 1,000 rounds, of the same rows by other rules."""
    claims = of_table(dataset, rows, meta)
    return [
        replace(claim, id=f"{claim.id}-rules")
        for claim in claims
        if not claim.id.endswith(f"-{FINAL}")
    ]


def _effects_of_set(rows: pd.DataFrame, *, features: str, effects: Callable) -> np.ndarray:
    return effects(of_set(rows, features))


def _table_claim(
    dataset: str,
    name: str,
    sentence: str,
    quote: str,
    effect: Callable[[pd.DataFrame], np.ndarray],
    rounds: int,
    *,
    error: bool = False,
) -> Claim:
    """Return a claim on the losses (or errors) at T rounds; `effect` takes the table of :func:`at`.

    It also takes that of the paper's own numbers.
    """
    column = "test_error" if error else "log10_loss"
    return Claim(
        id=f"{name}-{rounds}",
        sentence=f"{SETS[dataset].title}, T = {rounds:,}: {sentence}",
        place=f"section 6.5: {quote}; Table {SETS[dataset].table}",
        dataset=dataset,
        smallest_effect=SMALLEST_EFFECT_ON_ERROR if error else SMALLEST_EFFECT_ON_LOSS,
        unit=_POINTS if error else _UNIT,
        effects=partial(_effects, effect=effect, rounds=rounds, column=column),
        paper_effect=float(effect(paper_at(dataset, rounds, int(error)))[0]),
    )


def _effects(rows: pd.DataFrame, *, effect, rounds: int, column: str) -> np.ndarray:
    return effect(at(rows, rounds, column))


def _ahead(dataset: str) -> list[Claim]:
    claims = []
    for rounds in EARLY:
        claims.append(
            _table_claim(
                *(dataset, "laminating-wins"),
                "Laminating has a smaller loss than the best of all other methods",
                '"Up to 1,000 boosting rounds, the Laminating algorithms is the clear winner on '
                'three out of the four data sets"',
                partial(lead_over_best, method=group(LAMINATING)[0]),
                rounds,
            )
        )
        for name in (MAS, TASTING):
            claims.append(
                _table_claim(
                    *(dataset, f"{name.lower().replace('.', '')}-ahead"),
                    f"{name} has a smaller loss than the baselines, means over their variants",
                    '"Then come the M.A.S. and the Tasting procedures, still performing far better '
                    'than the baselines"',
                    partial(lead, ahead=group(name), behind=group(BASELINE)),
                    rounds,
                )
            )
    return claims


def no_advantage(table: pd.DataFrame) -> np.ndarray:
    """Return how far the best that samples examples stays below the lead that counts, per seed."""
    sampling, others = group(MAS, LAMINATING), group(BASELINE, TASTING)
    if missing(table, KEYS):
        return np.empty(0)
    gained = lead(table, [best_of(table, sampling)], [best_of(table, others)])
    return 2 * SMALLEST_EFFECT_ON_LOSS - gained


def _no_advantage(dataset: str) -> list[Claim]:
    # Worded as it is judged: the effect is what is left of the margin.
    return [
        _table_claim(
            *(dataset, "no-advantage"),
            "the best method that samples examples (M.A.S., Laminating) has a loss at most "
            f"{SMALLEST_EFFECT_ON_LOSS:g} decades below that of the best that does not, and "
            f"surely less than {2 * SMALLEST_EFFECT_ON_LOSS:g}",
            '"there is no advantage in sampling examples"',
            no_advantage,
            rounds,
        )
        for rounds in EARLY
    ]


def _beaten(dataset: str) -> list[Claim]:
    return [
        _table_claim(
            *(dataset, f"{name.lower().replace('.', '')}-beaten"),
            f"the baselines have a smaller loss than {name}, means over the variants",
            '"It even proves detrimental as the M.A.S. and Laminating methods are beaten by the '
            'baselines after 1,000 iterations"',
            partial(lead, ahead=group(BASELINE), behind=group(name)),
            EARLY[-1],
        )
        for name in (MAS, LAMINATING)
    ]


def alike(table: pd.DataFrame) -> np.ndarray:
    """Return how far the range of all methods but Best family stays below what counts, per seed."""
    methods = [key for key in KEYS if key != "best_family"]
    if missing(table, KEYS):
        return np.empty(0)
    spread = table[methods].max(axis=1) - table[methods].min(axis=1)
    return (SIMILAR + SMALLEST_EFFECT_ON_ERROR - spread).to_numpy()


def no_better_error(table: pd.DataFrame, method: str) -> np.ndarray:
    """Return how far a method's lead in test error stays below what counts, per seed."""
    gained = lead_over_best(table, method)
    return 2 * SMALLEST_EFFECT_ON_ERROR - gained


def _at_the_end(dataset: str) -> list[Claim]:
    claims = [
        _table_claim(
            *(dataset, "alike"),
            "the test errors of all methods but Best family lie within "
            f"{SIMILAR:g} percentage points, and surely within "
            f"{SIMILAR + SMALLEST_EFFECT_ON_ERROR:g}",
            '"The performance of all the methods tends to get similar for 10,000 stumps"',
            alike,
            FINAL,
            error=True,
        ),
        _table_claim(
            *(dataset, "best-family-behind"),
            "the other uniform strategies have a smaller test error than Best family, mean of the "
            "three",
            '"since it makes use of one subset only we can expect its final performance to be '
            'lower than the others" (section 6.3)',
            partial(lead, ahead=_UNIFORM, behind=["best_family"]),
            FINAL,
            error=True,
        ),
    ]
    if dataset != "inria_person":
        others = group(BASELINE, MAS, LAMINATING)
        return [
            *claims,
            _table_claim(
                *(dataset, "tasting-best"),
                "Tasting, the mean of its variants, has a smaller loss than the best of all other "
                "methods",
                '"The Tasting algorithm appears to fare the best"',
                partial(_tasting_best, others=others),
                FINAL,
            ),
        ]
    return [*claims, *_still_dominates(dataset)]


def _still_dominates(dataset: str) -> list[Claim]:
    laminating = group(LAMINATING)[0]
    return [
        _table_claim(
            *(dataset, "laminating-wins"),
            "Laminating has a smaller loss than the best of all other methods",
            '"On this data set the Laminating algorithm still dominates"',
            partial(lead_over_best, method=laminating),
            FINAL,
        ),
        _table_claim(
            *(dataset, "no-better-error"),
            f"Laminating's test error is at most {SMALLEST_EFFECT_ON_ERROR:g} percentage points "
            f"below the best other, and surely less than {2 * SMALLEST_EFFECT_ON_ERROR:g}",
            '"its advantage in loss reduction does not translate into a lower test error anymore"',
            partial(no_better_error, method=laminating),
            FINAL,
            error=True,
        ),
    ]


def _tasting_best(table: pd.DataFrame, others: Sequence[str]) -> np.ndarray:
    if missing(table, KEYS):
        return np.empty(0)
    return lead(table, group(TASTING), [best_of(table, others)])


# --- Figure 1 -------------------------------------------------------------------------------------

TWICE = 0.30103
"""Decades by which the best Q must be larger for the larger variance: twice as many."""


def growth(rows: pd.DataFrame, cost: int) -> np.ndarray:
    """Return for each seed how many decades larger the best Q is for the larger variance."""
    mine = rows[(rows["kind"] == "line") & (rows["cost"] == cost)]
    best = {
        (seed, std): np.log10(best_size(line, "simulated"))
        for (seed, std), line in mine.groupby(["seed", "std"])
    }
    return np.array([best[seed, STDS[0]] - best[seed, STDS[1]] for seed in mine["seed"].unique()])


def of_figure1(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return for each cost the claim that the best Q grows with the variance."""
    return [
        Claim(
            id=f"cost-{cost}",
            sentence=f"Gaussian edges, QS = {cost:,}: the Q with the largest E[ε*], found by "
            "drawing, is at least twice as large for edges of variance 10^-2 as for 10^-4.",
            place='section 5.2, Fig. 1: "the optimal value for Q is greater for larger variances '
            "of the ϵq's\"",
            dataset=NAME,
            smallest_effect=TWICE,
            unit="decades of Q",
            effects=partial(growth, cost=cost),
        )
        for cost in COSTS
    ]


# --- Figure 2 -------------------------------------------------------------------------------------

SMALLEST_SAVING = 0.1
"""Share of the better other strategy's difference by which Laminating's must be smaller."""

_PLACE = (
    'section 5.4, Fig. 2: "typically smaller than the difference with the edge of a learner '
    'selected by a strategy looking at a fixed number of weak learners and training examples"'
)


def saving(rows: pd.DataFrame, passes: int) -> np.ndarray:
    """Return for each seed by what share Laminating's difference is below the best other one's."""
    table = differences(rows, passes)
    others = table.drop(columns="laminating").min(axis=1)
    return (1 - table["laminating"] / others).to_numpy()


def of_figure2(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return for each cost the claim that Laminating comes nearest to the best edge."""
    return [
        Claim(
            id=f"passes-{passes}",
            sentence=f"MNIST, pixels, a round costing {passes} features on all examples: over "
            "all rounds Laminating's mean edge difference is smaller than that of either other "
            "strategy of equal cost (on these training images, the same for every seed).",
            place=_PLACE,
            dataset="mnist",
            smallest_effect=SMALLEST_SAVING,
            unit="of the better other strategy's difference",
            effects=partial(saving, passes=passes),
        )
        for passes in sorted(rows["passes"].unique().tolist())
    ]


# --- beside the paper: Theorem 1 ------------------------------------------------------------------

SMALLEST_PROBABILITY = 1e-3


def of_theorem1(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return the claims that the bounds as printed hold, of the lemma and of the theorem."""
    where = f"wherever the printed bound is between {SHOWN_BOUNDS[0]:g} and 1"
    shared = {
        "dataset": NAME,
        "smallest_effect": SMALLEST_PROBABILITY,
        "unit": "probability below the bound",
        "spread": "trials",
    }
    return [
        Claim(
            id="lemma",
            sentence="An iteration of Laminating loses all learners within δ of the best one with "
            f"a probability of at most 4 exp(-δ²S/2), {where}; the case nearest to it.",
            place="section 5.4, Lemma 1",
            effects=partial(against, procedure="one iteration"),
            **shared,
        ),
        Claim(
            id="theorem",
            sentence="In our trials (which prove nothing: the proof has an error, and no failure "
            "is seen where the bound says anything) Laminating ends up with a learner δ worse than "
            f"the best one no more often than 4 / (1 - exp(-δ²S/69)) - 4, {where}; the case "
            "nearest to it.",
            place="section 5.4, Theorem 1",
            effects=partial(against, procedure="whole"),
            **shared,
        ),
    ]
