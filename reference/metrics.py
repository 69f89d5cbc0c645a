"""Scores of rankings and classifications, one query at a time.

Documents with equal scores are ranked *least relevant first*: a lower bound that does not
depend on the order of the rows. A query without a relevant document has no score (NaN) and is
left out of the mean; the mean of nothing is NaN.

NDCG by the rule of LETOR's evaluation script (``ndcg_letor``) differs in all three: equal scores
keep the order of the rows, a query without a relevant document counts 0, and the second place is
not discounted.
"""

import math

import numpy as np

from reference import losses


def query_slices(query_id: np.ndarray) -> list[slice]:
    """Rows of each query; the rows of a query stand together."""
    starts = [i for i in range(len(query_id)) if i == 0 or query_id[i] != query_id[i - 1]]
    return [slice(a, b) for a, b in zip(starts, [*starts[1:], len(query_id)], strict=True)]


def ranked(y: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Grades in order of falling score, equal scores in order of rising grade."""
    order = sorted(range(len(y)), key=lambda i: (-score[i], y[i]))
    return y[order]


def precision(y: np.ndarray, score: np.ndarray, k: int, relevant_from: float) -> float:
    """Share of relevant documents among k places (empty places are not relevant)."""
    if not np.any(y >= relevant_from):
        return math.nan
    return int(np.sum(ranked(y, score)[:k] >= relevant_from)) / k


def average_precision(y: np.ndarray, score: np.ndarray, k: int, relevant_from: float) -> float:
    """Sum of the precisions at the relevant documents among the first k, over min(R, k)."""
    n_relevant = int(np.sum(y >= relevant_from))
    if n_relevant == 0:
        return math.nan
    hits, total = 0, 0.0
    for place, grade in enumerate(ranked(y, score)[:k], start=1):
        if grade >= relevant_from:
            hits += 1
            total += hits / place
    return total / min(n_relevant, k)


def dcg(grades: np.ndarray, k: int) -> float:
    """Discounted cumulative gain: gain 2^y - 1, discount log2(place + 1)."""
    discounts = np.log2(np.arange(2, k + 2, dtype=np.float64))
    total = 0.0
    for grade, discount in zip(grades[:k], discounts, strict=False):
        total += (2.0 ** int(grade) - 1.0) / float(discount)
    return total


def ndcg(y: np.ndarray, score: np.ndarray, k: int) -> float:
    """DCG of the ranking over the DCG of the best ranking."""
    ideal = dcg(np.array(sorted(y, reverse=True)), k)
    return dcg(ranked(y, score), k) / ideal if ideal > 0 else math.nan


def dcg_letor(grades: np.ndarray, k: int) -> float:
    """Gain 2^y - 1 by LETOR's rule: the first gain + Σ_{r >= 2} gain_r / log2(r).

    As log2(2) = 1, the second place counts as much as the first.
    """
    discounts = np.log2(np.maximum(2, np.arange(1, k + 1, dtype=np.float64)))
    total = 0.0
    for grade, discount in zip(grades[:k], discounts, strict=False):
        total += (2.0 ** int(grade) - 1.0) / float(discount)
    return total


def ndcg_letor(y: np.ndarray, score: np.ndarray, k: int) -> float:
    """NDCG by LETOR's rule: equal scores in the order of the rows, 0 if nothing is relevant."""
    order = sorted(range(len(y)), key=lambda i: -score[i])  # sorted() keeps the order of equals
    ideal = dcg_letor(np.array(sorted(y, reverse=True)), k)
    return dcg_letor(y[order], k) / ideal if ideal > 0 else 0.0


def mean_over_queries(values: list[float]) -> float:
    """Mean of the values that are not NaN."""
    kept = [value for value in values if value == value]
    return math.fsum(kept) / len(kept) if kept else math.nan


def by_query(metric, y_true, y_score, query_id, *args) -> list[float]:
    """Apply a metric of one query to every query."""
    return [metric(y_true[s], y_score[s], *args) for s in query_slices(query_id)]


def average_precision_at_k(y_true, y_score, query_id, k, *, relevant_from=1, per_query=False):
    """Mean AP@k over queries, or the array with one value per query."""
    values = by_query(average_precision, y_true, y_score, query_id, k, relevant_from)
    return np.array(values) if per_query else mean_over_queries(values)


def precision_at_k(y_true, y_score, query_id, k, *, relevant_from=1, per_query=False):
    """Mean precision@k over queries, or the array with one value per query."""
    values = by_query(precision, y_true, y_score, query_id, k, relevant_from)
    return np.array(values) if per_query else mean_over_queries(values)


def ndcg_at_k(y_true, y_score, query_id, k, *, per_query=False):
    """Mean NDCG@k over queries, or the array with one value per query."""
    values = by_query(ndcg, y_true, y_score, query_id, k)
    return np.array(values) if per_query else mean_over_queries(values)


def ndcg_letor_at_k(y_true, y_score, query_id, k, *, per_query=False):
    """Mean NDCG@k by LETOR's rule over all queries, or the array with one value per query."""
    values = by_query(ndcg_letor, y_true, y_score, query_id, k)
    return np.array(values) if per_query else mean_over_queries(values)


def average_precision_score(y_true, y_score, *, sample_weight=None, relevant_from=1) -> float:
    """Σ (recall_t - recall_(t-1)) precision_t over the distinct scores t; a weight counts as rows.

    All rows are one ranking, and equal scores are taken together.
    """
    weight = np.ones(len(y_true)) if sample_weight is None else np.asarray(sample_weight, float)
    relevant_so_far, taken, terms = 0.0, 0.0, []
    order = sorted(range(len(y_true)), key=lambda i: -y_score[i])
    for score in sorted(set(y_score), reverse=True):
        before = relevant_so_far
        for i in order:
            if y_score[i] == score:
                taken += weight[i]
                relevant_so_far += weight[i] if y_true[i] >= relevant_from else 0.0
        terms.append((relevant_so_far - before) * (relevant_so_far / taken) if taken > 0 else 0.0)
    return math.fsum(terms) / relevant_so_far if relevant_so_far > 0 else math.nan


def accuracy(y_true, y_pred) -> float:
    """Share of rows whose label is right."""
    return int(np.sum(y_true == y_pred)) / len(y_true)


def labels(loss: str, F: np.ndarray) -> np.ndarray:
    """Class (n,) with the largest score; the lower class wins a tie."""
    if loss == "logistic":
        return (F[:, 0] > 0).astype(np.int64)
    return np.argmax(F, axis=1)


def validation_score(eval_metric, loss: str, F: np.ndarray, y, query_id=None) -> float:
    """Score of raw scores F (n, K) by ``"loss"``, ``"accuracy"``, ``"ndcg@10"``, … or a function.

    Smaller is better for ``"loss"``, larger for everything else.
    """
    if callable(eval_metric):
        return float(eval_metric(y, F, query_id))
    if eval_metric == "loss":
        return losses.mean_loss(loss, F, y)
    if eval_metric == "accuracy":
        return accuracy(y, labels(loss, F))
    name, k = eval_metric.split("@")
    ranking = {
        "average_precision": average_precision_at_k,
        "precision": precision_at_k,
        "ndcg": ndcg_at_k,
        "ndcg_letor": ndcg_letor_at_k,
    }
    return ranking[name](y, F[:, 0], query_id, int(k))
