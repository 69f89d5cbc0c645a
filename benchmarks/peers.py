"""Ours beside other programs and beside goals: ``python -m benchmarks.peers [WORD…]``.

It measures the cases of :data:`CASES` whose names contain one of the words, and prints a line for
each comparison. Programs run in turn, in one process on the same data and as many threads; times
are medians of what elapsed. Single rows, DAGs and scans are on one thread and in processor time,
which other work on the machine disturbs less. :mod:`benchmarks.today` keeps the lines and writes a
page of them. Nothing here decides a test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import click

from datasets import DataUnavailable

from .paper_sizes import cascade, decision_dags, scanning
from .prediction import many_rows, on_demand, one_row
from .timing import Row, markdown
from .training import (
    SIZES,
    covertype_most,
    first_fits,
    miniboone,
    normal_data,
    real_data,
    stumps,
    training_rows,
)

Measure = Callable[[], list[Row]]
CASES: Mapping[str, Mapping[str, Measure]] = {
    "normal-data": {f"{n:,} rows": partial(normal_data, n) for n in SIZES},
    "real-data": {
        "MiniBooNE": partial(real_data, miniboone, 0.4),
        "MiniBooNE, training": partial(
            real_data, partial(training_rows, "miniboone", "MiniBooNE"), 0.4
        ),
        "Covertype": partial(real_data, partial(training_rows, "covertype", "Covertype"), 0.7),
        "Covertype, 465,000 rows": partial(real_data, covertype_most, 0.7),
        "stumps": stumps,
    },
    "prediction": {"many rows": many_rows, "one row": one_row, "on-demand": on_demand},
    "decision-dags": {"SARSA and descent": decision_dags, "scanning": scanning},
    "cascade": {"Cronus": cascade},
    "new-machine": {"first fits": first_fits},
}
"""What is timed, by part and name, in the order of the table."""


@click.command(help=__doc__.partition("\n\n")[0])
@click.argument("words", nargs=-1)
def main(words: tuple[str, ...]) -> None:
    chosen = [
        measure
        for part, cases in CASES.items()
        for name, measure in cases.items()
        if not words or any(word.lower() in f"{part}: {name}".lower() for word in words)
    ]
    if not chosen:
        names = "; ".join(f"{part}: {', '.join(cases)}" for part, cases in CASES.items())
        raise click.UsageError(f"No case has such a name. There are {names}.")
    head = True
    for measure in chosen:
        try:
            lines = markdown(measure())
        except DataUnavailable as error:
            raise click.ClickException(str(error)) from None
        click.echo("\n".join(lines if head else lines[2:]))
        head = False


if __name__ == "__main__":
    main()
