"""A method of twenty lines, as somebody would add it."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class NearestMean(ClassifierMixin, BaseEstimator):
    """The class with the nearest mean, by the first few columns."""

    tasks = ("classification",)
    search_space = {"n_columns": [4, 16, 64]}  # noqa: RUF012

    def __init__(self, n_columns=4, feature_costs=None):
        self.n_columns, self.feature_costs = n_columns, feature_costs

    def fit(self, X, y):
        X = np.asarray(X)[:, : self.n_columns]
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == c].mean(axis=0) for c in self.classes_])
        return self

    def predict(self, X):
        X = np.asarray(X)[:, None, : self.n_columns]
        return self.classes_[np.argmin(((X - self.means_) ** 2).sum(axis=2), axis=1)]

    def prediction_cost(self, X):
        return np.full(len(X), np.sum(self.feature_costs[: self.n_columns]))
