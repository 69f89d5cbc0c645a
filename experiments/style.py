"""One style for all figures: colour, marker and line of an algorithm never depend on the plot."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator
from matplotlib.transforms import ScaledTranslation

from datasets.registered import images_named
from experiments.data_kinds import PUBLISHED, is_synthetic
from experiments.looks import look_of

SAVED_DPI = 100
"""Pixels to the inch of a saved picture."""

_SETTINGS = {
    "figure.dpi": 100,
    "savefig.dpi": SAVED_DPI,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.0,
    "svg.fonttype": "none",  # letters of the reader's own: outlines are a quarter of a picture
    "path.simplify": True,
}


_LABEL_ENDS: ContextVar[Mapping[str, str]] = ContextVar("label_ends", default={})  # noqa: B039


@contextlib.contextmanager
def house_style(salt: str, label_ends: Mapping[str, str] | None = None) -> Iterator[None]:
    """Draw in the house's style, whatever the user's own settings are.

    `label_ends` has for methods what the labels of their curves end with.
    """
    token = _LABEL_ENDS.set(label_ends or {})
    try:
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update({**_SETTINGS, "svg.hashsalt": salt})
            yield
    finally:
        _LABEL_ENDS.reset(token)


GAP_IN_WORDS = (
    "thin dotted between two marks: a step across a gap (results/gaps.csv) of some repetition, or "
    "to more than twice the mean cost"
)
"""What a title says of curves that are drawn with their gaps."""

_OVER_A_GAP = {"linestyle": (0, (1, 3)), "linewidth": 0.8, "alpha": 0.7}


def draw_curve(
    ax: Axes,
    algorithm: str,
    x,
    y,
    low,
    high,
    *,
    label: str | None = None,
    most: float = 1.0,
    gaps=None,
) -> None:
    """Draw a curve with its band; a single point has a bar instead."""
    ends = _LABEL_ENDS.get()
    look = look_of(algorithm, list(ends).index(algorithm) if algorithm in ends else 0)
    label = f"{label or look.label}{ends.get(algorithm, '')}"
    every = max(1, len(np.atleast_1d(x)) // 12)
    line_x, line_y = x, y
    if gaps is not None and np.any(gaps):
        before = np.flatnonzero(gaps)
        marked = np.unique(np.r_[np.arange(0, len(x), every), before, before + 1])
        every = [int(i + (before < i).sum()) for i in marked]
        line_x, line_y = interrupted(ax, look.colour, x, y, before)
    ax.plot(
        line_x,
        line_y,
        color=look.colour,
        marker=look.marker,
        linestyle=look.line,
        markevery=every,
        label=label,
    )
    draw_band(ax, look.colour, x, low, high, most=most)
    drawn = ax.get_figure(root=True).__dict__.setdefault("curves", [])
    drawn.append((ax, label, x, y, low, high))


_OF_A_CURVE = ("x", "y", "low", "high")


def drawn_curves(figure: Figure) -> pd.DataFrame:
    """Return what :func:`draw_curve` drew in a figure: for each point its interval."""
    frames = [
        pd.DataFrame(
            {
                "panel": ax.get_label(),
                "curve": " ".join(label.split()),
                **{name: np.atleast_1d(v) for name, v in zip(_OF_A_CURVE, values, strict=True)},
            }
        )
        for ax, label, *values in getattr(figure, "curves", [])
    ]
    if not frames:
        return pd.DataFrame()
    return pd.concat(frames, ignore_index=True).map(_four_digits)


def _four_digits(value: object) -> object:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def interrupted(ax: Axes, colour, x, y, before: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Draw thin dotted lines over a curve's gaps; give the curve without them."""
    ends = np.column_stack([before, before + 1, before])
    across = (np.where([True, True, False], np.asarray(v)[ends], np.nan) for v in (x, y))
    ax.plot(*(v.ravel() for v in across), color=colour, **_OVER_A_GAP)
    x, y = (np.insert(np.asarray(v, float), before + 1, np.nan) for v in (x, y))
    return x, y


def draw_band(ax: Axes, colour, x, low, high, *, most: float = 1.0, alpha: float = 0.15) -> None:
    """Draw the intervals around a curve as a band; around a single point as a bar."""
    low, high = np.clip(low, 0.0, most), np.clip(high, 0.0, most)
    if len(np.atleast_1d(x)) > 1:
        ax.fill_between(x, low, high, color=colour, alpha=alpha, linewidth=0)
    else:  # a band of no width would not be seen
        ax.vlines(x, low, high, color=colour, alpha=4 * alpha, linewidth=1.2)


def headline(figure: Figure, text: str) -> None:
    """Set a figure's title; lines that are wider than the figure are broken."""
    figure.suptitle(text, fontsize=9.5, wrap=True)


def log_cost_axis(ax: Axes, *, with_nothing: bool = False) -> None:
    """Make the cost axis logarithmic, with plain numbers at 1, 2 and 5, or closer on a short axis.

    Call it when all curves are drawn.
    """
    if with_nothing:
        costs = np.concatenate([np.asarray(line.get_xdata(), float) for line in ax.get_lines()])
        linear_to = costs[costs > 0].min()
        ax.set_xscale("symlog", linthresh=linear_to, linscale=0.3)
        ax.set_xlim(left=-0.15 * linear_to)
        high = ax.get_xlim()[1]
        locator = LogLocator(subs=(1, 2, 5)) if high > 5 * linear_to else MaxNLocator(4)
        ticks = locator.tick_values(linear_to, high)
        ax.xaxis.set_major_locator(FixedLocator([0.0, *ticks[ticks >= linear_to]]))
    else:
        ax.set_xscale("log")
        low, high = ax.get_xlim()
        if high < 2.5 * low:
            ax.xaxis.set_major_locator(MaxNLocator(6))
        else:
            subs = (1, 2, 5) if high > 10 * low else (1, 1.5, 2, 3, 4, 6, 8)
            ax.xaxis.set_major_locator(LogLocator(subs=subs))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.tick_params(axis="x", labelrotation=45)


FARTHEST = 1.5
"""How far beyond the curves intervals are shown, above and below, in heights of the curves."""


def frame(axes: Axes | Sequence[Axes], values: np.ndarray, *, headroom: float = 0.0) -> None:
    """Set the score axis to what the curves cover and to the intervals around them.

    One rule for all figures: every band and bar drawn before lies inside, unless it goes beyond
    the curves by more than :data:`FARTHEST` times their height. There the axis ends, a triangle
    on its edge marks each curve or interval that goes on, and the panel says how far.

    Parameters
    ----------
    axes : Axes, or a sequence of them
        Where; several get the same score axis.
    values : (n,) float
        Scores of the curves.
    headroom : float
        Share of the height that stays free above, for labels.
    """
    axes = [axes] if isinstance(axes, Axes) else list(axes)
    low, high = float(np.min(values)), float(np.max(values))
    ends = [y for ax in axes for _, corners in intervals(ax) for y in corners[:, 1]]
    bottom, top = min([low, *ends]), max([high, *ends])
    margin = 0.08 * (top - bottom) or 0.01
    bottom, top = bottom - margin, top + margin
    if high > low:
        farthest = FARTHEST * (high - low)
        bottom, top = max(bottom, low - farthest), min(top, high + farthest)
    top += (top - bottom) * headroom / (1 - headroom)
    for ax in axes:
        ax.set_ylim(bottom, top)
        _mark_what_goes_on(ax, top, 1)
        _mark_what_goes_on(ax, bottom, -1)


def intervals(ax: Axes) -> Iterator[tuple[tuple[float, ...], np.ndarray]]:
    """Give the colour and the (n, 2) corners, in units of the axes, of each band and bar drawn."""
    for drawn in ax.collections:
        if isinstance(drawn, PolyCollection | LineCollection):
            is_band = isinstance(drawn, PolyCollection)
            colour = (drawn.get_facecolor() if is_band else drawn.get_edgecolor())[0]
            paths = [path.vertices for path in drawn.get_paths()]
            corners = np.concatenate(paths) if paths else np.empty((0, 2))
            corners = corners[np.isfinite(corners).all(axis=1)]
            if len(corners):
                yield tuple(colour[:3]), corners


def _curves(ax: Axes) -> Iterator[tuple[tuple[float, ...], np.ndarray]]:
    """Give the colour and the (n, 2) corners, in units of the axes, of each curve drawn."""
    for line in ax.get_lines():
        corners = line.get_xydata()
        corners = corners[np.isfinite(corners).all(axis=1)]  # a curve may have gaps
        if line.get_transform() == ax.transData and len(corners):
            yield to_rgb(line.get_color()), corners


def _mark_what_goes_on(ax: Axes, edge: float, sign: int) -> None:
    """Set a triangle where each curve or interval goes farthest beyond an edge, and say how far.

    The upper edge has the sign 1, the lower one -1.
    """
    at = {}
    for colour, corners in (*_curves(ax), *intervals(ax)):
        x, y = corners[np.argmax(sign * corners[:, 1])]
        if sign * y > max(sign * edge, sign * at.get(colour, (0.0, edge))[1]):
            at[colour] = (x, y)
    if not at:
        return
    side, places = (1 + sign) / 2, set()
    for colour, (x, _) in at.items():
        aside = 0
        while (x, aside) in places:  # another goes on there, too: beside it, not on it
            aside += 1
        places.add((x, aside))
        inches = ax.get_figure(root=True).dpi_scale_trans
        ax.scatter(
            *(x, side),
            transform=ax.get_xaxis_transform() + ScaledTranslation(aside * 6 / 72, 0, inches),
            color=[colour],
            marker="^" if sign > 0 else "v",
            s=16,
            zorder=4,
            clip_on=False,
        )
    farthest = sign * max(sign * y for _, y in at.values())
    ax.text(  # where rising curves are not
        *(0.99 - 0.98 * side, 0.015 + 0.97 * side),
        f"{'▲' if sign > 0 else '▼'} goes on to {farthest:.2g}",
        transform=ax.transAxes,
        ha="left" if sign > 0 else "right",
        va="top" if sign > 0 else "bottom",
        fontsize=6.5,
        color="0.25",
        bbox={"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 1},
    )


def label_points(
    ax: Axes,
    points: Mapping[str, tuple[float, float]],
    width: float = 0.12,
    height: float = 0.98,
) -> None:
    """Name points by a row of labels along the upper edge, with a thin line to each."""
    ax.get_xlim(), ax.get_ylim()  # brings the limits up to date
    to_shares = ax.transScale + ax.transLimits
    ordered = sorted(points, key=lambda name: points[name])
    places = [to_shares.transform(points[name])[0] for name in ordered]
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + width)
    for i, place in reversed(list(enumerate(places))):
        after = places[i + 1] if i + 1 < len(places) else 1.0 + width / 2
        places[i] = min(place, after - width)
    for name, place in zip(ordered, places, strict=True):
        ax.annotate(
            name,
            points[name],
            xytext=(place, height),
            textcoords="axes fraction",
            ha="center",
            va="top",
            fontsize=7,
            arrowprops={"arrowstyle": "-", "color": "0.4", "linewidth": 0.6, "shrinkB": 0},
        )


FADED = "0.7"
"""Colour of what is published and was not computed now."""

_STAMP = (0.42, 0.16)
"""Width and height that a stamp takes, in shares of a panel."""


def mark(ax: Axes, record: Mapping) -> None:
    """Mark a panel that shows nothing real computed now, when all is drawn."""
    if record["kind"] == PUBLISHED:
        _fade(ax)
        _in_a_corner(ax, not_recomputed(record), fontsize=7, color="0.3", zorder=5)
    elif is_synthetic(record):
        _in_a_corner(ax, "SYNTHETIC", fontsize=20, color="0.8", zorder=0)


def not_recomputed(record: Mapping) -> str:
    """Say in narrow lines of published rows that they are no more, and what gets their data."""
    return (
        f"not recomputed (scale {record['scale']});\nfor its data:\npython -m experiments\n"
        f"data fetch {images_named(record['name'])}"
    )


def _fade(ax: Axes) -> None:
    """Draw all that a panel shows in grey."""
    for artist in (*ax.lines, *ax.collections, *ax.texts):
        artist.set_color(FADED)
    for line in ax.lines:
        line.set_markerfacecolor(FADED)
        line.set_markeredgecolor(FADED)
    for patch in (*ax.patches, *ax.spines.values()):
        patch.set_edgecolor(FADED)
    ax.set_title(ax.get_title(loc="left"), loc="left", color="0.4")
    ax.tick_params(colors=FADED, which="both")


def _in_a_corner(ax: Axes, text: str, **how) -> None:
    """Write into a panel's emptiest corner."""
    width, height = _STAMP
    corners = ((1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (1.0, 1.0))

    def n_inside(corner: tuple[float, float]) -> int:
        left, bottom = corner[0] * (1 - width), corner[1] * (1 - height)
        x, y = (points - np.array([[left, bottom]])).T
        return int(((x >= 0) & (x <= width) & (y >= 0) & (y <= height)).sum())

    points = _along_the_curves(ax)
    right, upper = min(corners, key=n_inside)
    ax.text(
        # From below, over what says how far a curve goes on.
        *(0.97 if right else 0.03, 0.95 if upper else 0.1, text),
        transform=ax.transAxes,
        ha="right" if right else "left",
        va="top" if upper else "baseline",
        **how,
    )


def _along_the_curves(ax: Axes) -> np.ndarray:
    """Return points of all that is drawn, (n, 2) in shares of a panel's width and height."""
    ax.get_xlim(), ax.get_ylim()  # brings the limits up to date
    to_shares, points = ax.transScale + ax.transLimits, [np.empty((0, 2))]
    for _, corners in _curves(ax):
        corners = to_shares.transform(corners)
        steps = np.linspace(0.0, len(corners) - 1.0, 20 * len(corners))
        each = [np.interp(steps, np.arange(len(corners)), column) for column in corners.T]
        points.append(np.column_stack(each))
    for dots in ax.collections:
        if isinstance(dots, PathCollection):
            drawn = dots.get_offset_transform().transform(dots.get_offsets())
            points.append(ax.transAxes.inverted().transform(drawn))
    return np.concatenate(points)


def picture_bytes(figure: Figure, kind: str, salt: str) -> bytes:
    """Return a figure as SVG or PNG, the same bytes for the same figure."""
    metadata = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}[kind]
    buffer = io.BytesIO()
    with house_style(salt):
        figure.savefig(buffer, format=kind, metadata=metadata)
    return buffer.getvalue()
