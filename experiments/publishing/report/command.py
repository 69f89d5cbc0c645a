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
    help="Write results/dashboard.html instead, which also links to asv's own pages.",
)
@click.pass_obj
def report_command(suite: Suite, dashboard: bool) -> None:
    """Write all published results as one page.

    results/index.html: every figure, table and claim, and the speed's history.
    """
    name = "dashboard.html" if dashboard else "index.html"
    write(suite.results, suite.registry.artefacts, declared=declared_by(suite), name=name)
    click.echo(f"Written: {shown(suite.results / name)}")
