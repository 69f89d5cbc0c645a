"""Trains a method's models of all λ, and says of each which places of each query are relevant.

A query's AP@5 follows from which of its first five places hold a relevant document and from how
many it has. Five places are one of 32 patterns, so one letter for each query says it exactly, and
a model's queries are one word: rows of their own would be too many to commit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from algorithms.metrics import query_starts
from experiments.cegb_2017.cells.measure import PLACES, traced, train
from experiments.cegb_2017.cells.selection import choosable
from experiments.cell import Cell

LETTERS = "0123456789abcdefghijklmnopqrstuv"
"""Digits to the base 32: the i-th bit, from the lowest one, is set if place i + 1 is relevant."""

FIRST = "q"
"""What every word begins with, so that no reader of a table takes it for a number."""

COLUMNS = (
    *("valid_score", "valid_cost", "test_score", "test_cost"),
    *("valid_cost_paper", "test_cost_paper"),
)
"""What is measured of a model, as Figure 2 has it."""


def score_queries(cell: Cell, dataset) -> list[dict]:
    """Train the models of all λ, measure them at every checkpoint, and look at their test queries.

    Parameters
    ----------
    cell : Cell
        ``panel``, ``settings`` as of the cells of Figures 2 and 3, and ``grids``: for each figure
        that has the method its λ.
    dataset : Dataset
        A ranking set.

    Returns
    -------
    list of dict
        A row of ``kind`` ``"queries"``, whose ``places`` are how many relevant documents each test
        query has, at most five, the numbers 0; and one of kind ``"model"`` for each model that a
        budget of either figure can choose and for the last round of each λ: ``tradeoff, rounds``,
        :data:`COLUMNS`, and ``places``, see :func:`places_of`. Queries without a relevant document
        are left out of both.
    """
    params = {name: cell.params[name] for name in ("panel", "settings")}
    relevant_from = params["settings"]["relevant_from"]
    models, rows = {}, []
    for tradeoff in sorted({value for grid in cell.params["grids"] for value in grid}):
        one = replace(cell, params={**params, "tradeoff": tradeoff})
        models[tradeoff] = train(one, dataset)
        rows += traced(models[tradeoff], one, dataset)
    relevant = relevant_documents(dataset.y_test, dataset.query_test, relevant_from)
    key = {"panel": params["panel"], "kind": "queries", "tradeoff": 0.0, "rounds": 0}
    found = [{**key, **dict.fromkeys(COLUMNS, 0.0), "places": relevant}]
    for row in _kept(rows, cell):
        model, rounds = models[row["tradeoff"]], row["rounds"]
        whole = model if rounds == model.n_estimators_ else model.first_rounds(rounds)
        places = places_of(
            dataset.y_test, whole.predict(dataset.X_test), dataset.query_test, relevant_from
        )
        numbers = {name: row[name] for name in ("tradeoff", "rounds", *COLUMNS)}
        found.append({**key, "kind": "model", **numbers, "places": places})
    return found


def _kept(rows: list[dict], cell: Cell) -> list[dict]:
    """Return the rows that a budget of a figure can choose, and the last of each λ."""
    table = pd.DataFrame(rows).assign(algorithm=cell.algorithm, seed=cell.seed)
    # A constant costs nothing, so no budget has it; it must not hide a model that one has.
    kept = {*table.index[table["rounds"] == 0]}
    for grid in cell.params["grids"]:
        mine = table[table["tradeoff"].isin(grid) & (table["rounds"] > 0)]
        kept |= {*choosable(mine, (cell.params["panel"],)).index}
    return [rows[number] for number in sorted(kept)]


def _queries(grades: np.ndarray, queries, relevant_from: float) -> list[np.ndarray]:
    """Return the rows of each query that has a relevant document."""
    blocks = np.split(np.arange(len(grades)), query_starts(queries)[1:])
    return [rows for rows in blocks if (grades[rows] >= relevant_from).any()]


def relevant_documents(grades, queries, relevant_from: float) -> str:
    """Return how many relevant documents queries have, one digit for each, at most 5."""
    counts = (
        np.count_nonzero(grades[rows] >= relevant_from)
        for rows in _queries(grades, queries, relevant_from)
    )
    return FIRST + "".join(str(min(count, PLACES)) for count in counts)


def places_of(grades, scores, queries, relevant_from: float) -> str:
    """Return which of each query's first five places are relevant, a letter for each query."""
    word = FIRST
    for rows in _queries(grades, queries, relevant_from):
        order = np.lexsort((grades[rows], -scores[rows]))[:PLACES]
        hits = grades[rows][order] >= relevant_from
        word += LETTERS[sum(1 << place for place in np.flatnonzero(hits))]
    return word


def average_precisions(relevant: str, places: str) -> np.ndarray:
    """Return the AP@5 of each query."""
    counts = [int(digit) for digit in relevant[1:]]
    patterns = [LETTERS.index(letter) for letter in places[1:]]
    return np.array([_SUMS[p] / count for p, count in zip(patterns, counts, strict=True)])


def _sum_of_precisions(pattern: int) -> float:
    """Return the sum of precision@i over the relevant of the first five places i."""
    hits = [place for place in range(PLACES) if pattern >> place & 1]
    return sum((n + 1) / (place + 1) for n, place in enumerate(hits))


_SUMS = [_sum_of_precisions(pattern) for pattern in range(2**PLACES)]
