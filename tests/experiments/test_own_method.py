"""A method of twenty lines: the same class in ``compare``, in the leaderboard and in figures."""

import sys
import types
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterSampler

import datasets
from algorithms.registry import ahead
from experiments import cli
from experiments.cegb_2017 import figure2
from experiments.compare import command, limited
from experiments.greedy_miser_2012 import figure1
from experiments.leaderboard import command as leaderboard
from experiments.leaderboard import results
from experiments.leaderboard.fields import fields
from experiments.methods import users_class
from experiments.methods.table import METHODS
from experiments.publishing import output
from experiments.registry import Registry
from experiments.running.provenance import ROOT
from experiments.running.suite import Suite
from tests.experiments.compare import grouped_table
from tests.experiments.compare.test_comparison import InThisProcess
from tests.experiments.compare.test_documented import blocks
from tests.experiments.leaderboard.test_playing import play

OWN = "my_methods:CheapestFirst"


class Here(InThisProcess):
    def __init__(self, *_):
        super().__init__()

    def check_equal(self, *_):
        pass


@pytest.fixture
def trained_by(tmp_path, monkeypatch):
    """Who trains the class of the page, each time; it is in a folder of the user's."""
    (code,) = blocks("docs/compare.md", "A method of your own")
    (tmp_path / "my_methods.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    kind, callers = users_class.imported(OWN), []
    fit = kind.fit

    def seen(self, X, y):
        caller = sys._getframe(1)
        callers.append((caller.f_globals["__name__"], caller.f_code.co_name))
        return fit(self, X, y)

    monkeypatch.setattr(kind, "fit", seen)
    monkeypatch.setattr(limited, "POSSIBLE", False)  # trials run in this process
    monkeypatch.setattr(ahead, "compile_all", lambda: 0)
    for module in (cli, command, leaderboard):
        monkeypatch.setattr(module, "Workers", Here)
    yield callers
    assert set(callers) == {(users_class.__name__, "of_the_user")}
    sys.modules.pop("my_methods", None)


@pytest.mark.slow
def test_in_compare(trained_by, tmp_path):
    grouped_table.drawn(120).to_csv(tmp_path / "table.csv", index=False)
    asked = ["--target", "y", "--budgets", "2", "--trials", "2", "--rounds", "2"]
    out = ["--only", "gbrt", "--out", str(tmp_path / "out"), "--quiet"]
    given = ["compare", str(tmp_path / "table.csv"), *asked, *out, "--method", OWN]
    assert cli.main(given, types.SimpleNamespace()) == 0
    assert OWN in set(pd.read_csv(tmp_path / "out" / "table.csv")["method"])


@pytest.mark.slow
def test_in_the_leaderboard(trained_by, tmp_path):
    suite = Suite(Registry(()), datasets, results=tmp_path)
    play(tmp_path, [METHODS["gbrt"]], Here(), (1,))
    results.publish(tmp_path / "leaderboard", fields("check"), 1)
    assert cli.main(["leaderboard", "add", OWN, "--quiet"], suite) == 0
    ranked = pd.read_csv(tmp_path / "runs" / "leaderboard-added" / "ranking.csv")
    assert set(ranked["method"]) == {OWN, "gbrt"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("artefact", "panel", "beside"),
    [
        (figure2.ARTEFACT, "d", ["cegb", "gbrt"]),
        (figure1.ARTEFACT, "g", ["greedy_miser", "stagewise"]),
    ],
)
def test_in_a_figure(trained_by, tmp_path, artefact, panel, beside):
    """It is a further curve; all other rows are those that are expected of them."""

    def few(scale, seeds):
        cells = artefact.make_cells(scale, seeds)
        return [c for c in cells if c.params["panel"] == panel and c.algorithm in beside]

    suite = Suite(Registry([replace(artefact, make_cells=few)]), datasets, results=tmp_path)
    asked = ["--scale", "smoke", "--seeds", "1", "--method", OWN, "--quiet"]
    assert cli.main(["reproduce", artefact.id, *asked], suite) == 0
    folder = tmp_path / "runs" / f"{artefact.id}-set"
    rows = pd.read_csv(folder / "rows.csv")
    own, others = (rows[rows["set"].notna() == is_own] for is_own in (True, False))
    expected = output.read_expected(ROOT / "results" / "expected" / f"{artefact.id}.csv")
    of_others = others[["panel", "algorithm", "seed"]].drop_duplicates()
    expected = expected.merge(of_others).reset_index(drop=True)
    others = others.drop(columns="set").reset_index(drop=True)
    assert len(expected) > 10
    pd.testing.assert_frame_equal(others, expected[others.columns], rtol=1e-3, check_dtype=False)
    assert set(own["algorithm"]) == {OWN}
    of_figure = few("smoke", range(1))
    cell = of_figure[0]
    data = datasets.load(cell.dataset, scale="smoke", seed=cell.seed)
    train, test = (pd.DataFrame(X) for X in (data.X_train, data.X_test))
    space = users_class.imported(OWN).search_space
    assert len(own) == sum(each.algorithm == artefact.of_users[0] for each in of_figure)
    for number, row in enumerate(own.itertuples()):
        (drawn,) = ParameterSampler(space, 1, random_state=number)
        cheapest = np.argsort(data.feature_costs)[: drawn["n_features"]]
        model = LogisticRegression(C=drawn["C"], max_iter=1000)
        model.fit(train[cheapest], data.y_train)
        assert row.test_score == pytest.approx(model.score(test[cheapest], data.y_test), abs=1e-5)
        assert row.test_cost == pytest.approx(data.feature_costs[cheapest].sum(), rel=1e-5)
    curves = pd.read_csv(folder / "curves.csv")
    assert f"CheapestFirst · {own['set'].iloc[0]}" in set(curves["curve"])


def test_what_is_no_method_or_no_place_for_one(capsys):
    own_methods = "tests.experiments.compare.own_methods"
    for asked, said in (
        (["cegb-figure2", "--method", "nowhere:Nothing"], "nowhere cannot be imported"),
        (["cegb-figure2", "--method", f"{own_methods}:WithoutMeter"], "has no prediction_cost"),
        (["cegb-figure1", "--method", f"{own_methods}:Threshold"], "takes no class of your own"),
    ):
        assert cli.main(["reproduce", *asked, "--dry-run"]) == 2
        assert said in capsys.readouterr().err
