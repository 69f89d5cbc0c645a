"""Grids, rounds and trees that CEGB's README names are those that the cells have."""

from __future__ import annotations

from experiments.cegb_2017 import extra_peers, figure4
from experiments.cegb_2017.show import design
from experiments.cegb_2017.show.panels import (
    FIRST_ORDER_LOGISTIC,
    LEARNING_RATE,
    METHODS,
    MIN_SAMPLES_LEAF,
)
from tests.experiments.published_rows import readme

README = readme("cegb_2017")


def test_readme_of_grids_and_rounds():
    for key, said in (
        (("uniform", False), "prices of 1 each 0 and {:g} to {:g} ("),
        (("uniform", True), "(both Misers 0 and {:g} to {:g}),"),
        (("priced", False), "published prices 0 and {:g} to {:g} ("),
        (("priced", True), "({:g} and {:g} to {:g})."),
    ):
        grid = design.TRADEOFFS[key]
        assert (len(grid), grid[0]) == (9, 0)
        ends = (grid[1], grid[-1]) if said.count("{") == 2 else (0, grid[1], grid[-1])
        text = said.format(*ends).replace("0.0001", "1e-4")
        assert text.replace("e-0", "e-") in README, text
    rounds, patience = design.ROUNDS["overnight"], design.PATIENCE["overnight"]
    assert f"at most {rounds}, ended after {patience} without a better" in README
    most, longer = design.UNTIL_IT_ENDS_ROUNDS, design.UNTIL_IT_ENDS_PATIENCE
    assert f"on c and d {most:,} and {longer};" in README
    assert f"on a, b, e and f at most {design.THINNED_ROUNDS}, with every other λ" in README
    first, of_two = design.FIRST_SEED, design.UNTIL_IT_ENDS_FIRST_SEED
    said = f"**Repetitions**: {first} to {first + 4}, on c and d {of_two} to {of_two + 4}."
    assert said in README


def test_readme_of_trees_and_searches():
    deep, shallow = METHODS["cegb"], METHODS["cegb_shallow"]
    said = "*Deep*: {} leaves, any depth; *shallow*: {} leaves, depth {}."
    sizes = deep["max_leaves"], shallow["max_leaves"], shallow["max_depth"]
    assert said.format(*sizes) in README
    assert deep["max_depth"] is None
    said = f"at least {MIN_SAMPLES_LEAF} rows in a leaf, step {LEARNING_RATE}."
    assert said in README
    assert f"their step is {FIRST_ORDER_LOGISTIC * LEARNING_RATE:g}," in README
    assert f"Each searches {extra_peers.CONFIGURATIONS['laptop']} configurations;" in README


def test_readme_of_figure_4s_settings():
    rounds = figure4.ROUNDS["laptop"]
    assert figure4.TRADEOFFS["laptop"] == (0, 1e-3, 0.01, 0.1)
    assert f"λ 0, 1e-3, 0.01, 0.1; {', '.join(map(str, rounds))} rounds;" in README
    cells = figure4.ARTEFACT.make_cells("laptop", range(5))
    (leaves,) = {cell.params["settings"]["max_leaves"] for cell in cells}
    (step,) = {cell.params["settings"]["learning_rate"] for cell in cells}
    assert f"{leaves} leaves, step {step}." in README
