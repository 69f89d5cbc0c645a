"""``python -m datasets.features.faces``: features of CBCL's windows and prices; ``--remeasure``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from datasets import cbcl
from datasets.errors import ChecksumMismatch, DamagedData, DataUnavailable
from datasets.features.faces import prices
from datasets.features.faces.families import GROUPS, PARTS


def price_table() -> str:
    """Give a Markdown table of families with their CPU milliseconds per window."""
    table = prices.read()
    measured = prices.prices(table)
    lines = ["| family | features | once per group, ms | each feature, ms |", "|---|--:|--:|--:|"]
    first = 0
    for part in PARTS:
        once, each = measured.groups[GROUPS.index(part.group)], measured.features[first]
        lines.append(f"| {part.family.name} | {part.n_features:,} | {once:.4g} | {each:.3g} |")
        first += part.n_features
    whole = sum(measured.groups.values()) + float(measured.features.sum())
    lines.append(f"| **all** | **{first:,}** | | **{whole:.4g}** together |")
    return "\n".join([*lines, "", f"Times: {measured.origin}."])


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
    parser = argparse.ArgumentParser(prog="python -m datasets.features.faces", description=__doc__)
    parser.add_argument(
        "--remeasure",
        action="store_true",
        help="measure the CPU time of all families on the real windows and replace the committed "
        "table",
    )
    options = parser.parse_args(arguments)
    if options.remeasure:
        try:
            cbcl.remeasure()
        except (DataUnavailable, ChecksumMismatch, DamagedData) as error:
            print(error, file=sys.stderr)
            return 3
    print(price_table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
