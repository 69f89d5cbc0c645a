"""The command line: ``python -m experiments list | reproduce | check | claims | report | …``."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click
from tqdm.contrib.logging import logging_redirect_tqdm

from datasets.sources.storage import write_atomically
from experiments import setting
from experiments.artefact import SCALES, Artefact
from experiments.claims import storing
from experiments.claims.command import claims, decide_command, declared_by
from experiments.command_options import ARTEFACT, print_whatever_the_encoding, run_options
from experiments.compare.command import compare_command
from experiments.data_commands import DataProblem, data_group
from experiments.leaderboard.command import leaderboard_group
from experiments.listing_commands import list_command, warm_up
from experiments.plans import describe_plans
from experiments.publishing import check as check_module
from experiments.publishing import output, parts, scoreboard
from experiments.publishing.ending import Ending, end, together
from experiments.publishing.report.command import report_command
from experiments.registry import Registry, UnknownArtefact, discover
from experiments.running import provenance
from experiments.running.run import CellsFailed, NoData
from experiments.running.suite import RunOptions, Suite, compute, describe, shown
from experiments.running.workers import Workers, WorkersDiffer

REGRESSION, USAGE, NO_DATA, INTERRUPTED = 1, 2, 3, 130
"""Exit status: drift or a failed cell; a wrong command; data unavailable; Ctrl-C."""

_COMPLETE = "_EXPERIMENTS_COMPLETE"  # set by the shell's completion script


def main(arguments: Sequence[str] | None = None, suite: Suite | None = None) -> int:
    """Run a command and return the exit status; a user's mistake never ends in a traceback."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    print_whatever_the_encoding()
    try:
        if suite is None:
            import datasets

            suite = Suite(Registry(discover()), datasets)
        with _logging():
            # What the shell completes is the script of this name.
            name = "experiments" if _COMPLETE in os.environ else "python -m experiments"
            status = commands.main(
                arguments, name, complete_var=_COMPLETE, standalone_mode=False, obj=suite
            )
        return status if isinstance(status, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help())
        return USAGE
    except click.ClickException as error:
        where = f"{error.ctx.command_path} --help" if getattr(error, "ctx", None) else "--help"
        return _fail(USAGE, f"{error.format_message()}\nSee: {where}")
    except (UnknownArtefact, setting.WrongSetting, WorkersDiffer, ConnectionError) as error:
        return _fail(USAGE, str(error))
    except CellsFailed as error:
        return _fail(REGRESSION, str(error))
    except (DataProblem, NoData, output.NotPublishable) as error:
        return _fail(NO_DATA, str(error))
    except output.DamagedResults as error:
        return _fail(REGRESSION, str(error))
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        return _fail(REGRESSION if full else USAGE, _cannot_write(error))
    except (KeyboardInterrupt, click.Abort):
        return _fail(
            INTERRUPTED,
            "Interrupted. Finished cells are kept: the same command goes on where it stopped.",
        )


def _cannot_write(error: OSError) -> str:
    """Say what the system refused; an error without a file name is not the user's."""
    if error.filename is None:
        raise error
    return (
        f"{error.strerror}: {error.filename}\nFinished cells are kept. Choose other folders with "
        "--out and --store, or make room, and run the same command again."
    )


def _fail(status: int, message: str) -> int:
    click.echo(f"error: {message}" if status != INTERRUPTED else f"\n{message}", err=True)
    return status


@contextlib.contextmanager
def _logging():
    """Show the log on standard error, above the progress bar."""
    logger = logging.getLogger("experiments")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger.addHandler(handler)
    level, propagate = logger.level, logger.propagate
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        with logging_redirect_tqdm([logger]):
            yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="cost-aware-boosting", prog_name="cost-aware-boosting")
def commands() -> None:
    """Regenerate the papers' figures and tables, and test what they claim.

    An artefact is a figure or table (list names them all). A cell is one piece of its work: mostly
    one model, trained with its parameters on one draw of one data set. Finished cells are stored
    and not computed again.

    Exit status: 0 fine, 1 regression or failed cell, 2 wrong command, 3 data unavailable.
    """


commands.add_command(data_group)
for command in (
    compare_command,
    decide_command,
    leaderboard_group,
    report_command,
    list_command,
    claims,
    warm_up,
):
    commands.add_command(command)


_SCALE_HELP = (
    "Size of the run: seconds on generated or bundled data, minutes, hours, or the paper's own."
)


def _run_options(suite, scale, data_mode, seeds, jobs, scheduler, store, quiet) -> RunOptions:
    if scale == "smoke":
        if data_mode == "real":
            raise click.UsageError(
                "Smoke scale uses synthetic data and data inside our dependencies only; for real "
                "data take --scale laptop."
            )
        data_mode = "auto"  # at this scale nothing outside the suite is ever read
    if quiet:
        logging.getLogger("experiments").setLevel(logging.WARNING)
    return RunOptions(
        scale=scale,
        data_mode=data_mode,
        n_seeds=seeds,
        jobs=jobs or provenance.default_jobs(),
        scheduler=scheduler,
        store=store or suite.results / "runs" / "store",
        quiet=quiet,
        command="",
    )


@commands.command()
@click.argument("names", nargs=-1, required=True, metavar="ID...", type=ARTEFACT)
@click.option(
    "--scale", type=click.Choice(SCALES), default="laptop", show_default=True, help=_SCALE_HELP
)
@click.option(
    "--data",
    "data_mode",
    type=click.Choice(["auto", "real", "synthetic"]),
    default="auto",
    show_default=True,
    help="auto: real data, our published rows in grey where there are none; real: fail then; "
    "synthetic: generated data.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    help="Number of repetitions; default: the artefact's own.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="METHOD.PARAMETER=VALUE",
    help="Run a method with another parameter, beside what is published; may be repeated.",
)
@click.option(
    "--method",
    "own",
    multiple=True,
    metavar="PACKAGE:CLASS",
    help="Draw a class of your own with fit, predict and prediction_cost, too; may be repeated.",
)
@click.option("--publish", is_flag=True, help="Also write the results to results/<id>.")
@click.option(
    "--dry-run", is_flag=True, help="Compute nothing; sum up cells, data and expected time."
)
@click.option("-v", "every_cell", is_flag=True, help="With --dry-run: list every cell, too.")
@run_options
@click.pass_obj
def reproduce(
    suite,
    names,
    scale,
    data_mode,
    seeds,
    settings,
    own,
    publish,
    dry_run,
    every_cell,
    jobs,
    scheduler,
    out,
    store,
    quiet,
) -> int:
    """Regenerate figures and tables.

    ID is an artefact (cegb-figure2), a paper (cegb), a figure or table of every paper (figure2), or
    all. What is published of data that cannot be had here is shown in grey.
    """
    artefacts, notes = suite.registry.resolve(names)
    for note in notes:
        click.echo(note)
    # The quickest first: each picture is written as it is ready.
    artefacts = sorted(artefacts, key=lambda artefact: artefact.minutes[scale])
    options = _run_options(suite, scale, data_mode, seeds, jobs, scheduler, store, quiet)
    if publish and scale == "smoke":
        raise click.UsageError("Smoke scale is for checks only: publish a larger one.")
    options = replace(options, settings=setting.parse(settings) | setting.of_classes(own))
    if publish and options.settings:
        raise click.UsageError(
            "A run with --set or --method stands beside what is published: no --publish."
        )
    if options.settings:
        artefacts = [setting.applied(one, scale, options.settings) for one in artefacts]
    if dry_run:
        failing = describe_plans(suite, artefacts, options, every_cell)
        if failing and (data_mode != "synthetic" or len(artefacts) == 1):
            return _fail(NO_DATA, f"the run would fail for want of data: {', '.join(failing)}")
        return 0
    options = replace(options, command=_command(names, options, settings, own))
    if len(artefacts) > 1:
        minutes = sum(artefact.minutes[options.scale] for artefact in artefacts)
        click.echo(f"{len(artefacts)} artefacts, about {minutes:.3g} min on 2 cores together")
    base, without_data, endings = out or suite.results / "runs", [], []
    with Workers(options.jobs, options.scheduler) as workers:
        for artefact in artefacts:
            try:
                folder = base / f"{artefact.id}{'-set' * bool(options.settings)}"
                endings.append(_reproduce_one(suite, artefact, options, workers, folder))
            except (NoData, DataProblem) as error:
                if len(artefacts) == 1:
                    raise
                click.secho(f"LEFT OUT: {error}", bold=True)
                if isinstance(error, DataProblem):
                    without_data.append(artefact.id)
                continue
            if publish:
                _publish(suite, folder, artefact)
    if len(endings) > 1:
        click.echo("\n".join(together(endings)))
    if without_data:
        return _fail(NO_DATA, f"not regenerated for want of data: {', '.join(without_data)}")
    return 0


def _command(names: Sequence[str], options: RunOptions, settings, own) -> str:
    """Return the command without what cannot change a result: folders, workers."""
    arguments = ["reproduce", *names, "--scale", options.scale, "--data", options.data_mode]
    if options.n_seeds is not None:
        arguments += ["--seeds", str(options.n_seeds)]
    for text in settings:
        arguments += ["--set", text]
    for name in own:
        arguments += ["--method", name]
    return provenance.command_line(arguments)


def _reproduce_one(suite, artefact, options, workers, folder: Path) -> Ending:
    click.echo(
        f"{artefact.id}: {artefact.title}, scale {options.scale}, about "
        f"{artefact.minutes[options.scale]:g} min on 2 cores"
    )
    source_tree = provenance.source_tree_hash()
    result = compute(suite, artefact, options, workers)
    meta = describe(artefact, options, result, source_tree)
    output.write_run(folder, artefact, result, meta, published=suite.results / artefact.id)
    click.echo(f"{result.computed} cells computed, {result.kept} from the store.")
    click.echo(f"Written: {shown(folder)}")
    ending, lines = end(artefact, folder, suite.results / artefact.id)
    click.echo("\n".join(lines))
    return ending


def _publish(suite: Suite, folder: Path, artefact: Artefact) -> None:
    output.check_publishable(folder, suite.results / artefact.id)
    output.publish(folder, suite.results, suite.registry.artefacts, artefact.id)
    scoreboard.write(suite.results, declared_by(suite), suite.registry.artefacts)
    click.echo(f"Published: {shown(suite.results / artefact.id)}")
    if not artefact.committed_picture:
        click.echo(f"Made of the sets' own images, not published: {shown(folder / 'figure.png')}")


@commands.command()
@click.argument("names", nargs=-1, metavar="[ID...]", type=ARTEFACT)
@click.option("--scale", type=click.Choice(SCALES), default="smoke", show_default=True)
@click.option("--update", is_flag=True, help="Write the new values as the expected ones.")
@run_options
@click.pass_obj
def check(suite, names, scale, update, jobs, scheduler, out, store, quiet) -> int:
    """Compare artefacts with their expected values.

    Without ID all of them; exit status 1 on drift. At smoke scale the expected values are those in
    results/expected, else what is published from the same data.
    """
    if update and scale != "smoke":
        raise click.UsageError("--update is for smoke scale; use reproduce --publish for others.")
    artefacts, _ = suite.registry.resolve(names or ["all"])
    options = _run_options(suite, scale, "auto", None, jobs, scheduler, store, quiet)
    options = replace(options, command=provenance.command_line(["check", "--scale", scale]))
    columns, problems = [], []
    with Workers(options.jobs, options.scheduler) as workers:
        for artefact in artefacts:
            base = out or suite.results / "runs" / "check"
            compared = _check_one(suite, artefact, options, workers, base / artefact.id, update)
            columns += compared[0]
            problems += compared[1]
    if columns:
        click.echo(check_module.table(columns))
    for problem in problems:
        click.echo(problem)
    good = not problems and all(column.passed for column in columns)
    if not good and not update:
        click.echo(
            "Drift. If the change is meant, say so in the commit and write the new values with: "
            + (
                "python -m experiments check --update"
                if scale == "smoke"
                else f"python -m experiments reproduce ID --scale {scale} --publish"
            ),
            err=True,
        )
    return 0 if good or update else REGRESSION


def _check_one(suite, artefact, options, workers, folder, update):
    """Run one artefact and compare it: columns and problems."""
    expected_path = suite.results / "expected" / f"{artefact.id}.csv"
    published = None
    if options.scale != "smoke":
        published = output.read_published(suite.results / artefact.id)
        if published is None or not _to_compare(artefact, options.scale, published[1]):
            return [], [f"{artefact.id}: nothing is published at scale {options.scale}"]
        if published[1]["scale"] == options.scale:
            n_seeds = artefact.repetitions(options.scale, published[1]["seeds"])
            options = replace(options, n_seeds=n_seeds)
    source_tree = provenance.source_tree_hash()
    result = compute(suite, artefact, options, workers)
    meta = describe(artefact, options, result, source_tree)
    # To look at; the values are what is compared, and a second format would take as long again.
    output.write_run(folder, artefact, result, meta, kinds=("png",))
    rows = result.rows
    if published is not None:
        same = output.same_data(meta["data"], published[1]["data"])
        for name in meta.get("absent", {}):
            click.echo(f"{artefact.id}: {name} is not here, its published rows are not compared")
        for name in sorted(set(meta["data"]) - set(same)):
            click.echo(f"{artefact.id}: other data for {name} than published, not compared")
        expected = published[0][published[0]["dataset"].isin(same)]
        if left_out := parts.left_out(artefact, meta, published[1]):
            click.echo(f"{artefact.id}: {left_out}")
            expected = parts.rows_of(artefact, expected, parts.cells_of_run(artefact, meta))
            # What a method's other models keep from being published is no drift.
            rows = rows.merge(expected[artefact.row_keys()], on=artefact.row_keys())
        if not meta["data"]:
            return [], []
        return check_module.compare(artefact, expected, rows[rows["dataset"].isin(same)])
    compared = (
        [],
        [] if update else [f"{artefact.id}: no expected values yet (--update writes them)"],
    )
    if expected_path.exists():
        compared = check_module.compare(artefact, output.read_expected(expected_path), rows)
    if update:
        expected_path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(expected_path, output.csv_bytes(output.committed(artefact, rows)))
        click.echo(f"Written: {shown(expected_path)}")
    return compared


def _to_compare(artefact: Artefact, scale: str, published: Mapping) -> bool:
    """Whether a run of a scale, which is still to come, can be held against what is published."""
    planned = {"scale": scale, "seeds": range(artefact.seeds[scale]), "data": published["data"]}
    return parts.comparable(artefact, planned, published)


@commands.command()
@click.argument("names", nargs=-1, metavar="[ID...]", type=ARTEFACT)
@click.pass_obj
def redraw(suite: Suite, names) -> None:
    """Draw published rows anew.

    Nothing is computed. Without ID all artefacts.
    """
    artefacts, _ = suite.registry.resolve(names or ["all"])
    for artefact in artefacts:
        if output.redraw(suite.results, artefact):
            click.echo(f"Drawn: {shown(suite.results / artefact.id)}")
        elif names:
            click.echo(f"{artefact.id}: nothing is published")
    if (suite.results / storing.FOLDER).exists():
        storing.write_table(suite.results, declared_by(suite))
    scoreboard.write(suite.results, declared_by(suite), suite.registry.artefacts)
