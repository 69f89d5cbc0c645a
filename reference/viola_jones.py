"""The cascade of boosted stages: each is trained on the positives and what the others let pass.

P. Viola, M. Jones: Robust real-time face detection. International Journal of Computer Vision 57
(2004), pages 137-154, Tables 1 and 2. **The original was not at hand**: its algorithm is
reconstructed from memory, from D. Benbouzid et al.: Fast classification using sparse decision DAGs
(2012, section 3.2), and from the authors' program MultiBoost, whose cumulative targets these are.
The booster is :mod:`reference.adaboost_mh`'s.

===============  ============================================================================
symbol           name
===============  ============================================================================
x_i, y_i         ``X`` (n, d) uint8, ``y`` (n,), -1 or 1; validation rows ``X_valid``, ``y_valid``
p_FPR, p_TPR     ``max_fpr``, ``min_tpr``: after m stages at most p_FPR^m of the validation
                 negatives and at least p_TPR^m of the validation positives may be left
h_t, α_t         a stage's stumps and their weights
f                ``scores`` of a stage, Σ α_t h_t
θ                ``threshold`` of a stage: a row with f < θ is rejected
w_i              ``weights``, ``valid_weights``: how many rows a row stands for (not in the paper)
===============  ============================================================================

Deliberately absent: new negatives that are searched for in pictures after each stage; scanning.

Deviations and choices

1. The targets are cumulative, as MultiBoost has them: what a stage rejects beyond its own the next
   need not. A target that is met before its stage begins has no stage, unless it is the first.
2. Rates are those of **all** validation rows, with the rows that earlier stages reject among them.
   (MultiBoost compares cumulative targets with rates on the rows that are left.)
3. In the first round of each stage both classes weigh the same (the paper's 1/2m and 1/2l).
4. A stage's threshold is AdaBoost's 0, or lower if the positives demand it: then the score of the
   last positive that is to be kept.
5. A stage that has ``max_stumps``, or whose next stump would have no edge, ends without its FPR;
   the next goes on. If it rejects nothing it is dropped (the next may lose more positives), unless
   there would be no stage at all.
6. The training ends when no negatives are left, among training or validation rows.
7. Shares of rows are compared with 1e-9 of slack.
"""

import math
from dataclasses import dataclass

import numpy as np

from reference import adaboost_mh, grid

SLACK = 1e-9


@dataclass(frozen=True)
class Decision:
    """A round: the stump that was added, the threshold then, and the rates after it."""

    stage: int
    feature: int
    cut: float
    vote: int
    alpha: float
    threshold: float
    tpr: float
    fpr: float


@dataclass(frozen=True)
class Stage:
    """Target (from 0), stumps, their weights, the threshold, and whether the FPR was reached."""

    target: int
    stumps: list[adaboost_mh.Stump]
    alphas: list[float]
    threshold: float
    reached: bool


@dataclass(frozen=True)
class Model:
    """Stages, one after the other."""

    stages: list[Stage]
    trace: list[Decision]


@dataclass(frozen=True)
class Exits:
    """``stage`` (n,) from 1, ``scores`` (n,) of that stage, whether ``accepted`` (n,)."""

    stage: np.ndarray
    scores: np.ndarray
    accepted: np.ndarray


@dataclass(frozen=True)
class Rows:
    """Rows, their labels, what they count, and which earlier stages let pass."""

    X: np.ndarray
    y: np.ndarray
    counts: np.ndarray
    inside: np.ndarray

    def of(self, sign: int) -> np.ndarray:
        """Rows of a class that are inside."""
        return self.inside & (self.y == sign)

    def total(self, sign: int) -> float:
        """Weight of all rows of a class."""
        return float(np.sum(self.counts[self.y == sign]))


def divide(y: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Validation rows (n,) bool: a share of each class, the positives drawn first."""
    valid = np.zeros(len(y), dtype=bool)
    for sign in (1, -1):
        rows = rng.permutation(np.flatnonzero(y == sign))
        valid[rows[: round(share * len(rows))]] = True
    return valid


def balanced(weights: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Weights with which both classes weigh the same; whole numbers stay whole."""
    sums = {sign: math.fsum(weights[y == sign]) for sign in (1, -1)}
    if np.all(weights == np.rint(weights)):
        common = math.gcd(int(sums[1]), int(sums[-1]))
        return weights * np.where(y > 0, sums[-1] / common, sums[1] / common)
    return weights / np.where(y > 0, sums[1], sums[-1])


def threshold_of(scores: np.ndarray, counts: np.ndarray, needed: float) -> float:
    """Largest threshold, 0 at most, that keeps enough weight of the positives."""
    kept = {s: np.sum(counts[scores >= s]) for s in scores}
    return min(0.0, max(s for s, weight in kept.items() if weight >= needed))


def train_stage(k, train, weights, valid, tpr, fpr, max_stumps, trace) -> Stage:
    """Boost until the validation rows' cumulative rates are reached."""
    rows = train.inside
    X, Y = train.X[rows], train.y[rows, None]
    of_rows = adaboost_mh.example_weights(balanced(weights[rows], train.y[rows]), Y)
    f, on_valid = np.zeros(Y.shape), np.zeros(len(valid.y))
    stage = Stage(k, [], [], 0.0, False)
    while len(stage.stumps) < max_stumps:
        pairs = adaboost_mh.pair_weights(f, Y, of_rows)
        edge, stump = adaboost_mh.best_stump(X, pairs.ints * Y, range(X.shape[1]))
        alpha = adaboost_mh.alpha_of(edge, pairs.total)
        if alpha == 0 and stage.stumps:
            return stage
        f = f + alpha * adaboost_mh.responses(stump, X)
        on_valid = on_valid + alpha * adaboost_mh.responses(stump, valid.X)[:, 0]
        positive, negative = valid.of(1), valid.of(-1)
        needed = tpr * valid.total(1) * (1 - SLACK)
        theta = threshold_of(on_valid[positive], valid.counts[positive], needed)
        left = [np.sum(valid.counts[side & (on_valid >= theta)]) for side in (positive, negative)]
        rates = left[0] / valid.total(1), left[1] / valid.total(-1)
        trace.append(
            Decision(k, stump.feature, stump.threshold, int(stump.votes[0]), alpha, theta, *rates)
        )
        reached = left[1] <= fpr * valid.total(-1) * (1 + SLACK)
        stage = Stage(k, [*stage.stumps, stump], [*stage.alphas, alpha], theta, bool(reached))
        if reached or alpha == 0:
            return stage
    return stage


def stage_scores(stage: Stage, X: np.ndarray) -> np.ndarray:
    """Scores f (n,) of a stage."""
    scores = np.zeros(len(X))
    for stump, alpha in zip(stage.stumps, stage.alphas, strict=True):
        scores = scores + alpha * adaboost_mh.responses(stump, X)[:, 0]
    return scores


def passing(stage: Stage, rows: Rows) -> np.ndarray:
    """Rows that are inside after a stage, too (n,) bool."""
    return rows.inside & (stage_scores(stage, rows.X) >= stage.threshold)


def fit(
    X, y, X_valid, y_valid, *, max_fpr=0.5, min_tpr=0.99, max_stages=10, max_stumps=200,
    weights=None, valid_weights=None,
) -> Model:  # fmt: skip
    """Train stage after stage.

    Parameters
    ----------
    X, y, X_valid, y_valid
        Training and validation rows.
    max_fpr, min_tpr : float
        Of one stage.
    max_stages, max_stumps : int
        Stages; stumps of a stage.
    weights, valid_weights : (n,) float, optional
        Positive.
    """
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    valid_weights = np.ones(len(y_valid)) if valid_weights is None else valid_weights
    train = Rows(X, y, weights, np.ones(len(y), dtype=bool))
    valid = Rows(
        X_valid, y_valid, grid.row_weights(valid_weights).counts, np.ones(len(y_valid), dtype=bool)
    )
    stages, trace, tpr, fpr = [], [], 1.0, 1.0
    for k in range(max_stages):
        tpr, fpr = tpr * min_tpr, fpr * max_fpr
        left = float(np.sum(valid.counts[valid.of(-1)]))
        if stages and left <= fpr * valid.total(-1) * (1 + SLACK):
            continue
        begun = len(trace)
        stage = train_stage(k, train, weights, valid, tpr, fpr, max_stumps, trace)
        inside, valid_inside = passing(stage, train), passing(stage, valid)
        gone = np.any(train.of(-1) & ~inside) or np.any(valid.of(-1) & ~valid_inside)
        if not gone and (stages or k < max_stages - 1):
            del trace[begun:]
            continue
        stages.append(stage)
        train = Rows(X, y, weights, inside | (y > 0))  # positives stay whatever becomes of them
        valid = Rows(X_valid, y_valid, valid.counts, valid_inside)
        if not np.any(train.of(-1)) or not np.any(valid.of(-1)):
            break
    return Model(stages, trace)


def leave(model: Model, X) -> Exits:
    """Walk rows through the stages."""
    n, K = len(X), len(model.stages)
    stage, at_exit = np.full(n, K), np.zeros(n)
    inside = np.ones(n, dtype=bool)
    for k, one in enumerate(model.stages):
        scores = stage_scores(one, X)
        at_exit[inside] = scores[inside]
        rejected = inside & (scores < one.threshold)
        stage[rejected] = k + 1
        inside = inside & ~rejected
    return Exits(stage, at_exit, inside)
