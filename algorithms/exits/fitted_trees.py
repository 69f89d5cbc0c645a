"""The trees that a cascade is made of, fitted or taken as they are: any fitted additive model.

:func:`fitted_trees_of` reads boosted trees and boosted stumps of this package, and forests of
LightGBM, CatBoost and scikit-learn. **A new kind of model joins** by one branch there that fills in
:class:`FittedTrees`: trees as a :class:`algorithms.trees.forest.Forest`, and a meter, which is a
:class:`algorithms.cost_meter.trees.MeteredTrees` and knows prices and how rows are checked. What is
no forest of our own becomes both as an :class:`algorithms.interop.MeteredForest`, as the stumps do
here.
"""

from __future__ import annotations

import copy
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from ..adaboost_mh import AdaBoostMH
from ..boosted_trees.estimator import BoostedTrees
from ..cost_meter.trees import MeteredTrees
from ..costs import GridPrices
from ..estimators.fitting import ignore_constant_parts
from ..estimators.threads import threads_elsewhere
from ..gbrt import GBRTRegressor
from ..interop import from_catboost, from_lightgbm, from_scikit_learn, from_xgboost
from ..interop.forest import MeteredForest
from ..interop.nodes import ClassLink, FlatTrees, InverseLink, Leaf, Split, Tree, flat_stumps
from ..losses import Loss
from ..trees.categorical_forest import refuse_sets
from ..trees.forest import Forest
from ..validation.prices import by_place, take_column_numbers


class FittedTrees(NamedTuple):
    """A fitted additive model: rounds of trees whose leaf values add up to scores."""

    name: str  # What to call the model in messages
    forest: Forest  # Trees that give scores; tree t adds to column t % n_columns
    contributions: np.ndarray  # (n_nodes,) float64: what each leaf adds, learning rate included
    initial_scores: np.ndarray  # (n_columns,) float64: scores before the first round
    # Checks rows (``_check_X``), knows the prices, and charges for the paths in its ``trees_``, of
    # which a round has as many as there are columns. These differ from `forest` where a tree gives
    # several scores but is passed, and paid for, once
    meter: MeteredTrees
    link: ClassLink | None  # What the scores mean, if the model is a classifier
    # How they become predictions, if these are not the scores themselves
    inverse_link: InverseLink | None = None

    @property
    def n_columns(self) -> int:
        """Number of scores of a row: the number of trees in a round."""
        return len(self.initial_scores)

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return self.forest.n_trees // self.n_columns

    def labels(self, scores: np.ndarray) -> np.ndarray:
        """Classes (n,) of scores (n, n_columns), the lower one in a tie; of a classifier."""
        return self.link.labels(scores)

    def numbers(self, scores: np.ndarray) -> np.ndarray:
        """What the model predicts (n,) of scores (n, 1), if it is no classifier."""
        if self.inverse_link is None:
            return scores[:, 0]
        return self.inverse_link(scores, self.meter.library)[:, 0]

    def largest_likelihood(self, scores: np.ndarray) -> np.ndarray:
        """Likelihood (n,) of the likeliest class at scores (n, n_columns); of a classifier."""
        loss = Loss(self.link.likelihood, self.n_columns)
        prepared = loss.prepare(np.asfortranarray(scores), np.empty(scores.shape, order="F"))
        if self.link.likelihood == "logistic":
            p = 1.0 / (1.0 + prepared[:, 0])
            return np.maximum(1.0 - p, p)
        return np.max(prepared, axis=1)

    def charge(
        self, X: np.ndarray, prices: GridPrices, rounds: np.ndarray
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
        """Charge rows for the first rounds of the model, each row for as many as it passed."""
        return self.meter._walk_until(X, prices, rounds * self.n_columns)


def check_classes(responses: FittedTrees, classes: np.ndarray) -> None:
    """Refuse a classifier that was fitted to tell other classes than those of the rows."""
    if responses.link is None:
        return
    known = np.asarray(responses.link.classes).tolist()
    unknown = [label for label in classes.tolist() if label not in known]
    if unknown:
        raise ValueError(
            f"y has labels that {responses.name} does not know: {unknown[:5]}; its classes are "
            f"{known[:10]}."
        )
    if len(classes) == 1 and len(known) > 1:
        raise ValueError(
            f"y has one class only ({classes.tolist()[0]!r}), and {responses.name} tells "
            f"{len(known)}: give rows of at least two of them, {known[:10]}."
        )


def fitted_trees_of(model: object) -> FittedTrees:
    """Read a fitted model as it is now."""
    if isinstance(model, BoostedTrees):
        return _of_boosted_trees(model)
    if isinstance(model, AdaBoostMH):
        return _of_forest(_of_adaboost_mh(model))
    if isinstance(model, MeteredForest):
        return _of_forest(model)
    if hasattr(model, "booster_") or hasattr(type(model), "booster_"):
        return _of_forest(from_lightgbm(model))
    if callable(getattr(model, "dump_model", None)):
        return _of_forest(from_lightgbm(model))
    if callable(getattr(model, "get_booster", None)) or callable(getattr(model, "save_raw", None)):
        return _of_forest(from_xgboost(model))
    if callable(getattr(model, "get_scale_and_bias", None)):
        return _of_forest(from_catboost(model))
    if hasattr(model, "_predictors") or hasattr(model, "_raw_predict_init"):
        return _of_forest(from_scikit_learn(model))
    raise ValueError(
        "model must be a fitted additive model: boosted trees or AdaBoostMH of this package, or a "
        "boosted forest of LightGBM, XGBoost, CatBoost or scikit-learn; got "
        f"{type(model).__name__}."
    )


def _of_boosted_trees(model: BoostedTrees) -> FittedTrees:
    check_is_fitted(model)
    refuse_sets(model.trees_, "A model around others")
    link = None
    if is_classifier(model):
        link = ClassLink(
            model.classes_, "logistic" if len(model.initial_scores_) == 1 else "multinomial"
        )
    return FittedTrees(
        type(model).__name__,
        model.trees_,
        model._contributions,
        model.initial_scores_,
        copy.copy(model),  # a later fit of the model changes nothing here
        link,
    )


def _of_forest(meter: MeteredForest) -> FittedTrees:
    return FittedTrees(
        f"the {meter.library} model",
        meter._scored,
        meter._scored.value,
        meter.initial_scores_,
        meter,
        meter.link,
        meter.inverse_link,
    )


def _of_adaboost_mh(model: AdaBoostMH) -> MeteredForest:
    """Boosted stumps or trees of them, as trees whose leaves vote for all labels at once."""
    check_is_fitted(model)
    trees = _hamming_trees(model) if hasattr(model, "trees_") else _stumps(model)
    meter = MeteredForest(
        trees,
        np.zeros(model._learners.votes.shape[1]),
        model.n_features_in_,
        as_seen=np.asarray,
        library="AdaBoostMH",
        feature_costs=by_place(model, "feature_costs", model.feature_costs),
        split_cost=model.split_cost,
        feature_groups=by_place(model, "feature_groups", model.feature_groups),
        group_costs=model.group_costs,
        feature_names=getattr(model, "feature_names_in_", None),
        link=ClassLink(model.classes_, None),  # its scores are no log-odds
    )
    meter.n_threads = threads_elsewhere(model)
    take_column_numbers(meter, model)
    return meter


def _stumps(model: AdaBoostMH) -> FlatTrees:
    stumps = model.stumps_
    votes = stumps.alpha[:, None] * stumps.votes
    return flat_stumps(stumps.feature, stumps.threshold, -votes, votes)


def _hamming_trees(model: AdaBoostMH) -> list[Tree]:
    trees, votes = model.trees_, model.trees_.contributions()

    def read(node):
        left = int(trees.left[node])
        if left < 0:
            return Leaf(votes[node], node)
        return Split(int(trees.feature[node]), float(trees.threshold[node]), left, left + 1)

    return [Tree(int(root), read) for root in trees.tree[:-1]]


def fit_trees(
    estimator: object, X: ArrayLike, y: ArrayLike, signs: np.ndarray, weights: ArrayLike | None
) -> tuple[object, FittedTrees]:
    """Trees of an estimator: fitted anew if they are this package's, else as they are."""
    if estimator is None:
        estimator = GBRTRegressor(max_leaves=None, max_depth=4, growth="breadth_first")
    if isinstance(estimator, FrozenEstimator):
        fitted = estimator.estimator
    elif isinstance(estimator, BoostedTrees):
        fitted = clone(estimator)
        with warnings.catch_warnings():
            ignore_constant_parts()
            target = y if is_classifier(fitted) else signs
            fitted.fit(X, target, sample_weight=weights)
    else:
        fitted = estimator
    responses = fitted_trees_of(fitted)
    if responses.n_columns != 1:
        raise ValueError(
            f"estimator must give one score to each row; {responses.name} gives "
            f"{responses.n_columns}."
        )
    return fitted, responses._replace(contributions=responses.forest.value)
