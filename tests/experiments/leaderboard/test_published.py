"""What is published of the leaderboard, computed another way."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import datasets
from experiments.leaderboard import page, ratings
from experiments.leaderboard.budgets import declared
from experiments.leaderboard.fields import SCALES
from experiments.leaderboard.problems import METRICS
from experiments.leaderboard.questions import ABLATION
from experiments.running.provenance import ROOT

FOLDER = ROOT / "results" / "leaderboard"

published = pytest.mark.skipif(not (FOLDER / "ranking.csv").exists(), reason="none is published")


@pytest.fixture(scope="module")
def scores():
    return pd.read_csv(FOLDER / "scores.csv")


@pytest.fixture(scope="module")
def areas():
    return pd.read_csv(FOLDER / "areas.csv")


def within(lines, budget):
    """The line of the trials that validates best within a budget, of equal ones the cheaper."""
    best = None
    for line in lines:
        if line["valid_cost"] <= budget * (1 + 1e-9):
            key = -float(line["valid_score"]), float(line["valid_cost"])
            if best is None or key < best[0]:
                best = key, line
    return best and best[1]


@published
def test_scores_and_areas_are_those_of_the_trials(scores, areas):
    """Field by field, division by division, budget interval by budget interval."""
    meta = json.loads((FOLDER / "meta.json").read_text(encoding="utf-8"))
    found, means = {}, {}
    for field, divisions in meta["fields"].items():
        where = tuple(field.split("@"))
        first, *budgets = declared()[field]
        for division in divisions:
            lines = pd.read_csv(FOLDER / "trials" / f"{field}-{division}.csv.xz").to_dict("records")
            constant = lines[0]["test_score"]
            trained = {line["method"] for line in lines if line["trial"] == line["trial"]}
            curves = {}
            for method in trained:
                own = [line for line in lines if line["method"] == method and line["cut"] >= 0]
                best = {budget: within(own, budget) for budget in [first, *budgets]}
                tests = {b: line["test_score"] if line else constant for b, line in best.items()}
                for budget, score in tests.items():
                    means.setdefault((*where, method, budget), []).append(score)
                curves[method] = [tests[budget] for budget in budgets]
            ranked = {m: curve for m, curve in curves.items() if m not in ABLATION}
            high = max(max(curve) for curve in ranked.values())
            x = np.log(budgets)
            for method, y in curves.items():
                pieces = [
                    (x[k + 1] - x[k]) * ((y[k] + y[k + 1]) / 2 - constant)
                    for k in range(len(x) - 1)
                ]
                area = sum(pieces) / (x[-1] - x[0]) / (high - constant)
                found[(*where, division, method)] = area
    there = areas.set_index(["dataset", "prices", "division", "method"])["area"].to_dict()
    assert there == pytest.approx(found, abs=2e-6)
    scores = scores[scores["method"] != "constant"]
    there = scores.set_index(["dataset", "prices", "method", "budget"])["score"].to_dict()
    assert there == pytest.approx({k: np.mean(v) for k, v in means.items()}, abs=2e-6)


@published
def test_times_are_those_of_the_models_that_validate_best():
    for (dataset, prices), table in pd.read_csv(FOLDER / "times.csv").groupby(
        ["dataset", "prices"]
    ):
        field = f"{dataset}@{prices}"
        lines = pd.read_csv(FOLDER / "trials" / f"{field}-1.csv.xz").to_dict("records")
        for one in table.itertuples():
            own = [line for line in lines if line["method"] == one.method and line["cut"] >= 0]
            best = within(own, declared()[field][-1])
            assert (one.trial, one.cut) == (best["trial"], best["cut"])
            assert one.train_s > 0
            assert one.predict_us > 0


@published
def test_the_ranking_is_that_of_the_areas(areas):
    ranking = pd.read_csv(FOLDER / "ranking.csv").set_index("method")
    methods = sorted(set(areas["method"]) - set(ABLATION))
    assert sorted(ranking.index) == methods
    fields = {(line.dataset, line.prices, line.division) for line in areas.itertuples()}
    of = {(a.dataset, a.prices, a.division, a.method): a.area for a in areas.itertuples()}
    everywhere = [m for m in methods if all((*field, m) in of for field in fields)]
    by_set, ranks = {m: [] for m in methods}, []
    for dataset in sorted({field[0] for field in fields}):
        divisions = {d for name, _, d in fields if name == dataset}
        lists = {p for name, p, _ in fields if name == dataset}
        for method in methods:
            each = [np.mean([of.get((dataset, p, d, method), 0.0) for p in lists])
                    for d in divisions]  # fmt: skip
            by_set[method].append(np.mean(each))
        ranks.append(stats.rankdata([-round(by_set[m][-1], 9) for m in everywhere]))
    for method in methods:
        line, means = ranking.loc[method], by_set[method]
        assert line["area"] == pytest.approx(np.mean(means), abs=6e-5)
        if line["n_sets"] > 1:
            ends = stats.t.interval(0.95, len(means) - 1, np.mean(means), stats.sem(means))
            assert (line["low"], line["high"]) == pytest.approx(ends, abs=6e-5)
        else:
            assert np.isnan(line["rank"])
    mean_ranks = dict(zip(everywhere, np.mean(ranks, axis=0), strict=True))
    assert ranking["mean_rank"].dropna().to_dict() == pytest.approx(mean_ranks, abs=6e-5)


@published
def test_every_field_has_the_metric_of_its_task(scores, monkeypatch):
    monkeypatch.setattr(page, "_svg", lambda draw, field, metric, unit: metric)
    metrics = {each["dataset"]: each["picture"] for each in page._fields(scores)}
    assert metrics.keys() == set(scores["dataset"])
    for dataset, metric in metrics.items():
        task = datasets.describe(dataset)["task"]
        assert metric == METRICS["ranking" if task == "ranking" else "classification"]


@pytest.mark.slow
@published
def test_the_page_is_that_of_the_files():
    text = (ROOT / "results" / "leaderboard.html").read_text(encoding="utf-8")
    assert text == page.rendered(FOLDER)
    assert not any(page.name_of(slug) in text for slug in ABLATION)  # variants have words alone


@published
def test_costs_are_within_reach_and_every_field_has_its_rows(scores):
    meta = json.loads((FOLDER / "meta.json").read_text(encoding="utf-8"))
    assert meta["scale"] in SCALES
    largest = scores.groupby(["dataset", "prices"])["budget"].transform("max")
    assert (scores["cost"] <= largest * (1 + 1e-6)).all()
    fields = {f"{d}@{p}" for d, p in zip(scores["dataset"], scores["prices"], strict=True)}
    assert fields == set(meta["fields"])


def test_nothing_to_rank_is_an_empty_ranking():
    nothing = pd.DataFrame(columns=ratings.AREAS)
    assert list(ratings.ranking(nothing)) == ratings.RANKING
    flat = pd.DataFrame(
        [("s", "u", 1, m, b, 0, 0.5) for m in ("constant", "a") for b in (1.0, 2.0)],
        columns=["dataset", "prices", "division", "method", "budget", "one_feature", "score"],
    )
    assert ratings.areas(flat, ratings.bounds(flat)).empty
