"""What figures of several data sets share: their panels, curves, titles and legend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.curves import curves
from experiments.data_kinds import in_words
from experiments.style import draw_curve, mark

_MARKERS = "osv^DPX*h"


def there(rows: pd.DataFrame, panels: Iterable[Any]) -> list[Any]:
    """Return the panels that have rows."""
    return [panel for panel in panels if (rows["panel"] == panel.key).any()]


def sizes(record: Mapping, parts: Sequence[str] = ("train", "valid", "test")) -> str:
    """Say how many rows the parts of a data set have."""
    counts = "/".join(f"{record['rows'][part]:,}" for part in parts)
    return f"{counts} {'/'.join(parts)}"


def panel_title(panel, record: Mapping) -> str:
    """Return a panel's title: the data, whether they are real, and their sizes."""
    return (
        f"({panel.key}) {panel.name}\n{in_words(record)}\n"
        f"{sizes(record)}, {record['n_features']} features"
    )


def draw_curves(
    ax: Axes,
    rows: pd.DataFrame,
    panel: str,
    methods: Iterable[str],
    accounting: str = "",
    *,
    with_gaps: bool = True,
) -> np.ndarray:
    """Draw the curve and band of each method that has rows, and return the scores of all."""
    scores = [np.empty(0)]
    for method in methods:
        if (curve := curves(rows, panel, method, accounting)) is not None:
            x, y, low, high = curve.summary()
            draw_curve(ax, method, x, y, low, high, gaps=curve.gaps() if with_gaps else None)
            scores.append(y)
    return np.concatenate(scores)


def finish(ax: Axes, panel: str, record: Mapping, title: str, x: str, y: str) -> None:
    """Name a panel and its axes and mark it, when all is drawn."""
    ax.set_label(panel)
    ax.set_title(title, loc="left")
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    mark(ax, record)


def legend_entries(figure) -> dict[str, Any]:
    """Return what the panels of a figure have in their legends, each label once."""
    entries: dict[str, Any] = {}
    for ax in figure.axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    return entries


def shared_legend(figure, n_columns: int) -> None:
    """Put one legend of all panels below them."""
    entries = legend_entries(figure)
    figure.legend(entries.values(), entries, loc="outside lower center", ncols=n_columns)


def in_threes(n_panels: int, size: tuple[float, float], head: float) -> tuple[Figure, list[Axes]]:
    """Return a figure of so many panels, three on a line; sizes are inches."""
    columns = min(3, n_panels)
    lines = -(-n_panels // columns)
    figure = Figure(figsize=(size[0] * columns, head + size[1] * lines), layout="constrained")
    axes = list(figure.subplots(lines, columns, squeeze=False).flat)
    for ax in axes[n_panels:]:
        ax.set_axis_off()
    return figure, axes[:n_panels]


def draw_by_price(
    ax: Axes,
    shares: pd.DataFrame,
    counts: Mapping[float, int],
    unit: str,
    *,
    lines: tuple[float, float],
    markers: tuple[float, float],
) -> None:
    """Draw a curve for each price, a column of `shares`, and how many features have it.

    Curves may lie on each other: widths and markers go from the first one's to the last one's.
    """
    prices = shares.columns
    # As many digits as tell prices apart, four at least.
    digits = next(d for d in range(4, 18) if len({f"{p:.{d}g}" for p in prices}) == len(prices))
    for i, price in enumerate(prices):
        thin = i / max(1, len(prices) - 1)
        ax.plot(
            shares.index,
            shares[price],
            color=colormaps["viridis"](0.9 * thin),
            marker=_MARKERS[i % len(_MARKERS)],
            linewidth=lines[0] + (lines[1] - lines[0]) * thin,
            markersize=markers[0] + (markers[1] - markers[0]) * thin,
            label=f"c = {price:.{digits}g} ({counts[price]})",
        )
    ax.set_ylim(-0.03, 1.03)
    title = "price\n[" + unit.replace(" ", "\n") + "]"
    ax.legend(fontsize=7, title=title, title_fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
