"""The Dask workers that compute cells: local processes, or a cluster that already runs."""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

import psutil

from datasets.sources import unreachable
from experiments.cell import Cell, canonical_json
from experiments.running.closure import sources_hash
from experiments.running.provenance import worker_state

ONE_THREAD = {
    name: "1"
    for name in (
        "NUMBA_NUM_THREADS",
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    )
}


class WorkersDiffer(RuntimeError):
    """The cluster's workers are not equal to the driver, so results could not be shared."""


class WorkerDied(RuntimeError):
    """The process of a worker ended before its cell was done."""

    def __init__(self, address: str, scheduler: str | None) -> None:
        advice = f"The log of the worker {address} says more."
        if scheduler is None:
            advice = "Fewer --jobs leave each of them more."
        super().__init__(
            "its worker's process ended before it was done, as the system ends one that wants more "
            f"memory than there is. {advice}"
        )


@dataclass(frozen=True)
class Task:
    """What a worker needs to compute one cell."""

    run_cell: Callable  # ``(cell, dataset) -> rows``
    # :func:`datasets.load`, its like for another form of data or, in a test, for toys
    load: Callable
    cell: Cell  # What to compute
    scale: str  # scale, data_mode: How to load the data
    data_mode: str
    identity: Mapping[str, str]  # Kind and checksum of the data the driver saw
    sources: str  # :func:`experiments.running.closure.sources_hash` of the driver


@functools.lru_cache(maxsize=2)
def _loaded(load: Callable, name: str, scale: str, data_mode: str, seed: int):
    """Keep the last data sets of this worker: neighbouring cells share them."""
    return load(name, scale=scale, data=data_mode, seed=seed)


def compute(task: Task, dead: Mapping[str, str] | None = None) -> tuple[list[dict], float]:
    """Compute one cell in a worker."""
    from threadpoolctl import threadpool_limits

    unreachable.take(dead or {})
    cell = task.cell
    if sources_hash(task.run_cell.__module__, task.load.__module__, cell.dataset) != task.sources:
        raise RuntimeError("the sources were edited since the run began; start it again")
    dataset = _loaded(task.load, cell.dataset, task.scale, task.data_mode, cell.seed)
    seen = {name: dataset.provenance[name] for name in task.identity}
    if seen != dict(task.identity):
        raise RuntimeError(f"this worker has other data for {cell.dataset}: {seen}")
    with threadpool_limits(limits=1):
        start = time.perf_counter()
        rows = task.run_cell(cell, dataset)
        seconds = time.perf_counter() - start
    return json.loads(canonical_json(rows)), seconds


@contextlib.contextmanager
def _children_ignore_interrupt() -> Iterator[None]:
    """Let Ctrl-C reach only the driver, which then stops its workers in order."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_UNWATCHED = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.tick.interval": "1s",
}
"""Dask's own measurements of a worker, which take an eighth of the processor from its cell."""


class Workers:
    """Workers that are started when the first cell needs them."""

    def __init__(self, jobs: int, scheduler: str | None = None) -> None:
        self.jobs = jobs
        self.scheduler = scheduler
        self._client = None
        self._cluster = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind, error, traceback) -> None:
        if kind is not None:
            self._kill_workers()
        with contextlib.suppress(Exception):
            if self._client is not None:
                self._client.close(timeout=2)
        with contextlib.suppress(Exception):
            if self._cluster is not None:
                self._cluster.close(timeout=10)

    def _kill_workers(self) -> None:
        """End the local processes at once: after an interruption nobody waits for their cells."""
        if self._cluster is None:
            return
        for nanny in list(self._cluster.workers.values()):
            nanny.auto_restart = False
            pid = nanny.pid
            if pid is None:  # its worker is gone already; psutil would take this process instead
                continue
            with contextlib.suppress(psutil.Error):
                psutil.Process(pid).kill()

    def _start(self):
        import dask
        from distributed import Client, LocalCluster

        if self._client is not None:
            return self._client
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        dask.config.set({"distributed.scheduler.allowed-failures": 0})
        if self.scheduler:
            try:
                self._client = Client(self.scheduler, timeout=5)
            except (OSError, TimeoutError, ValueError) as error:
                raise ConnectionError(
                    f"No Dask scheduler answers at {self.scheduler}: {error}. Start one with "
                    "'dask scheduler --host 127.0.0.1 --dashboard-address 127.0.0.1:8787' and "
                    "workers with 'dask worker ADDRESS --nthreads 1 --host 127.0.0.1' (what "
                    "several machines need: docs/cluster.md), or leave --scheduler out."
                ) from None
            return self._client
        # A process of this machine that is gone is missed at once. One that is silent is not gone:
        # the machine slept, or somebody stopped the run for a while.
        patient = dask.config.set({"distributed.scheduler.worker-ttl": None, **_UNWATCHED})
        with patient, _children_ignore_interrupt():
            self._cluster = LocalCluster(
                host="127.0.0.1",  # whoever can connect can run code
                n_workers=self.jobs,
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
                env=ONE_THREAD,
            )
        self._client = Client(self._cluster)
        return self._client

    def check_equal(self, expected: Mapping[str, Any], *described: Any) -> None:
        """Compare sources, versions and processor of every worker with the driver's."""
        if not self.scheduler:
            return
        client = self._start()
        for address, state in client.run(worker_state, *described).items():
            wrong = sorted(name for name in expected if state.get(name) != expected[name])
            if wrong:
                details = "; ".join(f"{n}: {state.get(n)}, here {expected[n]}" for n in wrong)
                raise WorkersDiffer(
                    f"Worker {address} differs from this machine ({details}). Give it the same "
                    "source tree and environment (start it anew after an edit); results are "
                    "shared only among equals."
                )

    def compute(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Any]]:
        """Compute tasks, those that measure time one at a time after all others."""
        together = [i for i, task in enumerate(tasks) if not task.cell.alone]
        alone = [i for i, task in enumerate(tasks) if task.cell.alone]
        yield from self._gather(tasks, together)
        for index in alone:
            yield from self._gather(tasks, [index])

    def _gather(self, tasks, indices) -> Iterator[tuple[int, Any]]:
        from distributed import as_completed
        from distributed.scheduler import KilledWorker

        if not indices:
            return
        client = self._start()
        # Workers of a scheduler may be on machines that reach more, or less, than this one.
        dead = {} if self.scheduler else unreachable.noted()
        futures = [client.submit(compute, tasks[i], dead, pure=False, retries=0) for i in indices]
        index_of = {future.key: index for future, index in zip(futures, indices, strict=True)}
        for future in as_completed(futures):
            try:
                outcome = future.result()
            except KilledWorker as error:
                outcome = WorkerDied(error.last_worker.address, self.scheduler)
            except CancelledError:
                outcome = RuntimeError("the scheduler cancelled it, or is gone")
            except Exception as error:  # what the cell raised
                outcome = error
            yield index_of[future.key], outcome
            future.release()
