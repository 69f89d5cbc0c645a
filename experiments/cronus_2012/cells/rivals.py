"""The soft cascade and AND-OR, whose trees belong to stages before anything is learned."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np

from algorithms.and_or_cascade import AndOrCascadeClassifier
from algorithms.raykar_cascade import RaykarCascadeClassifier
from algorithms.reweighted_trees.pools import TreePools, assign_pools, boost_pools
from experiments.cell import Cell
from experiments.cronus_2012.cells.cascades import costs_until, measured
from experiments.cronus_2012.cells.cuts import cut_anew
from experiments.cronus_2012.cells.depth import Grown
from experiments.cronus_2012.cells.rows import model_row
from experiments.cronus_2012.cells.task import (
    boosted,
    part_of,
    training_weights,
    unfitted,
)
from experiments.evaluate import prices_of

KINDS: Mapping[str, tuple[type, str, tuple[str, ...]]] = {
    "raykar_cascade": (RaykarCascadeClassifier, "tradeoff", ("max_evaluations",)),
    "and_or_cascade": (AndOrCascadeClassifier, "ridge", ("max_cycles", "max_sweeps")),
}
"""For each rival its class, what tells its cascades apart (λ, τ), and the limits of its search."""


def settings_of(
    algorithm: str, given: Mapping, positive_weight: float
) -> Iterator[tuple[float, dict]]:
    """Yield what tells the cascades of a rival apart, and their parameters."""
    _, name, limits = KINDS[algorithm]
    for value in given[f"{name}s"]:
        shown = value / given["tree_cost"] if name == "tradeoff" else value
        options = {name: shown, "positive_weight": positive_weight}
        yield value, options | {limit: given[limit] for limit in limits}


def rival_rows(grown: Grown, dataset) -> list[dict]:
    """Train a rival with all its settings, its trees assigned by price, and in boosting order."""
    cell, given = grown.cell, grown.cell.params
    parts = {name: part_of(cell, dataset, name) for name in ("train", "valid", "test")}
    free = cell.algorithm.replace("_cascade", "_free")
    grown = pools_of(cell, dataset)
    n_stages, largest = len(given["limits"]), max(given["sizes"])
    whole = boosted(cell, dataset, n_trees=largest * n_stages)
    in_order = assign_pools(whole, np.repeat(np.arange(n_stages), largest), n_stages)
    rows = []
    of_method = {cell.algorithm: grown, **({free: in_order} if given["control"] else {})}
    for method, pools in of_method.items():
        sizes = given["sizes"] if method != free else [largest]
        settings = list(product(sizes, given["positive_weights"]))
        for number, (size, positive_weight) in enumerate(settings):
            about = {"rounds": size * n_stages, "positive_weight": positive_weight}
            first = pools.first_trees(size)
            rows += _rows(cell, dataset, parts, method, first, number, about)
    return rows


def pools_of(cell: Cell, dataset) -> TreePools:
    """Return boosted trees for each stage, on features up to its price."""
    train = part_of(cell, dataset, "train")
    return boost_pools(
        unfitted(cell, dataset, max(cell.params["sizes"])),
        train.X,
        train.signs,
        price_limits=cell.params["limits"],
        sample_weight=training_weights(cell, train),
    )


def _rows(cell, dataset, parts, method, pools, number, about) -> list[dict]:
    """Train along the rival's own grid, and move the thresholds of each cascade."""
    given, train = cell.params, parts["train"]
    weights = training_weights(cell, train)
    rows = []
    for tradeoff, options in settings_of(cell.algorithm, given, about["positive_weight"]):
        model = KINDS[cell.algorithm][0](
            pools,
            price_limits=given["limits"],
            tree_cost=given["tree_cost"],
            n_threads=1,
            **prices_of(dataset),
            **options,
        )
        begun = time.process_time()
        model.fit(train.X, train.signs > 0, sample_weight=weights)
        seconds = time.process_time() - begun
        costs = {name: costs_until(model, parts[name]) for name in ("valid", "test")}
        for m, cascade in enumerate(cut_anew(model, train, given["rejections"])):
            values = {"fit_seconds": seconds, "capped": model.capped_}
            values |= measured(cascade, pools.responses.forest, parts, costs)
            setting = number * len(given["rejections"]) + m
            named = {**about, "tradeoff": tradeoff, "setting": setting}
            rows.append(model_row(cell, method, values, **named))
    return rows
