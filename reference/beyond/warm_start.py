"""Going on from an earlier model: its rounds are the first ones."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from reference.boosting import Model
from reference.trees import Tree, nodes_passed


def going_on(model: Model, earlier: Model) -> Model:
    """The model, begun with the rounds of the earlier one."""
    rounds, trace = list(earlier.rounds), list(earlier.trace)
    return replace(model, rounds=rounds, trace=trace, initial_scores=earlier.initial_scores)


def trees_of(model: Model | None) -> list[Tree]:
    """All trees, round by round."""
    return [] if model is None else [tree for of_round in model.rounds for tree in of_round]


def used_by(some: list[Tree], X: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Each feature that a tree tests, and the rows that it tests it of."""
    for tree in some:
        passed = nodes_passed(tree, X)
        for m in np.unique(tree.feature[tree.feature >= 0]):
            yield int(m), np.flatnonzero(passed[:, m])
