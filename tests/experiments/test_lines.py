"""Curves as numbers: what the page is given, and that they are those of the picture."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from experiments import lines
from experiments.cegb_2017.figure2 import SHOWN
from experiments.curves import curves
from experiments.lines import Line, LinePanel, Lines, lines_of
from experiments.publishing import output
from experiments.registry import discover
from experiments.running.provenance import ROOT
from experiments.style import LOOKS, draw_curve, house_style

ARTEFACTS = {artefact.id: artefact for artefact in discover() if artefact.lines is not None}


def record_of(x, y, low, high, *, log_y=False):
    values = (np.array(column, dtype=np.float64) for column in (x, y, low, high))
    panel = LinePanel("t", "cost", "score", log_y, 5, [Line("a", *values, "#000000")])
    (shown,) = Lines([panel], "an interval").record()["panels"]
    assert shown["n"] == 5
    (line,) = shown["lines"]
    assert (line.pop("label"), line.pop("colour")) == ("a", "#000000")
    return line


def test_numbers_are_short():
    line = record_of([1, 123456], [0.123456, 2], [0.1, 2], [0.2, 2])
    assert line == {"x": [1, 123500], "y": [0.1235, 2], "low": [0.1, 2], "high": [0.2, 2]}
    json.dumps(line, allow_nan=False)
    line = record_of([1, 2], [0.5, 2], [0.5 - 0.01234, 2], [0.5 + 0.01234, 2])
    assert line == {"x": [1, 2], "y": [0.5, 2], "half": [0.012, 0]}


def test_what_no_axis_has_a_place_for_is_left_out():
    columns = ([0, 1, 2, 3], [1, np.nan, 0, 4])
    assert record_of(*columns, *(2 * [columns[1]])) == {"x": [2, 3], "y": [0, 4]}
    assert record_of(*columns, *(2 * [columns[1]]), log_y=True) == {"x": [3], "y": [4]}


def test_gaps_are_those_of_the_points_that_are_left():
    values = np.array([0.0, 1, 2, 3, 4])
    line = Line("a", values, values, values, values, "#000000", gaps=(0, 1, 3))
    (panel,) = Lines([LinePanel("t", "c", "s", False, 5, [line])], "i").record()["panels"]
    assert panel["lines"][0]["x"] == [1, 2, 3, 4]
    assert panel["lines"][0]["gaps"] == [0, 2]


def test_they_are_read_from_the_picture():
    """Curves with bands, a point with a bar, one with its own bar, what no legend names."""

    def render(rows, meta):
        figure = Figure()
        ax, point, other = figure.subplots(1, 3)
        ax.set_title("(p) Set\nreal data", loc="left")
        ax.set(label="p", xlabel="cost\n[coins]", ylabel="score", yscale="log")
        draw_curve(ax, "cegb", [3, 1, 2], [0.3, 0.1, 0.2], [0.2, 0.1, 0.1], [0.4, 0.2, 0.2])
        ax.plot([1, 2], [0.5, 0.6], color="0.5", label="a\nb")
        broken = [1, 2, 3], [0.5, 0.6, 0.7], [0.4, 0.5, 0.6], [0.6, 0.7, 0.8]
        draw_curve(ax, "gbrt", *broken, gaps=[False, True])
        ax.plot([1, 2], [0.7, 0.8], color=LOOKS["cegb"].colour)
        point.set_label("q")
        draw_curve(point, "gbrt", [4.0], [0.5], [0.3], [0.6])
        point.errorbar([5.0], [0.7], yerr=0.1, color="red", label="± sd")
        other.plot([1], [1], label="not a panel")
        return figure

    rows = pd.DataFrame({"panel": ["p", "p", "q"], "seed": [0, 1, 0]})
    shown = lines_of(render, "an interval")(rows, {})
    one, two = shown.panels
    assert (one.title, one.x_label, one.log_y, one.n, one.key, one.number) == (
        *("(p) Set", "cost [coins]", True, 2, "p", 1),
    )
    curve, plain, broken = one.lines
    assert [*broken.x, *broken.y, *broken.gaps] == [1, 2, 3, 0.5, 0.6, 0.7, 1]
    assert [*broken.low, *broken.high] == [0.4, 0.5, 0.6, 0.6, 0.7, 0.8]
    assert not curve.gaps
    assert [plain.label, plain.colour, *plain.low] == ["a b", "#808080", 0.5, 0.6]
    assert (curve.label, curve.colour) == (LOOKS["cegb"].label, LOOKS["cegb"].colour.lower())
    np.testing.assert_array_equal(
        [curve.x, curve.y, curve.low, curve.high],
        [[3, 1, 2], [0.3, 0.1, 0.2], [0.2, 0.1, 0.1], [0.4, 0.2, 0.2]],
    )
    point, own = two.lines
    assert (two.n, two.number, *point.low, *point.high) == (1, 2, 0.3, 0.6)
    assert (own.label, *own.x, *own.low) == ("± sd", 5.0, 0.7)


def test_titles_tell_panels_apart():
    assert lines._titles(["(a) S\nreal", "(b) T\nreal\nx", "(b) T\nreal\nx"]) == [
        *("(a) S", "(b) T", "(b) T"),
    ]
    assert lines._titles(["(b) T\nFPR 1", "(b) T\nFPR 2"]) == ["(b) T, FPR 1", "(b) T, FPR 2"]


def test_they_are_what_the_rows_say():
    """Each panel and method of a published figure, from its rows."""
    artefact = ARTEFACTS["cegb-figure2"]
    rows, meta = output.read_published(ROOT / "results" / artefact.id)
    shown = artefact.lines(rows, meta)
    assert len(shown.panels) == rows["panel"].nunique() > 5
    for panel in shown.panels:  # two have seeds of their own
        assert panel.n == rows.loc[rows["panel"] == panel.key, "seed"].nunique() == 5
        for method in SHOWN:
            x, y, low, high = curves(rows, panel.key, method).summary()
            (line,) = [one for one in panel.lines if one.label == LOOKS[method].label]
            np.testing.assert_array_equal([line.x, line.y], [x, y])
            there = pd.Series(x).duplicated(keep=False).to_numpy()
            np.testing.assert_allclose(line.low[~there], np.clip(low, 0, 1)[~there])
            np.testing.assert_allclose(line.high[~there], np.clip(high, 0, 1)[~there])


@pytest.mark.parametrize("name", ["sampling-prediction-cost"])
def test_they_are_the_lines_of_the_picture(name):
    artefact = ARTEFACTS[name]
    rows, meta = output.read_published(ROOT / "results" / name)
    with house_style(name):
        figure = artefact.render(rows, meta)
    drawn = [np.array(line.get_data(), dtype=np.float64) for ax in figure.axes for line in ax.lines]
    for panel in artefact.lines(rows, meta).panels:
        assert panel.n == len(meta["seeds"])
        assert panel.lines
        for line in panel.lines:
            own = np.array([line.x, line.y])
            assert any(own.shape == one.shape and np.allclose(own, one) for one in drawn), (
                f"{panel.title}: {line.label} is not in the picture"
            )
            assert (line.low <= line.y).all()
            assert (line.y <= line.high).all()
