"""Which columns each made feature needs: asked of fitted transformers, a rule for each class.

A rule is a function ``(fitted transformer, number of its columns) -> (n_made, n_columns) bool``.
What has none is taken at its word that it makes the features it names, and each of them needs all
of its columns, as a principal component does: a bill is then never too small.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from sklearn import feature_selection, impute, pipeline, preprocessing
from sklearn.compose import ColumnTransformer

# Whether made feature i needs column j, (n_made, n_columns).
Needs: TypeAlias = np.ndarray
Rule: TypeAlias = Callable[[Any, int], Needs]

_RULES: dict[type, Rule] = {}


def register_transformer(transformer: type, rule: Rule) -> None:
    """Say what a class of transformers makes of which columns.

    Parameters
    ----------
    transformer : type
        Subclasses follow the rule, too, unless they have their own.
    rule : callable
        ``(fitted transformer, n_columns) -> ndarray of shape (n_made, n_columns), bool``: whether
        each made feature needs each of its columns.

    Raises
    ------
    TypeError
        If they are no class and no function.
    """
    if not isinstance(transformer, type) or not callable(rule):
        raise TypeError("register_transformer takes a class of transformers and a function.")
    _RULES[transformer] = rule


def made_of(transformer: Any, names: Sequence[str]) -> Needs:
    """Tell which columns each feature needs that a fitted transformer makes.

    Examples
    --------
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from algorithms.pipelines import made_of
    >>> colours = OneHotEncoder().fit([["red", 1], ["blue", 1]])
    >>> made_of(colours, ["colour", "size"]).astype(int)
    array([[1, 0],
           [1, 0],
           [0, 1]])
    """
    n_columns = len(names)
    if transformer is None or transformer == "passthrough":
        return np.eye(n_columns, dtype=bool)
    if isinstance(transformer, pipeline.Pipeline):
        return _of_pipeline(transformer, names)
    if isinstance(transformer, ColumnTransformer):
        return _of_column_transformer(transformer, names)
    if isinstance(transformer, pipeline.FeatureUnion):
        parts = [part for _, part in transformer.transformer_list if part != "drop"]
        return np.concatenate([np.zeros((0, n_columns), bool), *(made_of(p, names) for p in parts)])
    rules = (_RULES[cls] for cls in type(transformer).__mro__ if cls in _RULES)
    needs = np.asarray(next(rules, all_columns)(transformer, n_columns))
    if needs.ndim != 2 or needs.shape[1] != n_columns or needs.dtype != bool:
        raise ValueError(
            f"The rule of {type(transformer).__name__} must give a bool for each made feature and "
            f"each of its {n_columns} columns, got {needs.dtype} of shape {needs.shape}."
        )
    return needs


def _of_pipeline(steps: pipeline.Pipeline, names: Sequence[str]) -> Needs:
    needs = np.eye(len(names), dtype=bool)
    for _, step in steps.steps:
        needs = made_of(step, names) @ needs
        names = [f"x{m}" for m in range(len(needs))]
    return needs


def _of_column_transformer(transformer: ColumnTransformer, names: Sequence[str]) -> Needs:
    parts = [np.zeros((0, len(names)), dtype=bool)]
    called = getattr(transformer, "feature_names_in_", names)  # steps before may have renamed them
    for _, part, columns in transformer.transformers_:
        chosen = _places(columns, called)
        if (isinstance(part, str) and part == "drop") or not len(chosen):
            continue
        inner = made_of(part, [names[m] for m in chosen])
        needs = np.zeros((len(inner), len(names)), dtype=bool)
        for j, m in enumerate(chosen):  # a column may be chosen twice
            needs[:, m] |= inner[:, j]
        parts.append(needs)
    return np.concatenate(parts)


def _places(columns: Any, names: Sequence[str]) -> np.ndarray:
    """Numbers of the columns that a ColumnTransformer's entry chooses."""
    place = {name: m for m, name in enumerate(names)}
    if isinstance(columns, slice) and any(
        isinstance(v, str) for v in (columns.start, columns.stop)
    ):
        first = 0 if columns.start is None else place[columns.start]
        last = len(names) - 1 if columns.stop is None else place[columns.stop]
        return np.arange(first, last + 1)[:: columns.step]
    if isinstance(columns, str | int | np.integer):
        columns = [columns]
    if not isinstance(columns, slice):
        columns = [place[c] if isinstance(c, str) else c for c in columns]
        if not columns:
            return np.zeros(0, dtype=np.int64)
    return np.arange(len(names))[columns]


# --- rules ----------------------------------------------------------------------------------------


def _names_made(transformer: Any, names: np.ndarray | None) -> list[str]:
    """Names of the features that a transformer makes; one sentence if it hides them."""
    hidden = (
        f"{type(transformer).__name__} hides the names of the features that it makes, so that "
        "nobody knows which columns they need: give it get_feature_names_out (a "
        'FunctionTransformer takes feature_names_out="one-to-one"), or say what it makes with '
        "register_transformer."
    )
    if not hasattr(transformer, "get_feature_names_out"):
        raise ValueError(hidden)
    try:
        made = (
            transformer.get_feature_names_out()
            if names is None
            else (transformer.get_feature_names_out(names))
        )
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"{hidden} ({error})") from None
    return [str(name) for name in made]


def all_columns(transformer: Any, n_columns: int) -> Needs:
    """Each made feature needs all columns: what is said of a transformer without a rule."""
    return np.ones((len(_names_made(transformer, None)), n_columns), dtype=bool)


def by_names(transformer: Any, n_columns: int) -> Needs:
    """Each made feature needs the columns in whose names it is named."""
    nameless = copy.copy(transformer)  # it would insist on the names of its own columns
    vars(nameless).pop("feature_names_in_", None)
    if hasattr(nameless, "feature_name_combiner"):  # names of the user's own need tell no column
        nameless.feature_name_combiner = "concat"
    marks = np.array([f"\ue000{m}\ue001" for m in range(n_columns)], dtype=object)
    made = _names_made(nameless, marks)
    needs = np.zeros((len(made), n_columns), dtype=bool)
    for i, name in enumerate(made):
        needs[i, [int(m) for m in re.findall("\ue000([0-9]+)\ue001", name)]] = True
        if not needs[i].any():
            raise ValueError(
                f"{type(transformer).__name__} makes a feature {name!r}, whose name is of none of "
                "its columns, so that nobody knows which it needs: let get_feature_names_out write "
                "the names of columns into it, or say what it makes with register_transformer."
            )
    return needs


def _of_function(transformer: preprocessing.FunctionTransformer, n_columns: int) -> Needs:
    """One to one if it says so, or is the identity; else all columns."""
    if transformer.func is None:
        return np.eye(n_columns, dtype=bool)
    one_to_one = transformer.feature_names_out == "one-to-one"
    return np.eye(n_columns, dtype=bool) if one_to_one else all_columns(transformer, n_columns)


for _transformer in (
    # Of scikit-learn, those that name in each feature just the columns it needs.
    preprocessing.Binarizer,
    preprocessing.KBinsDiscretizer,
    preprocessing.MaxAbsScaler,
    preprocessing.MinMaxScaler,
    preprocessing.OneHotEncoder,
    preprocessing.OrdinalEncoder,
    preprocessing.PowerTransformer,
    preprocessing.QuantileTransformer,
    preprocessing.RobustScaler,
    preprocessing.SplineTransformer,
    preprocessing.StandardScaler,
    preprocessing.TargetEncoder,
    impute.MissingIndicator,
    impute.SimpleImputer,
    feature_selection.SelectorMixin,
):
    register_transformer(_transformer, by_names)
register_transformer(preprocessing.FunctionTransformer, _of_function)
# A power of 0 of all columns is a constant.
register_transformer(preprocessing.PolynomialFeatures, lambda made, _: made.powers_ > 0)
