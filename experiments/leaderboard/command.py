"""The commands ``leaderboard edition``, ``publish``, ``times``, ``add`` and ``report``."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from experiments.command_options import UserPath
from experiments.data_commands import DataProblem
from experiments.leaderboard.fields import FIELDS, SCALES
from experiments.leaderboard.fields import fields as of_scale
from experiments.running.provenance import default_jobs
from experiments.running.store import Store
from experiments.running.suite import Suite, shown
from experiments.running.workers import Workers

# What trains imports all methods, for which no other command should wait.

_JOBS = click.option(
    "--jobs", type=click.IntRange(min=1), help="Trials at a time; default: as many as cores."
)
_OUT = click.option(
    "--out", type=UserPath(file_okay=False, path_type=Path), help="Folder of what is written."
)
_QUIET = click.option("--quiet", is_flag=True, help="No progress bar and no line per trial.")


@click.group("leaderboard")
def leaderboard_group() -> None:
    """Every method on every real data set, under one meter."""


@leaderboard_group.command("edition")
@click.option("--scale", type=click.Choice(tuple(SCALES)), default="laptop", show_default=True)
@click.option("--divisions", metavar="FIRST-LAST", help="Such as 1-3; default: all.")
@click.option(
    "--fields", metavar="NAME,…", help="Only these, in this order: heart@dollars,pima@uniform."
)
@click.option("--only", metavar="NAME,…", help="Only these methods: cegb,catboost.")
@click.option("--variants", is_flag=True, help="Our own variants of CEGB instead of the methods.")
@_JOBS
@click.option("--scheduler", metavar="ADDRESS", help="A running Dask scheduler.")
@click.option("--dry-run", is_flag=True, help="Only say what is lacking, and its minutes.")
@_QUIET
@click.pass_obj
def edition_command(
    suite: Suite, scale, divisions, fields, only, variants, jobs, scheduler, dry_run, quiet
):
    """Train what the edition in results/leaderboard/trials lacks; each division is kept as it ends.

    An interrupted run goes on, from this checkout or from any other of the same sources.
    """
    from algorithms.registry.ahead import compile_all
    from experiments.leaderboard import edition
    from experiments.leaderboard.kept import FOLDER
    from experiments.leaderboard.variants import VARIANTS
    from experiments.methods.table import METHODS

    methods = list(_chosen("--only", only, VARIANTS if variants else METHODS))
    known = {field.name: field for field in of_scale(scale)}
    played = list(_chosen("--fields", fields, known))
    numbers = _numbers(divisions, SCALES[scale].divisions)
    folder = suite.results / "leaderboard" / FOLDER
    lacking = edition.pending(folder, played, numbers, methods)
    jobs = jobs or default_jobs()
    minutes = edition.minutes(folder, lacking, scale)
    click.echo(
        f"{len(lacking)} divisions of fields lack trials: about {minutes:.0f} minutes of one core, "
        f"{minutes / jobs:.0f} with {jobs} trials at a time."
    )
    if dry_run or not lacking:
        return
    _quieter(quiet)
    compile_all()  # what compiles while a trial runs would count as its time
    store = Store(suite.results / "runs" / "leaderboard" / "store")
    with Workers(jobs, scheduler) as workers, DataProblem.translated(suite.datasets):
        try:
            edition.run(lacking, scale, folder, store, workers, progress=not quiet)
        except edition.OtherSources as error:
            raise click.ClickException(str(error)) from None
    click.echo(
        f"Written in {shown(folder)}. To judge it: python -m experiments leaderboard publish"
    )


def _chosen(option: str, names: str | None, of: Mapping[str, Any]) -> Iterable[Any]:
    for name in of if names is None else names.split(","):
        if name not in of:
            raise click.UsageError(f"{option} must be of {', '.join(of)}, not {name!r}.")
        yield of[name]


def _numbers(text: str | None, most: int) -> range:
    """Read "2" or "1-3"."""
    first, _, last = (text or f"1-{most}").partition("-")
    if not (first.isdigit() and (last or first).isdigit()):
        raise click.UsageError(f"--divisions must be like 1-{most}, not {text!r}.")
    found = range(int(first), int(last or first) + 1)
    if not found or found[0] < 1 or found[-1] > most:
        raise click.UsageError(f"--divisions must be within 1-{most}, not {text!r}.")
    return found


@leaderboard_group.command("publish")
@click.option("--divisions", type=click.IntRange(min=1), default=3, show_default=True,
              help="Fewest of a field that is published.")  # fmt: skip
@click.pass_obj
def publish_command(suite: Suite, divisions) -> None:
    """Judge the trials of the edition, and write its tables and page.

    Says how sure the declared questions are answered, and how sure with all divisions.
    """
    import pandas as pd

    from experiments.leaderboard import page, results

    published = suite.results / "leaderboard"
    try:
        written = results.publish(published, FIELDS, divisions)
    except results.TooFew as error:
        raise click.UsageError(str(error)) from None
    page.write(published, suite.results / "leaderboard.html")
    areas = pd.read_csv(published / "areas.csv")
    for line in results.said_of_width(areas, SCALES[_meta(published)["scale"]].divisions):
        click.echo(line)
    click.echo(f"Written in {shown(published)}: {', '.join(written)}; and leaderboard.html")


@leaderboard_group.command("times")
@click.pass_obj
def times_command(suite: Suite) -> None:
    """Time the models that are published, one at a time; nothing should run beside it.

    Of each data set at the first of its price lists: the models of the first division that
    validate best at any price. Written into times.csv, data set by data set, and into the page.
    """
    from experiments.leaderboard import page, times

    published = suite.results / "leaderboard"
    meta = _meta(published)
    played = [field for field in of_scale(meta["scale"]) if field.name in meta["fields"]]
    once = {field.dataset: field for field in reversed(played)}
    first = [field for field in played if once[field.dataset] == field]
    with DataProblem.translated(suite.datasets):
        path = times.measure(published, first, meta["scale"], click.echo)
    page.write(published, suite.results / "leaderboard.html")
    click.echo(f"Written: {shown(path)}, and leaderboard.html")


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
    from experiments.leaderboard.adding import NotComparable, add
    from experiments.methods.users_class import imported

    try:
        imported(name)
    except ValueError as error:
        raise click.UsageError(str(error).replace("--method ", "")) from None
    published = suite.results / "leaderboard"
    _meta(published)
    _quieter(quiet)
    store = Store(suite.results / "runs" / "leaderboard" / "store")
    folder = out or suite.results / "runs" / "leaderboard-added"
    with Workers(jobs or default_jobs()) as workers, DataProblem.translated(suite.datasets):
        try:
            added = add(name, published, folder, store, workers, say=click.echo)
        except NotComparable as error:
            raise click.ClickException(str(error)) from None
    click.echo(added)
    click.echo(f"Written: scores.csv, areas.csv and ranking.csv in {shown(folder)}")


@leaderboard_group.command("report")
@click.pass_obj
def report_command(suite: Suite) -> None:
    """Write results/leaderboard.html from what is published."""
    from experiments.leaderboard import page

    published = suite.results / "leaderboard"
    _meta(published)
    page.write(published, suite.results / "leaderboard.html")
    click.echo(f"Written: {shown(suite.results / 'leaderboard.html')}")


def _meta(published: Path) -> dict:
    """Give what is said of the published run."""
    try:
        return json.loads((published / "meta.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise click.UsageError(
            f"There is nothing in {shown(published)} yet: python -m experiments leaderboard edition"
        ) from None


def _quieter(quiet: bool) -> None:
    if quiet:
        logging.getLogger("experiments").setLevel(logging.WARNING)
