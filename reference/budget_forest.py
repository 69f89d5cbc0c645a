"""BudgetRF: a random forest of greedy minimax trees under feature costs.

F. Nan, J. Wang, V. Saligrama: Feature-budgeted random forest. Proceedings of the 32nd International
Conference on Machine Learning (2015), arXiv 1502.05925. Where the paper is silent, the authors'
public program decides (github.com/fnan/FeatureBudgetedRandomForest, MIT).

=============  ==========================================================================
symbol         name
=============  ==========================================================================
S, n, n_a      a node's rows, their number, and those of class a: ``counts`` (K,)
F(S)           the impurity, ``impurity``
α              ``impurity_threshold``: below it an impurity counts as 0
c_t            ``prices`` (d,), price of feature t, of its group included
R(t)           ``risk``: c_t / (F(S) - max F(child))
k              ``max_features``, features drawn at each node
=============  ==========================================================================

A node with F(S) > 0 takes, for each feature, the threshold with the least maximum of F over its two
children, and then the feature with the least risk. It is a leaf if no feature reduces F.

Deliberately absent: Powers, an impurity that the program does not have either.

Deviations and choices

1. Thresholds lie between bins (:mod:`reference.trees`): all midpoints of a feature with at most
   ``max_bins`` values, as in the program, and quantile cuts of one with more.
2. A bootstrap sample is a whole weight of each row, and so all counts are whole. Threshold-Pairs
   are then whole numbers, and a reduction is one of at least 1: the program's least, 1e-7, is not
   needed.
3. A free feature has risk 0 whatever it gains. Of those the largest reduction wins; the program
   takes the first. All other ties: the lowest feature, the lowest threshold.
4. Where both children of several thresholds have F = 0, the lowest is taken, however unbalanced.
5. Entropy is n·H(S), from one table of n log n, and its children count by their **sum**, as in the
   program; H below α counts as 0; a reduction of H of at most 1e-7 does not count.
6. Features are drawn for each node (the program), not for each tree (its README), and only for a
   node that may split. Nodes come in preorder, the left child first.
7. Seeds of the trees are drawn first, so that a longer forest begins with a shorter one.
8. A number of trees is given; those that the mean bill of the validation rows cannot afford are
   dropped at the end, which leaves what the paper's loop leaves.
9. Rows may have whole weights, and features come in groups with a price of their own
   (:mod:`reference.costs`). The paper has neither.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from reference import costs
from reference.trees import TrainingData, training_data

LEAST_REDUCTION = 1e-7  # of H, a row


@dataclass(frozen=True)
class Tree:
    """Node table; a leaf has ``feature`` = ``left`` = -1, the right child is ``left + 1``.

    ``counts`` and ``out_of_bag`` (n_nodes, K) are the rows of each class that reach a node, in the
    bootstrap sample and out of it.
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    gain: np.ndarray
    depth: np.ndarray
    counts: np.ndarray
    out_of_bag: np.ndarray


@dataclass(frozen=True)
class Model:
    """A forest, the classes of all training rows, and a record of each split."""

    trees: list[Tree]
    totals: np.ndarray
    trace: list[dict]


@dataclass(frozen=True)
class Rules:
    """How a tree grows."""

    impurity: str
    alpha: float
    max_features: int
    max_depth: int | None
    prices: np.ndarray
    table: np.ndarray


# --- impurities -----------------------------------------------------------------------------


def pairs(counts: np.ndarray, alpha: int) -> int:
    """F_α(S) = Σ_{a<b} [ [n_a - α]_+ [n_b - α]_+ - α² ]_+ (threshold-Pairs)."""
    above = [max(int(n) - alpha, 0) for n in counts]
    return sum(max(a * b - alpha * alpha, 0) for a, b in combinations(above, 2))


def log_table(n: int) -> np.ndarray:
    """Return m log m for m = 0 … n."""
    m = np.arange(1, n + 1, dtype=np.float64)
    return np.concatenate([[0.0], m * np.log(m)])


def entropy(counts: np.ndarray, alpha: float, table: np.ndarray) -> float:
    """n·H(S) = n log n - Σ_a n_a log n_a; 0 if H(S) < α."""
    n = int(np.sum(counts))
    value = table[n]
    for count in counts:
        value = value - table[count]
    return 0.0 if value < alpha * n else float(value)


def impurity(counts: np.ndarray, rules: Rules):
    """F(S)."""
    if rules.impurity == "pairs":
        return pairs(counts, int(rules.alpha))
    return entropy(counts, rules.alpha, rules.table)


def of_children(left: np.ndarray, right: np.ndarray, rules: Rules):
    """Largest F(child); the sum of n·H(child) of entropy."""
    low, high = impurity(left, rules), impurity(right, rules)
    return max(low, high) if rules.impurity == "pairs" else low + high


# --- growing --------------------------------------------------------------------------------


def best_cut(bins: np.ndarray, y, bag, rows, n_cuts: int, n_classes: int, rules: Rules):
    """(max F(child), cut) of the best threshold of one feature, or None if all rows share a bin."""
    best = None
    for cut in range(n_cuts):
        goes_left = bins[rows] <= cut
        left, right = (
            class_counts(y[side], bag[side], n_classes)
            for side in (rows[goes_left], rows[~goes_left])
        )
        if not left.any() or not right.any():
            continue
        worst = of_children(left, right, rules)
        if best is None or worst < best[0]:
            best = worst, cut
    return best


def class_counts(y: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    """Rows of each class (K,), int64."""
    return np.array([int(np.sum(weights[y == a])) for a in range(n_classes)], dtype=np.int64)


def drawn_features(n_features: int, k: int, rng: np.random.Generator) -> list[int]:
    """Draw k features by a partial Fisher-Yates shuffle, ascending; none is drawn if k is all."""
    order = list(range(n_features))
    if k >= n_features:
        return order
    for i in range(k):
        j = int(rng.integers(i, n_features))
        order[i], order[j] = order[j], order[i]
    return sorted(order[:k])


def best_split(data: TrainingData, y, bag, rows, total, n_classes, rules: Rules, rng):
    """(risk, reduction, feature, cut) of a node with F(S) = ``total``, or None."""
    best = None
    least = 1 if rules.impurity == "pairs" else LEAST_REDUCTION * int(np.sum(bag[rows]))
    for m in drawn_features(data.bins.shape[1], rules.max_features, rng):
        found = best_cut(data.bins[:, m], y, bag, rows, len(data.edges[m]), n_classes, rules)
        if found is None:
            continue
        reduction = total - found[0]
        if reduction < least or (rules.impurity == "entropy" and reduction == least):
            continue
        risk = rules.prices[m] / float(reduction)  # R(t)
        free = best is not None and risk == 0.0 == best[0]
        if best is None or risk < best[0] or (free and reduction > best[1]):
            best = risk, reduction, m, found[1]
    return best


def grow_tree(data: TrainingData, y, bag, n_classes: int, rules: Rules, rng) -> Tree:
    """GreedyTree, on the rows whose weight ``bag`` is not 0."""
    rows_of, depth, children, tests = {0: np.flatnonzero(bag > 0)}, [0], [-1], [(-1, 0.0, 0.0)]
    waiting = [0]
    while waiting:
        node = waiting.pop()
        rows = rows_of[node]
        total = impurity(class_counts(y[rows], bag[rows], n_classes), rules)
        if total <= 0 or depth[node] == rules.max_depth:
            continue
        split = best_split(data, y, bag, rows, total, n_classes, rules, rng)
        if split is None:
            continue
        _, reduction, m, cut = split
        goes_left = data.bins[rows, m] <= cut
        left = len(depth)
        children[node], tests[node] = left, (m, data.edges[m][cut], float(reduction))
        rows_of[left], rows_of[left + 1] = rows[goes_left], rows[~goes_left]
        depth += [depth[node] + 1] * 2
        children += [-1, -1]
        tests += [(-1, 0.0, 0.0)] * 2
        waiting += [left + 1, left]  # the left child is next
    feature, threshold, gain = (np.array(each) for each in zip(*tests, strict=True))
    tree = Tree(feature, threshold, np.array(children), gain, np.array(depth), None, None)
    reached = [nodes_of(tree, x) for x in data.X]
    counts, outside = (np.zeros((len(depth), n_classes), dtype=np.int64) for _ in range(2))
    for i, nodes in enumerate(reached):
        counts[nodes, y[i]] += bag[i]
        outside[nodes, y[i]] += int(data.weights.real[i]) if bag[i] == 0 else 0
    return Tree(feature, threshold, np.array(children), gain, np.array(depth), counts, outside)


def nodes_of(tree: Tree, x: np.ndarray) -> list[int]:
    """Nodes that a row passes, from the root to its leaf."""
    path = [0]
    while tree.left[path[-1]] >= 0:
        node = path[-1]
        path.append(int(tree.left[node]) + int(x[tree.feature[node]] > tree.threshold[node]))
    return path


def bootstrap(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """As many draws as there are copies of rows: how often each row was drawn (n,), int64."""
    ends = np.cumsum(weights)
    drawn = np.searchsorted(ends, rng.integers(0, ends[-1], ends[-1]), side="right")
    return np.bincount(drawn, minlength=len(weights))


def feature_prices(feature_costs, feature_groups, group_costs, n_features: int) -> np.ndarray:
    """Price c_t (d,) of a feature by itself: its group's, and its own besides."""
    units = costs.acquisition_units(feature_groups, n_features)
    shared, own = costs.shared_and_own(feature_costs, feature_groups, group_costs, units)
    return shared[units] + own


def fit(
    X,
    y,
    *,
    n_estimators: int = 40,
    impurity: str = "pairs",
    impurity_threshold: float = 0,
    max_features: int | None = None,
    max_depth: int | None = None,
    bootstrap: bool = True,
    max_bins: int = 255,
    feature_costs=None,
    feature_groups=None,
    group_costs=None,
    sample_weight=None,
    random_state: int = 0,
) -> Model:
    """Grow a forest; ``y`` are class numbers from 0, all of them among the rows that weigh."""
    data = training_data(X, y, max_bins, sample_weight)
    y, weights = data.y, data.weights.real.astype(np.int64)
    n_classes, n_features = int(np.max(y)) + 1, data.bins.shape[1]
    total = int(np.sum(weights))
    rules = Rules(
        impurity,
        impurity_threshold,
        n_features if max_features is None else max_features,
        max_depth,
        feature_prices(feature_costs, feature_groups, group_costs, n_features),
        log_table(total) if impurity == "entropy" else np.zeros(1),
    )
    seeds = np.random.default_rng(random_state).integers(0, 2**63 - 1, n_estimators)
    trees = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        bag = drawn_weights(weights, rng) if bootstrap else weights
        trees.append(grow_tree(data, y, bag, n_classes, rules, rng))
    return Model(trees, class_counts(y, weights, n_classes), trace_of(trees))


drawn_weights = bootstrap  # ``fit`` has a parameter of that name


def trace_of(trees: list[Tree]) -> list[dict]:
    """One record a split, tree by tree."""
    return [
        {"tree": t, "node": int(node), "feature": int(tree.feature[node]),
         "threshold": float(tree.threshold[node]), "reduction": float(tree.gain[node])}
        for t, tree in enumerate(trees)
        for node in np.flatnonzero(tree.left >= 0)
    ]  # fmt: skip


# --- prediction -----------------------------------------------------------------------------


def votes(counts: np.ndarray, vote: str) -> np.ndarray:
    """What a leaf with these counts (K,) adds to the scores of the classes."""
    if vote == "labels":  # the program's printed result; equal counts: the lowest class
        return np.eye(len(counts))[np.argmax(counts)]
    return counts.astype(np.float64) if vote == "counts" else counts / int(np.sum(counts))


def scores(model: Model, X, vote: str = "labels") -> np.ndarray:
    """Sum of the votes of all trees (n, K); without trees the classes of the training rows."""
    X = np.asarray(X, dtype=np.float64)
    if not model.trees:
        return np.tile(votes(model.totals, vote), (len(X), 1))
    result = np.zeros((len(X), len(model.totals)))
    for tree in model.trees:
        for i, x in enumerate(X):
            result[i] += votes(tree.counts[nodes_of(tree, x)[-1]], vote)
    return result


def predict(model: Model, X, vote: str = "labels") -> np.ndarray:
    """Class numbers (n,); equal scores: the lowest class."""
    return np.argmax(scores(model, X, vote), axis=1)


def mean_labels(model: Model, X, grades: np.ndarray, vote: str = "labels") -> np.ndarray:
    """Mean (n,) of the labels voted for, by which documents are ranked."""
    by_class = scores(model, X, vote)
    total, weight = np.zeros(len(by_class)), np.zeros(len(by_class))
    for k, grade in enumerate(grades):
        total += by_class[:, k] * grade
        weight += by_class[:, k]
    return total / weight


def passed(model: Model, X) -> np.ndarray:
    """Split nodes (n, d) on each row's paths that test each feature."""
    X = np.asarray(X, dtype=np.float64)
    result = np.zeros(X.shape, dtype=np.int64)
    for tree in model.trees:
        for i, x in enumerate(X):
            for node in nodes_of(tree, x)[:-1]:
                result[i, tree.feature[node]] += 1
    return result


def prediction_cost(model: Model, X, **prices) -> np.ndarray:
    """Bill (n,): distinct features or groups over all trees, and α per split node passed."""
    n_splits = sum(int(np.sum(tree.left >= 0)) for tree in model.trees)
    return costs.prediction_cost(passed(model, X), n_splits, **prices)


def within_budget(model: Model, X, budget: float, weights=None, **prices) -> Model:
    """As many of the first trees as a mean bill of the validation rows within the budget allows."""
    kept = 0
    for n_trees in range(1, len(model.trees) + 1):
        some = Model(model.trees[:n_trees], model.totals, [])
        if np.average(prediction_cost(some, X, **prices), weights=weights) > budget:
            break
        kept = n_trees
    return Model(model.trees[:kept], model.totals, trace_of(model.trees[:kept]))
