"""Where a detector is operated: the threshold by the test FPR, and the TPR that it gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FPRS = {"10": 0.1, "05": 0.05, "01": 0.01}
"""False positive rates on the test set, by the suffix of the columns that are about them."""


@dataclass(frozen=True)
class Scored:
    """What a detector says of the windows of one part.

    Attributes
    ----------
    scores : ndarray of shape (n,)
        Larger is more likely an object.
    evaluations : ndarray of shape (n,)
        Base classifiers evaluated for each window.
    background : ndarray of shape (n,), bool
    """

    scores: np.ndarray
    evaluations: np.ndarray
    background: np.ndarray


def threshold_at(scores: np.ndarray, rate: float) -> float:
    """Return the smallest θ of these scores above which no more than a share of them lies.

    Parameters
    ----------
    scores : (n,) float
        Of background windows. Windows with equal scores stay together, so that less than the rate
        may lie above θ.
    rate : float
        False positive rate.
    """
    allowed = int(np.floor(rate * len(scores) + 1e-9))
    place = len(scores) - 1 - allowed
    return float(np.partition(scores, place)[place]) if place >= 0 else -np.inf


def true_positive_rates(train: Scored, test: Scored) -> dict[str, float]:
    """Return ``train_tpr_…`` and ``test_tpr_…`` for each false positive rate on the test set.

    θ is that of the test background (section 3.2) and is applied to the training windows, too.
    """
    rates = {}
    for suffix, rate in FPRS.items():
        theta = threshold_at(test.scores[test.background], rate)
        for name, part in (("train", train), ("test", test)):
            detected = part.scores[~part.background] > theta
            rates[f"{name}_tpr_{suffix}"] = float(np.mean(detected))
    return rates


def measured(train: Scored, test: Scored) -> dict[str, float]:
    """Return the rates, and ``…_evaluations``, the means over background windows."""
    means = {
        f"{name}_evaluations": float(np.mean(part.evaluations[part.background]))
        for name, part in (("train", train), ("test", test))
    }
    return {**true_positive_rates(train, test), **means}
