"""A forest as a table: a row for each node, with what the path to it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..costs import GridPrices
from ..trees.forest import Forest
from ..trees.paths import paths_of

if TYPE_CHECKING:
    from pandas import DataFrame


def frame_of(
    forest: Forest,
    prices: GridPrices,
    names: list[str],
    categories: dict[int, np.ndarray] | None = None,
) -> DataFrame:
    """Give a forest as a table of pandas.

    Parameters
    ----------
    forest : Forest
    prices : GridPrices
    names : list of str
        Of the features.
    categories : dict of int to ndarray, optional
        Of each feature of categories, those that the model knows.

    Returns
    -------
    DataFrame
        A row for each node, in their order, with ``tree`` and ``node`` (its number in the forest),
        ``parent``, ``left`` and ``right`` (numbers, missing where there is none), ``depth``,
        ``feature`` (a name, missing in a leaf), ``threshold`` (what is at most that goes left),
        ``missing_left`` (whether a missing value does), ``gain`` (of the split when it was made;
        missing in leaves, and of trees that were grown elsewhere), ``value`` (of a leaf, before the
        learning rate), ``count`` (weighted training rows; missing of trees that were grown
        elsewhere), ``path_cost`` (what a row that owns nothing has paid in this tree when it has
        evaluated the node, or arrived in the leaf, in the unit of the prices). With categories
        there is ``categories_left``, too: a list of which of them go left, where the threshold is
        missing; those that the model does not know go where a missing value does.
    """
    import pandas as pd  # nothing else of this room needs it

    parent, bill = paths_of(forest, prices)
    split = forest.left >= 0
    left = forest.left.astype(np.int64)
    known = bool(np.any(forest.count))  # trees of other libraries say neither counts nor gains

    def numbers(values: np.ndarray, there: np.ndarray) -> object:
        return pd.arrays.IntegerArray(values.astype(np.int64), ~there)

    by_set = getattr(forest, "by_set", np.zeros(len(split))).astype(bool)
    frame = pd.DataFrame(
        {
            "tree": np.repeat(np.arange(forest.n_trees), np.diff(forest.tree)),
            "node": np.arange(len(parent)),
            "parent": numbers(parent, parent >= 0),
            "left": numbers(left, split),
            "right": numbers(left + 1, split),
            "depth": forest.depth.astype(np.int64),
            "feature": np.array([*names, None], dtype=object)[forest.feature],
            "threshold": np.where(split & ~by_set, forest.threshold, np.nan),
            "missing_left": pd.arrays.BooleanArray(forest.missing_left.astype(bool), ~split),
            "gain": np.where(split & known, forest.gain, np.nan),
            "value": np.where(split, np.nan, forest.value),
            "count": np.where(known, forest.count, np.nan),
            "path_cost": prices.cost(bill),
        }
    )
    if categories:
        sent = [
            categories[int(forest.feature[node])][forest.codes_left(node)].tolist()
            if by_set[node]
            else None
            for node in range(len(split))
        ]
        frame.insert(frame.columns.get_loc("threshold") + 1, "categories_left", sent)
    return frame
