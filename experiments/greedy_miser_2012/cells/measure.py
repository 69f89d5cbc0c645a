"""Trains Greedy Miser or a rival of it on a table; follows its score and its two bills.

The paper's bill is that of the whole forest, Eq. (3): every feature that any tree uses, once, and
e for each tree. Beside it the cost meter charges each row for the features on its own paths,
and e for each tree, which all rows pass.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from algorithms.early_exit import EarlyExit
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.metrics import accuracy, ndcg_at_k, ndcg_letor_at_k
from datasets import ranking
from experiments.cell import Cell, at_rounds, rounded
from experiments.evaluate import all_prices, price_with_group, prices_of, rounds_by_tens
from experiments.greedy_miser_2012.cells import pictures
from experiments.methods.trees import unfitted

PLACES = 5
"""Places of the normalised discounted cumulative gain, NDCG@5."""

EVERY = 10
"""The best iteration is looked for among every tenth."""

REFERENCE_RATIO = 0.018
"""Σ_m c_m / Σ_i w_i (y_i - ȳ)² of the Yahoo! training file: its published prices, its published
shares of grades, and weight 10 for grade 0. There λ is the paper's own."""

METRICS = {"ndcg": ndcg_at_k, "ndcg_letor": ndcg_letor_at_k}
"""NDCG as usual, and by the rule of LETOR's program (no discount at rank 2)."""


def row_weights(dataset) -> np.ndarray | None:
    """Return weight 10 for documents of grade 0 (section 6), None for classes."""
    return ranking.copies(dataset.y_train) if dataset.task == "ranking" else None


def spread(dataset) -> float:
    """Return Σ_i w_i (y_i - ȳ)² of the training rows; of classes, summed over their indicators."""
    weights = row_weights(dataset)
    y = dataset.y_train
    if dataset.task != "ranking":
        y = (y[:, None] == np.unique(y)).astype(np.float64)
    mean = np.average(y, axis=0, weights=weights)
    squares = ((y - mean) ** 2).reshape(len(y), -1).sum(axis=1)
    return float(np.sum(squares if weights is None else weights * squares))


def scaled_tradeoff(dataset, tradeoff: float) -> float:
    """Return the λ that means on these data what `tradeoff` means on the paper's.

    Kept is λ · Σ_m c_m / Σ_i w_i (y_i - ȳ)², how far all features together raise the impurity (5)
    beside the impurity that there is at first.
    """
    return tradeoff * REFERENCE_RATIO * spread(dataset) / all_prices(dataset)


def make_estimator(cell: Cell, dataset):
    """Return the unfitted estimator of a cell."""
    params = cell.params
    tradeoff = params["tradeoff"]
    if not params["as_printed"]:
        tradeoff = scaled_tradeoff(dataset, tradeoff)
    options = {"tradeoff": tradeoff, "tree_cost": params["tree_cost"], **params["settings"]}
    return unfitted("greedy_miser", dataset.task, **options, **prices_of(dataset))


def train(cell: Cell, dataset):
    """Return the fitted estimator of a cell."""
    model = make_estimator(cell, dataset)
    with warnings.catch_warnings():
        # A large λ may leave no split worth its cost; round 0 records that.
        warnings.simplefilter("ignore", ConstantModelWarning)
        return model.fit(dataset.X_train, dataset.y_train, sample_weight=row_weights(dataset))


def without_expensive(dataset, limit: float):
    """Return the data with features above a price held constant, so that no tree can use them.

    Columns keep their numbers; a price counts together with that of the group.
    """
    dear = price_with_group(dataset) > limit
    held = {}
    for part in ("X_train", "X_valid", "X_test"):
        held[part] = getattr(dataset, part).copy()
        held[part][:, dear] = 0.0
    return replace(dataset, **held)


def score(predicted, dataset, part: str, metric: str = "ndcg") -> float:
    """Return NDCG@5 of predicted grades, or the accuracy of predicted classes.

    Parameters
    ----------
    predicted : (n,) ndarray
    dataset : Dataset
    part : {"valid", "test"}
    metric : {"ndcg", "ndcg_letor"}
        Of ranking sets.
    """
    y = getattr(dataset, f"y_{part}")
    if dataset.task != "ranking":
        return accuracy(y, predicted)
    queries = getattr(dataset, f"query_{part}")
    return METRICS[metric](y, predicted, queries, PLACES)


def followed(model, dataset, part: str, metric: str = "ndcg") -> list[float]:
    """Return the score after each round, NaN at those that nobody asks for.

    Asked for are every tenth round and the checkpoints; `metric` is that of :func:`score`.
    """
    n_rounds = model.n_estimators_
    wanted = {*rounds_by_tens(n_rounds), *range(EVERY, n_rounds + 1, EVERY)}
    stages = enumerate(model.staged_predict(getattr(dataset, f"X_{part}")), 1)
    return [score(p, dataset, part, metric) if r in wanted else np.nan for r, p in stages]


def best_round(valid_scores: list[float]) -> int:
    """Return the round, among every tenth and the last, with the best validation score.

    The first of several; 0 of a model without rounds.
    """
    if not valid_scores:
        return 0
    rounds = [*range(EVERY, len(valid_scores), EVERY), len(valid_scores)]
    return rounds[int(np.argmax([valid_scores[r - 1] for r in rounds]))]


Beyond = Callable[[object], np.ndarray]
"""What a model pays beside the prices of its features, after each round from 0 on."""


def nothing_beyond(model) -> np.ndarray:
    """Return no price beside those of the features."""
    return np.zeros(model.n_estimators_ + 1)


def trace(cell: Cell, dataset, beyond: Beyond = nothing_beyond) -> list[dict]:
    """Train the model of a cell and measure it at the checkpoints and at its best round."""
    if cell.params["limit"]:
        dataset = without_expensive(dataset, cell.params["limit"])
    model = train(cell, dataset)
    if cell.params["exits"]:
        return _exit_rows(cell, dataset, model, beyond)
    n_rounds = model.n_estimators_
    scores = {part: followed(model, dataset, part) for part in ("valid", "test")}
    best = best_round(scores["valid"])
    wanted = sorted({*rounds_by_tens(n_rounds), best})
    metered = {part: _metered(model, dataset, part, wanted) for part in scores}
    bills = {0: 0.0, **dict(enumerate(model.staged_forest_cost(), 1))}
    trees, more = model.trees_.n_split_trees(len(model.initial_scores_)), beyond(model)
    answers = at_rounds(model.staged_predict(dataset.X_test), wanted) if _asked(cell) else {}
    rows = []
    for r in wanted:
        row = {"best": int(r == best)}
        for part, values in scores.items():
            row[f"{part}_score"] = values[r - 1] if r else _constant_score(model, dataset, part)
            metered_trees = model.tree_cost * float(trees[r])
            row[f"{part}_cost"] = metered[part].get(r, 0.0) + metered_trees + more[r]
            row[f"{part}_cost_paper"] = bills[r] + more[r]
        told = {**row, "test_trees": float(trees[r])}
        if _asked(cell):
            told |= _right(answers[r] if r else model.predict(dataset.X_test), dataset)
        rows.append(_row(cell, 0.0, r, told))
    return rows


def _asked(cell: Cell) -> bool:
    """Whether a cell's rows say on which test rows its models are right."""
    return bool(cell.params.get("pictures"))


def _right(predicted: np.ndarray, dataset) -> dict[str, str]:
    right = pictures.packed(predicted == dataset.y_test, pictures.numbers_of(dataset))
    return {pictures.COLUMN: right}


def _constant_score(model, dataset, part: str) -> float:
    """Return the score of a model without rounds."""
    return score(model.predict(getattr(dataset, f"X_{part}")), dataset, part)


def _metered(model, dataset, part: str, wanted: list[int]) -> dict[int, float]:
    """Return the mean metered feature cost of a row after some rounds."""
    rounds = [r for r in wanted if r]
    costs = model.staged_cost(getattr(dataset, f"X_{part}"), rounds=rounds)
    return {r: float(np.mean(cost)) for r, cost in zip(rounds, costs, strict=True)}


def _row(cell: Cell, exit_at: float, rounds: int, values: dict) -> dict:
    key = {name: cell.params[name] for name in ("panel", "tradeoff", "limit")}
    whole = ("best", pictures.COLUMN)
    kept = {name: v if name in whole else rounded(v) for name, v in values.items()}
    return {**key, "exit": exit_at, "rounds": rounds, **kept}


# --- early exits ----------------------------------------------------------------------------------


def exit_thresholds(cell: Cell, dataset) -> list[tuple[float, float]]:
    """Return the grid of s as declared and in the unit of the scores.

    Margins of ranking sets are declared in standard deviations of the (weighted) grades,
    likelihoods as they are.
    """
    grid = cell.params["exits"]
    if dataset.task != "ranking":
        return [(s, s) for s in grid]
    deviation = np.sqrt(spread(dataset) / np.sum(row_weights(dataset)))
    return [(s, s * deviation) for s in grid]


def _exit_rows(cell: Cell, dataset, model, beyond: Beyond) -> list[dict]:
    """Measure a model with exits: all of s, for its first rounds up to the best, and thirds of it.

    ``best`` is 1 at the round with the best validation score of each s.
    """
    best = best_round(followed(model, dataset, "valid"))
    lengths = sorted({max(1, round(best / part)) for part in (1, 3, 9)}) if best else []
    models, rows = {r: model.first_rounds(r) for r in lengths}, []
    for declared, s in exit_thresholds(cell, dataset):
        measured = {r: _with_exits(cell, models[r], dataset, s, beyond) for r in lengths}
        chosen = max(measured, key=lambda r: (measured[r]["valid_score"], -r), default=0)
        for r, values in measured.items():
            rows.append(_row(cell, declared, r, {"best": int(r == chosen), **values}))
    return rows


def _with_exits(cell: Cell, model, dataset, s: float, beyond: Beyond) -> dict[str, float | str]:
    """Return scores and both bills of a model that rows leave early."""
    every, more = cell.params["rounds_between_exits"], beyond(model)
    is_ranking = dataset.task == "ranking"
    rule = "proximity" if is_ranking else "likelihood"
    early = EarlyExit(model, rule=rule, threshold=s, every=every)
    trees, row = model.trees_.n_split_trees(len(model.initial_scores_)), {}
    for part in ("valid", "test"):
        X, query = getattr(dataset, f"X_{part}"), getattr(dataset, f"query_{part}")
        predicted = early.ranking_score(X, query) if is_ranking else early.predict(X)
        bill = early.forest_cost_until_exit(X, query, tree_cost=model.tree_cost)
        left = early.exits(X, query).rounds
        row[f"{part}_score"] = score(predicted, dataset, part)
        metered = early.prediction_cost(X, query, tree_cost=model.tree_cost)
        row[f"{part}_cost"] = float(np.mean(metered + more[left]))
        row[f"{part}_cost_paper"] = float(np.mean(bill + more[left]))
    row["test_trees"] = float(np.mean(trees[left]))  # of the test rows, which come last
    return {**row, **_right(predicted, dataset)} if _asked(cell) else row
