"""The command ``report``."""

from __future__ import annotations

import click

from experiments.primaries.command import declared_by
from experiments.publishing.report.page import write
from experiments.running.suite import Suite, shown


@click.command("report")
@click.option(
    "--dashboard",
    is_flag=True,
    help="Write results/dashboard.html instead: speed, with a link to asv's own pages.",
)
@click.pass_obj
def report_command(suite: Suite, dashboard: bool) -> None:
    """Write all published results as pages.

    results/index.html has the answers; it leads to a page per paper, to all claims and to speed.
    """
    declared = declared_by(suite)
    written = write(suite.results, suite.registry.artefacts, declared=declared, dashboard=dashboard)
    click.echo(f"Written: {', '.join(map(shown, written))}")
