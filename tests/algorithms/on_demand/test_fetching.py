"""Functions that ask a service: batches, coroutines, timeouts; what fails is missing."""

import asyncio
import re
import threading

import numpy as np
import pytest

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.cegb import CEGBRegressor
from algorithms.cronus import CronusClassifier
from algorithms.on_demand import Fetch, OnDemandPredictor
from tests.test_layers import ROOT

rng = np.random.default_rng(1)
X = rng.integers(0, 9, (60, 2)).astype(float)
X[::7, 1] = np.nan
Y = np.where(X[:, 0] > 4, np.nan_to_num(X[:, 1], nan=20.0), -5.0)
IDS = np.arange(60)
PRICES = {
    "feature_costs": [1.0, 0.5],
    "feature_groups": ["a", "b"],
    "group_costs": {"a": 2.0, "b": 4.0},
    "split_cost": 0.25,
}


@pytest.fixture(scope="module")
def model():
    return CEGBRegressor(
        n_estimators=4, min_samples_leaf=4, tradeoff=0.0, n_threads=1, **PRICES
    ).fit(X, Y)


def column(m):
    return lambda ids: X[ids, m]


async def later(ids):
    await asyncio.sleep(0)
    return X[ids, 1]


def same(result, model, rows):
    assert result.predictions.tobytes() == model.predict(rows).tobytes()
    assert result.evaluations.tobytes() == model.evaluations(rows).tobytes()


@pytest.mark.parametrize("function", [column(1), later], ids=["plain", "coroutine"])
@pytest.mark.parametrize("size", [None, 1, 7])
def test_batches_together_are_one_answer(model, function, size):
    fetch = Fetch(function, batch_size=size, timeout=60.0, concurrency=3)
    result = OnDemandPredictor(model, {"a": column(0), "b": fetch}).predict(IDS)
    same(result, model, X)
    assert result.cost.tobytes() == model.prediction_cost(X).tobytes()
    assert result.lacking_by_function == {"b": 0}


def test_a_running_loop_is_no_hindrance(model):
    async def inside():
        return OnDemandPredictor(model, {"a": column(0), "b": Fetch(later)}).predict(IDS)

    same(asyncio.run(inside()), model, X)


def test_no_more_coroutines_at_once_than_allowed(model):
    running, most = set(), []

    async def counted(ids):
        running.add(id(ids))
        most.append(len(running))
        await asyncio.sleep(0)
        running.discard(id(ids))
        return X[ids, 1]

    fetch = Fetch(counted, batch_size=2, concurrency=3)
    OnDemandPredictor(model, {"a": column(0), "b": fetch}).predict(IDS)
    assert max(most) == 3


@pytest.mark.parametrize("billed", [True, False])
def test_what_cannot_be_had_is_missing(model, billed):
    """By an error, or an answer that never comes; rows pay for it or not, as asked."""
    never = threading.Event()

    def failing(ids):
        if np.any(ids % 5 == 0):
            raise ConnectionError("no answer")
        return X[ids, 1]

    def hanging(ids):
        if np.any(ids % 5 == 0):
            never.wait()
        return X[ids, 1]

    async def hanging_too(ids):
        if np.any(ids % 5 == 0):
            await asyncio.Event().wait()
        return X[ids, 1]

    holed = X.copy()
    holed[IDS % 5 == 0, 1] = np.nan
    lacking = (IDS % 5 == 0) & model.acquired_features(holed)[:, 1]
    assert 0 < lacking.sum() < 12
    wanted = model.prediction_cost(holed) - (0 if billed else 4.5) * lacking
    for function, timeout in ((failing, None), (hanging, 0.01), (hanging_too, 0.01)):
        rows = IDS if timeout is None else IDS[:11]  # each that hangs takes its time
        fetch = Fetch(function, timeout=timeout, batch_size=1, bill_failures=billed)
        result = OnDemandPredictor(model, {"a": column(0), "b": fetch}).predict(rows)
        if timeout is None:
            same(result, model, holed[rows])
            np.testing.assert_array_equal(result.cost, wanted[rows])
        # A machine that is busy may take longer for others, too: those that hang are among them.
        assert result.lacking_by_function["b"] >= lacking[rows].sum()
    never.set()


def test_failures_that_are_to_be_raised(model):
    def failing(ids):
        raise ConnectionError("no answer")

    def hanging(ids):
        threading.Event().wait(5.0)

    for function, timeout, error in (
        (failing, 600.0, ConnectionError),
        (hanging, 0.01, TimeoutError),
    ):
        fetch = Fetch(function, on_failure="raise", timeout=timeout)
        with pytest.raises(
            RuntimeError, match=f"failed on .* rows with {error.__name__}: no answ"
        ) as e:
            OnDemandPredictor(model, {"a": column(0), "b": fetch}).predict(IDS)
        assert isinstance(e.value.__cause__, error)
    with pytest.raises(ValueError, match=r"returned shape \(1,\)"):
        OnDemandPredictor(model, {"a": column(0), "b": Fetch(lambda ids: [1.0])}).predict(IDS)


def test_the_documented_database(capsys):
    """Each feature is a query, and the dear one is asked for some rows only."""
    text = (ROOT / "docs" / "examples.md").read_text("utf-8")
    section = text.split("\n## Ask a database, or a service, for features\n")[1].split("\n## ")[0]
    names = {}
    exec(re.search(r"```python\n(.*?)```", section, re.DOTALL)[1], names)
    result, model, table = (names[name] for name in ("result", "model", "table"))
    assert result.cost.tobytes() == model.prediction_cost(table).tobytes()
    assert result.predictions.tobytes() == model.predict(table).tobytes()
    assert result.rows_by_function["age"] == 1000
    assert 300 < result.rows_by_function["spent"] < 800
    asked, lacking, cost, metered = re.fullmatch(
        r"({.*?}) ({.*?})\n([\d.]+) ([\d.]+)\n", capsys.readouterr().out
    ).groups()
    assert float(cost) == float(metered) < 45
    assert lacking == "{'age': 0, 'spent': 0}"
    assert "'age': 1000" in asked


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"function": 3}, "Fetch needs a function, got 3"),
        ({"timeout": 0}, "timeout must be None or a number of seconds > 0, got 0"),
        ({"timeout": np.inf}, "timeout must be None or a number of seconds > 0, got inf"),
        ({"on_failure": "zero"}, "on_failure must be 'missing' or 'raise', got 'zero'"),
        ({"batch_size": 0}, "batch_size must be None or a whole number >= 1"),
        ({"concurrency": None}, "concurrency must be a whole number >= 1"),
        ({"bill_failures": 1}, "bill_failures must be True or False"),
    ],
)
def test_options_that_are_none(options, message):
    with pytest.raises(ValueError, match=message):
        Fetch(**{"function": later} | options)


def test_a_model_that_takes_no_missing_values():
    filled = np.nan_to_num(X)
    stumps = AdaBoostMH(n_estimators=3).fit(filled, Y > 0)
    cascade = CronusClassifier(stumps, n_stages=2, max_cycles=0).fit(filled, Y > 0)
    with pytest.raises(ValueError, match="does not take: use on_failure='raise', or boosted trees"):
        OnDemandPredictor(cascade, {0: Fetch(column(0)), 1: Fetch(column(1))})
