"""What a stranger could not read in a picture."""

from itertools import combinations

import numpy as np
from matplotlib.collections import PathCollection

from experiments.style import intervals


def all_axes(figure):
    """Axes of a figure and of its parts."""
    parts = [figure, *figure.subfigs]
    return list({id(ax): ax for part in parts for ax in part.axes}.values())


def unreadable(figure):
    """Say what leaves the figure or its axes unmarked, and which titles overlap."""
    figure.draw_without_rendering()  # lays it out
    axes = all_axes(figure)
    titles = [t for ax in axes for t in (ax.title, ax._left_title, ax._right_title)]
    titles = [title for title in titles if title.get_text()]
    legends = [x for part in (figure, *figure.subfigs, *axes) for x in _legends(part)]
    texts = [figure._suptitle, *titles, *(label for ax in axes for label in _labels(ax)), *legends]
    found = [f"leaves the figure: {_name(text)}" for text in texts if text and _leaves(text)]
    found += [
        f"overlap: {_name(one)!r} and {_name(other)!r}"
        for one, other in combinations(titles, 2)
        if one.get_window_extent().overlaps(other.get_window_extent())
    ]
    return found + [line for ax in axes for line in _unmarked(ax)]


def _legends(part):
    one = part.get_legend() if hasattr(part, "get_legend") else None
    return [*getattr(part, "legends", []), *([one] if one else [])]


def _labels(ax):
    return [ax.xaxis.label, ax.yaxis.label] if ax.axison else []


def _name(text):
    if hasattr(text, "get_text"):
        return text.get_text()
    return " / ".join(entry.get_text() for entry in text.get_texts())


def _leaves(text):
    box, whole = text.get_window_extent(), text.get_figure(root=True).bbox
    free = 1.0  # pixels
    if hasattr(text, "get_texts"):  # a legend without a frame ends before its border
        free += (
            text.borderpad * text.prop.get_size_in_points() * text.get_figure(root=True).dpi / 72
        )
    inside = box.x0 >= -free and box.x1 <= whole.x1 + free
    return box.width > 0 and not (inside and box.y0 >= -free and box.y1 <= whole.y1 + free)


def _unmarked(ax):
    """Say which intervals leave the axes without a triangle of their colour on the edge."""
    bottom, top = sorted(ax.get_ylim())
    marks = {
        (tuple(np.round(mark.get_facecolor()[0][:3], 6)), float(mark.get_offsets()[0][1]))
        for mark in ax.collections
        if isinstance(mark, PathCollection) and len(mark.get_offsets()) == 1
    }
    found = []
    for colour, corners in intervals(ax):
        colour = tuple(np.round(colour, 6))
        for beyond, edge in ((corners[:, 1].max() > top, 1.0), (corners[:, 1].min() < bottom, 0.0)):
            if beyond and (colour, edge) not in marks:
                found.append(f"an interval leaves {ax.get_title(loc='left')!r} unmarked")
    return found
