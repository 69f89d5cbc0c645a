"""Pruned forests as files: the whole forest, and when each split comes in along the hull."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.frozen import FrozenEstimator

from ..estimators.files import entry, refusing_parameters, whole_number
from ..validation.prices import take_column_numbers
from .growing import CountedForest
from .hull import Hull
from .voting import VotingClassifier

_MOST_STEPS = 2**62


class SavedPruning(VotingClassifier):
    """Files of a pruned forest; a base, not to be used by itself.

    A loaded model's `forest` is the fitted forest, frozen: fitted again, it prunes the same trees.
    """

    _fitted_params: ClassVar = ("forest",)
    _stored_arrays: ClassVar = VotingClassifier._stored_arrays | {
        "entry": (np.int64, "splits"),
        "errors": (np.int64, "prunings"),
        "cost": (np.int64, "prunings"),
    }

    def _new_forest(self, params: Mapping[str, Any]) -> VotingClassifier:
        """Forest of some parameters, not fitted."""
        raise NotImplementedError

    def _stored(self) -> tuple[dict, dict[str, np.ndarray]]:
        header, arrays = self.forest_._stored()
        hull = self._hull
        header |= {
            "forest": self.forest_._told_params(),
            "pruned_vote": self._vote,
            "point": int(self.point_),
            "n_judged": hull.n_judged,
            "weight": hull.weight,
            "exponent": hull.exponent,
        }
        return header, arrays | {"entry": hull.entry, "errors": hull.errors, "cost": hull.cost}

    def _restore(self, header: dict, arrays: dict[str, np.ndarray]) -> None:
        params = entry(header, "forest", dict, "an object")
        with refusing_parameters():
            forest = self._new_forest(params)
        forest.n_features_in_, forest.classes_ = self.n_features_in_, self.classes_
        if hasattr(self, "feature_names_in_"):
            forest.feature_names_in_ = self.feature_names_in_
        take_column_numbers(forest, self)
        forest._restored_forest(header, arrays, len(self.classes_))
        with refusing_parameters():
            forest._check_restored()
        self._restored_forest(header | {"vote": header.get("pruned_vote")}, arrays,
                              len(self.classes_))  # fmt: skip
        vote, self.forest_ = self._vote, forest
        self.forest = FrozenEstimator(forest)
        hull = Hull(
            arrays["errors"],
            arrays["cost"],
            arrays["entry"],
            whole_number(header, "n_judged", 0, _MOST_STEPS),
            whole_number(header, "weight", 1, _MOST_STEPS),
            whole_number(header, "exponent", -2000, 2000),
        )
        check_hull(forest, hull)
        place = whole_number(header, "point", 0, len(hull.cost) - 1)
        self._take(hull, place, vote)


def check_hull(forest: VotingClassifier, hull: Hull) -> None:
    """Check a hull from a file: nested prunings, fewer errors for more cost."""
    fitted = CountedForest(forest.trees_, forest.class_counts_, forest.out_of_bag_counts_)
    split, n_points = np.flatnonzero(fitted.forest.left >= 0), len(hull.cost)
    if not n_points or len(hull.errors) != n_points or len(hull.entry) != len(split):
        raise ValueError("it must hold errors and cost of each pruning, and a number of each split")
    alone = n_points == 1  # of the authors' solver
    first_costs = hull.cost[0] != 0 and not alone
    if first_costs or np.any(hull.cost >= _MOST_STEPS) or np.any(hull.cost < 0):
        raise ValueError("the costs of its prunings must be numbers of steps, from 0")
    if np.any(hull.errors < 0) or np.any(hull.errors > hull.n_judged):
        raise ValueError("the errors of its prunings must be numbers of rows")
    if np.any(np.diff(hull.cost) <= 0) or np.any(np.diff(hull.errors) >= 0):
        raise ValueError("its prunings must cost more and err less, one after the other")
    if not np.isfinite(np.ldexp(float(hull.cost[-1]), -hull.exponent)):
        raise ValueError("the costs of its prunings must be finite")
    if np.any(hull.entry < 0) or np.any(hull.entry > n_points):
        raise ValueError("its splits must come in with one of its prunings, or none")
    above = np.full(len(fitted.forest.left) + 1, -1)
    above[fitted.forest.left[split]] = above[fitted.forest.left[split] + 1] = hull.entry
    if np.any(hull.entry < above[split]):
        raise ValueError("a split of its trees comes in before the one above it")
