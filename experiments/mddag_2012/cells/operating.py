"""Where a detector is operated: the threshold by the test FPR, and the TPR that it gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FPRS = {"10": 0.1, "05": 0.05, "01": 0.01}
"""False positive rates on the test set, by the suffix of the columns that are about them."""


@dataclass(frozen=True)
class Scored:
    """What a detector says of the windows of one part."""

    scores: np.ndarray  # (n,): larger is more likely an object
    evaluations: np.ndarray  # (n,): base classifiers evaluated for each window
    background: np.ndarray  # (n,) bool


def operating_point(scores: np.ndarray, rate: float) -> tuple[float, float]:
    """Return the threshold θ and the probability p that make a false positive rate exact.

    Windows above θ are accepted, and those that tie with it with probability p: the ROC between two
    thresholds is a straight line. A policy of two questions knows only a handful of scores, and
    would otherwise be asked for another rate than its rivals.
    """
    allowed = rate * len(scores)
    values, counts = np.unique(scores, return_counts=True)
    above = len(scores) - np.cumsum(counts)  # of each value
    place = int(np.argmax(above <= allowed + 1e-9))
    share = (allowed - above[place]) / counts[place]
    return float(values[place]), float(min(max(share, 0.0), 1.0))


def accepted(scores: np.ndarray, theta: float, p: float) -> float:
    """Return the share of windows that an operating point accepts, ties with probability p."""
    return float(np.mean(scores > theta) + p * np.mean(scores == theta))


def true_positive_rates(train: Scored, test: Scored) -> dict[str, float]:
    """Return ``train_tpr_…`` and ``test_tpr_…`` for each false positive rate on the test set.

    θ and p are those of the test background (section 3.2) and hold for the training windows, too.
    """
    rates = {}
    for suffix, rate in FPRS.items():
        point = operating_point(test.scores[test.background], rate)
        for name, part in (("train", train), ("test", test)):
            rates[f"{name}_tpr_{suffix}"] = accepted(part.scores[~part.background], *point)
    return rates


def measured(train: Scored, test: Scored) -> dict[str, float]:
    """Return the rates, and ``…_evaluations``, the means over background windows."""
    means = {
        f"{name}_evaluations": float(np.mean(part.evaluations[part.background]))
        for name, part in (("train", train), ("test", test))
    }
    return {**true_positive_rates(train, test), **means}
