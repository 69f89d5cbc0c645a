"""Scene-15 with the pass over gradients that all detectors share charged once.

That is a group within a group: one price for the first detector that a model uses, one for the
first machine of each. The meter has one level of groups, and training sees that level: descriptor
by descriptor, detectors without the pass. The pass comes on top of every bill of a model, from the
first round on in which it uses a detector; in the meter, too, every picture then pays it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from datasets.features.scenes import prices


def pass_price() -> float:
    """Return what the shared pass costs a picture, in milliseconds."""
    return prices.shared_part() * prices.of_descriptor(prices.read(), "detector_0").descriptor


def detectors_of(dataset) -> np.ndarray:
    """Return which features are machines on a detector, (d,) bool."""
    return np.array([name.startswith("detector_") for name in dataset.feature_names])


def without_pass(dataset):
    """Return the data with detectors that cost what each computes for itself."""
    shared = set(dataset.feature_groups[detectors_of(dataset)].tolist())
    costs = {
        group: cost - pass_price() if group in shared else cost
        for group, cost in dataset.group_costs.items()
    }
    return replace(dataset, group_costs=costs)


def pass_of(dataset, model) -> np.ndarray:
    """Return what the pass costs after each round from 0 on, (rounds + 1,) float64."""
    forest, n_columns = model.trees_, len(model.initial_scores_)
    paid = np.zeros(model.n_estimators_ + 1)
    split = forest.feature >= 0
    uses = np.zeros(len(split), dtype=bool)
    uses[split] = detectors_of(dataset)[forest.feature[split]]
    if uses.any():
        tree = np.searchsorted(forest.tree, np.flatnonzero(uses)[0], side="right") - 1
        paid[tree // n_columns + 1 :] = pass_price()
    return paid


def once(cost: float, n_detectors: int) -> float:
    """Return a cost in which so many detectors were charged each with a pass, with one of them."""
    return cost - max(n_detectors - 1, 0) * pass_price()
