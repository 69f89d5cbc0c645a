"""Draws the interval of a primary claim on an axis in units of δ, ±δ shaded, a dot for each set."""

from __future__ import annotations

import math

from markupsafe import Markup

from experiments.publishing.scoreboard import Line

REACH = 5.0
"""The axis reaches from -5 δ to 5 δ, the same for all claims; what lies beyond has an arrow."""

_WIDTH, _HEIGHT, _MARGIN = 240, 34, 8


def drawn(line: Line) -> Markup:
    """Return the picture of a claim, nothing before its first look."""
    if math.isnan(line.effect):
        return Markup("")
    middle = 13
    parts = [
        Markup('<rect class="within" x="{}" y="2" width="{}" height="22"/>').format(
            _x(-1), _text(float(_x(1)) - float(_x(-1)))
        ),
        Markup('<path class="grid" d="M{0} 2V24"/>').format(_x(0)),
        Markup('<path class="interval" d="M{} {}H{}"/>').format(
            _x(line.low), middle, _x(line.high)
        ),
    ]
    for value in (line.low, line.high):
        parts.append(_end(value, middle))
    for value in line.of_sets:
        parts.append(Markup('<circle class="set" cx="{}" cy="{}" r="2.5"/>').format(_x(value), 21))
    parts.append(
        Markup('<circle class="effect" cx="{}" cy="{}" r="4"/>').format(_x(line.effect), middle)
    )
    for value in (-1, 1):
        sign = "−" if value < 0 else "+"
        parts.append(
            Markup('<text x="{}" y="33" text-anchor="middle">{}δ</text>').format(_x(value), sign)
        )
    return Markup(
        '<svg class="of-claim" role="img" aria-label="{}" viewBox="0 0 {} {}" width="{}">{}</svg>'
    ).format(_words(line), _WIDTH, _HEIGHT, _WIDTH, Markup("").join(parts))


def _x(value: float) -> str:
    """Place of a value in δ, kept on the axis."""
    kept = min(max(value, -REACH), REACH)
    return _text(_MARGIN + (kept + REACH) / (2 * REACH) * (_WIDTH - 2 * _MARGIN))


def _text(number: float) -> str:
    return f"{number:.1f}"


def _end(value: float, middle: int) -> Markup:
    """An arrow where an end lies beyond the axis, else a stroke."""
    x = float(_x(value))
    if abs(value) <= REACH:
        return Markup('<path class="interval" d="M{0} {1}V{2}"/>').format(
            _text(x), middle - 4, middle + 4
        )
    back = _text(x - math.copysign(6, value))
    return Markup('<path class="interval" d="M{0} {1}L{2} {3}L{0} {4}"/>').format(
        back, middle - 4, _text(x), middle, middle + 4
    )


def _words(line: Line) -> str:
    sets = "; ".join(
        f"{name} {value:+.2f}" for name, value in zip(line.sets, line.of_sets, strict=False)
    )
    return (
        f"Effect {line.effect:+.2f} δ, interval from {line.low:+.2f} to {line.high:+.2f} δ; {sets}"
    ).replace("-", "−")
