"""``python -m datasets.features``: families or descriptors and their prices; ``--remeasure``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from datasets.errors import ChecksumMismatch, DamagedData, DataUnavailable, UnknownDataset
from datasets.features import NAMES, families_of, images_of, prices, sizes
from datasets.features.families import PAPER_TOTALS
from datasets.sources.storage import write_atomically

README = Path(__file__).with_name("README.md")
OWN = ("cbcl", "scene15")
"""Tables made of pictures, whose features have prices of their own kind."""
MARK = "<!-- from here on written by python -m datasets.features --remeasure -->\n"


def size_table(names: Sequence[str]) -> str:
    """Give Markdown tables of families, their features and milliseconds per image."""
    measured, lines = prices.read(), []
    for name in names:
        n_features = sizes(name)
        times = {family: prices.of_family(measured, name, family) for family in n_features}
        lines += [f"### {name}", "", "| category | family | features | CPU ms per image |"]
        lines += ["|---|---|--:|--:|"]
        lines += [
            f"| {family.category} | {family.name} | {n_features[family.name]:,} "
            f"| {times[family.name]:.4g} |"
            for family in families_of(name)
        ]
        total, paper = sum(n_features.values()), PAPER_TOTALS[name]
        whole = sum(times.values())
        lines.append(f"| | **{len(times)} families** | **{total:,}** | **{whole:.4g}** |")
        lines += [
            "",
            f"The paper has {paper:,} features: ours are "
            f"{round(100 * (total / paper - 1), 2) + 0.0:+.2f} %.",
        ]
        lines += [f"Times: {prices.origin(measured, name)}.", ""]
    return "\n".join(lines)


def readme() -> str:
    """Give the README with the tables of the measured sets made anew."""
    measured = {row["dataset"] for row in prices.read()}
    tables = size_table([name for name in NAMES if name in measured])
    return README.read_text(encoding="utf-8").split(MARK)[0] + MARK + "\n" + tables


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m datasets.features", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="SET", help=f"of {', '.join(NAMES + OWN)}")
    parser.add_argument(
        "--remeasure",
        action="store_true",
        help="measure the CPU time of all on the real pictures and replace the committed table",
    )
    options = parser.parse_args(arguments)
    names = options.names or list(NAMES)
    try:
        with_families = [name for name in names if name not in OWN]
        for name in with_families:
            families = families_of(name)
            if options.remeasure:
                images = images_of(name)
                kind = images.provenance["kind"]
                prices.write(prices.measure(name, families, images.train, kind))
        if options.remeasure and with_families:
            write_atomically(README, readme().encode())
        print(size_table(with_families), end="")
        for name in (name for name in names if name in OWN):
            module = import_module(f"datasets.{name}")
            if options.remeasure:
                module.remeasure()
            print(module.prices.price_table())
    except UnknownDataset as error:
        print(error, file=sys.stderr)
        return 2
    except (DataUnavailable, ChecksumMismatch, DamagedData) as error:
        print(error, file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
