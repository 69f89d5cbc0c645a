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
        self._done, self._total, self._limit = 0, total, seconds
        self._computed, self._seconds = 0, 0.0  # trials that were in no store, and their seconds

    def __enter__(self) -> Computing:
        return self

    def __exit__(self, *_) -> None:
        self._bar.close()

    def expect(self, n_more: int, *, besides: bool = False) -> None:
        """Say how many cells are still to come, or how many besides."""
        self._total = self._bar.total = (self._total if besides else self._done) + n_more
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
            if "trial" in tasks[index].cell.params:  # to choose features takes no time
                self._computed, self._seconds = self._computed + 1, self._seconds + seconds
            if found[key] and "failed" in found[key][0]:
                log.error("failed: %s · %s", label, found[key][0]["failed"])
            else:
                self._store.put(key, found[key], seconds)
                # Beside a bar they would push an answer off the screen.
                level = logging.INFO if self._bar.disable else logging.DEBUG
                log.log(level, "[%d/%d] %s · %.2f s", self._done, self._total, label, seconds)
        return [found[key] for key in keys]

    def announce(self) -> None:
        """Say how long what is to come will take, by what was computed so far."""
        if self.seconds_to_go > 0:  # else it was finished before
            log.info(
                "about %.2g minutes to go with %d trainings at a time, by the first of each method",
                self.seconds_to_go / 60,
                self._workers.jobs,
            )

    @property
    def seconds_to_go(self) -> float:
        """How long what is to come will take, by what was computed so far; 0 if nothing was."""
        return self._seconds / max(1, self._computed) * self.n_to_come / self._workers.jobs

    @property
    def n_to_come(self) -> int:
        """About how many cells are to come."""
        return max(0, self._total - self._done)

    def _limited(self, cell: Cell) -> Cell:
        """Give a trial its limit; what was chosen is trained again without one."""
        chosen = "cut" in cell.params
        return cell if chosen or self._limit is None else replace(cell, seconds=self._limit)

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
