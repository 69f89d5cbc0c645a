"""A forest grown elsewhere, as flat arrays that predict and are charged like our own."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .. import costs
from ..cost_meter.trees import MeteredTrees
from ..estimators.parameters import check_whole_number
from ..estimators.validation import check_array, check_order
from ..kernels.arrays import read_only
from ..kernels.decorators import resolve_n_threads, threads
from ..trees.forest import NODE_DTYPES, Forest, check_forest, joined
from ..trees.predictor import leaf_nodes, staged_scores, walk_scores
from ..validation.prices import Labelled, labelled, labels_of_columns
from ..validation.prices import feature_names as feature_names_of
from ..validation.types import FeatureCosts, FeatureGroups, GroupCosts
from .answers import ForestAnswers
from .files import SavedMeteredForest
from .nodes import ClassLink, FlatTrees, InverseLink, Leaf, Tree, flat_stumps


class MeteredForest(ForestAnswers, MeteredTrees, SavedMeteredForest):
    """A forest read from another library; made by :mod:`algorithms.interop`.

    Parameters
    ----------
    trees : sequence of Tree, or FlatTrees
        Round by round. Where a leaf holds a value for each output, one tree makes a round; else a
        round has one tree for each output.
    initial_scores : (n_outputs,) float64
    n_features : int
    as_seen : callable
        ``(n, d) float64 -> (n, d) float64``: the numbers that the library compares with thresholds.
    library : str
        Whose trees they are; for messages.
    feature_costs : (n_features,) array-like of float, optional
        Price that a row pays at its first use of a feature; None: all are free. A dict or a Series
        is matched by `feature_names`.
    split_cost : float
        Price of each split node that a row passes.
    feature_groups : (n_features,) array-like of int or str, optional
        Features with the same label are acquired together; matched by name like the prices.
    group_costs : dict, optional
        Price of each group by its label, paid once; `feature_costs` are then paid besides.
    feature_names : sequence of str, optional
        Names of the columns that the model was trained on, if it was told any.
    link : ClassLink, optional
        Of a classifier.
    allow_nan : bool
        Whether the library predicts rows with missing values; their splits then say where to.
    inverse_link : InverseLink, optional
        How the library turns raw scores into predictions. None: classes by `link`, or the scores
        themselves.

    Attributes
    ----------
    trees_ : Forest
        Paths that are charged. A round of a tree with many outputs is that tree and, for each
        further output, a lone leaf, since the row passes the tree once. Gains and counts are 0.
    initial_scores_ : ndarray of shape (n_outputs,), float64
    n_features_in_, n_estimators_ : int

    Raises
    ------
    ValueError
        If prices are negative, missing or not one for each feature, or the trees test features that
        do not exist or have values that are not finite.
    """

    feature_sharing = None

    def __init__(
        self,
        trees: Sequence[Tree] | FlatTrees,
        initial_scores: np.ndarray,
        n_features: int,
        *,
        as_seen: Callable[[np.ndarray], np.ndarray],
        library: str,
        feature_costs: FeatureCosts = None,
        split_cost: float = 0.0,
        feature_groups: FeatureGroups = None,
        group_costs: GroupCosts = None,
        feature_names: Sequence[str] | None = None,
        link: ClassLink | None = None,
        allow_nan: bool = False,
        inverse_link: InverseLink | None = None,
    ) -> None:
        self.library = library
        self.link = link
        self.inverse_link = inverse_link
        self.allow_nan = allow_nan
        if feature_names is not None:
            self.feature_names_in_ = np.array(list(feature_names), dtype=object)
        self.initial_scores_ = np.asarray(initial_scores, dtype=np.float64)
        self.n_features_in_ = int(n_features)
        self.n_threads: int | None = None
        self.feature_costs = self._in_its_spelling(feature_costs)
        self.feature_groups = self._in_its_spelling(feature_groups)
        self.group_costs = group_costs
        self.split_cost = split_cost
        self._as_seen = as_seen
        n_outputs = len(self.initial_scores_)
        flat = trees if isinstance(trees, FlatTrees) else _flattened(trees)
        self._flat, self._many_valued = flat, flat.values.shape[1] > 1
        self._scored = _per_output(flat, n_outputs) if self._many_valued else flat.forest
        self.trees_ = _with_stubs(flat, n_outputs) if self._many_valued else self._scored
        self.n_estimators_ = self.trees_.n_trees // n_outputs
        self._check_forests()
        self._refuse_wrong_prices()

    def _check_forests(self) -> None:
        """Refuse trees that no library grows: kernels would follow them anywhere."""
        try:
            for forest in (self._scored, self.trees_):
                check_forest(
                    forest, self.n_features_in_, self.initial_scores_, infinite_thresholds=True
                )
        except ValueError as error:
            raise ValueError(f"This {self.library} model cannot be followed: {error}.") from None

    def _in_its_spelling(self, values):
        """Prices or groups with the names as the library writes them: LightGBM's have no spaces."""
        pairs, names = labelled(values), feature_names_of(self)
        if pairs is None or names is None:
            return values
        known = set(names)
        labels = [
            label.replace(" ", "_") if isinstance(label, str) and label not in known else label
            for label in pairs.labels
        ]
        return Labelled(labels, pairs.values)

    def _grid_prices(self, feature_costs=None, split_cost=None) -> costs.GridPrices:
        return super()._grid_prices(self._in_its_spelling(feature_costs), split_cost)

    def _check_X(self, X) -> np.ndarray:
        """Rows as the library compares them."""
        columns = labels_of_columns(X)
        X = check_array(
            X,
            dtype=np.float64,
            order="C",
            ensure_all_finite="allow-nan" if self.allow_nan else True,
            reader=f"a {self.library} forest",
        )
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but this {self.library} model was trained on "
                f"{self.n_features_in_}."
            )
        self._check_names(columns)
        return read_only(self._as_seen(X))

    def _check_names(self, columns: list | None) -> None:
        """Refuse a table whose columns bear other names than in training, or in another order."""
        if columns is None:
            return
        names = feature_names_of(self)
        if names is None:
            # What libraries call columns that have no names, in another order.
            for called in ("Column_{}", "{}"):
                places = [called.format(m) for m in range(self.n_features_in_)]
                if set(columns) == set(places):
                    check_order(places, columns)
            known = getattr(self, "_column_numbers_", None)
            check_order(known, columns)
            return
        got, wanted = ([_spelled(name) for name in listed] for listed in (columns, names))
        if columns == list(range(len(columns))) and set(got) != set(wanted):
            return  # nobody named them
        for m, (one, other) in enumerate(zip(got, wanted, strict=True)):
            if one != other:
                raise ValueError(
                    f"X's columns have other names or another order than those that this "
                    f"{self.library} model was trained on: column {m} is {columns[m]!r}, not "
                    f"{names[m]!r}."
                )

    def _shown_forest(self) -> Forest:
        """Each tree once for every output, with that output's values in its leaves."""
        return self._scored

    def predict_raw(self, X: ArrayLike) -> np.ndarray:
        """Raw scores: the sum of the leaves' values, before any link function.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers, or NaN (missing) if `allow_nan`.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_outputs) if there are several, float64

        Raises
        ------
        ValueError
            If a value is infinite, or missing without `allow_nan`, or the number of features is
            another, or the names of a table's columns are.
        """
        return self._shaped(self._raw_columns(self._check_X(X)))

    def _raw_columns(self, X: np.ndarray) -> np.ndarray:
        """Raw scores (n_samples, n_outputs) of checked rows."""
        out = np.tile(self.initial_scores_, (len(X), 1))
        with threads(resolve_n_threads(self.n_threads), X.size):
            walk_scores(self._scored, 0, self._scored.value, X, out)
        return out

    def _staged_columns(self, X) -> Iterator[np.ndarray]:
        """Raw scores (n_samples, n_outputs) after 1, 2, … rounds."""
        X, n_threads = self._check_X(X), resolve_n_threads(self.n_threads)
        forest, initial = self._scored, self.initial_scores_
        return staged_scores(forest, forest.value, initial, X, n_threads)

    def first_rounds(self, n_rounds: int) -> MeteredForest:
        """Give the forest as it was after its first rounds.

        Parameters
        ----------
        n_rounds : int
            0 to `n_estimators_`.

        Returns
        -------
        MeteredForest
            A copy.

        Raises
        ------
        ValueError
            If the forest does not have so many rounds.
        """
        n_rounds = check_whole_number("n_rounds", n_rounds, 0, most=self.n_estimators_)
        shorter, n_trees = copy.copy(self), n_rounds * len(self.initial_scores_)
        shorter.trees_, shorter._scored = self.trees_.first(n_trees), self._scored.first(n_trees)
        shorter._flat = self._flat.first(n_rounds if self._many_valued else n_trees)
        shorter.n_estimators_ = n_rounds
        return shorter

    def leaves(self, X: ArrayLike) -> np.ndarray:
        """Leaf of each row in each tree, numbered as the library does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_trees), int64
            Trees as the library counts them: one for all outputs where its leaves hold many values.
        """
        X = self._check_X(X)
        nodes = np.empty((len(X), self._flat.forest.n_trees), dtype=np.int64)
        with threads(resolve_n_threads(self.n_threads), X.size):
            leaf_nodes(self._flat.forest, X, nodes)
        return self._flat.numbers[nodes]

    def _shaped(self, scores: np.ndarray) -> np.ndarray:
        return scores[:, 0] if scores.shape[1] == 1 else scores


# --- from any tree to flat arrays ---------------------------------------------------------------


def _spelled(name) -> str:
    """A name as LightGBM writes it."""
    return str(name).replace(" ", "_")


def _flattened(trees: Sequence[Tree]) -> FlatTrees:
    """Trees that are read node by node as arrays, each breadth first."""
    read = [_breadth_first(tree) for tree in trees]
    columns = ("feature", "threshold", "left", "depth", "missing_left")
    forests = []
    for rows, _ in read:
        nodes = {name: np.zeros(len(rows), dtype) for name, dtype in NODE_DTYPES.items()}
        for name, values in zip(columns, zip(*rows, strict=True), strict=True):
            nodes[name][:] = values
        forests.append(Forest(np.array([0, len(rows)]), **nodes))
    empty = {name: np.zeros(0, dtype) for name, dtype in NODE_DTYPES.items()}
    forest = joined([Forest(np.zeros(1, dtype=np.int64), **empty), *forests])
    leaves = [leaf for _, of_tree in read for leaf in of_tree]
    n_values = len(leaves[0].value) if leaves else 1
    values = np.zeros((len(forest.feature), n_values))
    numbers = np.zeros(len(forest.feature), dtype=np.int64)
    places = np.flatnonzero(forest.left < 0)
    for at, leaf in zip(places, leaves, strict=True):
        values[at], numbers[at] = leaf.value, leaf.number
    return FlatTrees.of_leaves(forest, values, numbers)


def _breadth_first(tree: Tree) -> tuple[list[tuple], list[Leaf]]:
    """Nodes of a tree, children next to each other and numbered from 0, and its leaves."""
    waiting, rows, leaves, n_nodes = deque([(tree.root, 0)]), [], [], 1
    while waiting:
        node, depth = waiting.popleft()
        part = tree.read(node)
        if isinstance(part, Leaf):
            rows.append((-1, 0.0, -1, depth, False))
            leaves.append(part)
            continue
        rows.append((part.feature, part.threshold, n_nodes, depth, part.missing_left))
        waiting += [(part.left, depth + 1), (part.right, depth + 1)]
        n_nodes += 2
    return rows, leaves


def _per_output(flat: FlatTrees, n_outputs: int) -> Forest:
    """Each tree once for every output, with that output's values."""
    order = np.repeat(np.arange(flat.forest.n_trees), n_outputs)
    forest = flat.forest.take(order)
    copy_of = np.repeat(np.arange(len(order)), np.diff(forest.tree))
    nodes = np.arange(len(copy_of)) - (forest.tree[:-1] - flat.forest.tree[order])[copy_of]
    return forest._replace(value=flat.values[nodes, copy_of % n_outputs])


def _with_stubs(flat: FlatTrees, n_outputs: int) -> Forest:
    """Each tree once, followed by lone leaves to make up a round."""
    n_trees, lone = flat.forest.n_trees, np.zeros((1, 1))
    stub = flat_stumps(np.array([-1]), np.zeros(1), lone, lone).forest
    order = np.full((n_trees, n_outputs), n_trees)
    order[:, 0] = np.arange(n_trees)
    return joined([flat.forest, stub]).take(order.ravel())
