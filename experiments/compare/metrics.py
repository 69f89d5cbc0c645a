"""Scores that are means over units, rows or queries, or over classes of such means.

So units can be resampled, and the score computed anew of each resample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from algorithms.metrics import (
    average_precision_at_k,
    ndcg_at_k,
    ndcg_letor_at_k,
    precision_at_k,
)
from experiments.compare.fields import Refused
from experiments.methods.problem import Part

_RANKINGS: dict[str, Callable] = {
    "ndcg": ndcg_at_k,
    "ndcg_letor": ndcg_letor_at_k,
    "average_precision": average_precision_at_k,
    "precision": precision_at_k,
}
DEFAULT = {
    "classification": "accuracy",
    "regression": "neg_mean_squared_error",
    "ranking": "ndcg@5",
}
CHOICES = {
    "classification": ("accuracy", "balanced_accuracy"),
    "regression": ("neg_mean_squared_error", "neg_mean_absolute_error"),
    "ranking": tuple(f"{name}@k" for name in _RANKINGS),
}


class Units(NamedTuple):
    """What a score is the weighted mean of; where units have strata, the plain mean over these."""

    value: np.ndarray  # (n_units,) float64: larger is better
    weight: np.ndarray  # (n_units,) float64
    cluster: np.ndarray  # (n_units,) int64: units with one number are resampled together
    stratum: np.ndarray  # (n_units,) int64: 0, 1, …: the class, of balanced accuracy; else 0

    def mean(self) -> float:
        """Weighted mean, of each stratum."""
        each = (self.stratum == k for k in np.unique(self.stratum))
        return float(np.mean([np.average(self.value[k], weights=self.weight[k]) for k in each]))


def known(task: str, metric: str) -> bool:
    """Whether a metric fits a task."""
    if task != "ranking":
        return metric in CHOICES[task]
    name, _, k = metric.partition("@")
    return name in _RANKINGS and k.isascii() and k.isdigit() and len(k) <= 9 and int(k) >= 1


def check_relevant(metric: str, grades: np.ndarray, whose: str, advice: str) -> None:
    """Refuse grades of which no query has a score, by a metric that counts what is relevant."""
    counts = metric.partition("@")[0] in ("precision", "average_precision")
    if counts and not np.any(grades >= 1):
        raise Refused(
            f"{metric} counts documents of grade 1 or more, and {whose} has none: {advice}."
        )


def units(metric: str, part: Part, predicted: np.ndarray) -> Units:
    """Score each unit of a part."""
    if part.query is not None and "@" in metric:
        name, k = metric.split("@")
        by_query = _RANKINGS[name](part.y, predicted, part.query, int(k), per_query=True)
        there = np.flatnonzero(~np.isnan(by_query))
        first = np.flatnonzero(np.diff(part.query, prepend=-1))
        ones, one_stratum = np.ones(len(there)), np.zeros(len(there), dtype=np.int64)
        return Units(by_query[there], ones, part.cluster[first[there]], one_stratum)
    weight = np.ones(len(part)) if part.weight is None else part.weight
    stratum = np.zeros(len(part), dtype=np.int64)
    if metric in ("accuracy", "balanced_accuracy"):
        value = (np.asarray(predicted) == part.y).astype(np.float64)
        if metric == "balanced_accuracy":
            stratum = np.unique(part.y, return_inverse=True)[1]
    else:
        error = np.asarray(predicted, dtype=np.float64) - part.y
        value = -np.square(error) if metric == "neg_mean_squared_error" else -np.abs(error)
    cluster = np.arange(len(part)) if part.cluster is None else part.cluster
    return Units(value, weight, cluster, stratum)


def mean_cost(part: Part, costs: np.ndarray) -> float:
    """Mean cost of a prediction, weighted as rows are."""
    return float(np.average(costs, weights=part.weight))
