"""Curves as numbers: what the page is given, and that they are those of the picture."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments.lines import Line, LinePanel, Lines
from experiments.publishing import output
from experiments.registry import discover
from experiments.running.provenance import ROOT
from experiments.style import house_style

ARTEFACTS = {artefact.id: artefact for artefact in discover() if artefact.lines is not None}


def record_of(x, y, low, high, *, log_y=False):
    values = (np.array(column, dtype=np.float64) for column in (x, y, low, high))
    panel = LinePanel("t", "cost", "score", log_y, [Line("a", *values)])
    (shown,) = Lines([panel], 5, "an interval").record()["panels"]
    (line,) = shown["lines"]
    return line


def test_numbers_are_short():
    line = record_of([1, 123456], [0.123456, 2], [0.1, 2], [0.2, 2])
    assert line == {
        "label": "a",
        "x": [1, 123500],
        "y": [0.1235, 2],
        "low": [0.1, 2],
        "high": [0.2, 2],
    }
    json.dumps(line, allow_nan=False)


def test_what_no_axis_has_a_place_for_is_left_out():
    columns = ([0, 1, 2, 3], [1, np.nan, 0, 4])
    assert record_of(*columns, *(2 * [columns[1]])) == {"label": "a", "x": [2, 3], "y": [0, 4]}
    line = record_of(*columns, *(2 * [columns[1]]), log_y=True)
    assert line == {"label": "a", "x": [3], "y": [4]}


@pytest.mark.parametrize("name", ["cegb-figure2", "sampling-prediction-cost"])
def test_they_are_the_lines_of_the_picture(name):
    artefact = ARTEFACTS[name]
    rows, meta = output.read_published(ROOT / "results" / name)
    with house_style(name):
        figure = artefact.render(rows, meta)
    drawn = [np.array(line.get_data(), dtype=np.float64) for ax in figure.axes for line in ax.lines]
    lines = artefact.lines(rows, meta)
    assert lines.n == len(meta["seeds"])
    for panel in lines.panels:
        assert panel.lines
        for line in panel.lines:
            own = np.array([line.x, line.y])
            assert any(own.shape == one.shape and np.allclose(own, one) for one in drawn), (
                f"{panel.title}: {line.label} is not in the picture"
            )
            assert (line.low <= line.y).all()
            assert (line.y <= line.high).all()
