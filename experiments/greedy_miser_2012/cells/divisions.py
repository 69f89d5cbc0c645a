"""Figure 1 on all queries of a set: five folds of a random division, one score for each query.

Each fold trains on three parts, validates on the next and tests on the last. What is to be tested
on a fold is chosen by the validation queries of the four folds whose validation queries it does not
test, pooled: a hundred queries choose badly, four times as many choose better. All methods choose
by the same rule, from settings and lengths of their own.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from algorithms.early_exit import EarlyExit
from algorithms.exits.exit_rules import ranks_by_exit
from algorithms.metrics import ndcg_at_k, query_starts
from datasets import ranking
from experiments.cell import Cell, rounded
from experiments.cells.divided_queries import FOLDS, folds
from experiments.greedy_miser_2012.cells.measure import (
    EVERY,
    PLACES,
    exit_thresholds,
    train,
    without_expensive,
)
from experiments.greedy_miser_2012.cells.models import Measured, Models, Pool
from experiments.greedy_miser_2012.cells.rivals import cronus

MARGIN = 0.005
"""As good as λ = 0 on validation: a score that is not lower by more."""

AS_GOOD = 0.0
"""The ``budget`` of the models that validation chooses as the cheapest that are as good."""

UNLIMITED = -1.0
"""The ``budget`` of the models that validate best, whatever their bill."""

METHODS = (
    "stagewise",
    "stagewise_subsets",
    "early_exit",
    "cronus",
    "greedy_miser",
    "greedy_miser_early_exit",
)
STEPS = {"step_0.05": 0.05, "step_0.1": 0.1, "step_0.2": 0.2}
"""Greedy Miser at one λ with steps of different size, each with as many rounds more or less."""

OWN_STEP = "step_0.1"


def measure(cell: Cell, dataset) -> list[dict]:
    """Train all methods on the five folds of a division and score every query once.

    Parameters
    ----------
    cell : Cell
        ``tradeoffs``, ``limits`` and ``exits`` of its parameters are the settings of the methods;
        ``with_exits`` are the λ and ``with_margins`` the s of Greedy Miser with early exits;
        ``lengths`` the rounds of models with exits; ``budgets`` shares of λ = 0's bill;
        ``step_tradeoff``, one of ``tradeoffs``, is the λ of :data:`STEPS`; ``cascade``, where it
        stands, holds the parameters of a cell of Cronus's own figures.
    dataset : Dataset
        A ranking set; its division into parts is not used.

    Returns
    -------
    list of dict
        One row for each budget and query with a relevant document: ``panel, budget, query, fold``,
        for each method its NDCG@5 (NaN where no model is within the budget) and, with ``_cost``,
        its bill on the test fold beside that of λ = 0. The budget :data:`AS_GOOD` holds each
        method's cheapest model that validates as well as λ = 0 within :data:`MARGIN`; where none
        does, the best that costs no more, with no bill: nothing is saved. :data:`UNLIMITED` holds
        its best; there the columns of :data:`STEPS` stand, too, NaN elsewhere.
        ``early_exit_features`` is the share of features in early exit's bill, ``cronus_capped``
        whether Cronus's optimisation was stopped before its end.
    """
    parts = list(folds(dataset, cell.seed))
    trained = [_models(cell, part) for part in parts]
    rows = []
    for k in FOLDS:
        tested = trained[k]
        pools = {method: pool_of([models[method] for models in trained], k) for method in tested}
        queries = np.unique(parts[k].query_test)
        for budget in cell.params["budgets"]:
            chosen, saves = _chosen(pools, budget)
            rows += _rows(cell, k, budget, queries, tested, chosen, saves)
    return rows


# --- training -------------------------------------------------------------------------------------


def _models(cell: Cell, dataset) -> dict[str, Models]:
    """Return the models of all methods on a fold; each has those of its limiting case."""
    params = cell.params
    found = {method: {} for method in (*METHODS, *STEPS)}
    for tradeoff in params["tradeoffs"]:
        model = train(_with(cell, tradeoff), dataset)
        traced = _traced(model, dataset, ("λ", tradeoff), params["settings"]["n_estimators"])
        found["greedy_miser"] |= traced
        if tradeoff == 0:
            for method in ("stagewise", "stagewise_subsets", "early_exit"):
                found[method] |= traced
            found["early_exit"] |= _exited(cell, model, dataset, 0.0, params["exits"])
        if tradeoff in params["with_exits"]:
            found["greedy_miser_early_exit"] |= _exited(
                cell, model, dataset, tradeoff, params["with_margins"]
            )
        if tradeoff == params["step_tradeoff"]:
            found[OWN_STEP] |= traced
    found["greedy_miser_early_exit"] |= found["greedy_miser"]
    for name, step in STEPS.items():
        if name != OWN_STEP:
            found[name] = _with_step(cell, dataset, step)
    if "cascade" in params:
        found["cronus"] = cronus(cell, dataset)
    for limit in params["limits"]:
        narrow = without_expensive(dataset, limit)
        model = train(_with(cell, 0.0), narrow)
        found["stagewise_subsets"] |= _traced(
            model, narrow, ("limit", limit), params["settings"]["n_estimators"]
        )
    return found


def _with_step(cell: Cell, dataset, step: float) -> Models:
    """Train Greedy Miser with a step of another size, and as many rounds more or less."""
    settings = cell.params["settings"]
    rounds = round(settings["n_estimators"] * settings["learning_rate"] / step)
    changed = {**settings, "learning_rate": step, "n_estimators": rounds}
    params = {**cell.params, "settings": changed, "tradeoff": cell.params["step_tradeoff"]}
    return _traced(train(replace(cell, params=params), dataset), dataset, (step,), rounds)


def _with(cell: Cell, tradeoff: float) -> Cell:
    return replace(cell, params={**cell.params, "tradeoff": tradeoff})


def lengths(n_rounds: int) -> list[int]:
    """Return the rounds after which a model is measured: 1, 2, 3, 5 and every tenth."""
    return [*(r for r in (1, 2, 3, 5) if r < n_rounds), *range(EVERY, n_rounds + 1, EVERY)]


def _traced(model, dataset, setting: tuple, n_rounds: int) -> Models:
    """Measure a model after :func:`lengths`; one that stopped early stays as it is."""
    wanted, found = lengths(n_rounds), {}
    bills, trees = [0.0, *model.staged_forest_cost()], _tree_bills(model)
    for part in ("valid", "test"):
        X, y, query = (getattr(dataset, f"{name}_{part}") for name in ("X", "y", "query"))
        scores = {0: ndcg_at_k(y, np.zeros(len(y)), query, PLACES, per_query=True)}
        for r, predicted in enumerate(model.staged_predict(X), 1):
            if r in wanted or r == model.n_estimators_:
                scores[r] = ndcg_at_k(y, predicted, query, PLACES, per_query=True)
        for r in wanted:
            there = min(r, model.n_estimators_)
            found.setdefault((*setting, r), {})[part] = Measured(
                scores[there], bills[there], float(trees[there])
            )
    return found


def _tree_bills(model) -> np.ndarray:
    """Return what trees cost of a model's bill, after each round."""
    return model.tree_cost * model.trees_.n_split_trees(len(model.initial_scores_))


def _exited(cell: Cell, model, dataset, tradeoff: float, margins: list[float]) -> Models:
    """Measure a model, cut to each length, with an exit after every round and each margin."""
    found = {}
    if not model.n_estimators_:
        return found
    asked = replace(cell, params={**cell.params, "exits": margins})
    for length in cell.params["lengths"]:
        cut = model.first_rounds(min(length, model.n_estimators_))
        for declared, s in exit_thresholds(asked, dataset):
            early = EarlyExit(cut, rule="proximity", threshold=s, every=1)
            found["exit", tradeoff, declared, length] = {
                part: _left(early, cut, dataset, part) for part in ("valid", "test")
            }
    return found


def _left(early: EarlyExit, model, dataset, part: str) -> Measured:
    """Return what a model with exits is: ranks by exit, and the forest's bill until the exit."""
    X, y, query = (getattr(dataset, f"{name}_{part}") for name in ("X", "y", "query"))
    exits = early.exits(X, query)
    ranks = ranks_by_exit(exits.exit, exits.scores[:, 0], query_starts(query))
    bills = np.array([0.0, *model.staged_forest_cost()])
    return Measured(
        ndcg_at_k(y, ranks, query, PLACES, per_query=True),
        float(np.mean(bills[exits.rounds])),
        float(np.mean(_tree_bills(model)[exits.rounds])),
    )


# --- choosing -------------------------------------------------------------------------------------


def choosers(k: int) -> list[int]:
    """Return the four folds whose validation queries are not those that fold `k` tests."""
    tested = ranking.fold_members(k)[1]["test"]
    return [j for j in FOLDS if ranking.fold_members(j)[1]["valid"] != tested]


def pool_of(models: list[Models], k: int) -> Pool:
    """Pool the validation of :func:`choosers`; models without a tree cost nothing and stay out."""
    keys, scores, bills = [], [], []
    for key in models[k]:
        there = [models[j][key]["valid"] for j in choosers(k) if key in models[j]]
        bill = float(np.mean([one.bill for one in there])) if there else 0.0
        if len(there) < len(choosers(k)) or bill == 0:
            continue
        keys.append(key)
        scores.append(float(np.nanmean(np.concatenate([one.scores for one in there]))))
        bills.append(bill)
    return Pool(keys, np.array(scores), np.array(bills))


def _chosen(pools: dict[str, Pool], budget: float) -> tuple[dict[str, tuple | None], set[str]]:
    """Return each method's choice at a share of λ = 0's bill, and the methods that have a bill."""
    base = pools["stagewise"]
    best = base.keys.index(base.best_within(np.inf))
    without = set()
    if budget == AS_GOOD:
        score, bill = base.scores[best] - MARGIN, base.bills[best]
        found = {m: pools[m].as_good(score, bill) for m in METHODS}
        chosen = {m: key for m, (key, _) in found.items()}
        without = {m for m, (_, none) in found.items() if none}
    elif budget == UNLIMITED:
        chosen = {m: pool.best_within(np.inf) for m, pool in pools.items()}
    else:
        chosen = {m: pools[m].best_within(budget * base.bills[best]) for m in METHODS}
    # λ = 0 is what the others are held against: its best, whatever the budget.
    return chosen | {"stagewise": base.keys[best]}, set(METHODS) - without


def _rows(cell: Cell, k: int, budget: float, queries, tested, chosen, saves) -> list[dict]:
    """Return a row for each query with a relevant document."""
    picked = {m: tested[m][key]["test"] for m, key in chosen.items() if key is not None}
    base = picked["stagewise"]
    billed = saves & picked.keys()
    costs = {
        f"{m}_cost": rounded(picked[m].bill / base.bill) if m in billed else np.nan for m in METHODS
    }
    left, cascade = picked.get("early_exit"), picked.get("cronus")
    costs["early_exit_features"] = rounded(1 - left.trees / left.bill) if left else np.nan
    costs["cronus_capped"] = float(cascade.capped) if cascade else np.nan
    rows = []
    for i in np.flatnonzero(~np.isnan(base.scores)):
        row = {"panel": cell.params["panel"], "budget": rounded(budget), "query": int(queries[i])}
        scores = {
            m: rounded(picked[m].scores[i]) if m in picked else np.nan for m in (*METHODS, *STEPS)
        }
        rows.append({**row, "fold": k + 1, **scores, **costs})
    return rows
