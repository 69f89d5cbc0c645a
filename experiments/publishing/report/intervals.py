"""Draws both intervals of a preregistered claim in its unit, ±δ shaded, a dot for each set."""

from __future__ import annotations

import math

from markupsafe import Markup

from experiments.publishing.claim_lines import Line

_WIDTH, _HEIGHT, _MARGIN, _MIDDLE = 240, 44, 8, 13


def drawn(line: Line) -> Markup:
    """Return the picture of a claim, nothing before it has an interval.

    The axis reaches as far as anything that is drawn on it.
    """
    if not math.isfinite(line.found.low):
        return Markup("")
    ends = [line.found.low, line.found.high, *(one.effect for one in line.of_sets)]
    if not math.isnan(line.new.low):
        ends += [line.new.low, line.new.high]
    low, high = min(*ends, -line.delta, 0.0), max(*ends, line.delta, 0.0)

    def x(value: float) -> str:
        return f"{_MARGIN + (value - low) / (high - low) * (_WIDTH - 2 * _MARGIN):.1f}"

    parts = [
        Markup('<rect class="within" x="{}" y="2" width="{:.1f}" height="30"/>').format(
            x(-line.delta), float(x(line.delta)) - float(x(-line.delta))
        ),
        Markup('<path class="grid" d="M{0} 2V32"/>').format(x(0)),
        Markup('<path class="interval" d="M{0} {2}H{1}M{0} {3}V{4}M{1} {3}V{4}"/>').format(
            x(line.found.low), x(line.found.high), _MIDDLE, _MIDDLE - 4, _MIDDLE + 4
        ),
    ]
    if not math.isnan(line.new.low):
        parts.append(
            Markup('<path class="interval new" d="M{} 21H{}"/>').format(
                x(line.new.low), x(line.new.high)
            )
        )
    for one in line.of_sets:
        parts.append(Markup('<circle class="set" cx="{}" cy="29" r="2.5"/>').format(x(one.effect)))
    parts.append(
        Markup('<circle class="effect" cx="{}" cy="{}" r="4"/>').format(x(line.effect), _MIDDLE)
    )
    parts.append(Markup('<text x="{}" y="43" text-anchor="middle">0</text>').format(x(0)))
    return Markup(
        '<svg class="of-claim" role="img" aria-label="{}" viewBox="0 0 {} {}" width="{}">{}</svg>'
    ).format(words(line), _WIDTH, _HEIGHT, _WIDTH, Markup("").join(parts))


def words(line: Line) -> str:
    """Say what the picture shows."""
    sets = "; ".join(
        f"{name} {one.effect:+.3g}" for name, one in zip(line.sets, line.of_sets, strict=False)
    )
    text = (
        f"Effect {line.effect:+.3g} {line.unit}, on these data from {line.found.low:+.3g} to "
        f"{line.found.high:+.3g}"
    )
    if not math.isnan(line.new.low):
        text += f", for new data from {line.new.low:+.3g} to {line.new.high:+.3g}"
    return f"{text}; {sets}; δ is {line.delta:g}".replace("-", "−")
