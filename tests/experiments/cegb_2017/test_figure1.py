"""Figure 1: the first tree of a model, node by node."""

import numpy as np
import pandas as pd
import pytest

from experiments.artefact import Cell
from experiments.cegb_2017 import figure1
from experiments.cegb_2017.cells.measure import first_tree, train
from tests.experiments.small_sets import tiny


def cell_of(method):
    cell = next(c for c in figure1.make_cells("smoke", range(1)) if c.algorithm == method)
    # Twelve queries are few rows: the paper's λ would leave no split.
    return Cell(cell.dataset, method, {**cell.params, "tradeoff": 1e-5}, 0)


@pytest.mark.parametrize("method", list(figure1.METHODS))
def test_nodes_are_those_of_the_model(method):
    dataset, cell = tiny(), cell_of(method)
    nodes = pd.DataFrame(first_tree(cell, dataset)).set_index("node")
    model = train(cell, dataset).set_params(n_estimators=1)
    model.fit(dataset.X_train, dataset.y_train)
    leaves = nodes[nodes["order"] < 0]
    assert len(leaves) > 2
    assert leaves["count"].sum() == len(dataset.y_train)
    # Every row pays what its leaf says, by the cost meter of a model of this one tree.
    paid = model.prediction_cost(
        dataset.X_train, feature_costs=dataset.feature_costs, split_cost=0.0
    )
    by_leaf = np.repeat(leaves["cost"], leaves["count"].astype(int))
    np.testing.assert_allclose(np.sort(paid), np.sort(by_leaf), rtol=1e-5)


@pytest.mark.parametrize("method", list(figure1.METHODS))
def test_splits_are_numbered_as_they_were_made(method):
    """A model with fewer leaves has made the same first splits."""
    dataset, cell = tiny(), cell_of(method)
    whole = pd.DataFrame(first_tree(cell, dataset))
    n_splits = int((whole["order"] >= 0).sum())
    assert n_splits > 2
    for k in range(1, n_splits):
        settings = {**cell.params["settings"], "max_leaves": k + 1}
        smaller = Cell(cell.dataset, method, {**cell.params, "settings": settings}, 0)
        part = pd.DataFrame(first_tree(smaller, dataset))
        for order in range(k):
            one, other = (t[t["order"] == order].iloc[0] for t in (whole, part))
            assert (one["feature"], one["count"]) == (other["feature"], other["count"])


def tree():
    columns = ("node", "parent", "order", "feature", "count", "cost", "value")
    rows = [
        (0, -1, 0, 3, 100.0, 0.0, 0.0),
        (1, 0, -1, -1, 75.0, 10.0, 1.0),
        (2, 0, 1, 3, 25.0, 10.0, 0.0),
        (3, 2, -1, -1, 5.0, 10.0, 2.0),
        (4, 2, -1, -1, 20.0, 10.0, 3.0),
    ]
    return pd.DataFrame(rows, columns=columns)


def test_layout_and_mean_cost():
    place = figure1.layout(tree())
    assert [place[n][0] for n in (1, 3, 4)] == [0.0, 1.0, 2.0]
    assert place[2][0] == 1.5
    # A level lower, though the second use of the feature is free.
    assert place[3][1] > place[2][1] > place[0][1]
    assert figure1.mean_cost(tree()) == 10.0
