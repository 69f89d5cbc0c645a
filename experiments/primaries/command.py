"""The command ``decide``: runs what undecided primary claims still need, and judges them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from experiments.artefact import Artefact
from experiments.cell import Cell
from experiments.command_options import run_options
from experiments.primaries import storing
from experiments.primaries.declared import FIRST_SEED, Part, Primary, discover
from experiments.primaries.judging import Judged, judge, needs
from experiments.primaries.verdicts import SIGNS
from experiments.running import provenance
from experiments.running.suite import RunOptions, Suite, compute, describe, shown
from experiments.running.workers import Workers

Declared = Mapping[str, Sequence[Primary]]


def confirming(artefact: Artefact, n: int, datasets: Sequence[str]) -> Artefact:
    """Return an artefact whose cells are those of fresh repetitions of some data sets.

    Parameters
    ----------
    artefact : Artefact
    n : int
        Repetitions, counted from :data:`FIRST_SEED`.
    datasets : sequence of str
    """

    def make_cells(scale: str, seeds: range) -> list[Cell]:
        fresh = range(FIRST_SEED + seeds.start, FIRST_SEED + seeds.stop)
        return [cell for cell in artefact.make_cells(scale, fresh) if cell.dataset in datasets]

    return replace(artefact, make_cells=make_cells, seeds=dict.fromkeys(artefact.seeds, n))


def minutes(artefact: Artefact, n: int, datasets: Sequence[str], scale: str) -> float:
    """Return the minutes that so many repetitions take on 2 cores, by those of the whole run."""
    whole = artefact.cells(scale)
    share = len(confirming(artefact, n, datasets).cells(scale)) / max(len(whole), 1)
    return artefact.minutes[scale] * share


def decide(
    suite: Suite,
    declared: Declared,
    names: Sequence[str],
    options: RunOptions,
    dry_run: bool,
    echo: Callable[[str], None] = click.echo,
) -> None:
    """Run the next look of each undecided claim, then judge and write the table.

    Parameters
    ----------
    suite : Suite
    declared : Mapping
        For each paper its primary claims.
    names : sequence of str
        Claims or papers; none: all.
    options : RunOptions
        Its scale gives way to the one that each artefact's parts declare.
    dry_run : bool
        Say what would be run, and run nothing.
    echo : callable
        Takes each line.
    """
    chosen = _chosen(declared, names)
    runs = storing.read(suite.results, sorted(a.id for a in suite.registry.artefacts))
    found = [judge(one, runs, n_claims) for one, n_claims in chosen]
    for judged in found:
        echo(sentence(judged))
    wanted: dict[str, int] = {}
    for judged in (one for one in found if one.next is not None and one.verdict == "undecided"):
        for part in judged.primary.parts:
            wanted[part.artefact] = max(wanted.get(part.artefact, 0), judged.next.n)
    total = 0.0
    with Workers(options.jobs, options.scheduler) as workers:
        for artefact in (a for a in suite.registry.artefacts if a.id in wanted):
            n, (datasets, scale) = wanted[artefact.id], _asked(declared, artefact.id)
            time = minutes(artefact, n, datasets, scale)
            total += time
            echo(
                f"{artefact.id}: {n} repetitions of {', '.join(datasets)}, about {time:.3g} min "
                "on 2 cores"
            )
            if not dry_run:
                fresh = confirming(artefact, n, datasets)
                _run(suite, fresh, replace(options, n_seeds=n, scale=scale), workers)
    if dry_run:
        echo(f"About {total:.3g} min on 2 cores together; nothing was run.")
        return
    storing.write_table(suite.results, declared)
    runs = storing.read(suite.results, sorted(a.id for a in suite.registry.artefacts))
    for one, n_claims in chosen if wanted else []:
        echo(sentence(judge(one, runs, n_claims)))
    echo(f"Written: {shown(suite.results / storing.TABLE)}")


def sentence(judged: Judged) -> str:
    """Return what became of a claim: sign, verdict, interval, and what it still needs."""
    one, found = judged.primary, judged.found
    text = f"{SIGNS[judged.verdict]} {judged.verdict}: {one.id}"
    if found is not None:
        text += f", {found.effect:+.4f} {one.unit} [{found.low:+.4f}, {found.high:+.4f}]"
    text += f", δ = {one.delta:g}, n = {judged.n}"
    still = needs(judged)
    return f"{text}; needs {still}" if still else text


def _chosen(declared: Declared, names: Sequence[str]) -> list[tuple[Primary, int]]:
    every = [(paper, one, len(claims)) for paper, claims in declared.items() for one in claims]
    known = {paper for paper, _, _ in every} | {one.id for _, one, _ in every}
    for name in names:
        if name not in known:
            raise click.UsageError(
                f"There is no primary claim {name!r}. There are: {', '.join(sorted(known))}."
            )
    return [(one, n) for paper, one, n in every if not names or {paper, one.id} & set(names)]


def _asked(declared: Declared, artefact_id: str) -> tuple[list[str], str]:
    """Data sets that any primary claim asks of an artefact, and their scale.

    The rows of an artefact are kept together, so that a run computes all of its sets.
    """
    every = (part for claims in declared.values() for one in claims for part in one.parts)
    parts = [part for part in every if part.artefact == artefact_id]
    return list(dict.fromkeys(part.dataset for part in parts)), parts[0].scale


def _run(suite: Suite, artefact: Artefact, options: RunOptions, workers: Workers) -> None:
    source_tree = provenance.source_tree_hash()
    result = compute(suite, artefact, options, workers)
    meta = describe(artefact, options, result, source_tree)
    storing.write(suite.results, artefact.id, result.rows, meta)


@click.command("decide")
@click.argument("names", nargs=-1, metavar="[CLAIM...]")
@click.option("--dry-run", is_flag=True, help="Run nothing; say what would be, and the minutes.")
@run_options
@click.pass_obj
def decide_command(
    suite: Suite,
    names: Sequence[str],
    dry_run: bool,
    jobs: int | None,
    scheduler: str | None,
    out: Path | None,
    store: Path | None,
    quiet: bool,
) -> None:
    """Run what undecided primary claims still need, and judge them.

    CLAIM is a primary claim (cegb-classification) or a paper (cegb); without any, all of them. The
    repetitions are fresh ones, on real data alone, and are kept in results/primary.
    """
    if quiet:
        logging.getLogger("experiments").setLevel(logging.WARNING)
    declared = discover() if suite.primaries is None else suite.primaries
    options = RunOptions(
        scale=Part.scale,
        data_mode="real",
        n_seeds=None,
        jobs=jobs or provenance.default_jobs(),
        scheduler=scheduler,
        store=store or suite.results / "runs" / "store",
        quiet=quiet,
        command=provenance.command_line(["decide", *names]),
    )
    decide(replace(suite, results=out or suite.results), declared, names, options, dry_run)
