"""What a run would do, without doing it: ``reproduce … --dry-run``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import click

from experiments.artefact import Artefact, Cell
from experiments.data_commands import sources
from experiments.running.suite import RunOptions, Suite


def describe_plans(
    suite: Suite, artefacts: Sequence[Artefact], options: RunOptions, every_cell: bool
) -> list[str]:
    """Print for each artefact its cells by data set, what the data would be, and the minutes."""
    failing, n_cells, minutes = [], 0, 0.0
    for artefact in artefacts:
        cells = artefact.cells(options.scale, options.n_seeds)
        lacking = _describe(suite, artefact, cells, options, every_cell)
        n_cells += len(cells)
        minutes += artefact.minutes[options.scale]
        if lacking:
            failing.append(f"{artefact.id} ({', '.join(lacking)})")
    if len(artefacts) > 1:
        click.echo(
            f"{len(artefacts)} artefacts, {n_cells} cells, about {minutes:.3g} min on 2 cores"
        )
    return failing


def _describe(
    suite: Suite,
    artefact: Artefact,
    cells: Sequence[Cell],
    options: RunOptions,
    every_cell: bool,
) -> list[str]:
    """Print one plan; return the data sets for want of which it would fail."""
    counts = Counter(cell.dataset for cell in cells)
    click.echo(f"{artefact.id}: {artefact.title}, scale {options.scale}")
    if every_cell:
        for cell in cells:
            click.echo(f"  {cell.label()}")
    plan = sources(suite.datasets, list(counts), options.scale, options.data_mode)
    width = max(len(name) for name in plan)
    for name, (line, _) in plan.items():
        click.echo(f"  {counts[name]:5d} cells  {name:{width}s}  {line}")
    click.echo(
        f"{len(cells)} cells, about {artefact.minutes[options.scale]:g} min on 2 cores if none is "
        "in the store"
    )
    lacking = [name for name, (_, served) in plan.items() if not served]
    # Of synthetic data those are taken that there are.
    return lacking if options.data_mode != "synthetic" or len(lacking) == len(plan) else []
