"""Greedy Miser trained or scored otherwise than by default."""

from __future__ import annotations

import warnings
from dataclasses import replace

from algorithms.cegb import CEGBRegressor
from algorithms.costs import price_list
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.forest_costs import staged_bill
from experiments.cell import Cell, rounded
from experiments.greedy_miser_2012.cells.measure import (
    best_round,
    followed,
    make_estimator,
    row_weights,
    scaled_tradeoff,
    score,
)

CHANGES = {
    "ours": {},
    "authors": {"charging": "authors"},
    "all_splits": {},
    "leaves_8": {"max_depth": 3},
    "start_at_mean": {"init": "mean"},
    "bins_63": {"max_bins": 63},
    "bins_31": {"max_bins": 31},
    "step_0.05": {"learning_rate": 0.05},
    "step_0.2": {"learning_rate": 0.2},
    "letor": {},
}
"""Variant to the parameters of the estimator that it changes."""


def varied(cell: Cell, dataset) -> list[dict]:
    """Train a variant of a cell's model and measure it at its best round by validation."""
    variant = cell.params["variant"]
    settings = {**cell.params["settings"], **CHANGES[variant]}
    settings["n_estimators"] = round(settings["n_estimators"] * 0.1 / settings["learning_rate"])
    params = {**cell.params, "settings": settings}
    miser = make_estimator(replace(cell, params=params), dataset)
    model = _without_stop(params, dataset) if variant == "all_splits" else miser
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantModelWarning)
        model.fit(dataset.X_train, dataset.y_train, sample_weight=row_weights(dataset))
    metric = "ndcg_letor" if variant == "letor" else "ndcg"
    best = best_round(followed(model, dataset, "valid", metric))
    predicted = model.first_rounds(best).predict(dataset.X_test)
    prices = price_list(dataset.feature_costs, None, None, dataset.n_features)
    # Of whoever trained it: CEGB has no such bill.
    bills = [0.0, *staged_bill(model.trees_, 1, prices, miser.tree_cost)]
    return [
        {
            "panel": cell.params["panel"],
            "variant": variant,
            "test_score": rounded(score(predicted, dataset, "test", metric)),
            "test_cost_paper": rounded(bills[best]),
            "rounds": best,
        }
    ]


def _without_stop(params, dataset) -> CEGBRegressor:
    """Return restricted CEGB, which is Greedy Miser, without its stop at negative net gain."""
    settings = {name: v for name, v in params["settings"].items() if name != "charging"}
    return CEGBRegressor(
        **settings,
        tradeoff=scaled_tradeoff(dataset, params["tradeoff"]),
        model_feature_costs=dataset.feature_costs,
        max_leaves=None,
        growth="breadth_first",
        second_order=False,
        min_hessian_leaf=0.0,
        stop_on_negative_gain=False,
        n_threads=1,
    )
