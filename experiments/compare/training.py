"""Trains what is planned, in an order in which each step knows what it builds on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from algorithms.selection.scoring import is_within
from experiments.cell import Cell
from experiments.compare import bisecting, plan
from experiments.compare.bisecting import Spent
from experiments.compare.computing import Computing
from experiments.compare.outcome import Search, Trained
from experiments.compare.preparing import Prepared
from experiments.compare.tables import Refused
from experiments.compare.trials import run_trial
from experiments.methods.method import Method
from experiments.methods.subsets import run_subset

_COLUMNS = (
    *("method", "trial", "kind", "cut"),
    *("valid_score", "valid_cost", "test_score", "test_cost", "parameters"),
)


def n_cells(methods: Sequence[Method], search: Search, n_budgets: int) -> int:
    """Give about how many cells there will be, chosen models included."""
    n = plan.n_further(search, n_budgets)
    further = n_budgets * n * (1 + len(methods))
    return len(methods) * search.trials + further + n_budgets * len(methods)


def train(
    prepared: Prepared,
    methods: Sequence[Method],
    search: Search,
    seed: int,
    budgets: Sequence[float],
    split_cost: float,
    computing: Computing,
    so_far: Callable[[list[Cell], Trained], None],
) -> tuple[list[Cell], Trained]:
    """Train all methods: drawn trials, affordable features, λ bisected towards the budgets.

    Parameters
    ----------
    budgets : sequence of float
        Those that a tree can be within.
    so_far : callable
        Given what is returned after each stage but the last; it decides nothing of what follows.

    Returns
    -------
    cells : list of Cell
    trained : Trained
    """
    data = str(prepared.path)
    range_ = plan.tradeoff_range(
        prepared.loss, prepared.prices, split_cost, budgets or search.budgets
    )
    n = plan.n_further(search, len(budgets))
    left = {b: plan.for_features(b, prepared.prices, split_cost) for b in budgets}
    choosing = plan.subset_cells(data, search, seed, left, n)
    subsets = []
    for rows in computing.rows(run_subset, choosing):
        if "failed" in rows[0]:
            raise Refused(f"No features could be chosen ({rows[0]['failed']}).")
        subsets.append(rows[0]["columns"])
    of_text = {"has_text": prepared.has_text}
    drawn = plan.drawn_cells(data, methods, search, seed, range_, **of_text)
    further = plan.further_cells(data, methods, search, seed, left, subsets, range_, **of_text)
    planned, done = [*drawn, *further], {}
    for stage in plan.stages(planned, search, len(budgets)):
        if done:
            so_far(*_gathered(planned, done, n))
        else:
            done |= _trained(stage[: len(methods)], computing)  # a draw of each
            computing.announce()
        done |= _trained([cell for cell in stage if _name(cell) not in done], computing)
    so_far(*_gathered(planned, done, n))
    planned += _bisect(data, methods, search, budgets, drawn, done, computing)
    return _gathered(planned, done, n)


def _trained(cells: Sequence[Cell], computing: Computing) -> dict[tuple, list[dict]]:
    """Train cells; give the rows of each by method and trial."""
    results = computing.rows(run_trial, cells)
    return {_name(cell): rows for cell, rows in zip(cells, results, strict=True)}


def _name(cell: Cell) -> tuple[str, int]:
    return cell.algorithm, cell.params["trial"]


def _bisect(data, methods, search, budgets, drawn, done, computing) -> list[Cell]:
    """Bisect λ for each method that has one and each budget; a step of all of them at a time.

    What is trained is put into `done`.
    """
    spent = {}
    for cell in drawn:
        spent.setdefault(cell.algorithm, []).append((cell.params["draw"], done[_name(cell)]))
    paths = {}
    for method in methods:
        if not method.has_tradeoff:
            continue
        for k, budget in enumerate(budgets):
            known = [_spent(draw, rows, budget) for draw, rows in spent[method.slug]
                     if not _has(rows, "failed")]  # fmt: skip
            start = bisecting.begin(known, budget)
            if start is not None:
                paths[method.slug, k] = (method, budget, known, [start])
    cells = []
    for step in range(plan.n_bisected(plan.n_further(search, len(budgets)))):
        now = {
            (slug, k): plan.bisecting_cell(
                data, method, search, len(budgets), k, step, budget,
                {**path[0].draw, "tradeoff": bisecting.next_tradeoff(path, known, budget)},
            )
            for (slug, k), (method, budget, known, path) in paths.items()
        }  # fmt: skip
        done |= _trained(list(now.values()), computing)
        for key, cell in now.items():
            (_, budget, _, path), rows = paths[key], done[_name(cell)]
            if _has(rows, "failed"):
                del paths[key]
            else:
                path.append(_spent(cell.params["draw"], rows, budget))
        cells += now.values()
    return cells


def _has(rows: list[dict], what: str) -> bool:
    return bool(rows) and what in rows[0]


def _spent(draw, rows: list[dict], budget: float) -> Spent:
    if _has(rows, "constant"):
        return Spent(draw["tradeoff"], 0.0, float("-inf"), draw)
    within = [row["valid_score"] for row in rows if is_within(row["valid_cost"], budget)]
    return Spent(draw["tradeoff"], rows[-1]["valid_cost"], max(within, default=float("-inf")), draw)


def _gathered(
    planned: Sequence[Cell], done: Mapping[tuple, list[dict]], n_further: int
) -> tuple[list[Cell], Trained]:
    """Give the cells that are done; every trial of them at every cut, and what gave no model."""
    cells = [cell for cell in planned if _name(cell) in done]
    lines, n_trained, constant, failed = [], {}, {}, {}
    for cell in cells:
        slug, rows = cell.algorithm, done[_name(cell)]
        n_trained[slug] = n_trained.get(slug, 0) + 1
        if _has(rows, "failed"):
            failed.setdefault(slug, []).append(rows[0]["failed"])
        elif _has(rows, "constant"):
            constant.setdefault(slug, []).append(rows[0]["constant"])
        else:
            names = {"method": slug, "trial": cell.params["trial"], "kind": cell.params["kind"]}
            lines += [{**names, **row} for row in rows]
    table = pd.DataFrame(lines, columns=list(_COLUMNS))
    return cells, Trained(table, n_trained, n_further, constant, failed)
