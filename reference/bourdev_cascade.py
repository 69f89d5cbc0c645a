"""The soft cascade of detectors: boosted classifiers in a new order, a threshold after each.

L. Bourdev, J. Brandt: Robust object detection via soft cascade. IEEE Conference on Computer Vision
and Pattern Recognition 2 (2005), pages 236-243. **The original was not at hand**: the algorithm
(calibration of a pool of weak classifiers) is reconstructed from what D. Benbouzid et al.: Fast
classification using sparse decision DAGs (2012, section 3.2) say of it, from the authors' program
MultiBoost, and from memory.

===============  ===========================================================================
symbol           name
===============  ===========================================================================
c_j(x_i)         ``outputs`` (n, N), what classifier j of the pool adds to the score of row i
N, T             classifiers of the pool; stages, ``n_stages``
c(i)             ``scores`` (n,), the sum of the classifiers that were taken
r_t              ``thresholds`` (T,): a row with c < r_t is rejected at stage t
v_t              ``rejection_vector`` (T,): share of the positives that stage t may reject
D                ``detection_rate``, 1 - Σ v_t
α                ``alpha``: larger values reject later
w_i              ``weights``: how many rows a row stands for (not in the paper)
===============  ===========================================================================

Deliberately absent: new negatives that are searched for in pictures after each stage, and with them
the operating points of a whole ROC surface.

Deviations and choices

1. The paper's vector is k exp(αt/T) for α >= 0 and k exp(-α(1 - t/T)) for α < 0. k makes it sum to
   1 - D, so both are the same vector. (Benbouzid et al. omit k.)
2. The gap of class means is that of the classifier's own answers: the scores so far are the same
   for all classifiers. Answers are rounded to a grid, which makes sums exact.
3. The threshold is the largest score of a positive that may still be demanded; rows of equal score
   stay or leave together, so at least one positive remains. What a stage may not spend because of
   that is left to the next.
4. Shares of rows are compared with 1e-9 of slack: 1 - 0.9 of ten rows is one row.
5. When all negatives are rejected the cascade ends; the paper would search for more.
6. Ties: the classifier that comes first in the pool.
7. The detector accepts what is not rejected at the last stage.
"""

import math
from dataclasses import dataclass

import numpy as np

from reference import grid

SLACK = 1e-9


@dataclass(frozen=True)
class Decision:
    """A stage as it was decided.

    ``gap`` is that of the class means; ``positives`` and ``negatives`` is what remains after it.
    """

    stage: int
    classifier: int
    gap: float
    threshold: float
    positives: int
    negatives: int


@dataclass(frozen=True)
class Model:
    """``order`` (T,) of the pool, ``thresholds`` (T,), what the scores start from."""

    order: np.ndarray
    thresholds: np.ndarray
    initial_score: float
    trace: list[Decision]


@dataclass(frozen=True)
class Exits:
    """``stage`` (n,) from 1, ``scores`` (n,) there, whether ``accepted`` (n,)."""

    stage: np.ndarray
    scores: np.ndarray
    accepted: np.ndarray


def rejection_vector(n_stages: int, alpha: float) -> np.ndarray:
    """v_t / (1 - D), summed up to each stage; the last is 1."""
    t = np.arange(1, n_stages + 1)
    v = np.exp(alpha * (t / n_stages) - max(alpha, 0.0))
    until = np.cumsum(v)
    return until / until[-1]


def class_mean(answers: np.ndarray, counts: np.ndarray, rows: np.ndarray) -> float:
    """Mean of a classifier's answers, in grid steps, over rows."""
    return math.fsum(answers[rows]) / float(np.sum(counts[rows]))


def gap(answers, counts, positive, remains) -> float:
    """Difference of the class means of the rows that remain."""
    means = [class_mean(answers, counts, remains & rows) for rows in (positive, ~positive)]
    return means[0] - means[1]


def threshold(scores: np.ndarray, counts: np.ndarray, allowed: float) -> float:
    """Largest score of a positive below which no more weight than allowed lies."""
    below = {s: np.sum(counts[scores < s]) for s in scores}
    return max(s for s, weight in below.items() if weight <= allowed)


def fit(
    outputs, y, *, n_stages=None, detection_rate=0.99, alpha=0.0, initial_score=0.0, weights=None
) -> Model:
    """Order a pool, and give it thresholds.

    Parameters
    ----------
    outputs : (n, N) float
    y : (n,) int
        -1 or 1.
    n_stages : int, optional
        T; None: as many as the pool has classifiers.
    detection_rate : float
        D.
    alpha : float
    initial_score : float
        What the scores start from: 0 for AdaBoost.
    weights : (n,) float, optional
        Positive.
    """
    n, N = outputs.shape
    n_stages = N if n_stages is None else n_stages
    of_rows = grid.row_weights(np.ones(n) if weights is None else weights)
    counts, positive = of_rows.counts, y > 0
    answers = grid.round_to_grid(outputs.T, of_rows)
    allowed = (1.0 - detection_rate) * rejection_vector(n_stages, alpha)
    allowed = allowed * float(np.sum(counts[positive])) * (1.0 + SLACK)
    scores, remains = np.full(n, initial_score), np.ones(n, dtype=bool)
    unit = of_rows.exponent - answers.exponent
    rejected, pool, trace = 0, list(range(N)), []
    for t in range(n_stages):
        gaps = [gap(answers.ints[j], counts, positive, remains) for j in pool]
        place = int(np.argmax(gaps))
        j = pool.pop(place)
        scores = scores + outputs[:, j]
        inside = remains & positive
        r = threshold(scores[inside], counts[inside], allowed[t] - rejected)
        rejected += int(np.sum(counts[inside & (scores < r)]))
        remains = remains & (scores >= r)
        left = [int(np.sum(counts[remains & rows])) for rows in (positive, ~positive)]
        trace.append(Decision(t, j, math.ldexp(gaps[place], unit), float(r), *left))
        if left[1] == 0:
            break
    order = np.array([d.classifier for d in trace])
    return Model(order, np.array([d.threshold for d in trace]), initial_score, trace)


def leave(model: Model, outputs) -> Exits:
    """Walk rows (n, N) through the stages."""
    n, T = len(outputs), len(model.order)
    scores, stage = np.full(n, model.initial_score), np.full(n, T)
    inside = np.ones(n, dtype=bool)
    for t, (j, r) in enumerate(zip(model.order, model.thresholds, strict=True)):
        scores = np.where(inside, scores + outputs[:, j], scores)
        rejected = inside & (scores < r)
        stage[rejected] = t + 1
        inside = inside & ~rejected
    return Exits(stage, scores, inside)
