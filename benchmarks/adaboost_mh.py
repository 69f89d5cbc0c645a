"""asv: AdaBoost.MH with decision stumps, by how rounds draw features and examples; with trees."""

from __future__ import annotations

import functools

import numpy as np

from .suite import THREADS, Suite


@functools.cache
def is_known(sampler: str) -> bool:
    """Whether this version of the package has a sampler."""
    from algorithms.adaboost_mh import AdaBoostMH

    try:
        AdaBoostMH(n_estimators=1, sampler=sampler).fit(np.eye(2, dtype=np.uint8), [0, 1])
    except ValueError:
        return False
    return True


class AdaBoostMh(Suite):
    """All features each round, and the paper's thirteen ways to sample them."""

    params = (
        ["dense", "one-hot"],
        [
            "all_features",
            "uniform_naive",
            "laminating",
            "best_family",
            "uniform_1q",
            "uniform_q1",
            "ucb",
            "exp3p",
            "epsilon_greedy",
            "tasting_1q",
            "tasting_q1",
            "mas_naive",
            "mas_1q",
            "mas_q1",
        ],
    )
    param_names = ("data", "sampler")
    time_fit = Suite.fit
    time_predict = Suite.predict
    peakmem_fit = Suite.fit
    track_accuracy = Suite.accuracy
    track_cost = Suite.cost

    def setup(self, kind, sampler):
        try:
            from algorithms.adaboost_mh import AdaBoostMH  # noqa: F401
        except ImportError:  # versions before it: asv skips what raises this
            raise NotImplementedError from None
        super().setup(kind, sampler)

    def estimator(self, costs, sampler):
        from algorithms.adaboost_mh import AdaBoostMH

        if not is_known(sampler):
            raise NotImplementedError
        families = np.array_split(np.arange(len(costs)), 3)
        return AdaBoostMH(
            n_estimators=50,
            sampler=sampler,
            families=families,
            feature_costs=costs,
            random_state=0,
            n_threads=THREADS,
        )


class AdaBoostMhTenLabels(Suite):
    """Ten classes on 784 columns of bytes, all searched in each round: the search itself."""

    params = (["dense", "four fifths zero"],)
    param_names = ("data",)
    time_fit = Suite.fit
    time_predict = Suite.predict
    track_accuracy = Suite.accuracy

    def setup(self, kind):
        try:
            from algorithms.adaboost_mh import AdaBoostMH
        except ImportError:  # versions before it
            raise NotImplementedError from None
        rng = np.random.default_rng(20140)
        codes = rng.integers(0, 256, size=(784, 7_000)).astype(np.uint8)
        if kind != "dense":
            codes[rng.random(codes.shape) < 0.8] = 0
        score = codes[:3].astype(np.int64).sum(axis=0)
        y = np.argsort(np.argsort(score, kind="stable"), kind="stable") * 10 // len(score)
        self.X, self.y, self.Z, self.z = (
            codes[:, :5_000].T,
            y[:5_000],
            codes[:, 5_000:].T,
            y[5_000:],
        )
        self.costs = None
        self.estimator = lambda _, rounds=20: AdaBoostMH(n_estimators=rounds, n_threads=THREADS)
        self.estimator(None, 2).fit(self.X, self.y).predict(self.Z)  # compiles
        self.model = self.estimator(None).fit(self.X, self.y)


class AdaBoostMhTrees(Suite):
    """Three classes, Hamming trees as weak learners: how they are grown, walked and paid for."""

    params = (
        ["dense", "one-hot"],
        ["8 leaves", "8 leaves, balanced, smoothed", "2 leaves", "8 leaves, uniform_naive"],
    )
    param_names = ("data", "trees")
    time_fit = Suite.fit
    time_predict = Suite.predict
    time_cost = Suite.cost
    peakmem_fit = Suite.fit
    track_accuracy = Suite.accuracy
    track_cost = Suite.cost

    def setup(self, kind, trees):
        try:
            super().setup(kind, trees)
        except (ImportError, TypeError):  # versions before AdaBoost.MH, or before its trees
            raise NotImplementedError from None
        # Of the same rows, with a third class in the middle of the first feature.
        self.y, self.z = (
            np.where(np.abs(X[:, 0]) < 0.3, 2, y) for X, y in ((self.X, self.y), (self.Z, self.z))
        )
        self.model = self.estimator(self.costs, trees).fit(self.X, self.y)

    def estimator(self, costs, trees):
        from algorithms.adaboost_mh import AdaBoostMH

        settings = {
            "8 leaves": {},
            "8 leaves, balanced, smoothed": {"initial_weights": "balanced", "smoothing": 0.01},
            "2 leaves": {"n_leaves": 2},
            "8 leaves, uniform_naive": {"sampler": "uniform_naive"},
        }
        return AdaBoostMH(
            n_estimators=50,
            weak_learner="hamming_tree",
            feature_costs=costs,
            random_state=0,
            n_threads=THREADS,
            **settings[trees],
        )
