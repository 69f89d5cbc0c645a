"""The commands ``leaderboard run``, ``leaderboard add`` and ``leaderboard report``."""

from __future__ import annotations

import logging
from pathlib import Path

import click

from experiments.command_options import UserPath
from experiments.leaderboard.fields import PRICES, SCALES
from experiments.running.provenance import default_jobs
from experiments.running.suite import Suite
from experiments.running.workers import Workers

# What trains imports all methods, for which no other command should wait.

_SCALE = click.option(
    "--scale",
    type=click.Choice(tuple(SCALES)),
    default="laptop",
    show_default=True,
    help="; ".join(f"{name}: about {size.minutes:g} min on 2 cores" for name, size in
                   SCALES.items()) + ".",
)  # fmt: skip
_DATASETS = click.option(
    "--dataset", "datasets", multiple=True, type=click.Choice(tuple(PRICES)), help="Only these."
)
_JOBS = click.option(
    "--jobs", type=click.IntRange(min=1), help="Trials at a time; default: as many as cores."
)
_SCHEDULER = click.option("--scheduler", metavar="ADDRESS", help="A running Dask scheduler.")
_OUT = click.option(
    "--out",
    type=UserPath(file_okay=False, path_type=Path),
    help="Folder of the results; default: results/runs/leaderboard.",
)
_QUIET = click.option("--quiet", is_flag=True, help="No progress bar and no line per trial.")


@click.group("leaderboard")
def leaderboard_group() -> None:
    """Every method on every real data set, under one meter."""


@leaderboard_group.command("run")
@_SCALE
@_DATASETS
@click.option("--only", multiple=True, metavar="NAME", help="Only these methods, such as cegb.")
@_JOBS
@_SCHEDULER
@_OUT
@click.option("--publish", is_flag=True, help="Write results/leaderboard.")
@_QUIET
@click.pass_obj
def run_command(suite: Suite, scale, datasets, only, jobs, scheduler, out, publish, quiet) -> None:
    """Train every method; finished trials are kept, and an interrupted run goes on."""
    from experiments.compare.methods import METHODS
    from experiments.leaderboard.results import played, write

    unknown = [name for name in only if name not in METHODS]
    if unknown:
        raise click.UsageError(f"--only must be of {', '.join(METHODS)}, not {unknown[0]!r}.")
    _quieter(quiet)
    runs = suite.results / "runs" / "leaderboard"
    methods = [METHODS[name] for name in only or METHODS]
    with Workers(jobs or default_jobs(), scheduler) as workers:
        outcome = played(scale, datasets, methods, runs, workers, progress=not quiet)
    folder = suite.results / "leaderboard" if publish else out or runs
    click.echo("Written: " + ", ".join(write(folder, outcome)))


def _quieter(quiet: bool) -> None:
    if quiet:
        logging.getLogger("experiments").setLevel(logging.WARNING)
