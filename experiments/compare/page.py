"""A page beside the picture: the recommendation first, the curves to be pointed at, the table."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd

from experiments.compare.choosing import along_the_costs
from experiments.compare.outcome import Outcome, Search
from experiments.compare.plan import plain
from experiments.compare.preparing import Asked
from experiments.compare.reading import shown
from experiments.looks import look_of, name_of

_WIDTH, _HEIGHT, _MARGIN = 860, 420, 56


def html(outcome: Outcome, asked: Asked, search: Search, recommended: list[str]) -> str:
    """Give the page; it holds all it needs.

    Parameters
    ----------
    outcome : Outcome
    asked, search
        What the command was asked.
    recommended : list of str
        A sentence for each budget.
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
        recommended=recommended,
        metric=outcome.prepared.metric,
        unit=asked.unit or "unit of the costs",
        table=[
            {**line, "label": labels[line["method"]], "budget": plain(line["budget"])}
            for line in lines.to_dict("records")
        ],
        chart=_chart(outcome, search, labels),
        size={"width": _WIDTH, "height": _HEIGHT, "margin": _MARGIN},
        left_out=outcome.left_out,
        notes=outcome.prepared.notes,
    )


def _chart(outcome: Outcome, search: Search, labels: dict[str, str]) -> dict[str, Any]:
    """Give curves in the coordinates of the page, with what is said of each point."""
    curves = along_the_costs(outcome.rows, search.budgets)
    curves = curves[curves["test_cost"] > 0]
    if curves.empty:
        return {"curves": [], "costs": [], "scores": []}
    costs = np.log10(curves["test_cost"].to_numpy())
    scores = np.append(curves["test_score"].to_numpy(), outcome.constant["test_score"])
    x = _scale(costs.min(), costs.max(), _MARGIN, _WIDTH - _MARGIN)
    y = _scale(scores.min(), scores.max(), _HEIGHT - _MARGIN, _MARGIN / 2)
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
        colour = look_of(method.slug, number).colour
        found.append({"label": labels[method.slug], "colour": colour, "points": points})
    return {
        "curves": found,
        "constant": round(y(outcome.constant["test_score"]), 1),
        "costs": [
            {"at": round(x(t), 1), "said": f"{10**t:.3g}"}
            for t in np.linspace(costs.min(), costs.max(), 6)
        ],
        "scores": [
            {"at": round(y(t), 1), "said": f"{t:.3f}"}
            for t in np.linspace(scores.min(), scores.max(), 5)
        ],
    }


def _scale(low: float, high: float, first: float, last: float):
    width = high - low or 1.0
    return lambda value: first + (value - low) / width * (last - first)
