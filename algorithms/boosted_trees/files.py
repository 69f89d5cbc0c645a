"""Boosted trees as files: what of a forest is stored, and what it must be to be taken back.

Categories stand in the header: lists of text or numbers, by the place of their column.
"""

from __future__ import annotations

import reprlib
from itertools import pairwise
from numbers import Integral
from typing import ClassVar

import numpy as np

from ..boosting import Boosted
from ..costs import by_column
from ..estimators.files import SavedModel, entry, finite_number, n_score_columns, whole_number
from ..metrics import check_eval_metric
from ..trees.binning import MAX_BINS
from ..trees.categorical_forest import check_sets, with_sets
from ..trees.forest import NODE_DTYPES, Forest, check_forest
from ..trees.searching_sets import WORDS
from .fit_options import decisive, signs_of


def stored_categories(known: dict[int, np.ndarray]) -> dict:
    """What a header says of columns of categories; nothing if there are none."""
    if not known:
        return {}
    return {"categories": {str(m): labels.tolist() for m, labels in known.items()}}


def restored_categories(header: dict, n_features: int) -> dict[int, np.ndarray]:
    """Categories from their entry in a header."""
    stored = entry(header, "categories", dict, "an object")
    places = [int(m) if m.isdecimal() and len(m) < 10 else -1 for m in stored]
    if not places or sorted(set(places)) != places or not 0 <= places[0] <= places[-1] < n_features:
        raise ValueError(
            f"categories in its header must be of some of {n_features} columns, in their order"
        )
    return dict(zip(places, map(_labels, stored.values()), strict=True))


def _labels(values: object) -> np.ndarray:
    """Distinct labels in ascending order, all text or all numbers."""
    kind = str if isinstance(values, list) and values and isinstance(values[0], str) else float
    good = isinstance(values, list) and len(values) <= MAX_BINS
    if not good or any(type(value) is not kind for value in values):
        raise ValueError(
            f"a column's categories in its header must be at most {MAX_BINS} texts or numbers, got "
            f"{reprlib.repr(values)}"
        )
    if any(not a < b for a, b in pairwise(values)):
        raise ValueError("a column's categories in its header must be distinct and ascending")
    labels = np.array(values, dtype=object if kind is str else np.float64)
    if kind is float and not np.all(np.isfinite(labels)):
        raise ValueError("a column's categories in its header must be finite")
    return labels


class SavedForest(SavedModel):
    """Files of an estimator of boosted trees; a mixin.

    A file without `missing_left`, of an earlier version, sends missing values to the right.
    """

    _stored_arrays: ClassVar = {
        "tree": (np.int64, "trees + 1"),
        **{name: (dtype, "nodes") for name, dtype in NODE_DTYPES.items()},
        "initial_scores": (np.float64, "scores"),
        "validation_scores": (np.float64, "scored rounds"),
    }
    _optional_arrays = frozenset({"missing_left"})
    _neutral: ClassVar = {
        "categorical_features": None,
        "objective": None,
        "lambdarank_truncation": None,
        "subsample": 1.0,
        "colsample_bytree": 1.0,
        "reg_lambda": 0.0,
        "monotonic_cst": None,
        "warm_start": False,
    }

    def _stored(self) -> tuple[dict, dict[str, np.ndarray]]:
        header = {"n_estimators": int(self.n_estimators_), "learning_rate": self._learning_rate}
        arrays = {
            "initial_scores": self.initial_scores_,
            "validation_scores": self.validation_scores_,
        }
        drawn = not isinstance(self.random_state, Integral)
        if drawn and self._decided_["random_state"] is not None:
            header["seed"] = self._decided_["random_state"]
        header |= stored_categories(self.categories_)
        arrays |= self.trees_._asdict()
        arrays.pop("by_set", None)  # the header says of which features there are sets
        return header, arrays

    @classmethod
    def _array_kinds(cls, header: dict) -> tuple:
        kinds, optional, most = super()._array_kinds(header)
        if "categories" in header:
            kinds = {**kinds, "left_set": (np.uint64, "nodes", "words")}
        n_trees = whole_number(header, "n_estimators", 0) * most["scores"]
        return kinds, optional, {**most, "trees": n_trees, "words": WORDS}

    def _restore(self, header: dict, arrays: dict[str, np.ndarray]) -> None:
        n_rounds = whole_number(header, "n_estimators", 0)
        learning_rate = finite_number(header, "learning_rate")
        none_left = np.zeros(len(arrays["feature"]), dtype=np.uint8)
        arrays = {"missing_left": none_left, **arrays}
        forest = Forest(**{name: arrays[name] for name in Forest._fields})
        initial, n_columns = arrays["initial_scores"], n_score_columns(self)
        if len(initial) != n_columns:
            raise ValueError(
                f"it must hold {n_columns} initial score(s), one for each column of scores, "
                f"got {len(initial)}"
            )
        check_forest(forest, self.n_features_in_, initial, learning_rate)
        if "categories" in header:
            self._categories_ = restored_categories(header, self.n_features_in_)
            known = self._n_known()
            forest = with_sets(forest, known >= 0, arrays["left_set"])
            check_sets(forest, known)
        if forest.n_trees != n_rounds * n_columns:
            raise ValueError(
                f"it must hold {n_columns} tree(s) for each of {n_rounds} rounds, "
                f"got {forest.n_trees}"
            )
        if "seed" in header:  # before parameters are read that would draw one
            self._decided_ = {"random_state": whole_number(header, "seed", 0)}
        self.validation_scores_ = arrays["validation_scores"]
        self._set_fitted(Boosted(forest, initial, n_rounds), learning_rate)

    def _check_restored(self) -> None:
        n_features, n_scores = self.n_features_in_, n_score_columns(self)
        signs = signs_of(self, n_features, n_scores)
        options = self._options()._replace(signs=signs)
        prices = self._prices(n_features if by_column(self) else 1)
        self._decided_ = decisive(self, options, prices)
        loss = (self.objective or "squared") if not hasattr(self, "classes_") else "logistic"
        if n_scores > 1:
            loss = "multinomial"
        check_eval_metric(self.eval_metric, loss, has_queries=True)
        self._refuse_wrong_prices()
