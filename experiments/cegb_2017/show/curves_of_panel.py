"""One panel of curves, score against cost, as Figure 2 has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from experiments.cegb_2017.show.panels import (
    Panel,
    cost_label,
    panel_name,
    panel_title,
    score_label,
)
from experiments.curves import curves
from experiments.lines import Line, LinePanel, Lines
from experiments.style import LOOKS, draw_curve, frame, log_cost_axis, stamp


def draw_panel(
    ax,
    panel: Panel,
    rows: pd.DataFrame,
    record: Mapping,
    methods: Sequence[str],
    paper: tuple[str, str],
) -> None:
    """Draw each method's curve with its band, and one of them in the paper's accounting.

    Parameters
    ----------
    ax : Axes
    panel : Panel
    rows : DataFrame
        The panel's own, at least one.
    record : Mapping
        Provenance of its data in ``meta.json``.
    methods : sequence of str
        Keys of :data:`experiments.style.LOOKS`; those without rows are left out.
    paper : tuple of str
        Method whose rows pay for the whole forest in the paper, and what the legend says of it.
    """
    shown = []
    for method in methods:
        if (curve := curves(rows, panel.key, method)) is not None:
            x, y, low, high = curve.summary()
            draw_curve(ax, method, x, y, low, high)
            shown.append(y)
    if (curve := curves(rows, panel.key, paper[0], "_paper")) is not None:
        x, y, _, _ = curve.summary()
        ax.plot(x, y, color="0.55", linestyle=(0, (1, 1)), linewidth=1.0, label=paper[1])
    log_cost_axis(ax)
    frame(ax, np.concatenate(shown))
    ax.set_title(panel_title(panel, rows["dataset"].iloc[0], record), loc="left")
    ax.set_xlabel(cost_label(panel, record))
    ax.set_ylabel(score_label(panel))
    if record["kind"] != "real":
        stamp(ax, "STAND-IN")


def lines_of_panels(
    panels: Sequence[Panel], rows: pd.DataFrame, meta: Mapping, methods: Sequence[str]
) -> Lines:
    """Return the same curves as numbers, without that of the paper's accounting."""
    shown = []
    for panel in panels:
        mine = rows[rows["panel"] == panel.key]
        if mine.empty:
            continue
        dataset = mine["dataset"].iloc[0]
        record = meta["data"][dataset]
        standin = "" if record["kind"] == "real" else ", STAND-IN"
        there = {method: curves(mine, panel.key, method) for method in methods}
        shown.append(
            LinePanel(
                title=f"({panel.key}) {panel_name(panel, dataset)}{standin}",
                x_label=cost_label(panel, record).replace("\n", " "),
                y_label=score_label(panel),
                log_y=False,
                lines=[
                    Line(LOOKS[method].label, *curve.summary())
                    for method, curve in there.items()
                    if curve is not None
                ],
            )
        )
    return Lines(shown, len(meta["seeds"]), "95 % t interval over seeds")
