"""The workers of a Dask cluster that hold the rows of a fit, seen from where it was called.

Dask places the rows, carries messages and knows who is alive. Each worker's rows are an actor: Dask
does not make a lost one anew on another worker, so that nobody answers who does not know the trees
so far.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .row_partitions import Accepted, Held, Part, Summary, checked_part, fingerprint

if TYPE_CHECKING:
    from dask.distributed import Client

log = logging.getLogger(__name__)

_PATIENCE = 2.0  # seconds without an answer after which Dask is asked whether a worker is alive
_SAID_AFTER = 30.0  # seconds without an answer after which that is said, and again after twice that
_NOTICED_AFTER = 1.0  # seconds after which a client knows at the latest that its scheduler is gone


class WorkerLost(RuntimeError):
    """A worker of the cluster was lost during a fit, which has changed nothing."""

    def __init__(self, address: str) -> None:
        super().__init__(
            f"The worker {address} was lost during the fit, and the rows in its memory with it. No "
            "model was made and an earlier one is as it was: fit again when Dask has the rows."
        )


class SchedulerLost(RuntimeError):
    """The scheduler of the cluster was lost during a fit, which has changed nothing."""

    def __init__(self, client: Client) -> None:
        address = getattr(client.scheduler, "address", "of the cluster")
        super().__init__(
            f"The Dask scheduler {address} was lost during the fit: it has ended, or cannot be "
            "reached. No model was made and an earlier one is as it was: fit again with a client "
            "of a scheduler that runs."
        )


def _patiently(wait: Callable, check: Callable[[], None], what: str):
    """Wait for an answer as long as it takes, and say that it takes long."""
    began, said_after = time.monotonic(), _SAID_AFTER
    while True:
        try:
            return wait(_PATIENCE)
        except TimeoutError:
            check()
        waited = time.monotonic() - began
        if waited >= said_after:
            said_after *= 2
            log.warning(
                "%s for %.0f seconds. The fit waits for it; when interrupted (Ctrl-C) it changes "
                "nothing.", what, waited,
            )  # fmt: skip


class Workers:
    """Rows on several workers, asked all at once."""

    def __init__(self, actors: dict) -> None:
        self._futures = actors
        self._step = 0
        self._actors = {}

    def make(self) -> None:
        """Wait until every worker has put its rows together."""
        for address in self._futures:
            self._actors[address] = self._made(address)

    def __len__(self) -> int:
        return len(self._actors)

    def ask(self, method: str, *args: object) -> list:
        """Call a method of every worker's rows; return the answers."""
        self._step += 1
        waiting = {address: self._call(address, method, *args) for address in self._actors}
        return [self._answer(address, future) for address, future in waiting.items()]

    def summed(self, method: str, *args: object) -> np.ndarray:
        """Add the answers up."""
        first, *others = self.ask(method, *args)
        total = first.copy()  # within one process it is the worker's own memory
        for other in others:
            total += other
        return total

    def largest(self, method: str, *args: object) -> np.ndarray:
        """Take the largest of the answers, value by value."""
        return np.max(self.ask(method, *args), axis=0)

    def _made(self, address: str):
        from distributed.scheduler import KilledWorker

        future = self._futures[address]

        def check() -> None:  # no worker of a lost address will ever do what is asked of it
            check_connected(future.client)
            if address not in future.client.nthreads():
                raise WorkerLost(address)

        what = f"The worker {address} has not put its rows together"
        try:
            return _patiently(lambda seconds: future.result(timeout=seconds), check, what)
        except (OSError, KilledWorker) as error:
            raise WorkerLost(address) from error

    def _call(self, address: str, method: str, *args):
        self._check(address)
        try:
            return getattr(self._actors[address], method)(self._step, *args)
        except RuntimeError as error:  # Dask's, if it was lost since the line above
            raise WorkerLost(address) from error

    def _check(self, address: str) -> None:
        """Raise if a worker or the scheduler is lost."""
        future = self._futures[address]
        check_connected(future.client)
        if future.status != "finished":
            raise WorkerLost(address)

    def _answer(self, address: str, future):
        what = f"The worker {address}, which computes or is stopped, has not answered"
        try:
            return _patiently(
                lambda seconds: future.result(timeout=seconds), lambda: self._check(address), what
            )
        except OSError as error:
            raise WorkerLost(address) from error
        except Exception:
            self._check(address)
            raise


def check_connected(client: Client) -> None:
    """Raise if a client has lost its scheduler."""
    if client.status != "running":
        raise SchedulerLost(client)


@contextmanager
def naming_a_lost_scheduler(client: Client) -> Iterator[None]:
    """Say that the scheduler is lost where Dask says what came of it, or that workers are."""
    from distributed import CancelledError
    from distributed.client import ClosedClientError

    try:
        yield
    except (WorkerLost, OSError, CancelledError, ClosedClientError) as error:
        end = time.monotonic() + _NOTICED_AFTER
        while client.status == "running" and time.monotonic() < end:
            time.sleep(0.02)
        if client.status != "running":
            raise SchedulerLost(client) from error
        raise


def connected_client() -> Client:
    """Return the Dask client of this process."""
    from distributed import get_client

    try:
        client = get_client()
    except ValueError:
        raise ValueError(
            "The workers of a cluster train on Dask arrays, and this process has no client: make "
            "one, distributed.Client(…), or give X.compute() and y.compute() to train here."
        ) from None
    if client.asynchronous:
        raise ValueError(
            "A fit waits for the workers' answers, and this process has an asynchronous client: "
            "make one that is not, or give X.compute() and y.compute() to train here."
        )
    return client


@contextmanager
def rows_on_workers(
    kind: type[Held],
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    is_classifier: bool,
    n_threads: int | None,
) -> Iterator[tuple[Workers, list[Summary]]]:
    """Let each worker keep the rows that Dask has computed there, for the time of the block."""
    keys: list[str] = []  # of all that the cluster keeps for this fit
    with (
        _client_beside_tasks() as client,
        naming_a_lost_scheduler(client),
        _forgetting(client, keys),
    ):
        blocks = _blocks(X, y, sample_weight)
        parts = _parts(client, blocks, keys, is_classifier, kind.accepted, X.shape[1])
        actors = {}
        for address, held in parts.items():
            keys.append(f"{kind.__name__}-{uuid.uuid4()}")
            arguments = kind, held, is_classifier, n_threads
            actors[address] = client.submit(
                *arguments, actor=True, workers=[address], pure=False, key=keys[-1]
            )
        # Their memory is freed as soon as the rows are put together.
        del parts, held, arguments
        workers = Workers(actors)
        workers.make()
        summaries = workers.ask("summary")
        _check_equal(actors, summaries)
        yield workers, summaries


@contextmanager
def _client_beside_tasks() -> Iterator:
    """The client of this process; where the fit is a task, its worker takes others meanwhile."""
    from distributed import get_worker, worker_client

    client = connected_client()
    try:
        get_worker()
    except ValueError:
        yield client
        return
    with worker_client() as client:  # else its own rows might wait for this very thread
        yield client


@contextmanager
def _forgetting(client, keys: list[str]) -> Iterator[None]:
    """Have the cluster forget in the end what it keeps, whoever in this process refers to it.

    Whoever keeps an exception, as an interactive session does, keeps the frames of its traceback,
    and with them Dask's futures and actors: the rows would stay on the workers until the client is
    closed.
    """
    from distributed import Future

    try:
        yield
    finally:
        # If the scheduler is lost, or the client closed, there is nothing to be forgotten.
        with suppress(Exception):
            if futures := [Future(key, client) for key in keys if key in client.futures]:
                client.cancel(futures, force=True)


def _blocks(X, y, sample_weight) -> list[tuple]:
    """Blocks of rows with all their columns, and the targets and weights that belong to each."""
    import dask.array

    if X.ndim != 2:
        raise ValueError(f"X must have rows and columns, got a Dask array of {X.ndim} dimensions.")
    X = X.rechunk({1: -1})
    blocks = [X.to_delayed().ravel().tolist()]
    for name, values in (("y", y), ("sample_weight", sample_weight)):
        if values is None and name == "sample_weight":
            blocks.append([None] * X.numblocks[0])
            continue
        if not isinstance(values, dask.array.Array):
            values = np.asarray(values)
            if np.isnan(X.shape[0]):
                raise ValueError(
                    f"The blocks of X do not say how many rows they have, so {name} must be a Dask "
                    "array with the same blocks; or call X.compute_chunk_sizes() first."
                )
        if values.ndim != 1:
            raise ValueError(f"{name} must have one dimension, got the shape {values.shape}.")
        if not np.isnan([*X.shape, *values.shape]).any():
            if len(values) != len(X):
                raise ValueError(f"X has {len(X)} rows and {name} {len(values)}.")
            if isinstance(values, np.ndarray):
                values = dask.array.from_array(values, chunks=(X.chunks[0],))
            values = values.rechunk((X.chunks[0],))
        elif values.numblocks[0] != X.numblocks[0]:
            raise ValueError(
                f"X has {X.numblocks[0]} blocks of rows and {name} {values.numblocks[0]}: they "
                "must be the same rows."
            )
        blocks.append(values.to_delayed().ravel().tolist())
    return list(zip(*blocks, strict=True))


def _parts(
    client,
    blocks: list[tuple],
    keys: list[str],
    is_classifier: bool,
    accepted: Accepted,
    n_features: int,
) -> dict[str, list]:
    """Have the blocks computed and checked; futures of those with rows, by worker.

    The keys of all that is computed are added to `keys`.
    """
    import dask
    from distributed.scheduler import KilledWorker

    check, count = dask.delayed(checked_part), dask.delayed(_n_rows)
    rules = is_classifier, accepted, n_features
    parts = [check(i, *block, *rules) for i, block in enumerate(blocks)]
    asked = [*parts, *map(count, parts)]
    keys += [one.key for one in asked]
    everything = client.compute(asked)
    _wait_for_blocks(client, everything)
    futures, counts = everything[: len(parts)], everything[len(parts) :]
    for i, future in enumerate(futures):
        if future.status != "finished":
            error = future.exception()
            if isinstance(error, KilledWorker):
                raise WorkerLost(error.last_worker.address) from error
            if isinstance(error, ValueError):
                raise ValueError(f"Block {i} of the rows, counted from 0: {error}") from error
            raise error
    n_rows = np.array(client.gather(counts)).reshape(-1, 2)
    if not n_rows[:, 1].any():
        raise ValueError(
            "X has no rows: there is nothing to fit. If X was filtered, no row was left of it."
        )
    if not n_rows[:, 0].any():
        from ..estimators.fitting import check_total_weight

        check_total_weight(False, 0.0)
    return _by_worker(client.who_has(futures), futures, n_rows[:, 0].tolist())


def _wait_for_blocks(client, futures: list) -> None:
    """Wait until all are computed, or one has failed."""
    from distributed import wait

    def wait_for(seconds: float) -> None:
        wait(futures, timeout=seconds)

    what = f"Dask has not computed all of the {len(futures) // 2} blocks of rows"
    _patiently(wait_for, lambda: check_connected(client), what)


def _by_worker(holders: Mapping, futures: list, n_rows: list[int]) -> dict[str, list]:
    """Choose for each block with rows one of the workers that hold it, the one with fewest rows."""
    held: dict[str, list] = {}
    weight: dict[str, int] = {}
    for future, rows in zip(futures, n_rows, strict=True):
        if rows == 0:
            continue
        if not holders.get(future.key):
            raise WorkerLost("that held a block of rows")
        address = min(holders[future.key], key=lambda a: (weight.get(a, 0), a))
        held.setdefault(address, []).append(future)
        weight[address] = weight.get(address, 0) + rows
    return held


def _n_rows(part: Part) -> tuple[int, int]:
    """Rows that are kept, and that were given."""
    return len(part.y), part.n_given


def _check_equal(addresses, summaries: list[Summary]) -> None:
    """Refuse workers whose sources, NumPy or processor would give other bits than this process."""
    here = fingerprint()
    for address, summary in zip(addresses, summaries, strict=True):
        if summary.machine != here:
            raise ValueError(
                f"The worker {address} computes otherwise than this process ({summary.machine}, "
                f"here {here}): the model would not be that of one machine. Give it the same "
                "environment and kind of processor."
            )
