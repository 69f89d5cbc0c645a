"""Fresh repetitions of the sets that preregistered claims name, and the minutes that they take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from experiments import setting
from experiments.artefact import Artefact
from experiments.cell import Cell
from experiments.claims.declared import (
    AS_SET,
    FIRST_SEED,
    Claim,
    Part,
    Reading,
    Wants,
    base_of,
    every,
    every_part,
)

Declared = Mapping[str, Sequence[Claim]]
Minutes = Mapping[tuple[str, str], float]
"""Minutes of one repetition on 2 cores, by data set and scale."""


def every_artefact(declared: Declared, artefacts: Sequence[Artefact]) -> list[Artefact]:
    """Return the artefacts, and those with other parameters that readings of claims ask for."""
    parts = (part for claims in declared.values() for one in claims for part in every_part(one))
    asked = {part.artefact: part.scale for part in parts if AS_SET in part.artefact}
    known, found = {artefact.id: artefact for artefact in artefacts}, []
    for name, scale in sorted(asked.items()):
        if (of := base_of(name)) in known:
            otherwise = setting.applied(known[of], scale, settings_of(name))
            found.append(replace(otherwise, id=name))
    return [*artefacts, *found]


def settings_of(artefact_id: str) -> dict[str, dict[str, Any]]:
    """Return what is set of its methods, as :func:`experiments.setting.parse` does."""
    texts = artefact_id.partition(AS_SET)[2]
    return setting.parse(texts.split(",")) if texts else {}


def confirming(
    artefact: Artefact,
    n: int,
    datasets: Sequence[str],
    kept: int = 0,
    wants: Wants = every,
) -> Artefact:
    """Return an artefact whose cells are those of fresh repetitions of some data sets."""

    def first(scale: str, repetitions: int) -> list[Cell]:
        seeds = range(FIRST_SEED, FIRST_SEED + repetitions)
        cells = artefact.make_cells(scale, seeds)
        return [cell for cell in cells if cell.dataset in datasets and wants(cell)]

    def make_cells(scale: str, seeds: range) -> list[Cell]:
        again, known = ({cell.seed for cell in first(scale, m)} for m in (min(kept, 1), kept))
        return [cell for cell in first(scale, seeds.stop) if cell.seed not in known - again]

    return replace(artefact, make_cells=make_cells, seeds=dict.fromkeys(artefact.seeds, n))


def minutes(
    artefact: Artefact,
    n: int,
    datasets: Sequence[str],
    scale: str,
    measured: Minutes,
    kept: int = 0,
    wants: Wants = every,
    of_all: Minutes | None = None,
) -> float:
    """Return the minutes that so many repetitions take on 2 cores.

    Parameters
    ----------
    artefact : Artefact
        Its own minutes say what a set takes that was run nowhere: cells are then counted alike.
    n : int
    datasets : sequence of str
    scale : str
    measured : Mapping
        Of the sets that were run, see :func:`.storing.measured`.
    kept, wants
        As in :func:`confirming`.
    of_all : Mapping, optional
        Like `measured`, of all cells of a set that has none there: cells are counted alike.
    """
    n_cells, of_all = max(len(artefact.cells(scale)), 1), of_all or {}
    total = 0.0
    for dataset in datasets:
        if (dataset, scale) in measured:
            total += (n - kept + min(kept, 1)) * measured[dataset, scale]
            continue
        asked = len(confirming(artefact, n, [dataset], kept, wants).cells(scale))
        if (dataset, scale) in of_all:
            each = of_all[dataset, scale] / len(confirming(artefact, 1, [dataset]).cells(scale))
        else:
            each = artefact.minutes[scale] / n_cells
        total += each * asked
    return total


def rough(minutes: float) -> str:
    """Say minutes to two digits: no more is known of them."""
    return f"{float(f'{minutes:.2g}'):g}"


def minutes_left(
    claim: Claim,
    done: int,
    artefacts: Sequence[Artefact],
    measured: Mapping[str, Minutes],
    kept: Mapping[tuple[str, str, str], int] | None = None,
) -> float:
    """Return the minutes on 2 cores to a claim's next look, or to its last; 0 after that."""
    n = next((look for look in claim.looks if look > done), done)
    if claim.seen:
        n = claim.seen + claim.fresh
    return _minutes_of([(part, n) for part in claim.parts], artefacts, measured, kept, done)


def minutes_to_read(
    reading: Reading,
    artefacts: Sequence[Artefact],
    measured: Mapping[str, Minutes],
    kept: Mapping[tuple[str, str, str], int] | None = None,
) -> float:
    """Return the minutes on 2 cores that a reading's repetitions still take."""
    wanted = [(part, reading.n_of(part)) for part in reading.parts]
    return _minutes_of(wanted, artefacts, measured, kept)


def _minutes_of(
    wanted: Sequence[tuple[Part, int]],
    artefacts: Sequence[Artefact],
    measured: Mapping[str, Minutes],
    kept: Mapping[tuple[str, str, str], int] | None,
    done: int = 0,
) -> float:
    """Return the minutes to so many repetitions of each set, but for those that are there."""
    named, total = {artefact.id: artefact for artefact in artefacts}, 0.0
    for part, n in wanted:
        key = (part.artefact, part.dataset, part.scale)
        have = max(done, (kept or {}).get(key, 0))
        if part.artefact in named and n > have:
            known, of_all = (measured.get(id_) for id_ in (part.artefact, base_of(part.artefact)))
            asked = (named[part.artefact], n, [part.dataset], part.scale)
            total += minutes(*asked, known or {}, have, part.wants, of_all)
    return total
