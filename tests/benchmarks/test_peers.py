"""Side by side with other programs: what is said of made-up seconds, and small runs."""

from __future__ import annotations

from dataclasses import replace

import click
import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.frozen import FrozenEstimator

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.cronus import CronusClassifier
from algorithms.gbrt import GBRTRegressor
from algorithms.mddag import MDDAGClassifier
from algorithms.on_demand import OnDemandPredictor
from benchmarks import paper_sizes, peers, prediction, timing, training
from benchmarks.timing import Row

SECONDS = {
    **{"ours": 3.0, "ours, bins": 1.0, "ours, prices": 3.2},
    **{"LightGBM": 6.0, "LightGBM, bins": 2.0, "LightGBM, prices": 42.0, "XGBoost": 12.0},
    **{"scikit-learn": 9.0, "scikit-learn, bins": 1.0},
}


@pytest.fixture
def made_up(monkeypatch):
    """No program runs; each takes the seconds above."""

    def alternate(programs, runs):
        return {name: SECONDS[name] for name in programs}

    monkeypatch.setattr(training, "alternate", alternate)


def said(rows):
    return [(row.what.split(",")[0], row.peer, row.ours, row.theirs) for row in rows]


def test_a_tree_is_a_fit_less_its_bins(made_up):
    rows = training.normal_data(1000, trees=20)
    assert said(rows) == [
        ("whole fit", "LightGBM", 3.0, 6.0),
        ("a tree", "LightGBM", 100.0, 200.0),
        ("a tree", "scikit-learn", 100.0, 400.0),
        ("a tree with prices", "our own", pytest.approx(110.0), 100.0),
        ("a tree with prices", "LightGBM, prices", pytest.approx(110.0), 2000.0),
    ]
    assert [row.drawn for row in rows] == [0, 1000, 0, 1000, 0]


def test_real_data_beside_two_peers(made_up):
    rows = training.real_data(lambda: ("a set", None, None), 0.7)
    assert said(rows) == [
        ("whole fit", "LightGBM", 3.0, 6.0),
        ("whole fit", "XGBoost", 3.0, 12.0),
        ("with prices", "LightGBM", 3.0, 6.0),
    ]
    assert [row.most for row in rows] == [0.7, None, 0.15]


def test_programs_take_turns_and_the_first_turn_does_not_count():
    now, calls = [0.0], []

    def program(name, *takes):
        took = iter(takes)

        def run():
            calls.append(name)
            now[0] += next(took)

        return run

    programs = {"a": program("a", 90.0, 1.0, 5.0, 2.0), "b": program("b", 90.0, 4.0, 4.0, 3.0)}
    assert timing.alternate(programs, 3, lambda: now[0]) == {"a": 2.0, "b": 4.0}
    assert "".join(calls) == "abababab"


def test_the_command_measures_what_the_words_name(monkeypatch):
    cases = {
        "trees": {
            name: lambda name=name: [Row("trees", name, "s", 1.0)] for name in ("many", "few")
        },
        "rows": {"one": lambda: [Row("rows", "one", "s", 1.0)]},
    }
    monkeypatch.setattr(peers, "CASES", cases)

    def lines(*words):
        result = CliRunner().invoke(peers.main, words)
        return result.exit_code, [line.split(" | ")[0] for line in result.output.splitlines()]

    table = ["| ", "|---|--:|--:|--:|--:|--:|"]
    assert lines("Few", "rows") == (0, [*table, "| trees: few", "| rows: one"])
    assert lines()[1][2:] == ["| trees: many", "| trees: few", "| rows: one"]
    code, words = lines("leaves")
    assert code == 2
    assert "trees: many, few; rows: one" in words[-1]


def test_a_peer_that_is_missing_is_named():
    with pytest.raises(click.ClickException, match="no_such_peer is missing: run `make setup"):
        training.imported("no_such_peer")


def drawn():
    X = np.random.default_rng(0).normal(size=(2_000, 4))
    return X, (X[:, 0] * X[:, 1] > 0).astype(np.int64)


def test_xgboost_grows_trees_of_the_same_size():
    pytest.importorskip("xgboost", reason="the peers are not installed")
    booster = training.xgboost(*drawn(), 5)
    leaves = [tree.count("leaf=") for tree in booster.get_dump()]
    assert max(leaves) == training.LEAVES
    assert min(leaves) > training.LEAVES / 2


def test_features_that_take_time_are_asked_for_when_needed(monkeypatch):
    monkeypatch.setattr(prediction, "UNIT", 1e-6)
    rows = prediction.on_demand("digits", n_rows=20, trees=2)
    assert [(row.what.split(",")[1], row.peer) for row in rows] == [
        (f" {model}Classifier", peer)
        for model in ("GBRT", "CEGB")
        for peer in ("all features first", "counted cost")
    ]
    whole, counted = rows[0], rows[1]
    assert whole.theirs >= 1e3 * 1e-6 * np.resize([1.0, 5.0, 20.0], 64).sum()
    assert whole.ours == counted.ours >= counted.theirs > 0


def test_other_predictions_are_refused(monkeypatch):
    predict = OnDemandPredictor.predict

    def wrong(self, rows):
        result = predict(self, rows)
        return replace(result, predictions=result.predictions + 1)

    monkeypatch.setattr(prediction, "UNIT", 1e-8)
    monkeypatch.setattr(OnDemandPredictor, "predict", wrong)
    with pytest.raises(AssertionError, match="not equal"):
        prediction.on_demand("digits", n_rows=3, trees=2)


@pytest.mark.slow
def test_small_runs_of_other_cases(monkeypatch):
    for name in ("lightgbm", "xgboost"):
        pytest.importorskip(name, reason="the peers are not installed")
    set_ = "a set", *drawn()
    monkeypatch.setattr(prediction, "miniboone", lambda: set_)
    for module in (training, prediction):
        once = lambda programs, runs, *how: timing.alternate(programs, 1, *how)  # noqa: E731
        monkeypatch.setattr(module, "alternate", once)
    rows = [
        *training.normal_data(2_000, trees=2),
        *training.real_data(lambda: set_, 0.7, trees=2),
        *prediction.many_rows(trees=2),
        *prediction.one_row(trees=5, n_rows=20),
    ]
    assert {row.peer for row in rows} >= {"scikit-learn", "XGBoost", prediction.C_FUNCTION}
    # A tree is the difference of two fits, which one run may turn round.
    assert all(row.ours > 0 for row in rows if not row.what.startswith("a tree"))
    assert np.isfinite([row.ours for row in rows]).all()


def test_a_row_of_a_cascade_stands_beside_fewer_trees():
    X, y = drawn()
    trees = GBRTRegressor(n_estimators=20, max_leaves=4).fit(X, 2.0 * y - 1)
    options = {"feature_costs": np.ones(4), "max_cycles": 0, "n_stages": 2}
    model = CronusClassifier(FrozenEstimator(trees), **options).fit(X, y)
    row = paper_sizes.a_row("name", model, trees, X)
    evaluated = model.prediction_cost(X, feature_costs=np.zeros(4), split_cost=0.0).mean()
    assert 0 < evaluated <= 20
    assert row.ratio == row.ours / row.theirs > 0
    assert (model.n_threads, trees.n_threads) == (1, None)


def test_a_step_of_sarsa_is_timed():
    X, y = drawn()
    base = FrozenEstimator(AdaBoostMH(n_estimators=5).fit(X, y))
    dag = MDDAGClassifier(base, n_episodes=2_000, score_every=500, random_state=0, n_threads=1)
    assert 0 < paper_sizes.seconds_a_step(dag, X, y) < 1e-3
