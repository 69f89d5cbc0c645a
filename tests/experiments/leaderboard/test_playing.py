"""The leaderboard end to end at its smallest scale: chosen, kept, judged, shown, added to."""

import json

import numpy as np
import pandas as pd
import pytest

from experiments.cell import Cell
from experiments.compare import limited
from experiments.leaderboard import adding, editions, judging, page, per_row, problems, results
from experiments.leaderboard.budgets import declared
from experiments.leaderboard.card import leaderboard_card
from experiments.leaderboard.fields import Field
from experiments.leaderboard.trials import packed, run_trial, unpacked
from experiments.methods import boosted
from experiments.methods.table import METHODS, method_of
from experiments.publishing.report import page as report
from experiments.running import workers
from tests.experiments.compare.test_methods import DRAW, made

DIGITS = Field("digits", "uniform")
SLUGS = ("cegb", "gbrt", "early_exit", "cronus")
OWN = "tests.experiments.leaderboard.own_method:NearestMean"


class InThisProcess:
    """Workers that are none, and count."""

    def __init__(self):
        self.computed = []

    def compute(self, tasks):
        for index, task in enumerate(tasks):
            self.computed.append(task.cell.algorithm)
            yield index, workers.compute(task)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("board")


@pytest.fixture(scope="module")
def here():
    """Trials run in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limited, "POSSIBLE", False)
        yield


@pytest.fixture(scope="module")
def outcome(folder, here):
    methods = [METHODS[slug] for slug in SLUGS]
    played = results.played("check", (), methods, folder, InThisProcess())
    results.write(folder / "leaderboard", played)
    return played


def test_finished_trials_are_kept(outcome, folder):
    again = InThisProcess()
    methods = [METHODS[slug] for slug in SLUGS]
    same = results.played("check", (), methods, folder, again)
    assert again.computed == []
    pd.testing.assert_frame_equal(same.scores, outcome.scores)
    damaged = next((folder / "store").rglob("*.jsonl"))
    damaged.write_text("{}")
    results.played("check", (), methods, folder, again)
    assert len(again.computed) == 1


def test_scores_are_those_of_the_best_validation_score_within_the_budget(outcome, folder):
    budgets = declared()[DIGITS.name]
    every = []
    for file in (folder / "store").rglob("*.jsonl"):
        every += [json.loads(line) for line in file.read_text().splitlines()[1:]]
    table = outcome.scores.set_index(["method", "budget"])
    chosen = outcome.chosen.set_index(["method", "budget"])
    for (method, budget), line in chosen.iterrows():
        assert line["valid_cost"] <= budget
        same = {"budget": budget, **line[["valid_score", "valid_cost"]]}
        scores = {row["test_score"] for row in every if same.items() <= row.items()}
        assert table.loc[(method, budget), "score"] in scores
    for method in ("cegb", "gbrt"):
        assert chosen.loc[method, "valid_score"].is_monotonic_increasing
    missing = [key for key in table.index if key not in chosen.index and key[0] != "constant"]
    for key in missing:  # nothing within the budget: what answers always alike
        assert table.loc[key, "score"] == table.loc[("constant", key[1]), "score"]
        assert table.loc[key, "cost"] == 0
    assert set(table.index.get_level_values("budget")) == set(budgets)
    assert (table["low"] <= table["score"]).all()
    assert (table["score"] <= table["high"]).all()


def test_long_lists_of_features_are_not_named():
    names = [f"x{k}" for k in range(21)]
    said = judging.shortened(json.dumps({"features": names, "rounds": 3}))
    assert json.loads(said) == {"features": "21 features", "rounds": 3}
    few = json.dumps({"features": names[:20]})
    assert judging.shortened(few) == few


def test_who_cannot_take_part_says_why(outcome):
    assert [(s.method, s.why) for s in outcome.skipped] == [
        ("cronus", "it tells 2 classes apart, and there are 10")
    ]


def test_choosing_by_hand():
    def trial(number, *rows):
        cell = Cell("a@b", "m", {"trial": number})
        units = {"units": packed(value=[1.0], cost=[1.0]), "parameters": "{}"}
        return cell, [dict(zip(("budget", "cut", "valid_score", "valid_cost"), r, strict=True))
                      | units for r in rows], 0.0  # fmt: skip

    finished = [
        trial(0, (1.0, 5, 0.7, 0.9), (2.0, 5, 0.7, 0.9)),
        trial(1, (2.0, 3, 0.8, 1.5)),
        trial(2, (2.0, 4, 0.8, 1.2)),  # as good, and cheaper
        (Cell("a@b", "m", {"trial": 3}), [{"failed": "it crashed"}], 0.0),
    ]
    chosen = judging.choose(finished, (1.0, 2.0))
    assert {key: row["trial"] for key, row in chosen.items()} == {("m", 1.0): 0, ("m", 2.0): 2}
    lost = judging.losses(finished)
    assert lost.to_dict("records") == [
        {"dataset": "a", "prices": "b", "method": "m", "trials": 4, "lost": 1, "why": "it crashed"}
    ]
    np.testing.assert_array_equal(unpacked(packed(value=[0.5, 1.0]))["value"], [0.5, 1.0])


def test_a_trials_cut_is_chosen_by_validation_rows(here):
    problem = made(n_classes=3, n=150)
    model = boosted.gbrt(problem, DRAW)

    def by(part):
        """The best cut within each budget by a part's rows, and its score and cost there."""
        rows = problem.parts[part]
        measured = [
            (np.mean(each.predict(rows.X) == rows.y), -each.prediction_cost(rows.X).mean(), -cut)
            for cut in model.cuts
            for each in [model.model(cut)]
        ]
        return {b: max(m for m in measured if -m[1] <= b) for b in (9.0, 10.5, 12.0)}

    wanted = by("valid")
    assert [m[2] for m in by("test").values()] != [m[2] for m in wanted.values()]
    train = f"{boosted.__name__}:gbrt"
    params = {"train": train, "draw": DRAW, "budgets": list(wanted), "scale": "check", "seconds": 9}
    for row in run_trial(Cell("a@b", "gbrt", params), problem):
        score, cost, cut = wanted.pop(row["budget"])
        found = row["valid_score"], -row["valid_cost"], -row["cut"]
        assert found == pytest.approx((score, cost, cut), rel=1e-5)
        test, chosen = problem.parts["test"], model.model(row["cut"])
        assert row["test_score"] == pytest.approx(np.mean(chosen.predict(test.X) == test.y), 1e-5)
        assert row["test_cost"] == pytest.approx(chosen.prediction_cost(test.X).mean(), rel=1e-5)
    assert not wanted


def test_rows_are_kept_for_others(outcome, tmp_path, monkeypatch):
    table = per_row.table_of(outcome.judged)
    problem = problems.load(DIGITS.name, scale="check")
    chosen = outcome.chosen.iloc[-1]
    its = table[(table["method"] == chosen["method"]) & (table["trial"] == chosen["trial"])]
    its = its[np.isclose(its["cut"], chosen["cut"])]
    score, cost = (its.loc[its["kind"] == kind, "value"] for kind in ("score", "cost"))
    assert len(score) == len(cost) == len(problem.parts["test"])
    assert cost.mean() == pytest.approx(chosen["test_cost"], rel=1e-5)
    pytest.importorskip("pyarrow")
    path = per_row.write(tmp_path, outcome.judged)
    assert [file.name for file in path.iterdir()] == ["digits.parquet"]
    assert len(per_row.read(path)) == len(table)
    monkeypatch.setattr(per_row, "LARGEST", 10)
    moved = per_row.write(tmp_path, outcome.judged, tmp_path / "aside")
    assert (moved.parent.name, path.exists()) == ("aside", False)


def test_a_method_of_ones_own_is_trained_alone(outcome, folder, here):
    pool, published = InThisProcess(), folder / "leaderboard"
    meta = json.loads((published / "meta.json").read_text())
    ranked = adding.add(OWN, published, meta, folder / "added", folder, pool)
    assert set(pool.computed) == {OWN}
    assert set(ranked["method"]) == {OWN, "cegb", "gbrt", "early_exit"}
    mine = pd.read_csv(folder / "added" / "scores.csv").query("method == @OWN")
    assert mine["score"].max() > 0.2
    meta["data"][DIGITS.name]["checksum"] = "another"
    with pytest.raises(adding.NotComparable, match=r"digits@uniform has other rows here"):
        adding.add(OWN, published, meta, folder / "added", folder, pool)
    assert method_of(OWN).tasks == ("classification",)


def test_the_page_says_what_the_files_say(outcome, folder):
    published = folder / "leaderboard"
    text = page.rendered(published)
    ranking = pd.read_csv(published / "ranking.csv")
    for line in ranking.itertuples():
        assert f"<td>{page.name_of(line.method)}</td>" in text
    assert "http" not in text.replace("http://www.w3.org", "").replace("http://purl.org", "")
    (cheapest,) = page.cheapest_near_best(outcome.scores).to_dict("records")
    near = outcome.scores[outcome.scores["score"] >= 0.99 * outcome.scores["score"].max()]
    assert cheapest["cost"] == near["cost"].min()
    card = leaderboard_card(folder)
    assert f"{len(ranking)} methods" in card
    assert leaderboard_card(folder / "nowhere") == ""
    assert editions.freeze(published, "first").name == "first"
    for name, why in (("first", "already"), ("../x", "letters")):
        with pytest.raises(editions.Taken, match=why):
            editions.freeze(published, name)


def test_the_overview_has_the_card(outcome, folder):
    index = report.build(folder, [])["index.html"]
    assert str(leaderboard_card(folder)) in index
    assert 'href="leaderboard.html"' in index
    assert "leaderboard.html" not in report.build(folder / "nowhere", [])["index.html"]


def test_wins_and_losses_mirror_each_other():
    areas = pd.DataFrame(
        [("s", "u", "a", 0.5), ("s", "u", "b", 0.4), ("t", "u", "a", 0.1), ("t", "u", "b", 0.3)],
        columns=["dataset", "prices", "method", "area"],
    )
    assert page.pairs(areas).loc["a", "b"] == page.pairs(areas).loc["b", "a"] == "1–1"


# --- limits -------------------------------------------------------------------------------------


def spin(cell, problem):
    while True:
        pass


def crash(cell, problem):
    import os

    os.abort()


def add_up(cell, problem):
    print("what a library prints is no answer")
    return [{"sum": cell.params["one"] + problem}]


def load_two(name):
    return 2


@pytest.mark.slow
@pytest.mark.skipif(not limited.POSSIBLE, reason="the system ends no process")
def test_a_trial_that_crashes_or_needs_too_long_is_lost_and_nothing_else():
    def run(function):
        here = "tests.experiments.leaderboard.test_playing"
        cell = Cell("d", "m", {"one": 1})
        return limited.run(f"{here}:{function}", cell, f"{here}:load_two", {"name": "d"}, 1.0)

    assert run("crash") == [{"failed": "its process ended with SIGABRT"}]
    assert run("add_up") == [{"sum": 3}]
    assert run("spin") == [{"failed": "it needs more than 1 s of processor time"}]
    assert run("add_up") == [{"sum": 3}]  # in a new process
