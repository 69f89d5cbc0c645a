"""STreeD's optimal decision tree as a method: no other tree of its depth errs and costs less.

``pystreed`` takes binary columns, a matrix of what each error costs, and of each feature its price
alone and its price once another of its group was bought: what rows of a leaf err, and what they
paid on their way there, is least in sum over the training rows. That is this suite's bill with the
λ of the draw, groups with remainders included. Its own program makes columns binary for other
tasks alone; here a feature is cut where a small tree on it alone cuts it, as its ``tree`` strategy
does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from algorithms.interop import MeteredForest
from algorithms.interop.nodes import ClassLink, Leaf, Split, Tree, double_precision
from experiments.methods import facts
from experiments.methods.fitting import features, further, log_between, most_in_leaf, named, pick
from experiments.methods.method import CLASSES, method
from experiments.methods.problem import Problem
from experiments.methods.subsets import prices_of
from experiments.methods.trained import Rounds, Trained

_DEPTHS = (1, 2, 3, 4)  # its authors' own limit of what is feasible
_MOST_CUTS = 12  # of a feature
_MOST_WORK = 2e10  # rows by trees that it looks at: some seconds
_SECONDS = 600.0  # its default; a trial has a limit of its own, which is shorter


@method(
    CLASSES,
    library="pystreed",
    allow_nan=False,
    unfit=facts.optimal_tree,
    has_tradeoff=True,
    gives="answers",
)
def streed(problem: Problem, draw: Mapping) -> Trained:
    """Find the tree of least errors and price, with the λ of the draw."""
    from pystreed import STreeDCostSensitiveClassifier

    u, y = draw["u"], problem.fit.y
    classes, numbers = np.unique(y, return_inverse=True)
    options: dict[str, Any] = {
        "max_depth": pick(_DEPTHS, u[1]),
        "min_leaf_node_size": round(log_between(u[2], 2, most_in_leaf(problem))),
    }
    X, most = features(problem, draw).to_numpy(), log_between(further(draw, 1)[0], 2, _MOST_CUTS)
    n_cuts, cuts = affordable_cuts(X, numbers, round(most), options["max_depth"])
    parameters = options | {"n_thresholds": n_cuts, "tradeoff": draw["tradeoff"]}
    tested = [(m, float(cut)) for m, each in enumerate(cuts) for cut in each]
    root = None
    if tested:
        binary = np.column_stack([X[:, m] > cut for m, cut in tested]).astype(np.intc)
        model = STreeDCostSensitiveClassifier(**options, time_limit=_SECONDS)
        costs = _costs(problem, draw["tradeoff"], cuts, _of_errors(problem, numbers))
        model.fit(binary, numbers.astype(np.intc), costs)
        if not (model.is_fitted() and model.fit_result.is_optimal()):
            raise RuntimeError(f"no tree is proved to be the best within {_SECONDS:g} s")
        root = model.get_tree()
    forest = _metered(root, tested, classes, problem)
    return Rounds(forest, named(problem, draw, parameters))


def affordable_cuts(
    X: np.ndarray, classes: np.ndarray, most: int, depth: int
) -> tuple[int, list[np.ndarray]]:
    """Give how many cuts of each feature let a tree be found, `most` at most, and these.

    The search grows with the cuts of all features to the power of the depth. The program's own
    limit is one of time, by which a busy machine would have other trees than an idle one.
    """
    for n in range(most, 0, -1):
        cuts = [cuts_of(column, classes, n) for column in X.T]
        if len(X) * float(sum(map(len, cuts))) ** depth <= _MOST_WORK:
            break
    return n, cuts


def cuts_of(column: np.ndarray, classes: np.ndarray, n: int) -> np.ndarray:
    """Give where a feature is cut: at most `n` thresholds, of the tree on it alone."""
    tree = DecisionTreeClassifier(max_leaf_nodes=n + 1, random_state=0)
    tree.fit(column[:, None], classes)
    found = np.unique(tree.tree_.threshold[tree.tree_.feature >= 0])
    return found[(found >= column.min()) & (found < column.max())]


def _of_errors(problem: Problem, numbers: np.ndarray) -> np.ndarray:
    """Give what an error costs by the row's class: 1, or the weight of the class."""
    weight = problem.fit_weight()
    if weight is None:
        return np.ones(numbers.max() + 1)
    return weight[np.unique(numbers, return_index=True)[1]]


def _costs(problem: Problem, tradeoff: float, cuts: list[np.ndarray], of_errors: np.ndarray):
    """Give what errors and features cost as the program takes it: λ is in the prices."""
    from pystreed.data import CostSpecifier, FeatureCostSpecifier

    prices, specified, begin = prices_of(problem), [], 0
    for m, each in enumerate(cuts):
        if not len(each):
            continue
        own, unit = float(prices.own[m]), int(prices.unit[m])
        alone = own + float(prices.shared[unit])
        last = begin + len(each) - 1  # of its binary columns, itself among them
        specified.append(
            FeatureCostSpecifier(tradeoff * alone, tradeoff * own, f"unit {unit}", begin, last)
        )
        begin = last + 1
    matrix = of_errors[:, None] * (1.0 - np.eye(len(of_errors)))
    return CostSpecifier(matrix.tolist(), specified)


def _metered(root, tested, classes: np.ndarray, problem: Problem) -> MeteredForest:
    """Give the tree under the one meter; without a tree the most frequent class."""
    votes = np.eye(len(classes))

    def read(node) -> Leaf | Split:
        if node.is_leaf_node():
            return Leaf(votes[node.label], 0)
        feature, cut = tested[node.feature]
        return Split(feature, cut, node.left_child, node.right_child)

    forest = MeteredForest(
        [] if root is None else [Tree(root, read)],
        np.zeros(len(classes)),
        len(problem.names),
        as_seen=double_precision,
        library="STreeD",
        feature_names=problem.names,
        link=ClassLink(classes, None),
        **problem.prices,
    )
    forest.n_threads = 1
    return forest
