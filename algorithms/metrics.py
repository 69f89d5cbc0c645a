"""Scores of rankings and classifications.

Documents with equal scores are ranked *least relevant first*: a lower bound that does not
depend on the order of the rows. A query without a relevant document has no score (NaN) and is
left out of the mean; the mean of nothing is NaN.

NDCG by the rule of LETOR's evaluation script (:func:`ndcg_letor_at_k`) differs in all three: equal
scores keep the order of the rows, a query without a relevant document counts 0, and the second
place is not discounted.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from reprlib import repr as shortened

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .kernels.decorators import kernel
from .validation.columns import refuse_masked
from .validation.types import Metric

_LARGEST_GRADE = 50  # 2**50 is still exact beside its neighbours
_FEW_PLACES = 64  # more of them are found by sorting all


def _is_missing(label) -> bool:
    """Whether a label is None, NaN or pandas' NA, which has no truth value."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True


def query_starts(query_id: ArrayLike | None) -> np.ndarray:
    """First row of each query."""
    refuse_masked(query_id, "query_id")
    query_id = np.asarray(query_id)
    if query_id.ndim != 1 or len(query_id) == 0:
        raise ValueError("query_id must be one label for each row, and there must be rows.")
    if query_id.dtype.kind == "O":  # text and numbers have no order, so they are numbered
        if any(map(_is_missing, query_id)):
            raise ValueError("query_id must not be missing (None or NaN).")
        number: dict = {}
        numbers = np.array([number.setdefault(label, len(number)) for label in query_id])
    else:
        numbers = query_id
    if numbers.dtype.kind == "f" and np.any(np.isnan(numbers)):
        raise ValueError("query_id must not be missing (NaN).")
    starts = np.flatnonzero(np.concatenate([[True], numbers[1:] != numbers[:-1]]))
    labels = query_id[starts]
    _, first = np.unique(numbers[starts], return_index=True)
    if len(first) < len(labels):
        again = np.setdiff1d(np.arange(len(labels)), first)[0]
        raise ValueError(
            f"The rows of a query must stand together; query {labels[again]} recurs at row "
            f"{starts[again]} after other queries."
        )
    return starts


def _check_ranking(y_true, y_score, query_id, k):
    """Validate the inputs of a ranking metric; return arrays and the queries' first rows."""
    y_true, y_score = _numbers(y_true, "y_true"), _numbers(y_score, "y_score")
    starts = query_starts(query_id)
    lengths = len(y_true), len(y_score), len(np.asarray(query_id))
    if len(set(lengths)) > 1:
        raise ValueError(
            f"y_true, y_score and query_id must have the same length, got {lengths[0]}, "
            f"{lengths[1]} and {lengths[2]}."
        )
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise ValueError(f"k must be a whole number >= 1, got {k!r}.")
    return y_true, y_score, starts, int(k)


def _numbers(values, name: str) -> np.ndarray:
    """Values as a finite one-dimensional float64 array, or ValueError."""
    refuse_masked(values, name)
    try:
        values = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers.") from None
    if values.ndim != 1:
        raise ValueError(f"{name} must be one number for each row, got shape {values.shape}.")
    if not np.all(np.isfinite(values)):
        raise ValueError(f"{name} must not contain NaN or infinity.")
    return values


def _ranks(grades, scores, starts, *, stable=False):
    """Rows in rank order, query after query; each one's query and place (from 0).

    Equal scores are ranked by rising grade, or, if ``stable``, in the order of the rows.
    """
    sizes = np.diff(np.append(starts, len(grades)))
    query = np.repeat(np.arange(len(starts)), sizes)
    keys = (-scores, query) if stable else (grades, -scores, query)
    order = np.lexsort(keys)  # a stable sort
    place = np.arange(len(grades)) - np.repeat(starts, sizes)
    return order, query, place


def _sum_per_query(values, query, n_queries) -> np.ndarray:
    """Add up in row order (bincount adds one after the other, as the reference does)."""
    return np.bincount(query, weights=values, minlength=n_queries)


def _share(numerator, denominator, defined) -> np.ndarray:
    """Quotient where defined, NaN elsewhere."""
    out = np.full(len(numerator), np.nan)
    np.divide(numerator, denominator, out=out, where=defined)
    return out


def _relevant(grades: np.ndarray, relevant_from: float) -> np.ndarray:
    """Whether each document is relevant (n,); ValueError where the grades are on another scale."""
    relevant = grades >= relevant_from
    if not np.any(relevant) and np.any((grades != np.rint(grades)) | (grades < 0)):
        raise ValueError(
            f"No document is relevant: grades go from {np.min(grades):g} to {np.max(grades):g}, "
            f"and relevant are those of {relevant_from:g} or more. Give whole grades from 0, or "
            "another relevant_from."
        )
    return relevant


def mean_over_queries(values: np.ndarray) -> float:
    """Mean of the values that are not NaN (correctly rounded sum); NaN if there is none."""
    kept = values[~np.isnan(values)]
    return math.fsum(kept.tolist()) / len(kept) if len(kept) else math.nan


def precision_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    query_id: ArrayLike | None,
    k: int,
    *,
    relevant_from: float = 1,
    per_query: bool = False,
) -> float | NDArray[np.float64]:
    """Precision at k: share of relevant documents in the first k places.

    A query with fewer than k documents is still divided by k.
    """
    y_true, y_score, starts, k = _check_ranking(y_true, y_score, query_id, k)
    order, query, place = _ranks(y_true, y_score, starts)
    relevant = _relevant(y_true, relevant_from)[order]
    any_relevant = _sum_per_query(relevant, query, len(starts)) > 0
    hits = _sum_per_query(relevant & (place < k), query, len(starts))
    values = _share(hits, float(k), any_relevant)
    return values if per_query else mean_over_queries(values)


def average_precision_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    query_id: ArrayLike | None,
    k: int,
    *,
    relevant_from: float = 1,
    per_query: bool = False,
) -> float | NDArray[np.float64]:
    """Average precision at k: Σ precision@i over the relevant among the first k, over min(R, k).

    R is the number of relevant documents of the query.
    """
    y_true, y_score, starts, k = _check_ranking(y_true, y_score, query_id, k)
    order, query, place = _ranks(y_true, y_score, starts)
    relevant = _relevant(y_true, relevant_from)[order]
    n_relevant = _sum_per_query(relevant, query, len(starts))
    so_far = np.cumsum(relevant)
    before = so_far[starts] - relevant[starts]
    hits = so_far - before[query]
    precisions = np.where(relevant & (place < k), hits / (place + 1), 0.0)
    total = _sum_per_query(precisions, query, len(starts))
    values = _share(total, np.minimum(n_relevant, k), n_relevant > 0)
    return values if per_query else mean_over_queries(values)


def ndcg_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    query_id: ArrayLike | None,
    k: int,
    *,
    per_query: bool = False,
) -> float | NDArray[np.float64]:
    """Normalised discounted cumulative gain at k: gain 2^y - 1, discount log2(place + 1).

    Parameters
    ----------
    y_true : (n,) array-like of int
        Grades 0, 1, 2, …
    y_score, query_id, k, per_query
        As in :func:`precision_at_k`.

    Returns
    -------
    float or (n_queries,) float64

    Raises
    ------
    ValueError
        As :func:`precision_at_k`, or if grades are not whole numbers from 0.
    """
    y_true, y_score, starts, k = _check_ranking(y_true, y_score, query_id, k)
    gains = grade_gains(y_true)

    k = min(k, len(gains))
    discounts = np.log2(np.arange(2, k + 2, dtype=np.float64))
    ideal = _dcg(gains, y_true, starts, discounts, stable=False)
    values = _share(_dcg(gains, y_score, starts, discounts, stable=False), ideal, ideal > 0)
    return values if per_query else mean_over_queries(values)


def ndcg_letor_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    query_id: ArrayLike | None,
    k: int,
    *,
    per_query: bool = False,
) -> float | NDArray[np.float64]:
    """NDCG at k by the rule of LETOR's evaluation script.

    The gain is 2^y - 1; it is divided by log2(place) from the second place on, so that the first
    two places count alike. Documents with equal scores stay in the order of the rows. A query
    without a relevant document counts 0, and so do empty places.
    """
    y_true, y_score, starts, k = _check_ranking(y_true, y_score, query_id, k)
    gains = grade_gains(y_true)

    discounts = np.log2(np.maximum(2, np.arange(1, min(k, len(gains)) + 1, dtype=np.float64)))
    ideal = _dcg(gains, y_true, starts, discounts, stable=True)
    actual = _dcg(gains, y_score, starts, discounts, stable=True)
    values = np.divide(actual, ideal, out=np.zeros(len(starts)), where=ideal > 0)
    return values if per_query else mean_over_queries(values)


def _dcg(gains, scores, starts, discounts, *, stable) -> np.ndarray:
    """Sum of gain over discount of each query's first places, (n_queries,); see :func:`_ranks`."""
    k = len(discounts)
    if k > _FEW_PLACES:
        order, query, place = _ranks(gains, scores, starts, stable=stable)
        terms = np.where(place < k, gains[order] / discounts[np.minimum(place, k - 1)], 0.0)
        return _sum_per_query(terms, query, len(starts))
    out, first = np.empty(len(starts)), np.empty(k, dtype=np.int64)
    scores = np.array(scores)  # one kind of array, whatever the caller's: compiled once
    _dcg_of_few(gains, scores, np.append(starts, len(gains)), discounts, stable, first, out)
    return out


@kernel
def _dcg_of_few(gains, scores, starts, discounts, stable, first, out):
    """The same, by finding the first places' rows one by one: `first` is scratch space for them."""
    for query in range(out.shape[0]):
        n_first = 0
        for row in range(starts[query], starts[query + 1]):
            place = n_first
            while place > 0:
                other = first[place - 1]
                tied = scores[row] == scores[other] and not stable and gains[row] < gains[other]
                if not (scores[row] > scores[other] or tied):
                    break
                place -= 1
            n_first = min(n_first + 1, first.shape[0])
            for later in range(n_first - 1, place, -1):
                first[later] = first[later - 1]
            if place < n_first:
                first[place] = row
        total = 0.0
        for place in range(n_first):
            total += gains[first[place]] / discounts[place]
        out[query] = total


def best_dcg(grades: np.ndarray, starts: np.ndarray, k: int) -> np.ndarray:
    """DCG at k of each query's best ranking."""
    gains = grade_gains(grades)
    discounts = np.log2(np.arange(2, min(k, len(gains)) + 2, dtype=np.float64))
    return _dcg(gains, grades, starts, discounts, stable=False)


def grade_gains(grades: np.ndarray) -> np.ndarray:
    """Gains 2^y - 1 (n,); ValueError if the grades are not whole numbers from 0."""
    if np.any((grades != np.rint(grades)) | (grades < 0) | (grades > _LARGEST_GRADE)):
        raise ValueError(f"Grades must be whole numbers from 0 to {_LARGEST_GRADE} for NDCG.")
    return np.ldexp(1.0, grades.astype(np.int64)) - 1.0


def average_precision_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    relevant_from: float = 1,
) -> float:
    """Average precision of all rows as one ranking, as scikit-learn's function of this name.

    Σ (recall_t - recall_(t-1)) precision_t over the distinct scores t, from the highest one down:
    rows with equal scores are taken together, so that their order does not matter (unlike the
    metrics of queries, which rank the least relevant first).
    """
    y_true, y_score = _numbers(y_true, "y_true"), _numbers(y_score, "y_score")
    weight = np.ones(len(y_true)) if sample_weight is None else sample_weight
    weight = _numbers(weight, "sample_weight")
    lengths = len(y_true), len(y_score), len(weight)
    if len(set(lengths)) > 1 or len(y_true) == 0:
        raise ValueError(
            "y_true, y_score and sample_weight must have the same length of 1 or more, got "
            f"{lengths[0]}, {lengths[1]} and {lengths[2]}."
        )
    if np.any(weight < 0):
        raise ValueError("sample_weight must not be negative.")
    order = np.argsort(-y_score, kind="stable")
    falling = y_score[order]
    last = np.flatnonzero(np.append(falling[1:] != falling[:-1], True))  # row of each score
    positive = np.where(y_true[order] >= relevant_from, weight[order], 0.0)
    relevant_so_far = np.cumsum(positive)[last]
    taken = np.cumsum(weight[order])[last]
    if relevant_so_far[-1] == 0:
        return math.nan
    precisions = np.divide(relevant_so_far, taken, out=np.zeros(len(last)), where=taken > 0)
    gains = np.diff(relevant_so_far, prepend=0.0) * precisions
    return math.fsum(gains.tolist()) / float(relevant_so_far[-1])


def accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Share of rows whose label is right; ValueError if lengths differ or there are no rows."""
    refuse_masked(y_true, "y_true")
    refuse_masked(y_pred, "y_pred")
    y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
    if y_true.shape != y_pred.shape or y_true.ndim != 1 or len(y_true) == 0:
        raise ValueError(
            f"y_true and y_pred must be one label for each row, got shapes {y_true.shape} and "
            f"{y_pred.shape}."
        )
    return int(np.count_nonzero(y_true == y_pred)) / len(y_true)


def labels_of(scores: np.ndarray) -> np.ndarray:
    """Class (n,) int64 of raw scores (n, K): the largest, the lower class in a tie.

    One column is the log-odds of class 1 against class 0.
    """
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.int64)
    return np.argmax(scores, axis=1)


def mean_squared_loss(y_true: ArrayLike, scores: NDArray[np.float64]) -> float:
    """Mean of ½ (F - y)², in the squared unit of y."""
    error = _column(scores) - np.asarray(y_true)
    return _mean(0.5 * (error * error))


def mean_logistic_loss(y_true: ArrayLike, scores: NDArray[np.float64]) -> float:
    """Mean of log(1 + exp(F)) - y F, in nats."""
    F = _column(scores)
    return _mean(np.logaddexp(0.0, F) - np.asarray(y_true) * F)


def mean_multinomial_loss(y_true: ArrayLike, scores: NDArray[np.float64]) -> float:
    """Mean of log Σ_k exp(F_k) - F_y, in nats."""
    scores, y_true = np.asarray(scores), np.asarray(y_true)
    largest = np.max(scores, axis=1)
    total = np.exp(scores[:, 0] - largest)
    for k in range(1, scores.shape[1]):  # in class order, as a sum over an axis may not be
        total += np.exp(scores[:, k] - largest)
    return _mean(np.log(total) - (scores[np.arange(len(y_true)), y_true] - largest))


def _column(scores) -> np.ndarray:
    """Raw scores (n, 1) or (n,) as a contiguous (n,) array."""
    return np.ascontiguousarray(np.asarray(scores).reshape(len(scores)))


def _mean(values: np.ndarray) -> float:
    """Mean with a correctly rounded sum; ValueError for no rows."""
    if len(values) == 0:
        raise ValueError("There must be at least one row.")
    return math.fsum(values.tolist()) / len(values)


_LOSSES = {
    "squared": mean_squared_loss,
    "logistic": mean_logistic_loss,
    "multinomial": mean_multinomial_loss,
}
_RANKINGS = {
    "average_precision": average_precision_at_k,
    "precision": precision_at_k,
    "ndcg": ndcg_at_k,
    "ndcg_letor": ndcg_letor_at_k,
}


def larger_is_better(eval_metric: Metric) -> bool:
    """Whether larger scores are better: for everything but ``"loss"``."""
    return eval_metric != "loss"


def check_eval_metric(eval_metric: Metric, loss: str, has_queries: bool) -> None:
    """Validate the choice of a validation score before any work."""
    if callable(eval_metric) or eval_metric == "loss":
        return
    if eval_metric == "accuracy":
        if loss in ("squared", "lambdarank"):
            raise ValueError("eval_metric='accuracy' is for classifiers.")
        return
    name, _, k = eval_metric.partition("@") if isinstance(eval_metric, str) else ("", "", "")
    if name not in _RANKINGS or not (k.isascii() and k.isdigit() and int(k) >= 1):
        raise ValueError(
            "eval_metric must be 'loss', 'accuracy', 'average_precision@k', 'precision@k', "
            f"'ndcg@k', 'ndcg_letor@k' with a number k, or a function; got {eval_metric!r}."
        )
    if loss == "multinomial":
        raise ValueError(f"eval_metric={eval_metric!r} needs one score for each row.")
    if not has_queries:
        raise ValueError(f"eval_metric={eval_metric!r} needs eval_set=(X, y, query_id).")


def check_has_score(eval_metric: Metric, y: ArrayLike) -> None:
    """Refuse a validation set of which a ranking metric says nothing, whatever the scores."""
    if callable(eval_metric) or "@" not in eval_metric or np.any(np.asarray(y) >= 1):
        return
    raise ValueError(
        f"eval_metric={eval_metric!r} has no score on eval_set: no document of any query is "
        "relevant (of grade 1 or more). Give a validation set with such documents, or another "
        "metric."
    )


def _one_number(score) -> float:
    """What a function returned as a metric, as a float; NaN and infinity are numbers here."""
    try:
        number = score if isinstance(score, Real) else np.asarray(score).item()
        if np.ndim(score) == 0 and isinstance(number, Real) and score is not np.ma.masked:
            return float(number)
    except (ArithmeticError, TypeError, ValueError):
        pass
    raise ValueError(f"eval_metric must return one number, got {shortened(score)}.")


def validation_score(
    eval_metric: Metric,
    loss: str,
    scores: np.ndarray,
    y: ArrayLike,
    query_id: ArrayLike | None = None,
) -> float:
    """Score of raw scores on a validation set.

    Parameters
    ----------
    eval_metric : str or callable
        ``"loss"`` (smaller is better), ``"accuracy"``, ``"average_precision@k"``,
        ``"precision@k"``, ``"ndcg@k"``, ``"ndcg_letor@k"`` with a number k (relevant from grade
        1), or a function ``(y, scores, query_id) -> float`` (larger is better).
    loss : {"squared", "logistic", "multinomial", "lambdarank"}
        Loss of the model.
    scores : (n, K) float64
        Raw scores.
    y : (n,)
        Targets, or classes 0 … K-1.
    query_id : (n,) or None
        Queries.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        As :func:`check_eval_metric`, or if a function returns something else than a number.
    """
    check_eval_metric(eval_metric, loss, query_id is not None)
    if callable(eval_metric):
        score = eval_metric(y, scores, query_id)
        return _one_number(score)
    if eval_metric == "loss":
        return _LOSSES[loss](y, scores)
    if eval_metric == "accuracy":
        return accuracy(y, labels_of(scores))
    name, k = eval_metric.split("@")
    return _RANKINGS[name](y, scores[:, 0], query_id, int(k))
