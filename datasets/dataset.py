"""The record that :func:`datasets.load` returns, and its checksum."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SCALES = ("smoke", "laptop", "paper")
ARRAYS = ("X_train", "y_train", "X_valid", "y_valid", "X_test", "y_test")
QUERIES = ("query_train", "query_valid", "query_test")


@dataclass(frozen=True)
class Dataset:
    """One data set, split, with what its features cost.

    Attributes
    ----------
    name : str
        Name under which it was loaded.
    task : {"binary", "multiclass", "regression", "ranking"}
        Kind of target. Ranking targets are graded labels as float64, class labels are int64.
    X_train, X_valid, X_test : ndarray of shape (n, d), float64, C order
        Features.
    y_train, y_valid, y_test : ndarray of shape (n,)
        Targets.
    feature_costs : ndarray of shape (d,), float64
        Cost of acquiring a feature for one row, in ``cost_unit``.
    cost_unit, cost_origin : str
        The unit of the costs, and who says so.
    feature_names : tuple of str
        d names.
    query_train, query_valid, query_test : ndarray of shape (n,), int64, or None
        Query of each row, in contiguous blocks; None unless the task is ranking.
    feature_groups : ndarray of shape (d,), int64, or None
        Features with one label are acquired together; None if each comes alone.
    group_costs : dict of int to float, or None
        For groups with remainders: a price for every label in ``feature_groups``, in
        ``cost_unit``, paid once per row with the first feature of the group that the row asks
        for. ``feature_costs`` is then what each feature costs *besides*. None: the features of a
        group come together for the price of any of them.
    test_numbers : ndarray of shape (n,), int64, or None
        Which units of the set the test rows are, where their features depend on the draw, so that
        equal units do not have equal rows.
    provenance : dict
        JSON-able: where the arrays came from, under which terms, what is missing, how they were
        split, and ``checksum``, the SHA-256 of the arrays delivered.
    """

    name: str
    task: str
    X_train: np.ndarray
    y_train: np.ndarray
    X_valid: np.ndarray
    y_valid: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    feature_costs: np.ndarray
    cost_unit: str
    cost_origin: str
    feature_names: tuple[str, ...]
    query_train: np.ndarray | None = None
    query_valid: np.ndarray | None = None
    query_test: np.ndarray | None = None
    feature_groups: np.ndarray | None = None
    group_costs: dict[int, float] | None = None
    test_numbers: np.ndarray | None = None
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return self.X_train.shape[1]

    def __post_init__(self) -> None:
        """Refuse prices of groups that are not those of ``feature_groups``."""
        if self.group_costs is None:
            return
        if self.feature_groups is None:
            raise ValueError("group_costs without feature_groups: nothing says what is in a group")
        labels = set(np.asarray(self.feature_groups).tolist())
        if labels != set(self.group_costs):
            raise ValueError(
                f"group_costs must price exactly the groups {sorted(labels)}, "
                f"not {sorted(self.group_costs)}"
            )
        prices = np.array(list(self.group_costs.values()), dtype=np.float64)
        if not (np.isfinite(prices) & (prices >= 0)).all():
            raise ValueError("group_costs must be finite and 0 or more")


def uniform(
    name: str,
    task: str,
    arrays: dict[str, np.ndarray],
    feature_names: tuple[str, ...],
    provenance: dict[str, Any],
    cost_origin: str = "uniform (no costs are known)",
) -> Dataset:
    """Put a data set together of which every feature costs 1."""
    return Dataset(
        name=name,
        task=task,
        **arrays,
        feature_costs=np.ones(len(feature_names)),
        cost_unit="features",
        cost_origin=cost_origin,
        feature_names=feature_names,
        provenance=provenance,
    )


def checksum(arrays: dict[str, np.ndarray | None]) -> str:
    """Give the SHA-256 over names, dtypes, shapes and bytes of arrays."""
    digest = hashlib.sha256()
    for name, array in arrays.items():
        if array is None:
            continue
        array = np.ascontiguousarray(array)
        if array.dtype.byteorder == ">":
            array = array.astype(array.dtype.newbyteorder("<"))
        digest.update(f"{name}:{array.dtype.str}:{array.shape};".encode())
        if array.size:
            digest.update(memoryview(array).cast("B"))
    return digest.hexdigest()


def dataset_checksum(dataset: Dataset) -> str:
    """Give the SHA-256 over everything in a data set that a fit or a cost meter reads."""
    names = (*ARRAYS, *QUERIES, "feature_costs", "feature_groups")
    arrays = {name: getattr(dataset, name) for name in names}
    if dataset.group_costs is not None:
        arrays["group_costs"] = np.array(sorted(dataset.group_costs.items()), dtype=np.float64)
    return checksum(arrays)
