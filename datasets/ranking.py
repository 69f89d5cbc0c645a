"""What the ranking sets share: folds, samples of whole queries, copies, facts, costs, record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from datasets.dataset import Dataset
from datasets.errors import DamagedData
from datasets.sources.find import Form, Found, RawFile, find
from datasets.splits import split_generator

N_FOLDS = 5
FEW_DOCUMENTS = 5
"""Measures at rank 5 have nothing to cut off in a query with fewer documents."""
Triple = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Features, labels and queries of the same rows."""
Counts = tuple[int, int]
"""Documents and queries."""


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


def dataset(
    name: str,
    arrays: dict[str, np.ndarray],
    costs: np.ndarray,
    cost_origin: str,
    feature_names: tuple[str, ...],
    provenance: dict[str, Any],
    cost_unit: str = "relative cost",
) -> Dataset:
    """Put the record of a ranking set together."""
    return Dataset(
        name=name,
        task="ranking",
        **arrays,
        feature_costs=costs,
        cost_unit=cost_unit,
        cost_origin=cost_origin,
        feature_names=feature_names,
        provenance=provenance,
    )


@dataclass(frozen=True)
class Priced:
    """Features of kinds and streams, with a table of prices of our own."""

    streams: tuple[str, ...]
    features: tuple[tuple[str, str], ...]  # Kind and stream; no stream for those of the document
    prices: dict[str, tuple[int, ...]]  # Of each kind, by stream
    document_prices: dict[str, int]

    @property
    def names(self) -> tuple[str, ...]:
        """Name the features."""
        return tuple(f"{kind}_{stream}" if stream else kind for kind, stream in self.features)

    @property
    def costs(self) -> np.ndarray:
        """Give the price of each feature, in relative units."""
        priced = [
            self.prices[kind][self.streams.index(stream)] if stream else self.document_prices[kind]
            for kind, stream in self.features
        ]
        return np.array(priced, dtype=np.float64)


def published_costs(file: RawFile) -> tuple[np.ndarray, str, list[dict]]:
    """Give the costs of the joint cascade ranking code, their origin, and the file's record."""
    found = find(file)
    origin = "published with the WSDM 2019 joint cascade ranking code, one cost per feature"
    return np.loadtxt(found.path, dtype=np.float64), origin, [found.record()]


def cost_file(title: str, filename: str, sha256: str, size: int, path: str) -> RawFile:
    """Declare a table of costs of the joint cascade ranking code."""
    address = f"https://raw.githubusercontent.com/rmit-ir/joint-cascade-ranking/{path}"
    return RawFile(
        folder="costs",
        title=f"{title} feature costs",
        terms="MIT (rmit-ir/joint-cascade-ranking)",
        advice=f"allow access to raw.githubusercontent.com, or put {filename} into the folder "
        "costs/ of COST_AWARE_BOOSTING_MIRROR.",
        forms=(Form(filename, "text", sha256, size, (address,)),),
    )


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
    name: str, loaded: Sequence[tuple[dict[str, np.ndarray], Found]], seed: int, counts: Counts
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Put a fold together from the tables of S1 to S5, refused where documents are missing."""
    tables = [one for one, _ in loaded]
    n_queries = sum(np.unique(table["query"]).size for table in tables)
    if (sum(table["y"].size for table in tables), n_queries) != counts:
        raise DamagedData(
            f"{loaded[0][1].path.parent}: {sum(table['y'].size for table in tables)} documents and "
            f"{n_queries} queries instead of {name}'s {counts[0]} and {counts[1]}"
        )
    record, rows = fold_rows(name, [table["query"] for table in tables], seed)
    X, y, query = (np.concatenate([table[k] for table in tables]) for k in ("X", "y", "query"))
    arrays, facts = part_arrays({p: (X[at], y[at], query[at]) for p, at in rows.items()})
    return arrays, fold_provenance(loaded, record, facts)


def fold_provenance(loaded: Sequence, record: dict, facts: dict, costs: Sequence = ()) -> dict:
    """Say which files a fold comes from, and what it is."""
    files = {file.path: file.record() for _, file in loaded}
    source = loaded[0][1].source
    return {"source": source, "files": [*files.values(), *costs], **record, "queries": facts}


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
