"""What several commands take: names in any case, and ``--json``."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem


class Name(click.ParamType):
    """A name in upper or lower case, which the shell can complete."""

    name = "name"

    def __init__(self, known: Callable[[Any], list[str]]) -> None:
        self.known = known

    def convert(self, value: str, param, ctx) -> str:
        """Return the name as it is registered: in lower case."""
        return value.lower()

    def shell_complete(self, ctx, param, incomplete: str) -> list:
        """Offer the names that begin so."""
        return [
            CompletionItem(name)
            for name in self.known(ctx.find_root().obj)
            if name.startswith(incomplete.lower())
        ]


class UserPath(click.Path):
    """A path whose ``~`` is the home of the user, also in ``--out=~/results``: no shell sees it."""

    def convert(self, value, param, ctx) -> Path:
        """Return the path, expanded and checked."""
        return super().convert(Path(os.path.expanduser(value)), param, ctx)


ARTEFACT = Name(lambda suite: suite.registry.names())
DATA_SET = Name(lambda suite: [record["name"] for record in suite.datasets.status()])

json_option = click.option("--json", "as_json", is_flag=True, help="JSON, for other programs.")


def echo_json(value: Any) -> None:
    """Print a value as JSON; a number that is not finite becomes null.

    Letters that standard output cannot have are written as JSON escapes.
    """
    text = json.dumps(_finite(value), indent=1, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(_finite(value), indent=1, allow_nan=False)
    click.echo(text)


def in_columns(table: Sequence[Sequence[str]]) -> str:
    """Return lines of texts below each other, each column as wide as its widest."""
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    lines = (zip(row, widths, strict=True) for row in table)
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in line).rstrip() for line in lines
    )


def print_whatever_the_encoding() -> None:
    """Have letters that the terminal or the pipe cannot have replaced, as under cp1252."""
    for stream in (sys.stdout, sys.stderr):
        if getattr(stream, "errors", "") == "strict" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    if hasattr(value, "item"):  # NumPy's
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


_RUN_OPTIONS = [
    click.option(
        "--jobs",
        type=click.IntRange(min=1),
        help="Cells at a time, each in a process of its own; default: as many as cores.",
    ),
    click.option(
        "--scheduler",
        metavar="tcp://…",
        help="Compute the cells with a running Dask scheduler instead; whoever can connect to it "
        "can run code.",
    ),
    click.option(
        "--out",
        type=UserPath(file_okay=False, path_type=Path),
        help="Where the results of this run go; default results/runs.",
    ),
    click.option(
        "--store",
        type=UserPath(file_okay=False, path_type=Path),
        help="Where finished cells are kept; default results/runs/store.",
    ),
    click.option("--quiet", is_flag=True, help="No progress bar and no line per cell."),
]


def run_options(function: Callable) -> Callable:
    """Give a command the options of every run: jobs, scheduler, folders, quiet."""
    for option in reversed(_RUN_OPTIONS):
        function = option(function)
    return function
