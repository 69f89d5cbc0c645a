"""What figures of several data sets share: their panels, a title of each, shares by price."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.data_kinds import in_words

_MARKERS = "osv^DPX*h"


def panel_title(panel, record: Mapping) -> str:
    """Return a panel's title: the data, whether they are real, and their sizes."""
    rows = "/".join(f"{record['rows'][part]:,}" for part in ("train", "valid", "test"))
    return (
        f"({panel.key}) {panel.name}\n{in_words(record)}\n"
        f"{rows} train/valid/test, {record['n_features']} features"
    )


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
