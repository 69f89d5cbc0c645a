"""Curves as numbers: what the page of results lets a reader point at and take away one by one.

A picture shows all its curves at once; where they overlap, its numbers are read here from what it
draws, so that the two cannot differ: :func:`lines_of`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.container import ErrorbarContainer
from matplotlib.lines import Line2D

from experiments.style import house_style, intervals

_DIGITS = 4
"""Significant digits of what is shown."""

_DIGITS_OF_HALF = 2
"""The same, of half an interval's length: what follows a ±."""


@dataclass(frozen=True)
class Line:
    """One method's curve."""

    label: str  # Name of the method
    x: np.ndarray  # x, y: Means over the repetitions
    y: np.ndarray
    low: np.ndarray  # low, high: Interval of `y`; equal to it where there is none
    high: np.ndarray
    colour: str  # As in the picture, ``#rrggbb``
    gaps: Sequence[int] = ()  # Points after which the curve is interrupted


@dataclass(frozen=True)
class LinePanel:
    """One panel of curves."""

    title: str  # title, x_label, y_label: With units
    x_label: str
    y_label: str
    log_y: bool  # Whether `y` has a logarithmic axis; `x`, a cost, always has
    n: int  # Repetitions that each point is a mean of
    lines: Sequence[Line]  # In the order of the legend
    key: str = ""  # With which the ids of the claims on it begin
    # Which axes of the picture they are, from 1 on, as its file counts them
    number: int | None = None


@dataclass(frozen=True)
class Lines:
    """All panels of an artefact."""

    panels: Sequence[LinePanel]  # At least one
    interval: str  # What an interval is

    def record(self) -> dict:
        """Return them as what JSON can hold, rounded to four significant digits.

        Points that a logarithmic axis has no place for are left out, and intervals that are none;
        of an interval that is as long above as below its point the half is given.
        """
        return {
            "interval": self.interval,
            "panels": [
                {
                    "title": panel.title,
                    "x": panel.x_label,
                    "y": panel.y_label,
                    "log": panel.log_y,
                    "n": panel.n,
                    "lines": [_line(line, panel.log_y) for line in panel.lines],
                }
                for panel in self.panels
            ],
        }


def _line(line: Line, log_y: bool) -> dict:
    there = np.isfinite(line.x) & np.isfinite(line.y) & (line.x > 0) & ((line.y > 0) | (not log_y))
    record = {"label": line.label, "colour": line.colour}
    record |= {"x": _rounded(line.x[there]), "y": _rounded(line.y[there])}
    if gaps := [int(there[: i + 1].sum()) - 1 for i in line.gaps]:
        record["gaps"] = [i for i in gaps if 0 <= i < there.sum() - 1]
    y, low, high = line.y[there], line.low[there], line.high[there]
    if not (low < high).any():
        return record
    if np.allclose(y - low, high - y, rtol=1e-9):
        return record | {"half": _rounded((high - low) / 2, _DIGITS_OF_HALF)}
    return record | {"low": _rounded(low), "high": _rounded(high)}


def _rounded(values: np.ndarray, digits: int = _DIGITS) -> list[float]:
    short = (float(f"{value:.{digits}g}") for value in values)
    return [int(value) if value.is_integer() else value for value in short]


# --- from a picture -----------------------------------------------------------------------------


def lines_of(
    render: Callable[[pd.DataFrame, Mapping], object], interval: str
) -> Callable[[pd.DataFrame, Mapping], Lines]:
    """Give an artefact's ``lines``: what the legends of its picture name, read from the picture."""

    def lines(rows: pd.DataFrame, meta: Mapping) -> Lines:
        with house_style("lines"):
            axes = render(rows, meta).axes
        n_seeds = rows.groupby("panel")["seed"].nunique()
        titles = _titles([ax.get_title(loc="left") for ax in axes])
        panels = [
            _panel(ax, number, int(n_seeds[ax.get_label()]), title)
            for number, (ax, title) in enumerate(zip(axes, titles, strict=True), start=1)
            if ax.get_label() in n_seeds  # else a legend's axes, or a panel that was not run
        ]
        return Lines([panel for panel in panels if panel.lines], interval)

    return lines


def _titles(titles: Sequence[str]) -> list[str]:
    """Shorten titles to their first lines, where these tell as many apart."""
    short = []
    for title in titles:
        short.append(title.partition("\n")[0])
    alike = [{t for t, s in zip(titles, short, strict=True) if s == own} for own in short]
    return [
        own if len(whole) == 1 else ", ".join(title.split("\n"))
        for title, own, whole in zip(titles, short, alike, strict=True)
    ]


def _panel(ax: Axes, number: int, n: int, title: str) -> LinePanel:
    bands = list(intervals(ax))
    drawn = zip(*ax.get_legend_handles_labels(), strict=True)
    return LinePanel(
        title=title,
        x_label=ax.get_xlabel().replace("\n", " "),
        y_label=ax.get_ylabel().replace("\n", " "),
        log_y=ax.get_yscale() == "log",
        n=n,
        lines=[_read(handle, label, bands) for handle, label in drawn],
        key=ax.get_label(),
        number=number,
    )


def _read(handle: Line2D | ErrorbarContainer, label: str, bands: Sequence[tuple]) -> Line:
    whole = isinstance(handle, ErrorbarContainer)  # its label says what its bar is
    drawn = handle.lines[0] if whole else handle
    x, y = (np.asarray(values, dtype=np.float64) for values in drawn.get_data())
    broken = np.isnan(x)  # where a curve has a gap
    gaps = (np.flatnonzero(broken) - np.arange(1, broken.sum() + 1)).tolist()
    x, y = x[~broken], y[~broken]
    low, high, colour = y, y, drawn.get_color()
    for own, corners in () if whole else bands:
        if own == to_rgb(colour) and len(x) and np.isin(x, corners[:, 0]).all():
            at = pd.Series(corners[:, 1]).groupby(corners[:, 0])
            low, high = at.min().loc[x].to_numpy(), at.max().loc[x].to_numpy()
    return Line(" ".join(label.split()), x, y, low, high, to_hex(colour), gaps)
