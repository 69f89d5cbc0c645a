"""What the ranking sets share: folds, samples of whole queries, copies, facts about queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from datasets.errors import DamagedData
from datasets.splits import split_generator

N_FOLDS = 5
FEW_DOCUMENTS = 5
"""Measures at rank 5 have nothing to cut off in a query with fewer documents."""
Triple = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Features, labels and queries of the same rows."""


def copies(y: np.ndarray, *, highest: float = 0.0, times: int = 10) -> np.ndarray:
    """Give row weights that stand for copies of the less relevant rows.

    Greedy Miser (section 4) repeats each row of label 0 ten times, because a search engine meets
    far more irrelevant documents than its training data show; Cronus does so with each row of a
    label below 3 (``highest=2``). Weight 10 equals ten copies bit for bit.
    """
    if isinstance(times, bool) or not isinstance(times, int | np.integer) or times < 1:
        raise ValueError(f"times must be a whole number of 1 or more, not {times!r}")
    return np.where(np.asarray(y) <= highest, float(times), 1.0)


def query_facts(y: np.ndarray, query: np.ndarray) -> dict[str, int]:
    """Count queries, and those on which a ranking measure says little."""
    first = np.flatnonzero(np.r_[True, query[1:] != query[:-1]])
    lengths = np.diff(np.r_[first, query.size])
    best = np.maximum.reduceat(y, first)
    return {
        "queries": int(first.size),
        "fewer_than_5_documents": int((lengths < FEW_DOCUMENTS).sum()),
        "none_relevant": int((best <= 0).sum()),
    }


def part_arrays(parts: dict[str, Triple]) -> tuple[dict[str, np.ndarray], dict[str, dict]]:
    """Give the arrays of a :class:`datasets.Dataset` and the facts for its provenance."""
    arrays, facts = {}, {}
    for part, (X, y, query) in parts.items():
        arrays[f"X_{part}"] = np.asarray(X, dtype=np.float64, order="C")
        arrays[f"y_{part}"] = np.asarray(y, dtype=np.float64)
        arrays[f"query_{part}"] = np.asarray(query, dtype=np.int64)
        facts[part] = query_facts(arrays[f"y_{part}"], arrays[f"query_{part}"])
    return arrays, facts


def fold_members(seed: int) -> tuple[int, dict[str, tuple[int, ...]]]:
    """Say which of five subsets train, validate and test, by LETOR's rule.

    Fold 1 trains on S1, S2 and S3, validates on S4 and tests on S5; each further fold moves on by
    one. Seeds 0 to 4 are folds 1 to 5, and so on for each further five.
    """
    start = int(seed) % N_FOLDS
    order = [(start + step) % N_FOLDS for step in range(N_FOLDS)]
    return start + 1, {
        "train": tuple(order[:3]),
        "valid": (order[3],),
        "test": (order[4],),
    }


def divide_queries(name: str, block: int, query: np.ndarray) -> np.ndarray:
    """Divide all queries of a set into five subsets by a draw."""
    queries, place = np.unique(query, return_inverse=True)
    order = split_generator(f"{name} divided anew", block).permutation(queries.size)
    subset = np.empty(queries.size, dtype=np.int64)
    subset[order] = np.arange(queries.size) % N_FOLDS
    return subset[place.reshape(-1)]


def fold_rows(
    name: str, queries: Sequence[np.ndarray], seed: int
) -> tuple[dict[str, int], dict[str, np.ndarray]]:
    """Choose the rows of a repetition from the five published subsets S1 to S5.

    Seeds 0 to 4 are the published folds. From 5 on each five seeds are the five folds of a random
    division of all queries (:func:`divide_queries`), so that no repetition is another's copy.
    """
    values, times = np.unique(
        np.concatenate([np.unique(query) for query in queries]), return_counts=True
    )
    if (times > 1).any():
        torn = int(values[np.argmax(times > 1)])
        raise DamagedData(f"{name}: query {torn} is in two of the five subsets")
    division = int(seed) // N_FOLDS
    if division:
        subset = divide_queries(name, division, np.concatenate(queries))
    else:
        subset = np.repeat(np.arange(N_FOLDS), [query.size for query in queries])
    number, members = fold_members(seed)
    rows = {
        part: np.concatenate([np.flatnonzero(subset == i) for i in which])
        for part, which in members.items()
    }
    return {"fold": number, "division": division}, rows


def fold(
    name: str, subsets: Sequence[Triple], seed: int
) -> tuple[dict[str, int], dict[str, Triple]]:
    """Put a fold together from the five disjoint subsets S1 to S5."""
    record, rows = fold_rows(name, [query for _, _, query in subsets], seed)
    X, y, query = (np.concatenate([subset[k] for subset in subsets]) for k in range(3))
    return record, {part: (X[which], y[which], query[which]) for part, which in rows.items()}


def sample_queries(stream: str, seed: int, query: np.ndarray, size: int) -> np.ndarray | slice:
    """Draw whole queries up to a number of documents."""
    if query.size <= size:
        return slice(None)
    first = np.flatnonzero(np.r_[True, query[1:] != query[:-1]])
    lengths = np.diff(np.r_[first, query.size])
    order = split_generator(stream, seed).permutation(first.size)
    n_queries = int(np.searchsorted(np.cumsum(lengths[order]), size, side="right"))
    chosen = np.zeros(first.size, dtype=bool)
    chosen[order[:n_queries]] = True
    return np.flatnonzero(np.repeat(chosen, lengths))
