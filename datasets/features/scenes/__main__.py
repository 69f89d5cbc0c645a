"""``python -m datasets.features.scenes``: descriptors and prices of Scene-15; ``--remeasure``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from datasets import scene15
from datasets.errors import ChecksumMismatch, DamagedData, DataUnavailable
from datasets.features.scenes import prices


def price_table() -> str:
    """Give a Markdown table of descriptors with their CPU milliseconds per picture."""
    table = prices.read()
    lines = ["| descriptor | descriptor ms | kernel row ms | one machine ms |", "|---|--:|--:|--:|"]
    for row in table:
        times = " | ".join(row[column] for column in prices.COLUMNS[1:4])
        lines.append(f"| {row['descriptor']} | {times} |")
    return "\n".join([*lines, "", f"Times: {prices.origin(table)}."])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Instead of the process's own.

    Returns
    -------
    int
        Exit status: 0 fine, 2 usage, 3 data unavailable or damaged.
    """
    parser = argparse.ArgumentParser(prog="python -m datasets.features.scenes", description=__doc__)
    parser.add_argument(
        "--remeasure",
        action="store_true",
        help="measure the CPU time of descriptors, kernel rows and machines on the real pictures "
        "and replace the committed table",
    )
    options = parser.parse_args(arguments)
    if options.remeasure:
        try:
            scene15.remeasure()
        except (DataUnavailable, ChecksumMismatch, DamagedData) as error:
            print(error, file=sys.stderr)
            return 3
    print(price_table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
