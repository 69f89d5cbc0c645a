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

from ..estimators.files import (
    SavedModel,
    entry,
    known_parameters,
    n_score_columns,
    whole_number,
)
from ..estimators.parameters import checked_parameters
from ..exits.fitted_trees import fitted_trees_of
from ..interop.files import checked_meter, stored_meter
from ..interop.forest import MeteredForest
from ..interop.nodes import ClassLink
from ..trees.forest import NODE_DTYPES, Forest, check_forest
from .base_classifiers import BaseClassifiers, nothing, on_grid
from .rewards import GAUSSIAN_CELLS, N_ACTIONS


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
        base = self._dag_.base
        header = {
            **stored_meter(self._responses_.meter),
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
        told = checked_meter(header)
        forest = Forest(**{name: arrays[name] for name in Forest._fields})
        base = self._restored_base(header, arrays, forest)
        if entry(header, "fingerprint", str, "text") != base.fingerprint():
            raise ValueError(
                "its policy is that of other base classifiers: their fingerprint is another"
            )
        meter = MeteredForest._metered(
            told,
            forest,
            base.values if base.n_parts == 1 else base.values.sum(axis=1, keepdims=True),
            base.initial_scores,
            self.n_features_in_,
            feature_names=getattr(self, "feature_names_in_", None),
            link=ClassLink(self.classes_, None) if is_classifier(self) else None,
        )
        self.estimator = self.estimator_ = meter
        self.objective_ = entry(header, "objective", float, "a number")
        self.history_ = arrays["history"]
        if not np.all(np.isfinite([self.objective_, *self.history_])):
            raise ValueError("its objectives must be finite")
        policy = arrays["policy"]
        self._set_up(fitted_trees_of(meter), base, policy)
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
