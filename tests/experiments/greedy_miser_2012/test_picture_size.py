"""Scene-15 on smaller pictures: the same cells, what is compared, the table."""

import numpy as np
import pandas as pd
import pytest

import datasets
from experiments.cell import Cell
from experiments.greedy_miser_2012 import extra_picture_size, figure3
from experiments.greedy_miser_2012.cells import scenes
from tests.experiments.greedy_miser_2012 import test_figure3


@pytest.mark.parametrize("scale", ["smoke", "laptop", "overnight"])
def test_cells_are_those_of_figure_3_on_either_size(scale):
    cells = extra_picture_size.make_cells(scale, range(2))
    whole = [c for c in figure3.make_cells(scale, range(2)) if c.params["panel"] == "s"]
    by_size = {
        name: [c for c in cells if c.dataset == name] for name in ("scene15", "scene15_small")
    }
    assert by_size["scene15"] == whole  # computed once if both artefacts are run
    assert len(cells) == 2 * len(whole)
    for one, other in zip(whole, by_size["scene15_small"], strict=True):
        assert (one.algorithm, one.seed) == (other.algorithm, other.seed)
        assert other.params == {**one.params, "panel": "small"}
    assert {cell.algorithm for cell in whole} == set(extra_picture_size.METHODS)


@pytest.mark.parametrize("algorithm", ["svm_averaged_kernel", "l1_raw_descriptors"])
def test_baselines_are_given_the_pictures_of_their_own_set(monkeypatch, algorithm):
    cell = test_figure3.cell_of(algorithm)
    asked, function = (
        [],
        {"svm_averaged_kernel": "averaged_kernel"}.get(algorithm, "raw_descriptors"),
    )
    loaded = getattr(scenes.scene15, function)

    def noted(**request):
        asked.append(request)
        return loaded(**request)

    monkeypatch.setattr(scenes.scene15, function, noted)
    for name in ("scene15", "scene15_small"):
        dataset = datasets.load(name, scale="smoke", seed=0)
        scenes.measure(Cell(name, algorithm, cell.params, 0), dataset)
    assert [request["name"] for request in asked] == ["scene15", "scene15_small"]


def made_up():
    """Smaller pictures lose 0.01, 0.02, … by draw, and cost nine tenths."""
    large = test_figure3.made_up()
    small = large.assign(panel="small", dataset="scene15_small")
    for part in ("valid", "test"):
        small[f"{part}_score"] = large[f"{part}_score"] - 0.01 * (1 + large["seed"])
        small[f"{part}_cost_paper"] = 0.9 * large[f"{part}_cost_paper"]
    return pd.concat([large, small], ignore_index=True)


META = {
    **test_figure3.META,
    "data": {name: test_figure3.META["data"]["scene15"] for name in ("scene15", "scene15_small")},
}


def test_comparison_by_hand():
    rows = made_up()
    for algorithm, setting in (("stagewise", {}), ("greedy_miser", {"tradeoff": 1.0})):
        found = extra_picture_size.compared(rows, algorithm, **setting)
        np.testing.assert_allclose(found["change"], [-0.01, -0.02, -0.03, -0.04, -0.05])
        np.testing.assert_allclose(found["cost"], 0.9)
    names = [name for name, *_ in extra_picture_size.tried(rows)]
    assert names[1] == "Greedy Miser, λ = 1"
    assert len(names) == 5


def test_table_and_words():
    text = extra_picture_size.render(made_up(), META)
    assert "| Greedy Miser, λ = 1 | 0.7920 | 0.7620 | -0.0300 ± 0.0158 | 100 | 90 |" in text
    # ℓ1 at 0.70 + 0.001 · draw lies 0.038 below 0.74, on smaller pictures 0.03 more.
    assert "| accuracy | +0.0380 ± 0.0016 | +0.0680 ± 0.0142 |" in text
    assert "SYNTHETIC" not in text
    assert "Greedy Miser, λ = 1 -0.0300 and 0.90" in extra_picture_size.alt(made_up(), META)
    data = {name: {**record, "kind": "synthetic"} for name, record in META["data"].items()}
    assert "(SYNTHETIC)" in extra_picture_size.render(made_up(), {**META, "data": data})
    assert "(SYNTHETIC)" in extra_picture_size.alt(made_up(), {**META, "data": data})
