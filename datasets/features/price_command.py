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
    """Run the command line: show the table, or measure it anew; 3 if its data are unavailable."""
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
