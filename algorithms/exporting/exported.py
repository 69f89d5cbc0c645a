"""What every form of a model is made of: its trees, with the learning rate in their leaves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..boosted_trees.estimator import BoostedTrees
from ..raw_tables import RawColumn, TableModel
from ..trees.categorical_forest import CategoricalForest, refuse_sets
from ..trees.forest import Forest


class Exported(NamedTuple):
    """A fitted model of boosted trees, as it predicts."""

    forest: Forest | CategoricalForest
    # (n_nodes,) float64: what a leaf adds to a score, learning rate included
    contribution: np.ndarray
    # (n_columns,) float64: scores before the first tree; tree t adds to score ``t % n_columns``
    initial: np.ndarray
    n_features: int
    classes: np.ndarray | None  # (n_classes,) or None: None of a regressor
    # Of each column of categories those that the model tells apart: float64, or object (text). Its
    # trees read codes, the places of categories in there; NaN stands for all others
    categories: dict[int, np.ndarray]


def apart(model: BoostedTrees | TableModel) -> tuple[BoostedTrees, list[RawColumn] | None]:
    """Take the trees of a model out of what takes a table, and its columns; None of rows."""
    return (model.model, model.columns) if isinstance(model, TableModel) else (model, None)


def exported(
    model: BoostedTrees, form: str, *, with_sets: bool = True, one_class: bool = True
) -> Exported:
    """Read a fitted model of boosted trees that is to be written in another form.

    TypeError if it is another model. ValueError if the form knows no splits of categories by sets,
    or has no scores for a classifier of one class, and the model is such.
    """
    if not isinstance(model, BoostedTrees):
        raise TypeError(
            f"Only boosted trees of this package (GBRT, CEGB, Greedy Miser) are written as {form}; "
            f"got {type(model).__name__}. A model of another library has forms of its own there."
        )
    check_is_fitted(model)
    if not with_sets:
        refuse_sets(model.trees_, form)
    initial = np.asarray(model.initial_scores_, dtype=np.float64)
    classes = getattr(model, "classes_", None)
    if not one_class and classes is not None and len(classes) == 1:
        raise ValueError(
            f"The classifier knows one class only: there is nothing to write as {form}."
        )
    shape = model.n_features_in_, classes
    return Exported(model.trees_, model._contributions, initial, *shape, model.categories_)


def check_texts(texts: Iterable[object], form: str, *, there: bool = False) -> None:
    """Refuse texts that a form would hold as other ones; what is no text is passed over."""
    for text in texts:
        if not isinstance(text, str):
            continue
        whole = "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)
        if not whole or (there and not text):
            why = "cuts off at a NUL or cannot spell" if text else "takes for a missing one"
            raise ValueError(
                f"The model knows the text {text!r:.80}, which {form} {why}: rename it and fit "
                "again."
            )
