"""What the features of windows of faces cost: measured CPU milliseconds per window.

``milliseconds.csv`` beside this file is the committed table and the default everywhere, so that
results do not depend on who measures; ``python -m datasets.features --remeasure cbcl``
replaces it. For each family two CPU times of one thread (not elapsed time: other programs may run
beside it), a block of real windows at a time, the least of many repetitions, all in turns:

shared
    what all features of its group have in common, by itself: integral image and standard
    deviation, the histograms of the cells, the patterns of the pixels;
whole
    all its features with what they share, copied to where they are kept.

A window pays *shared* once, for the first feature of a group that it asks for (of a group of
several families the median of their measurements), and for each feature of a family
(*whole* - *shared*) / number of features. These are times of a whole family computed at once for
many windows: what a single feature costs in a program that computes one at a time is more. The
committed table was measured on an idle machine; in a row of repetitions of its own, with all caches
warm, HOG takes half of what it takes in turns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from datasets.features import measured_times
from datasets.features.faces.families import GROUPS, PARTS, Part
from datasets.features.measured_times import measured_row, milliseconds, read_times

TABLE = Path(__file__).with_name("milliseconds.csv")
COLUMNS = ("family", "features", "shared_ms", "whole_ms", "block", "processor", "date")
UNIT = "ms"
BLOCK = 512
"""Windows measured at once: arrays of a few megabytes, as a detector scans a picture."""
REPETITIONS = 60


@dataclass(frozen=True)
class Prices:
    """What groups and features cost, in :data:`UNIT`."""

    groups: dict[int, float]  # By place in :data:`~datasets.features.faces.families.GROUPS`
    features: np.ndarray  # (n_features,) float64: what each feature costs besides
    origin: str  # Where and when it was measured


def read(path: Path | None = None) -> list[dict[str, str]]:
    """Read the table."""
    path = TABLE if path is None else path
    rows = read_times(path, COLUMNS, COLUMNS[1:4])
    for row in rows:
        if float(row["shared_ms"]) >= float(row["whole_ms"]):
            raise ValueError(f"{path}: {row['family']}: a part takes as long as the whole")
    return rows


def prices(table: list[dict[str, str]] | None = None) -> Prices:
    """Give the prices of groups and features, by the committed table unless another is given."""
    measured = {row["family"]: row for row in (read() if table is None else table)}
    shared: dict[int, list[float]] = {}
    own = []
    for part in PARTS:
        row = measured.get(part.family.name)
        if row is None or int(row["features"]) != part.n_features:
            raise ValueError(
                f"no measured time for the {part.n_features} features {part.family.name} of cbcl. "
                "Next: python -m datasets.features --remeasure cbcl"
            )
        times = float(row["shared_ms"]), float(row["whole_ms"])
        shared.setdefault(GROUPS.index(part.group), []).append(times[0])
        own += [(times[1] - times[0]) / part.n_features] * part.n_features
    groups = {group: float(np.median(times)) for group, times in shared.items()}
    return Prices(groups, np.array(own), origin(list(measured.values())))


def origin(table: list[dict[str, str]]) -> str:
    """Say on which processor and when the times were measured."""
    return measured_times.origin(table, "window", "real windows in blocks of {block}")


def measure(windows: np.ndarray) -> list[dict]:
    """Measure all prices on evenly spaced ones of some real windows."""
    block = np.ascontiguousarray(windows[:: max(1, len(windows) // BLOCK)][:BLOCK])
    works: list[Callable[[], object]] = []
    for part in PARTS:
        kept = np.empty((len(block), part.n_features), dtype=np.uint8)
        works += [partial(part.prepare, block), partial(_keep, part, block, kept)]
    times = milliseconds(*works, n_images=len(block), repetitions=REPETITIONS)
    return [
        measured_row(COLUMNS, part.family.name, part.n_features, *pair, len(block))
        for part, *pair in zip(PARTS, times[::2], times[1::2], strict=True)
    ]


def _keep(part: Part, block: np.ndarray, kept: np.ndarray) -> None:
    kept[:] = part.family.columns(block)


def price_table() -> str:
    """Give a Markdown table of families with their CPU milliseconds per window."""
    measured = prices()
    lines = ["| family | features | once per group, ms | each feature, ms |", "|---|--:|--:|--:|"]
    first = 0
    for part in PARTS:
        once, each = measured.groups[GROUPS.index(part.group)], measured.features[first]
        lines.append(f"| {part.family.name} | {part.n_features:,} | {once:.4g} | {each:.3g} |")
        first += part.n_features
    whole = sum(measured.groups.values()) + float(measured.features.sum())
    lines.append(f"| **all** | **{first:,}** | | **{whole:.4g}** together |")
    return "\n".join([*lines, "", f"Times: {measured.origin}."])
