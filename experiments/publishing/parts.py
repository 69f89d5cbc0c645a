"""A run that is a part of a larger one: which cells it leaves out, and how its rows compare.

What laptop scale is to ``overnight`` where the published rows come from there: some of the
same cells, so that each of its rows is one of the published rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from experiments.artefact import DATA_SCALES, Artefact
from experiments.cell import Cell, digest, rounded


def cells_of_run(artefact: Artefact, meta: Mapping) -> list[Cell]:
    """Return the cells of a run by its ``meta.json``, as the artefact declares them now."""
    cells = artefact.cells(meta["scale"], artefact.repetitions(meta["scale"], meta["seeds"]))
    return [cell for cell in cells if cell.dataset in meta["data"]]


def comparable(artefact: Artefact, meta: Mapping, published: Mapping) -> bool:
    """Whether rows of a run can be held against published ones."""
    if meta["scale"] == published["scale"]:
        return True
    if DATA_SCALES[meta["scale"]] != DATA_SCALES.get(published["scale"]):
        return False
    theirs = _digests(cells_of_run(artefact, {**published, "data": meta["data"]}))
    return _digests(cells_of_run(artefact, meta)) <= theirs


def _digests(cells: Sequence[Cell]) -> set[str]:
    return {digest(cell.to_json()) for cell in cells}


def rows_of(artefact: Artefact, rows: pd.DataFrame, cells: Sequence[Cell]) -> pd.DataFrame:
    """Return those of some rows that belong to some cells, told by the keys that cells have.

    Parameters
    ----------
    artefact : Artefact
    rows : DataFrame
    cells : sequence of Cell
    """
    of_cell = ["dataset", "algorithm", "seed"]
    shared = [
        key for key in artefact.keys if all(_is_plain(cell.params.get(key)) for cell in cells)
    ]
    names = [name for name in (*of_cell, *shared) if name in rows]
    if not cells or not set(of_cell) <= set(names):
        return rows
    told = [{**cell.params, **cell.to_json()} for cell in cells]
    wanted = pd.MultiIndex.from_tuples([tuple(_key(one[name]) for name in names) for one in told])
    return rows[pd.MultiIndex.from_frame(rows[names]).isin(wanted)]


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float)


def _key(value):
    return rounded(value) if isinstance(value, float) else value


def left_out(artefact: Artefact, meta: Mapping, published: Mapping) -> str:
    """Say which of the published cells a run leaves out; empty if none, or if it is no part."""
    ours = cells_of_run(artefact, meta)
    theirs = cells_of_run(artefact, published)
    here, there = _digests(ours), _digests(theirs)
    if not here < there:
        return ""
    missing = [cell for cell in theirs if digest(cell.to_json()) not in here]
    return (
        f"Left out of the {len(there):,} cells published at scale {published['scale']}: "
        f"{len(missing):,}, which are {'; '.join(_described(missing, ours))}."
    )


def _described(missing: Sequence[Cell], ours: Sequence[Cell]) -> list[str]:
    """Name the repetitions that are left out, and of those that are not, the values of parameters.

    Data sets of which the same is left out share an entry.
    """
    entries: dict[str, list[str]] = {}
    for name in dict.fromkeys(cell.dataset for cell in missing):
        mine = [cell for cell in ours if cell.dataset == name]
        if not mine:
            entries.setdefault("all cells", []).append(name)
            continue
        seeds = {cell.seed for cell in mine}
        of_set = [cell for cell in missing if cell.dataset == name]
        gone = sorted({cell.seed for cell in of_set} - seeds)
        words = [f"seeds {', '.join(map(str, gone))}"] * bool(gone)
        words += _values(of_set, mine)
        entries.setdefault(" and ".join(words) or "other cells", []).append(name)
    everywhere = len(entries) == 1 and len({cell.dataset for cell in ours}) == len(
        *entries.values()
    )
    return [
        f"{what} of {'all data sets' if everywhere else ', '.join(names)}"
        for what, names in entries.items()
    ]


def _values(missing: Sequence[Cell], ours: Sequence[Cell]) -> list[str]:
    """Return the values of parameters that a data set's cells no longer have, by method."""
    methods: dict[tuple[str, str], list[str]] = {}
    for method in dict.fromkeys(cell.algorithm for cell in missing):
        if not any(cell.algorithm == method for cell in ours):
            methods.setdefault(("", ""), []).append(method)
            continue
        kept, all_of_it = (_parameters(cells, method) for cells in (ours, missing))
        for name, values in all_of_it.items():
            if gone := values - kept.get(name, set()):
                text = ", ".join(v if isinstance(v, str) else f"{v:g}" for v in sorted(gone))
                methods.setdefault((name, text), []).append(method)
    return [
        f"{name} {text} ({', '.join(of)})" if name else f"all of {', '.join(of)}"
        for (name, text), of in methods.items()
    ]


def _parameters(cells: Sequence[Cell], method: str) -> dict[str, set]:
    """Return the values that each plain parameter has in the cells of a method."""
    found: dict[str, set] = {}
    for cell in cells:
        if cell.algorithm == method:
            for name, value in cell.params.items():
                if _is_plain(value):
                    found.setdefault(name, set()).add(value)
    return found
