"""Grids, rounds and trees that Greedy Miser's README names are those that the cells have."""

from __future__ import annotations

from datasets.features.scenes.detectors import N_DETECTORS
from experiments.greedy_miser_2012 import figure3
from experiments.greedy_miser_2012.show import panels
from tests.experiments.published_rows import readme

README = readme("greedy_miser_2012")


def test_readme_of_grids_and_rounds():
    beyond = ", ".join(f"{value:g}" for value in panels.BEYOND)
    assert f"| λ | 0 to 4 | the same, and {beyond} |" in README
    of_paper = {*panels.LEFT_TRADEOFFS, *panels.RIGHT_TRADEOFFS}
    assert (min(of_paper), max(of_paper)) == (0, 4)
    assert set(panels.TRADEOFFS["laptop"]) == of_paper | set(panels.BEYOND)
    laptop, paper = panels.ROUNDS["laptop"], panels.ROUNDS["paper"]
    assert f"| rounds | {paper:,} | {laptop} |" in README
    assert f"{laptop} rounds instead of {paper:,} at laptop scale." in README
    assert len(panels.MARGINS) == len(panels.LIKELIHOODS) == 8
    assert "early exits with eight margins on λ = 0's model" in README


def test_readme_of_trees_and_costs():
    of = panels.settings("laptop", panels.PANELS[3])
    depth, step = of["max_depth"], of["learning_rate"]
    said = f"depth {depth}, {2**depth} leaves, breadth first, step {step};"
    assert said in README
    cells = figure3.make_cells("laptop", range(1))
    forests = [cell.params["settings"] for cell in cells if "penalties" not in cell.params]
    assert {one["max_depth"] for one in forests} == {3}
    assert f"Scene-15: depth 3, {forests[0]['n_estimators']} rounds of 15 trees." in README
    free = {panel.name for panel in (*panels.PANELS, figure3.SCENES) if panel.tree_cost == 0}
    assert free == {"Thyroid", figure3.SCENES.name}
    assert f"Scene-15 at 200×200, {N_DETECTORS} detectors" in README
    assert "and 1 for each tree (0 on thyroid and Scene-15)." in README
