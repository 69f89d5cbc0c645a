"""The commands ``list``, ``claims`` and ``warm-up``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from experiments.artefact import SCALES, Artefact
from experiments.claims import sentence
from experiments.command_options import ARTEFACT, UserPath, echo_json, json_option
from experiments.publishing import output
from experiments.running.suite import Suite


@click.command("list")
@json_option
@click.pass_obj
def list_command(suite: Suite, as_json: bool) -> None:
    """List all artefacts, with the minutes each takes on 2 cores."""
    if as_json:
        echo_json([_described(artefact) for artefact in suite.registry.artefacts])
        return
    for artefact in suite.registry.artefacts:
        minutes = ", ".join(f"{scale} {artefact.minutes[scale]:g} min" for scale in SCALES)
        click.echo(f"{artefact.id:24s} {artefact.title}\n{'':24s} {artefact.shows}")
        click.echo(f"{'':24s} {minutes}; {len(artefact.cells('laptop'))} cells at laptop scale")


def _described(artefact: Artefact) -> dict[str, Any]:
    return {
        "id": artefact.id,
        "paper": artefact.paper,
        "title": artefact.title,
        "shows": artefact.shows,
        "minutes": dict(artefact.minutes),
        "cells": {scale: len(artefact.cells(scale)) for scale in SCALES},
    }


@click.command()
@click.argument("names", nargs=-1, metavar="[ID...]", type=ARTEFACT)
@click.option(
    "--out",
    type=UserPath(file_okay=False, path_type=Path),
    help="Describe the runs in this folder instead of the published results.",
)
@json_option
@click.pass_obj
def claims(suite: Suite, names: Sequence[str], out: Path | None, as_json: bool) -> None:
    """Describe the papers' claims on published rows."""
    artefacts, _ = suite.registry.resolve(names or ["all"])
    judged = []
    for artefact in artefacts:
        published = output.read_published((out or suite.results) / artefact.id)
        if published is None:
            click.echo(
                f"{artefact.id}: no rows yet; make them with: "
                f"python -m experiments reproduce {artefact.id} --publish",
                err=as_json,
            )
            continue
        rows, meta = published
        records = output.evaluate_claims(artefact, rows, meta).to_dict("records")
        head = {"artefact": artefact.id, "title": artefact.title, "scale": meta["scale"]}
        judged += [head | record for record in records]
        if not as_json:
            click.echo("{artefact}: {title}, scale {scale}".format_map(head))
            for row in records:
                click.echo(f"  {sentence(row)}\n    {row['sentence']} ({row['place']})")
    if as_json:
        echo_json(judged)


@click.command("warm-up")
def warm_up() -> int:
    """Compile all kernels, ahead of the first fit that needs them.

    As make compile does: for some minutes, once for each version of the sources.
    """
    from algorithms.registry.ahead import compile_all

    return compile_all()
