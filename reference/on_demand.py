"""Prediction on demand, one row and one node at a time.

A feature is computed when a row's path first tests it, and never again for that row. What one
acquisition brings together (a group) is computed together. The cost is what the cost meter of
:mod:`reference.costs` would count: here the purchases happen.

=========  ============================================================
symbol     name
=========  ============================================================
β          ``feature_costs``, price per row of a feature (of its group)
α          ``split_cost``, price of evaluating one split node
ε_m        ``feature_sharing``, rows that share one evaluation
=========  ============================================================

Deliberately absent: batches (only one row is ever asked for at a time), and splits of categories.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from reference import costs
from reference.boosting import Model, n_split_nodes


@dataclass(frozen=True)
class OnDemand:
    """Raw scores (n, K), split nodes passed (n, d) by feature, purchases, and cost (n,).

    ``purchases`` lists (key, row) in the order in which the functions were called.
    """

    scores: np.ndarray
    passed: np.ndarray
    purchases: list[tuple[int, int]]
    cost: np.ndarray


def buy(function: Callable, row, n_features: int) -> np.ndarray:
    """Values (n_features,) that one acquisition brings for one row."""
    return np.reshape(np.asarray(function([row]), dtype=np.float64), n_features)


def predict(
    model: Model,
    functions: Mapping[int, Callable],
    rows,
    n_features: int,
    *,
    feature_groups=None,
    **prices,
) -> OnDemand:
    """Predict each row with the features that it asks for.

    Parameters
    ----------
    model : Model
    functions : mapping
        From a feature's number, or from its group's label, to a function of a list of rows that
        returns the value (1,), or the values (1, size of the group), for a list of one.
    rows : sequence
        What the functions understand.
    n_features : int
        Number d of features.
    feature_groups, **prices
        As in :func:`reference.costs.prediction_cost`.
    """
    keys = range(n_features) if feature_groups is None else list(feature_groups)
    scores = np.tile(model.initial_scores, (len(rows), 1))
    passed = np.zeros((len(rows), n_features), dtype=np.int64)
    purchases = []
    for i, row in enumerate(rows):
        known: dict[int, float] = {}  # features that this row has
        for trees_of_round in model.rounds:
            for k, tree in enumerate(trees_of_round):
                node = 0
                while tree.feature[node] >= 0:
                    m = int(tree.feature[node])
                    if m not in known:
                        brings = [j for j in range(n_features) if keys[j] == keys[m]]
                        values = buy(functions[keys[m]], row, len(brings))
                        known.update(zip(brings, values, strict=True))
                        purchases.append((keys[m], i))
                    passed[i, m] += 1
                    x = known[m]
                    goes_left = x <= tree.threshold[node]
                    if np.isnan(x):  # bought and paid for, but there is none
                        goes_left = tree.missing_left[node]
                    node = tree.left[node] if goes_left else tree.right[node]
                scores[i, k] += model.learning_rate * tree.value[node]
    prices["feature_groups"] = feature_groups
    cost = costs.prediction_cost(passed, n_split_nodes(model), **prices)
    return OnDemand(scores, passed, purchases, cost)
