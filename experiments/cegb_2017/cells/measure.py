"""Trains one model; follows its score and cost, describes its first tree, or varies it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from sklearn.base import is_classifier
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from algorithms.costs import model_cost
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.interop import from_scikit_learn
from algorithms.metrics import accuracy, average_precision_at_k, ndcg_at_k
from experiments.cell import Cell, rounded
from experiments.evaluate import fibonacci_rounds, follow, measured
from experiments.methods.trees import paid_once, unfitted

PLACES = 5
"""Places of the average precision, AP@5."""

AVERAGE_PRECISION, NDCG = "average_precision", "ndcg"
"""By which rankings are scored."""

MISER_TREE_COST = 1.0
"""A tree of depth four "approximately costs as much as" a feature of cost 1 (section 5)."""


def make_estimator(cell: Cell, dataset):
    """Return the unfitted estimator of a cell."""
    options, task = cell.params["settings"], dataset.task
    shape = ("n_estimators", "learning_rate", "max_leaves", "max_depth", "min_samples_leaf")
    settings = {name: options[name] for name in (*shape, "growth")}
    settings |= {"feature_costs": dataset.feature_costs, "feature_groups": dataset.feature_groups}
    if cell.algorithm == "gbrt":
        return unfitted("gbrt", task, **settings)
    tradeoff, n_rows = cell.params["tradeoff"], len(dataset.y_train)
    if cell.algorithm == "greedy_miser":  # Xu's own, which has breadth-first trees alone
        del settings["max_leaves"], settings["growth"]
        own = {"tradeoff": paid_once(tradeoff, n_rows), "tree_cost": _tree_cost(options)}
        return unfitted("greedy_miser", task, **settings, **own, charging="authors", init="mean")
    settings |= {
        "tradeoff": tradeoff,
        "stop_on_negative_gain": not options.get("goes_on", False),
        "split_cost": options["split_cost"],
    }
    if cell.algorithm == "cegb_as_miser":
        # "features always have to be computed for all instances at once": one feature costs the
        # model what all training rows together would pay; a tree's own cost is the same for all.
        settings |= {"feature_costs": None, "split_cost": 0.0, "second_order": False}
        settings["model_feature_costs"] = dataset.feature_costs * n_rows
    elif cell.algorithm == "cegb_unit_costs":
        settings["feature_costs"] = np.ones_like(dataset.feature_costs)
    return unfitted("cegb", task, **settings)


def _tree_cost(options: dict) -> float:
    """Return what a tree of Greedy Miser costs: nothing where evaluations are free."""
    return MISER_TREE_COST if options["split_cost"] > 0 else 0.0


def train(cell: Cell, dataset):
    """Return the fitted estimator of a cell.

    Of its settings ``binarise`` trains on y > 0 instead of grades; ``patience`` ends the training
    when the validation score has not risen for so many rounds, and keeps those up to the best.
    """
    model, options = make_estimator(cell, dataset), cell.params["settings"]
    y = dataset.y_train
    if options["binarise"]:
        y = (y > 0).astype(np.float64)
    if "patience" not in options:
        return _fit(model, dataset.X_train, y)
    watched = _watched_score(dataset, options)
    model.set_params(early_stopping_rounds=options["patience"], eval_metric=watched)
    validation = (dataset.X_valid, dataset.y_valid)
    if dataset.task == "ranking":
        validation = (*validation, dataset.query_valid)
    return _fit(model, dataset.X_train, y, eval_set=validation)


def _watched_score(dataset, options: Mapping):
    """Return what ends a training: the score that chooses models, too."""
    if dataset.task != "ranking":
        return "accuracy"
    return lambda y, scores, queries: _ranked(y, scores[:, 0], queries, options)


def _ranked(y, scores, queries, options: Mapping) -> float:
    """Return AP@5 or NDCG@5."""
    metric = options.get("metric", AVERAGE_PRECISION)
    if metric == NDCG:
        return ndcg_at_k(y, scores, queries, PLACES)
    if metric != AVERAGE_PRECISION:
        raise ValueError(f"metric is {AVERAGE_PRECISION} or {NDCG}, not {metric!r}.")
    return average_precision_at_k(
        y, scores, queries, PLACES, relevant_from=options["relevant_from"]
    )


def _fit(model, X, y, eval_set=None):
    with warnings.catch_warnings():
        # A large tradeoff may leave no split worth its cost; round 0 records that.
        warnings.simplefilter("ignore", ConstantModelWarning)
        # scikit-learn's boosting knows no validation set.
        return model.fit(X, y) if eval_set is None else model.fit(X, y, eval_set=eval_set)


def first_tree(cell: Cell, dataset) -> list[dict]:
    """Train the model of a cell and describe its first tree, in which nothing is paid for yet."""
    forest = train(cell, dataset).trees_
    n_nodes = int(forest.tree[1])
    left = forest.left[:n_nodes]
    splits = np.flatnonzero(left >= 0)
    # The children of a split are appended as it is made.
    order = np.full(n_nodes, -1)
    order[splits[np.argsort(left[splits])]] = np.arange(len(splits))
    parent, paid = np.full(n_nodes, -1), [frozenset()] * n_nodes
    for node in splits:  # parents have lower numbers
        for child in (left[node], left[node] + 1):
            parent[child] = node
            paid[child] = paid[node] | {int(forest.feature[node])}
    prices = dataset.feature_costs
    return [
        {
            "tradeoff": cell.params["tradeoff"],
            "node": node,
            "parent": int(parent[node]),
            "order": int(order[node]),
            "feature": int(forest.feature[node]),
            "count": float(forest.count[node]),
            "cost": rounded(sum(prices[m] for m in sorted(paid[node]))),
            "value": rounded(forest.value[node]),
        }
        for node in range(n_nodes)
    ]


def traced(model, cell: Cell, dataset) -> list[dict]:
    """Measure a fitted model at every checkpoint."""
    wanted = fibonacci_rounds(model.n_estimators_)
    rows = []
    for rounds, row in measured(wanted, lambda part: _follow(model, cell, dataset, part, wanted)):
        forest = _forest_cost(model, cell, dataset, rounds)
        for part in ("valid", "test"):
            metered = row[f"{part}_cost"]
            row[f"{part}_cost_paper"] = metered if forest is None else rounded(forest)
        key = {"panel": cell.params["panel"], "tradeoff": cell.params["tradeoff"]}
        rows.append({**key, "rounds": rounds, **row})
    return rows


def trace_and_describe(cell: Cell, dataset) -> list[dict]:
    """Train a cell's model, measure it at checkpoints, say what it is like and who can judge it."""
    model = train(cell, dataset)
    whole = {
        "rounds_trained": max(len(model.validation_scores_), model.n_estimators_),
        "speaking_queries": speaking_queries(dataset, cell.params["settings"]["relevant_from"]),
        **described(model, dataset),
    }
    return [row | whole for row in traced(model, cell, dataset)]


def described(model, dataset) -> dict[str, float]:
    """Return how deep a model's trees and paths are, and how many rows buy dear features."""
    forest = model.trees_
    if forest.n_trees == 0:
        return {"test_dear": 0.0, "mean_depth": 0.0, "mean_path": 0.0}
    prices = dataset.feature_costs
    dear = model.acquired_features(dataset.X_test)[:, np.flatnonzero(prices == prices.max())]
    described = {
        "test_dear": np.mean(np.asarray(dear.sum(axis=1)).ravel() > 0),
        "mean_depth": np.mean(np.maximum.reduceat(forest.depth, forest.tree[:-1])),
        "mean_path": np.mean(model.evaluations(dataset.X_test)) / forest.n_trees,
    }
    return {name: rounded(float(value)) for name, value in described.items()}


def _follow(model, cell: Cell, dataset, part: str, wanted) -> Iterator[tuple[float, float]]:
    """Yield score and mean cost of a part of the data at the wanted rounds."""
    X = getattr(dataset, f"X_{part}")
    if wanted == [0]:
        yield _score(model.predict(X), cell, dataset, part), 0.0
        return
    split_cost = cell.params["settings"]["split_cost"]
    prices = {"feature_costs": dataset.feature_costs, "split_cost": split_cost}
    for predicted, cost in follow(model, X, wanted, **prices):
        yield _score(predicted, cell, dataset, part), float(np.mean(cost))


def score(predicted, dataset, part: str, options: Mapping) -> float:
    """Return accuracy of predicted classes, or AP@5 of predicted grades, or their NDCG@5.

    Parameters
    ----------
    predicted : (n,) ndarray
    dataset : Dataset
    part : {"valid", "test"}
    options : Mapping
        Of ranking sets ``relevant_from``, the smallest relevant grade, and ``metric``, which is
        ``average_precision`` where it says nothing else.
    """
    y = getattr(dataset, f"y_{part}")
    if dataset.task != "ranking":
        return accuracy(y, predicted)
    queries = getattr(dataset, f"query_{part}")
    return _ranked(y, predicted, queries, options)


def speaking_queries(dataset, relevant_from: int | None) -> int:
    """Return how many test queries have a relevant document; 0 where there are no queries.

    On the others AP@5 says nothing.
    """
    if dataset.task != "ranking":
        return 0
    return len(np.unique(dataset.query_test[dataset.y_test >= relevant_from]))


def _score(predicted, cell: Cell, dataset, part: str) -> float:
    return score(predicted, dataset, part, cell.params["settings"])


def _forest_cost(model, cell: Cell, dataset, rounds: int) -> float | None:
    """Return what every row pays if the forest is computed for all rows at once, or None."""
    if cell.algorithm not in ("cegb_as_miser", "greedy_miser"):
        return None
    n_columns = len(model.initial_scores_)
    n_nodes = model.trees_.tree[rounds * n_columns]
    tested = model.trees_.feature[:n_nodes]
    used = np.zeros(dataset.X_train.shape[1], dtype=bool)
    used[tested[tested >= 0]] = True
    trees = _tree_cost(cell.params["settings"]) * rounds * n_columns
    return model_cost(used, dataset.feature_costs, dataset.feature_groups) + trees


def final_score(cell: Cell, dataset) -> list[dict]:
    """Train a variant of a cell's model and measure it once, on the test set.

    ``variant`` of the cell's parameters is one of ``ours``; ``bins_127`` and the like, that many
    bins; ``all_splits``, no stop at a negative gain; ``start_at_zero``; ``exact``, scikit-learn's
    boosting, which sorts instead of binning; ``fewer_rows``, a part of all rows left out.
    """
    variant, settings = cell.params["variant"], cell.params["settings"]
    if variant == "fewer_rows":
        dataset = _without_rows(dataset, cell.params["left_out"], cell.seed)
    model = make_estimator(cell, dataset)
    if variant == "exact":
        model = _exact_thresholds(model)
    elif variant.startswith("bins_"):
        model.set_params(max_bins=int(variant.removeprefix("bins_")))
    elif variant == "all_splits":
        model.set_params(stop_on_negative_gain=False)
    elif variant == "start_at_zero":
        model.set_params(init="zero")
    _fit(model, dataset.X_train, dataset.y_train)
    meter = from_scikit_learn(model) if variant == "exact" else model
    cost = meter.prediction_cost(
        dataset.X_test, feature_costs=dataset.feature_costs, split_cost=settings["split_cost"]
    )
    row = {
        "test_score": _score(model.predict(dataset.X_test), cell, dataset, "test"),
        "test_cost": float(np.mean(cost)),
    }
    key = {"panel": cell.params["panel"], "tradeoff": cell.params["tradeoff"], "variant": variant}
    return [{**key, **{name: rounded(value) for name, value in row.items()}}]


def _exact_thresholds(model):
    """Return scikit-learn's boosting, which tries every threshold, with a model's parameters."""
    exact = GradientBoostingClassifier if is_classifier(model) else GradientBoostingRegressor
    return exact(
        n_estimators=model.n_estimators,
        learning_rate=model.learning_rate,
        max_leaf_nodes=model.max_leaves,
        max_depth=model.max_depth,
        min_samples_leaf=model.min_samples_leaf,
        random_state=0,
    )


def _without_rows(dataset, share: float, seed: int):
    """Return a data set that lacks a random share of the rows of each part."""
    rng = np.random.default_rng([seed, 34])
    kept = {}
    for part in ("train", "valid", "test"):
        X, y = (getattr(dataset, f"{name}_{part}") for name in "Xy")
        rows = np.sort(rng.permutation(len(y))[round(share * len(y)) :])
        kept |= {f"X_{part}": X[rows], f"y_{part}": y[rows]}
    return replace(dataset, **kept)
