"""The soft cascade and AND-OR, whose trees belong to stages before anything is learned."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from itertools import product

import numpy as np
from sklearn.frozen import FrozenEstimator

from algorithms.and_or_cascade import AndOrCascadeClassifier
from algorithms.cascades.responses import Responses
from algorithms.cascades.weighed_trees import fit_trees
from algorithms.raykar_cascade import RaykarCascadeClassifier
from algorithms.trees.forest import joined
from experiments.cell import Cell
from experiments.cronus_2012.cells.cascades import measured, outputs
from experiments.cronus_2012.cells.rows import model_row
from experiments.cronus_2012.cells.task import (
    boosted,
    part_of,
    price_with_group,
    prices_of,
    training_weights,
)

AS_FITTED = -1.0
"""In the place of a share: the thresholds that the rival itself has."""


class _OfGivenPools:
    """Takes trees that are grown already, and the stage of each, in the place of growing them."""

    given: tuple[object, Responses, np.ndarray]

    def _pooled_trees(self, X, y, signs, weights, limits):
        fitted, responses, pools = self.given
        return [fitted], responses, pools


class _Raykar(_OfGivenPools, RaykarCascadeClassifier):
    pass


class _AndOr(_OfGivenPools, AndOrCascadeClassifier):
    pass


def soft_cascades(given: Mapping, positive_weight: float) -> Iterator[tuple[float, dict]]:
    """Yield what tells the soft cascades apart, λ, and their parameters."""
    for tradeoff in given["tradeoffs"]:
        yield (
            tradeoff,
            {
                "tradeoff": tradeoff / given["tree_cost"],
                "positive_weight": positive_weight,
                "max_evaluations": given["max_evaluations"],
            },
        )


def and_or_cascades(given: Mapping, positive_weight: float) -> Iterator[tuple[float, dict]]:
    """Yield what tells AND-OR cascades apart, τ, and their parameters."""
    for ridge in given["ridges"]:
        yield (
            ridge,
            {
                "ridge": ridge,
                "positive_weight": positive_weight,
                "max_cycles": given["max_cycles"],
                "max_sweeps": given["max_sweeps"],
            },
        )


KINDS: Mapping[str, tuple[type, Callable]] = {
    "raykar_cascade": (_Raykar, soft_cascades),
    "and_or_cascade": (_AndOr, and_or_cascades),
}


def rival_rows(cell: Cell, dataset) -> list[dict]:
    """Train a rival with all its settings, its trees assigned by price, and in boosting order.

    Parameters
    ----------
    cell : Cell
        ``limits`` are the pools' highest prices, ``sizes`` the trees in each pool,
        ``positive_weights`` and the rival's own grid are tried in all combinations; each cascade
        is measured with its own thresholds and with some that reject a share of the training
        inputs at each stage, ``rejections``.
    dataset : Dataset

    Returns
    -------
    list of dict
        Methods ``raykar_cascade`` and ``raykar_free``, or ``and_or_cascade`` and ``and_or_free``;
        ``setting`` numbers the combinations.
    """
    given = cell.params
    parts = {name: part_of(cell, dataset, name) for name in ("train", "valid", "test")}
    free = cell.algorithm.replace("_cascade", "_free")
    grown = pools_of(cell, dataset)
    largest = max(given["sizes"])
    whole = [boosted(cell, dataset, n_trees=largest * len(given["limits"]))]
    rows = []
    for method, models in ((cell.algorithm, grown), (free, whole)):
        sizes = given["sizes"] if method != free else [largest]
        settings = list(product(sizes, given["positive_weights"]))
        for number, (size, positive_weight) in enumerate(settings):
            pooled = assigned(models, size, len(given["limits"]))
            about = {"rounds": size * len(given["limits"]), "positive_weight": positive_weight}
            rows += _rows(cell, dataset, parts, method, pooled, number, about)
    return rows


def pools_of(cell: Cell, dataset) -> list:
    """Return boosted trees for each stage, on features up to its price."""
    prices = price_with_group(dataset)
    models = []
    for limit in cell.params["limits"]:
        X = dataset.X_train.copy()
        X[:, prices > limit] = 0.0
        models.append(boosted(cell, dataset, X, max(cell.params["sizes"])))
    return models


def assigned(models: list, size: int, n_stages: int) -> tuple[object, np.ndarray]:
    """Return trees and the stage of each: the first of each pool, or of one model in its order."""
    if len(models) == 1:
        model = models[0]
        return model.first_rounds(size * n_stages), np.repeat(np.arange(n_stages), size)
    forest = joined([model.trees_.first(size) for model in models])
    whole = models[-1].first_rounds(size)
    whole.trees_ = forest
    return whole, np.repeat(np.arange(len(models)), size)


def _rows(cell, dataset, parts, method, pooled, number, about) -> list[dict]:
    """Train along the rival's own grid, and move the thresholds of each cascade."""
    trees, pools = pooled
    kind, grid = KINDS[cell.algorithm]
    given, train = cell.params, parts["train"]
    weights = training_weights(cell, train)
    _, responses = fit_trees(FrozenEstimator(trees), train.X, train.signs, train.signs, weights)
    rows = []
    for tradeoff, options in grid(given, about["positive_weight"]):
        model = kind(
            price_limits=given["limits"],
            tree_cost=given["tree_cost"],
            n_threads=1,
            **prices_of(dataset),
            **options,
        )
        model.given = (trees, responses, pools)
        begun = time.process_time()
        model.fit(train.X, train.signs > 0, sample_weight=weights)
        seconds = time.process_time() - begun
        fitted, thresholds = (model._responses_, model.coef_, model.intercept_), model.thresholds_
        scores = stage_scores(model, train.X)
        for m, share in enumerate(given["rejections"]):
            cut = thresholds if share == AS_FITTED else cuts(scores, train.copies, share)
            model._set_up(*fitted, cut)
            values = {"fit_seconds": seconds, "capped": model.capped_}
            values |= measured(model, responses.forest, parts)
            setting = number * len(given["rejections"]) + m
            named = {**about, "tradeoff": tradeoff, "setting": setting}
            rows.append(model_row(cell, method, values, **named))
    return rows


def stage_scores(model, X: np.ndarray) -> np.ndarray:
    """Return f^k of all rows, (n_stages, n) float64."""
    used = np.flatnonzero(model.coef_.any(axis=0))
    answers = outputs(model._responses_.forest, used, X)
    return model.intercept_[:, None] + model.coef_[:, used] @ answers.T


def cuts(scores: np.ndarray, copies: np.ndarray, share: float) -> np.ndarray:
    """Return thresholds that reject a share of the inputs that come to each stage but the last.

    Parameters
    ----------
    scores : (n_stages, n) float64
    copies : (n,) float64
        Inputs that each row stands for.
    share : float
        Ties stay together: no more than this is rejected.
    """
    alive, thresholds = np.ones(len(copies), dtype=bool), []
    for score in scores[:-1]:
        order = np.flatnonzero(alive)[np.argsort(score[alive], kind="stable")]
        below = np.cumsum(copies[order]) - copies[order]
        fits = below <= share * copies[alive].sum()
        thresholds.append(score[order[fits][-1]])
        alive &= ~(score < thresholds[-1])
    return np.array(thresholds)
