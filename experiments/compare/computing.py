"""Computes cells of a comparison, keeps what is finished, and loses no more than what fails."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from tqdm import tqdm

from experiments.cell import Cell, digest
from experiments.compare.preparing import Prepared
from experiments.compare.problem import load
from experiments.compare.reasons import reason
from experiments.methods.table import METHODS
from experiments.running.closure import sources_hash
from experiments.running.provenance import environment
from experiments.running.store import Store
from experiments.running.workers import Task, Workers

log = logging.getLogger(__name__)


class Computing:
    """What computes cells: store, workers, and one progress bar for all of them."""

    def __init__(
        self,
        prepared: Prepared,
        store: Store,
        workers: Workers,
        total: int,
        progress: bool,
        seconds: float | None = None,
    ) -> None:
        self._prepared, self._store, self._workers = prepared, store, workers
        self._bar = tqdm(total=total, unit="cell", disable=None if progress else True)
        self._done, self._total, self._seconds = 0, total, seconds
        self._spent: dict[str, list[float]] = {}  # Seconds of each cell computed, by method

    def __enter__(self) -> Computing:
        return self

    def __exit__(self, *_) -> None:
        self._bar.close()

    def expect(self, n_more: int) -> None:
        """Say how many cells are still to come."""
        self._total = self._bar.total = self._done + n_more
        self._bar.refresh()

    def rows(self, run_cell: Callable, cells: Sequence[Cell]) -> list[list[dict]]:
        """Give the rows of each cell, from the store or computed now.

        What failed is a single row ``failed`` with the reason, and is not kept: the next run tries
        it again.
        """
        prepared = self._prepared
        identity = {"checksum": prepared.checksum}
        sources = sources_hash(run_cell.__module__, load.__module__, str(prepared.path))
        keys = [_key(run_cell, cell, prepared, sources) for cell in cells]
        found = {key: entry[0] for key in set(keys) if (entry := self._store.get(key)) is not None}
        self._advance(sum(key in found for key in keys))
        pending = {key: cell for key, cell in zip(keys, cells, strict=True) if key not in found}
        names = list(pending)
        tasks = [
            Task(run_cell, load, self._limited(pending[k]), "", "", identity, sources)
            for k in names
        ]
        for index, outcome in self._workers.compute(tasks) if tasks else ():
            key = names[index]
            label = tasks[index].cell.label()
            self._advance(keys.count(key))
            if isinstance(outcome, BaseException):  # the worker itself, not what it trained
                outcome = [{"failed": reason(outcome)}], 0.0
            found[key], seconds = outcome
            self._spent.setdefault(tasks[index].cell.algorithm, []).append(seconds)
            if found[key] and "failed" in found[key][0]:
                log.error("failed: %s · %s", label, found[key][0]["failed"])
            else:
                self._store.put(key, found[key], seconds)
                log.info("[%d/%d] %s · %.2f s", self._done, self._total, label, seconds)
        return [found[key] for key in keys]

    def announce(self, cells: Sequence[Cell], n_more: int) -> None:
        """Say how long cells, and others of each method, will take, by what was computed so far."""
        each = {slug: sum(spent) / len(spent) for slug, spent in self._spent.items()}
        seconds = sum(each.get(cell.algorithm, 0.0) for cell in cells) + n_more * sum(each.values())
        if seconds > 0:  # else they were finished before
            log.info(
                "about %.2g minutes to go with %d trainings at a time, by the first of each method",
                seconds / self._workers.jobs / 60,
                self._workers.jobs,
            )

    def _limited(self, cell: Cell) -> Cell:
        """Give a trial its limit; what was chosen is trained again without one."""
        chosen = "cut" in cell.params
        return cell if chosen or self._seconds is None else replace(cell, seconds=self._seconds)

    def _advance(self, n: int) -> None:
        self._done += n
        self._bar.update(n)


def _key(run_cell: Callable, cell: Cell, prepared: Prepared, sources: str) -> str:
    """Hash of what determines a cell's rows; where the data stand is not of it."""
    library = METHODS[cell.algorithm].its_version() if cell.algorithm in METHODS else {}
    params = {name: v for name, v in cell.params.items() if name not in ("trial", "kind")}
    return digest(
        [run_cell.__name__, cell.algorithm, params, prepared.checksum, sources, library,
         environment()]
    )  # fmt: skip
