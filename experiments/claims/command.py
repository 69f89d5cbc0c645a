"""The commands ``claims`` and ``decide``: what became of preregistered claims, and judging them."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from experiments.artefact import Artefact
from experiments.claims import storing
from experiments.claims.confirming import (
    Declared,
    Minutes,
    confirming,
    every_artefact,
    minutes,
    minutes_left,
    rough,
    settings_of,
)
from experiments.claims.declared import Claim, Part, Wants, base_of, discover, n_judged
from experiments.claims.judging import Judged, judge
from experiments.claims.lines import as_row
from experiments.claims.verdicts import UNDECIDED
from experiments.command_options import echo_json, json_option, run_options
from experiments.publishing import scoreboard
from experiments.publishing.claim_lines import line_of
from experiments.running import provenance
from experiments.running.suite import RunOptions, Suite, compute, describe, shown
from experiments.running.workers import Workers


def decide(
    suite: Suite,
    declared: Declared,
    names: Sequence[str],
    options: RunOptions,
    dry_run: bool,
    readings: bool = False,
) -> None:
    """Run the next look of each undecided claim, then judge and write the table.

    Parameters
    ----------
    suite : Suite
    declared : Mapping
        For each paper its preregistered claims.
    names : sequence of str
        Claims, with or without their papers, or papers; none: all.
    options : RunOptions
        Its scale gives way to the one that each artefact's parts declare.
    dry_run : bool
        Say what would be run, and run nothing.
    readings : bool
        Run what readings of the claims lack, in place of next looks.
    """
    names = [_named(declared, name) for name in names]
    chosen = _chosen(declared, names)
    artefacts = every_artefact(declared, suite.registry.artefacts)
    ids = sorted(a.id for a in artefacts)
    runs, known = storing.read(suite.results, ids), storing.measured(suite.results, ids)
    past = storing.published_verdicts(suite.results)
    found = [judge(one, runs, n_claims, past.get(one.id, "")) for one, n_claims in chosen]
    kept = storing.repetitions(runs)
    say = partial(_say, artefacts, known, kept)
    say(found)
    wanted = _lacking(found, kept) if readings else _wanted(found, kept, names)
    total = 0.0
    with Workers(options.jobs, options.scheduler) as workers:
        for artefact in (a for a in artefacts if a.id in wanted):
            for (dataset, scale, wants), n in wanted[artefact.id].items():
                have = kept.get((artefact.id, dataset, scale), 0)
                measured = known.get(artefact.id, {})
                of_all = known.get(base_of(artefact.id))
                time = minutes(artefact, n, [dataset], scale, measured, have, wants, of_all)
                total += time
                before = f" beside {have} that are kept" * bool(have)
                click.echo(
                    f"{artefact.id}: {n - have} repetitions of {dataset}{before}, about "
                    f"{rough(time)} min on 2 cores"
                )
                if not dry_run:
                    scaled = replace(options, n_seeds=n, scale=scale)
                    _run(suite, artefact, dataset, wants, have, scaled, workers)
    if dry_run:
        click.echo(f"About {rough(total)} min on 2 cores together; nothing was run.")
        return
    storing.write_table(suite.results, declared)
    scoreboard.write(suite.results, declared, suite.registry.artefacts)
    runs = storing.read(suite.results, ids)
    if wanted:
        say([judge(one, runs, n_claims, past.get(one.id, "")) for one, n_claims in chosen])
    click.echo(f"Written: {shown(suite.results / storing.TABLE)}")


def declared_by(suite: Suite) -> Declared:
    """Return the claims of a suite, those of the papers' folders unless it has its own."""
    return discover() if suite.claims is None else suite.claims


def _say(
    artefacts: Sequence[Artefact],
    measured: Mapping[str, Minutes],
    kept: Mapping,
    found: Sequence[Judged],
) -> None:
    """Say of each claim what boards say of it."""
    left = partial(minutes_left, artefacts=artefacts, measured=measured, kept=kept)
    for judged in found:
        click.echo(line_of(judged.claim, as_row(judged, ""), left).said())


def _named(declared: Declared, name: str) -> str:
    """Return the paper or the claim that a name stands for: boards print claims without papers."""
    ids = [(f"{paper}-", one.id) for paper, claims in declared.items() for one in claims]
    if name in declared or name in {id_ for _, id_ in ids}:
        return name
    found = [id_ for paper, id_ in ids if id_ == paper + name]
    if not found:
        known = ", ".join(sorted({*declared, *(id_ for _, id_ in ids)}))
        raise click.UsageError(f"There is no preregistered claim {name!r}. There are: {known}.")
    if len(found) > 1:
        raise click.UsageError(f"Several papers have a claim {name!r}: say {' or '.join(found)}.")
    return found[0]


def _chosen(declared: Declared, names: Sequence[str]) -> list[tuple[Claim, int]]:
    every = [(paper, one, n_judged(claims)) for paper, claims in declared.items() for one in claims]
    return [(one, n) for paper, one, n in every if not names or {paper, one.id} & set(names)]


def _wanted(
    found: Sequence[Judged], kept: Mapping[tuple[str, str, str], int], names: Sequence[str]
) -> dict[str, dict[tuple[str, str, Wants], int]]:
    """Return for each artefact the repetitions of each set that next looks need.

    A set goes with its scale and with the cells that are wanted. Each is a run of its own, so that
    what has ended is kept, whatever becomes of the others; one of which as many repetitions are
    `kept` is not run again. What more repetitions hardly decide is run only if `names` has the
    claim itself.
    """
    wanted: dict[str, dict[tuple[str, str, Wants], int]] = {}
    for judged in found:
        if judged.next is None or not (judged.is_due or judged.verdict == UNDECIDED):
            continue
        if judged.hopeless and judged.claim.id not in names:
            continue
        for part in judged.claim.parts:
            _want(wanted, kept, part, judged.next.n)
    return wanted


def _lacking(
    found: Sequence[Judged], kept: Mapping[tuple[str, str, str], int]
) -> dict[str, dict[tuple[str, str, Wants], int]]:
    """Return in the shape of :func:`_wanted` what readings of the claims lack."""
    wanted: dict[str, dict[tuple[str, str, Wants], int]] = {}
    for reading in (reading for judged in found for reading in judged.claim.readings):
        for part in reading.parts:
            _want(wanted, kept, part, reading.n_of(part))
    return wanted


def _want(wanted: dict, kept: Mapping, part: Part, n: int) -> None:
    if kept.get((part.artefact, part.dataset, part.scale), 0) < n:
        sets = wanted.setdefault(part.artefact, {})
        key = (part.dataset, part.scale, part.wants)
        sets[key] = max(sets.get(key, 0), n)


def _run(
    suite: Suite,
    artefact: Artefact,
    dataset: str,
    wants: Wants,
    have: int,
    options: RunOptions,
    workers: Workers,
) -> None:
    """Run what a set's repetitions lack, and keep all; all of them if the first is not as kept."""
    source_tree = provenance.source_tree_hash()
    options = replace(options, settings=settings_of(artefact.id))

    def made(kept: int) -> storing.Made:
        fresh = confirming(artefact, options.n_seeds, [dataset], kept, wants)
        result = compute(suite, fresh, options, workers)
        rows, meta = result.rows, describe(artefact, options, result, source_tree)
        if not artefact.judged_by_times:
            rows = rows.drop(columns=list(artefact.timing_columns))
            meta = {**meta, "timing_columns": []}
        return storing.Made(rows, meta, float(result.timings["seconds"].sum()))

    if have:
        differs = storing.extend(suite.results, artefact, dataset, made(have))
        if not differs:
            return
        click.echo(f"All are run again, since the first does not come out as it is kept: {differs}")
    storing.add(suite.results, artefact.id, dataset, made(0))


@click.command("decide")
@click.argument("names", nargs=-1, metavar="[CLAIM...]")
@click.option("--dry-run", is_flag=True, help="Run nothing; say what would be, and the minutes.")
@click.option("--readings", is_flag=True, help="Run what readings of the claims lack instead.")
@run_options
@click.pass_obj
def decide_command(
    suite: Suite,
    names: Sequence[str],
    dry_run: bool,
    readings: bool,
    jobs: int | None,
    scheduler: str | None,
    out: Path | None,
    store: Path | None,
    quiet: bool,
) -> None:
    """Run what undecided preregistered claims still need, and judge them.

    CLAIM is a preregistered claim (cegb-classification, or classification, since one paper alone
    has such a claim) or a paper (cegb); without any, all of them. The repetitions are fresh ones,
    on real data alone, and are kept in results/primary. Where some are kept already, the first of
    them is made again, and the others only if it comes out otherwise. A claim that more of them
    would decide with a chance below 5 % is left out, unless it is named itself.
    """
    if quiet:
        logging.getLogger("experiments").setLevel(logging.WARNING)
    declared = declared_by(suite)
    options = RunOptions(
        scale=Part.scale,
        data_mode="real",
        n_seeds=None,
        jobs=jobs or provenance.default_jobs(),
        scheduler=scheduler,
        store=store or suite.results / "runs" / "store",
        quiet=quiet,
        command=provenance.command_line(["decide", *["--readings"] * readings, *names]),
    )
    suite = replace(suite, results=out or suite.results)
    decide(suite, declared, names, options, dry_run, readings)


@click.command()
@click.argument("names", nargs=-1, metavar="[CLAIM...]")
@json_option
@click.pass_obj
def claims(suite: Suite, names: Sequence[str], as_json: bool) -> None:
    """Show what became of the papers' preregistered claims.

    CLAIM is a claim or a paper, as for decide; without any, all of them.
    """
    declared = declared_by(suite)
    chosen = {_named(declared, name) for name in names}
    boards = scoreboard.boards(suite.results, declared, suite.registry.artefacts)
    lines = [
        line
        for board in boards
        for line in board.lines
        if not chosen or {board.paper, line.claim} & chosen
    ]
    if as_json:
        echo_json([line.as_record() for line in lines])
        return
    for line in lines:
        click.echo(f"{line.said()}\n    {line.sentence} ({line.place})")
        for aside in (*line.aside(), *(read.in_words() for read in line.readings)):
            click.echo(f"    {aside}")
