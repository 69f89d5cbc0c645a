"""A page beside the picture: the recommendation first, the curves to be pointed at, the table."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd
from matplotlib.ticker import LogLocator, MaxNLocator

from experiments.compare.choosing import along_the_costs
from experiments.compare.outcome import Outcome, Search
from experiments.compare.plan import plain
from experiments.compare.preparing import Asked
from experiments.compare.reading import shown
from experiments.looks import look_of, name_of

_WIDTH, _HEIGHT = 480, 330
_LEFT, _RIGHT, _ABOVE, _BELOW = 56, 12, 22, 46


def html(
    outcome: Outcome, asked: Asked, search: Search, recommended: list[str], so_far: str
) -> str:
    """Give the page; it holds all it needs.

    Parameters
    ----------
    outcome : Outcome
    asked, search
        What the command was asked.
    recommended : list of str
        A sentence for each budget.
    so_far : str
        What an answer before the last rests on.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).resolve().parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    labels = {method.slug: name_of(method.slug) for method in outcome.methods}
    lines = outcome.table.sort_values(["budget", "valid_score"], ascending=[True, False])
    return environment.get_template("page.html").render(
        title=f"{shown(asked.table)}: {outcome.prepared.task} of {asked.target}",
        recommended=[line.split("; ", 1) for line in recommended],
        metric=outcome.prepared.metric,
        unit=asked.unit or "unit of the costs",
        table=[
            {**line, "label": labels[line["method"]], "budget": plain(line["budget"])}
            for line in lines.to_dict("records")
        ],
        chart=_chart(outcome, search, labels),
        size={
            "width": _WIDTH,
            "height": _HEIGHT,
            "left": _LEFT,
            "right": _WIDTH - _RIGHT,
            "top": _ABOVE,
            "bottom": _HEIGHT - _BELOW,
        },
        so_far=so_far,
        left_out=outcome.left_out,
        notes=outcome.prepared.notes,
    )


def _chart(outcome: Outcome, search: Search, labels: dict[str, str]) -> dict[str, Any]:
    """Give curves in the coordinates of the page, with what is said of each point."""
    curves = along_the_costs(outcome.rows, search.budgets)
    curves = curves[curves["test_cost"] > 0]
    if curves.empty:
        return {"curves": [], "costs": [], "scores": [], "budgets": []}
    costs = np.append(curves["test_cost"].to_numpy(), search.budgets)
    scores = np.append(curves["test_score"].to_numpy(), outcome.constant["test_score"])
    x = _scale(*np.log10([costs.min(), costs.max()]), _LEFT, _WIDTH - _RIGHT)
    y = _scale(scores.min(), scores.max(), _HEIGHT - _BELOW, _ABOVE)
    recommended = set(outcome.table.loc[outcome.table["recommended"], "method"])
    found = []
    for number, method in enumerate(outcome.methods):
        mine: pd.DataFrame = curves[curves["method"] == method.slug]
        if mine.empty:
            continue
        points = [
            {
                "x": round(x(math.log10(row.test_cost)), 1),
                "y": round(y(row.test_score), 1),
                "said": f"{labels[method.slug]}: {row.test_score:.4f} at {row.test_cost:.4g}, "
                f"{row.kind}",
            }
            for row in mine.itertuples()
        ]
        look = look_of(method.slug, number)
        found.append({
            "label": labels[method.slug],
            "colour": look.colour,
            "dashes": _dashes(look.line),
            "points": points,
            "recommended": method.slug in recommended,
        })  # fmt: skip
    return {
        "curves": found,
        "constant": round(y(outcome.constant["test_score"]), 1),
        "answer": outcome.constant["answer"],
        "costs": [
            {"at": round(x(math.log10(t)), 1), "said": f"{t:g}"}
            for t in _ticks(costs.min(), costs.max(), logarithmic=True)
        ],
        "scores": [
            {"at": round(y(t), 1), "said": f"{t:g}"} for t in _ticks(scores.min(), scores.max())
        ],
        "budgets": [
            {"at": round(x(math.log10(b)), 1), "said": plain(b)} for b in sorted(search.budgets)
        ],
    }


def _ticks(low: float, high: float, *, logarithmic: bool = False) -> list[float]:
    """Give round numbers between two: of several decades 1, 2 and 5, or 1 alone."""
    decades = math.log10(high / low) if logarithmic else 0.0
    if decades > 1:
        found = LogLocator(subs=(1, 2, 5) if decades < 3 else (1,)).tick_values(low, high)
    else:
        found = MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(low, high)
    # A step of 0.1 thrice is 0.30000000000000004
    return [float(f"{t:.6g}") for t in found if low <= t <= high]


def _dashes(line) -> str:
    """Give SVG's dashes of a line of matplotlib's."""
    named = {"-": (), "--": (6, 3), ":": (1.5, 2.5), "-.": (6, 2, 1.5, 2)}
    return " ".join(f"{length:g}" for length in (named[line] if line in named else line[1]))


def _scale(low: float, high: float, first: float, last: float):
    width = high - low or 1.0
    return lambda value: first + (value - low) / width * (last - first)
