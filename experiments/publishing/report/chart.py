"""Draws the history of a benchmark as a small SVG that is part of the page.

Lines are told apart by marker and dashes, not by colour alone; colours are those of the page, so
that they follow its dark and printed forms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

_WIDTH, _HEIGHT = 340, 200
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 332, 12, 168
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "4 2 1 2 1 2")
_MARKS = 4
"""Kinds of markers, see :func:`marker`."""


@dataclass(frozen=True)
class Point:
    """A measured value with its interval."""

    value: float
    low: float
    high: float

    def times(self, factor: float) -> Point:
        """Return it in another unit."""
        return Point(self.value * factor, self.low * factor, self.high * factor)


@dataclass(frozen=True)
class Series:
    """One line: its name, and for each commit a point, or None where nothing was measured."""

    label: str
    points: list[Point | None]

    def shown(self, i: int) -> str:
        """Return the value at a commit as text."""
        point = self.points[i]
        return "–" if point is None else number(point.value)

    def change(self) -> str:
        """Return by how much the latest value differs from the one before, in %."""
        *_, before, last = [None, None, *(point.value for point in self.points if point)]
        if before is None or before == 0:
            return "–"
        return f"{100 * (last / before - 1):+.1f} %".replace("-", "−")


def number(value: float) -> str:
    """Return four significant digits, without an exponent where that is short."""
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.4g}"


def draw(
    title: str, unit: str, series: Sequence[Series], commits: Sequence[str], *, from_zero: bool
) -> Markup:
    """Return the chart as SVG.

    Parameters
    ----------
    title, unit : str
        What is drawn.
    series : sequence of Series
        At least one, with at least one point among them.
    commits : sequence of str
        Short hashes, oldest first; as many as each series has points.
    from_zero : bool
        Start the axis at 0.
    """
    bounds = _bounds(series, from_zero)
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="{escape(_in_words(title, unit, series, commits))}">',
        *_axes(unit, commits, bounds),
    ]
    for i, line in enumerate(series):
        parts += _line(i, line, unit, commits, bounds, alone=len(series) == 1)
    return Markup("\n".join([*parts, "</svg>"]))


def _bounds(series: Sequence[Series], from_zero: bool) -> tuple[float, float]:
    values = [v for line in series for p in line.points if p for v in (p.low, p.high)]
    low, high = min(values), max(values)
    if from_zero:
        return 0.0, high * 1.08 or 1.0
    margin = 0.1 * (high - low) or 0.05 * abs(high) or 1.0
    return low - margin, high + margin


def _x(i: int, n: int) -> float:
    """Return where a commit stands; a single one in the middle."""
    inset = 14
    if n == 1:
        return (_LEFT + _RIGHT) / 2
    return _LEFT + inset + i * (_RIGHT - _LEFT - 2 * inset) / (n - 1)


def _y(value: float, bounds: tuple[float, float]) -> float:
    low, high = bounds
    return _BOTTOM - (value - low) / (high - low) * (_BOTTOM - _TOP)


def _ticks(bounds: tuple[float, float]) -> list[float]:
    """Return three or more round numbers within the bounds."""
    low, high = bounds
    size = 10.0 ** math.floor(math.log10(high - low))
    steps = [factor * size for factor in (1, 0.5, 0.25, 0.2, 0.1)]
    step = next(step for step in steps if math.floor(high / step) - math.ceil(low / step) >= 2)
    return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _axes(unit: str, commits: Sequence[str], bounds: tuple[float, float]) -> Iterator[str]:
    for value in _ticks(bounds):
        y = _y(value, bounds)
        yield f'<line class="grid" x1="{_LEFT}" x2="{_RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{_LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{value:,.6g}</text>'
    if unit:
        middle = (_TOP + _BOTTOM) / 2
        yield (
            f'<text x="10" y="{middle:g}" text-anchor="middle" '
            f'transform="rotate(-90 10 {middle:g})">{escape(unit)}</text>'
        )
    n, below = len(commits), _BOTTOM + 18
    for i in sorted({0, n - 1}):
        anchor = "middle" if n == 1 else ("start", "end")[i > 0]
        x = _x(i, n) if n == 1 else (_LEFT, _RIGHT)[i > 0]
        yield f'<text x="{x:g}" y="{below}" text-anchor="{anchor}">{escape(commits[i])}</text>'


def _line(
    index: int,
    line: Series,
    unit: str,
    commits: Sequence[str],
    bounds: tuple[float, float],
    *,
    alone: bool,
) -> Iterator[str]:
    """Yield a line; it is interrupted nowhere, as a commit need not measure everything.

    All intervals are one element, and a line that is alone is not named at each point: a page of a
    long history is most of it such lines.
    """
    yield f'<g class="line line{index % _MARKS}">'
    n = len(commits)
    there = [(i, _x(i, n), point) for i, point in enumerate(line.points) if point]
    path = " ".join(f"{x:.1f},{_y(point.value, bounds):.1f}" for _, x, point in there)
    dash = _DASHES[index % len(_DASHES)]
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    yield f'<polyline points="{path}"{dashes}/>'
    intervals = "".join(
        f"M{x:.1f} {_y(max(point.low, bounds[0]), bounds):.1f}V{_y(point.high, bounds):.1f}"
        for _, x, point in there
        if point.low < point.high
    )
    if intervals:
        yield f'<path class="cross" d="{intervals}"/>'
    named = "" if alone else f"{line.label} at "
    for i, x, point in there:
        said = f"{named}{commits[i]}: {number(point.value)} {unit}".rstrip()
        if point.low < point.high:
            said += f", {number(point.low)} to {number(point.high)}"
        # What a pointer on the marker is told, in a browser without a script, too.
        mark = marker(index, x, _y(point.value, bounds)).removesuffix("/>")
        yield f"{mark}><title>{escape(said)}</title></{mark[1 : mark.index(' ')]}>"
    yield "</g>"


def marker(index: int, x: float, y: float) -> str:
    """Return the marker of a line: circle, square, triangle, cross."""
    kind = index % _MARKS
    if kind == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'
    if kind == 1:
        return f'<rect x="{x - 3.2:.1f}" y="{y - 3.2:.1f}" width="6.4" height="6.4"/>'
    if kind == 2:
        return f'<path d="M{x:.1f} {y - 4:.1f}l4 7h-8z"/>'
    return f'<path class="cross" d="M{x - 3.5:.1f} {y - 3.5:.1f}l7 7m0 -7l-7 7"/>'


def key(index: int) -> Markup:
    """Return a small picture of a line, for the legend."""
    dash = _DASHES[index % len(_DASHES)]
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return Markup(
        f'<svg class="key" viewBox="0 0 34 12" width="34" height="12" aria-hidden="true">'
        f'<g class="line line{index % _MARKS}"><polyline points="1,6 33,6"{dashes}/>'
        f"{marker(index, 17, 6)}</g></svg>"
    )


def _in_words(title: str, unit: str, series: Sequence[Series], commits: Sequence[str]) -> str:
    """Return the chart for a reader who cannot see it: first and last value of each line."""
    over = "one commit" if len(commits) == 1 else f"{len(commits)} commits"
    said = []
    for line in series:
        there = [point.value for point in line.points if point]
        change = number(there[0]) + (f" to {number(there[-1])}" if len(there) > 1 else "")
        said.append(f"{line.label} {change}")
    return f"{title}{f', {unit},' if unit else ''} over {over}: {'; '.join(said)}."
