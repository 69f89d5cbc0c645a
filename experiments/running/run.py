"""Runs the cells of an artefact, keeps what is finished, and gathers the rows."""

from __future__ import annotations

import logging
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from experiments.artefact import DATA_SCALES, Artefact
from experiments.cell import Cell
from experiments.data_kinds import SYNTHETIC
from experiments.running.provenance import cell_key, describe_data, row_hashes, worker_state
from experiments.running.store import Store
from experiments.running.workers import Task, Workers

log = logging.getLogger(__name__)


class CellsFailed(RuntimeError):
    """One or more cells raised; the others are kept."""

    def __init__(self, artefact_id: str, failures: Sequence[tuple[Cell, BaseException]]) -> None:
        self.failures = list(failures)
        lines = [f"{len(self.failures)} cell(s) of {artefact_id} failed:"]
        for cell, error in self.failures[:5]:
            lines.append(f"  {cell.label()}\n    {type(error).__name__}: {error}{_place(error)}")
        if len(self.failures) > 5:
            lines.append(f"  … and {len(self.failures) - 5} more")
        lines.append("The finished cells are kept; mend the cause and run the same command again.")
        super().__init__("\n".join(lines))


class NoData(RuntimeError):
    """Synthetic data are asked for, and no data set of the artefact has a synthetic form."""


def _place(error: BaseException) -> str:
    """Return where an exception was raised, for whoever has to mend it."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno}, {frames[-1].name})"


@dataclass(frozen=True)
class Result:
    """All rows of an artefact."""

    # Sorted by the artefact's keys; the last columns are its measured times, if it has any
    rows: pd.DataFrame
    # One row per cell: seconds; then one row for each that the artefact itself timed
    timings: pd.DataFrame
    data: dict[str, Mapping[str, Any]]  # Provenance of each data set
    computed: int  # computed, kept: Cells computed now and cells that came from the store
    kept: int
    # What the artefact's ``chosen`` says of its cells; empty without it
    chosen: dict[str, Any] = field(default_factory=dict)
    # Data sets that cannot be had here, of which nothing was computed, each with what gets it
    absent: dict[str, str] = field(default_factory=dict)


def find_data(
    cells: Sequence[Cell], load: Callable, *, scale: str, data_mode: str, unavailable: type
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Load each draw of each data set once, so that errors and terms come before any work."""
    provenance, absent, first_test = {}, {}, {}
    for name, seed in dict.fromkeys((cell.dataset, cell.seed) for cell in cells):
        if name in absent:
            continue
        mode = source_mode(provenance[name]["kind"], scale) if name in provenance else data_mode
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                drawn = load(name, scale=scale, data=mode, seed=seed)
        except unavailable as error:
            if data_mode == "real" or name in provenance:  # a draw of a set that is there
                raise
            log.warning("%s is left out: %s", name, error)
            absent[name] = str(error).rpartition("Next: ")[2]
            continue
        described = describe_data(drawn)
        first = provenance.setdefault(name, described)
        if first is described:
            for warning in caught:
                log.warning("%s", warning.message)
            first_test[name] = _tested(drawn)
        else:
            if name in first_test:
                shared = np.isin(first_test.pop(name), _tested(drawn))
                first["test_overlap"] = round(float(np.mean(shared)), 4)
            differs = {
                key: v for key, v in described.items() if key != "checksums" and v != first[key]
            }
            if differs:
                first.setdefault("other_draws", {})[str(seed)] = differs
        first["checksums"][str(seed)] = drawn.provenance["checksum"]
    return provenance, absent


def _tested(drawn) -> np.ndarray:
    """Return what tells the test rows of two draws apart: hashes of the rows of a table.

    Where features depend on the draw, the numbers of what they were computed of.

    The rows of images and of their features are many times larger; there one draw is another's
    equal, or has nothing in common with it.
    """
    if getattr(drawn, "test_numbers", None) is not None:
        return drawn.test_numbers
    if hasattr(drawn, "X_test"):
        return row_hashes(drawn.X_test)
    return np.array([drawn.provenance["checksum"]])


def source_mode(kind: str, scale: str) -> str:
    """Return how to load a set of which the first draw is known to be real or synthetic.

    Later draws then neither try the sources again nor come from elsewhere. At smoke scale
    there is nothing to choose.
    """
    if scale == "smoke":
        return "auto"
    return "synthetic" if kind == SYNTHETIC else "real"


def together(artefact: Artefact, one: Result, other: Result) -> Result:
    """Return the results of two runs of an artefact, whose cells differ, as one."""
    rows = pd.concat([part.rows for part in (one, other) if len(part.rows)] or [one.rows])
    return replace(
        one,
        rows=rows.sort_values(artefact.row_keys(), kind="stable", ignore_index=True),
        timings=pd.concat([one.timings, other.timings], ignore_index=True),
        computed=one.computed + other.computed,
        kept=one.kept + other.kept,
    )


def run(
    artefact: Artefact,
    *,
    scale: str,
    data_mode: str,
    n_seeds: int | None,
    store: Store,
    workers: Workers,
    load: Callable,
    unavailable: type,
    progress: bool = True,
) -> Result:
    """Compute every cell that the store does not hold and gather all rows.

    Parameters
    ----------
    artefact : Artefact
        What to compute.
    scale, data_mode : str
        Sizes of the data, and whether real data or synthetic data serve.
    n_seeds : int or None
        Repetitions; None means the artefact's own number.
    store : Store
        Finished cells.
    workers : Workers
        Who computes.
    load, unavailable : callable, type
        As in :func:`find_data`; the exception says that data are unavailable.
    progress : bool
        Draw a progress bar on standard error, if that is a terminal.

    Raises
    ------
    CellsFailed
        If a cell raised, after all others are finished and kept.
    NoData
        If synthetic data are asked for and there are none for any of its data.
    """
    cells, scale = artefact.cells(scale, n_seeds), DATA_SCALES[scale]
    log.info("%s: reading the data", artefact.id)
    data, absent = find_data(cells, load, scale=scale, data_mode=data_mode, unavailable=unavailable)
    cells = [cell for cell in cells if cell.dataset in data]
    if not cells and data_mode == "synthetic":
        raise NoData(f"none of the data of {artefact.id} has a synthetic form: leave out --data")
    if not cells:
        return Result(*_tables(artefact, [], [])[:2], data, computed=0, kept=0, absent=absent)
    names = tuple(dict.fromkeys(cell.dataset for cell in cells))
    described = (artefact.run_cell.__module__, load.__module__, names)
    state = worker_state(*described)
    # Two functions of one module share its sources, and may have cells of one name.
    by = {**state, "run_cell": artefact.run_cell.__qualname__}
    keys = [cell_key(cell, scale, _identity(data, cell), by) for cell in cells]
    finished = {i: entry for i, key in enumerate(keys) if (entry := store.get(key)) is not None}
    pending = [i for i in range(len(cells)) if i not in finished]
    kept = len(finished)
    log.info("%s: %d cells, %d of them already in the store", artefact.id, len(cells), kept)
    if pending:
        workers.check_equal(state, *described)
        tasks = [
            Task(
                artefact.run_cell,
                load,
                cells[i],
                scale,
                source_mode(data[cells[i].dataset]["kind"], scale),
                _identity(data, cells[i]),
                state["sources"][cells[i].dataset],
            )
            for i in pending
        ]
        outcomes = compute_and_keep(
            artefact.id,
            tasks,
            [keys[i] for i in pending],
            store,
            workers,
            kept=kept,
            progress=progress,
        )
        finished.update(zip(pending, outcomes, strict=True))
    results = [finished[i] for i in range(len(cells))]
    rows, timings, chosen = _tables(artefact, cells, results)
    counts = {"computed": len(pending), "kept": kept}
    return Result(rows, timings, data, **counts, chosen=chosen, absent=absent)


def compute_and_keep(
    name: str,
    tasks: Sequence[Task],
    keys: Sequence[str],
    store: Store,
    workers: Workers,
    *,
    kept: int = 0,
    progress: bool = True,
) -> list[tuple[list[dict], float]]:
    """Compute tasks and store each result as it comes in."""
    outcomes, failures = [None] * len(tasks), []
    bar = tqdm(
        total=kept + len(tasks),
        initial=kept,
        unit="cell",
        disable=None if progress else True,  # None: only on a terminal
    )
    with bar:
        for done, (index, outcome) in enumerate(workers.compute(tasks), kept + 1):
            cell = tasks[index].cell
            bar.update()
            if isinstance(outcome, BaseException):
                failures.append((cell, outcome))
                log.error("failed: %s · %s: %s", cell.label(), type(outcome).__name__, outcome)
                continue
            rows, seconds = outcomes[index] = outcome
            store.put(keys[index], rows, seconds)
            log.info("[%d/%d] %s · %.2f s", done, kept + len(tasks), cell.label(), seconds)
    if failures:
        raise CellsFailed(name, failures)
    return outcomes


def _identity(data, cell: Cell) -> dict[str, str]:
    record = data[cell.dataset]
    return {"kind": record["kind"], "checksum": record["checksums"][str(cell.seed)]}


def _tables(artefact: Artefact, cells, results) -> tuple[pd.DataFrame, pd.DataFrame, dict]:
    """Put all rows into two tidy, sorted tables, results and times; and what was chosen."""
    rows, timings = [], []
    for cell, (cell_rows, seconds) in zip(cells, results, strict=True):
        base = {"dataset": cell.dataset, "algorithm": cell.algorithm, "seed": cell.seed}
        rows += [{**base, **row} for row in cell_rows]
        timings.append({**base, "cell": cell.label(), "seconds": seconds})
    keys = artefact.row_keys()
    expected = [*keys, *artefact.tolerances, *artefact.drawn_columns, *artefact.timing_columns]
    table = pd.DataFrame(rows, columns=list(rows[0]) if rows else expected)
    odd = any(set(row) != set(rows[0]) for row in rows)
    chosen = {} if odd or not rows or artefact.chosen is None else artefact.chosen(table)
    if (
        rows and not odd and artefact.select is not None
    ):  # sorted, so that ties end alike in every run
        order = [key for key in keys if key in table]
        table = artefact.select(table.sort_values(order, kind="stable", ignore_index=True))
    if odd or set(table.columns) != set(expected):
        raise ValueError(
            f"Rows of {artefact.id} have the columns {sorted(table.columns)}, declared are "
            f"{sorted(expected)}: keys, tolerances, drawn_columns and timing_columns."
        )
    if table.duplicated(keys).any():
        twice = table.loc[table.duplicated(keys), keys].iloc[0].to_dict()
        raise ValueError(
            f"Two rows of {artefact.id} have the same key {twice}. Name a column in keys= in which "
            "they differ."
        )
    table = table.sort_values(keys, kind="stable", ignore_index=True)
    times = pd.DataFrame(timings, columns=["dataset", "algorithm", "seed", "cell", "seconds"])
    if artefact.timing_columns:
        measured = table[[*keys, *artefact.timing_columns]]
        times = pd.concat([times, measured], ignore_index=True)
    return table[expected], times, chosen
