"""What is published, drawn in grey beside a run with ``--set``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.style import FADED, headline


def add_to_table(text: str, said: str, published: str | None, scale: str) -> str:
    """Return a table that says what was set, above the published one."""
    first, _, rest = text.partition("\n")
    text = f"{first}\n\n**Set: {said}.**\n{rest}"
    if published is None:
        return text
    return f"{text}\n## As published (scale {scale})\n{published.partition(chr(10))[2]}"


def add_to_figure(
    figure: Figure, said: str, ends: Collection[str], published: Figure | None, scale: str
) -> None:
    """Draw beside the curves of what was set, told by the ends of their labels, the published."""
    found = [] if published is None else getattr(published, "curves", [])
    times = Counter((ax.get_label(), label) for ax, label, *_ in found)
    old = {(ax.get_label(), label): values for ax, label, *values in found}
    drawn = getattr(figure, "curves", [])
    n_before = len(drawn)
    for ax, label, *_ in tuple(drawn):
        plain = next((label.removesuffix(end) for end in ends if label.endswith(end)), None)
        place = (ax.get_label(), plain)
        if times[place] == 1:  # else it is not known whose it is
            _in_grey(ax, *old[place][:2])
            drawn.append((ax, f"{plain}, as published", *old[place]))
    grey = f"; grey: as published (scale {scale})" if len(drawn) > n_before else ""
    headline(figure, f"{figure.get_suptitle()}\nset: {said}{grey}".lstrip("\n"))


def _in_grey(ax: Axes, x, y) -> None:
    limits = []
    for values, ends in ((x, ax.get_xlim()), (y, ax.get_ylim())):
        limits.append((min(np.nanmin(values), ends[0]), max(np.nanmax(values), ends[1])))
    ax.plot(x, y, color=FADED, marker=".", linestyle="-", zorder=1)
    ax.set_xlim(limits[0])
    ax.set_ylim(limits[1])
