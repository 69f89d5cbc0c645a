"""From a user's table to the problem that trials read: what is asked, and the split."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupShuffleSplit, train_test_split

from algorithms.raw_tables.fields import key
from algorithms.validation.prices import listed
from experiments.compare import limits, metrics
from experiments.compare.class_weights import class_weights, counted
from experiments.compare.features import Features, features_of
from experiments.compare.fields import Column, Complaints, Refused, spelling
from experiments.compare.labels import as_numbers
from experiments.compare.problem import load, write
from experiments.compare.reading import Table, read_table, shown
from experiments.compare.tables import Prices, take
from experiments.compare.target import Target
from experiments.methods.facts import Facts
from experiments.methods.problem import PARTS

log = logging.getLogger(__name__)

VALID, TEST = 0.2, 0.2
"""Shares of the rows (queries, groups) that choose and that judge; without a test file."""

_FEWEST_ROWS = 50
_FEWEST_CLUSTERS = 10
_FEWEST_OF_A_CLASS = 5


@dataclass(frozen=True)
class Asked:
    """What the command was asked; see its options."""

    table: Path
    target: str
    costs: Path | None = None
    test: Path | None = None
    query: str | None = None
    groups: str | None = None
    weight: str | None = None
    class_weight: Sequence[str] = ()
    drop: Sequence[str] = ()
    task: str | None = None
    metric: str | None = None
    split_cost: float = 0.0
    unit: str | None = None
    seed: int = 0

    @property
    def special(self) -> list[str]:
        """Columns that are no features."""
        named = [self.target, self.query, self.groups, self.weight, *self.drop]
        return [name for name in named if name is not None]


@dataclass(frozen=True)
class Prepared:
    """What trials need, and what the summary says of it.

    `facts` decide which methods fit, `notes` say how the files were read, where that may surprise;
    `loss` is that of the best constant, for a row.
    """

    path: Path
    checksum: str
    task: str
    metric: str
    prices: Prices
    n_rows: dict[str, int]
    resampled: str
    facts: Facts
    loss: float
    notes: tuple[str, ...] = ()
    has_text: bool = False  # Whether there are columns of text


def prepare(asked: Asked, folder: Path) -> Prepared:
    """Read, check and split a table, and write it for the workers."""
    columns, features, target, of_classes = _read(asked)
    names, prices = features.names, features.prices
    task, metric, classes = target.task, target.metric, target.classes
    notes = [*target.notes, *features.notes]
    columns = _numbered({**columns, "X": features.X, "y": target.values})
    _check_queries(columns)
    rows = {"all": columns}
    if asked.test is not None:
        rows["test"], further = _test_rows(asked, features, target)
        notes += further
    for note in notes:
        log.info("note: %s", note)
    parts = _scaled(_split(rows, task, asked.seed))
    _check_parts(parts, classes, task, metric)
    loss = _loss_of_a_constant(parts["train"], task, of_classes)
    _check_prices_against(loss, prices, asked.split_cost)
    meta = {
        "task": task,
        "metric": metric,
        "names": names,
        "classes": classes,
        "feature_groups": prices.feature_groups,
        "group_costs": prices.group_costs,
        "split_cost": asked.split_cost,
        **({} if of_classes is None else {"class_weight": of_classes}),
        **({} if features.own is None else {"own": features.own.to_json()}),
    }
    arrays = {f"{key}_{part}": parts[part][key] for part in PARTS for key in parts[part]}
    arrays["feature_costs"] = prices.feature_costs
    path = write(folder, arrays, meta)
    problem = load(str(path))
    return Prepared(
        path,
        problem.provenance["checksum"],
        task,
        metric,
        prices,
        {part: len(parts[part]["y"]) for part in PARTS},
        "queries" if asked.query else "groups" if asked.groups else "rows",
        replace(Facts.of(problem), asks=metrics.asks(metric)),
        loss,
        tuple(notes),
        bool(features.codes),
    )


# --- what is asked ------------------------------------------------------------------------------


def _read(asked: Asked) -> tuple[dict[str, Any], Features, Target, Any]:
    """Read table and price list; all that is wrong with them is said at once (Refused)."""
    complaints, columns, target = Complaints(), None, None
    with complaints.heard():
        limits.check_split_cost(asked.split_cost)
    table = read_table(asked.table, _labels(asked))
    absent = [name for name in asked.drop if table.named(name) is None]
    if absent:
        complaints.said.append(f"{table.file} has no column {listed(absent)}, which --drop names.")
    with complaints.heard():
        columns = _columns(asked, table)
    with complaints.heard():
        features = features_of(
            table,
            [table.named(name) for name in asked.special],
            asked.costs,
            lambda texts: read_table(asked.table, [*_labels(asked), *texts]),
        )
    with complaints.heard():
        if columns is not None:
            target = Target.of(columns["y"], asked.target, asked.task, asked.query, asked.metric)
    with complaints.heard():
        if target is not None:
            of_classes = class_weights(asked.class_weight, target.task, target.classes)
    complaints.refuse()
    return columns, features, target, of_classes


def _labels(asked: Asked) -> list[str]:
    """Columns that options give a meaning."""
    named = [asked.target, asked.query, asked.groups, asked.weight]
    return [name for name in named if name is not None]


def _columns(asked: Asked, table: Table) -> dict[str, Any]:
    """Give the columns that options name."""
    complaints, found = Complaints(), {}
    with complaints.heard():
        found["y"] = take(table, asked.target, "--target")
    with complaints.heard():
        found["query"] = _keys(take(table, asked.query, "--query"))
    with complaints.heard():
        found["cluster"] = _keys(take(table, asked.groups, "--groups"))
    with complaints.heard():
        found["weight"] = _weights(take(table, asked.weight, "--weight"), asked.weight)
    complaints.refuse()
    return found


def _weights(column: Column | None, name: str | None) -> np.ndarray | None:
    weight = None if column is None else as_numbers(column)
    if column is not None:
        if weight is None or not np.all(np.isfinite(weight) & (weight > 0)):
            others = spelling(column.text) or "others"
            raise Refused(f"Weights must be numbers above 0: column {name!r} has {others}.")
        limits.check_weights(weight, name)
    return weight


def _keys(column: Column | None) -> np.ndarray | None:
    """Number queries or groups by their text: 7 and 007 are two."""
    if column is None:
        return None
    number, texts = pd.factorize(column.text)
    return pd.factorize(np.array([key(text) for text in texts], dtype=object))[0][number]


def _numbered(columns: dict[str, Any]) -> dict[str, Any]:
    """Give queries and groups as numbers, and the rows of a query as one block."""
    for name in ("query", "cluster"):
        if columns[name] is not None:
            columns[name] = columns[name].astype(np.int64)
    if columns["query"] is not None:
        if columns["cluster"] is None:
            columns["cluster"] = columns["query"]
        order = np.argsort(columns["query"], kind="stable")
        columns = _rows(columns, order)
    return columns


def _check_queries(columns: dict[str, Any]) -> None:
    """Refuse a query whose rows are in several groups."""
    query, cluster = columns["query"], columns["cluster"]
    if query is not None and np.any((np.diff(query) == 0) & (np.diff(cluster) != 0)):
        raise Refused("--groups must keep queries whole: a query has rows in two groups.")


def _rows(columns: dict[str, Any], rows: np.ndarray) -> dict[str, Any]:
    return {name: None if v is None else v[rows] for name, v in columns.items()}


def _test_rows(
    asked: Asked, features: Features, target: Target
) -> tuple[dict[str, Any], list[str]]:
    """Read the test file, whose columns must be those of the table; say what only it has."""
    labels = _labels(asked)
    table = read_table(asked.test, [*labels, *features.codes])
    wanted = [*features.columns, *labels]
    lacking = [name for name in wanted if table.named(name) is None]
    if lacking:
        raise Refused(f"{table.file} lacks the columns {listed(lacking)} of {shown(asked.table)}.")
    complaints, columns = Complaints(), {}
    with complaints.heard():
        columns = _columns(asked, table)
        columns["y"] = target.of_another_file(columns["y"], table.file, shown(asked.table))
    with complaints.heard():
        columns["X"] = features.of_another_file(table)
    complaints.refuse()
    return _numbered(columns), features.only_in(table)


# --- the split ----------------------------------------------------------------------------------


def _split(rows: dict[str, dict], task: str, seed: int) -> dict[str, dict]:
    """Cut the rows; queries and groups stay whole, classes keep their shares."""
    everything = rows["all"]
    _check_size(everything, task)
    if "test" in rows:
        rest, test = everything, rows["test"]
    else:
        kept, held_out = _cut(everything, TEST, task, seed)
        rest, test = _rows(everything, kept), _rows(everything, held_out)
    share = VALID if "test" in rows else VALID / (1 - TEST)
    train, valid = _cut(rest, share, task, seed + 1)
    return {"train": _rows(rest, train), "valid": _rows(rest, valid), "test": test}


def _check_size(columns: dict[str, Any], task: str) -> None:
    n = len(columns["y"])
    if n < _FEWEST_ROWS:
        raise Refused(
            f"The table has {n} rows; training, choosing and judging need at least {_FEWEST_ROWS}."
        )
    if columns["cluster"] is not None:
        n_clusters, what = len(np.unique(columns["cluster"])), "groups"
        if columns["query"] is not None:
            what = "queries"
        if n_clusters < _FEWEST_CLUSTERS:
            raise Refused(
                f"The table has {n_clusters} {what}, which the split keeps whole; at least "
                f"{_FEWEST_CLUSTERS} are needed."
            )
    if task == "classification":
        counts = np.bincount(columns["y"])
        if counts.min() < _FEWEST_OF_A_CLASS:
            raise Refused(
                f"A class of the target has {counts.min()} rows only; each part of the split needs "
                f"some, so at least {_FEWEST_OF_A_CLASS}: leave it out or join it to another class."
            )


def _cut(columns: dict[str, Any], share: float, task: str, seed: int):
    """Give row numbers of the larger and of the smaller part, both ascending."""
    everything = np.arange(len(columns["y"]))
    if columns["cluster"] is not None:
        splitter = GroupShuffleSplit(1, test_size=share, random_state=seed)
        larger, smaller = next(splitter.split(everything, groups=columns["cluster"]))
    else:
        strata = columns["y"] if task == "classification" else None
        larger, smaller = train_test_split(
            everything, test_size=share, random_state=seed, stratify=strata
        )
    return np.sort(larger), np.sort(smaller)


def _check_parts(parts: dict[str, dict], classes: list | None, task: str, metric: str) -> None:
    for part, columns in parts.items():
        if task == "classification":
            absent = np.setdiff1d(np.arange(len(classes)), columns["y"])
            if len(absent) and part == "train":
                raise Refused(
                    f"No training row has the class {classes[absent[0]]!r}: with groups this can "
                    "happen; try another --seed, or leave the class out."
                )
            if len(absent) and metric in metrics.OF_TWO:
                raise Refused(
                    f"The {part} part has no row of the class {classes[absent[0]]!r}, without "
                    f"which {metric} has no value: try another --seed."
                )
        elif np.ptp(columns["y"]) == 0:
            raise Refused(f"The target has one value only in the {part} part: try another --seed.")
        elif part != "train":
            metrics.check_relevant(metric, columns["y"], f"the {part} part", "try another --seed")


def _scaled(parts: dict[str, dict]) -> dict[str, dict]:
    """Scale weights to a mean of 1 over the training rows: least rows of a leaf count weight.

    They are rounded to 40 bits, so that any common factor gives the same weights.
    """
    weight = parts["train"]["weight"]
    if weight is None:
        return parts
    largest = max(float(part["weight"].max()) for part in parts.values())
    mean = math.fsum(weight / largest) / len(weight)
    for part in parts.values():
        fraction, exponent = np.frexp(part["weight"] / largest / mean)
        part["weight"] = np.ldexp(np.rint(np.ldexp(fraction, 40)), exponent - 40)
    return parts


def _loss_of_a_constant(train: dict, task: str, of_classes: str | list[float] | None) -> float:
    y = train["y"]
    if task == "classification":
        counts = counted(y, of_classes)
        share = counts[counts > 0] / counts.sum()
        return -float(np.sum(share * np.log(share))) * float(counts.sum() / len(y))
    return float(np.var(y)) / 2


def _check_prices_against(loss: float, prices: Prices, split_cost: float) -> None:
    """Refuse prices that no λ can weigh against the loss."""
    positive = np.append(prices.positive(), split_cost if split_cost > 0 else [])
    low, high = np.quantile(positive, [0.1, 0.9])
    with np.errstate(over="ignore"):
        tradeoffs = [1e-4 * loss / high, 0.3 * loss / low]
    limits.check_tradeoffs(tradeoffs, positive, prices.origin)
