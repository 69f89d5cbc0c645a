"""What predictions with a fitted forest cost: first uses of features, and split nodes passed.

:func:`frame_of` gives the forest as a table: a row for each node, with what the path to it costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .. import costs
from ..costs import GridPrices
from ..estimators.threads import threads_of
from ..estimators.validation import all_finite
from ..kernels.decorators import threads
from ..trees.forest import Forest, names_of_features, paths_of
from ..trees.predictor import charge
from ..validation.prices import column_labels
from ..validation.sparse_rows import dense_rows
from ..validation.types import FeatureCosts
from .importances import mean_cost_by_feature
from .leaf_bills import LEAST_ROWS, MOST_WORDS, charge_by_leaves
from .meter import Metered, warn_if_free

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


def largest_score(forest: Forest, factor: float = 1.0) -> float:
    """Bound of a forest's scores: the sum of each tree's largest leaf value in size."""
    if forest.n_trees == 0:
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = np.abs(factor * forest.value)
        return float(np.maximum.reduceat(sizes, forest.tree[:-1]).sum())


class MeteredTrees(Metered):
    """The cost meter's half of an estimator of boosted trees; a mixin."""

    def _walk(self, X, prices: costs.GridPrices, ends: Sequence[int] | None = None):
        """Yield (what is paid for as bits, cost in grid steps, nodes passed) after so many trees.

        `ends` ascend; None: once, after all trees.
        """
        used = np.zeros((len(X), -(-prices.n_marks // 64)), dtype=np.uint64)
        paid, passed = np.zeros(len(X), dtype=np.int64), np.zeros(len(X), dtype=np.int64)
        # Taken once: another fit between two stages must not put other trees beside these rows.
        forest, n_threads = self.trees_, threads_of(self)
        tiled = self._tiled_for(forest, X, used) if ends is None else None
        if tiled is not None:
            with threads(n_threads, X.size):
                charge_by_leaves(forest, tiled, prices, X, n_threads, used, paid, passed)
            yield used, paid, passed
            return
        for first, end in pairwise([0, *([forest.n_trees] if ends is None else ends)]):
            with threads(n_threads, X.size):
                charge(forest, first, np.full(len(X), end), prices, X, used, paid, passed)
            yield used, paid, passed

    def _walk_until(self, X, prices: costs.GridPrices, ends: np.ndarray):
        """What :meth:`_walk` yields, of row i after its first ``ends[i]`` trees."""
        used = np.zeros((len(X), -(-prices.n_marks // 64)), dtype=np.uint64)
        paid, passed = np.zeros(len(X), dtype=np.int64), np.zeros(len(X), dtype=np.int64)
        with threads(threads_of(self), X.size):
            charge(self.trees_, 0, ends, prices, X, used, paid, passed)
        return used, paid, passed

    def _tiled_for(self, forest: Forest, X, used):
        """Trees in tiles, if bills are sooner read off leaves than added up on the way down.

        None, too, if the layouts are of other trees: of a model fitted anew, or one cut short.
        """
        layouts = getattr(self, "_layouts", None)
        if layouts is None or layouts.forest is not forest:
            return None
        if len(X) < LEAST_ROWS or used.shape[1] > MOST_WORDS or not all_finite(X):
            return None
        return layouts.tiled

    def _in_its_spelling(self, values):
        """Prices or groups with the columns' names as the model writes them."""
        return values

    def _round_ends(self) -> Sequence[int]:
        n_columns = len(self.initial_scores_)
        return range(n_columns, self.trees_.n_trees + 1, n_columns)

    def _tested(self) -> np.ndarray:
        return self.trees_.feature

    def _refuse_wrong_prices(self) -> None:
        """Refuse prices that would first show when predicting; look at columns only for theirs."""
        if costs.by_column(self):
            self._grid_prices()
        else:
            costs.check_split_cost(self.split_cost)

    def cost_importances(
        self,
        X: ArrayLike,
        *,
        feature_costs: FeatureCosts = None,
        split_cost: float | None = None,
    ) -> np.ndarray:
        """Features by what rows really pay for them; beside `feature_importances_`, by gain.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict, at least one.
        feature_costs, split_cost : optional
            Charge these prices instead of the estimator's own. A dict or a Series is matched by
            the names of the columns.

        Returns
        -------
        ndarray of shape (n_features,), float64
            Mean cost of a row for each feature, in the unit of the prices: its first use and each
            evaluation. They sum to the mean of :meth:`prediction_cost`, but for rounding. The
            price of a group counts for the feature that brought it.
        """
        X = self._check_X(X)
        grid = self._grid_prices(feature_costs, split_cost)
        warn_if_free(self, feature_costs, split_cost)
        return mean_cost_by_feature(self.trees_, grid, dense_rows(X, "cost_importances"))

    def _shown_forest(self) -> Forest:
        """Trees whose leaves have the values that are to be shown."""
        return self.trees_

    def to_frame(
        self,
        *,
        feature_costs: FeatureCosts = None,
        split_cost: float | None = None,
    ) -> DataFrame:
        """Give all trees as a table of pandas, a row for each node.

        Parameters
        ----------
        feature_costs, split_cost : optional
            Charge these prices instead of the estimator's own. A dict or a Series is matched by
            the names of the columns.

        Returns
        -------
        DataFrame
            In the order of the nodes: see :func:`algorithms.cost_meter.trees.frame_of`.

        Raises
        ------
        ValueError
            If prices do not fit.
        """
        check_is_fitted(self)
        grid = self._grid_prices(feature_costs, split_cost)
        categories = getattr(self, "categories_", None)
        return frame_of(self._shown_forest(), grid, names_of_features(self), categories)

    def model_cost(self) -> float:
        """Cost that the model pays once whatever the rows, Eq. (5): gamma of its features."""
        prices = getattr(self, "model_feature_costs", None)
        used = self.model_features()
        return costs.model_cost(used, prices, self.feature_groups, column_labels(self))
