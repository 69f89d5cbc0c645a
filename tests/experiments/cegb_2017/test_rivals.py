"""CEGB against Greedy Miser itself: a fair design, and cells that are what they say."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import datasets
from algorithms.greedy_miser import GreedyMiserClassifier, GreedyMiserRegressor
from experiments.cegb_2017 import extra_rivals, registered
from experiments.cegb_2017.cells.measure import speaking_queries, train


def cells(method: str, panel: str, scale: str = "smoke"):
    return [
        cell
        for cell in extra_rivals.make_cells(scale, range(1))
        if cell.algorithm == method and cell.params["panel"] == panel
    ]


@pytest.mark.parametrize(("panel", "kind", "step", "tree_cost"), [
    ("d", GreedyMiserClassifier, 0.4, 0.0), ("y", GreedyMiserRegressor, 0.1, 1.0),
])  # fmt: skip
def test_the_rival_is_greedy_miser_itself(panel, kind, step, tree_cost):
    cell = cells("greedy_miser", panel)[1]
    dataset = datasets.load(cell.dataset, scale="smoke", seed=cell.seed)
    by_hand = kind(
        n_estimators=6,
        learning_rate=step,
        max_depth=4,
        min_samples_leaf=20,
        charging="authors",
        init="mean",
        tree_cost=tree_cost,
        tradeoff=cell.params["tradeoff"] * len(dataset.y_train),
        feature_costs=dataset.feature_costs,
        feature_groups=dataset.feature_groups,
    ).fit(dataset.X_train, dataset.y_train)
    np.testing.assert_array_equal(
        train(cell, dataset).predict(dataset.X_test), by_hand.predict(dataset.X_test)
    )


@pytest.mark.parametrize(
    "method", [m for m in extra_rivals.SHOWN if m not in ("gbrt", "greedy_miser")]
)
def test_every_method_goes_on_at_a_negative_gain(method):
    cell = cells(method, "d")[1]
    dataset = datasets.load(cell.dataset, scale="smoke", seed=cell.seed)
    n_splits = []
    for goes_on in (True, False):
        options = {**cell.params["settings"], "goes_on": goes_on}
        params = {**cell.params, "tradeoff": 0.3, "settings": options}
        forest = train(replace(cell, params=params), dataset).trees_
        n_splits.append((forest.feature >= 0).sum())
    assert n_splits[0] > n_splits[1]


@pytest.mark.parametrize("scale", ["laptop", "overnight"])
def test_every_rival_has_as_many_models_as_the_method(scale):
    counted = pd.DataFrame(
        [(c.params["panel"], c.algorithm, c.seed) for c in extra_rivals.make_cells(scale, range(5))]
    ).value_counts()
    for (_, method, _), n in counted.items():
        assert n == (1 if method == "gbrt" else 9)
    ratios = []
    for grid in extra_rivals.TRADEOFFS.values():
        assert grid[0] == 0
        ratios += [b / a for a, b in pairwise(grid[1:])]
    assert max(ratios) <= 10 / 3 * (1 + 1e-9)


def test_no_other_artefact_of_the_paper_has_its_repetitions():
    others = {
        cell.seed
        for artefact in registered.ARTEFACTS
        if artefact.id != "cegb-rivals"
        for cell in artefact.cells("laptop")
    }
    mine = {cell.seed for cell in extra_rivals.ARTEFACT.cells("laptop")}
    assert mine == {5, 6, 7, 8, 9}
    assert not mine & others


def test_widest_gap_by_hand():
    rows = pd.DataFrame(
        {
            "panel": "c",
            "algorithm": "cegb",
            "seed": [5, 5, 5, 5, 6, 6],
            "rounds": [0, 1, 2, 3, 1, 2],
            "valid_cost": [0.0, 1.0, 6.0, 2.0, 5.0, 10.0],
        }
    )
    assert extra_rivals.widest_gap(rows, "c", "cegb") == 3.0
    assert extra_rivals.widest_gap(rows[rows["seed"] == 6], "c", "cegb") == 2.0


def test_share_still_rising_by_hand():
    rows = pd.DataFrame(
        {
            "panel": "c",
            "algorithm": "cegb",
            "seed": 5,
            "tradeoff": [0.0, 0.0, 0.1, 0.1],
            "rounds": [1, 2, 1, 2],
            "valid_score": [0.5, 0.6, 0.6, 0.6],
        }
    )
    assert extra_rivals.share_still_rising(rows, "c", "cegb") == 0.5


def test_speaking_queries_by_hand():
    dataset = datasets.load("yahoo_ltr", scale="smoke", seed=5)
    by_hand = {q for q, y in zip(dataset.query_test, dataset.y_test, strict=True) if y >= 3}
    assert speaking_queries(dataset, 3) == len(by_hand) > 0
    tables = datasets.load("miniboone", scale="smoke", seed=5)
    assert speaking_queries(tables, None) == 0
