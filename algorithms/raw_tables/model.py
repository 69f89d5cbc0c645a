"""A fitted model with what makes its features of the columns of a table."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, RegressorTags, Tags, get_tags
from sklearn.utils.metaestimators import available_if

from ..estimators.files import SavedModel
from ..exits.files import SavedWithModel
from ..pipelines.made_features import OnRawColumns, can
from ..validation.prices import labels_of_columns, listed
from .columns import KINDS, RawColumn
from .fields import key

_NO_NAMES = "X does not have valid feature names"  # sklearn's; columns are matched by name before


class TableModel(OnRawColumns, SavedWithModel, BaseEstimator):
    """A fitted model that takes tables as their user has them: columns by name, text as it is.

    ``compare`` saves what it chooses as one. Columns stand in any order, and others beside them are
    not looked at; one that the model never asks for may be absent. A text that training did not
    know is none of the known ones, and a missing one likewise, unless training knew some.

    Parameters
    ----------
    model : fitted estimator of this package
        It takes what `columns` make, column by column. Its prices are those of made features; those
        of one column that is bought once are one group.
    columns : sequence of RawColumn

    Attributes
    ----------
    model_ : estimator
        The same.
    needs_ : ndarray of shape (n_made, n_columns), bool
        Whether each feature that the model sees is made of each column.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Their names.

    Raises
    ------
    ValueError
        If the columns do not make what the model takes.

    Examples
    --------
    >>> import pandas as pd
    >>> from algorithms.gbrt import GBRTRegressor
    >>> from algorithms.raw_tables import RawColumn, TableModel
    >>> colour = RawColumn("colour", ("blue", "red"), "two")
    >>> trees = GBRTRegressor(n_estimators=1, learning_rate=1.0, min_samples_leaf=1)
    >>> model = TableModel(trees.fit([[0.0], [1.0]], [3, 5]), [colour])
    >>> model.predict(pd.DataFrame({"size": [1, 2], "colour": ["red", "blue"]}))
    array([5., 3.])
    """

    _wraps: ClassVar = SavedModel

    def __init__(self, model: Any, columns: Sequence[RawColumn]) -> None:
        self.model = self.model_ = model
        self.columns = [RawColumn(*column) for column in columns]
        _check_columns(self.columns)
        n_made = [len(column.made) for column in self.columns]
        if sum(n_made) != model.n_features_in_:
            raise ValueError(
                f"the columns make {sum(n_made)} features, and the {type(model).__name__} takes "
                f"{model.n_features_in_}"
            )
        self.needs_ = np.repeat(np.eye(len(n_made), dtype=bool), n_made, axis=0)
        self.n_features_in_ = len(self.columns)
        self.feature_names_in_ = np.array([column.name for column in self.columns], dtype=object)
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Tags:
        tags, inner = super().__sklearn_tags__(), get_tags(self.model)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = ClassifierTags() if inner.classifier_tags else None
        tags.regressor_tags = RegressorTags() if inner.regressor_tags else None
        tags.input_tags.allow_nan = tags.input_tags.string = True
        return tags

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Learn nothing: the model stays as it is."""
        return self

    def _check_restored(self) -> None:
        """Nothing more: the constructor has checked."""

    # --- reading ------------------------------------------------------------------------------

    def made(self, X: Any) -> np.ndarray:
        """Give what the model takes for a table.

        Parameters
        ----------
        X : table (of pandas, polars or Arrow), or mapping from name to column

        Returns
        -------
        ndarray of shape (n_samples, n_made)
            float64, or objects if the model takes text.

        Raises
        ------
        ValueError
            If `X` is no table, lacks a column that the model asks for or has it twice; if a column
            holds what it did not hold in training; or if a value is missing where the model knows
            nothing of missing values.
        """
        found, n_rows = self._found(X)
        blocks = []
        for column in self.columns:
            if column.name not in found:
                blocks.append(np.zeros((n_rows, len(column.made))))
                continue
            blocks.append(column.read(found[column.name]))
            if not self._allows_nan and column.kind == "number":
                self._refuse_missing(column.name, blocks[-1])
        if not any(block.dtype == object for block in blocks):
            return np.ascontiguousarray(np.hstack(blocks))
        return np.hstack([block.astype(object) for block in blocks])

    def codes(self, m: int, column: Any) -> np.ndarray:
        """Give what becomes of column `m`, with codes for text: (n_samples, n_made) float64."""
        block = self.columns[m].read(column)
        if self.columns[m].kind == "category":
            place = {label: float(k) for k, label in enumerate(self._known(m))}
            block = np.array([[place.get(level, np.nan)] for level in block[:, 0]])
        return block.reshape(-1, int(self.needs_[:, m].sum()))

    def _known(self, m: int) -> list[str]:
        """Texts that the model tells apart in column `m`, which it takes as categories."""
        return self.model.categories_[int(np.argmax(self.needs_[:, m]))].tolist()

    @property
    def _allows_nan(self) -> bool:
        return bool(get_tags(self.model).input_tags.allow_nan)

    def _refuse_missing(self, name: str, block: np.ndarray) -> None:
        if n_missing := int(np.isnan(block).sum()):
            raise ValueError(
                f"Column {name!r} has {n_missing} missing values, of which this "
                f"{type(self.model).__name__} knows nothing: training had none there."
            )

    def _found(self, X: Any) -> tuple[dict[str, Any], int]:
        """Columns of a table by their names in training, and how many rows it has."""
        labels = list(X) if isinstance(X, Mapping) else labels_of_columns(X)
        if labels is None:
            raise ValueError(
                "X must be a table with named columns, of pandas, polars or Arrow, or a mapping "
                f"from name to column, got {type(X).__name__}."
            )
        own = {key(column.name): column.name for column in self.columns}
        places: dict[str, Any] = {}
        for label in labels:
            name = own.get(key(str(label)))
            if name in places:
                raise ValueError(f"X has several columns {name!r}: leave one.")
            if name is not None:
                places[name] = label
        idle = ~self.model_features() if hasattr(self, "model_features") else None
        lacking = [
            column.name
            for m, column in enumerate(self.columns)
            if column.name not in places and (idle is None or not idle[m])
        ]
        if lacking:
            raise ValueError(f"X lacks the columns {listed(lacking)}, which the model asks for.")
        by_name = {name: X[label] for name, label in places.items()}
        lengths = {len(column) for column in by_name.values()}
        if len(lengths) > 1:
            raise ValueError("X must have columns of one length.")
        return by_name, lengths.pop() if lengths else len(X)

    def _rows(self, X: Any) -> np.ndarray:
        return self.made(X)

    def _asked(self, name: str, X: Any, *more: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", _NO_NAMES, UserWarning)
            return super()._asked(name, X, *more)

    # --- what it costs, and what it ranks by ----------------------------------------------------

    def prediction_cost(self, X: Any, query_id: ArrayLike | None = None) -> np.ndarray:
        """Cost of predicting each row.

        Parameters
        ----------
        X : table, or mapping from name to column
        query_id : array-like of shape (n_samples,), optional
            Query of each row, for early exits that compare the rows of one; others ask for none.

        Returns
        -------
        ndarray of shape (n_samples,), float64
            In the unit of the prices.
        """
        asks = "query_id" in inspect.signature(self.model.prediction_cost).parameters
        return self._asked("prediction_cost", X, *((query_id,) if asks else ()))

    @available_if(can("ranking_score"))
    def ranking_score(self, X: Any, query_id: ArrayLike | None = None) -> np.ndarray:
        """Rank the rows of each query as the model does: ndarray of shape (n_samples,)."""
        return self._asked("ranking_score", X, query_id)


def _check_columns(columns: list[RawColumn]) -> None:
    """Refuse columns that no table has (ValueError)."""
    for name, values, kind in columns:
        texts = [name, *values]
        if kind not in KINDS or not all(isinstance(text, str) for text in texts):
            raise ValueError("columns must have a name and a known kind, and texts as values")
        if len(set(values)) < len(values) or (kind == "number") != (not len(values)):
            raise ValueError(f"column {name!r} must have values, each once, if it is text")
    if len({key(column.name) for column in columns}) < len(columns):
        raise ValueError("columns must have different names")
