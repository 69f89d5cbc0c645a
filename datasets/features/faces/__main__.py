"""``python -m datasets.features.faces``: features of CBCL's windows and prices; ``--remeasure``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from datasets import cbcl
from datasets.features import price_command
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
    """Run the command line; see :func:`datasets.features.price_command.run`."""
    return price_command.run(
        "python -m datasets.features.faces",
        __doc__,
        "measure the CPU time of all families on the real windows and replace the committed table",
        cbcl.remeasure,
        price_table,
        arguments,
    )


if __name__ == "__main__":
    sys.exit(main())
