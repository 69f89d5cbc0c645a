"""What a fit leaves on a cluster's workers, and when it gives one of them up."""

import _thread
import asyncio
import logging
import signal
import threading
import time
import types
import warnings

import dask.array as da
import numpy as np
import pytest
from distributed import CancelledError, Client, wait
from sklearn.base import clone

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.distributed import training, workers
from algorithms.distributed.row_partitions import Accepted, checked_part
from algorithms.distributed.stump_workers import PairRows
from algorithms.distributed.tree_workers import Rows
from algorithms.distributed.workers import SchedulerLost, WorkerLost, Workers
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.gbrt import GBRTClassifier, GBRTRegressor

from .clusters import Frame, laid_out

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
        checked_part(0, X[:4], y, None, True, Accepted((np.float64,), False), X.shape[1])
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


# --- interrupted -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("client", [2], indirect=True)
@pytest.mark.parametrize(
    ("model", "holder", "method"),
    [
        (GBRTClassifier(n_estimators=2, min_samples_leaf=1, n_threads=1), Rows, "__init__"),
        (GBRTClassifier(n_estimators=2, min_samples_leaf=1, n_threads=1), Rows, "summary"),
        (GBRTClassifier(n_estimators=2, min_samples_leaf=1, n_threads=1), Rows, "weigh"),
        (AdaBoostMH(n_estimators=2, n_threads=1), PairRows, "weigh_rows"),
    ],
)
def test_ctrl_c_leaves_nothing_on_the_workers(client, monkeypatch, model, holder, method):
    # A shell's background jobs ignore the signal, and what they start does, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rows, y = laid_out(client, X), laid_out(client, Y)
    wait([rows, y])
    # An interrupt while the first fit compiles its kernels would be lost in the compiler.
    clone(model).fit(rows, y)
    before, original = on_scheduler(client), getattr(holder, method)

    def interrupts(self, *args):
        monkeypatch.setattr(holder, method, original)
        _thread.interrupt_main()  # which waits for this answer
        time.sleep(0.2)
        return original(self, *args)

    monkeypatch.setattr(holder, method, interrupts)
    with pytest.raises(KeyboardInterrupt) as kept:
        model.fit(rows, y)
    assert not left_over(client, before)
    assert kept.value is not None  # as an interactive session keeps it
    assert not hasattr(model, "classes_")


# --- waiting -----------------------------------------------------------------------------------


def test_waiting_is_said_at_longer_and_longer_intervals(monkeypatch, caplog):
    """After 30, 60, 120 and 240 of 400 seconds, by a clock that only waiting moves."""
    clock = types.SimpleNamespace(now=1000.0)
    monkeypatch.setattr(workers, "time", types.SimpleNamespace(monotonic=lambda: clock.now))
    checked = []

    def answer(seconds: float) -> str:
        if clock.now >= 1400:
            return "answer"
        clock.now += seconds
        raise TimeoutError

    with caplog.at_level(logging.WARNING, logger=workers.__name__):
        assert (
            workers._patiently(answer, lambda: checked.append(1), "Somebody is silent") == "answer"
        )
    assert len(checked) == 400 / workers._PATIENCE
    assert [record.args for record in caplog.records] == [
        ("Somebody is silent", seconds) for seconds in (30, 60, 120, 240)
    ]


@pytest.mark.parametrize("client", [2], indirect=True)
@pytest.mark.parametrize(
    ("function", "said"),
    [("summary", "has not answered"), ("__init__", "has not put its rows together")],
)
def test_a_worker_that_does_not_answer_is_named(client, monkeypatch, caplog, function, said):
    monkeypatch.setattr(workers, "_PATIENCE", 0.05)
    monkeypatch.setattr(workers, "_SAID_AFTER", 0.1)
    original, was_said = getattr(Rows, function), threading.Event()

    def heard(record):
        if said in record.getMessage():  # a busy machine may keep others waiting, too
            was_said.set()
        return True

    monkeypatch.setattr(workers.log, "filter", heard)

    def silent(self, *args):
        assert was_said.wait(60)
        return original(self, *args)

    monkeypatch.setattr(Rows, function, silent)
    with (
        caplog.at_level(logging.WARNING, logger=workers.__name__),
        pytest.warns(ConstantModelWarning),
    ):
        GBRTRegressor().fit(laid_out(client, X), laid_out(client, np.ones(30)))
    assert said in caplog.text
    assert any(address in caplog.text for address in client.nthreads())


@pytest.mark.parametrize("client", [1], indirect=True)
def test_a_fit_in_a_task_does_not_wait_for_its_own_thread(client):
    """The only thread of the only worker: it takes the rows while the fit waits for them."""

    def fit():
        rows, y = da.from_array(X, chunks=(10, 2)), da.from_array(np.full(30, 2.5), chunks=10)
        return GBRTRegressor().fit(rows, y)

    assert client.submit(fit, pure=False).result(timeout=60).predict(X[:1]) == 2.5


# --- a lost scheduler ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [OSError("gone"), WorkerLost("tcp://127.0.0.1:9"), CancelledError("key")]
)
def test_what_a_lost_scheduler_brings_about_is_named_after_it(error):
    client = types.SimpleNamespace(
        status="connecting", scheduler=types.SimpleNamespace(address="tcp://127.0.0.1:8786")
    )
    with (
        pytest.raises(SchedulerLost, match=r"scheduler tcp://127.0.0.1:8786 was lost"),
        workers.naming_a_lost_scheduler(client),
    ):
        raise error
    with pytest.raises(SchedulerLost):
        workers.check_connected(client)


@pytest.mark.parametrize("model", [GBRTRegressor(), AdaBoostMH()])
def test_a_scheduler_lost_while_the_lengths_of_a_frame_are_computed(model, monkeypatch):
    """Of the rows, or of the targets alone."""

    class LosesItsScheduler(Frame):
        def to_dask_array(self, lengths):
            client.status = "connecting"
            raise CancelledError("a key of Dask's")

    LosesItsScheduler.__module__ = Frame.__module__
    client = types.SimpleNamespace(
        status="running", scheduler=types.SimpleNamespace(address="tcp://127.0.0.1:8786")
    )
    monkeypatch.setattr(training, "connected_client", lambda: client)
    lost = LosesItsScheduler(X, ["a", "b"])
    for given in ((lost, Y), (da.from_array(X), lost)):
        client.status = "running"
        with pytest.raises(SchedulerLost, match=r"scheduler tcp://127.0.0.1:8786 was lost"):
            model.fit(*given)


def test_other_faults_are_not_the_scheduler_s(monkeypatch):
    monkeypatch.setattr(workers, "_NOTICED_AFTER", 0.0)
    client = types.SimpleNamespace(status="running")
    for error in (WorkerLost("tcp://127.0.0.1:9"), ValueError("y")):
        with pytest.raises(type(error)), workers.naming_a_lost_scheduler(client):
            raise error
    workers.check_connected(client)
