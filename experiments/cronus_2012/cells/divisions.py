"""Figure 2 on all queries of a set: five folds of a random division, one score for each query.

Folds, and who chooses for whom, are those of Greedy Miser's figure on all queries: what is tested
on a fold is chosen by the pooled validation of the four folds whose validation queries it does not
test. The models are those of Figure 2's own cells.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from experiments.cell import Cell, rounded
from experiments.cells.divided_queries import FOLDS, folds
from experiments.cronus_2012.cells.measure import run_cell
from experiments.greedy_miser_2012.cells.divisions import AS_GOOD, pool_of
from experiments.greedy_miser_2012.cells.models import Measured, Models, Pool

METHODS = (
    *("gbrt", "early_exit", "single_stage", "cronus_initial", "cronus"),
    *("raykar_cascade", "and_or_cascade"),
)
BASE = "gbrt"
"""Whose best model by validation is what others are held against."""


def measure(cell: Cell, dataset) -> list[dict]:
    """Train all methods on the five folds of a division and score every query once.

    Parameters
    ----------
    cell : Cell
        ``families`` of its parameters holds for each family those of its cell in Figure 2;
        ``budgets`` are shares of the bill of GBRT's best; ``margin`` is how much lower a score may
        be that counts as as good.
    dataset : Dataset
        A ranking set; its division into parts is not used.

    Returns
    -------
    list of dict
        One row for each budget and query with a positive: ``panel, budget, query, fold``, for each
        method its precision@5 (NaN where no model is within the budget) and, with ``_cost``, its
        bill on the test fold beside that of GBRT's best. The budget
        :data:`~experiments.greedy_miser_2012.cells.divisions.AS_GOOD` holds each method's cheapest
        model that validates as well as GBRT's best within the margin, and this; where none does,
        the best that costs no more, with no bill: nothing is saved.
    """
    parts = list(folds(dataset, cell.seed))
    trained = [models_of(cell, part) for part in parts]
    rows = []
    for k in FOLDS:
        pools = {method: pool_of([models[method] for models in trained], k) for method in METHODS}
        best = pools[BASE].best_within(np.inf)
        base = trained[k][BASE][best]["test"]
        queries = np.unique(parts[k].query_test)
        for budget in cell.params["budgets"]:
            chosen, saves = _chosen(pools, best, budget, cell.params["margin"])
            picked = {m: trained[k][m][key]["test"] for m, key in chosen.items() if key is not None}
            about = {"panel": cell.params["panel"], "budget": rounded(budget), "fold": k + 1}
            rows += _rows(about, queries, picked, base, saves)
    return rows


def models_of(cell: Cell, dataset) -> dict[str, Models]:
    """Return the models of all methods on a fold, by their places on the methods' grids.

    λ, for one, differs between folds: it is so many factors below the fold's smallest that leaves
    a cascade empty. Early exits have the models without exits, too.
    """
    found: dict[str, Models] = {}
    for family, params in cell.params["families"].items():
        own = replace(cell, algorithm=family, params={**params, "by_query": True})
        rows = [row for row in run_cell(own, dataset) if row.get("stage", 0) == 0]
        for place, row in enumerate(rows):
            method = "early_exit" if row["method"].startswith("early_exit_") else row["method"]
            found.setdefault(method, {})[method, place] = {
                part: Measured(row[f"{part}_queries"], row[f"{part}_cost_paper"])
                for part in ("valid", "test")
            }
    found["early_exit"] |= found["gbrt"]
    return {method: found.get(method, {}) for method in METHODS}


def _chosen(pools: dict[str, Pool], best: tuple, budget: float, margin: float) -> tuple[dict, set]:
    """Return each method's choice at a share of GBRT's bill, and the methods that have a bill."""
    base = pools[BASE]
    score, bill = (values[base.keys.index(best)] for values in (base.scores, base.bills))
    if budget == AS_GOOD:
        found = {m: pool.as_good(score - margin, bill) for m, pool in pools.items()}
        chosen = {m: key for m, (key, _) in found.items()} | {BASE: best}
        return chosen, {m for m, (_, none) in found.items() if not none}
    return {m: pool.best_within(budget * bill) for m, pool in pools.items()}, set(pools)


def _rows(about: dict, queries, picked: dict[str, Measured], base: Measured, saves) -> list[dict]:
    """Return a row for each query with a positive."""
    billed = saves & picked.keys()
    costs = {
        f"{m}_cost": rounded(picked[m].bill / base.bill) if m in billed else np.nan for m in METHODS
    }
    rows = []
    for i in np.flatnonzero(~np.isnan(base.scores)):
        scores = {m: rounded(picked[m].scores[i]) if m in picked else np.nan for m in METHODS}
        rows.append({**about, "query": int(queries[i]), **scores, **costs})
    return rows
