"""What a fit leaves on a cluster's workers, and when it gives one of them up."""

import asyncio
import time
import warnings

import dask.array as da
import numpy as np
import pytest
from distributed import Client, wait

from algorithms.distributed import workers
from algorithms.distributed.held import Accepted, checked_part
from algorithms.distributed.rows import Rows
from algorithms.distributed.workers import WorkerLost, Workers
from algorithms.gbrt import GBRTClassifier

from .clusters import laid_out

X = np.arange(60.0).reshape(30, 2)
Y = np.arange(30) % 3


def on_scheduler(client) -> set[str]:
    """Keys of all that the cluster keeps or is to compute."""
    return set(client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks)))


def left_over(client, before: set[str]) -> set[str]:
    """What the cluster keeps beside what it had, once what is released had time to go."""
    end = time.monotonic() + 30
    while (left := on_scheduler(client) - before) and time.monotonic() < end:
        time.sleep(0.02)
    return left


@pytest.mark.parametrize("y", [np.arange(4), np.array(["a", "b", "c", "d"], dtype=object)])
def test_a_block_of_as_many_classes_as_rows_draws_no_warning(y):
    """And no filter is set, which would be that of all threads of the process."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = list(warnings.filters)
        checked_part(0, X[:4], y, None, True, Accepted((np.float64,), False))
        assert warnings.filters == before


@pytest.mark.parametrize("client", [2], indirect=True)
def test_a_refused_fit_leaves_nothing(client):
    target = np.where(np.arange(30) == 29, np.nan, 1.0)
    rows, y = laid_out(client, X), laid_out(client, target)
    wait([rows, y])
    before = on_scheduler(client)
    with pytest.raises(ValueError, match="NaN") as kept:
        GBRTClassifier(n_estimators=1).fit(rows, y)
    assert not left_over(client, before)
    assert kept.value is not None  # as an interactive session keeps it


class FailsToHold(Rows):
    """Rows that do not fit into memory."""

    def __init__(self, *args) -> None:
        raise MemoryError("as many as that")


@pytest.mark.parametrize("client", [2], indirect=True)
@pytest.mark.parametrize("kind", [FailsToHold, Rows])
def test_rows_do_not_outlive_an_exception(kind, client):
    rows, y = laid_out(client, X), laid_out(client, Y)
    wait([rows, y])
    before = on_scheduler(client)
    fails = pytest.raises((MemoryError, ZeroDivisionError))
    with fails as kept, workers.rows_on_workers(kind, rows, y, None, True, 1):
        raise ZeroDivisionError
    assert not left_over(client, before)
    assert kept.value is not None


@pytest.mark.parametrize("client", [1], indirect=True)
def test_a_worker_that_is_gone_before_it_has_rows_is_given_up(client, monkeypatch):
    """The scheduler would wait for one of that address for ever."""
    monkeypatch.setattr(workers, "_PATIENCE", 0.1)
    gone = "tcp://127.0.0.1:9"
    future = client.submit(int, actor=True, workers=[gone], pure=False)
    with pytest.raises(WorkerLost, match=gone):
        Workers({gone: future}).make()


def test_an_asynchronous_client_is_refused(client):
    async def connected():
        async with Client(client.scheduler.address, asynchronous=True):
            with pytest.raises(ValueError, match="asynchronous client"):
                GBRTClassifier().fit(da.from_array(X), da.from_array(Y))

    asyncio.run(connected())
