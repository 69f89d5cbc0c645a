"""Decision DAGs as files: the trees, the policy, and the fingerprint of the trees it is for.

Whatever the trees came from, a loaded DAG holds them as a
:class:`algorithms.interop.MeteredForest`, which needs no other library. It is also the loaded
model's `estimator`: fitted again, the DAG takes the same trees.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ..costs import check_split_cost
from ..estimators.files import (
    SavedModel,
    entry,
    known_parameters,
    n_score_columns,
    restored,
    stored_parameter,
    whole_number,
)
from ..estimators.parameters import checked_parameters
from ..exits.fitted_trees import responses_of
from ..interop.forest import MeteredForest
from ..interop.nodes import AS_SEEN, ClassLink, Leaf, Split, Tree
from ..trees.forest import NODE_DTYPES, Forest, check_forest
from .base_classifiers import BaseClassifiers, nothing, on_grid
from .rewards import GAUSSIAN_CELLS, N_ACTIONS

_PRICES = ("feature_costs", "split_cost", "feature_groups", "group_costs", "feature_sharing")


def _metered(base: BaseClassifiers, forest: Forest, n_features, as_seen, names, prices, classes):
    """Wrap the trees, so that they predict and are charged by themselves."""
    shared = base.n_parts == 1

    def read(node):
        if forest.left[node] < 0:
            value = base.values[node] if shared else base.values[node].sum(keepdims=True)
            return Leaf(value, int(node))
        left = int(forest.left[node])
        return Split(int(forest.feature[node]), forest.threshold[node], left, left + 1)

    sharing = prices.pop("feature_sharing", None)
    meter = MeteredForest(
        [Tree(int(root), read) for root in forest.tree[:-1]],
        base.initial_scores,
        n_features,
        as_seen=AS_SEEN[as_seen],
        library="saved",
        feature_names=names,
        link=None if classes is None else ClassLink(classes, None),
        **prices,
    )
    meter.feature_sharing = sharing
    meter._refuse_wrong_prices()
    return meter


class SavedDAG(SavedModel):
    """Files of a decision DAG; a mixin."""

    _fitted_params: ClassVar = ("estimator",)
    _stored_arrays: ClassVar = {
        "tree": (np.int64, "trees + 1"),
        **{name: (dtype, "nodes") for name, dtype in NODE_DTYPES.items()},
        "values": (np.float64, "nodes", "scores"),
        "initial_scores": (np.float64, "scores"),
        "policy": (np.int8, "base classifiers", "cells"),
        "history": (np.float64, "scorings"),
    }

    @classmethod
    def _array_kinds(cls, header: dict):
        kinds, optional, most = super()._array_kinds(header)
        n_bins = known_parameters(cls, header).get("n_bins")
        n_bins = max(GAUSSIAN_CELLS, n_bins) if isinstance(n_bins, int) else GAUSSIAN_CELLS
        return kinds, optional, {**most, "cells": n_bins * most["scores"]}

    def _stored(self) -> tuple[dict, dict[str, np.ndarray]]:
        meter, base = self._responses_.meter, self._dag_.base
        as_seen = getattr(meter, "_as_seen", AS_SEEN["double"])
        as_seen = AS_SEEN["double"] if as_seen is np.asarray else as_seen
        (name,) = [name for name, function in AS_SEEN.items() if function is as_seen]
        header = {
            "as_seen": name,
            "prices": {name: stored_parameter(meter, name) for name in _PRICES},
            "objective": float(self.objective_),
            "parts": base.n_parts,
            "fingerprint": base.fingerprint(),
        }
        forest = base.forest
        feature = np.where(
            forest.feature < 0, -1, base.used[forest.feature] if len(base.used) else -1
        )
        arrays = {
            "values": base.values,
            "initial_scores": base.initial_scores,
            "policy": self.policy_,
            "history": self.history_,
        }
        return header, arrays | forest._replace(feature=feature.astype(np.int32))._asdict()

    def _restore(self, header: dict, arrays: dict[str, np.ndarray]) -> None:
        as_seen = entry(header, "as_seen", str, "a name")
        if as_seen not in AS_SEEN:
            raise ValueError("it compares rows with thresholds in an unknown way")
        prices = entry(header, "prices", dict, "an object")
        if set(prices) != set(_PRICES):
            raise ValueError("it must hold prices of all kinds, and no others")
        check_split_cost(prices["split_cost"])
        prices = {name: restored(value) for name, value in prices.items()}
        forest = Forest(**{name: arrays[name] for name in Forest._fields})
        base = self._restored_base(header, arrays, forest)
        if entry(header, "fingerprint", str, "text") != base.fingerprint():
            raise ValueError(
                "its policy is that of other base classifiers: their fingerprint is another"
            )
        names = getattr(self, "feature_names_in_", None)
        classes = self.classes_ if is_classifier(self) else None
        meter = _metered(base, forest, self.n_features_in_, as_seen, names, prices, classes)
        self.estimator = self.estimator_ = meter
        self.objective_ = entry(header, "objective", float, "a number")
        self.history_ = arrays["history"]
        if not np.all(np.isfinite([self.objective_, *self.history_])):
            raise ValueError("its objectives must be finite")
        policy = arrays["policy"]
        self._set_up(responses_of(meter), base, policy)
        wanted = (base.n_base, self._dag_.cells.n_cells)
        if policy.shape != wanted or np.any(policy < 0) or np.any(policy >= N_ACTIONS):
            raise ValueError(
                f"its policy must hold an action for each of {wanted[0]} base classifiers and "
                f"{wanted[1]} cells"
            )

    def _restored_base(self, header: dict, arrays: dict, forest: Forest) -> BaseClassifiers:
        """Base classifiers from a file, once all that kernels rely on has been checked."""
        values, initial = arrays["values"], arrays["initial_scores"]
        n_columns, n_parts = len(initial), whole_number(header, "parts", 1)
        if n_columns != n_score_columns(self):
            raise ValueError("it does not hold a score for each class")
        if n_parts not in (1, n_columns):
            raise ValueError("its base classifiers must have one tree, or one for each score")
        check_forest(forest, self.n_features_in_, np.zeros(n_parts), infinite_thresholds=True)
        if values.shape != (len(forest.left), n_columns) or not np.all(np.isfinite(values)):
            raise ValueError("its answers must be finite numbers, one for each node and score")
        if np.any(values[forest.left >= 0]):
            raise ValueError("its split nodes must not answer")
        if not np.all(np.isfinite(initial)):
            raise ValueError("its initial scores must be finite")
        if forest.n_trees == 0:
            return nothing(initial)
        tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree))
        if n_parts > 1 and np.any(values[np.arange(n_columns) != (tree % n_columns)[:, None]]):
            raise ValueError("its trees must answer for their own score only")
        return on_grid("the saved model", forest, values, n_parts, initial)

    def _check_restored(self) -> None:
        check_is_fitted(self)
        checked_parameters(self)
        self._priced(self._responses_)
