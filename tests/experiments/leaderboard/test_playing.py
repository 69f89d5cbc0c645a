"""The leaderboard end to end at its smallest scale: chosen, kept, judged, shown, added to."""

import json

import numpy as np
import pandas as pd
import pytest

from datasets import aslib_sat12
from experiments.cell import Cell
from experiments.compare import limited
from experiments.leaderboard import (
    adding,
    edition,
    judging,
    kept,
    page,
    plan,
    problems,
    results,
    times,
    trials,
    variants,
)
from experiments.leaderboard.budgets import declared
from experiments.leaderboard.card import leaderboard_card
from experiments.leaderboard.fields import Field, fields
from experiments.leaderboard.questions import ABLATION
from experiments.methods import boosted
from experiments.methods.table import METHODS, method_of
from experiments.publishing.report import page as report
from experiments.running.store import Store
from tests.experiments.compare.test_comparison import InThisProcess
from tests.experiments.compare.test_documented import blocks
from tests.experiments.compare.test_methods import DRAW, made

DIGITS = Field("digits", "uniform")
SLUGS = ("cegb", "gbrt", "early_exit", "cronus")
OWN = "my_module:Cheapest"


def play(folder, methods, pool, divisions=(1, 2)):
    """Train what is lacking of the smallest scale, and say what was."""
    trials = folder / "leaderboard" / kept.FOLDER
    lacking = edition.pending(trials, fields("check"), divisions, methods)
    edition.run(lacking, "check", trials, Store(folder / "store"), pool)
    return trials


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
    """The folder of the trials of two divisions, judged and published."""
    trials = play(folder, [METHODS[slug] for slug in SLUGS], InThisProcess())
    results.publish(folder / "leaderboard", fields("check"), 2)
    return trials


def test_what_is_finished_is_kept_and_another_checkout_goes_on(outcome, folder, tmp_path):
    methods, pool = [METHODS[slug] for slug in SLUGS], InThisProcess()
    assert edition.pending(outcome, fields("check"), (1, 2), methods) == []
    before = kept.path_of(outcome, DIGITS, 2).read_bytes()
    kept.path_of(outcome, DIGITS, 2).unlink()
    play(folder, methods, pool)  # from the store
    assert pool.computed == []
    assert kept.path_of(outcome, DIGITS, 2).read_bytes() == before
    more = [*methods, METHODS["greedy_miser"]]  # which the files lack
    elsewhere = tmp_path / "leaderboard" / kept.FOLDER
    elsewhere.mkdir(parents=True)
    for file in outcome.iterdir():
        (elsewhere / file.name).write_bytes(file.read_bytes())
    assert edition.minutes(elsewhere, edition.pending(elsewhere, fields("check"), (1,), more),
                           "check") < 2  # fmt: skip
    play(tmp_path, more, pool, (1,))
    assert {slug for _, slug in pool.computed} == {"greedy_miser"}
    lines = kept.read(elsewhere, DIGITS, 1)
    assert lines["method"].unique()[0] == "constant"
    assert set(lines["method"]) == {*SLUGS, "greedy_miser", "constant"}
    assert len(lines[lines["method"] == "constant"]) == 1


def test_an_edition_goes_on_with_the_sources_it_began_with(outcome, tmp_path):
    meta = kept.read_meta(outcome)
    assert {"1", "2"} == set(meta["data"][DIGITS.name])
    problem = problems.load(DIGITS.name, scale="check", seed=0)
    for changed, why in (
        ({"sources": "others"}, "with other sources: go on from a checkout of that commit"),
        ({"data": {DIGITS.name: {"1": {"checksum": "another"}}}}, "has other rows here"),
    ):
        kept.write_meta(tmp_path, meta | changed)
        with pytest.raises(edition.OtherSources, match=why):
            edition.checked_meta(tmp_path, "check", DIGITS, 1, problem)


def test_scores_are_those_of_the_best_validation_score_within_the_budget(outcome):
    budgets = declared()[DIGITS.name]
    for division in (1, 2):
        lines = kept.read(outcome, DIGITS, division)
        judged = judging.judged(DIGITS, division, lines).set_index(["method", "budget"])
        assert set(judged.index.get_level_values("budget")) == set(budgets)
        assert judged["one_feature"].groupby("budget").first().tolist() == [1] + [0] * 6
        constant = lines.iloc[0]["test_score"]
        for (method, budget), line in judged.iterrows():
            pool = lines[(lines["method"] == method) & (lines["valid_cost"] <= budget * (1 + 1e-9))]
            if method == "constant" or pool.empty:
                assert (line["score"], line["cost"]) == (constant, 0)
                continue
            best = pool[pool["valid_score"] == pool["valid_score"].max()]
            best = best[best["valid_cost"] == best["valid_cost"].min()]
            assert line["score"] in set(best["test_score"])


def test_who_cannot_take_part_says_why(outcome, folder):
    skipped = pd.read_csv(folder / "leaderboard" / "skipped.csv")
    assert skipped[["method", "why"]].to_numpy().tolist() == [
        ["cronus", "it tells 2 classes apart, and there are 10"]
    ]


def test_choosing_by_hand():
    columns = ["method", "trial", "budget", "cut", "valid_score", "valid_cost", "test_score"]
    lines = pd.DataFrame(
        [
            ("m", 0, 1.0, 5, 0.7, 0.9, 0.1),
            ("m", 1, 2.0, 3, 0.8, 1.5, 0.2),
            ("m", 2, 2.0, 4, 0.8, 1.2, 0.3),  # as good, and cheaper
            ("m", 3, 2.0, 4, 0.6, 1.2, 0.4),
            ("m", 3, 4.0, 9, 0.9, 3.2, 0.5),
            ("n", 0, np.nan, np.nan, np.nan, np.nan, np.nan),
        ],
        columns=columns,
    )
    chosen = judging.chosen(lines, (0.5, 1.0, 2.0, 3.0, 4.0))
    assert chosen[["budget", "trial"]].to_numpy().tolist() == [[1, 0], [2, 2], [3, 2], [4, 3]]


def test_long_lists_of_features_are_not_named():
    names = [f"x{k}" for k in range(21)]
    said = trials.shortened({"features": names, "rounds": 3})
    assert json.loads(said) == {"features": "21 features", "rounds": 3}
    assert json.loads(trials.shortened({"features": names[:20]})) == {"features": names[:20]}


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
    rows = {row["budget"]: row for row in trials.run_trial(Cell("a@b", "gbrt", params), problem)}
    row = {}
    for budget, (score, cost, cut) in wanted.items():
        row = rows.get(budget, row)  # else as at the budget before
        found = row["valid_score"], -row["valid_cost"], -row["cut"]
        assert found == pytest.approx((score, cost, cut), rel=1e-5)
        test, chosen = problem.parts["test"], model.model(row["cut"])
        assert row["test_score"] == pytest.approx(np.mean(chosen.predict(test.X) == test.y), 1e-5)
        assert row["test_cost"] == pytest.approx(chosen.prediction_cost(test.X).mean(), rel=1e-5)


@pytest.mark.parametrize("slug", ["cegb", "greedy_miser"])
def test_the_largest_tradeoff_is_where_hardly_anything_is_spent(slug, here):
    problem = made()
    method, draw = METHODS[slug], {**DRAW, "rounds": plan.ROUNDS_OF_A_TOP}

    def spent(tradeoff):
        made = method(problem, draw | {"tradeoff": tradeoff})
        *_, (_, costs) = made.follow(problem.parts["valid"]) if made.cuts else [(None, [0.0])]
        return np.mean(costs)

    params = {"train": plan.trained_by(method), "draw": draw, "range": [1e-7, 1e3], "least": 1.0,
              "otherwise": 0.25, "scale": "check", "seconds": 9}  # fmt: skip
    (found,) = trials.run_top(Cell("a@b", slug, params), problem)
    assert spent(found["top"]) <= 1.0 < spent(found["top"] / 1.3)
    params = params | {"least": -1.0}  # which every model spends
    assert trials.run_top(Cell("a@b", slug, params), problem) == [{"top": 0.25}]


def test_rows_pay_what_they_took(monkeypatch):
    """Of a group that any feature is of, and of what it needs, each once."""
    problem = made()
    model = boosted.gbrt(problem, DRAW)
    part = problem.parts["valid"]
    took = np.random.default_rng(0).random((len(part), 10))
    monkeypatch.setattr(aslib_sat12, "bill", lambda acquired, seconds: acquired @ seconds[0, :3])
    billed = list(problems.bills(model, part, took))
    for cut, (answer, cost) in zip(model.cuts, billed, strict=True):
        one = model.model(cut)
        np.testing.assert_array_equal(answer, one.predict(part.X))
        np.testing.assert_allclose(cost, np.asarray(one.acquired_features(part.X)) @ took[0, :3])
    plain = list(problems.bills(model, part, None))
    np.testing.assert_allclose(plain[-1][1], model.model(model.cuts[-1]).prediction_cost(part.X))


@pytest.mark.parametrize(
    ("slug", "tradeoff"),
    [("cegb_from_zero", 0.003), ("cegb_all_splits", 0.05), ("cegb_paid_by_model", 0.003)],
)
def test_a_variant_is_another_model_under_the_same_meter(slug, tradeoff):
    problem = made(n_classes=3)
    draw, test = DRAW | {"tradeoff": tradeoff}, problem.parts["test"].X
    variant, cegb = variants.VARIANTS[slug](problem, draw), METHODS["cegb"](problem, draw)
    model = variant.model(variant.cuts[-1])
    assert 0 < model.prediction_cost(test).max() <= problem.feature_costs.sum()
    plain = cegb.model(cegb.cuts[-1]) if cegb.cuts else None  # no split is worth as much
    assert plain is None or not np.array_equal(*(m.decision_function(test) for m in (model, plain)))
    assert set(variants.VARIANTS) == set(ABLATION)


def test_too_little_is_not_published(outcome, folder, tmp_path):
    with pytest.raises(results.TooFew, match=r"No field has 3 divisions \(digits@uniform 2\)"):
        results.publish(folder / "leaderboard", fields("check"), 3)
    with pytest.raises(results.TooFew, match="none has any"):
        results.publish(tmp_path, fields("check"), 3)


def test_the_readmes_method_is_trained_alone(outcome, folder, here, tmp_path, monkeypatch):
    (code,) = blocks("experiments/leaderboard/README.md", "A method of your own")
    (tmp_path / "my_module.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    pool, published, said = InThisProcess(), folder / "leaderboard", []
    store = Store(folder / "store")
    placed = adding.add(OWN, published, folder / "added", store, pool, say=said.append)
    assert [slug for _, slug in pool.computed] == [OWN] * 4  # two draws of two divisions
    ranked = pd.read_csv(folder / "added" / "ranking.csv")
    assert set(ranked["method"]) == {OWN, "cegb", "gbrt", "early_exit"}
    assert placed.startswith("Cheapest was trained on one data set alone")
    assert said[1].startswith("The second took ")
    mine = pd.read_csv(folder / "added" / "scores.csv").query("method == @OWN")
    assert mine["score"].max() > 0.2
    assert mine["one_feature"].sum() == 1
    meta = json.loads((published / "meta.json").read_text())
    meta["data"][DIGITS.name]["1"]["checksum"] = "another"
    with pytest.raises(adding.NotComparable, match=r"digits@uniform has other rows here"):
        adding.check_field(DIGITS.name, 1, "this", meta)
    assert method_of(OWN).tasks == ("classification",)


def test_chosen_models_are_timed_once(outcome, folder, monkeypatch):
    published, said = folder / "leaderboard", []
    path = times.measure(published, [DIGITS], "check", said.append)
    table = pd.read_csv(path)
    assert table["method"].tolist() == ["cegb", "early_exit", "gbrt"]  # who could take part
    assert (table[["train_s", "predict_us"]] > 0).all(axis=None)
    assert len(said) == 1
    monkeypatch.setattr(times, "timed", None)  # is not needed again
    before = path.read_bytes()
    times.measure(published, [DIGITS], "check", said.append)
    assert path.read_bytes() == before
    monkeypatch.setattr(times, "timed", lambda *_: (1.0, 2.0))
    table.assign(processor="another").to_csv(path, index=False)
    times.measure(published, [DIGITS], "check", said.append)
    assert pd.read_csv(path)["train_s"].tolist() == [1.0] * 3
    line = f'<td>{page.name_of("gbrt")}</td><td class="number">1 s</td>'
    assert line in page.rendered(published)
    path.unlink()


def test_the_page_says_what_the_files_say(outcome, folder):
    published = folder / "leaderboard"
    text = page.rendered(published)
    ranking = pd.read_csv(published / "ranking.csv")
    for line in ranking.itertuples():
        assert f"<td>{page.name_of(line.method)}</td>" in text
    assert "http" not in text.replace("http://www.w3.org", "").replace("http://purl.org", "")
    scores = pd.read_csv(published / "scores.csv")
    (cheapest,) = page.cheapest_near_best(scores).to_dict("records")
    near = scores[scores["score"] >= 0.99 * scores["score"].max()]
    assert cheapest["cost"] == near["cost"].min()
    assert f"{len(ranking)} methods" in leaderboard_card(folder)
    assert leaderboard_card(folder / "nowhere") == ""


def test_who_has_no_model_for_one_feature_is_not_named_for_it():
    columns = ["dataset", "prices", "method", "budget", "one_feature", "score", "cost"]
    scores = {"s": {"and_or_cascade": 0.5, "constant": 0.5, "gbrt": 0.4},
              "t": {"constant": 0.5, "gbrt": 0.6}}  # fmt: skip
    lines = [(name, "u", method, 1.0, 1, score, float(method == "gbrt"))
             for name, of_set in scores.items() for method, score in of_set.items()]  # fmt: skip
    found = page.one_feature(pd.DataFrame(lines, columns=columns), ["and_or_cascade", "gbrt"])
    assert [line["method"] for line in found] == ["constant", "gbrt"]


def test_the_overview_has_the_card(outcome, folder):
    index = report.build(folder, [])["index.html"]
    assert str(leaderboard_card(folder)) in index
    assert 'href="leaderboard.html"' in index
    assert "leaderboard.html" not in report.build(folder / "nowhere", [])["index.html"]


def test_wins_and_losses_mirror_each_other():
    lines = [("s", "u", 1, "a", 0.5), ("s", "u", 1, "b", 0.4), ("t", "u", 1, "a", 0.1),
             ("t", "u", 1, "b", 0.3)]  # fmt: skip
    areas = pd.DataFrame(lines, columns=["dataset", "prices", "division", "method", "area"])
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
