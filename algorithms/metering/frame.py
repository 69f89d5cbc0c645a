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
    """Give a forest as a table of pandas."""
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
