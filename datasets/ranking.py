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

    Parameters
    ----------
    y : ndarray of shape (n,)
        Graded labels.
    highest : float, default 0
        Rows up to this label are repeated.
    times : int, default 10
        How many times.

    Returns
    -------
    ndarray of shape (n,), float64
        ``times`` or 1, for ``sample_weight``.

    Raises
    ------
    ValueError
        If ``times`` is no whole number of 1 or more.
    """
    if isinstance(times, bool) or not isinstance(times, int | np.integer) or times < 1:
        raise ValueError(f"times must be a whole number of 1 or more, not {times!r}")
    return np.where(np.asarray(y) <= highest, float(times), 1.0)


def query_facts(y: np.ndarray, query: np.ndarray) -> dict[str, int]:
    """Count queries, and those on which a ranking measure says little.

    Parameters
    ----------
    y, query : ndarray of shape (n,)
        Labels, and queries in contiguous blocks.

    Returns
    -------
    dict of str to int
        ``queries``, ``fewer_than_5_documents``, ``none_relevant`` (no label above 0).
    """
    first = np.flatnonzero(np.r_[True, query[1:] != query[:-1]])
    lengths = np.diff(np.r_[first, query.size])
    best = np.maximum.reduceat(y, first)
    return {
        "queries": int(first.size),
        "fewer_than_5_documents": int((lengths < FEW_DOCUMENTS).sum()),
        "none_relevant": int((best <= 0).sum()),
    }


def part_arrays(parts: dict[str, Triple]) -> tuple[dict[str, np.ndarray], dict[str, dict]]:
    """Give the arrays of a :class:`datasets.Dataset` and the facts for its provenance.

    Parameters
    ----------
    parts : dict of str to Triple
        ``train``, ``valid`` and ``test``; arrays that have the right dtype are not copied.

    Returns
    -------
    arrays : dict of str to ndarray
        ``X_train`` and so on, in the dtypes of a ranking set.
    facts : dict of str to dict
        :func:`query_facts` of each part.
    """
    arrays, facts = {}, {}
    for part, (X, y, query) in parts.items():
        arrays[f"X_{part}"] = np.asarray(X, dtype=np.float64, order="C")
        arrays[f"y_{part}"] = np.asarray(y, dtype=np.float64)
        arrays[f"query_{part}"] = np.asarray(query, dtype=np.int64)
        facts[part] = query_facts(arrays[f"y_{part}"], arrays[f"query_{part}"])
    return arrays, facts


def fold_members(seed: int) -> tuple[int, dict[str, tuple[int, ...]]]:
    """Say which of the five subsets train, validate and test, by LETOR's rule.

    Fold 1 trains on S1, S2 and S3, validates on S4 and tests on S5; each further fold moves on by
    one. Seeds 0 to 4 are folds 1 to 5, then they come again.

    Parameters
    ----------
    seed : int
        Repetition.

    Returns
    -------
    fold : int
        1 to 5.
    members : dict of str to tuple of int
        For ``train``, ``valid`` and ``test`` the numbers 0 to 4 of the subsets S1 to S5.
    """
    start = int(seed) % N_FOLDS
    order = [(start + step) % N_FOLDS for step in range(N_FOLDS)]
    return start + 1, {
        "train": tuple(order[:3]),
        "valid": (order[3],),
        "test": (order[4],),
    }


def fold(name: str, subsets: Sequence[Triple], seed: int) -> tuple[int, dict[str, Triple]]:
    """Put a fold together from the five disjoint subsets S1 to S5.

    Parameters
    ----------
    name : str
        The data set, for messages.
    subsets : sequence of 5 Triple
        S1 to S5.
    seed : int
        See :func:`fold_members`.

    Returns
    -------
    fold : int
        1 to 5.
    parts : dict of str to Triple
        ``train``, ``valid`` and ``test``.

    Raises
    ------
    DamagedData
        If a query is in two subsets.
    """
    queries = [np.unique(query) for _, _, query in subsets]
    values, times = np.unique(np.concatenate(queries), return_counts=True)
    if (times > 1).any():
        torn = int(values[np.argmax(times > 1)])
        raise DamagedData(f"{name}: query {torn} is in two of the five subsets")
    number, members = fold_members(seed)
    return number, {
        part: tuple(np.concatenate([subsets[i][k] for i in which]) for k in range(3))
        for part, which in members.items()
    }


def sample_queries(stream: str, seed: int, query: np.ndarray, size: int) -> np.ndarray | slice:
    """Draw whole queries up to a number of documents.

    Parameters
    ----------
    stream, seed
        Name and repetition for :func:`datasets.splits.split_generator`.
    query : ndarray of shape (n,)
        Queries in contiguous blocks.
    size : int
        Documents wanted at most.

    Returns
    -------
    ndarray of int64, or slice
        Row numbers in the order of the file; everything if that is few enough.
    """
    if query.size <= size:
        return slice(None)
    first = np.flatnonzero(np.r_[True, query[1:] != query[:-1]])
    lengths = np.diff(np.r_[first, query.size])
    order = split_generator(stream, seed).permutation(first.size)
    n_queries = int(np.searchsorted(np.cumsum(lengths[order]), size, side="right"))
    chosen = np.zeros(first.size, dtype=bool)
    chosen[order[:n_queries]] = True
    return np.flatnonzero(np.repeat(chosen, lengths))
