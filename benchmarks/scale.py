"""How training grows with the rows, beside other libraries: ``python -m benchmarks.scale``.

Normal features in float32, two classes, trees of 31 leaves; the others are LightGBM and
scikit-learn. The programs run in turn, A B A B …, in one process on the same rows and threads;
medians over the turns are printed. *Per tree* is the time of a fit less the time in which the same
program only bins the rows, divided by the trees; with *prices* each row pays 1 at its first use of
a feature. The *exponent* is the growth of our time per tree from the row above: 1 is proportional.
In the same run the machine's memory is timed: how fast one thread copies, and how long it waits for
cache lines at random places of 256 MB.

Nothing here decides a test. :mod:`benchmarks.today` keeps the numbers and draws them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import click
import numpy as np

from .peers import LEAVES, THREADS, TRADEOFF, alternate, imported, settings

FEATURES = 28
SIZES = (10_000, 100_000, 500_000, 1_000_000, 2_000_000)
_AT_ONCE = 100_000
_DRAWN = {
    "ours": ("gbrt", "this package"),
    "prices": ("cegb", "this package, with prices"),
    "lightgbm": ("lightgbm", "LightGBM"),
}
"""By program the look and the label of its curve."""


class Line(NamedTuple):
    """What one number of rows takes: milliseconds a tree, seconds of whole fits."""

    rows: int
    ours: float
    prices: float
    lightgbm: float
    lightgbm_prices: float
    scikit_learn: float
    ours_whole: float
    lightgbm_whole: float


def draw(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return seeded rows and classes.

    Returns
    -------
    X : ndarray of shape (n_rows, 28), float32
    y : ndarray of shape (n_rows,), int64
    """
    rng = np.random.default_rng(20170)
    X, y = np.empty((n_rows, FEATURES), dtype=np.float32), np.empty(n_rows, dtype=np.int64)
    for begin in range(0, n_rows, _AT_ONCE):
        part = X[begin : begin + _AT_ONCE]
        part[:] = rng.standard_normal(part.shape, dtype=np.float32)
        noise = 0.5 * rng.standard_normal(len(part), dtype=np.float32)
        y[begin : begin + _AT_ONCE] = part[:, 0] + part[:, 1] * part[:, 2] + noise > 0
    return X, y


def programs(X, y, trees: int, priced_peer: bool) -> dict[str, Callable[[], object]]:
    """Fits by name, and beside each what only bins."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    from .peers import ours

    peer, d = imported("lightgbm"), FEATURES

    def theirs(lazy: bool, rounds: int):
        parameters = settings(d, lazy)
        return peer.train(parameters, peer.Dataset(X, y, params=parameters).construct(), rounds)

    def scikit_learn(rounds: int):
        model = HistGradientBoostingClassifier(
            max_iter=rounds, max_leaf_nodes=LEAVES, early_stopping=False
        )
        with threadpool_limits(THREADS):
            return model.fit(X, y)

    named = {
        "ours": lambda: ours(d, False, trees).fit(X, y),
        "ours, prices": lambda: ours(d, True, trees).fit(X, y),
        "ours, bins": lambda: ours(d, False, 0).fit(X, y),
        "LightGBM": lambda: theirs(False, trees),
        "LightGBM, bins": lambda: peer.Dataset(X, y, params=settings(d, False)).construct(),
        "scikit-learn": lambda: scikit_learn(trees + 1),
        "scikit-learn, bins": lambda: scikit_learn(1),  # it grows at least one tree
    }
    if priced_peer:
        named["LightGBM, prices"] = lambda: theirs(True, trees)
    return named


def measure(n_rows: int, trees: int, runs: int, priced_peer: bool) -> Line:
    """Time all programs on so many rows."""
    X, y = draw(n_rows)
    s = alternate(programs(X, y, trees, priced_peer), runs)

    def tree(name: str, bins: str) -> float:
        return 1e3 * (s[name] - s[bins]) / trees if name in s else math.nan

    return Line(
        rows=n_rows,
        ours=tree("ours", "ours, bins"),
        prices=tree("ours, prices", "ours, bins"),
        lightgbm=tree("LightGBM", "LightGBM, bins"),
        lightgbm_prices=tree("LightGBM, prices", "LightGBM, bins"),
        scikit_learn=tree("scikit-learn", "scikit-learn, bins"),
        ours_whole=s["ours"],
        lightgbm_whole=s["LightGBM"],
    )


def exponent(line: Line, before: Line) -> float:
    """Growth of our time per tree from one number of rows to the next: log t / log n."""
    return math.log(line.ours / before.ours) / math.log(line.rows / before.rows)


def memory_speed() -> tuple[float, float]:
    """Gigabytes a second that one thread copies, and nanoseconds for a line at a random place.

    The places are those of a permutation, 64 bytes each; nothing fetches them ahead but the
    processor itself.
    """
    source = np.ones(2**25)
    copy = np.empty_like(source)
    lines, out = source.reshape(-1, 8)[:, 0], np.empty(2**22)
    places = np.random.default_rng(0).permutation(2**22)

    def best(program: Callable[[], object]) -> float:
        seconds = []
        for _ in range(5):
            begin = time.perf_counter()
            program()
            seconds.append(time.perf_counter() - begin)
        return min(seconds[1:])

    copied = best(lambda: np.copyto(copy, source))
    gathered = best(lambda: np.take(lines, places, out=out, mode="clip"))
    return 2 * source.nbytes / copied / 1e9, gathered / len(places) * 1e9


TITLES = (
    "rows",
    "ours, ms a tree",
    "exponent",
    "prices / ours",
    "LightGBM",
    "ours / LightGBM",
    "prices / LightGBM's",
    "scikit-learn",
    "whole fit / LightGBM's",
)


def cells(lines: list[Line]) -> list[list[str]]:
    """What the table shows of each line, by :data:`TITLES`."""
    return [
        [
            f"{line.rows:,}",
            f"{line.ours:.1f}",
            "" if before is None else f"{exponent(line, before):.2f}",
            f"{line.prices / line.ours:.2f}",
            f"{line.lightgbm:.1f}",
            f"{line.ours / line.lightgbm:.2f}",
            _or_nothing(line.prices / line.lightgbm_prices),
            f"{line.scikit_learn:.1f}",
            f"{line.ours_whole / line.lightgbm_whole:.2f}",
        ]
        for line, before in zip(lines, [None, *lines], strict=False)
    ]


def markdown(table: list[list[str]]) -> list[str]:
    """Lines of a table, its titles first."""
    return [f"| {' | '.join(row)} |" for row in (TITLES, ["---"] * len(TITLES), *table)]


def _or_nothing(ratio: float) -> str:
    return "not run" if math.isnan(ratio) else f"{ratio:.2f}"


def picture(rows: Sequence[int], times: Mapping[str, Sequence[float]]) -> bytes:
    """Draw milliseconds a tree against training rows, both axes logarithmic, as SVG.

    Parameters
    ----------
    rows : sequence of int
    times : mapping
        By program (``ours``, ``prices``, ``lightgbm``), for each number of rows.
    """
    from matplotlib.figure import Figure

    from experiments.publishing.output import picture_bytes
    from experiments.style import LOOKS, house_style

    with house_style("scale"):
        figure = Figure(figsize=(5.2, 3.4), layout="constrained")
        ax = figure.subplots()
        for program, values in times.items():
            key, label = _DRAWN[program]
            look = LOOKS[key]
            ax.loglog(
                rows, values, color=look.colour, marker=look.marker, linestyle=look.line,
                label=label,
            )  # fmt: skip
        ax.set_xlabel(f"training rows, {FEATURES} features")
        ax.set_ylabel(f"time a tree of {LEAVES} leaves [ms]")
        ax.legend()
        return picture_bytes(figure, "svg", "scale")


def _sizes(_context, _parameter, value: str) -> list[int]:
    try:
        sizes = [int(float(part)) for part in value.split(",")]
    except ValueError:
        raise click.BadParameter("rows are whole numbers with commas between.") from None
    if min(sizes) < 1000:
        raise click.BadParameter("a tree of fewer than 1,000 rows is not worth timing.")
    return sorted(set(sizes))


@click.command(help=__doc__.partition("\n\n")[0])
@click.option(
    "--rows", default=",".join(map(str, SIZES)), show_default=True, callback=_sizes,
    help="Numbers of rows.",
)  # fmt: skip
@click.option("--trees", type=click.IntRange(min=1), default=20, show_default=True)
@click.option("--runs", type=click.IntRange(min=1), default=3, show_default=True, help="Turns.")
@click.option(
    "--priced-peer/--no-priced-peer", default=True, show_default=True,
    help="LightGBM with prices, too, which takes several times as long as all the rest.",
)  # fmt: skip
def main(rows: list[int], trees: int, runs: int, priced_peer: bool) -> None:
    bandwidth, line_time = memory_speed()
    click.echo(
        f"Memory, one thread: copies at {bandwidth:.1f} GB/s, a line at a random place "
        f"{line_time:.1f} ns. {FEATURES} features, {LEAVES} leaves, {trees} trees, {THREADS} "
        f"threads, λ = {TRADEOFF:g} with prices.\n"
    )
    click.echo("\n".join(markdown([])))
    lines: list[Line] = []
    for n_rows in rows:
        lines.append(measure(n_rows, trees, runs, priced_peer))
        click.echo(markdown(cells(lines))[-1])


if __name__ == "__main__":
    main()
