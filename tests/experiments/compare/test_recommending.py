"""What ``compare`` recommends and says of it: prices in groups, constants, gaps, failures."""

import dataclasses
import json
import types

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.utils import get_tags

from algorithms.registry import load_model
from experiments.compare import answering, choosing, limited, picture, show
from experiments.compare.comparison import Search, compare
from experiments.compare.constant import always_alike
from experiments.compare.metrics import Units, units
from experiments.compare.preparing import Asked
from experiments.compare.problem import load
from experiments.compare.tables import Refused
from experiments.methods import boosted
from experiments.methods.problem import Part, Problem
from experiments.methods.table import METHODS
from experiments.running.run import CellsFailed
from tests.experiments.compare import grouped_table
from tests.experiments.compare.test_comparison import InThisProcess, saved_model


def written(folder, table, prices=None):
    table.to_csv(folder / "t.csv", index=False)
    if prices is None:
        return Asked(folder / "t.csv", "y")
    (folder / "costs.csv").write_text(prices)
    return Asked(folder / "t.csv", "y", folder / "costs.csv")


@pytest.fixture(scope="module")
def grouped(tmp_path_factory):
    """A comparison on groups of features, of which two are within a budget of 5."""
    folder = tmp_path_factory.mktemp("grouped")
    question = written(folder, grouped_table.drawn(), grouped_table.price_list())
    grouped_table.drawn(3000, seed=1).to_csv(folder / "test.csv", index=False)
    question = dataclasses.replace(question, test=folder / "test.csv")
    only = ["cegb", "greedy_miser", "gbrt", "early_exit", "hist_gradient_boosting"]
    search = Search((0.2, 5.0, 15.0), trials=2, rounds=12, only=only)
    return compare(question, search, folder / "out", InThisProcess()), folder / "out"


# --- what is affordable -----------------------------------------------------------------------


@pytest.mark.slow
def test_as_good_as_scikit_learn_on_the_affordable_features(grouped):
    outcome, _ = grouped
    parts = load(str(outcome.prepared.path)).parts
    cheaper = [n for n in parts["test"].X if n.startswith(grouped_table.CHEAPER)]
    both = pd.concat([parts[part].X for part in ("train", "valid")])[cheaper]
    y = np.concatenate([parts[part].y for part in ("train", "valid")])
    by_hand = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(both, y)
    score = by_hand.score(parts["test"].X[cheaper], parts["test"].y)
    table = outcome.table[outcome.table["budget"] == 5.0]
    line = table[table["recommended"]].iloc[0]
    assert line["test_score"] >= score
    assert score > outcome.constant["test_score"] + 0.15
    assert (table["test_cost"] <= 5).all()
    # Every learner has a model of what is affordable, not scikit-learn alone.
    assert set(table["method"]) == {method.slug for method in outcome.methods}
    assert table["test_score"].min() > outcome.constant["test_score"] + 0.15


@pytest.mark.slow
def test_no_model_uses_more_than_its_features(grouped):
    outcome, _ = grouped
    rows = outcome.rows
    within = rows[rows["kind"] == "within 5"]
    assert set(within["method"]) == {method.slug for method in outcome.methods}
    assert (within["valid_cost"] <= 5).all()
    features = {tuple(json.loads(text)["features"]) for text in within["parameters"]}
    assert len(features) >= 2  # several rules
    own = rows[rows["kind"] == "own budget 5"]
    assert set(own["method"]) == {"greedy_miser"}
    assert (own["valid_cost"] <= 5).all()
    assert {json.loads(text)["budget"] for text in own["parameters"]} == {5.0}
    bisected = rows[rows["kind"] == "λ towards 5"]
    assert set(bisected["method"]) <= {"cegb", "greedy_miser"}


@pytest.mark.slow
def test_a_model_of_few_features_takes_the_whole_table(grouped):
    outcome, _ = grouped
    model, _, test = saved_model(outcome, 5.0)
    costs = model.prediction_cost(test.X)
    others = [n for n in test.X if not n.startswith(grouped_table.CHEAPER)]
    blank = test.X.copy()
    blank[others] = np.nan if get_tags(model.model).input_tags.allow_nan else 7.0
    np.testing.assert_array_equal(model.predict(blank), model.predict(test.X))
    np.testing.assert_array_equal(model.prediction_cost(blank), costs)


def test_features_with_missing_values_are_not_split_on_when_left_out(tmp_path):
    table = grouped_table.drawn(400)
    table.loc[table["y"] == "a", ["imaging_0", "blood_1"]] = np.nan  # that alone would tell
    question = written(tmp_path, table, grouped_table.price_list())
    only = ("gbrt", "lightgbm", "catboost", "hist_gradient_boosting")
    only = [slug for slug in only if METHODS[slug].installed()]
    outcome = compare(question, Search((5.0,), 1, 5, only=only), tmp_path, InThisProcess())
    assert set(outcome.table["method"]) == set(only)
    assert (outcome.table["test_cost"] <= 5).all()
    assert outcome.table["test_score"].max() < 0.75


# --- what is said -----------------------------------------------------------------------------


@pytest.mark.slow
def test_one_unreachable_budget_leaves_the_others(grouped):
    outcome, out = grouped
    why = outcome.unreached[0.2]
    assert why.startswith("no model within 0.2 was found: there can be none, one tree on the cheap")
    assert sorted(outcome.models) == [5.0, 15.0]
    for file in ("README.txt", "table.md"):
        assert why in (out / file).read_text(encoding="utf-8")
    rows = pd.DataFrame({"method": "gbrt", "valid_score": [0.5, 0.6], "valid_cost": [2.0, 3.0]})
    assert choosing.unreached(rows, [1.0, 2.5]) == {
        1.0: "no model within 1 was found: the cheapest costs 2 a prediction (gbrt)"
    }
    with pytest.raises(Refused, match=r"budget 1\.5 is below the cheapest model, which costs 2"):
        choosing.unreached(rows, [1.0, 1.5])


def test_a_difference_lies_in_its_interval_and_is_below_0_where_a_method_is_worse():
    """By hand: of 200 rows the recommended one has 180 right, the other and the constant fewer."""
    right = {("gbrt", 0, 1): 180, ("cegb", 0, 1): 120, choosing.CONSTANT: 100}
    ones = np.ones(200)
    measured = {
        key: Units(np.arange(200.0) < n, ones, np.arange(200), np.zeros(200, dtype=int))
        for key, n in right.items()
    }
    chosen = pd.DataFrame(
        [("gbrt", 0, 1, 5.0, True), ("cegb", 0, 1, 5.0, False)],
        columns=["method", "trial", "cut", "budget", "recommended"],
    )
    _, differences, _ = choosing.judge(chosen, measured, 0)
    np.testing.assert_allclose(differences["difference"], [-0.3, -0.4])
    assert (differences["low"] < differences["difference"]).all()
    assert (differences["difference"] < differences["high"]).all()
    assert (differences["high"] < 0).all()
    assert differences["real"].all()


@pytest.mark.slow
def test_the_constant_stands_beside_every_result(grouped):
    outcome, out = grouped
    parts = load(str(outcome.prepared.path)).parts
    y = pd.Series(np.concatenate([parts["train"].y, parts["valid"].y]))
    most = y.mode()[0]
    assert outcome.constant["answer"] == f"always {most!r} (the most frequent class)"
    assert outcome.constant["test_score"] == np.mean(parts["test"].y == most)
    text = (out / "table.md").read_text(encoding="utf-8")
    assert text.count(f"| {outcome.constant['answer']} |") == 2  # of each budget
    constant = outcome.differences[outcome.differences["method"] == "constant"]
    assert constant["budget"].tolist() == [5, 15]
    assert constant["real"].all()
    assert show.said(outcome)["constant"]["test_low"] < outcome.constant["test_score"]
    readme = (out / "README.txt").read_text(encoding="utf-8")
    assert f"{outcome.constant['answer']} has {outcome.constant['test_score']:.4f}" in readme
    assert "NOT REALLY BETTER" not in readme
    assert f"{len(outcome.rows)} models of" in readme
    json.dumps(show.said(outcome), allow_nan=False)


def test_what_is_no_better_than_a_constant_says_so(tmp_path):
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    noise["y"] = rng.integers(2, size=200)
    outcome = compare(
        written(tmp_path, noise), Search((1.0,), 1, 3, only=["gbrt"]), tmp_path, InThisProcess()
    )
    (line,) = show.recommendation(outcome)
    assert "IT IS NOT REALLY BETTER than this constant, which costs nothing" in line


@pytest.mark.parametrize(
    ("metric", "y", "what"),
    [
        ("neg_mean_squared_error", [1.0, 2.0, 9.0], "always 4 (the mean of the target)"),
        ("neg_mean_absolute_error", [1.0, 2.0, 9.0], "always 2 (the median of the target)"),
        ("balanced_accuracy", [3, 3, 5], "always 3 (the most frequent class)"),
    ],
)
def test_constants(metric, y, what):
    part = Part(pd.DataFrame({"a": y}), np.array(y), None, None, None)
    task = "regression" if metric.startswith("neg") else "classification"
    parts = dict.fromkeys(("train", "valid", "test"), part)
    problem = Problem(task, metric, parts, np.ones(1), None, None, 0.0, {})
    answer, valid, test = always_alike(problem)
    assert answer == what
    assert valid == test.score()
    assert valid == units(metric, part, np.full(3, float(what.split()[1]))).score()


def test_a_ranking_is_held_against_random_order():
    grades, query = np.array([0, 0, 0, 1] * 30), np.repeat(np.arange(30), 4)
    part = Part(pd.DataFrame({"a": grades}), grades, query, query, None)
    parts = dict.fromkeys(("train", "valid", "test"), part)
    problem = Problem("ranking", "precision@1", parts, np.ones(1), None, None, 0.0, {})
    answer, _, test = always_alike(problem)
    assert answer == "a random order of a query's rows"
    assert test.score() == pytest.approx(0.25, abs=0.05)


def rows_of(costs, scores, method="cegb"):
    return pd.DataFrame(
        {
            "method": method, "trial": range(len(costs)), "kind": "all features", "cut": 1.0,
            "valid_score": scores, "valid_cost": costs, "test_score": scores, "test_cost": costs,
        }
    )  # fmt: skip


def test_gaps_around_a_budget():
    rows = rows_of([0.3, 0.55, 2.0, 8.4], [0.3, 0.31, 0.2, 0.5])
    both = [
        {"budget": 5.0, "method": None, "below": 0.55, "above": 8.4},
        {"budget": 5.0, "method": "cegb", "below": 0.55, "above": 8.4},
    ]
    assert choosing.gaps(rows, [5.0]) == both
    assert choosing.gaps(rows, [1.0, 9.0]) == []  # most of it is spent; nothing is better
    other = pd.concat([rows, rows_of([4.0], [0.4], "gbrt")], ignore_index=True)
    assert choosing.gaps(other, [5.0]) == both[1:]  # another method has something between


@pytest.mark.slow
def test_gaps_are_said_and_drawn_as_gaps(grouped):
    outcome, _ = grouped
    rows = rows_of([0.3, 0.55, 8.4, 9.0], [0.3, 0.31, 0.5, 0.6])
    table = choosing.choose(rows, [5.0]).assign(test_low=0.2, test_high=0.4, not_retrained="")
    differences = pd.DataFrame(
        [[5.0, "constant", "cegb", 0.0, -0.1, 0.1, 1.0, 1.0, False]],
        columns=["budget", "method", "recommended", "difference", "low", "high", "p", "p_holm",
                 "real"],
    )  # fmt: skip
    found = dataclasses.replace(
        outcome, methods=[METHODS["cegb"]], table=table, differences=differences,
        trained=dataclasses.replace(outcome.trained, rows=rows), unreached={},
        gaps=choosing.gaps(rows, [5.0]),
    )  # fmt: skip
    (line,) = show.recommendation(found)
    assert "nothing better was found between costs of 0.55 and 8.4, by any method" in line
    assert (
        "Nothing better was found between costs of: all methods together 0.55 and 8.4; CEGB "
        in (show.markdown(found))
    )
    asked = types.SimpleNamespace(table=types.SimpleNamespace(name="t"), target="y", unit=None)
    (ax,) = picture.picture(found, asked, Search((5.0,))).axes
    (curve,) = (each for each in ax.get_lines() if each.get_label() == "CEGB")
    assert np.isnan(curve.get_xdata()).tolist() == [False, False, True, False, False]
    dotted = [each for each in ax.get_lines() if each.get_linewidth() == 0.8
              and list(each.get_xdata())[:2] == [0.55, 8.4]]  # fmt: skip
    assert len(dotted) == 1
    level = [each for each in ax.get_lines() if "costs nothing" in str(each.get_label())]
    assert level[0].get_ydata()[0] == outcome.constant["test_score"]


# --- labels, weights, failures ------------------------------------------------------------------


@pytest.mark.parametrize("labels", [[-16777217, -16777216, 2**40], ["no", "10", "9"]])
def test_labels_are_numbered_before_a_library_sees_them(tmp_path, labels):
    X = np.random.default_rng(0).normal(size=(150, 2)).round(3)
    y = np.array(labels)[np.digitize(X[:, 0], [-0.5, 0.5])]
    table = pd.DataFrame(X, columns=["a", "b"]).assign(y=y)
    table.to_csv(tmp_path / "t.csv", index=False)
    only = ["lightgbm", "catboost", "hist_gradient_boosting"]
    only = [slug for slug in only if METHODS[slug].installed()]
    question = Asked(tmp_path / "t.csv", "y", task="classification")
    outcome = compare(question, Search((2.0,), 1, 6, only=only), tmp_path, InThisProcess())
    assert outcome.trained.failed == {}
    assert set(outcome.table["method"]) == set(only)
    assert outcome.table["test_score"].min() > 0.6
    forest = load_model(outcome.models[2.0]["path"])
    assert set(forest.predict(table)) <= set(load(str(outcome.prepared.path)).parts["train"].y)


@pytest.mark.parametrize(
    "factor", [1 / 400, *(pytest.param(f, marks=pytest.mark.slow) for f in (1e-12, 3e9))]
)
def test_a_common_factor_of_weights_changes_nothing(tmp_path, factor):
    table = grouped_table.drawn(200).iloc[:, [0, 1, 2, -1]]
    rows = {}
    for name, by in (("one", 1.0), ("scaled", factor)):
        (tmp_path / name).mkdir()
        weighted = table.assign(w=by * (1 + np.arange(200) % 3))
        question = dataclasses.replace(written(tmp_path / name, weighted), weight="w")
        search = Search((1.0, 3.0), 1, 4, only=["cegb", "gbrt", "hist_gradient_boosting"])
        rows[name] = compare(question, search, tmp_path / name, InThisProcess()).rows
        readme = (tmp_path / name / "README.txt").read_text(encoding="utf-8")
        assert "Weights are scaled to a mean of 1" in readme
    pd.testing.assert_frame_equal(rows["one"], rows["scaled"])


@pytest.fixture
def small(tmp_path):
    return written(tmp_path, grouped_table.drawn(120).iloc[:, [0, 1, 3, -1]])


def failing(problem, draw):
    raise RuntimeError("it\nis a boy")


def test_a_library_that_fails_loses_its_trials(small, tmp_path, monkeypatch):
    broken = dataclasses.replace(METHODS["hist_gradient_boosting"], train=failing)
    monkeypatch.setitem(METHODS, "hist_gradient_boosting", broken)
    search = Search((1.0,), 1, 3, only=["gbrt", "hist_gradient_boosting"])
    outcome = compare(small, search, tmp_path, InThisProcess())
    assert outcome.table["method"].tolist() == ["gbrt"]
    line = "scikit-learn HGB (no costs in training): 4 of 4 trainings failed (RuntimeError: it is"
    for file in ("README.txt", "table.md"):
        assert line in (tmp_path / file).read_text(encoding="utf-8")
    again = InThisProcess()
    compare(small, search, tmp_path, again)
    assert set(again.computed) == {("run_trial", "hist_gradient_boosting")}  # tried anew
    with pytest.raises(Refused, match=r"Every method failed: scikit-learn HGB .* it is a boy"):
        compare(small, Search((1.0,), 1, 3, only=["hist_gradient_boosting"]), tmp_path, again)


def test_a_method_of_the_suite_must_not_fail(small, tmp_path, monkeypatch):
    broken = types.FunctionType(failing.__code__, vars(boosted), "gbrt")
    monkeypatch.setitem(METHODS, "gbrt", dataclasses.replace(METHODS["gbrt"], train=broken))
    search = Search((1.0,), 1, 3, only=["cegb", "gbrt"])
    with pytest.raises(CellsFailed, match="RuntimeError: it is a boy"):
        compare(small, search, tmp_path, InThisProcess())
    assert "CEGB" in (tmp_path / "README.txt").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(not limited.POSSIBLE, reason="the system ends no process")
def test_a_crash_loses_its_trial_and_not_the_run(small, tmp_path):
    own = "tests.experiments.compare.own_methods:Crashing"
    search = Search((1.0,), 1, 3, only=["gbrt"], own=[own], seconds=120.0)
    with pytest.raises(CellsFailed, match="its process ended with SIGABRT"):
        compare(small, search, tmp_path, InThisProcess())
    table = pd.read_csv(tmp_path / "table.csv")
    assert table["method"].tolist() == ["gbrt"]
    without = compare(
        small, dataclasses.replace(search, own=(), seconds=None), tmp_path, InThisProcess()
    )
    assert without.table["test_score"].tolist() == table["test_score"].tolist()


def test_who_needs_too_long_is_named_and_is_no_error(small, tmp_path, monkeypatch):
    def slow(*_):
        return [{"failed": f"{limited.TOO_LONG} 1 s of processor time"}]

    monkeypatch.setattr(limited, "run", slow)
    search = Search((1.0,), 1, 3, only=["gbrt"], seconds=1.0)
    with pytest.raises(Refused, match=r"Every method failed: GBRT .*it needs more than 1 s"):
        compare(small, search, tmp_path, InThisProcess())


def test_a_method_without_any_model_is_named(small, tmp_path, monkeypatch):
    def stump(problem, draw):
        trained = boosted.gbrt(problem, {**draw, "rounds": 1})
        trained.cuts = []
        return trained

    lazy = dataclasses.replace(METHODS["hist_gradient_boosting"], train=stump)
    monkeypatch.setitem(METHODS, "hist_gradient_boosting", lazy)
    search = Search((1.0,), 1, 3, only=["gbrt", "hist_gradient_boosting"])
    compare(small, search, tmp_path, InThisProcess())
    line = "no usable model in 4 trainings (no tree has a split: the model is constant)."
    for file in ("README.txt", "table.md"):
        assert line in (tmp_path / file).read_text(encoding="utf-8")


# --- retraining ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_is_chosen_is_trained_again_on_all_rows_but_the_test_rows(grouped):
    outcome, _ = grouped
    problem = load(str(outcome.prepared.path))
    rows = outcome.rows.set_index(["method", "trial", "cut"])
    kept = outcome.table[outcome.table["not_retrained"] != ""]
    again = outcome.table[outcome.table["not_retrained"] == ""]
    assert len(again)
    for line in kept.itertuples():
        assert line.test_score == pytest.approx(
            rows.loc[(line.method, line.trial, line.cut), "test_score"], rel=1e-5
        )
    other = [
        line.test_score != pytest.approx(rows.loc[(line.method, line.trial, line.cut)].test_score)
        for line in again.itertuples()
    ]
    assert any(other)
    assert len(problem.fit) == len(problem.parts["train"])


def test_what_would_cost_more_is_kept(small, tmp_path, monkeypatch):
    from experiments.compare import trials

    monkeypatch.setattr(trials, "with_validation", lambda problem: 1 / 0)
    outcome = compare(small, Search((1.0,), 1, 3, only=["gbrt"]), tmp_path, InThisProcess())
    (why,) = outcome.table["not_retrained"]
    assert why == "retraining failed (ZeroDivisionError: division by zero)"
    assert f"Kept as trained on the training rows alone: GBRT (no costs in training) ({why})." in (
        show.markdown(outcome)
    )
    row = outcome.rows.set_index(["trial", "cut"])
    line = outcome.table.iloc[0]
    measured = row.loc[(line["trial"], line["cut"]), "test_score"]
    assert line["test_score"] == pytest.approx(measured, rel=1e-5)


def test_what_fails_when_chosen_is_replaced(small, tmp_path, monkeypatch):
    monkeypatch.setattr(answering, "run_chosen", dies_once(answering.run_chosen))
    outcome = compare(small, Search((2.0,), 1, 3, only=["gbrt"]), tmp_path, InThisProcess())
    assert len(outcome.table) == 1
    assert outcome.models[2.0]["path"].is_file()


def dies_once(run_chosen):
    calls = []

    def run(cell, problem):
        calls.append(cell)
        return [{"failed": "MemoryError"}] if len(calls) == 1 else run_chosen(cell, problem)

    run.__module__ = run_chosen.__module__
    run.__name__ = run_chosen.__name__
    return run
