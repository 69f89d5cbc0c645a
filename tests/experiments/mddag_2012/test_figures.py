"""The figures of MDDAG: grids, claims by hand, pictures of made-up rows."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from experiments.artefact import SCALES
from experiments.cell import Cell
from experiments.looks import LOOKS
from experiments.mddag_2012 import extra_choices, extra_costs, figure1, figure2, figure3
from experiments.mddag_2012.cells import dags
from experiments.mddag_2012.cells.dags import METHODS
from experiments.mddag_2012.cells.operating import FPRS
from experiments.mddag_2012.cells.rows import edge_row, run_row
from experiments.mddag_2012.cells.variants import VARIANTS
from experiments.mddag_2012.registered import ARTEFACTS
from experiments.mddag_2012.show import dag, panels
from experiments.mddag_2012.show.comparison import CASCADES, DETECTORS, MDDAG
from experiments.style import house_style
from tests.experiments.pictures import all_axes, unreadable


def meta_of(*datasets, kind="real", seeds=5):
    record = {
        "kind": kind,
        "test_overlap": 0.0,
        "cost_unit": "units",
        "n_features": 20,
        "rows": {"train": 7000, "valid": 2500, "test": 2500},
    }
    data = {name: dict(record) for name in datasets}
    return {"scale": "laptop", "seeds": list(range(seeds)), "data": data}


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


def test_each_method_drawn_has_a_look_of_its_own():
    drawn = {"adaboost", *CASCADES, *MDDAG, *DETECTORS}
    assert set(DETECTORS) == set(dags.DETECTORS)
    assert drawn <= set(LOOKS)
    assert set(MDDAG) == set(METHODS)
    assert set(extra_costs.METHODS) <= set(LOOKS)


def test_artefacts_are_declared():
    assert [a.id for a in ARTEFACTS] == [
        "mddag-choices", "mddag-costs", "mddag-figure1", "mddag-figure2", "mddag-figure3",
    ]  # fmt: skip
    for artefact in ARTEFACTS:
        for scale in SCALES:
            assert artefact.cells(scale)


# --- Figure 1 -------------------------------------------------------------------------------------


def toy_rows(seeds=range(5)):
    """Two clusters of ten points: 1-2-4 and 1-3, and one point of the second that takes both."""
    rows = []
    for seed in seeds:
        for method in figure1.METHODS:
            points, paths = [], {}
            for i in range(20):
                cluster = int(i >= 10)
                path = (1, 2, 3) if i == 19 else ((1, 2, 4), (1, 3))[cluster]
                paths.setdefault(path, [0, 0])[cluster] += 1
                margin = 1.0 - 0.1 * len(path) + 0.001 * ((i * 7 + seed) % 5)
                points.append((float(i), -float(i), cluster, margin, len(path)))
            rows += list(listed(seed, method, points, paths))
    return pd.DataFrame(rows)


def listed(seed, method, points, paths):
    empty = {"item": 0, "next": 0, "x_1": np.nan, "x_2": np.nan, "cluster": -1, "evaluations": 0}
    empty |= {"margin": np.nan, "first": 0, "second": 0, "objective": np.nan}
    base = {"seed": seed, "dataset": "toy", "algorithm": "mddag", "method": method, **empty}
    for i, (a, b, cluster, margin, evaluations) in enumerate(points):
        yield base | {
            "record": "point", "item": i, "x_1": a, "x_2": b, "cluster": cluster,
            "margin": margin, "evaluations": evaluations,
        }  # fmt: skip
    used, edges = {}, {}
    for path, counts in paths.items():
        for k in (0, 1):
            for node in path:
                used.setdefault(node, [0, 0])[k] += counts[k]
            for edge in pairwise(path):
                edges.setdefault(edge, [0, 0])[k] += counts[k]
    for node, counts in used.items():
        yield base | {"record": "classifier", "item": node, "first": counts[0], "second": counts[1]}
    for (a, b), counts in edges.items():
        yield base | {
            "record": "edge", "item": a, "next": b, "first": counts[0], "second": counts[1],
        }  # fmt: skip
    ordered = sorted(paths.items(), key=lambda item: -sum(item[1]))
    for rank, (path, counts) in enumerate(ordered, start=1):
        yield base | {
            "record": "path", "item": rank, "evaluations": len(path), "first": counts[0],
            "second": counts[1],
        }  # fmt: skip
    for item in (0, 10_000, 20_000):
        yield base | {"record": "score", "item": item, "objective": 0.05 + 1e-6 * item}


def test_picture_of_figure_1():
    rows, meta = toy_rows(), meta_of("toy")
    with house_style("x"):
        figure = figure1.render(rows, meta)
    assert unreadable(figure) == []
    texts = [t.get_text() for ax in all_axes(figure) for t in ax.texts]
    assert {"1", "2", "3", "4"} <= set(texts)


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


# --- Figure 2 -------------------------------------------------------------------------------------

RUNS = {  # method: (evaluations, TPR)
    "adaboost": [(j, 1 - 0.5 / j) for j in range(1, 31)],
    "viola_jones": [(2, 0.70), (10, 0.92), (30, 0.97)],
    "fcboost": [(2, 0.65), (12, 0.93), (25, 0.97)],
    "bourdev_cascade": [(3, 0.80), (20, 0.96)],
    "mddag_i": [(1, 0.6), (2, 0.85), (4, 0.90), (20, 0.955)],
    "mddag_i_accuracy": [(2, 0.84), (4, 0.90)],
    "mddag_exp": [(1, 0.6), (2, 0.80), (4, 0.88), (20, 0.975)],
    "mddag_exp_shares": [(1, 0.6), (6, 0.90), (30, 0.985)],
    "mddag_exp_slow": [(1, 0.6), (2, 0.82), (4, 0.89), (20, 0.98)],
    "mddag_i_descent": [(2, 0.86), (25, 0.96)],
    "mddag_exp_descent": [(2, 0.81), (25, 0.97)],
}


def detection_rows(seeds=range(5), keys="ac"):
    rows = []
    for panel in panels.PANELS:
        for seed in seeds if panel.key in keys else ():
            for method, points in RUNS.items():
                family = "mddag" if method.startswith("mddag") else method
                cell = Cell(panel.dataset, family, {"panel": panel.key}, seed)
                base = {"dataset": cell.dataset, "algorithm": family, "seed": seed}
                for setting, (n, tpr) in enumerate(points):
                    values = {"train_evaluations": n, "test_evaluations": n + 0.01 * seed}
                    for suffix in FPRS:
                        values |= {
                            f"train_tpr_{suffix}": tpr,
                            f"test_tpr_{suffix}": tpr - 0.001 * seed,
                        }
                    values |= {"train_objective": 0.05, "test_objective": 0.052}
                    about = {"tradeoff": 1 / (n + 1), "size": 30, "negative_weight": 1.0}
                    rows.append({**base, **run_row(cell, method, setting, values, **about)})
                if method == "mddag_i" and seed == 0 and panel.key == "a":
                    edges = {(1, 2): 300, (2, 5): 200, (2, 9): 100, (5, 9): 50, (9, 30): 1}
                    rows += [{**base, **edge_row(cell, method, 2, e, n)} for e, n in edges.items()]
    return pd.DataFrame(rows)


DETECTION_META = meta_of("vj_faces", "cbcl")


@pytest.mark.parametrize(("seeds", "bands"), [(2, False), (3, True)])
def test_bands_of_figure_2_need_three_divisions(seeds, bands):
    rows = detection_rows(range(seeds))
    with house_style("x"):
        ax = Figure().subplots()
        panel = next(panel for panel in figure2.PANELS if panel.key == "a")
        figure2._draw(ax, rows, panel, "10", DETECTION_META["data"]["vj_faces"])
    assert any(len(line.get_xdata()) > 1 for line in ax.lines)
    wide = [band for band in ax.collections if _spread(band) > 1e-6]
    assert bool(wide) is bands


def _spread(band):
    """Return how far a band's lower and upper edges lie apart at most."""
    widths = []
    for path in band.get_paths():
        table = pd.DataFrame(path.vertices, columns=["x", "y"])
        widths.append(table.groupby("x")["y"].agg(np.ptp).max())
    return max(widths, default=0.0)


@pytest.mark.slow
def test_picture_of_figure_2():
    rows = detection_rows()
    with house_style("x"):
        figure = figure2.render(rows, DETECTION_META)
    assert unreadable(figure) == []
    axes = all_axes(figure)
    assert len(axes) == 2 * 3 + 1
    assert "1 of 5 edges" in axes[-1].get_title(loc="left")
    synthetic = meta_of("vj_faces", "cbcl", kind="synthetic")
    with house_style("x"):
        figure = figure2.render(rows[rows["node"] < 0], synthetic)
    axes = all_axes(figure)
    assert all("SYNTHETIC" in ax.get_title(loc="left") for ax in axes)
    assert all(any(t.get_text() == "SYNTHETIC" for t in ax.texts) for ax in axes)


# --- Figure 3 -------------------------------------------------------------------------------------


def ranking_rows(seeds=range(5)):
    rows = []
    for seed in seeds:
        for method, points in RUNS.items():
            if method in CASCADES:
                continue
            for setting, (n, ndcg) in enumerate(points):
                row = {"dataset": "mq2008", "algorithm": "mddag", "seed": seed, "panel": "b"}
                row |= {"method": method, "setting": setting, "tradeoff": 1 / n, "size": 30}
                row |= {f"{part}_ndcg": ndcg - 0.001 * seed for part in ("train", "test")}
                row |= {f"{part}_evaluations": float(n) for part in ("train", "test")}
                rows.append({**row, "fit_seconds": 0.1})
    return pd.DataFrame(rows)


def test_picture_of_figure_3():
    rows, meta = ranking_rows(), meta_of("mq2008")
    with house_style("x"):
        figure = figure3.render(rows, meta)
    assert unreadable(figure) == []
    assert len(figure.axes) == 1


# --- beside the paper -----------------------------------------------------------------------------


def choice_rows():
    rows = []
    for seed in range(5):
        for variant in VARIANTS:
            for setting, beta in enumerate((0.03, 0.01)):
                worse = 0.02 if variant == "rate_decreasing" else 0.0
                values = {
                    name: 0.1 + worse + 0.001 * seed + beta
                    for name in extra_choices.ARTEFACT.tolerances
                }
                row = {"dataset": "vj_faces", "algorithm": "mddag", "seed": seed, "panel": "a"}
                row |= {"variant": variant, "setting": setting, "tradeoff": beta, **values}
                rows.append(
                    {**row, "train_error": 0.1, "train_evaluations": 2.0, "fit_seconds": 1.0}
                )
    return pd.DataFrame(rows)


def test_picture_of_costs():
    rows = []
    for seed in range(5):
        for method in extra_costs.METHODS:
            for setting, cost in enumerate((1.0, 10.0, 50.0)):
                row = {"dataset": "thyroid", "algorithm": "mddag", "seed": seed, "panel": "c"}
                row |= {"method": method, "setting": setting, "tradeoff": 1 / cost, "rounds": 10}
                row |= {f"{part}_score": 0.9 + 0.02 * setting for part in ("valid", "test")}
                row |= {f"{part}_cost": cost for part in ("valid", "test")}
                rows.append({**row, "test_evaluations": 3.0, "fit_seconds": 0.1})
    rows, meta = pd.DataFrame(rows), meta_of("thyroid")
    with house_style("x"):
        figure = extra_costs.render(rows, meta)
    assert unreadable(figure) == []


def test_table_of_choices():
    rows, meta = choice_rows(), meta_of("vj_faces")
    text = extra_choices.render(rows, meta)
    assert set(VARIANTS) == {"ours", *(change.name for change in extra_choices.CHANGES)}
    for says in (change.says for change in extra_choices.CHANGES):
        assert f"| {says} | VJ faces |" in text
