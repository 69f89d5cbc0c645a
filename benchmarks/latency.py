"""What counted cost is in time: ``python -m benchmarks.latency``.

Every feature is given an artificial time: a function that keeps the processor busy for the
feature's cost times 50 microseconds for each row it is asked for. Costs are whole numbers that go
round: 1, 5, 20, 1, 5, 20, … (the real features of a data set cost next to nothing to read from an
array). Two models are compared: GBRT, which does not know the costs, and CEGB, whose costs are the
features' milliseconds. Each predicts the same rows

* from the *full matrix*: all features are computed for all rows of a request, then ``predict``;
* *on demand*: :class:`algorithms.on_demand.OnDemandPredictor`;

in requests of 1 row and of 256. A row waits for its whole request. *ms/row* is the time of a
request divided by its rows, of which p50 and p99 over the requests are printed, and the mean; with
few requests p99 is about the slowest one. *Counted* is what the cost meter says, in milliseconds:
the mean prediction cost, and for the full matrix the sum of all features. Its ratio to the mean
measured is below 1 by what walking, calling and checking take.

A second table has what predicting single rows takes when all features are there, beside LightGBM
and compiled trees: :mod:`benchmarks.single_row`.

Models, trade-off and times were fixed before the first run. Nothing here decides a test.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import click
import numpy as np

from algorithms.cegb import CEGBClassifier
from algorithms.gbrt import GBRTClassifier
from algorithms.on_demand import OnDemandPredictor
from datasets import DataUnavailable, load

from .single_row import table

UNIT = 50e-6  # seconds that a cost of 1 takes
COSTS = (1.0, 5.0, 20.0)
TREES, LEAVES = 50, 16
TRADEOFF = 1e-3 / (1e3 * UNIT)  # loss that a millisecond must bring: the asv suite's 1e-3 per cost
REQUESTS = (1, 256)


class Line(NamedTuple):
    """A line of the table; times in milliseconds a row."""

    model: str
    way: str
    request: int
    n_requests: int
    accuracy: float
    p50: float
    p99: float
    measured: float
    counted: float


def busy(seconds: float) -> None:
    """Keep the processor busy; sleeping is too coarse for microseconds."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def slow_functions(X: np.ndarray, costs: np.ndarray) -> dict:
    """Functions of row numbers that read a feature and take its time for each row."""

    def function(m: int):
        def compute(rows):
            busy(len(rows) * costs[m] * UNIT)
            return X[rows, m]

        return compute

    return {m: function(m) for m in range(X.shape[1])}


def from_full_matrix(model, functions):
    """Return a program that computes all features of a request and predicts."""

    def predict(rows):
        return model.predict(np.column_stack([compute(rows) for compute in functions.values()]))

    return predict


def on_demand(model, functions, request: int):
    """Return a program that predicts a request on demand."""
    predictor = OnDemandPredictor(model, functions, batch_size=request)
    return lambda rows: predictor.predict(rows).predictions


def measure(programs: dict, n_rows: int, request: int):
    """Labels, and milliseconds and rows of each request; the programs take turns at each.

    Returns
    -------
    labels, milliseconds : dict of str to ndarray
        By program.
    sizes : ndarray
        Rows of each request.
    """
    for program in programs.values():
        program(np.arange(min(2, n_rows)))  # compiles
    parts = [np.arange(i, min(i + request, n_rows)) for i in range(0, n_rows, request)]
    labels: dict[str, list] = {way: [] for way in programs}
    milliseconds: dict[str, list] = {way: [] for way in programs}
    for rows in parts:
        for way, program in programs.items():
            begin = time.perf_counter()
            answer = program(rows)
            milliseconds[way].append(1e3 * (time.perf_counter() - begin))
            labels[way].append(answer)
    return (
        {way: np.concatenate(answers) for way, answers in labels.items()},
        {way: np.array(times) for way, times in milliseconds.items()},
        np.array([len(rows) for rows in parts]),
    )


def lines(name: str, model, data, costs: np.ndarray, rows: dict[int, int]):
    """Yield the lines of a model; `rows` is how many rows go in requests of each size."""
    X, price = data.X_test, 1e3 * UNIT * costs
    functions = slow_functions(X, costs)
    accuracy = float(np.mean(model.predict(X) == data.y_test))
    for request in REQUESTS:
        n = min(rows[request], len(X))
        bills = model.prediction_cost(X[:n], feature_costs=price, split_cost=0.0)
        counted = {"full matrix": price.sum(), "on demand": bills.mean()}
        programs = {
            "full matrix": from_full_matrix(model, functions),
            "on demand": on_demand(model, functions, request),
        }
        labels, milliseconds, sizes = measure(programs, n, request)
        for way, times in milliseconds.items():
            if not np.array_equal(labels[way], model.predict(X[:n])):
                raise AssertionError(f"{name}, {way}: other predictions than the model's.")
            p50, p99 = np.percentile(times / sizes, [50, 99])
            mean = times.sum() / n
            yield Line(name, way, request, len(sizes), accuracy, p50, p99, mean, counted[way])


def models(milliseconds: np.ndarray) -> dict:
    """GBRT, which is blind to costs, and CEGB with the features' times."""
    shape = {"n_estimators": TREES, "max_leaves": LEAVES, "n_threads": 1}
    return {
        "GBRT": GBRTClassifier(**shape),
        "CEGB": CEGBClassifier(**shape, feature_costs=milliseconds, tradeoff=TRADEOFF),
    }


@click.command(help=__doc__.split("\n\n")[0])
@click.option("--data", "name", type=click.Choice(["covertype", "digits"]), default="covertype")
@click.option(
    "--train",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="Training rows at most.",
)
@click.option(
    "--single",
    type=click.IntRange(min=1),
    default=300,
    show_default=True,
    help="Rows in requests of 1.",
)
@click.option(
    "--many",
    type=click.IntRange(min=1),
    default=1024,
    show_default=True,
    help="Rows in requests of 256.",
)
@click.option(
    "--only",
    type=click.Choice(["features", "rows"]),
    help="One table: features that take time, or single rows.",
)
@click.option(
    "--trees",
    type=click.IntRange(min=1),
    default=500,
    show_default=True,
    help="Trees for single rows.",
)
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=7,
    show_default=True,
    help="Turns of each program on single rows.",
)
def main(
    name: str, train: int, single: int, many: int, only: str | None, trees: int, runs: int
) -> None:
    if only != "rows":
        features_that_take_time(name, train, single, many)
    if only is None:
        click.echo("")
    if only != "features":
        click.echo(table(runs, trees))


def features_that_take_time(name: str, train: int, single: int, many: int) -> None:
    """Print the table of features that take time."""
    try:
        data = load(name, data="real")
    except DataUnavailable as error:
        raise click.ClickException(str(error)) from None
    costs = np.resize(COSTS, data.n_features)
    milliseconds = 1e3 * UNIT * costs
    total = milliseconds.sum()
    click.echo(f"{data.name}: {data.n_features} features, {total:.4g} ms a row for all of them\n")
    click.echo(
        "| model | features | rows a request | requests | accuracy | p50, ms/row | p99 "
        "| mean | counted, ms/row | counted / measured |"
    )
    click.echo("|---|---|---|---|---|---|---|---|---|---|")
    for title, model in models(milliseconds).items():
        model.fit(data.X_train[:train], data.y_train[:train])
        rows = dict(zip(REQUESTS, (single, many), strict=True))
        for x in lines(title, model, data, costs, rows):
            click.echo(
                f"| {x.model} | {x.way} | {x.request} | {x.n_requests} | {x.accuracy:.4f} "
                f"| {x.p50:.3f} | {x.p99:.3f} | {x.measured:.3f} | {x.counted:.3f} "
                f"| {x.counted / x.measured:.3f} |"
            )


if __name__ == "__main__":
    main()
