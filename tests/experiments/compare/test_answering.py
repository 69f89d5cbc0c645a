"""Answers before the last: when, from what, and that the last is as if there were none."""

import json

import numpy as np
import pandas as pd
import pytest

from algorithms.registry import load_model
from experiments.compare import answering, plan
from experiments.compare.comparison import compare
from experiments.compare.outcome import Search
from experiments.compare.preparing import Asked
from experiments.methods.table import METHODS
from tests.experiments.compare.test_comparison import InThisProcess

SEARCH = Search(
    (1.0, 3.0), trials=4, rounds=3, only=("gbrt", "cegb", "greedy_miser", "viola_jones")
)


@pytest.fixture(scope="module")
def question(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    X = np.random.default_rng(0).normal(size=(200, 4)).round(2)
    table = pd.DataFrame(X, columns=list("abcd")).assign(y=(X[:, 0] + X[:, 1] > 0).astype(int))
    table.to_csv(folder / "t.csv", index=False)
    return Asked(folder / "t.csv", "y")


def written(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "trials" not in path.parts
    }


def test_the_last_answer_is_as_if_there_were_no_others(question, tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    monkeypatch.setattr(answering, "_WORTH", -1.0)
    with caplog.at_level("INFO", "experiments"):
        compare(question, SEARCH, tmp_path / "out", InThisProcess())
    said = [r.getMessage() for r in caplog.records if r.getMessage().startswith("after ")]
    assert [": first answer, from 12 of about" in one for one in said] == [True, False, False]
    assert all(": a better answer, from " in one for one in said[1:])
    assert all("\n  budget 1: " in one and "\n  budget 3: " in one for one in said)
    with_early = written(tmp_path / "out")
    (tmp_path / "out").rename(tmp_path / "before")
    monkeypatch.setattr(answering, "_WORTH", np.inf)
    compare(question, SEARCH, tmp_path / "out", InThisProcess())
    assert written(tmp_path / "out") == with_early
    assert "SO FAR" not in (tmp_path / "out" / "README.txt").read_text("utf-8")


def test_an_interrupted_run_keeps_its_answer(question, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(answering, "_WORTH", -1.0)
    pool, whole = InThisProcess(), InThisProcess.compute

    def interrupted(self, tasks):
        if (tmp_path / "page.html").exists():
            raise KeyboardInterrupt
        yield from whole(self, tasks)

    monkeypatch.setattr(InThisProcess, "compute", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compare(question, SEARCH, tmp_path, pool)
    assert f"{tmp_path / 'README.txt'} has the answer from 12 of about " in caplog.text
    monkeypatch.setattr(InThisProcess, "compute", whole)
    text = (tmp_path / "README.txt").read_text("utf-8")
    assert "SO FAR: this answer is from 12 of about" in text
    assert "So far:" in (tmp_path / "page.html").read_text("utf-8")
    table = pd.read_csv(tmp_path / "table.csv")
    assert table.groupby("budget").size().tolist() == [answering.N_LEADING] * 2
    line = table[(table["budget"] == 1) & table["recommended"]].iloc[0]
    model = load_model(tmp_path / "models" / "budget-1.zip")
    assert model.prediction_cost(pd.read_csv(question.table)).mean() <= 1.0
    assert json.loads(line["parameters"])
    again = InThisProcess()
    compare(question, SEARCH, tmp_path, again)
    assert "SO FAR" not in (tmp_path / "README.txt").read_text("utf-8")
    n_first = len([kind for kind, _ in pool.computed if kind == "run_trial"])
    assert n_first == 12
    assert ("run_subset", "feature subsets") not in again.computed


def test_each_stage_has_as_many_trainings_as_all_before():
    search, methods = Search((5.0, 7.0, 9.0)), [METHODS[s] for s in ("cegb", "lightgbm")]
    n = plan.n_further(search, 3)
    cells = [
        *plan.drawn_cells("", methods, search, 0, (0.1, 1.0)),
        *plan.further_cells("", methods, search, 0, {b: b for b in search.budgets},
                            [[0]] * 3 * n, (0.1, 1.0)),
    ]  # fmt: skip
    stages = plan.stages(cells, search, 3)
    assert sorted(map(id, cells)) == sorted(id(cell) for stage in stages for cell in stage)
    kinds = [cell.params["kind"] for cell in stages[0] if cell.algorithm == "lightgbm"]
    assert kinds == ["all features", "within 5", "within 9"]
    of_one = [sum(cell.algorithm == "lightgbm" for cell in stage) for stage in stages]
    assert of_one == [3, 3, 6, 12]
    assert {cell.params["kind"] for cell in stages[1]} >= {"within 7", "all features"}
    assert [cell.algorithm for cell in stages[0][:2]] == ["cegb", "lightgbm"]
    (alone,) = plan.stages(cells[:1], Search((), trials=1), 0)
    assert alone == cells[:1]
