"""MDDAG (Benbouzid, Busa-Fekete & Kégl, ICML 2012): sparse decision DAGs of base classifiers.

Each row decides, before each base classifier of a fitted additive model and by its scores so far,
to evaluate it, to skip it, or to quit: a Markov decision process whose rewards are a loss and the
price of evaluations, Eq. (8). The reference, equation by equation and with the deviations from the
paper, is :mod:`reference.mddag`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from .adaboost_mh import AdaBoostMH
from .decision_dag.base_classifiers import fit_base
from .decision_dag.estimator import ATTRIBUTES, PARAMETERS, DecisionDAGEstimator
from .decision_dag.rewards import CUSTOM, EXPONENTIAL, ZERO_ONE
from .estimators.fitting import all_or_nothing, weights_by_class
from .estimators.parameters import checked_parameters, documented, keep
from .estimators.scoring import ScoredInFull
from .exits.fitted_trees import FittedTrees, check_classes
from .validation.types import ClassWeight, FeatureCosts, FeatureGroups, GroupCosts, Seed

_REWARDS = {"zero_one": ZERO_ONE, "exponential": EXPONENTIAL}


@documented
class MDDAGClassifier(ScoredInFull, ClassifierMixin, DecisionDAGEstimator):
    """A sparse decision DAG: each row evaluates, skips, or quits, by its scores so far.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    A file (:meth:`save`) holds the trees and the policy. The `estimator` of a loaded DAG is its
    trees.

    Examples
    --------
    A second stump is only worth its price to the rows that the first one cannot tell.

    >>> import numpy as np
    >>> from algorithms.adaboost_mh import AdaBoostMH
    >>> from algorithms.mddag import MDDAGClassifier
    >>> x = np.arange(40.0)
    >>> y = (x >= 10) & (x < 35)
    >>> model = MDDAGClassifier(AdaBoostMH(n_estimators=10), solver="descent")
    >>> model = model.fit(x[:, None], y)
    >>> model.score(x[:, None], y), bool(model.evaluations(x[:, None]).max() < 10)
    (1.0, True)
    """

    _parameters = PARAMETERS
    _attributes: ClassVar = ATTRIBUTES

    def __init__(
        self,
        estimator: object = None,
        *,
        beta: float = 0.01,
        reward: Literal["zero_one", "exponential"] | Callable = "zero_one",
        value_function: Literal["auto", "bins", "margin", "gaussians"] = "auto",
        n_bins: int | Literal["auto"] = "auto",
        negative_weight: float = 1.0,
        solver: Literal["sarsa", "descent"] = "sarsa",
        n_episodes: int = 1_000_000,
        score_every: int = 10_000,
        learning_rate: float = 0.2,
        rate_schedule: Literal["constant", "decreasing"] = "constant",
        trace_decay: float = 0.95,
        exploration: float = 0.3,
        update: Literal["sarsa", "q"] = "sarsa",
        select: Literal["objective", "accuracy"] = "objective",
        normalisation: Literal["final", "running"] = "final",
        start: Literal["eval", "sarsa"] = "eval",
        tree_cost: float = 1.0,
        feature_costs: FeatureCosts = None,
        split_cost: float | None = None,
        feature_groups: FeatureGroups = None,
        group_costs: GroupCosts = None,
        class_weight: ClassWeight = None,
        n_threads: int | None = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        keep(self, locals())

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the base classifiers, unless they are, and the policy.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels. One class only: the model is constant, and says so.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights >= 0: a weight of 3 equals three copies of the row. Those that are no whole
            numbers are rounded to parts of their sum. Rows of weight 0 are left out.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an input or a parameter does not fit, or the model has no base classifiers, or all
            of them answer 0.
        """
        options = checked_parameters(self)
        X, y, weights = self._checked_rows(X, y, sample_weight)
        check_classification_targets(y)
        self.classes_, label = np.unique(y, return_inverse=True)
        weights = weights_by_class(self.class_weight, self.classes_, label, weights)
        estimator = AdaBoostMH(n_estimators=1000) if self.estimator is None else self.estimator
        signs = np.where(label == 1, 1.0, -1.0) if len(self.classes_) <= 2 else None
        fitted, responses = fit_base(estimator, X, y, signs, weights)
        label = self._labelled(responses, y, label)
        if options["negative_weight"] != 1 and len(self.classes_) > 2:
            raise ValueError(
                f"negative_weight is for two classes, and there are {len(self.classes_)}."
            )
        self.estimator_ = fitted
        if len(self.classes_) == 1:
            self._be_constant(responses)
            return self
        custom = None if isinstance(self.reward, str) else self.reward
        kind = _REWARDS[self.reward] if custom is None else CUSTOM
        self._learn(responses, X, label.astype(np.int64), weights, kind, custom, options)
        return self

    def _labelled(self, responses: FittedTrees, y, label: np.ndarray) -> np.ndarray:
        """Numbers of the rows' classes as the model has them; its classes become our own."""
        if responses.link is None:
            if responses.n_columns > 1 or len(self.classes_) > 2:
                raise ValueError(
                    f"{responses.name} is no classifier: its score can tell two classes, and y has "
                    f"{len(self.classes_)}."
                )
            return label
        classes = np.asarray(responses.link.classes)
        check_classes(responses, self.classes_)
        self.classes_ = classes
        return np.searchsorted(classes, y)

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Scores at quitting.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes), float64
            Score of the second class, or one for each of three classes or more.
        """
        return self._decision(self._steps(X)[0])

    def _decision(self, steps: np.ndarray) -> np.ndarray:
        scores = self._scores(steps)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict classes; equal scores go to the first class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), of the dtype of `classes_`
        """
        return self._predicted(self._steps(X)[0])

    def _predicted(self, steps: np.ndarray) -> np.ndarray:
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(steps))
        if steps.shape[1] == 1:
            return self.classes_[(steps[:, 0] > 0).astype(np.int64)]
        return self.classes_[np.argmax(steps, axis=1)]
