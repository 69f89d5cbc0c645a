"""What answers always alike and costs nothing: the score that every other must be better than."""

from __future__ import annotations

import numpy as np

from experiments.compare import metrics
from experiments.compare.metrics import Units, units
from experiments.methods.problem import Part, Problem, with_validation

_OF_CLASSES = ("accuracy", "balanced_accuracy", "neg_log_loss")
_ORDERS = 20
"""Random orders of a ranking, whose scores are averaged."""


def always_alike(problem: Problem) -> tuple[str, float, Units]:
    """Give the best constant answer, in words, and how good it is.

    Its training rows are those of the models beside it: the training part where it is measured on
    validation rows, both where on test rows. Of rankings it is the mean of twenty random orders,
    for a constant would leave the order to how ties are broken.
    """
    valid, test = problem.parts["valid"], problem.parts["test"]
    if problem.task == "ranking":
        scores = [_random_order(problem.metric, part) for part in (valid, test)]
        return "a random order of a query's rows", scores[0].score(), scores[1]
    positive = metrics.positive(problem)
    answers = [
        _best_constant(problem.metric, rows, positive)
        for rows in (problem.parts["train"], with_validation(problem).fit)
    ]
    scores = [
        units(problem.metric, part, _said(answer, part), positive)
        for part, answer in zip((valid, test), answers, strict=True)
    ]
    return _in_words(problem.metric, answers[1]), scores[0].score(), scores[1]


def _said(answer, part: Part) -> np.ndarray:
    """Give the answer for each row; of likelihoods that of its class."""
    if isinstance(answer, dict):
        return np.array([answer.get(one, 0.0) for one in part.y.tolist()])
    return np.full(len(part), answer)


def _best_constant(metric: str, rows: Part, positive):
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    if metrics.asks(metric) == "scores":
        return 0.0
    if metric == "f1":
        return positive
    if metric in _OF_CLASSES:
        classes, numbers = np.unique(rows.y, return_inverse=True)
        counts = np.bincount(numbers, weight)
        if metric == "neg_log_loss":
            return dict(zip(classes.tolist(), (counts / counts.sum()).tolist(), strict=True))
        return classes[int(np.argmax(counts))]
    if "squared" in metric:
        return float(np.average(rows.y, weights=weight))
    order = np.argsort(rows.y, kind="stable")
    below = np.cumsum(weight[order])
    return float(rows.y[order][np.searchsorted(below, below[-1] / 2)])


def _in_words(metric: str, answer) -> str:
    if metrics.asks(metric) == "scores":
        return "one score for all rows"
    if metric == "neg_log_loss":
        return "always the shares of the classes"
    if metric in (*_OF_CLASSES, "f1"):
        which = "rarer" if metric == "f1" else "most frequent"
        return f"always {answer.item()!r} (the {which} class)"
    kind = "mean" if "squared" in metric else "median"
    return f"always {answer:.6g} (the {kind} of the target)"


def _random_order(metric: str, part: Part) -> Units:
    rng = np.random.default_rng(0)
    each = [units(metric, part, rng.random(len(part))) for _ in range(_ORDERS)]
    return each[0]._replace(value=np.mean([one.value for one in each], axis=0))
