"""Cronus trained otherwise than in the figures, at a few λ and with given hyper-parameters."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from experiments.cell import Cell, rounded
from experiments.cronus_2012.cells.cascades import Trainer, measured, tradeoffs
from experiments.cronus_2012.cells.task import boosted, part_of

CHOSEN = {
    "quantile": {"quantile": 1},
    "positive_weight_35": {"positive_weight": 35.0},
    "penalty_1e-4": {"penalty": 1e-4},
    "last_penalty_1e-3": {"last_penalty": 1e-3},
    "decay_1.1": {"decay": 1.1},
}
"""Variant to the hyper-parameters that it changes: the grid of Figure 2, one at a time."""

CELLS = {
    "no_copies": {"train_copies": False},
    "steepness_20": {"steepness": 20.0},
    "steepness_200": {"steepness": 200.0},
    "stages_5": {"n_stages": 5},
    "stages_20": {"n_stages": 20},
    "rejection_0.05": {"rejection": 0.05},
    "rejection_0.3": {"rejection": 0.3},
    "leaves_8": {"trees": {"max_depth": 3}},
    "zeros_return": {"limits": {"support": "cascade"}},
}
"""Variant to the cell's parameters that it changes; of those of trees and limits one by one."""

OTHER = ("after_step", "one_start")
"""Leaf values times the step; no start from the neighbouring λ."""

VARIANTS = ("ours", *CHOSEN, *CELLS, *OTHER)


def varied(cell: Cell, dataset) -> list[dict]:
    """Train a variant along a few λ, the largest first."""
    variant = cell.params["variant"]
    cell = replace(cell, params=_changed(cell.params, CELLS.get(variant, {})))
    chosen = {**cell.params["chosen"], **CHOSEN.get(variant, {})}
    trees = boosted(cell, dataset)
    if variant == "after_step":
        trees = scaled(trees, cell.params["trees"]["learning_rate"])
    trainer = Trainer(cell, dataset, trees)
    parts = {name: part_of(cell, dataset, name) for name in ("valid", "test")}
    empty, before, rows = trainer.empty_from(chosen), None, []
    steps = sorted(cell.params["steps"])
    for step, tradeoff in zip(steps, tradeoffs(empty, steps), strict=True):
        model = trainer.fit(tradeoff, chosen, start=before)
        before = None if variant == "one_start" else model
        for method, cascade in (("cronus_initial", model.initialised()), ("cronus", model)):
            rows.append(
                {
                    "panel": cell.params["panel"],
                    "variant": variant,
                    "method": method,
                    "step": step,
                    **_summary(cascade, trainer.forest, parts),
                }
            )
    return rows


def _changed(params: Mapping, changes: Mapping) -> dict:
    """Return parameters with some changed, those of the trees and the limits one by one."""
    parts = {name: {**params[name], **changes.get(name, {})} for name in ("trees", "limits")}
    return {**params, **changes, **parts}


def scaled(model, factor: float):
    """Return a copy of boosted trees whose leaf values are multiplied."""
    other = copy.copy(model)
    other.trees_ = model.trees_._replace(value=factor * model.trees_.value)
    return other


def _summary(cascade, forest, parts) -> dict:
    values = measured(cascade, forest, parts)
    test = parts["test"]
    last = test.mean(cascade.exit_stage(test.X) == len(cascade.intercept_))
    kept = ("valid_score", "test_score", "tied_score", "test_cost_paper")
    return {
        **{name: rounded(values[name]) for name in kept},
        "hard": rounded(last),
        "n_stages": int(np.count_nonzero(cascade.coef_.any(axis=1))),
    }
