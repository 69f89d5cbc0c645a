"""Trains classifiers of pixels, segments whole frames with them, and meters what that costs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

import numpy as np

from algorithms.cegb import CEGBClassifier
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.gbrt import GBRTClassifier
from datasets import phc_c2dl_psc
from datasets.features.pyramid import LEVEL, LEVELS, SHARING, pyramid
from experiments.cegb_2017.cells.segmentation import object_scores, seg_measure, segment
from experiments.cell import Cell, at_rounds, rounded

SPLIT_COST = 1.0
"""alpha: the cost is counted in evaluations of a split."""

THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
"""Probabilities from which a pixel may count as body; chosen on the validation frames."""

MIN_AREA = 100
"""Components of fewer pixels are dropped; the smallest whole body has about 230."""

STRIP = 16
"""Pixel rows of a frame that are scored at a time."""

METERED_EVERY = 16
"""All pixels are segmented; costs are metered on each sixteenth pixel row of every frame."""

_PLAIN = ("n_estimators", "learning_rate", "max_leaves", "min_samples_leaf")


def frames_of(cell: Cell, dataset, part: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Give the frames of a part that a cell looks at: image and labels."""
    stream = phc_c2dl_psc.frames(
        part, scale=dataset.provenance["scale"], seed=cell.seed, kind=dataset.provenance["kind"]
    )
    return islice(stream, cell.params["frames"][part])


def train(one: Mapping, settings: Mapping, dataset):
    """Return a fitted estimator, its meter set to alpha / eps_m.

    Parameters
    ----------
    one : Mapping
        ``algorithm`` is ``gbrt``; ``cegb``, which goes on at a negative net gain; or
        ``cegb_stops``, which does not. ``tradeoff`` is lambda; ``coarsest`` the side of the
        largest blocks whose features it may use.
    settings : Mapping
        Of the trees.
    dataset : Dataset
        Sampled pixels with the 32 features of :mod:`datasets.features.pyramid`.
    """
    options = {name: settings[name] for name in _PLAIN}
    options |= {"max_depth": None, "split_cost": SPLIT_COST, "n_threads": 1}
    options["feature_sharing"] = SHARING
    if one["algorithm"] == "gbrt":
        model = GBRTClassifier(**options)
    else:
        stops = one["algorithm"] == "cegb_stops"
        model = CEGBClassifier(tradeoff=one["tradeoff"], stop_on_negative_gain=stops, **options)
    X = dataset.X_train.copy()
    X[:, np.array(LEVELS)[LEVEL] > one["coarsest"]] = 0.0  # a constant is never split
    with warnings.catch_warnings():
        # A large tradeoff may leave no split worth its cost; round 0 records that.
        warnings.simplefilter("ignore", ConstantModelWarning)
        model.fit(X, dataset.y_train)
    return model


def stages(model, wanted: list[int]) -> list[int]:
    """Return the wanted numbers of rounds that the model has, and its last."""
    n_rounds = model.n_estimators_
    return sorted({rounds for rounds in wanted if rounds < n_rounds} | {n_rounds})


def _at(staged: Iterator[np.ndarray], rounds: list[int]) -> np.ndarray:
    """Return what a staged method yields at these rounds, (n_stages, n_pixels)."""
    return np.stack(list(at_rounds(staged, rounds).values()))


def measure_frame(model, X: np.ndarray, shape: tuple[int, int], rounds: list[int]):
    """Score all pixels of a frame and meter them."""
    height, width = shape
    scores = np.empty((len(rounds), height, width))
    if rounds == [0]:
        scores[:] = model.initial_scores_[0]
        return scores, np.zeros(1), np.zeros(1)
    for first in range(0, height, STRIP):
        last = min(first + STRIP, height)
        staged = _at(model.staged_decision_function(X[first * width : last * width]), rounds)
        scores[:, first:last] = staged.reshape(len(rounds), last - first, width)
    metered = X.reshape(height, width, -1)[::METERED_EVERY].reshape(-1, X.shape[1])
    cost = _at(model.staged_cost(metered), rounds).mean(axis=1)
    model.set_params(feature_sharing=None)
    splits = _at(model.staged_cost(metered), rounds).mean(axis=1)
    model.set_params(feature_sharing=SHARING)
    return scores, cost, splits


def log_odds(probability: float) -> float:
    """Return the score at which a pixel has this probability of being body."""
    return math.log(probability / (1 - probability))


def measured(models, rounds: list[list[int]], frames: Iterable):
    """Yield for each frame its image and labels, and what each model makes of it.

    Yields
    ------
    image, truth : (h, w) arrays
    results : list of tuple
        For each model what :func:`measure_frame` returns.
    """
    for image, truth in frames:
        X = pyramid(image).rows(0, image.shape[0])
        pairs = zip(models, rounds, strict=True)
        yield image, truth, (measure_frame(m, X, image.shape, stage) for m, stage in pairs)


def choose_thresholds(models, rounds: list[list[int]], frames: Iterable, min_area: int) -> list:
    """Choose for each model and stage the threshold with the best SEG on the validation frames."""
    objects = [[[[] for _ in THRESHOLDS] for _ in stage] for stage in rounds]
    costs = [[] for _ in models]
    for _, truth, results in measured(models, rounds, frames):
        for m, (scores, cost, _) in enumerate(results):
            costs[m].append(cost)
            for stage, picture in enumerate(scores):
                for i, threshold in enumerate(THRESHOLDS):
                    result = segment(picture, log_odds(threshold), min_area)
                    objects[m][stage][i].append(object_scores(truth, result))
    chosen = []
    for m, found in enumerate(objects):
        table = np.array([[seg_measure(pieces) for pieces in stage] for stage in found])
        thresholds = [THRESHOLDS[i] for i in np.argmax(table, axis=1)]
        chosen.append((thresholds, table.max(axis=1).tolist(), np.mean(costs[m], axis=0).tolist()))
    return chosen


def trace(cell: Cell, dataset) -> list[dict]:
    """Train the models of a cell and segment its frames at a few stages."""
    wanted, settings = cell.params["models"], cell.params["settings"]
    models = [train(one, settings, dataset) for one in wanted]
    rounds = [stages(model, settings["checkpoints"]) for model in models]
    chosen = choose_thresholds(models, rounds, frames_of(cell, dataset, "valid"), MIN_AREA)
    objects = [[[] for _ in stage] for stage in rounds]
    costs, splits = [[] for _ in models], [[] for _ in models]
    for _, truth, results in measured(models, rounds, frames_of(cell, dataset, "test")):
        for m, (scores, cost, passed) in enumerate(results):
            costs[m].append(cost)
            splits[m].append(passed)
            for stage, threshold in enumerate(chosen[m][0]):
                result = segment(scores[stage], log_odds(threshold), MIN_AREA)
                objects[m][stage].append(object_scores(truth, result))
    rows = []
    for m, one in enumerate(wanted):
        for stage, n_rounds in enumerate(rounds[m]):
            valid = {"valid_score": chosen[m][1][stage], "valid_cost": chosen[m][2][stage]}
            valid["threshold"] = chosen[m][0][stage]
            tested = [np.array(values)[:, stage] for values in (costs[m], splits[m])]
            whole = _tested(objects[m][stage], *tested)
            rows.append(_row(one, "score", n_rounds, 0, valid | whole))
            for frame in range(len(tested[0])):
                part = slice(frame, frame + 1)
                only = _tested(objects[m][stage][part], *(values[part] for values in tested))
                rows.append(_row(one, "frame", n_rounds, frame, valid | only))
    return rows


def _tested(objects, cost, splits) -> dict[str, float]:
    """Return the test values of some frames."""
    return {
        "test_score": seg_measure(objects),
        "test_cost": float(np.mean(cost)),
        "test_splits": float(np.mean(splits)),
    }


def _row(one: Mapping, kind: str, n_rounds: int, line: int, values: Mapping) -> dict:
    key = {name: one[name] for name in ("panel", "algorithm", "coarsest", "tradeoff")}
    values = {name: rounded(value) for name, value in values.items()}
    return {**key, "kind": kind, "rounds": n_rounds, "line": line, **values, "pixels": ""}
