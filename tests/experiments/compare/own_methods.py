"""Classes that a user might compare: one that fits, one without a meter."""

import os

import numpy as np


class Threshold:
    """Predicts by one feature against its mean: the dearer feature tells more."""

    search_space = {"feature": [0, 1]}  # noqa: RUF012

    def __init__(self, feature=0, feature_costs=None):
        self.feature, self.feature_costs = feature, feature_costs

    def fit(self, X, y):
        column = X.to_numpy()[:, self.feature]
        self.at = column.mean()
        values, numbers = np.unique(y, return_inverse=True)
        above = np.array([np.mean(numbers[column > self.at]), np.mean(numbers[column <= self.at])])
        self.labels = values[np.rint(above).astype(int)]
        return self

    def predict(self, X):
        return np.where(X.to_numpy()[:, self.feature] > self.at, *self.labels)

    def prediction_cost(self, X):
        return np.full(len(X), self.feature_costs[self.feature])


class WithoutMeter:
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


class WrongMeter(Threshold):
    def prediction_cost(self, X):
        return 3.0


class Crashing(Threshold):
    """Takes its process along."""

    search_space = None

    def fit(self, X, y):
        os.abort()


class Careless:
    """Writes into everything that it is given; what it says depends on what it reads."""

    def __init__(self, feature_costs, feature_groups, group_costs):
        self.prices = feature_costs, feature_groups, group_costs

    def fit(self, X, y, sample_weight, query_id):
        self.read = X["dear"].sum(), *(np.sum(part) for part in (y, sample_weight, query_id))
        self.paid = self.prices[0].sum() + sum(self.prices[2].values()), tuple(self.prices[1])
        y[:], sample_weight[:], query_id[:] = 0, 0, 0
        self.prices[0][:] = 0
        self.prices[1].clear()
        self.prices[2].clear()
        self.predict(X)
        return self

    def predict(self, X):
        answer = X["dear"].to_numpy(copy=True)
        X[X < 100] = 100.0
        del X["cheap"]
        return answer

    def prediction_cost(self, X):
        return np.abs(self.predict(X))
