"""One panel of curves, score against cost, as Figure 2 has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from experiments.cegb_2017.show.panels import (
    Panel,
    cost_label,
    panel_title,
    score_label,
)
from experiments.curves import curves, of_users
from experiments.style import draw_curve, frame, log_cost_axis, mark


def draw_panel(
    ax,
    panel: Panel,
    rows: pd.DataFrame,
    record: Mapping,
    methods: Sequence[str],
    paper: tuple[str, str],
) -> None:
    """Draw each method's curve with its band, and one of them in the paper's accounting."""
    shown = []
    for method in (*methods, *of_users(rows)):
        if (curve := curves(rows, panel.key, method)) is not None:
            x, y, low, high = curve.summary()
            draw_curve(ax, method, x, y, low, high, gaps=curve.gaps())
            shown.append(y)
    if (curve := curves(rows, panel.key, paper[0], "_paper")) is not None:
        x, y, _, _ = curve.summary()
        ax.plot(x, y, color="0.55", linewidth=0.8, label=paper[1])
    ax.set_label(panel.key)
    log_cost_axis(ax)
    frame(ax, np.concatenate(shown))
    ax.set_title(panel_title(panel, rows["dataset"].iloc[0], record), loc="left")
    ax.set_xlabel(cost_label(panel, record))
    ax.set_ylabel(score_label(panel))
    mark(ax, record)


def say_speaking_queries(ax, rows: pd.DataFrame) -> None:
    """Add to a ranking panel's title how many test queries have a relevant document."""
    counts = rows.groupby("seed")["speaking_queries"].first()
    several = f"{counts.min()} to {counts.max()}" if counts.nunique() > 1 else counts.min()
    title = ax.get_title(loc="left")
    ax.set_title(f"{title}\n{several} test queries with a relevant document", loc="left")
