"""Boosted trees that read columns of categories: what they know of them, and codes for rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array, check_is_fitted, check_X_y

from ..estimators.validation import validate_data
from ..grid import row_weights
from ..kernels.arrays import read_only
from ..validation.categories import Table, categorical_mask, encoded, known_categories, tabulate
from ..validation.columns import Columns, columns_of, masked_as_missing
from ..validation.prices import labels_of_columns

_READ = {"dtype": np.float64, "order": "C", "ensure_all_finite": "allow-nan"}


class TrainingTable(NamedTuple):
    """Rows with columns of categories, before it is known which of these the model will know."""

    labels: dict[int, np.ndarray]
    called: list[str]


class ReadsCategories:
    """Columns of categories of an estimator of boosted trees; a mixin."""

    @property
    def categories_(self) -> dict[int, np.ndarray]:
        """Of each column of categories, by place, those that the model tells apart, ascending."""
        check_is_fitted(self)
        return self._known_categories()

    @property
    def is_categorical_(self) -> np.ndarray | None:
        """Which columns are of categories, (n_features,) bool; None if none is."""
        check_is_fitted(self)
        known = self._n_known()
        return None if known is None else known >= 0

    def _known_categories(self) -> dict[int, np.ndarray]:
        return getattr(self, "_categories_", {})

    def _n_known(self) -> np.ndarray | None:
        """Categories of each feature, -1 of numbers; None if all are numbers."""
        if not self._known_categories():
            return None
        known = np.full(self.n_features_in_, -1, dtype=np.int64)
        for m, categories in self._known_categories().items():
            known[m] = len(categories)
        return known

    def _training_table(
        self, X: ArrayLike, y: ArrayLike
    ) -> tuple[np.ndarray, np.ndarray, TrainingTable] | None:
        """Rows and targets to train on; None if no column is of categories."""
        by_dtype = isinstance(self.categorical_features, str)
        if self.categorical_features is None or (by_dtype and labels_of_columns(X) is None):
            return None
        X, columns = self._columns(X)
        mask = categorical_mask(self.categorical_features, columns)
        if mask is None:
            return None
        validate_data(self, X, y, skip_check_array=True)
        table = tabulate(columns, mask)
        rows, y = check_X_y(table.X, y, estimator=self, **_READ)
        called = [columns.called(m) for m in range(len(columns.values))]
        return rows, y, TrainingTable(table.labels, called)

    def _columns(self, X: ArrayLike) -> tuple[Any, Columns]:
        X = masked_as_missing(X, True, type(self).__name__)
        return X, columns_of(X, labels_of_columns(X))

    def _learn_categories(
        self, X: np.ndarray, table: TrainingTable, weights: np.ndarray | None, max_bins: int
    ) -> np.ndarray:
        """Choose the categories that the model knows; give the rows with their codes."""
        table, called = Table(X, table.labels), table.called
        row = row_weights(weights, len(X))
        grid = row.counts, row.exponent
        self._categories_ = known_categories(table, *grid, self.min_samples_leaf, max_bins, called)
        return encoded(table, self._categories_, called)

    def _encoded(self, X: ArrayLike) -> np.ndarray:
        """Rows like those of training with codes in the place of categories."""
        X, columns = self._columns(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        table = tabulate(columns, self._n_known() >= 0)
        rows = check_array(table.X, estimator=self, **_READ)
        called = [columns.called(m) for m in range(len(columns.values))]
        return read_only(encoded(Table(rows, table.labels), self._known_categories(), called))
