"""What methods are given: rows cut into training, validation and test part, and prices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from algorithms.estimators.fitting import weights_by_class
from algorithms.kernels.arrays import read_only

if TYPE_CHECKING:
    from datasets.dataset import Dataset
    from experiments.compare.own_columns import OwnColumns

PARTS = ("train", "valid", "test")
ClassWeight = None | str | dict[Any, float]
ARRAYS = ("X", "y", "query", "cluster", "weight")


@dataclass(frozen=True)
class Part:
    """Rows of one part; trials share them, so that their arrays cannot be written to."""

    X: pd.DataFrame  # Features with their names, float64
    y: np.ndarray  # Classes as the user writes them, numbers, or grades
    query: np.ndarray | None  # Query of each row, in blocks
    # What is resampled together: query or group; None: each row by itself
    cluster: np.ndarray | None
    weight: np.ndarray | None

    def __post_init__(self) -> None:
        for name in ARRAYS[1:]:
            if (values := getattr(self, name)) is not None:
                object.__setattr__(self, name, read_only(values))

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class Problem:
    """What is compared on."""

    task: str  # "classification", "regression" or "ranking"
    metric: str  # See :mod:`experiments.compare.metrics`
    parts: dict[str, Part]
    feature_costs: np.ndarray  # (d,) float64
    feature_groups: list[str] | None
    group_costs: dict[str, float] | None
    split_cost: float
    provenance: dict[str, Any]  # ``checksum`` of all that trials read
    # "balanced", or what rows that are fitted count besides, by their class; a class that is not
    # there 1. Scores are not weighted by it
    class_weight: ClassWeight = None
    # The table's own columns, where some are of text; the features here are numbers
    own: OwnColumns | None = None
    categorical: list[str] | None = None  # Features that are, where these are those columns

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature_costs", read_only(self.feature_costs))

    @property
    def prices(self) -> dict[str, Any]:
        """Prices as every cost meter takes them."""
        return {
            "feature_costs": self.feature_costs,
            "split_cost": self.split_cost,
            "feature_groups": self.feature_groups,
            "group_costs": self.group_costs,
        }

    @property
    def fit(self) -> Part:
        """Rows that models are fitted to: the training part, or more (:func:`with_validation`)."""
        return self.parts.get("fit", self.parts["train"])

    def fit_weight(self, part: Part | None = None) -> np.ndarray | None:
        """Give what rows count in a fit, those of :attr:`fit` if no part is given.

        Returns
        -------
        (n,) float64 or None
            None if all count alike.
        """
        part = self.fit if part is None else part
        if self.class_weight is None:
            return part.weight
        classes, numbers = np.unique(part.y, return_inverse=True)
        return weights_by_class(self.class_weight, classes, numbers, part.weight)

    @property
    def names(self) -> list[str]:
        """Names of the features."""
        return list(self.parts["train"].X.columns)


def of_dataset(
    dataset: Dataset,
    chosen: Callable[[str, int, np.ndarray | None], np.ndarray] | None = None,
    *,
    metric: str = "",
    split_cost: float = 0.0,
) -> Problem:
    """Take a data set of the suite; `chosen` keeps rows, by part, their number and queries."""
    names, parts = [str(name) for name in dataset.feature_names], {}
    if len(set(names)) < len(names):
        names = [f"x{m}" for m in range(len(names))]
    for part in PARTS:
        X, y, query = (getattr(dataset, f"{kind}_{part}") for kind in ("X", "y", "query"))
        rows = slice(None) if chosen is None else chosen(part, len(y), query)
        query = None if query is None else np.asarray(query[rows], dtype=np.int64)
        table = pd.DataFrame(np.asarray(X[rows], dtype=np.float64), columns=names)
        parts[part] = Part(table, y[rows], query, query, None)
    groups, of_groups = dataset.feature_groups, dataset.group_costs
    return Problem(
        dataset.task if dataset.task in ("regression", "ranking") else "classification",
        metric,
        parts,
        dataset.feature_costs,
        None if groups is None else [f"g{label}" for label in groups],
        None if of_groups is None else {f"g{k}": float(v) for k, v in of_groups.items()},
        split_cost,
        {"kind": dataset.provenance["kind"]},
    )


def with_validation(problem: Problem) -> Problem:
    """Give a problem whose models are fitted to training and validation rows together."""
    train, valid = problem.parts["train"], problem.parts["valid"]
    joined = {
        name: None
        if getattr(train, name) is None
        else np.concatenate([getattr(train, name), getattr(valid, name)])
        for name in ARRAYS[1:]
    }
    both = Part(X=pd.concat([train.X, valid.X], ignore_index=True), **joined)
    return replace(problem, parts={**problem.parts, "fit": both})
