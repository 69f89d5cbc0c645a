"""The commands ``list`` and ``warm-up``."""

from __future__ import annotations

from typing import Any

import click

from experiments.artefact import SCALES, Artefact
from experiments.command_options import echo_json, json_option
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


@click.command("warm-up")
def warm_up() -> int:
    """Compile all kernels, ahead of the first fit that needs them.

    As make compile does: for some minutes, once for each version of the sources.
    """
    from algorithms.registry.ahead import compile_all

    return compile_all()
