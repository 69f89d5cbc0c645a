"""All queries of a ranking set, divided anew into five folds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from datasets import ranking

FOLDS = range(ranking.N_FOLDS)


def all_queries(dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X, y and query of all parts together, ordered by query."""
    parts = ("train", "valid", "test")
    numbers = [np.unique(getattr(dataset, f"query_{part}")) for part in parts]
    if len(np.unique(np.concatenate(numbers))) < sum(map(len, numbers)):
        raise ValueError(f"{dataset.name}: two parts have a query of the same number.")
    X, y, query = (
        np.concatenate([getattr(dataset, f"{name}_{part}") for part in parts])
        for name in ("X", "y", "query")
    )
    order = np.argsort(query, kind="stable")
    return X[order], y[order], query[order]


def folds(dataset, repetition: int) -> Iterator:
    """Yield the five folds of a division, as data sets; the division is drawn by `repetition`."""
    X, y, query = all_queries(dataset)
    subset = ranking.divide_queries(dataset.name, repetition + 1, query)
    for k in FOLDS:
        _, members = ranking.fold_members(k)
        parts = {}
        for part, which in members.items():
            rows = np.isin(subset, which)
            parts |= {f"X_{part}": X[rows], f"y_{part}": y[rows], f"query_{part}": query[rows]}
        yield replace(dataset, **parts)


def fold_of(dataset, seed: int):
    """Return the fold of a repetition: each five of them are those of a division."""
    return next(islice(folds(dataset, seed // ranking.N_FOLDS), seed % ranking.N_FOLDS, None))
