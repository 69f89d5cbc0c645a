"""The commands ``leaderboard run``, ``add``, ``report`` and ``export``."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import click

from experiments.command_options import UserPath
from experiments.data_commands import DataProblem
from experiments.leaderboard.fields import PRICES, SCALES
from experiments.running.provenance import default_jobs
from experiments.running.suite import Suite, shown
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
@click.option("--rows", is_flag=True, help="Write per_row, too; needs pyarrow.")
@_QUIET
@click.pass_obj
def run_command(suite: Suite, scale, datasets, only, jobs, scheduler, out, publish, rows, quiet):
    """Train every method; finished trials are kept, and an interrupted run goes on."""
    from algorithms.registry.ahead import compile_all
    from experiments.leaderboard import per_row
    from experiments.leaderboard.results import played, write
    from experiments.methods.table import METHODS

    unknown = [name for name in only if name not in METHODS]
    if unknown:
        raise click.UsageError(f"--only must be of {', '.join(METHODS)}, not {unknown[0]!r}.")
    _quieter(quiet)
    compile_all()  # what compiles while a trial runs would count as its time
    runs = suite.results / "runs" / "leaderboard"
    methods = [METHODS[name] for name in only or METHODS]
    with (
        Workers(jobs or default_jobs(), scheduler) as workers,
        DataProblem.translated(suite.datasets),
    ):
        outcome = played(scale, datasets, methods, runs, workers, progress=not quiet)
    folder = suite.results / "leaderboard" if publish else out or runs
    written = write(folder, outcome)
    if rows:
        try:
            path = per_row.write(folder, outcome.judged, runs if publish else None)
            written.append(path.name if path.parent == folder else shown(path))
        except per_row.NoParquet as error:
            raise click.ClickException(str(error)) from None
    click.echo(f"Written in {shown(folder)}: " + ", ".join(written))


@leaderboard_group.command("add")
@click.argument("name", metavar="PACKAGE:CLASS")
@_JOBS
@_OUT
@_QUIET
@click.pass_obj
def add_command(suite: Suite, name, jobs, out, quiet) -> None:
    """Train a class of your own, alone, and rank it among what is published.

    It needs fit(X, y), predict(X) and prediction_cost(X), one number for each row; it is offered
    feature_costs, feature_groups, group_costs and random_state, and may have a search_space.
    """
    from algorithms.registry.ahead import compile_all
    from experiments.leaderboard.adding import NotComparable, add
    from experiments.methods.users_class import imported

    try:
        imported(name)
    except ValueError as error:
        raise click.UsageError(str(error).replace("--method ", "")) from None
    published = suite.results / "leaderboard"
    meta = _meta(published)
    _quieter(quiet)
    compile_all()
    runs = suite.results / "runs" / "leaderboard"
    folder = out or suite.results / "runs" / "leaderboard-added"
    with Workers(jobs or default_jobs()) as workers, DataProblem.translated(suite.datasets):
        try:
            ranked = add(name, published, meta, folder, runs, workers, progress=not quiet)
        except NotComparable as error:
            raise click.ClickException(str(error)) from None
    click.echo(ranked.to_string(index=False))
    click.echo(f"Written: scores.csv and ranking.csv in {shown(folder)}")


@leaderboard_group.command("report")
@click.option("--freeze", metavar="NAME", help="Keep what is published as an edition of this name.")
@click.pass_obj
def report_command(suite: Suite, freeze) -> None:
    """Write results/leaderboard.html from what is published."""
    from experiments.leaderboard import editions, page

    published = suite.results / "leaderboard"
    _meta(published)
    if freeze is not None:
        try:
            click.echo(f"Kept: {shown(editions.freeze(published, freeze))}")
        except editions.Taken as error:
            raise click.UsageError(str(error)) from None
    page.write(published, suite.results / "leaderboard.html")
    click.echo(f"Written: {shown(suite.results / 'leaderboard.html')}")


@leaderboard_group.command("export")
@_OUT
@click.pass_obj
def export_command(suite: Suite, out) -> None:
    """Write what is published of MiniBooNE as AFABench's tables for plots; needs pyarrow."""
    from experiments.leaderboard import afabench, problems
    from experiments.leaderboard.adding import NotComparable, check_field
    from experiments.leaderboard.per_row import NoParquet

    published = suite.results / "leaderboard"
    meta = _meta(published)
    name = "@".join(afabench.FIELD)
    with DataProblem.translated(suite.datasets):
        problem = problems.load(name, scale=meta["scale"])
    runs = suite.results / "runs" / "leaderboard"
    folder = out or runs
    try:
        check_field(name, problem.provenance["checksum"], meta)
        path = afabench.write(published, runs, problem, folder / afabench.NAME)
    except (NoParquet, NotComparable, afabench.NotExportable) as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"Written: {shown(path)}")


def _meta(published: Path) -> dict:
    """Give what is said of the published run."""
    try:
        return json.loads((published / "meta.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise click.UsageError(
            f"There is nothing in {shown(published)} yet: python -m experiments leaderboard run "
            "--publish"
        ) from None


def _quieter(quiet: bool) -> None:
    if quiet:
        logging.getLogger("experiments").setLevel(logging.WARNING)
