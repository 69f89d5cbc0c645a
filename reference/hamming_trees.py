"""Hamming trees: decision trees as weak learners of AdaBoost.MH.

B. Kégl: The return of AdaBoost.MH: multi-class Hamming trees. International Conference on Learning
Representations (2014); as R. Busa-Fekete, D. Benbouzid, B. Kégl: Fast classification using sparse
decision DAGs, ICML 2012, section 3.3, have them from MultiBoost (8 leaves). The booster is
:mod:`reference.adaboost_mh`.

=================  ========================================================================
symbol             name
=================  ========================================================================
N                  ``n_leaves`` - 1: inner nodes, each a stump
φ_j(x)             whether x lies above the threshold of stump j
v_j                ``stumps[j].votes``
γ, γ_∅             edge of a node's best stump, and of its best constant vote
=================  ========================================================================

A tree is grown best first: of all leaves the one is divided next whose own best stump has the
largest edge over the best constant vote there. A leaf votes as the stump above it does on that
side, v_j or -v_j: votes are not fitted to leaves. So two leaves are a stump. A tree has one α.

Choices

1. A leaf whose best stump has no larger edge than the constant vote is not divided, and a tree
   whose root is such a leaf is the constant vote.
2. The thresholds of a node are those of all training rows: of several that divide its rows alike
   the lowest is taken. Of equal leaves the one that came to be first is divided; of the two that
   come to be together the left one is first.
3. All nodes search the features that the sampler proposed for the round. A node looks at rows and
   features that its root has looked at, which costs no evaluations in training.
"""

from dataclasses import dataclass

import numpy as np

from reference.adaboost_mh import Model, Stump, WeakLearner, best_stump, constant_vote
from reference.adaboost_mh import responses as votes_of_stump

LEAF = -1


@dataclass(frozen=True)
class HammingTree:
    """Stumps in the order in which they were added; the first is the root.

    ``below[j]`` are the numbers of the stumps that rows go on to from stump j, on the left (not
    above the threshold) and on the right; -1 where they have arrived.
    """

    stumps: list[Stump]
    below: list[list[int]]


@dataclass(frozen=True)
class Leaf:
    """A leaf that may be divided: its rows, the ``side`` of the stump above, and its best stump."""

    rows: np.ndarray
    above: int
    side: int
    stump: Stump
    gain: int


def new_leaf(X: np.ndarray, signed: np.ndarray, features, rows, above=LEAF, side=0) -> Leaf:
    """Find the best stump of a leaf; its gain is γ - γ_∅. Rows outside weigh nothing."""
    inside = signed * rows[:, None]
    edge, stump = best_stump(X, inside, features)
    return Leaf(rows, above, side, stump, edge - constant_vote(inside)[0])


def best_tree(
    X: np.ndarray, signed: np.ndarray, features, n_leaves: int
) -> tuple[int, HammingTree]:
    """Grow a tree on some features; ``signed`` is ω y (n, K). Its edge and the tree."""
    tree = HammingTree([], [])
    leaves = [new_leaf(X, signed, features, np.ones(len(X), dtype=bool))]
    while len(tree.stumps) < n_leaves - 1:
        best = int(np.argmax([leaf.gain for leaf in leaves]))  # the first of equals
        if leaves[best].gain == 0:
            break
        leaf = leaves.pop(best)
        j = add_stump(tree, leaf)
        above = X[:, leaf.stump.feature] > leaf.stump.threshold
        for side, rows in enumerate((leaf.rows & ~above, leaf.rows & above)):
            leaves.append(new_leaf(X, signed, features, rows, j, side))
    if not tree.stumps:
        add_stump(tree, leaves[0])  # the constant vote
    return int(np.sum(signed * responses(tree, X))), tree


def add_stump(tree: HammingTree, leaf: Leaf) -> int:
    """Put a leaf's best stump in its place; its number."""
    j = len(tree.stumps)
    tree.stumps.append(leaf.stump)
    tree.below.append([LEAF, LEAF])
    if leaf.above != LEAF:
        tree.below[leaf.above][leaf.side] = j
    return j


def visits(tree: HammingTree, X: np.ndarray):
    """Stump by stump, in an order in which none comes before the one above: it, and who comes by.

    The rows are booleans (n,).
    """
    at = np.zeros(len(X), dtype=np.int64)
    for j, (stump, (left, right)) in enumerate(zip(tree.stumps, tree.below, strict=True)):
        here = at == j
        yield stump, here
        if stump.feature >= 0:
            at[here] = np.where(X[here, stump.feature] > stump.threshold, right, left)


def responses(tree: HammingTree, X: np.ndarray) -> np.ndarray:
    """Votes h (n, K): v_j φ_j(x) of the last stump that the row comes by."""
    votes = np.zeros((len(X), len(tree.stumps[0].votes)), dtype=np.int64)
    for stump, here in visits(tree, X):
        votes[here] = votes_of_stump(stump, X[here])
    return votes


def hamming_trees(n_leaves: int = 8) -> WeakLearner:
    """Trees of at most so many leaves, at least two."""

    def best(X, signed, features):
        return best_tree(X, signed, features, n_leaves)

    return WeakLearner(best, responses, lambda tree: tree.stumps)


# --- what predictions ask for ----------------------------------------------------------------


def passed(model: Model, X: np.ndarray, n_trees: int | None = None) -> np.ndarray:
    """How often each row's paths through the first trees test each feature, (n, d) int."""
    counts = np.zeros(X.shape, dtype=np.int64)
    for tree in model.stumps[:n_trees]:
        for stump, here in visits(tree, X):
            if stump.feature >= 0:
                counts[here, stump.feature] += 1
    return counts


def acquired_features(model: Model, X: np.ndarray) -> np.ndarray:
    """Features (n, d) bool that each row asks for."""
    return passed(model, X) > 0


def evaluations(model: Model, X: np.ndarray) -> np.ndarray:
    """Stumps (n,) that each row passes, over all trees; a constant vote is not evaluated."""
    return np.sum(passed(model, X), axis=1)
