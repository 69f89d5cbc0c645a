"""``python -m datasets.features.scenes``: descriptors and prices of Scene-15; ``--remeasure``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from datasets import scene15
from datasets.features import price_command
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
    """Run the command line; see :func:`datasets.features.price_command.run`."""
    return price_command.run(
        "python -m datasets.features.scenes",
        __doc__,
        "measure the CPU time of descriptors, kernel rows and machines on the real pictures and "
        "replace the committed table",
        scene15.remeasure,
        price_table,
        arguments,
    )


if __name__ == "__main__":
    sys.exit(main())
