"""Forests whose trees vote with the class counts of their leaves, and what all of them can do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..cost_meter.importances import gain_shares
from ..cost_meter.trees import MeteredTrees
from ..estimators.files import SavedModel, entry
from ..estimators.fitting import check_queries, check_sample_weight
from ..estimators.parameters import Parameter, choice
from ..estimators.scoring import ScoredInFull
from ..estimators.threads import threads_of
from ..estimators.validation import validate_data
from ..kernels.arrays import read_only
from ..kernels.decorators import kernel, threads
from ..kernels.loops import for_each
from ..trees.forest import NODE_DTYPES, Forest, check_forest
from ..trees.predictor import leaf_of, next_node
from ..validation.types import EvalSet
from .growing import MOST_WEIGHT, CountedForest

VOTES = ("labels", "counts", "distributions")
VOTE = choice(
    "What a tree says: the label of the leaf, as the authors' program prints its results, the "
    "rows of each class in the leaf, or their shares. Equal votes: the first class.",
    *VOTES,
)


@kernel
def _add_votes_to_row(i, forest, first, end, X, votes, scores):
    for t in range(first, end):
        leaf = leaf_of(forest, t, X, i)
        for a in range(votes.shape[1]):
            scores[i, a] += votes[leaf, a]


@kernel
def _add_votes(forest, first, end, X, votes, scores):
    """Add to the scores (n_samples, n_classes) what some trees vote."""
    for_each(_add_votes_to_row, X.shape[0], True, (forest, first, end, X, votes, scores))


@kernel
def _count_rows(forest, X, weights, y, counts):
    for i in range(X.shape[0]):
        for t in range(forest.tree.shape[0] - 1):
            node = forest.tree[t]
            counts[node, y[i]] += weights[i]
            while forest.left[node] >= 0:
                node = next_node(forest, node, X[i, forest.feature[node]])
                counts[node, y[i]] += weights[i]


def class_counts(
    forest: Forest, X: np.ndarray, weights: np.ndarray, y: np.ndarray, n_classes: int
) -> np.ndarray:
    """Count the rows of each class that pass each node."""
    counts = np.zeros((len(forest.feature), n_classes), dtype=np.int64)
    _count_rows(forest, X, weights, y, counts)
    return counts


def votes_of(counts: np.ndarray, vote: str) -> np.ndarray:
    """What nodes with these counts, (n_nodes, n_classes) int64, vote: float64 of the same shape."""
    if vote == "labels":
        votes = np.zeros(counts.shape)
        votes[np.arange(len(counts)), np.argmax(counts, axis=1)] = 1.0
        return votes
    counted = counts.astype(np.float64)
    return counted if vote == "counts" else counted / counts.sum(axis=1, keepdims=True)


def whole_weights(sample_weight: ArrayLike | None, n_samples: int) -> np.ndarray:
    """Row weights as whole numbers, (n_samples,) int64; those of rows to be left out are 0."""
    weights, _ = check_sample_weight(sample_weight, n_samples)
    if weights is None:
        weights = np.ones(n_samples)
    if np.any(weights != np.rint(weights)):
        i = int(np.argmax(weights != np.rint(weights)))
        raise ValueError(
            "sample_weight must be whole numbers, since forests draw copies of rows; row "
            f"{i} has {weights[i]}."
        )
    if weights.sum() > MOST_WEIGHT:
        raise ValueError(
            f"sample_weight (rows, if there is none) must sum to at most {MOST_WEIGHT} for a "
            "forest, so that its counts are exact."
        )
    return weights.astype(np.int64)


class VotingForest(MeteredTrees, SavedModel, BaseEstimator):
    """Base of the forests; not to be used by itself."""

    initial_scores_ = (0.0,)  # one tree a round, whatever the number of classes
    _attributes: ClassVar[dict[str, Parameter]] = {
        "trees_": Parameter("Forest", "All trees as flat arrays."),
        "class_counts_": Parameter(
            "ndarray of shape (n_nodes, n_classes), int64",
            "Rows of each class in each node, of the tree's bootstrap sample.",
        ),
        "out_of_bag_counts_": Parameter(
            "ndarray of shape (n_nodes, n_classes), int64",
            "Training rows of each class in each node that are not in the tree's sample.",
        ),
        "training_counts_": Parameter(
            "ndarray of shape (n_classes,), int64",
            "Training rows of each class: what a forest without trees votes.",
        ),
        "n_estimators_": Parameter("int", "Number of trees."),
        "feature_importances_": Parameter(
            "ndarray of shape (n_features,)",
            "Share of each feature in the reductions of all splits; they sum to 1, or are 0 "
            "without a split. What rows pay for each is `cost_importances`.",
        ),
        "n_features_in_": Parameter("int", "Number of columns."),
        "feature_names_in_": Parameter(
            "ndarray of str", "Names of the columns, if `fit` was given a table with names."
        ),
    }
    _stored_arrays: ClassVar = {
        "tree": (np.int64, "trees + 1"),
        **{name: (dtype, "nodes") for name, dtype in NODE_DTYPES.items()},
        "class_counts": (np.int64, "nodes", "classes"),
        "out_of_bag_counts": (np.int64, "nodes", "classes"),
        "training_counts": (np.int64, "classes"),
    }

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "trees_")

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the reductions of all splits, (n_features,) float64."""
        check_is_fitted(self)
        return gain_shares(self.trees_, self.n_features_in_)

    def _set_fitted(self, fitted: CountedForest, training_counts: np.ndarray, vote: str) -> None:
        self.trees_ = fitted.forest
        self.class_counts_, self.out_of_bag_counts_ = fitted.counts, fitted.out_of_bag
        self.training_counts_ = training_counts
        self.n_estimators_ = fitted.forest.n_trees
        # As it was in `fit`: a parameter that is set later must not change predictions.
        self._vote = vote
        self._votes = votes_of(fitted.counts, vote)

    def _check_X(self, X) -> np.ndarray:
        check_is_fitted(self)
        return read_only(validate_data(self, X, dtype=np.float64, order="C", reset=False))

    def _staged_scores(self, X: np.ndarray, ends) -> Iterator[np.ndarray]:
        """Scores (n_samples, n_classes) after so many trees; the same array each time."""
        scores, first = np.zeros((len(X), self._votes.shape[1])), 0
        for end in ends:
            with threads(threads_of(self), X.size):
                _add_votes(self.trees_, first, end, X, self._votes, scores)
            first = end
            yield scores

    def _scores(self, X: np.ndarray) -> np.ndarray:
        if self.n_estimators_ == 0:
            return np.tile(self._initial_votes(), (len(X), 1))
        return next(self._staged_scores(X, [self.n_estimators_]))

    def _initial_votes(self) -> np.ndarray:
        """What is voted before the first tree, (n_classes,): without a tree, by training rows."""
        if self.n_estimators_ == 0:
            return votes_of(self.training_counts_[None], self._vote)[0]
        return np.zeros(self._votes.shape[1])

    def _answers(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        """What can be predicted from votes (n_samples, n_classes), by the method's name."""
        raise NotImplementedError

    # --- files --------------------------------------------------------------------------------

    def _stored(self) -> tuple[dict, dict[str, np.ndarray]]:
        arrays = {
            "class_counts": self.class_counts_,
            "out_of_bag_counts": self.out_of_bag_counts_,
            "training_counts": self.training_counts_,
        }
        return {"vote": self._vote}, arrays | self.trees_._asdict()

    def _restored_forest(self, header: dict, arrays: dict[str, np.ndarray], n_classes: int) -> None:
        vote = entry(header, "vote", str, "a name")
        if vote not in VOTES:
            raise ValueError("its trees vote in an unknown way")
        forest = Forest(**{name: arrays[name] for name in Forest._fields})
        check_forest(forest, self.n_features_in_, np.zeros(1))
        fitted = CountedForest(forest, arrays["class_counts"], arrays["out_of_bag_counts"])
        check_counts(fitted, arrays["training_counts"], n_classes)
        self._set_fitted(fitted, arrays["training_counts"], vote)


def check_counts(fitted: CountedForest, training_counts: np.ndarray, n_classes: int) -> None:
    """Check counts from a file: rows of a node are those of its children, and some are in the bag.

    Raises
    ------
    ValueError
        If no fit can have left them. One sentence without a full stop.
    """
    forest, split = fitted.forest, np.flatnonzero(fitted.forest.left >= 0)
    left, totals = forest.left[split], training_counts
    for counts in (fitted.counts, fitted.out_of_bag):
        if counts.shape != (len(forest.feature), n_classes):
            raise ValueError("it must hold a count for each node of its trees and each class")
        if np.any(counts < 0) or np.any(counts > MOST_WEIGHT):
            raise ValueError(f"its counts must be from 0 to {MOST_WEIGHT}")
        if np.any(counts[split] != counts[left] + counts[left + 1]):
            raise ValueError("its counts of a node must be the sums of those of its children")
    if np.any(fitted.counts.sum(axis=1) < 1):
        raise ValueError("every node of its trees must hold a row")
    if totals.shape != (n_classes,) or np.any(totals < 1) or totals.sum() > MOST_WEIGHT:
        raise ValueError("it must hold the number of training rows of each class")
    if np.any(forest.gain < 0) or np.sum(forest.gain) > 2.0**1000:
        raise ValueError("its reductions must be numbers >= 0")


class VotingClassifier(ScoredInFull, ClassifierMixin, VotingForest):
    """Classes by votes; a base, not to be used by itself."""

    _attributes = VotingForest._attributes | {
        "classes_": Parameter("ndarray of shape (n_classes,)", "Class labels, ascending.")
    }

    def _restore(self, header: dict, arrays: dict[str, np.ndarray]) -> None:
        self._restored_forest(header, arrays, len(self.classes_))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict classes; equal votes go to the first class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), of the dtype of `classes_`
        """
        return self._labels(self._scores(self._check_X(X)))

    def _labels(self, scores: np.ndarray) -> np.ndarray:
        return self.classes_[np.argmax(scores, axis=1)]

    def _shares(self, scores: np.ndarray) -> np.ndarray:
        return scores / scores.sum(axis=1, keepdims=True)

    def _answers(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        return {"predict": self._labels, "predict_proba": self._shares}

    def staged_predict(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """Predict classes with the first 1, 2, … trees; yields arrays of shape (n_samples,)."""
        X = self._check_X(X)
        for scores in self._staged_scores(X, range(1, self.n_estimators_ + 1)):
            yield self._labels(scores)

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Shares of the votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), float64
        """
        return self._shares(self._scores(self._check_X(X)))


def check_rows_with_targets(
    model: VotingForest, eval_set: EvalSet
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and targets of a validation set (ValueError if it is none)."""
    if not isinstance(eval_set, tuple | list) or len(eval_set) not in (2, 3):
        raise ValueError("eval_set must be (X, y) or (X, y, query_id).")
    X, y = validate_data(model, *eval_set[:2], dtype=np.float64, order="C", reset=False)
    check_queries(eval_set[2] if len(eval_set) == 3 else None, len(X), "the query_id of eval_set")
    return read_only(X), y
