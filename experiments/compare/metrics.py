"""Scores of models: of weighted units, rows or queries, so that each can be computed anew.

Units are resampled, and the score is that of the units with the weights of a resample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from algorithms.metrics import (
    average_precision_at_k,
    ndcg_at_k,
    ndcg_letor_at_k,
    precision_at_k,
)
from experiments.compare.fields import Refused
from experiments.methods.problem import Part, Problem

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
OF_TWO = ("roc_auc", "average_precision", "f1")
"""Metrics of two classes, one of which is the positive one: the rarer."""

CHOICES = {
    "classification": ("accuracy", "balanced_accuracy", "neg_log_loss", *OF_TWO),
    "regression": (
        *("neg_mean_squared_error", "neg_root_mean_squared_error"),
        "neg_mean_absolute_error",
    ),
    "ranking": tuple(f"{name}@k" for name in _RANKINGS),
}
_ALSO_CALLED = {
    "auc": "roc_auc",
    "ap": "average_precision",
    "log_loss": "neg_log_loss",
    "mse": "neg_mean_squared_error",
    "rmse": "neg_root_mean_squared_error",
    "mae": "neg_mean_absolute_error",
}
_OFTEN = 0.9  # of a class that accuracy all but follows


class Units(NamedTuple):
    """What a score is computed of: units with weights."""

    value: np.ndarray  # (n_units,) float64; of a mean, the larger the better
    weight: np.ndarray  # (n_units,) float64
    cluster: np.ndarray  # (n_units,) int64: units with one number are resampled together
    # (n_units,) int64: 0, 1, …: the class, of balanced accuracy; whether it is the positive one, of
    # metrics of two classes; else 0
    stratum: np.ndarray
    # "mean": the weighted mean of each stratum, and the plain mean of these; else a key of ``ANEW``
    how: str = "mean"

    def score(self) -> float:
        """Give the score; NaN where it has none, of a part without positives, say."""
        if self.how != "mean":
            return float(ANEW[self.how](self.value, self.stratum == 1, self.weight[None])[0])
        each = (self.stratum == k for k in np.unique(self.stratum))
        return float(np.mean([np.average(self.value[k], weights=self.weight[k]) for k in each]))

    def to_json(self) -> dict[str, Any]:
        """Give what :meth:`of_json` reads, among other things."""
        arrays = self._asdict()
        return {"how": arrays.pop("how"), **{n: v.tolist() for n, v in arrays.items()}}

    @classmethod
    def of_json(cls, stored: dict[str, Any]) -> Units:
        """Read what :meth:`to_json` gave."""
        arrays = (np.array(stored[name]) for name in cls._fields[:-1])
        return cls(*arrays, stored["how"])


# --- scores that are no means, of rows with any weights (n_resamples, n): (n_resamples,) ----------


def _tied(value: np.ndarray, positive: np.ndarray, weights: np.ndarray):
    """Weights of positives and of others at each different value, ascending."""
    order = np.argsort(value, kind="stable")
    first = np.flatnonzero(np.diff(value[order], prepend=np.nan) != 0)
    weights = weights[:, order]
    of_positives = np.add.reduceat(weights * positive[order], first, axis=1)
    return of_positives, np.add.reduceat(weights, first, axis=1) - of_positives


def _roc_auc(value: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> np.ndarray:
    P, N = _tied(value, positive, weights)
    below = np.cumsum(N, axis=1) - N / 2
    with np.errstate(invalid="ignore"):
        return np.sum(P * below, axis=1) / (P.sum(axis=1) * N.sum(axis=1))


def _average_precision(value: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> np.ndarray:
    P, N = _tied(-value, positive, weights)
    above = np.cumsum(P, axis=1)
    with np.errstate(invalid="ignore"):
        precision = np.nan_to_num(above / (above + np.cumsum(N, axis=1)))
        return np.sum(P * precision, axis=1) / P.sum(axis=1)


def _f1(value: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> np.ndarray:
    both = weights @ (value * positive)
    of_each = weights @ (value + positive)
    return 2 * both / np.where(of_each > 0, of_each, 1.0)


def _root(value: np.ndarray, _: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return -np.sqrt(weights @ value / weights.sum(axis=1))


ANEW: dict[str, Callable[..., np.ndarray]] = {
    "roc_auc": _roc_auc,
    "average_precision": _average_precision,
    "f1": _f1,
    "neg_root_mean_squared_error": _root,
}
"""Scores by ``(values (n,), which units are positive (n,), weights (n_resamples, n))``."""


# --- which metric ---------------------------------------------------------------------------------


def called(metric: str) -> str:
    """Give a metric's name, whatever people call it."""
    return _ALSO_CALLED.get(metric.lower(), metric)


def known(task: str, metric: str) -> bool:
    """Whether a metric fits a task."""
    if task != "ranking":
        return metric in CHOICES[task]
    name, _, k = metric.partition("@")
    return name in _RANKINGS and k.isascii() and k.isdigit() and len(k) <= 9 and int(k) >= 1


def proposed(y: np.ndarray) -> str:
    """Give the metric of a classification that asks for none, by the numbers of its classes."""
    counts = np.bincount(y)
    if counts.max() < _OFTEN * counts.sum():
        return DEFAULT["classification"]
    return "average_precision" if len(counts) == 2 else "balanced_accuracy"


def asks(metric: str) -> str:
    """Say what a metric asks of a model: "likelihoods" and "scores" of classes, or "answers"."""
    if metric == "neg_log_loss":
        return "likelihoods"
    return "scores" if metric in ("roc_auc", "average_precision") else "answers"


def rarer(y: np.ndarray) -> int:
    """Give the number of the rarer of two classes, the second of equal ones."""
    counts = np.unique(y, return_counts=True)[1]
    return int(counts[0] >= counts[-1])


def check_relevant(metric: str, grades: np.ndarray, whose: str, advice: str) -> None:
    """Refuse grades of which no query has a score, by a metric that counts what is relevant."""
    counts = metric.partition("@")[0] in ("precision", "average_precision")
    if counts and not np.any(grades >= 1):
        raise Refused(
            f"{metric} counts documents of grade 1 or more, and {whose} has none: {advice}."
        )


def positive(problem: Problem) -> Any:
    """Give the positive class of a problem, None where the metric knows none."""
    if problem.metric not in OF_TWO:
        return None
    y = problem.parts["train"].y
    return np.unique(y)[rarer(y)]


def units(metric: str, part: Part, predicted: np.ndarray, positive: Any = None) -> Units:
    """Score each unit of a part.

    Parameters
    ----------
    metric : str
    part : Part
    predicted : (n,)
        What :func:`asks` says: scores are the larger the likelier the positive class, likelihoods
        those of the row's own class.
    positive : class, optional
        The positive one, of metrics of two classes.
    """
    if part.query is not None and "@" in metric:
        return _of_queries(metric, part, predicted)
    weight = np.ones(len(part)) if part.weight is None else part.weight
    cluster = np.arange(len(part)) if part.cluster is None else part.cluster
    stratum = np.zeros(len(part), dtype=np.int64)
    how = metric if metric in ANEW else "mean"
    if metric in OF_TWO:
        stratum = (part.y == positive).astype(np.int64)
        found = predicted == positive if metric == "f1" else predicted
        value = np.asarray(found, dtype=np.float64)
    elif metric == "neg_log_loss":
        least = np.finfo(np.float64).eps  # as scikit-learn bounds likelihoods
        value = np.log(np.clip(predicted, least, 1.0))
    elif metric in ("accuracy", "balanced_accuracy"):
        value = (np.asarray(predicted) == part.y).astype(np.float64)
        if metric == "balanced_accuracy":
            stratum = np.unique(part.y, return_inverse=True)[1]
    else:
        error = np.asarray(predicted, dtype=np.float64) - part.y
        value = -np.abs(error)
        if "squared" in metric:
            value = np.square(error) if metric in ANEW else -np.square(error)
    return Units(value, weight, cluster, stratum, how)


def _of_queries(metric: str, part: Part, predicted: np.ndarray) -> Units:
    name, k = metric.split("@")
    by_query = _RANKINGS[name](part.y, predicted, part.query, int(k), per_query=True)
    there = np.flatnonzero(~np.isnan(by_query))
    first = np.flatnonzero(np.diff(part.query, prepend=-1))
    ones, one_stratum = np.ones(len(there)), np.zeros(len(there), dtype=np.int64)
    return Units(by_query[there], ones, part.cluster[first[there]], one_stratum)


def mean_cost(part: Part, costs: np.ndarray) -> float:
    """Mean cost of a prediction, weighted as rows are."""
    return float(np.average(costs, weights=part.weight))
