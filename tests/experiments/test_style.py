"""What all pictures share: axes that show the intervals, marks where they do not, free corners."""

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from experiments.looks import LOOKS
from experiments.style import (
    FARTHEST,
    draw_curve,
    drawn_curves,
    frame,
    house_style,
    log_cost_axis,
    mark,
    picture_bytes,
)
from tests.experiments.pictures import unreadable

COST = np.array([1.0, 10.0, 100.0])
SCORE = np.array([0.5, 0.6, 0.62])


@pytest.fixture
def figure():
    with house_style("style"):
        yield Figure(figsize=(4, 3), layout="constrained")


def drawn(figure, spread, n_axes=1):
    axes = figure.subplots(1, n_axes, squeeze=False)[0]
    for i, ax in enumerate(axes):
        draw_curve(ax, "cegb", COST, SCORE, SCORE - spread / (1 + i), SCORE + spread / (1 + i))
    frame(axes, SCORE)
    picture_bytes(figure, "png", "style")
    return axes


def test_bands_are_inside_the_axes(figure):
    (ax,) = drawn(figure, 0.14)
    bottom, top = ax.get_ylim()
    assert bottom < 0.36
    assert top > 0.74
    assert not ax.texts
    assert unreadable(figure) == []


def test_what_goes_too_far_is_marked_and_said(figure):
    (ax,) = drawn(figure, 0.3)
    assert ax.get_ylim() == pytest.approx((0.5 - FARTHEST * 0.12, 0.62 + FARTHEST * 0.12))
    assert [text.get_text() for text in ax.texts] == ["▲ goes on to 0.92", "▼ goes on to 0.2"]
    assert unreadable(figure) == []
    for triangle in ax.collections[1:]:
        triangle.remove()
    assert len(unreadable(figure)) == 2


def test_a_curve_that_goes_on_is_marked(figure):
    ax = figure.subplots()
    draw_curve(ax, "cegb", COST, SCORE, SCORE, SCORE)
    frame(ax, SCORE[1:])
    assert [text.get_text() for text in ax.texts] == ["▼ goes on to 0.5"]


def test_marks_at_one_place_stand_side_by_side(figure):
    ax = figure.subplots()
    for method in ("mddag_i", "mddag_i_descent", "cegb"):
        draw_curve(ax, method, COST, SCORE, SCORE, SCORE)
    frame(ax, SCORE[1:])
    picture_bytes(figure, "png", "style")
    marks = [mark for mark in ax.collections if isinstance(mark, PathCollection)]
    offsets = [mark.get_offset_transform().transform(mark.get_offsets())[0] for mark in marks]
    widths = np.diff([x for x, _ in offsets]) * 72 / figure.dpi
    np.testing.assert_allclose(widths, [6, 6])
    assert unreadable(figure) == []


def test_several_panels_share_their_scores(figure):
    one, other = drawn(figure, 0.14, n_axes=2)
    assert one.get_ylim() == other.get_ylim()
    assert unreadable(figure) == []


def test_no_interval_goes_beyond_what_a_score_can_be(figure):
    ax = figure.subplots()
    draw_curve(ax, "cegb", COST, [0.1, 0.5, 0.9], [-0.2, 0.2, 0.6], [0.4, 0.8, 1.2])
    (band,) = ax.collections
    assert (band.get_datalim(ax.transData).y0, band.get_datalim(ax.transData).y1) == (0.0, 1.0)


def test_a_single_point_has_a_bar(figure):
    ax = figure.subplots()
    draw_curve(ax, "cegb", [10.0], [0.5], [0.3], [0.7])
    frame(ax, [0.5])
    bottom, top = ax.get_ylim()
    assert bottom < 0.3 < 0.7 < top


def test_a_gap_is_no_solid_line(figure):
    """Of five points the second and the third, and the last two, have a gap between them."""
    ax = figure.subplots()
    x, y = np.arange(1.0, 6), np.array([1.0, 2, 4, 3, 5]) / 10
    draw_curve(ax, "cegb", x, y, y, y, gaps=[False, True, False, True])
    across, line = ax.get_lines()
    nan = np.nan
    np.testing.assert_array_equal(across.get_xdata(), [2, 3, nan, 4, 5, nan])
    np.testing.assert_array_equal(across.get_ydata(), [0.2, 0.4, nan, 0.3, 0.5, nan])
    np.testing.assert_array_equal(line.get_xdata(), [1, 2, nan, 3, 4, nan, 5])
    assert line.get_markevery() == [0, 1, 3, 4, 6]
    assert across.get_linewidth() < line.get_linewidth()
    assert ax.get_legend_handles_labels()[0] == [line]
    log_cost_axis(ax)
    frame(ax, np.array([0.1, 0.11]))
    mark(ax, {"kind": "synthetic"})
    assert ax.texts[0].get_text() == "▲ goes on to 0.5"
    assert unreadable(figure) == []


@pytest.mark.parametrize(
    ("scores", "corner"), [([0, 1], ("right", "baseline")), ([1, 0], ("left", "baseline"))]
)
def test_a_mark_takes_the_emptiest_corner(figure, scores, corner):
    ax = figure.subplots()
    ax.plot([0, 1], scores)
    mark(ax, {"kind": "synthetic"})
    assert (ax.texts[0].get_ha(), ax.texts[0].get_va()) == corner


@pytest.mark.parametrize("highest", [1.3, 3.0, 9.0, 1000.0])
def test_a_short_axis_has_numbers_too(figure, highest):
    ax = figure.subplots()
    ax.plot([1.0, highest], [0.5, 0.6])
    log_cost_axis(ax)
    low, high = ax.get_xlim()
    assert sum(low <= tick <= high for tick in ax.get_xticks()) >= 3


def test_what_costs_nothing_is_on_the_axis(figure):
    ax = figure.subplots()
    ax.plot([0.0, 5.0, 500.0], SCORE)
    log_cost_axis(ax, with_nothing=True)
    places = ax.transData.transform([[0, 0.5], [5, 0.5], [50, 0.5], [500, 0.5]])[:, 0]
    assert ax.get_xticks()[0] == 0
    assert ax.get_xlim()[0] < 0
    assert places[3] - places[2] == pytest.approx(places[2] - places[1])
    assert places[0] < places[1]


def test_a_title_that_is_cut_is_found(figure):
    figure.subplots().set_title("short", loc="left")
    figure.suptitle("far too long for this figure " * 5)
    picture_bytes(figure, "svg", "style")
    assert [line[:17] for line in unreadable(figure)] == ["leaves the figure"]


def test_curves_are_given_as_numbers():
    """With the name of the panel, which is set after them, in the order of drawing."""
    figure = Figure()
    one, other = figure.subplots(1, 2)
    draw_curve(one, "cegb", [1.0, 10.0], [0.12343, 0.5], [0.1, 0.4], [0.2, 0.6], label="deep\nones")
    draw_curve(other, "gbrt", [10.0], [0.5], [0.3], [0.7])
    one.set_label("a")
    other.set_label("b")
    found = drawn_curves(figure)
    assert found.to_dict("split")["data"] == [
        ["a", "deep ones", 1.0, 0.1234, 0.1, 0.2],
        ["a", "deep ones", 10.0, 0.5, 0.4, 0.6],
        ["b", LOOKS["gbrt"].label, 10.0, 0.5, 0.3, 0.7],
    ]
    assert list(found.columns) == ["panel", "curve", "x", "y", "low", "high"]
    assert drawn_curves(Figure()).empty
