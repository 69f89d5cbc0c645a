"""What asv measures of every algorithm, on data that any version of the package can make.

Parameter lists are literal and only ever appended to, or the history would break.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")

import numpy as np

N_TRAIN, N_TEST, N_FEATURES = 20_000, 10_000, 30
THREADS = 2


def task(kind: str):
    """Seeded data of the suite's own: it must not change when a stand-in does.

    Returns
    -------
    X, y : training rows
    Z, z : test rows
    costs : ndarray of shape (n_features,)
    """
    rng = np.random.default_rng(20170)
    X = rng.normal(size=(N_TRAIN + N_TEST, N_FEATURES))
    if kind == "one-hot":
        X[:, 10:] = np.eye(20)[rng.integers(0, 20, len(X))]
    score = X[:, 0] + X[:, 1] * X[:, 2] + 2 * (X[:, 12] > 0.5) + 0.5 * rng.normal(size=len(X))
    y = (score > np.median(score)).astype(np.int64)
    costs = np.resize([1.0, 5.0, 20.0], N_FEATURES)
    return X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:], costs


class Suite:
    """Times, peak memory, accuracy and cost; a subclass defines ``estimator(costs, *rest)``.

    Accuracy and cost are those of the test rows: they must not move unless a commit says so.
    The methods take all of a subclass's parameters, of which the first is the data.
    """

    timeout = 300
    size = "n_estimators"  # the parameter with the number of trees (asv has an attribute `rounds`)

    def setup(self, kind, *options):
        self.X, self.y, self.Z, self.z, self.costs = task(kind)
        self.model = self.estimator(self.costs, *options)
        self.model.set_params(**{self.size: 2}).fit(self.X, self.y).predict(self.Z)  # compiles
        self.model = self.estimator(self.costs, *options).fit(self.X, self.y)

    def fit(self, kind, *options):
        """Fit a new model."""
        self.estimator(self.costs, *options).fit(self.X, self.y)

    def predict(self, kind, *options):
        """Predict the test rows."""
        self.model.predict(self.Z)

    def accuracy(self, kind, *options):
        """Share of test rows classified rightly."""
        return float(np.mean(self.model.predict(self.Z) == self.z))

    accuracy.unit = "share of test rows"

    def cost(self, kind, *options):
        """Mean prediction cost of the test rows."""
        return float(np.mean(self.model.prediction_cost(self.Z, feature_costs=self.costs)))

    cost.unit = "cost of a test row"
