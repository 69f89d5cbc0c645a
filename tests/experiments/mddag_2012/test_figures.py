"""The figures of MDDAG: grids, how the DAG is laid out, pictures of what is published."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from experiments.artefact import SCALES
from experiments.looks import LOOKS
from experiments.mddag_2012 import extra_choices, extra_costs, figure2
from experiments.mddag_2012.cells import dags
from experiments.mddag_2012.cells.dags import METHODS
from experiments.mddag_2012.cells.variants import VARIANTS
from experiments.mddag_2012.show import dag, panels
from experiments.mddag_2012.show.comparison import CASCADES, DETECTORS, MDDAG
from experiments.publishing.output import read_published
from experiments.registry import of_paper
from experiments.running.provenance import ROOT
from experiments.style import house_style
from tests.experiments.drawn_as_published import check_drawn, published
from tests.experiments.pictures import all_axes

# --- grids ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", SCALES)
def test_every_method_has_as_many_settings(scale):
    n = panels.settings(scale)
    grid = panels.betas(scale)
    assert len(grid) * len(panels.NEGATIVE_WEIGHTS) == n
    assert (grid[0], grid[-1]) == panels.BETA_ENDS
    for family in CASCADES:
        settings = panels.grid_of(family, scale)
        assert len(settings) == n, family
        assert len({str(one["given"]) for one in settings}) == n, family
    assert len(extra_costs.weights(scale)) == extra_costs.SETTINGS[scale]


def test_ratios_of_beta_are_equal():
    ratios = [b / a for a, b in pairwise(panels.betas("laptop"))]
    np.testing.assert_allclose(ratios, ratios[0], rtol=0.01)


def test_the_dag_is_drawn_where_beta_is_that_of_figure_1():
    betas = panels.betas("laptop")
    place = panels.dag_setting("laptop")
    assert abs(np.log(betas[place] / 0.01)) == min(abs(np.log(np.array(betas) / 0.01)))


@pytest.mark.parametrize("scale", SCALES)
def test_every_cell_is_declared_once(scale):
    assert all(artefact.cells(scale) for artefact in of_paper("mddag_2012"))


def test_methods_are_those_that_are_trained_and_have_looks():
    assert set(DETECTORS) == set(dags.DETECTORS)
    assert set(MDDAG) == set(METHODS)
    assert set(VARIANTS) == {"ours", *(change.name for change in extra_choices.CHANGES)}
    assert {"adaboost", *CASCADES, *MDDAG, *DETECTORS, *extra_costs.METHODS} <= set(LOOKS)


# --- the DAG --------------------------------------------------------------------------------------


def test_layers_are_the_longest_ways():
    edges = {(1, 2): 5, (2, 4): 5, (1, 3): 7, (3, 4): 1, (1, 4): 1}
    assert dag.layers(edges) == {1: 0, 2: 1, 3: 1, 4: 2}
    assert dag.frequent(edges, 5) == {(1, 2): 5, (2, 4): 5, (1, 3): 7}
    where = dag.places(edges, {2: 1.0, 3: 0.0})
    assert where[2][1] > where[3][1]
    assert len(set(where.values())) == 4


def test_the_widest_way_is_drawn_straight():
    edges = {(1, 2): 9, (2, 5): 3, (2, 7): 6, (7, 9): 5, (5, 9): 3, (1, 8): 1}
    assert figure2.around_main(edges) == {1: 0.0, 2: 0.0, 7: 0.0, 9: 0.0, 5: 1.0, 8: -1.0}


def test_frames_leave_out_what_finds_nothing():
    rates = np.r_[np.zeros(5), 0.1, np.linspace(0.5, 1, 20)]
    assert figure2.worth_seeing(rates).min() >= 0.5
    np.testing.assert_array_equal(figure2.worth_seeing(np.zeros(3)), np.zeros(3))


# --- pictures and tables --------------------------------------------------------------------------


@pytest.mark.parametrize("artefact", published(of_paper("mddag_2012"), slow=["mddag-figure2"]))
def test_what_is_drawn_can_be_read_and_synthetic_data_are_named(artefact):
    _, words = check_drawn(artefact)
    if artefact is figure2.ARTEFACT:
        rows, _ = read_published(ROOT / "results" / artefact.id)
        taken = rows.loc[rows["node"] >= 0, "paths"]
        rare = np.count_nonzero(taken < 0.02 * taken.max())
        assert f"{rare} of {len(taken)} edges" in words


@pytest.mark.parametrize(("n", "bands"), [(2, False), (3, True)])
def test_bands_of_figure_2_need_three_divisions(n, bands):
    """Drawn is one panel, without a DAG."""
    rows, meta = read_published(ROOT / "results" / "mddag-figure2")
    rows = rows[(rows["panel"] == "a") & (rows["node"] < 0)]
    rows = rows[rows["seed"].isin(sorted(rows["seed"].unique())[:n])]
    with house_style("x"):
        figure = figure2.render(rows, meta)
    axes = all_axes(figure)
    assert len(axes) == 3
    assert all(any(len(line.get_xdata()) > 1 for line in ax.lines) for ax in axes)
    wide = [band for ax in axes for band in ax.collections if _spread(band) > 1e-6]
    assert bool(wide) is bands


def _spread(band):
    """Return how far a band's lower and upper edges lie apart at most."""
    widths = []
    for path in band.get_paths():
        table = pd.DataFrame(path.vertices, columns=["x", "y"])
        widths.append(table.groupby("x")["y"].agg(np.ptp).max())
    return max(widths, default=0.0)
