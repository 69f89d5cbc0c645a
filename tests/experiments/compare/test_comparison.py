"""The command ``compare``: what is chosen, by hand; files; what is kept; what is refused."""

import dataclasses
import html
import json
import math
import re
import types

import numpy as np
import pandas as pd
import pytest

from algorithms.cegb import CEGBClassifier
from algorithms.early_exit import EarlyExit
from algorithms.metrics import ndcg_at_k
from algorithms.registry import load_model
from experiments.cli import main
from experiments.compare import choosing, command, comparison, intervals, plan, show
from experiments.compare.comparison import Search, compare
from experiments.compare.metrics import Units
from experiments.compare.preparing import Asked
from experiments.compare.problem import load
from experiments.methods import facts
from experiments.methods.problem import with_validation
from experiments.methods.table import METHODS
from experiments.methods.users_class import allows_nan
from experiments.running import workers
from tests.experiments.compare.conftest import RESAMPLES

COSTS = {"cheap": 1.0, "middling": 3.0, "dear": 8.0}

SEARCHED = (
    *("cegb", "greedy_miser", "gbrt", "early_exit", "budget_forest", "budget_prune"),
    "hist_gradient_boosting",
)


class InThisProcess:
    """Workers that are none, and count."""

    def __init__(self, jobs=1):
        self.jobs, self.computed = jobs, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def compute(self, tasks):
        for index, task in enumerate(tasks):
            self.computed.append((task.run_cell.__name__, task.cell.algorithm))
            try:
                yield index, workers.compute(task)
            except Exception as error:
                yield index, error


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three tables and a price list."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    truth = rng.normal(size=400)
    table = pd.DataFrame(
        {
            name: np.round(truth + noise * rng.normal(size=400), 2)
            for name, noise in zip(COSTS, (2.0, 0.8, 0.1), strict=True)
        }
    )
    table["patient"] = np.arange(400) // 4
    table["amount"] = truth.round(3)
    table["ill"] = np.where(truth > 0.3, "yes", "no")
    table["grade"] = np.digitize(truth, [0, 1])
    table.to_csv(folder / "table.csv", index=False)
    lines = pd.DataFrame({"feature": list(COSTS), "cost": list(COSTS.values())})
    lines.to_csv(folder / "costs.csv", index=False)
    return folder


def asked(folder, target, **options):
    others = ["patient", "amount", "ill", "grade"]
    named = [target, options.get("query"), options.get("groups")]
    drop = [name for name in others if name not in named]
    return Asked(folder / "table.csv", target, folder / "costs.csv", drop=drop, **options)


@pytest.fixture(scope="module")
def classified(folder):
    """A comparison of many methods, those that are installed, and where it was written."""
    out, pool = folder / "classified", InThisProcess()
    own = ["tests.experiments.compare.own_methods:Threshold"]
    only = [slug for slug in SEARCHED if METHODS[slug].installed()]
    search = Search((1.5, 6.0, 20.0), trials=2, rounds=4, own=own, only=only)
    return compare(asked(folder, "ill"), search, out, pool), out, pool, search


def saved_model(outcome, budget):
    """The recommended model, which predicts and costs what its line says; line and test rows."""
    line = outcome.table[(outcome.table["budget"] == budget) & outcome.table["recommended"]].iloc[0]
    model, test = load_model(outcome.models[budget]["path"]), rows_of_test(outcome)
    assert np.mean(model.predict(test.X) == test.y) == line["test_score"]
    assert model.prediction_cost(test.X).mean() == pytest.approx(line["test_cost"], rel=1e-5)
    return model, line, test


def rows_of_test(outcome):
    return load(str(outcome.prepared.path)).parts["test"]


def test_the_choice_is_what_one_finds_by_hand(classified):
    outcome, out, _, search = classified
    rows = pd.read_csv(out / "rows.csv")
    ours = {"cegb", "greedy_miser", "gbrt", "early_exit", "budget_forest", "budget_prune"}
    assert set(rows["method"]) >= ours
    for budget in search.budgets:
        best = {}
        for row in rows.itertuples():
            if row.valid_cost <= budget:
                key = (row.valid_score, -row.valid_cost)
                if row.method not in best or key > best[row.method][0]:
                    best[row.method] = key, row
        table = outcome.table[outcome.table["budget"] == budget].set_index("method")
        assert set(table.index) == set(best)
        for method, (_, row) in best.items():
            line = table.loc[method]
            assert (line["trial"], line["cut"]) == (row.trial, row.cut)
            if line["not_retrained"]:
                assert line["test_score"] == pytest.approx(row.test_score, rel=1e-5)
            assert line["test_low"] <= line["test_score"] <= line["test_high"]
        chosen = max(best, key=lambda method: best[method][0])
        assert table.index[table["recommended"]].tolist() == [chosen]
    further = 3 * plan.n_further(search, 3)
    assert len(rows[rows["method"].str.endswith("Threshold")]) == 2 + further
    assert rows["parameters"].map(json.loads).map(len).min() > 0


def test_curves_pass_through_what_is_chosen(classified):
    outcome, _, _, search = classified
    names = ["method", "trial", "cut"]
    curves = choosing.along_the_costs(outcome.rows, search.budgets)
    keys = set(curves[names].itertuples(index=False, name=None))
    assert set(outcome.table[names].itertuples(index=False, name=None)) <= keys
    assert len(keys) == len(curves)
    for _, curve in curves.groupby("method"):  # a larger budget chooses no worse
        assert curve["valid_score"].is_monotonic_increasing


def test_every_method_had_the_same_draws(classified):
    rows = classified[0].rows
    learning_rates = [
        sorted({json.loads(text)["learning_rate"] for text in pool["parameters"]})
        for method, pool in rows.groupby("method")
        if ":" not in method and not method.startswith("budget")  # forests have none
    ]
    assert all(len(each) >= 2 for each in learning_rates)
    every = max(learning_rates, key=len)
    assert all(set(each) <= set(every) for each in learning_rates)


def test_saved_models_predict_and_cost_what_the_table_says(classified):
    outcome, _, _, search = classified
    assert set(outcome.models) == set(search.budgets)
    ours = [b for b, saved in outcome.models.items() if saved["path"] is not None]
    for budget in ours:
        assert saved_model(outcome, budget)[1]["valid_cost"] <= budget
    others = [outcome.models[budget]["method"] for budget in search.budgets if budget not in ours]
    assert all(":" in method for method in others)  # classes of the user's without files
    assert ours


def test_the_four_lines_run(classified):
    outcome, out, _, _ = classified
    saved = next(model for model in outcome.models.values() if model["path"] is not None)
    lines = show.loading(saved, "classification")
    text = (out / "README.txt").read_text(encoding="utf-8")
    assert len(lines) == 4
    assert "\n".join(lines) in text
    names = {"table": rows_of_test(outcome).X}
    exec("\n".join(lines), names)
    assert set(names["predictions"]) <= {"yes", "no"}
    assert (out / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert "| CEGB |" in (out / "table.md").read_text(encoding="utf-8")


def test_the_page_begins_with_the_recommendation(classified):
    outcome, out, _, _ = classified
    text = (out / "page.html").read_text(encoding="utf-8")
    sentences = show.recommendation(outcome)
    first = text[text.index('<p class="answer">') :].split("</p>")[0]
    first = html.unescape(re.sub("<[^>]*>", "", first))
    assert first.endswith(sentences[0][1:] + ".")
    for line in outcome.table.itertuples():
        assert f"{line.test_low:.4f} to {line.test_high:.4f}" in text
    assert text.count("<circle") >= len(outcome.table.drop_duplicates(["method", "trial", "cut"]))
    assert "http" not in text


@pytest.mark.slow
def test_nothing_is_computed_twice(classified, folder):
    outcome, out, first, search = classified
    each = 2 + 3 * plan.n_further(search, 3)
    assert set(outcome.trained.n_trained.values()) == {each}
    n_computed = len([kind for kind, _ in first.computed if kind == "run_trial"])
    assert each < n_computed <= each * len(outcome.methods)  # draws may meet in the same features
    again = InThisProcess()
    table = compare(asked(folder, "ill"), search, out, again).table
    assert again.computed == []
    pd.testing.assert_frame_equal(table, outcome.table)
    other = Search((9.0,), trials=2, rounds=4, own=search.own, only=search.only)
    compare(asked(folder, "ill"), other, out, again)
    drawn = [cell for cell in again.computed if cell == ("run_trial", "gbrt")]
    assert len(drawn) == plan.n_further(other, 1)  # for this budget; what was drawn is kept
    more = InThisProcess()
    compare(asked(folder, "ill", seed=1), Search((20.0,), 1, 2, only=["gbrt"]), out, more)
    assert ("run_trial", "gbrt") in more.computed  # other rows


def test_ranking_and_regression(folder):
    only = ["cegb", "early_exit"]
    out = folder / "ranked"
    ranked = compare(
        asked(folder, "grade", query="patient"),
        Search((20.0,), 1, 4, only=only),
        out,
        InThisProcess(),
    )
    problem = load(str(ranked.prepared.path))
    queries = [set(problem.parts[part].query) for part in ("train", "valid", "test")]
    assert not set.intersection(*queries[:2])
    assert not queries[2] & (queries[0] | queries[1])
    assert (ranked.prepared.task, ranked.prepared.metric) == ("ranking", "ndcg@5")
    test = problem.parts["test"]
    saved = ranked.models[20.0]
    if saved["method"] != "early_exit":
        scores = load_model(saved["path"]).predict(test.X)
        line = ranked.table[ranked.table["recommended"]]
        assert line["test_score"].item() == ndcg_at_k(test.y, scores, test.query, 5)
    regressed = compare(
        asked(folder, "amount", groups="patient"),
        Search((20.0,), 1, 4, only=only),
        folder / "regressed",
        InThisProcess(),
    )
    assert regressed.prepared.metric == "neg_mean_squared_error"
    assert regressed.prepared.resampled == "groups"
    assert regressed.left_out == ["Early exit from GBRT: not for regression"]
    assert regressed.table["test_score"].item() < 0


def test_lambdarank_learns_the_order_within_queries(folder, tmp_path):
    lightgbm = pytest.importorskip("lightgbm", reason="make setup-peers installs it")
    only = ["lightgbm_lambdarank", "lightgbm"]
    question = asked(folder, "grade", query="patient")
    ranked = compare(question, Search((40.0,), 2, 4, only=only), tmp_path, InThisProcess())
    assert ranked.left_out == []
    assert ranked.table["method"].tolist() == only
    rows = ranked.rows.groupby("method")["parameters"].unique()
    assert sorted(rows.iloc[0]) == sorted(rows.iloc[1])  # the same draws
    problem = load(str(ranked.prepared.path))
    train, (draw, *_) = problem.parts["train"], plan.draws(Search((), 2, 4), 0)
    trained = METHODS["lightgbm_lambdarank"].train(problem, draw)
    parameters = METHODS["lightgbm"].train(problem, draw).parameters
    assert trained.parameters == parameters
    by_hand = lightgbm.train(
        {
            "objective": "lambdarank", "learning_rate": parameters["learning_rate"],
            "num_leaves": parameters["max_leaves"], "seed": draw["seed"], "verbosity": -1,
            "min_data_in_leaf": parameters["min_samples_leaf"], "num_threads": 1,
            "deterministic": True, "force_col_wise": True,
        },
        lightgbm.Dataset(
            train.X.to_numpy(),
            train.y,
            group=[len(rows) for _, rows in train.X.groupby(train.query)],
        ),
        num_boost_round=4,
    )  # fmt: skip
    test = problem.parts["test"].X
    scores = trained.model(trained.cuts[-1]).predict(test)
    np.testing.assert_array_equal(
        scores, by_hand.predict(test.to_numpy(), num_iteration=int(trained.cuts[-1]))
    )


def test_what_lambdarank_cannot_be_trained_on(folder, tmp_path):
    question = asked(folder, "amount", query="patient", metric="precision@2")
    prepared = comparison.prepare(question, tmp_path)
    assert facts.lambdarank(prepared.facts) == "it needs grades 0, 1, …, 50"
    long = dataclasses.replace(prepared.facts, whole_grades=True, longest_query=10_001)
    why = facts.lambdarank(long)
    assert why == "it takes at most 10,000 rows a query, and one has 10,001"


def test_the_lines_of_an_early_exit_give_a_ranking(folder):
    out = folder / "left"
    question = asked(folder, "grade", query="patient")
    left = compare(question, Search((40.0,), 1, 4, only=["early_exit"]), out, InThisProcess())
    test = rows_of_test(left)
    names = {"table": test.X, "query": test.query}
    exec("\n".join(show.loading(left.models[40.0], "ranking")), names)
    line = left.table.iloc[0]
    assert line["test_score"] == ndcg_at_k(test.y, names["scores"], test.query, 5)
    cost = names["model"].prediction_cost(test.X, test.query).mean()
    assert cost == pytest.approx(line["test_cost"], rel=1e-5)


def test_missing_values(folder, tmp_path):
    table = pd.read_csv(folder / "table.csv").drop(columns=["patient", "amount", "grade"])
    table.loc[table.index % 3 == 0, "dear"] = np.nan
    table.loc[(table["ill"] == "no") & (table.index % 2 == 0), "middling"] = np.nan
    table.to_csv(tmp_path / "t.csv", index=False)
    own = ["tests.experiments.compare.own_methods:Threshold"]
    only = ["cegb", "early_exit", "hist_gradient_boosting", "lightgbm", "catboost"]
    search = Search((20.0,), 1, 3, only=only, own=own)
    question = Asked(tmp_path / "t.csv", "ill", folder / "costs.csv")
    outcome = compare(question, search, tmp_path, InThisProcess())
    there = [slug for slug in only if METHODS[slug].installed() and slug != "early_exit"]
    assert outcome.table["method"].tolist() == there
    assert outcome.left_out[-1] == f"{own[0]}: its tags do not say that it supports missing values"
    assert "Early exit from GBRT: it does not support missing values" in outcome.left_out
    assert allows_nan(CEGBClassifier)
    assert not allows_nan(EarlyExit)
    *_, test = saved_model(outcome, 20.0)
    assert test.X.isna().any().any()


def test_forests_and_their_prunings(folder, tmp_path):
    """Cuts of prunings are trade-offs: the smaller, the dearer. Grades are ranked by their mean."""
    search = Search((3.0,), 2, 4, only=["budget_forest", "budget_prune"])
    outcome = compare(asked(folder, "ill"), search, tmp_path / "ill", InThisProcess())
    prunings = outcome.rows[outcome.rows["method"] == "budget_prune"]
    assert prunings.groupby("trial").size().max() > 2
    for _, each in prunings.groupby("trial"):
        assert each.sort_values("cut")["valid_cost"].is_monotonic_decreasing
    saved_model(outcome, 3.0)

    ranked = asked(folder, "grade", query="patient", metric="ndcg@3")
    outcome = compare(ranked, search, tmp_path / "ranked", InThisProcess())
    assert outcome.left_out == ["BudgetPrune: not for ranking"]
    assert len(outcome.rows)


def test_weights_train_and_judge(folder, tmp_path):
    table = pd.read_csv(folder / "table.csv")
    table["weight"] = 1 + np.arange(len(table)) % 3
    table.drop(columns=["patient", "amount", "grade"]).to_csv(tmp_path / "t.csv", index=False)
    question = Asked(tmp_path / "t.csv", "ill", weight="weight")
    search = Search((9.0,), 1, 4, only=["cegb", "budget_forest", "budget_prune"])
    outcome = compare(question, search, tmp_path, InThisProcess())
    assert outcome.left_out == [
        f"{label}: it draws copies of rows, and takes no weights"
        for label in ("BudgetRF", "BudgetPrune")
    ]
    parts = load(str(outcome.prepared.path)).parts
    test, line = parts["test"], outcome.table.iloc[0]
    model = load_model(outcome.models[9.0]["path"])
    assert line["test_score"] == np.average(model.predict(test.X) == test.y, weights=test.weight)
    cost = np.average(model.prediction_cost(test.X), weights=test.weight)
    assert cost == pytest.approx(line["test_cost"], rel=1e-5)
    again = CEGBClassifier(**model.model.get_params())
    assert math.fsum(parts["train"].weight) / len(parts["train"]) == pytest.approx(1)
    fit = parts["train"]
    if not line["not_retrained"]:
        fit = with_validation(load(str(outcome.prepared.path))).fit
        assert len(fit) == len(parts["train"]) + len(parts["valid"])
    again.fit(fit.X, fit.y, sample_weight=fit.weight)
    cut = again.first_rounds(int(line["cut"]))
    np.testing.assert_array_equal(cut.predict_proba(test.X), model.predict_proba(test.X))


def test_groups_of_features_are_paid_once(folder, tmp_path):
    (tmp_path / "costs.csv").write_text(
        "feature,cost,group\ncheap,1,\nmiddling,2,blood\ndear,3,blood\nblood,5,\n"
    )
    question = asked(folder, "ill")
    question = types.SimpleNamespace(**{**vars(question), "costs": tmp_path / "costs.csv",
                                        "special": question.special})  # fmt: skip
    prepared = comparison.prepare(question, tmp_path)
    assert prepared.prices.group_costs == {"cheap": 0.0, "blood": 5.0}
    outcome = compare(question, Search((40.0,), 1, 4, only=["gbrt"]), tmp_path, InThisProcess())
    model = load_model(outcome.models[40.0]["path"])
    test = rows_of_test(outcome)
    used = model.acquired_features(test.X)
    by_hand = used @ [1, 2, 3] + 5 * (used[:, 1] | used[:, 2])
    np.testing.assert_array_equal(model.prediction_cost(test.X), by_hand)


# --- intervals --------------------------------------------------------------------------------


def test_intervals_and_corrections(monkeypatch):
    monkeypatch.setattr(intervals, "RESAMPLES", RESAMPLES)
    assert intervals.holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])
    rng = np.random.default_rng(0)
    value, cluster = rng.normal(size=1000), np.arange(1000)
    units = Units(value, np.ones(1000), cluster, np.zeros(1000, dtype=np.int64))
    better = units._replace(value=value + 0.001)
    means = intervals.resampled_scores([units, better, units], 0)
    assert means[:, 0].std() == pytest.approx(value.std() / np.sqrt(1000), rel=0.05)
    assert intervals.p_value(means[:, 1] - means[:, 0]) == pytest.approx(2 / 10_000)  # paired
    assert intervals.p_value(means[:, 2] - means[:, 0]) == 1.0
    # Ten copies of each row are no more sure than the row.
    copies = units._replace(value=np.repeat(value[:100], 10), cluster=np.repeat(np.arange(100), 10))
    spread = intervals.resampled_scores([copies], 0).std()
    assert spread == pytest.approx(value[:100].std() / np.sqrt(100), rel=0.05)


# --- the command --------------------------------------------------------------------------------


@pytest.fixture
def run(folder, tmp_path, monkeypatch, capsys):
    """Run the command; return its exit status and what it printed."""
    monkeypatch.setattr(command, "Workers", InThisProcess)

    def compare_table(*arguments, table="table.csv", costs="costs.csv", target="ill"):
        given = [str(folder / table), "--target", target, "--out", str(tmp_path / "out")]
        given += ["--costs", str(folder / costs)] if costs else []
        drop = [name for name in ("patient", "amount", "ill", "grade") if name != target]
        given += [part for name in drop for part in ("--drop", name) if name not in arguments]
        status = main(["compare", *given, *arguments], types.SimpleNamespace())
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return status, captured.out, captured.err

    return compare_table


def test_the_command(run, tmp_path):
    status, out, err = run("--budgets", "9,20", "--only", "cegb", "--trials", "2", "--rounds", "3",
                           "--json")  # fmt: skip
    assert (status, err) == (0, "")
    answer = json.loads(out)
    assert answer["metric"] == "accuracy"
    assert {line["budget"] for line in answer["table"]} == {9, 20}
    assert set(answer["models"]) == {"9", "20"}
    status, out, err = run("--budgets", "20,9", "--only", "cegb", "--trials", "2", "--rounds", "3")
    assert status == 0
    assert out.strip() == (tmp_path / "out" / "README.txt").read_text(encoding="utf-8").strip()
    assert "budget 9: CEGB" in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--budgets", "0.5"], "below the cheapest model there can be: one tree on the cheapest f"),
        (["--budgets", "0"], "numbers above 0 with commas"),
        (["--budgets", "1", "--metric", "ndcg@5"], "--metric of classification must be accuracy"),
        (["--budgets", "1", "--query", "visit"], "no column 'visit', which --query asks for"),
        (
            ["--budgets", "1", "--query", "patient", "--task", "regression"],
            "--query is for ranking",
        ),
        (["--budgets", "1", "--task", "ranking"], "--query COLUMN"),
        (["--budgets", "1", "--drop", "height"], "no column 'height', which --drop names"),
        (["--budgets", "1", "--only", "perceptron"], "--only must be of cegb"),
        (["--budgets", "1", "--weight", "amount"], "Weights must be numbers above 0"),
        (
            ["--budgets", "1", "--target", "illness", "--drop", "ill"],
            "no column 'illness', which --target asks for",
        ),
        (["--budgets", "1", "--jobs", "0"], "'--jobs': 0 is not in the range"),
        (["--budgets", "1e308"], "at most 1e+270"),
        (["--budgets", "5,inf"], "at most 1e+270"),
        (["--budgets", "nan"], "at most 1e+270"),
        (["--budgets", "1", "--seed", str(2**32)], "'--seed'"),
        (["--budgets", "1", "--method", "Threshold"], "must be package.module:Class"),
        (["--budgets", "1", "--method", "nowhere:Threshold"], "nowhere cannot be imported"),
        (
            ["--budgets", "1", "--method", "tests.experiments.compare.own_methods:WithoutMeter"],
            "WithoutMeter has no prediction_cost",
        ),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(run, arguments, sentence):
    status, _, err = run(*arguments)
    assert status == 2
    assert sentence in err
    assert err.count("\n") <= 2


def test_a_module_that_is_no_python(run, tmp_path, monkeypatch):
    (tmp_path / "no_python.py").write_text("def f(:")
    monkeypatch.syspath_prepend(tmp_path)
    status, _, err = run("--budgets", "1", "--method", "no_python:Threshold")
    assert (status, "no_python cannot be imported (SyntaxError: " in err) == (2, True)


def test_a_budget_below_what_was_trained(run):
    """The root of every tree costs 1, and each split it passes besides."""
    arguments = ["--only", "gbrt", "--trials", "1", "--rounds", "3", "--split-cost", "0.5"]
    status, _, err = run("--budgets", "1.51", *arguments)
    assert status == 2
    assert "The budget 1.51 is below the cheapest model, which costs" in err  # no tree of one split
    status, out, _ = run("--budgets", "1.51,20", *arguments)
    assert status == 0
    assert "budget 1.51: no model within 1.51 was found: the cheapest costs" in out
    status, _, err = run("--budgets", "1.4", *arguments)
    assert status == 2
    assert "The budget 1.4 is below the cheapest model there can be" in err


def test_a_wrong_meter_names_itself(run):
    method = "tests.experiments.compare.own_methods:WrongMeter"
    status, _, err = run("--budgets", "20", "--only", "gbrt", "--method", method, "--trials", "1",
                         "--rounds", "2")  # fmt: skip
    assert status == 1
    assert "prediction_cost of WrongMeter must give one number for each of " in err


def test_budgets_without_any_model():
    rows = pd.DataFrame(columns=["method", "valid_score", "valid_cost"])
    with pytest.raises(choosing.Refused, match="No method has found a split"):
        choosing.unreached(rows, [1.0])
