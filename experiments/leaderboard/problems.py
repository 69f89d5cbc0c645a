"""From a data set of the suite to the problem that every method is given."""

from __future__ import annotations

import numpy as np
import pandas as pd

from datasets import load as load_dataset
from datasets.dataset import Dataset, checksum
from experiments.leaderboard import families
from experiments.leaderboard.fields import SCALES, UNIFORM, Field
from experiments.leaderboard.rows import rows_of
from experiments.methods.problem import PARTS, Part, Problem

METRICS = {"classification": "accuracy", "ranking": "ndcg@5"}


def load(name: str, *, scale: str, data: str = "real", seed: int = 0) -> Problem:
    """Load a field.

    Parameters
    ----------
    name : str
        Such as ``thyroid@dollars``.
    scale : str
        One of :data:`experiments.leaderboard.fields.SCALES`.
    data : ignored
        It is always real data.
    seed : int
        Of the split and of the rows that are drawn.
    """
    field, size = Field.named(name), SCALES[scale]
    if field.of_families:
        dataset = families.table(field.dataset, size.of_data, size.rows, seed)
    else:
        dataset = load_dataset(field.dataset, scale=size.of_data, data="real", seed=seed)
    return problem_of(dataset, field.prices, size.rows, seed)


def problem_of(dataset: Dataset, prices: str, most: tuple[int, int, int], seed: int) -> Problem:
    """Draw rows of a data set and give it prices."""
    task = "ranking" if dataset.task == "ranking" else "classification"
    names, parts = _names(dataset), {}
    for part, n in zip(PARTS, most, strict=True):
        X, y = getattr(dataset, f"X_{part}"), getattr(dataset, f"y_{part}")
        query = getattr(dataset, f"query_{part}")
        rows = rows_of(part, len(y), query, n, seed)
        query = None if query is None else np.asarray(query[rows], dtype=np.int64)
        table = pd.DataFrame(np.asarray(X[rows], dtype=np.float64), columns=names)
        parts[part] = Part(table, y[rows], query, query, None)
    listed = _prices(dataset, prices)
    arrays = {
        f"{name}_{part}": value
        for part in PARTS
        for name, value in (
            ("X", parts[part].X.to_numpy()),
            ("y", parts[part].y),
            ("query", parts[part].query),
        )
    }
    seen = {**arrays, "feature_costs": listed["feature_costs"]}
    if listed["feature_groups"] is not None:
        seen["groups"] = np.array(listed["feature_groups"])
        seen["group_costs"] = np.array(list((listed["group_costs"] or {}).values()))
    provenance = {"checksum": checksum(seen), "kind": dataset.provenance["kind"]}
    return Problem(task, METRICS[task], parts, split_cost=0.0, provenance=provenance, **listed)


def _names(dataset: Dataset) -> list[str]:
    names = [str(name) for name in dataset.feature_names]
    return names if len(set(names)) == len(names) else [f"x{m}" for m in range(len(names))]


def _prices(dataset: Dataset, prices: str) -> dict:
    if prices == UNIFORM:
        ones = np.ones(dataset.n_features)
        return {"feature_costs": ones, "feature_groups": None, "group_costs": None}
    groups, of_groups = dataset.feature_groups, dataset.group_costs
    return {
        "feature_costs": dataset.feature_costs,
        "feature_groups": None if groups is None else [f"g{label}" for label in groups],
        "group_costs": None
        if of_groups is None
        else {f"g{label}": float(price) for label, price in of_groups.items()},
    }
