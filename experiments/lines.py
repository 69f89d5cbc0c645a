"""Curves as numbers: what the page of results lets a reader point at and take away one by one.

A picture shows all its curves at once; where they overlap, an artefact declares them here, too,
from the same rows and with the same means as its picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_DIGITS = 4
"""Significant digits of what is shown."""


@dataclass(frozen=True)
class Line:
    """One method's curve.

    Attributes
    ----------
    label : str
        Name of the method.
    x, y : (k,) float
        Means over the repetitions.
    low, high : (k,) float
        Interval of `y`; equal to it where there is none.
    """

    label: str
    x: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class LinePanel:
    """One panel of curves.

    Attributes
    ----------
    title, x_label, y_label : str
        With units.
    log_y : bool
        Whether `y` has a logarithmic axis; `x`, a cost, always has.
    lines : sequence of Line
        In the order of the legend.
    """

    title: str
    x_label: str
    y_label: str
    log_y: bool
    lines: Sequence[Line]


@dataclass(frozen=True)
class Lines:
    """All panels of an artefact.

    Attributes
    ----------
    panels : sequence of LinePanel
        At least one.
    n : int
        Repetitions that each point is a mean of.
    interval : str
        What an interval is.
    """

    panels: Sequence[LinePanel]
    n: int
    interval: str

    def record(self) -> dict:
        """Return them as what JSON can hold, rounded to four significant digits.

        Points that a logarithmic axis has no place for are left out, and intervals that are none.
        """
        return {
            "n": self.n,
            "interval": self.interval,
            "panels": [
                {
                    "title": panel.title,
                    "x": panel.x_label,
                    "y": panel.y_label,
                    "log": panel.log_y,
                    "lines": [_line(line, panel.log_y) for line in panel.lines],
                }
                for panel in self.panels
            ],
        }


def _line(line: Line, log_y: bool) -> dict:
    there = np.isfinite(line.x) & np.isfinite(line.y) & (line.x > 0) & ((line.y > 0) | (not log_y))
    record = {"label": line.label, "x": _rounded(line.x[there]), "y": _rounded(line.y[there])}
    low, high = line.low[there], line.high[there]
    if (low < high).any():
        record |= {"low": _rounded(low), "high": _rounded(high)}
    return record


def _rounded(values: np.ndarray) -> list[float]:
    short = (float(f"{value:.{_DIGITS}g}") for value in values)
    return [int(value) if value.is_integer() else value for value in short]
