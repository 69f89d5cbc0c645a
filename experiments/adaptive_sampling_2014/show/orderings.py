"""What section 6.5 says about the order of the methods, as claims.

All speak about the training loss at equal cost as the paper counts it. Where the paper says
"methods", "procedures" or "baselines", the mean over the group is meant: its single members do not
all keep the order in the paper's own tables. Each claim carries the same effect of the numbers that
the paper prints: where that is not above 0, the paper's own table denies its sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from experiments.adaptive_sampling_2014.cells.headline import FAMILIES
from experiments.adaptive_sampling_2014.cells.methods import (
    BASELINE,
    KEYS,
    LAMINATING,
    MAS,
    TASTING,
    group,
)
from experiments.adaptive_sampling_2014.show.paper_tables import SETS, TABLES, printed
from experiments.claims import Claim

SMALLEST_EFFECT = 0.01
"""Smallest difference of log10 losses of interest: the last digit of the paper's tables."""

SMALLEST_EFFECT_ON_ERROR = 0.1
"""Smallest difference of test errors of interest, in percentage points."""

SIMILAR = 0.5
"""Percentage points of test error within which two methods count as alike."""

EARLY = (10, 100, 1_000)
FINAL = 10_000
_UNIFORM = ("uniform_naive", "uniform_1q", "uniform_q1")
_UNIT, _POINTS = "decades of loss", "percentage points"


def headline_of(dataset: str, meta: Mapping) -> str:
    """Return the name of the features that a table is about, of those it has."""
    families = FAMILIES.get(dataset, dataset)
    return families if families in meta["data"] else dataset


def of_set(rows: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return the rows of one set of features."""
    return rows[rows["dataset"] == dataset]


def at(rows: pd.DataFrame, rounds: int, column: str = "log10_loss") -> pd.DataFrame:
    """Return a column at T rounds, as the paper counts cost: a line per seed, a method each column.

    Methods that were not run are missing.
    """
    mine = rows[(rows["budget"] == "paper") & (rows["rounds"] == rounds)]
    mine = mine[mine["algorithm"].isin(KEYS)]
    table = mine.pivot(index="seed", columns="algorithm", values=column)
    return table[[key for key in KEYS if key in table.columns]]


def lead(table: pd.DataFrame, ahead: Sequence[str], behind: Sequence[str]) -> np.ndarray:
    """Return by how much the mean of one group is smaller than that of another, for each seed.

    Parameters
    ----------
    table : DataFrame
        Of :func:`at`.
    ahead, behind : sequence of str
        Methods.

    Returns
    -------
    (n_seeds,) float
        Empty if a method is missing.
    """
    if missing(table, [*ahead, *behind]):
        return np.empty(0)
    return (table[list(behind)].mean(axis=1) - table[list(ahead)].mean(axis=1)).to_numpy()


def missing(table: pd.DataFrame, methods: Sequence[str]) -> bool:
    """Whether a table lacks any of some methods, or all repetitions."""
    return table.empty or not set(methods) <= set(table.columns)


def best_of(table: pd.DataFrame, methods: Sequence[str]) -> str:
    """Return the method with the smallest mean over the repetitions, first of equals."""
    return str(table[list(methods)].mean().idxmin())


def lead_over_best(table: pd.DataFrame, method: str) -> np.ndarray:
    """Return by how much a method is below the best of the others, for each seed."""
    others = [key for key in KEYS if key != method]
    if missing(table, KEYS):
        return np.empty(0)
    return lead(table, [method], [best_of(table, others)])


def paper_at(dataset: str, rounds: int, position: int = 0) -> pd.DataFrame:
    """Return the paper's numbers in the shape of :func:`at`: one line.

    `position` 0 is the loss, 1 the test error.
    """
    return pd.DataFrame([{key: printed(dataset, key, rounds)[position] for key in TABLES[dataset]}])


def make_claims(dataset: str, rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return the claims of a data set's table.

    Those about 10,000 rounds are always there; without rows they are not run at this scale.
    """
    if dataset == "caltech101":
        claims = [*_no_advantage(dataset), *_beaten(dataset), *_at_the_end(dataset)]
    else:
        claims = [*_ahead(dataset), *_at_the_end(dataset)]
    features = headline_of(dataset, meta)
    real = meta["data"][features]["kind"] == "real"
    only = " (on these images, the same for every seed)" if real else ""
    return [
        replace(
            claim,
            dataset=features,
            sentence=claim.sentence + only,
            effects=partial(_effects_of_set, features=features, effects=claim.effects),
        )
        for claim in claims
    ]


def _effects_of_set(rows: pd.DataFrame, *, features: str, effects: Callable) -> np.ndarray:
    return effects(of_set(rows, features))


def _claim(
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
        smallest_effect=SMALLEST_EFFECT_ON_ERROR if error else SMALLEST_EFFECT,
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
            _claim(
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
                _claim(
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
    return 2 * SMALLEST_EFFECT - gained


def _no_advantage(dataset: str) -> list[Claim]:
    # Worded as it is judged: the effect is what is left of the margin.
    return [
        _claim(
            *(dataset, "no-advantage"),
            "the best method that samples examples (M.A.S., Laminating) has a loss at most "
            f"{SMALLEST_EFFECT:g} decades below that of the best that does not, and "
            f"surely less than {2 * SMALLEST_EFFECT:g}",
            '"there is no advantage in sampling examples"',
            no_advantage,
            rounds,
        )
        for rounds in EARLY
    ]


def _beaten(dataset: str) -> list[Claim]:
    return [
        _claim(
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
        _claim(
            *(dataset, "alike"),
            "the test errors of all methods but Best family lie within "
            f"{SIMILAR:g} percentage points, and surely within "
            f"{SIMILAR + SMALLEST_EFFECT_ON_ERROR:g}",
            '"The performance of all the methods tends to get similar for 10,000 stumps"',
            alike,
            FINAL,
            error=True,
        ),
        _claim(
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
            _claim(
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
        _claim(
            *(dataset, "laminating-wins"),
            "Laminating has a smaller loss than the best of all other methods",
            '"On this data set the Laminating algorithm still dominates"',
            partial(lead_over_best, method=laminating),
            FINAL,
        ),
        _claim(
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
