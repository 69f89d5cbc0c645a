"""Losses of boosting: gradients, hessians, values and the best constant score.

Scores F have one column per tree of a round: one for ``"squared"`` and for ``"logistic"`` (y in
{0, 1}), K >= 3 for ``"multinomial"`` (y in {0, …, K-1}). exp and log are NumPy's and are applied to
contiguous columns; sums over classes run in class order. A loss that is no name is an object that
has ``derivatives`` and ``rounding`` of its own, one column, and starts from 0.
"""

import math

import numpy as np

from reference.grid import RowWeights, round_to_grid, value_exponent

LAST_BITS = 2.0**-48  # of a float: what several roundings leave of it


def n_columns(loss: str, y: np.ndarray) -> int:
    """Trees per round: the number of classes for ``"multinomial"``, else 1."""
    return int(np.max(y)) + 1 if loss == "multinomial" else 1


def probabilities(loss: str, F: np.ndarray) -> list[np.ndarray]:
    """Probability (n,) of class 1 (logistic) or of each class (multinomial), one per column."""
    if loss == "logistic":
        with np.errstate(over="ignore"):
            return [1.0 / (1.0 + np.exp(-F[:, 0]))]
    exponentials, total = shifted_exponentials(F)
    return [e / total for e in exponentials]


def shifted_exponentials(F: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """exp(F_k - max F) of each class, and their sum in class order."""
    largest = np.max(F, axis=1)
    exponentials = [np.exp(F[:, k] - largest) for k in range(F.shape[1])]
    total = exponentials[0]
    for e in exponentials[1:]:
        total = total + e
    return exponentials, total


def derivatives(loss, F: np.ndarray, y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Gradient and hessian (n,) of the loss by each score column at F."""
    if not isinstance(loss, str):
        return [loss.derivatives(F[:, 0], y)]
    if loss == "squared":
        return [(F[:, 0] - y, np.ones(len(y)))]
    columns = probabilities(loss, F)
    if loss == "logistic":
        p = columns[0]
        return [(p - y, p * (1.0 - p))]
    factor = len(columns) / (len(columns) - 1)
    return [(p - (y == k), factor * (p * (1.0 - p))) for k, p in enumerate(columns)]


def rounding(loss, y, weights: RowWeights, initial) -> float:
    """Size up to which a gradient may be what rounding has left, and is no reason to split.

    A residual is known no better than to half a grid step of the first round's residuals, as the
    first leaf values are, and to 2**-48 of the largest target; a probability to 2**-48.
    """
    if not isinstance(loss, str):
        return loss.rounding()
    if loss != "squared":
        return LAST_BITS
    exponent = value_exponent(float(np.max(np.abs(initial[0] - y))), weights)
    return max(0.5 * 2.0**-exponent, LAST_BITS * float(np.max(np.abs(y))))


def row_losses(loss: str, F: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Loss (n,) of each row: half the squared error, or the negative log-likelihood."""
    if loss == "squared":
        return 0.5 * ((F[:, 0] - y) * (F[:, 0] - y))
    if loss == "logistic":
        return np.logaddexp(0.0, F[:, 0]) - y * F[:, 0]
    _, total = shifted_exponentials(F)
    return np.log(total) - (F[np.arange(len(y)), y] - np.max(F, axis=1))


def mean_loss(loss: str, F: np.ndarray, y: np.ndarray) -> float:
    """Mean of the rows' losses."""
    return math.fsum(row_losses(loss, F, y)) / len(y)


def is_constant(y: np.ndarray) -> bool:
    """Whether there is nothing to learn: one value, or one class."""
    return bool(np.all(y == y[0]))


def initial_scores(loss, y: np.ndarray, weights: RowWeights, init: str) -> np.ndarray:
    """Scores (K,) to start from: the best constant (``"mean"``) or 0 (``"zero"``)."""
    K = n_columns(loss, y)
    if is_constant(y):
        return np.full(K, float(y[0]) if loss == "squared" else 0.0)
    if init == "zero" or not isinstance(loss, str):
        return np.zeros(K)
    if loss == "squared":
        on_grid = round_to_grid(y, weights)
        total = math.ldexp(float(np.sum(on_grid.ints)), -on_grid.exponent)
        return np.array([total / weights.total])
    shares = [
        float(np.sum(weights.counts[y == k])) / float(np.sum(weights.counts))
        for k in range(max(K, 2))
    ]
    if loss == "logistic":
        return np.log(np.array([shares[1] / (1.0 - shares[1])]))
    return np.log(np.array(shares))


def class_weights(y, class_weight, sample_weight=None) -> np.ndarray:
    """Weight (n,) of each row: its own, times that of its class.

    ``class_weight`` is a mapping from labels, 1 where one is not there, or ``"balanced"``: the
    weight of all rows / (number of classes * weight of the class).
    """
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    labels = sorted(set(y))
    of_class = {a: math.fsum(w for b, w in zip(y, weights, strict=True) if b == a) for a in labels}
    if class_weight == "balanced":
        total = math.fsum(of_class.values())
        class_weight = {a: total / (len(labels) * of_class[a]) for a in labels}
    return weights * np.array([class_weight.get(a, 1.0) for a in y])
