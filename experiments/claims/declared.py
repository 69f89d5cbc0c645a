"""What a preregistered claim declares before any of its rows is computed."""

from __future__ import annotations

import importlib
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd

from datasets.registered import spec
from experiments.cell import Cell
from experiments.claims.pooling import LEAST_DIVISIONS
from experiments.claims.stages import looks
from experiments.claims.verdicts import RULES, is_denied
from experiments.registry import PAPERS, short_name

FIRST_SEED = 2000
"""Repetitions are counted from here: seeds that no published row and no pilot has. A multiple of
five, so that folds come in whole divisions."""

LOOKS = (10, 20, 40)
"""Repetitions at which a claim is judged, unless it says otherwise."""

FOLDS = 5
"""Repetitions that make a whole division, where each is a fold."""

MOST_CHOICES = 3
"""Choices of a claim at most that are read otherwise; readings of one choice give one reason."""

MOST_CLAIMS = 12
"""Preregistered claims of a paper at most."""


Wants = Callable[[Cell], bool]
"""Whether rows of a cell are wanted."""


def every(cell: Cell) -> bool:
    """Want a cell, whichever it is."""
    return True


@dataclass(frozen=True)
class Part:
    """What one data set contributes to a claim."""

    artefact: str  # Whose cells it is measured by, for example ``cegb-figure2``
    dataset: str
    # ``rows -> (n,) float``: one signed effect for each repetition, in the claim's unit; positive
    # where the sentence holds. Or ``rows -> (n, n_queries) float``: one for each query of each; NaN
    # where a repetition does not test a query (or picture), by its draw alone
    effects: Callable[[pd.DataFrame], np.ndarray]
    folds: bool = False  # Whether a repetition is one of five folds
    scale: str = "overnight"  # Sizes and grids of its cells; the same for all parts of an artefact
    # ``cell -> bool``: whether the effects need its rows; the same for all parts of an artefact
    wants: Wants = every
    # ``rows -> (n,)``: whether no model is as good as the claim's words ask in each repetition, or
    # in which share of its folds
    none: Callable[[pd.DataFrame], np.ndarray] | None = None
    # Whether the claim's own rows of the methods that are set count as well, see :func:`otherwise`
    as_well: bool = False


AS_SET = "@"
"""Between the name of an artefact and what is set of its methods' parameters."""


def otherwise(
    part: Part, settings: Sequence[str], wants: Wants = every, as_well: bool = False
) -> Part:
    """Return a part whose cells have other parameters, said as ``reproduce --set`` takes them.

    Only the methods that are set are run. Beside them stand the claim's own rows of the others, of
    the same repetitions; `as_well` those of the methods that are set too, to choose from both.
    """
    methods = frozenset(text.partition(".")[0] for text in settings)
    name = f"{part.artefact}{AS_SET}{','.join(settings)}"
    return replace(part, artefact=name, wants=_of_methods(methods, wants), as_well=as_well)


@cache
def _of_methods(methods: frozenset[str], wants: Wants) -> Wants:
    """Want the cells of some methods; the same function for the same ones."""
    return lambda cell: cell.algorithm in methods and wants(cell)


def base_of(artefact_id: str) -> str:
    """Return the artefact whose cells they are, whatever is set."""
    return artefact_id.partition(AS_SET)[0]


@dataclass(frozen=True)
class Reading:
    """What another honest reader may have taken, where the paper leaves a choice open."""

    name: str  # In a few words
    reason: str  # Why a reader may take it
    parts: tuple[Part, ...]  # The claim's sets, those changed that the choice is about
    n: int = 10  # Repetitions of each set at which it is judged, see :meth:`n_of`
    # Whether a result of it was known when it was declared: it is then exploratory, marked †
    seen: bool = False

    def n_of(self, part: Part) -> int:
        """Return the repetitions of a set: where they are folds, enough for an interval."""
        return max(self.n, LEAST_DIVISIONS * FOLDS) if part.folds else self.n


@dataclass(frozen=True)
class Claim:
    """One sentence that a paper itself puts forward."""

    id: str  # The paper's short name and the claim's: ``cegb-classification``
    sentence: str  # sentence, place: What the paper says, made precise; where, with its words
    place: str
    unit: str  # Unit of the effect
    delta: float  # Smallest effect of interest, or the margin; > 0
    reason: str  # Why this δ, in units that a reader knows
    parts: tuple[Part, ...]  # The named sets, which count alike
    # What is asked of the effect, see :mod:`experiments.claims.verdicts`
    kind: str = "direction"
    looks: tuple[int, ...] = LOOKS  # Repetitions at which it is judged; the last is its limit
    # The same effect of the numbers that the paper prints, NaN where it prints none. Where it is
    # not above 0 the paper's own table denies its sentence, whatever our rows say
    paper_effect: float = math.nan
    readings: tuple[Reading, ...] = ()  # Of at most three choices
    unread: str = ""  # Why no choice is read otherwise; of a claim that has no readings
    # Tasks of the data that the paper says it of, as :class:`datasets.registry.DatasetSpec` has
    # them; empty where it says it of all
    said_of: tuple[str, ...] = ()
    changed: str = ""  # Why its sets, its effect or its verdict are not as they were published
    withdrawn: str = ""  # Why it is none of the paper's sentences; it is shown, and counts for none
    # Repetitions whose rows had been seen when a rule was changed by which its verdict turns: it is
    # read off `fresh` later ones alone, and until these are made stays as it was published
    seen: int = 0
    fresh: int = 10
    # How often fresh repetitions were asked: the earlier ones left it undecided, and are seen now.
    # Each time spends as much of the paper's error rate as a claim
    asked: int = 1


def n_judged(claims: Sequence[Claim]) -> int:
    """Return the judgements that share a paper's error rate: what its own table denies has none."""
    return sum(one.asked for one in claims if not is_denied(one.paper_effect))


def check_declared(claims: tuple[Claim, ...]) -> None:
    """Refuse a paper's declaration that could not be judged."""
    names = [one.id for one in claims]
    there = [one for one in claims if not (one.withdrawn or is_denied(one.paper_effect))]
    if len(there) > MOST_CLAIMS or len(set(names)) < len(names):
        raise ValueError(f"At most {MOST_CLAIMS} preregistered claims of different names: {names}.")
    for one in claims:
        sets = [(part.artefact, part.dataset) for part in one.parts]
        if not sets or not one.delta > 0 or one.kind not in RULES or not one.reason:
            raise ValueError(f"{one.id} needs sets, δ > 0 with its reason, and a known kind.")
        if one.asked < 1 or (one.asked > 1 and not one.seen):
            raise ValueError(f"{one.id} is asked again, and no repetitions of it were seen.")
        given = all(reading.parts and reading.reason for reading in one.readings)
        if len({reading.reason for reading in one.readings}) > MOST_CHOICES or not given:
            raise ValueError(
                f"{one.id}: readings of at most {MOST_CHOICES} choices, with sets and reasons."
            )
        asked = {spec(part.dataset).task for part in one.parts if one.said_of}
        if not (one.withdrawn or asked <= {*one.said_of}):
            raise ValueError(f"{one.id} is said of {one.said_of}, and asked of {sorted(asked)}.")
        looks(one.looks, n_judged(claims) or 1)
    parts = [part for one in claims for part in every_part(one)]
    asked = {(part.artefact, part.scale, part.wants) for part in parts}
    counted = Counter(artefact for artefact, *_ in asked)
    if several := sorted(name for name, n in counted.items() if n > 1):
        raise ValueError(f"Several scales or kinds of cells are asked of {several}.")


def every_part(one: Claim) -> list[Part]:
    """Return what a claim and its readings are measured by."""
    return [*one.parts, *(part for reading in one.readings for part in reading.parts)]


def discover() -> dict[str, tuple[Claim, ...]]:
    """Return the claims that papers declare in ``claims.py``, in the order of papers."""
    found = {}
    for paper in PAPERS:
        claims = importlib.import_module(f"experiments.{paper}.claims").CLAIMS
        check_declared(claims)
        found[short_name(paper)] = claims
    return found
