"""The command ``report``."""

from __future__ import annotations

import click

from experiments.claims.command import declared_by
from experiments.publishing.report.page import write
from experiments.running.suite import Suite, shown


@click.command("report")
@click.pass_obj
def report_command(suite: Suite) -> None:
    """Write all published results as pages.

    results/index.html has the answers; it leads to a page per paper and to speed.
    """
    declared = declared_by(suite)
    written = write(suite.results, suite.registry.artefacts, declared=declared)
    click.echo(f"Written: {', '.join(map(shown, written))}")
