"""Trains a classifier of pixels, segments whole frames with it, and meters what that costs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator

import numpy as np

from algorithms.cegb import CEGBClassifier
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.gbrt import GBRTClassifier
from algorithms.segmentation import object_scores, seg_measure, segment
from datasets import flies
from datasets.features.pyramid import LEVEL, LEVELS, SHARING, Pyramid, block_mean, pyramid
from experiments.cell import Cell, at_rounds, rounded

SPLIT_COST = 1.0
"""alpha: the cost is counted in evaluations of a split."""

THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
"""Probabilities from which a pixel may count as insect; chosen on the validation frames."""

MIN_AREA = 20
"""Components of fewer pixels are dropped; the smallest insect has about 34."""

STRIP = 16
"""Pixel rows of a frame whose features are in memory at a time."""

METERED_EVERY = 16
"""All pixels are segmented; costs are metered on each sixteenth pixel row of every frame."""

_PLAIN = ("n_estimators", "learning_rate", "max_leaves", "min_samples_leaf")


def train(cell: Cell, dataset):
    """Return the fitted estimator of a cell, its meter set to alpha / eps_m.

    Parameters
    ----------
    cell : Cell
        ``algorithm`` is ``gbrt``, ``cegb``, or ``cegb_literal``: trained with the price
        alpha · eps_m, as section 5.2 prints it, but metered like the others.
    dataset : Dataset
        Sampled pixels with the 32 features of :mod:`datasets.features.pyramid`.
    """
    settings = {name: cell.params["settings"][name] for name in _PLAIN}
    settings |= {"max_depth": None, "split_cost": SPLIT_COST, "n_threads": 1}
    sharing = 1 / SHARING if cell.algorithm == "cegb_literal" else SHARING
    if cell.algorithm == "gbrt":
        model = GBRTClassifier(feature_sharing=sharing, **settings)
    else:
        tradeoff = cell.params["tradeoff"]
        model = CEGBClassifier(feature_sharing=sharing, tradeoff=tradeoff, **settings)
    with warnings.catch_warnings():
        # A large tradeoff may leave no split worth its cost; round 0 records that.
        warnings.simplefilter("ignore", ConstantModelWarning)
        model.fit(dataset.X_train, dataset.y_train)
    return model.set_params(feature_sharing=SHARING)


def stages(model, wanted: list[int]) -> list[int]:
    """Return the wanted numbers of rounds that the model has, and its last."""
    n_rounds = model.n_estimators_
    return sorted({rounds for rounds in wanted if rounds < n_rounds} | {n_rounds})


def _at(staged: Iterator[np.ndarray], rounds: list[int]) -> np.ndarray:
    """Return what a staged method yields at these rounds, (n_stages, n_pixels)."""
    return np.stack(list(at_rounds(staged, rounds).values()))


def measure_frame(model, features: Pyramid, rounds: list[int]):
    """Score all pixels of a frame and meter them.

    Parameters
    ----------
    model : estimator
        Metered with its own `split_cost` and `feature_sharing`.
    features : Pyramid
        Of the frame.
    rounds : list of int
        Stages.

    Returns
    -------
    scores : (n_stages, h, w) float64
        Log-odds.
    cost : (n_stages,) float64
        Mean cost per pixel in split evaluations, shared ones in parts; metered on every
        sixteenth pixel row.
    splits : (n_stages,) float64
        Mean number of split nodes that these pixels pass, whatever is shared.
    """
    height, width = features.shape
    scores = np.empty((len(rounds), height, width))
    if rounds == [0]:
        scores[:] = model.initial_scores_[0]
        return scores, np.zeros(1), np.zeros(1)
    metered = []
    for first in range(0, height, STRIP):
        last = min(first + STRIP, height)
        X = features.rows(first, last)
        staged = _at(model.staged_decision_function(X), rounds)
        scores[:, first:last] = staged.reshape(len(rounds), last - first, width)
        metered.append(X.reshape(last - first, width, -1)[::METERED_EVERY].reshape(-1, X.shape[1]))
    X = np.concatenate(metered)
    cost = _at(model.staged_cost(X), rounds).mean(axis=1)
    model.set_params(feature_sharing=None)
    splits = _at(model.staged_cost(X), rounds).mean(axis=1)
    model.set_params(feature_sharing=SHARING)
    return scores, cost, splits


def _log_odds(probability: float) -> float:
    return math.log(probability / (1 - probability))


def choose_thresholds(model, frames, rounds: list[int]) -> tuple[list[float], list[float], list]:
    """Choose for each stage the threshold with the best SEG on the validation frames.

    Returns
    -------
    thresholds, scores : list of float
        The first of equals, and its SEG.
    costs : list of float
        Mean cost per pixel of these frames.
    """
    objects = [[[] for _ in THRESHOLDS] for _ in rounds]
    costs = []
    for image, truth in frames:
        scores, cost, _ = measure_frame(model, pyramid(image), rounds)
        costs.append(cost)
        for stage, picture in enumerate(scores):
            for i, threshold in enumerate(THRESHOLDS):
                result = segment(picture, _log_odds(threshold), MIN_AREA)
                objects[stage][i].append(object_scores(truth, result))
    table = np.array([[seg_measure(pieces) for pieces in stage] for stage in objects])
    best = np.argmax(table, axis=1)
    thresholds = [THRESHOLDS[i] for i in best]
    return thresholds, table.max(axis=1).tolist(), np.mean(costs, axis=0).tolist()


def trace(cell: Cell, dataset) -> list[dict]:
    """Train the model of a cell, segment all test frames at a few stages, and draw the first.

    Returns
    -------
    list of dict
        Rows of panel b, one per stage: ``tradeoff, rounds``, ``valid_score, test_score`` (SEG),
        ``valid_cost, test_cost`` (mean per pixel in split evaluations, shared ones in parts),
        ``test_splits`` (split nodes passed per pixel), ``threshold``. From seed 0 also rows of the
        panels a and c whose text column ``pixels`` holds a line of a picture, see :func:`picture`.
    """
    model = train(cell, dataset)
    settings, scale = cell.params["settings"], dataset.provenance["scale"]
    rounds = stages(model, settings["checkpoints"])
    valid = flies.frames("valid", scale=scale, seed=cell.seed)
    thresholds, valid_scores, valid_costs = choose_thresholds(model, valid, rounds)
    objects, costs, splits, drawn = [[] for _ in rounds], [], [], []
    for image, truth in flies.frames("test", scale=scale, seed=cell.seed):
        features = pyramid(image)
        scores, cost, passed = measure_frame(model, features, rounds)
        costs.append(cost)
        splits.append(passed)
        for stage, threshold in enumerate(thresholds):
            result = segment(scores[stage], _log_odds(threshold), MIN_AREA)
            objects[stage].append(object_scores(truth, result))
        if len(costs) == 1 and cell.seed == 0 and cell.params["drawn"]:
            drawn = picture(cell, model, features, image, truth, result)
    rows = []
    for stage in range(len(rounds)):
        values = {
            "valid_score": valid_scores[stage],
            "valid_cost": valid_costs[stage],
            "test_score": seg_measure(objects[stage]),
            "test_cost": float(np.mean(costs, axis=0)[stage]),
            "test_splits": float(np.mean(splits, axis=0)[stage]),
            "threshold": thresholds[stage],
        }
        values = {name: rounded(value) for name, value in values.items()}
        rows.append(_row(cell, "b", "score", rounds[stage], 0, values, ""))
    return rows + drawn


def _row(cell: Cell, panel, kind, rounds, line, values, pixels) -> dict:
    key = {"panel": panel, "kind": kind, "tradeoff": cell.params["tradeoff"], "rounds": rounds}
    return {**key, "line": line, **values, "pixels": pixels}


# --- pictures ---------------------------------------------------------------------------------

THUMBNAIL = 256
"""Side of the small picture of a frame, in its own pixels, at most."""

_NOTHING = dict.fromkeys(
    ("valid_score", "valid_cost", "test_score", "test_cost", "test_splits", "threshold"), 0.0
)


def busiest_window(truth: np.ndarray, side: int) -> tuple[slice, slice]:
    """Return the window with most insect pixels, of those a quarter of a side apart."""
    step = side // 4
    starts = range(0, len(truth) - side + 1, step)
    windows = [(slice(y, y + side), slice(x, x + side)) for y in starts for x in starts]
    return max(windows, key=lambda window: np.count_nonzero(truth[window]))


def deciding_level(model, X: np.ndarray) -> np.ndarray:
    """Return which resolution decided each pixel: the finest that its paths tested.

    Returns
    -------
    (n,) int64
        Position in ``datasets.features.pyramid.LEVELS``; ``len(LEVELS)`` if nothing was tested.
    """
    tested = np.asarray(model.acquired_features(X))
    return np.where(tested, LEVEL, len(LEVELS)).min(axis=1)


def picture(cell: Cell, model, features: Pyramid, image, truth, result) -> list[dict]:
    """Return pictures as rows, one per line: hexadecimal digits after an x.

    ``grey`` has two digits per pixel, ``level`` one, the masks ``truth`` and ``mask`` one for four
    pixels. What does not depend on the model comes from plain boosting's cell only.
    """
    window = busiest_window(truth, cell.params["detail"])
    y, x = np.arange(*window[0].indices(len(truth))), np.arange(*window[1].indices(len(truth)))
    X = features.at(np.repeat(y, len(x)), np.tile(x, len(y)))
    level = deciding_level(model, X).reshape(len(y), len(x))
    pictures = {("c", "level"): _digits(level), ("c", "mask"): _bits(result[window] > 0)}
    if cell.algorithm == "gbrt":
        size = max(1, len(image) // THUMBNAIL)
        small = np.rint(block_mean(image, size)).astype(np.uint8)
        pictures["a", "grey"] = _bytes(small)
        pictures["a", "truth"] = _bits(block_mean(truth > 0, size) >= 0.5)
        pictures["c", "grey"] = _bytes(image[window])
        pictures["c", "truth"] = _bits(truth[window] > 0)
        corner = np.zeros(truth.shape, dtype=bool)
        corner[window] = True
        pictures["a", "window"] = _bits(block_mean(corner, size) >= 0.5)
    rounds = model.n_estimators_
    return [
        _row(cell, panel, kind, rounds, i, _NOTHING, "x" + line)
        for (panel, kind), lines in pictures.items()
        for i, line in enumerate(lines)
    ]


def _digits(values: np.ndarray) -> list[str]:
    return ["".join(f"{value:x}" for value in line) for line in values]


def _bytes(grey: np.ndarray) -> list[str]:
    return [line.tobytes().hex() for line in np.ascontiguousarray(grey, dtype=np.uint8)]


def _bits(mask: np.ndarray) -> list[str]:
    return _bytes(np.packbits(mask, axis=1))
