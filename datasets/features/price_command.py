"""The command line of a set with a price table of its own: show it, or measure it anew."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from datasets.errors import ChecksumMismatch, DamagedData, DataUnavailable


def run(
    program: str,
    description: str,
    help_text: str,
    remeasure: Callable[[], None],
    price_table: Callable[[], str],
    arguments: Sequence[str] | None = None,
) -> int:
    """Run the command line.

    Parameters
    ----------
    program, description : str
        What ``--help`` says.
    help_text : str
        What ``--remeasure`` does.
    remeasure : callable
        Measures and replaces the table.
    price_table : callable
        Gives it as Markdown.
    arguments : sequence of str, optional
        Instead of the process's own.

    Returns
    -------
    int
        Exit status: 0 fine, 2 usage, 3 data unavailable or damaged.
    """
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument("--remeasure", action="store_true", help=help_text)
    options = parser.parse_args(arguments)
    if options.remeasure:
        try:
            remeasure()
        except (DataUnavailable, ChecksumMismatch, DamagedData) as error:
            print(error, file=sys.stderr)
            return 3
    print(price_table())
    return 0
