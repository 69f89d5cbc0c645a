"""asv: every algorithm's reference beside its kernels, on a size that a reference can do.

Both programs fit the same rows with the same parameters. What models are made of is fitted before,
with the package's own trees and stumps.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.frozen import FrozenEstimator

from .suite import N_FEATURES, task

ROWS, ROUNDS, N_COLUMNS, RATIO_RUNS = 300, 5, 6, 3


class Rows(NamedTuple):
    """A small set: X (n, d), labels 0 and 1, signs -1 and 1, bytes of X, prices (d,)."""

    X: np.ndarray
    y: np.ndarray
    signs: np.ndarray
    codes: np.ndarray
    costs: np.ndarray


Programs = tuple[Callable[[], object], Callable[[], object]]


def small() -> Rows:
    """Draw the rows, of which a third are positive."""
    X = task("dense", ROWS).X[:, :N_COLUMNS]
    score = X[:, 0] + X[:, 1] * X[:, 2]
    y = (score > np.quantile(score, 2 / 3)).astype(np.int64)
    codes = np.clip(128 + 50 * X, 0, 255).astype(np.uint8)
    costs = np.resize([1.0, 5.0, 20.0], N_FEATURES)[:N_COLUMNS]
    return Rows(X, y, 2 * y - 1, codes, costs)


# --- trees and forests --------------------------------------------------------------------------


def fit_reference(module: str, X, y, **options):
    """Fit boosted trees by the estimator's parameters, in versions before and after 2026-11-28."""
    reference = importlib.import_module(f"reference.{module}")
    try:
        from reference.beyond.by_name import fit
    except ImportError:  # a version whose references took these parameters themselves
        return reference.fit(X, y, **options)
    return fit(reference, X, y, **options)


def grown(module: str, name: str, rows: Rows, **options) -> Programs:
    """Boosted trees, both with the estimator's parameters."""
    model = getattr(importlib.import_module(f"algorithms.{module}"), name)
    options |= {"n_estimators": ROUNDS}
    return (
        lambda: fit_reference(module, rows.X, rows.y, loss="logistic", **options),
        lambda: model(n_threads=1, **options).fit(rows.X, rows.y),
    )


def gbrt(rows: Rows) -> Programs:
    """Boosted trees."""
    return grown("gbrt", "GBRTClassifier", rows)


def cegb(rows: Rows) -> Programs:
    """CEGB with a price per row and feature."""
    priced = {"tradeoff": 1e-3, "feature_costs": rows.costs, "init": "mean"}
    return grown("cegb", "CEGBClassifier", rows, **priced)


def greedy_miser(rows: Rows) -> Programs:
    """The Greedy Miser, which pays at the forest's first use."""
    priced = {"tradeoff": 4.0, "feature_costs": rows.costs, "init": "zero"}
    return grown("greedy_miser", "GreedyMiserClassifier", rows, **priced)


def budget_forest(rows: Rows) -> Programs:
    """BudgetRF."""
    from algorithms.budget_forest import BudgetForestClassifier
    from reference import budget_forest as reference

    X, y = rows.X[:100], rows.y[:100]
    options = {"n_estimators": 2, "feature_costs": rows.costs, "random_state": 0}
    return (
        lambda: reference.fit(X, y, **options),
        lambda: BudgetForestClassifier(n_threads=1, **options).fit(X, y),
    )


def budget_prune(rows: Rows) -> Programs:
    """All prunings of a forest."""
    from algorithms.budget_forest import BudgetForestClassifier
    from algorithms.budget_prune import BudgetPruneClassifier
    from reference import budget_forest as growing
    from reference import budget_prune as reference

    X, y = rows.X[:100], rows.y[:100]
    options = {"n_estimators": 2, "feature_costs": rows.costs, "random_state": 0}
    theirs = growing.fit(X, y, **options)
    forest = FrozenEstimator(BudgetForestClassifier(n_threads=1, **options).fit(X, y))
    return (
        lambda: reference.fit(theirs, X, feature_costs=rows.costs),
        lambda: BudgetPruneClassifier(forest, n_threads=1).fit(X, y),
    )


# --- stumps and what is made of them --------------------------------------------------------------


def adaboost_mh(rows: Rows) -> Programs:
    """Boosted stumps; all columns in each round."""
    from algorithms.adaboost_mh import AdaBoostMH
    from reference import adaboost_mh as reference
    from reference.feature_sampling import all_features

    def theirs():
        labels, rng = rows.signs[:, None], np.random.default_rng(0)
        reference.fit(rows.codes, labels, all_features(), n_estimators=ROUNDS, rng=rng)

    ours = AdaBoostMH(n_estimators=ROUNDS, n_threads=1)
    return theirs, lambda: ours.fit(rows.codes, rows.y)


def laminating(rows: Rows) -> Programs:
    """Boosted stumps; columns drawn, and examples of them."""
    from algorithms.adaboost_mh import AdaBoostMH
    from reference import adaboost_mh as reference
    from reference.adaptive_sampling import laminating as sampler

    def theirs():
        labels, rng = rows.signs[:, None], np.random.default_rng(0)
        reference.fit(rows.codes, labels, sampler(), n_estimators=ROUNDS, rng=rng)

    ours = AdaBoostMH(sampler="laminating", random_state=0, n_estimators=ROUNDS, n_threads=1)
    return theirs, lambda: ours.fit(rows.codes, rows.y)


def pool_of(rows: Rows, n_stumps: int):
    """Boosted stumps, and what each adds to a row's score (n, N)."""
    from algorithms.adaboost_mh import AdaBoostMH

    pool = AdaBoostMH(n_estimators=n_stumps, n_threads=1).fit(rows.codes, rows.y)
    stumps = pool.stumps_
    side = np.where(rows.codes[:, stumps.feature] > stumps.threshold, 1.0, -1.0)
    return pool, side * (stumps.alpha * stumps.votes[:, 0])


def bourdev_cascade(rows: Rows) -> Programs:
    """The soft cascade."""
    from algorithms.bourdev_cascade import BourdevCascadeClassifier
    from reference import bourdev_cascade as reference

    pool, outputs = pool_of(rows, 10)
    cascade = BourdevCascadeClassifier(FrozenEstimator(pool), n_threads=1)
    return lambda: reference.fit(outputs, rows.signs), lambda: cascade.fit(rows.codes, rows.y)


def viola_jones(rows: Rows) -> Programs:
    """A cascade of boosted stages, judged on the rows it learns from."""
    from algorithms.viola_jones import ViolaJonesClassifier
    from reference import viola_jones as reference

    options = {"max_stages": 2, "max_stumps": ROUNDS}
    ours = ViolaJonesClassifier(validation_share=0.0, n_threads=1, **options)
    codes, signs = rows.codes, rows.signs
    return (
        lambda: reference.fit(codes, signs, codes, signs, **options),
        lambda: ours.fit(codes, rows.y),
    )


def fcboost(rows: Rows) -> Programs:
    """A cascade that may grow at any stage."""
    from algorithms.fcboost import FCBoostClassifier
    from reference import fcboost as reference

    ours = FCBoostClassifier(n_estimators=ROUNDS, n_threads=1)
    return (
        lambda: reference.fit(rows.codes, rows.signs, n_estimators=ROUNDS),
        lambda: ours.fit(rows.codes, rows.y),
    )


def mddag(rows: Rows) -> Programs:
    """A decision DAG of stumps, by coordinate descent."""
    from algorithms.mddag import MDDAGClassifier
    from reference import mddag as reference

    part = rows._replace(codes=rows.codes[:60], y=rows.y[:60])
    pool, outputs = pool_of(part, 6)
    sizes = np.abs(outputs).max(axis=0)
    unit = sizes.sum() / 2.0**40
    values, sizes = (np.rint(each / unit).astype(np.int64) for each in (outputs, sizes))
    one = np.ones(len(part.y), dtype=np.int64)
    told = reference.Problem.__dataclass_fields__  # targets, too, in versions before 2026-11-28
    targets = {"targets": np.zeros(len(one))} if "targets" in told else {}
    problem = reference.Problem(
        outputs=values[:, :, None], sizes=sizes, normaliser=2**40, unit=unit,
        initial=np.zeros(1, dtype=np.int64), labels=part.y, copies=one, beta_step=0.01, **targets,
    )  # fmt: skip
    ours = MDDAGClassifier(FrozenEstimator(pool), solver="descent", n_threads=1)
    return (
        lambda: reference.descend(problem, reference.all_eval(problem)),
        lambda: ours.fit(part.codes, part.y),
    )


# --- weighed trees --------------------------------------------------------------------------------


def weighed(rows: Rows, n_trees: int = 10):
    """Fitted trees; outputs (n, T), uses (d, T) and prices of them, as references take them."""
    from algorithms.gbrt import GBRTRegressor

    trees = GBRTRegressor(n_estimators=n_trees, max_leaves=6, n_threads=1)
    trees.fit(rows.X, rows.signs.astype(float))
    scores = np.array([*trees.staged_predict(rows.X)])
    outputs = np.diff(scores, axis=0, prepend=np.full((1, len(rows.X)), trees.initial_scores_[0]))
    forest, uses = trees.trees_, np.zeros((N_COLUMNS, n_trees))
    for t in range(n_trees):
        feature = forest.feature[forest.tree[t] : forest.tree[t + 1]]
        uses[feature[feature >= 0], t] = 1
    prices = {"tree_costs": np.ones(n_trees), "feature_costs": rows.costs}
    return FrozenEstimator(trees), outputs[-n_trees:].T, uses, prices


def cronus(rows: Rows) -> Programs:
    """Cronus, two stages of trees that are there."""
    from algorithms.cronus import CronusClassifier
    from reference import cronus as reference

    trees, outputs, uses, prices = weighed(rows)
    options = {"n_stages": 2, "max_cycles": 2, "max_evaluations": 50}
    ours = CronusClassifier(trees, feature_costs=rows.costs, n_threads=1, **options)
    signs = rows.signs.astype(float)
    return (
        lambda: reference.fit(outputs, signs, uses, **prices, **options),
        lambda: ours.fit(rows.X, rows.y),
    )


def pooled(cascade, rows: Rows):
    """Fit a cascade of pools, and give its pools, and trees, as its reference takes them."""
    cascade.fit(rows.X, rows.y)
    responses = cascade._responses_
    seen = responses.meter._check_X(rows.X)
    forest = responses.forest
    outputs, uses = np.zeros((len(seen), forest.n_trees)), np.zeros((N_COLUMNS, forest.n_trees))
    for t in range(forest.n_trees):
        nodes = slice(forest.tree[t], forest.tree[t + 1])
        feature = forest.feature[nodes]
        uses[feature[feature >= 0], t] = 1
        at = np.full(len(seen), nodes.start)
        while (inner := forest.left[at] >= 0).any():
            right = seen[np.arange(len(seen)), forest.feature[at]] > forest.threshold[at]
            at = np.where(inner, forest.left[at] + right, at)
        outputs[:, t] = forest.value[at]
    return cascade.pools_, outputs, uses, np.ones(forest.n_trees)


def raykar_cascade(rows: Rows) -> Programs:
    """Soft stages, of pools by price. Ours fits its trees, too."""
    from algorithms.gbrt import GBRTRegressor
    from algorithms.raykar_cascade import RaykarCascadeClassifier
    from reference import raykar_cascade as reference

    inner = GBRTRegressor(n_estimators=4, max_leaves=6, n_threads=1)
    limits, evaluations = (1, 20), {"max_evaluations": 30}
    ours = RaykarCascadeClassifier(
        inner, price_limits=limits, feature_costs=rows.costs, n_threads=1, **evaluations
    )
    pools, outputs, uses, prices = pooled(ours, rows)
    signs = rows.signs.astype(float)
    given = {"n_stages": 2, "tree_costs": prices, "feature_costs": rows.costs} | evaluations
    return (
        lambda: reference.fit(outputs, signs, uses, pools, **given),
        lambda: ours.fit(rows.X, rows.y),
    )


def and_or_cascade(rows: Rows) -> Programs:
    """Stages by conjunction and disjunction, of pools by price. Ours fits its trees, too."""
    from algorithms.and_or_cascade import AndOrCascadeClassifier
    from algorithms.gbrt import GBRTRegressor
    from reference import and_or_cascade as reference

    inner = GBRTRegressor(n_estimators=3, max_leaves=6, n_threads=1)
    options = {"ridge": 0.3, "max_cycles": 1}
    ours = AndOrCascadeClassifier(
        inner, price_limits=(1, 20), feature_costs=rows.costs, n_threads=1, **options
    )
    pools, outputs, *_ = pooled(ours, rows)
    signs = rows.signs.astype(float)
    return (
        lambda: reference.fit(outputs, signs, pools, n_stages=2, **options),
        lambda: ours.fit(rows.X, rows.y),
    )


# --- leaving early --------------------------------------------------------------------------------


def early_exit(rows: Rows) -> Programs:
    """Rows that leave a fitted model; nothing is fitted."""
    from algorithms.early_exit import EarlyExit
    from algorithms.gbrt import GBRTClassifier
    from reference import early_exit as reference

    options = {"n_estimators": 20, "max_leaves": 6}
    model = fit_reference("gbrt", rows.X, rows.y, loss="logistic", **options)
    given = {"rule": "likelihood", "every": 5}
    full = GBRTClassifier(n_threads=1, **options).fit(rows.X, rows.y)
    ours = EarlyExit(full, threshold=0.8, **given)

    def theirs():
        scores = reference.stages_of(model, rows.X).scores
        reference.leave(scores, None, s=0.8, loss="logistic", **given)

    return theirs, lambda: ours.exits(rows.X)


TWINS: dict[str, Callable[[Rows], Programs]] = {
    made.__name__: made
    for made in (
        gbrt,
        cegb,
        greedy_miser,
        adaboost_mh,
        laminating,
        budget_forest,
        budget_prune,
        cronus,
        raykar_cascade,
        and_or_cascade,
        early_exit,
        mddag,
        viola_jones,
        fcboost,
        bourdev_cascade,
    )
}
"""By the file of the reference; append a new one."""


class Reference:
    """The reference's time, and how many times ours goes into it."""

    params = (list(TWINS),)
    param_names = ("algorithm",)
    timeout = 600  # the first of a commit compiles
    version = "1"
    rounds = 1
    _ready = ""

    def setup(self, algorithm):
        if self._ready == algorithm:  # asv asks again before each sample
            return
        try:
            self.theirs, self.ours = TWINS[algorithm](small())
            self.ours()  # compiles; a version without the algorithm or a parameter says so
        except (ImportError, AttributeError, TypeError) as error:
            raise NotImplementedError(f"{algorithm}: {error}") from error
        self._ready = algorithm

    def time_reference_fit(self, algorithm):
        self.theirs()

    time_reference_fit.repeat = (2, 5, 1.0)
    time_reference_fit.warmup_time = 0

    def track_factor(self, algorithm):
        """Least time of the reference, over ours."""
        return least(self.theirs) / least(self.ours)

    track_factor.unit = "times"


def least(program: Callable[[], object], runs: int = RATIO_RUNS) -> float:
    """Least seconds of some runs."""
    seconds = []
    for _ in range(runs):
        begin = time.perf_counter()
        program()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)
