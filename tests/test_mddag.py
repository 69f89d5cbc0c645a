"""MDDAG: kernels against the reference, bit for bit, and what a decision DAG promises."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numba
import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.frozen import FrozenEstimator

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.bourdev_cascade import BourdevCascadeClassifier
from algorithms.decision_dag import descent, episodes, one_score, rewards
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.interop import MeteredForest
from algorithms.mddag import MDDAGClassifier
from algorithms.on_demand import OnDemandPredictor
from reference import mddag
from tests.decision_problems import both


@numba.njit
def hinge(scores, label):
    """A loss of a user's own."""
    margin = scores[0] if label == 1 else -scores[0]
    return max(0.0, 1.0 - margin)


def learned_twice(case, settings, function=None, seed=5):
    """SARSA by the reference and by the kernels."""
    expected = mddag.learn(case.problem, settings, np.random.default_rng(seed))
    learning = episodes.Learning(
        settings.n_episodes, settings.score_every, settings.exploration, settings.rate,
        settings.decay, settings.decreasing, settings.update == "q", settings.select == "accuracy",
        case.problem.kind == "gaussians",
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    return expected, episodes.learn(case.environment, function, case.objective, learning, rng, 1)


def assert_same(expected, got):
    np.testing.assert_array_equal(got.history, expected.history)
    np.testing.assert_array_equal(got.policy, expected.policy)
    assert got.objective == expected.objective


CASES = {
    "plain": {},
    "tiny": {"n": 1, "n_base": 1},
    "one bin": {"n_bins": 1},
    "exponential": {"loss": "exponential", "size": 1},
    "two leaves": {"n_codes": 2, "n_base": 19},
    "sixteen leaves": {"n_codes": 16, "n_base": 7},
    "seventeen leaves": {"n_codes": 17},
    "more than 256 leaves": {"n_codes": 300, "n": 40},
    "priced": {"priced": True, "beta": 0.01},
    "running": {"running": True},
    "multi-class": {"n_columns": 3},
    "multi-class, exponential, priced": {
        "n_columns": 4, "loss": "exponential", "priced": True, "size": 1, "beta": 0.01,
    },
    "multi-class, running": {"n_columns": 3, "running": True},
    "a function": {"function": hinge},
    "negatives weigh 5": {"negative_weight": 5.0},
    "negatives weigh 2.3": {"negative_weight": 2.3, "priced": True, "beta": 0.01},
    "negatives weigh 5, exponential": {"negative_weight": 5.0, "loss": "exponential", "size": 1},
    "negatives weigh 0.5, a function": {"negative_weight": 0.5, "function": hinge},
    "Gaussians": {"gaussians": True, "n_bins": 1001, "n_base": 4, "n": 12},
}  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("case", list(CASES))
def test_twins(case, seed):
    case = both(seed, **CASES[case])
    function = hinge if case.environment.losses.kind == rewards.CUSTOM else None
    settings = mddag.Settings(
        n_episodes=75, score_every=30, decreasing=seed == 1, update="q" if seed == 2 else "sarsa",
        select="accuracy" if seed == 1 else "objective",
    )  # fmt: skip
    expected, got = learned_twice(case, settings, function)
    assert_same(expected, got)
    for start in (mddag.all_eval(case.problem), expected.policy):
        descended = mddag.descend(case.problem, start)
        after = descent.descend(case.environment, function, case.objective, start, 1)
        assert_same(descended, after)
        assert np.all(np.diff(after.history) < 0)


@pytest.mark.parametrize(
    ("n_codes", "bits"),
    [(1, 1), (2, 1), (3, 2), (4, 2), (5, 4), (16, 4), (17, 8), (256, 8), (257, 16), (65536, 16)],
)
def test_leaves_are_packed_into_as_few_bits_as_they_need(n_codes, bits):
    rng = np.random.default_rng(0)
    kind = np.uint8 if n_codes <= 256 else np.uint16
    codes = rng.integers(0, n_codes, size=(3, 21)).astype(kind)
    codes[1] = n_codes - 1
    leaves = one_score.packed(codes, n_codes)
    assert (leaves.bits, leaves.words.dtype) == (bits, kind)
    for i, j in np.ndindex(codes.shape):
        assert one_score._leaf(leaves, i, j) == codes[i, j]


def test_twins_on_many_episodes():
    case = both(4, n=40, n_base=10, n_bins=25)
    assert_same(*learned_twice(case, mddag.Settings(n_episodes=6000, score_every=1000)))


# --- estimators --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    score = X[:, 0] + np.abs(X[:, 1]) - 0.5 * X[:, 2] ** 2 + 0.2 * rng.normal(size=400)
    return X, score


def stumps(X, y, n_estimators=30, **parameters):
    return AdaBoostMH(n_estimators=n_estimators, **parameters).fit(X, y)


SHORT = {"n_episodes": 20_000, "random_state": 0}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", [AdaBoostMH, GBRTClassifier])
def test_eval_only_is_the_model(data, model, n_classes):
    X, y = data[0], np.digitize(data[1], [0.0, 1.0][: n_classes - 1])
    base = model(n_estimators=20).fit(X, y)
    dag = MDDAGClassifier(FrozenEstimator(base), solver="descent").fit(X, y)
    dag._set_up(dag._responses_, dag._dag_.base, np.zeros_like(dag.policy_))
    np.testing.assert_array_equal(dag.evaluations(X), dag._dag_.base.evaluates.sum())
    np.testing.assert_array_equal(dag.predict(X), base.predict(X))
    np.testing.assert_allclose(
        dag.decision_function(X), base.decision_function(X), rtol=0, atol=1e-10
    )
    costs = np.arange(5.0)
    np.testing.assert_array_equal(
        dag.prediction_cost(X, feature_costs=costs, split_cost=0.5, tree_cost=0.0),
        base.prediction_cost(X, feature_costs=costs, split_cost=0.5),
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("solver", ["sarsa", "descent"])
def test_the_objective_is_that_of_the_training_rows(data, solver, n_classes):
    X, y = data[0], np.digitize(data[1], [0.0, 1.0][: n_classes - 1])
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    dag = MDDAGClassifier(AdaBoostMH(n_estimators=30), solver=solver, beta=0.02, **SHORT)
    dag.fit(X, y, sample_weight=weights)
    scores = dag.decision_function(X)
    if n_classes == 2:
        wrong = np.where(y == 1, scores, -scores) <= 0
    else:
        others = np.where(np.arange(n_classes) == y[:, None], -np.inf, scores).max(axis=1)
        wrong = scores[np.arange(len(y)), y] <= others
    value = np.average(wrong + 0.02 * dag.evaluations(X), weights=weights)
    np.testing.assert_allclose(dag.objective_, value, rtol=1e-12)
    assert dag.objective_ == dag.history_.min()
    assert 0 < dag.evaluations(X).mean() < 30


@pytest.mark.parametrize("weight", [3, 5_000_000, 2**30])
def test_a_common_weight_changes_nothing(data, weight):
    """Not even the exponential loss, whose grid is coarser the more copies there are."""
    X, y = data[0], data[1] > 0
    base = FrozenEstimator(stumps(X, y))
    dag = MDDAGClassifier(base, solver="descent", reward="exponential", beta=0.003).fit(X, y)
    before = dag.objective_, dag.policy_
    dag.fit(X, y, sample_weight=np.full(len(y), weight))
    assert dag.objective_ == before[0]
    np.testing.assert_array_equal(dag.policy_, before[1])


def test_bins_follow_the_number_of_base_classifiers(data):
    X, y = data[0], data[1] > 0
    expected = {1: 101, 100: 101, 101: 101, 102: 103, 200: 201, 999: 999, 1000: 1001, 5000: 1001}
    for n_base, n_bins in expected.items():
        assert rewards.bins_for(n_base) == mddag.bins_for(n_base) == n_bins
    for n_estimators in (30, 120):
        base = FrozenEstimator(stumps(X, y, n_estimators))
        dag = MDDAGClassifier(base, solver="descent").fit(X, y)
        assert dag.policy_.shape == (n_estimators, mddag.bins_for(n_estimators))
        same = MDDAGClassifier(base, solver="descent", n_bins=dag.policy_.shape[1]).fit(X, y)
        np.testing.assert_array_equal(same.policy_, dag.policy_)


@pytest.mark.parametrize("reward", ["zero_one", "exponential"])
@pytest.mark.parametrize("solver", ["sarsa", "descent"])
def test_negative_weight_is_of_losses_alone(data, solver, reward, tmp_path):
    X, y = data[0], data[1] > 0
    base = FrozenEstimator(stumps(X, y))
    given = {"solver": solver, "reward": reward, "beta": 0.01, **SHORT}
    plain = MDDAGClassifier(base, **given).fit(X, y)
    one = MDDAGClassifier(base, negative_weight=1.0, **given).fit(X, y)
    np.testing.assert_array_equal(one.history_, plain.history_)
    np.testing.assert_array_equal(one.policy_, plain.policy_)
    dag = MDDAGClassifier(base, negative_weight=5, **given).fit(X, y)
    margin = np.where(y, 1, -1) * dag.decision_function(X)
    lost = (margin <= 0) if reward == "zero_one" else np.exp(-margin)
    value = np.mean(np.where(y, 1, 5) * lost + 0.01 * dag.evaluations(X))
    np.testing.assert_allclose(dag.objective_, value, rtol=1e-3 if lost.dtype == float else 1e-12)
    dag.save(tmp_path / "dag")
    loaded = MDDAGClassifier.load(tmp_path / "dag")
    assert loaded.negative_weight == 5
    np.testing.assert_array_equal(loaded.fit(X, y).policy_, dag.policy_)


def test_heavy_negatives_are_seldom_mistaken(data):
    X, y = data[0], data[1] > 0
    base = FrozenEstimator(stumps(X, y))
    rates = [
        MDDAGClassifier(base, beta=0.01, negative_weight=weight, **SHORT)
        .fit(X, y)
        .predict(X[~y])
        .mean()
        for weight in (0.2, 1.0, 5.0)
    ]
    assert rates[0] > rates[1] > rates[2]


def test_threads_change_nothing(data):
    """Of more rows than one thread takes at a time."""
    X, y = np.tile(data[0], (30, 1)), np.tile(data[1] > 0, 30)
    one, two = (
        MDDAGClassifier(AdaBoostMH(n_estimators=20), n_threads=n, **SHORT).fit(X, y) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.history_, two.history_)
    np.testing.assert_array_equal(one.policy_, two.policy_)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    np.testing.assert_array_equal(one.prediction_cost(X), two.prediction_cost(X))


def test_beta_above_one_evaluates_nothing(data):
    X, y = data[0], data[1] > 0
    for solver in ("sarsa", "descent"):
        dag = MDDAGClassifier(AdaBoostMH(n_estimators=10), solver=solver, beta=1.5, **SHORT)
        dag.fit(X, y)
        np.testing.assert_array_equal(dag.evaluations(X), 0)
        np.testing.assert_array_equal(dag.prediction_cost(X), 0)
        assert not np.any(dag.acquired_features(X))


def test_descent_does_not_worsen_sarsa(data):
    X, y = data[0], data[1] > 0
    base = FrozenEstimator(stumps(X, y))
    learned = MDDAGClassifier(base, **SHORT).fit(X, y)
    after = MDDAGClassifier(base, solver="descent", start="sarsa", **SHORT).fit(X, y)
    assert after.history_[0] == learned.objective_
    assert after.objective_ <= learned.objective_
    assert np.all(np.diff(after.history_) < 0)


def test_multiplicities_are_those_of_the_paths(data):
    X, y = data[0], data[1] > 0
    dag = MDDAGClassifier(AdaBoostMH(n_estimators=40), beta=0.002, **SHORT).fit(X, y)
    groups = np.where(X[:, 3] > 0, "right", "left")
    graph, paths = dag.to_graph(X, groups), dag.classification_path(X).toarray()
    np.testing.assert_array_equal(paths.sum(axis=1), dag.evaluations(X))
    nodes, edges, of_right = Counter(), Counter(), Counter()
    for path, group in zip(paths, groups, strict=True):
        nodes.update(np.flatnonzero(path).tolist())
        edges.update(mddag.edges(path))
        of_right.update(mddag.edges(path) if group == "right" else [])
    assert dict(zip(graph.nodes.tolist(), graph.node_counts.tolist(), strict=True)) == nodes
    pairs = [tuple(edge) for edge in graph.edges.tolist()]
    assert dict(zip(pairs, graph.edge_counts.tolist(), strict=True)) == edges
    assert len(edges) > 2
    assert graph.groups.tolist() == ["left", "right"]
    shares = [of_right[edge] / edges[edge] for edge in pairs]
    np.testing.assert_allclose(graph.edge_shares[:, 1], shares, rtol=1e-15)
    np.testing.assert_allclose(graph.node_shares.sum(axis=1), 1, rtol=1e-15)
    with pytest.raises(ValueError, match="groups must have one label"):
        dag.to_graph(X, groups[1:])


def test_the_bill_is_that_of_the_paths(data):
    X, y = data[0], data[1] > 0
    costs = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    base = stumps(X, y)
    dag = MDDAGClassifier(FrozenEstimator(base), feature_costs=costs, tree_cost=0.25, beta=0.002)
    dag.set_params(**SHORT).fit(X, y)
    tested = [
        np.flatnonzero(np.arange(5) == feature) for feature in base.stumps_.feature
    ]  # of each stump
    for row, path in enumerate(dag.classification_path(X).toarray()):
        bought = {int(m) for j in np.flatnonzero(path) for m in tested[j]}
        assert dag.prediction_cost(X[[row]])[0] == costs[list(bought)].sum() + 0.25 * path.sum()
        assert set(np.flatnonzero(dag.acquired_features(X[[row]])[0])) == bought
    stages = list(dag.staged_cost(X))
    assert len(stages) == dag.n_base_
    np.testing.assert_array_equal(stages[-1], dag.prediction_cost(X))
    first = dag.classification_path(X)[:, 0].toarray()[:, 0]
    np.testing.assert_array_equal(stages[0], first * (costs[base.stumps_.feature[0]] + 0.25))
    free = np.where(np.arange(5) == 0, 0.0, costs)
    assert np.all(dag.prediction_cost(X, feature_costs=free) <= dag.prediction_cost(X))
    cost = dag.prediction_cost(X).mean()
    wrong = (np.where(y, 1, -1) * dag.decision_function(X) <= 0).mean()
    np.testing.assert_allclose(dag.objective_, wrong + 0.002 * cost, rtol=1e-7)


def test_what_is_skipped_is_not_computed(data):
    """A row whose skipped features are anything at all gets the same score."""
    X, y = data[0], data[1] > 0
    dag = MDDAGClassifier(AdaBoostMH(n_estimators=20), beta=0.01, **SHORT).fit(X, y)
    unused = ~dag.acquired_features(X)
    assert np.any(unused)
    np.testing.assert_array_equal(
        dag.decision_function(np.where(unused, 1e300, X)), dag.decision_function(X)
    )


def test_other_libraries_and_loaded_models(data, tmp_path):
    X, y = data[0], np.digitize(data[1], [0.0, 1.0])
    model = GradientBoostingClassifier(n_estimators=5, init="zero").fit(X, y)
    dag = MDDAGClassifier(model, solver="descent", beta=1e-3).fit(X, y)
    assert dag.n_base_ == 5
    dag.save(tmp_path / "dag")
    loaded = MDDAGClassifier.load(tmp_path / "dag")
    assert isinstance(loaded.estimator_, MeteredForest)
    np.testing.assert_array_equal(loaded.decision_function(X), dag.decision_function(X))
    np.testing.assert_array_equal(loaded.fit(X, y).policy_, dag.policy_)


def test_a_function_as_reward(data):
    X, y = data[0], data[1] > 0
    dag = MDDAGClassifier(AdaBoostMH(n_estimators=20), reward=hinge, beta=0.002, **SHORT)
    margins = np.where(y, 1, -1) * dag.fit(X, y).decision_function(X)
    value = np.maximum(0, 1 - margins).mean() + 0.002 * dag.evaluations(X).mean()
    np.testing.assert_allclose(dag.objective_, value, rtol=1e-6)


# --- bad input ---------------------------------------------------------------------------------


@numba.njit
def no_number(scores, label):
    """A broken loss."""
    return np.nan


def test_bad_input(data):
    X, y = data[0], data[1] > 0
    base = FrozenEstimator(stumps(X, y, 5))

    def refused(words, X=X, y=y, estimator=base, **parameters):
        with pytest.raises(ValueError, match=words):
            MDDAGClassifier(estimator, **{**SHORT, **parameters}).fit(X, y)

    refused("beta must be a finite number >= 0", beta=-1.0)
    refused("beta must be a finite number >= 0", beta=np.nan)
    refused("n_episodes must be a whole number >= 1", n_episodes=0)
    refused("reward must be 'zero_one' or 'exponential', or a function compiled", reward="hinge")
    refused("reward must be .* compiled with numba", reward=hinge.py_func)
    refused("reward must give numbers", reward=no_number)
    refused("reward must give numbers", reward=no_number, solver="descent")
    refused("value_function='margin' needs three classes", value_function="margin")
    refused(r"y has labels that .* does not know: \[7\]", y=np.where(y, 7, 0))
    refused("trace_decay must be from 0 to 1", trace_decay=1.5)
    for weight in (0, -1.0, np.nan, np.inf):
        refused("negative_weight must be a finite number > 0", negative_weight=weight)
    for weight in (1e-300, 0.009, 101.0, 1e300):
        refused("negative_weight must be from 0.01 to 100", negative_weight=weight)
    refused('n_bins must be "auto" or a whole number', n_bins="many")
    refused("n_bins must be a whole number from 1 to 65536", n_bins=0)
    three = np.digitize(data[1], [0.0, 1.0])
    refused("value_function='bins' is for one score", y=three, value_function="bins",
            estimator=AdaBoostMH(n_estimators=3))  # fmt: skip
    refused("negative_weight is for two classes, and there are 3", y=three, negative_weight=5,
            estimator=AdaBoostMH(n_estimators=3))  # fmt: skip
    refused("can tell two classes, and y has 3", y=three, estimator=GBRTRegressor(n_estimators=2))
    refused("has no base classifiers", estimator=AdaBoostMH(n_estimators=0))
    refused("features", X=X[:, :3])


def test_all_alpha_zero(data):
    X, y = data[0], data[1] > 0
    base = stumps(X, y, 5)
    base.stumps_ = base.stumps_._replace(alpha=np.zeros(5))
    with pytest.raises(ValueError, match="answer 0"):
        MDDAGClassifier(FrozenEstimator(base), **SHORT).fit(X, y)


def test_another_models_policy(data, tmp_path):
    """Trees of one model and the policy of another are refused by their fingerprint."""
    X, y = data[0], data[1] > 0
    dags = [
        MDDAGClassifier(AdaBoostMH(n_estimators=5), solver="descent").fit(X[rows], y[rows])
        for rows in (slice(None, 300), slice(100, None))
    ]
    (header, arrays), (other, _) = (dag._contents() for dag in dags)
    assert header["fingerprint"] != other["fingerprint"]
    MDDAGClassifier._from_file(header, arrays)
    with pytest.raises(ValueError, match="its policy is that of other base classifiers"):
        MDDAGClassifier._from_file(header | {"fingerprint": other["fingerprint"]}, arrays)
    for n_bins in (None, [101], {"a": 1}):
        with pytest.raises(ValueError, match="n_bins must be a whole number from 1 to 65536"):
            MDDAGClassifier._from_file(
                header | {"params": header["params"] | {"n_bins": n_bins}}, arrays
            )
    values = np.where(arrays["values"] == 0, 0.0, 1.7e308)
    with pytest.raises(ValueError, match="are too small or too large: inf in all"):
        MDDAGClassifier._from_file(header, arrays | {"values": values})


# --- constant votes ------------------------------------------------------------------------------

CONSTANT = np.array([[0.0], [0], [0], [1]] * 20), np.array([1, 1, 0, 1] * 20)


def with_constant_votes(n_estimators=4):
    """Stumps of which the first and third have no split: no threshold is better than a constant."""
    X, y = CONSTANT
    model = AdaBoostMH(n_estimators=n_estimators).fit(X, y)
    np.testing.assert_array_equal(model.stumps_.feature[:4], [-1, 0, -1, 0])
    return model


def test_constant_votes_are_free_in_every_meter():
    """Of a boosted model, a DAG that evaluates all of it, and a cascade."""
    X, y = CONSTANT
    base = with_constant_votes()
    prices = {"feature_costs": [4.0], "split_cost": 0.0}
    dag = MDDAGClassifier(FrozenEstimator(base), solver="descent").fit(X, y)
    dag._set_up(dag._responses_, dag._dag_.base, np.zeros_like(dag.policy_))
    soft = BourdevCascadeClassifier(FrozenEstimator(base), detection_rate=1.0).fit(X, y)
    for model in (base, dag, soft):
        np.testing.assert_array_equal(model.evaluations(X), 2, type(model).__name__)
    np.testing.assert_array_equal(base.prediction_cost(X, **prices | {"split_cost": 1.0}), 6)
    np.testing.assert_array_equal(dag.prediction_cost(X, **prices, tree_cost=1.0), 6)
    assert [cost[0] for cost in dag.staged_cost(X, **prices, tree_cost=1.0)] == [0, 5, 5, 6]
    on_demand = OnDemandPredictor(dag, {0: lambda rows: X[rows, 0]}).predict(np.arange(len(X)))
    np.testing.assert_array_equal(on_demand.evaluations, 2)
    np.testing.assert_array_equal(dag.classification_path(X).sum(axis=1), 4)


@pytest.mark.parametrize("priced", [False, True])
def test_a_policy_is_trained_with_free_constant_votes(priced):
    X, y = CONSTANT
    prices = {"feature_costs": [0.5]} if priced else {}
    for beta in (0.01, 0.2):
        dag = MDDAGClassifier(
            FrozenEstimator(with_constant_votes()), solver="descent", beta=beta, **prices
        ).fit(X, y)
        lost = dag.predict(X) != y
        paid = dag.prediction_cost(X) if priced else dag.evaluations(X)
        assert dag.objective_ == pytest.approx(np.mean(lost + beta * paid), rel=1e-9)


def test_the_references_constant_votes_are_free():
    case = both(3)
    free = np.arange(case.problem.n_base) == 2
    each = case.environment.prices.each.copy()
    each[2] = 0
    prices = case.environment.prices._replace(each=each)
    problem = dataclasses.replace(case.problem, constant=free)
    case = case._replace(problem=problem, environment=case.environment._replace(prices=prices))
    got = descent.descend(
        case.environment, None, case.objective, mddag.all_eval(case.problem).copy(), 1
    )
    assert_same(mddag.fit(case.problem, "descent", None, None), got)
    assert_same(*learned_twice(case, mddag.Settings(n_episodes=300, score_every=100)))
