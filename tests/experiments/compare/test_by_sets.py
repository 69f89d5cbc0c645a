"""Methods of ours on the table's own columns: text as categories, each column one purchase."""

import json

import numpy as np
import pandas as pd
import pytest

from algorithms.registry.loading import load_model
from experiments.compare import show
from experiments.compare.comparison import compare
from experiments.compare.outcome import Search
from experiments.compare.preparing import Asked, prepare
from experiments.compare.problem import load
from experiments.methods.by_sets import OfOwnColumns
from experiments.methods.problem import with_validation
from experiments.methods.table import METHODS
from tests.experiments.compare.test_comparison import InThisProcess

pytestmark = pytest.mark.slow  # kernels of their own are compiled

N = 600
DRAW = {"u": [0.9, 0.5, 0.1, 0.5, 0.5], "rounds": 8, "seed": 3}
PRICES = {"age": 1.0, "town": 4.0, "blood": 2.0}


def drawn(seed):
    """Draw rows; which towns are of one class is of no alphabet."""
    rng = np.random.default_rng(seed)
    towns = np.array([f"town {k:02d}" for k in range(16)], dtype=object)
    town, age = rng.integers(0, 16, N), rng.integers(20, 60, N)
    ill = (town * 7 % 16 < 8) ^ (age > 55) ^ (rng.random(N) < 0.05)
    lacking = rng.random(N) < 0.1
    frame = pd.DataFrame({"age": age, "town": towns[town], "blood": rng.choice(["a", "b"], N)})
    frame.loc[lacking, "town"] = None
    return frame.assign(ill=np.where(ill, "yes", "no"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    drawn(0).to_csv(folder / "t.csv", index=False)
    test = drawn(1)
    test.loc[::9, "town"] = "elsewhere"
    test.to_csv(folder / "test.csv", index=False)
    lines = [f"{name},{price}\n" for name, price in PRICES.items()]
    (folder / "c.csv").write_text("feature,cost\n" + "".join(lines))
    return folder


def asked(folder):
    return Asked(folder / "t.csv", "ill", folder / "c.csv", folder / "test.csv")


@pytest.mark.parametrize("slug", [slug for slug, m in METHODS.items() if m.takes_categories])
def test_a_saved_model_answers_the_file_as_it_was_measured(folder, slug, tmp_path):
    problem = with_validation(load(str(prepare(asked(folder), tmp_path).path)))
    draw = DRAW | {"categories": True, "tradeoff": 1e-4}
    trained = METHODS[slug].train(problem, draw)
    assert isinstance(trained, OfOwnColumns)
    assert trained.parameters["categorical_features"] == ["town", "blood"]
    trained.only(trained.cuts[-1])
    ((answers, costs),) = trained.follow(problem.parts["test"])
    trained.model(trained.cuts[0]).save(tmp_path / "model.zip")
    model, rows = load_model(tmp_path / "model.zip"), pd.read_csv(folder / "test.csv")
    y = rows.pop("ill")
    assert model.predict(rows).tolist() == answers.tolist()
    assert model.prediction_cost(rows).tobytes() == costs.tobytes()
    sums = {float(a + t + b) for a in (0, 1) for t in (0, 4) for b in (0, 2)}
    assert set(costs) <= sums
    if not METHODS[slug].chooses_features:
        assert np.mean(answers == y) > 0.8


def test_columns_that_are_not_drawn_are_not_bought(folder, tmp_path):
    problem = load(str(prepare(asked(folder), tmp_path).path))
    for columns, most in (([0, 2], 3.0), ([1], 4.0)):
        draw = DRAW | {"categories": True, "columns": columns}
        trained = METHODS["gbrt"].train(problem, draw)
        assert trained.parameters["features"] == [problem.names[m] for m in columns]
        costs = [cost.max() for _, cost in trained.follow(problem.parts["test"])]
        assert 0 < max(costs) <= most
        assert trained.model(trained.cuts[-1]).categories_[1].dtype == object  # it takes text


def test_the_command_tries_both_and_says_what_a_model_takes(folder, tmp_path):
    search = Search((7.0,), trials=4, rounds=6, only=["cegb", "gbrt"])
    outcome = compare(asked(folder), search, tmp_path, InThisProcess())
    rows = outcome.rows.assign(
        by_sets=["categorical_features" in json.loads(p) for p in outcome.rows["parameters"]]
    )
    assert set(zip(rows["method"], rows["by_sets"], strict=True)) == {
        (method, by_sets) for method in ("cegb", "gbrt") for by_sets in (False, True)
    }
    saved = outcome.models[7.0]
    line = outcome.table[outcome.table["recommended"]].iloc[0]
    kinds = [column.kind for column in load_model(saved["path"]).columns]
    assert kinds == ["number", "category", "category"]  # the alphabet tells nothing of these towns
    names = {"table": pd.read_csv(folder / "test.csv").drop(columns="ill")}
    exec("\n".join(show.loading(saved, "classification")), names)
    y = pd.read_csv(folder / "test.csv")["ill"]
    assert np.mean(names["predictions"] == y) == line["test_score"]
    text = (tmp_path / "README.txt").read_text(encoding="utf-8")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "model.predict(table)  # columns by name, text as it is" in text
    for said in ("CEGB, Greedy Miser and GBRT take text as categories", "1 value that the table"):
        assert said in text
        assert said in page
