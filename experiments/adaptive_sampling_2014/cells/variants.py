"""Trains what is done otherwise than by default, and reads losses, test errors and costs.

Beside the samplers' parameters, exact thresholds: AdaBoost.MH with decision stumps on real-valued
features, whose thresholds lie at all midpoints between neighbouring values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import fft

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.feature_sampling import SAMPLERS
from algorithms.metrics import labels_of
from algorithms.stumps.boosting import Stumps, alpha_of
from algorithms.stumps.pair_weights import PairWeights
from algorithms.stumps.sampling import draw
from algorithms.stumps.search import totals
from datasets.features.nineteen import ORIENTATIONS
from datasets.features.pixels import central_differences, grey
from experiments.cell import Cell, at_rounds, rounded

_GRID = 2.0**20
_SPECTRUM_GRID = 2.0**10


def read(cell: Cell, features) -> list[dict]:
    """Train a variant and read it after several rounds."""
    params = cell.params
    if "exact" in params:
        log_loss, cost, labels = _with_thresholds(cell, features)
    else:
        sampler = SAMPLERS[cell.algorithm](**params["given"])
        model = _fitted(cell, features.train, features.y_train, features.families, sampler)
        log_loss, cost = model.log_train_loss_, model.sampling_cost_ / features.train.shape[1]
        labels = at_rounds(model.staged_predict(features.test.T), params["rounds"])
    passes = np.cumsum(cost, axis=0)
    return [
        {
            "variant": params["variant"],
            "rounds": t,
            "log10_loss": rounded(log_loss[t - 1] / np.log(10)),
            "test_error": rounded(100 * float(np.mean(labels[t] != features.y_test))),
            "paper_cost": rounded(passes[t - 1, 0] / t),
            "evaluations": rounded(passes[t - 1, 1] / t),
        }
        for t in params["rounds"]
    ]


def _fitted(cell: Cell, columns, y, families, sampler) -> AdaBoostMH:
    """Train on columns, (n_features, n_samples) uint8."""
    model = AdaBoostMH(
        n_estimators=cell.params["n_estimators"],
        sampler=sampler,
        max_cost=cell.params["max_cost"],
        families=families,
        random_state=cell.seed,
        n_threads=1,
    )
    return model.fit(columns.T, y)


# --- exact thresholds ----------------------------------------------------------------------------


def _with_thresholds(cell: Cell, features) -> tuple[np.ndarray, np.ndarray, dict]:
    """Losses, costs in passes, labels by round: 8-bit columns, or their values with exact cuts."""
    params, n_train = cell.params, cell.params["n_train"]
    y = features.y_train[:n_train]
    if params["exact"]:
        train, test = (
            np.concatenate([VALUES[name](part) for name in params["families"]], axis=1).T
            for part in (_pixels(features, "train")[:n_train], _pixels(features, "test"))
        )
        boosted = boost_exactly(
            train, y, params["n_estimators"], int(params["max_cost"]), cell.seed
        )
        labels = at_rounds(staged_labels(boosted, test), params["rounds"])
        return boosted.log_loss, np.column_stack([boosted.n_searched] * 2), labels
    rows = np.concatenate([_family(features, name) for name in params["families"]])
    train = np.ascontiguousarray(features.train[rows, :n_train])
    model = _fitted(cell, train, y, None, cell.algorithm)
    labels = at_rounds(model.staged_predict(features.test[rows].T), params["rounds"])
    return model.log_train_loss_, model.sampling_cost_ / train.shape[1], labels


def _family(features, name: str) -> np.ndarray:
    return features.families[features.names.index(name)]


def _pixels(features, part: str) -> np.ndarray:
    """Grey images of a set, from its family of pixels; they are square."""
    columns = getattr(features, part)[_family(features, "identity")]
    side = int(np.sqrt(len(columns)))
    return np.ascontiguousarray(columns.T).reshape(-1, side, side)


def fourier_magnitude(images: np.ndarray) -> np.ndarray:
    """Magnitudes of the discrete Fourier transform, in the order of the family of 8-bit columns.

    On a grid of 1/1024 grey level, as there: what is equal by symmetry is equal.
    """
    spectrum = fft.rfft2(grey(images).astype(np.float64), axes=(1, 2))
    return np.rint(np.abs(spectrum) * _SPECTRUM_GRID).reshape(len(images), -1) / _SPECTRUM_GRID


def gradient_magnitude(images: np.ndarray) -> np.ndarray:
    """Lengths of the gradient, in the order of the family of 8-bit columns."""
    gx, gy = (g.astype(np.float64) for g in central_differences(images))
    return np.sqrt(gx * gx + gy * gy).reshape(len(images), -1)


def hog_unoriented_7(images: np.ndarray) -> np.ndarray:
    """Histograms of gradients in cells of 7 × 7 pixels, as scikit-image computes them.

    On a grid of 2^-20, far above what rounding errors may be and far below a step of the 8-bit
    columns.
    """
    from skimage.feature import hog

    options = {"pixels_per_cell": (7, 7), "cells_per_block": (2, 2), "block_norm": "L2-Hys"}
    values = [
        hog(image.astype(np.float64), orientations=ORIENTATIONS, **options) for image in images
    ]
    return np.rint(np.array(values) * _GRID) / _GRID


VALUES = {
    function.__name__: function
    for function in (fourier_magnitude, gradient_magnitude, hog_unoriented_7)
}
"""Families of grey images before they become bytes: (n, h, w) uint8 to (n, n_features) float64.

Each computed by the library's own transform, so that what makes columns of bytes of them is left
out altogether."""


class ExactModel(NamedTuple):
    """Stumps with exact thresholds."""

    stumps: Stumps
    # (n_stumps,) float64: logarithm of the mean exponential loss after each round
    log_loss: np.ndarray
    n_searched: np.ndarray  # (n_stumps,) int64: features searched in each round, on all examples


class _Feature(NamedTuple):
    """Values of a feature, and the order that sorts them."""

    values: np.ndarray
    order: np.ndarray

    def best_cut(self, signed: np.ndarray, total: np.ndarray) -> tuple[int, float]:
        """Edge, in grid steps, and threshold of the best cut, the lowest of equals; -1 if none."""
        ascending = self.values[self.order]
        left = np.cumsum(signed[self.order[:-1]], axis=0, dtype=np.int64)
        edges = np.abs(total - 2 * left).sum(axis=1)
        edges[ascending[1:] == ascending[:-1]] = -1
        if not len(edges) or edges.max() < 0:
            return -1, 0.0
        best = int(np.argmax(edges))
        return int(edges[best]), float(0.5 * (ascending[best] + ascending[best + 1]))


def boost_exactly(
    values: np.ndarray, y: np.ndarray, n_estimators: int, n_searched: int, seed: int
) -> ExactModel:
    """Boost as :class:`algorithms.adaboost_mh.AdaBoostMH` with the sampler "uniform_naive".

    The same weights on the same grid, the same draws and rules among equals; only the search
    differs, which sorts: on 8-bit columns both are the same model.
    """
    targets = np.where(y[:, None] == np.arange(int(y.max()) + 1), 1, -1).astype(np.int8)
    weights = PairWeights(targets)
    every, rng = np.arange(len(values)), np.random.default_rng(seed)
    ordered = [_Feature(v, np.argsort(v, kind="stable")) for v in values]
    stumps, losses, searched = [], [], []
    for _ in range(n_estimators):
        features = np.unique(draw(every, n_searched, rng))
        feature, threshold, edge = _best_stump(ordered, features, weights)
        right = values[feature] > threshold if feature >= 0 else np.ones(len(y), dtype=bool)
        edges = (np.where(right, 1, -1)[:, None] * weights.signed).sum(axis=0, dtype=np.int64)
        votes = np.where(edges[: targets.shape[1]] >= 0, 1, -1).astype(np.int8)
        alpha, relative = alpha_of(edge, weights.total), edge / weights.total
        weights.add(right.astype(np.uint8), 0, alpha * votes)
        stumps.append((feature, threshold, votes, alpha, relative))
        losses.append(weights.log_loss)
        searched.append(len(features))
    arrays = Stumps(*(np.array(column) for column in zip(*stumps, strict=True)))
    return ExactModel(arrays, np.array(losses), np.array(searched))


def _best_stump(ordered, features: np.ndarray, weights: PairWeights) -> tuple[int, float, int]:
    """Feature, threshold and edge of the best stump; -1 for a constant vote if none is better."""
    total = totals(weights.signed)
    cuts = [ordered[m].best_cut(weights.signed, total) for m in features]
    best = int(np.argmax([edge for edge, _ in cuts]))
    constant = int(np.abs(total).sum())
    if cuts[best][0] <= constant:
        return -1, 0.0, constant
    return int(features[best]), cuts[best][1], cuts[best][0]


def staged_labels(model: ExactModel, values: np.ndarray):
    """Predict classes with the first 1, 2, … stumps."""
    feature, threshold, votes, alpha, _ = model.stumps
    scores = np.zeros((values.shape[1], votes.shape[1]))
    for t in range(len(alpha)):
        step = alpha[t] * votes[t]
        right = values[feature[t]] > threshold[t] if feature[t] >= 0 else np.True_
        scores += np.where(right, 1.0, -1.0)[..., None] * step
        yield labels_of(scores)
