"""What is published of the leaderboard, computed another way."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

import datasets
from experiments.leaderboard import page, ratings
from experiments.leaderboard.fields import SCALES
from experiments.leaderboard.problems import METRICS
from experiments.running.provenance import ROOT

FOLDER = ROOT / "results" / "leaderboard"

published = pytest.mark.skipif(not (FOLDER / "ranking.csv").exists(), reason="none is published")


@pytest.fixture(scope="module")
def scores():
    return pd.read_csv(FOLDER / "scores.csv")


@pytest.fixture(scope="module")
def area(scores):
    """Area of each (data set, prices, method), budget interval by budget interval."""
    found = {}
    for (dataset, prices), field in scores.groupby(["dataset", "prices"]):
        by_method = {
            method: curve.sort_values("budget") for method, curve in field.groupby("method")
        }
        low, high = by_method["constant"]["score"].iloc[0], field["score"].max()
        for method, curve in by_method.items():
            if method == "constant" or high <= low:
                continue
            y, x = curve["score"].tolist(), np.log(curve["budget"]).tolist()
            pieces = [(x[k + 1] - x[k]) * ((y[k] + y[k + 1]) / 2 - low) for k in range(len(x) - 1)]
            found[dataset, prices, method] = sum(pieces) / (x[-1] - x[0]) / (high - low)
    return found


@published
def test_elo_and_mean_ranks(area):
    ranking = pd.read_csv(FOLDER / "ranking.csv").set_index("method")
    methods = sorted({key[2] for key in area})
    assert sorted(ranking.index) == methods
    won = np.zeros((len(methods), len(methods)))
    ranks = {method: {} for method in methods}
    for dataset in sorted({key[0] for key in area}):
        games = np.zeros_like(won)
        here = np.zeros_like(won)
        for prices in {key[1] for key in area if key[0] == dataset}:
            of = {m: area[dataset, prices, m] for m in methods if (dataset, prices, m) in area}
            order = dict(zip(of, stats.rankdata([-round(a, 9) for a in of.values()]), strict=True))
            for one, rank in order.items():
                ranks[one].setdefault(dataset, []).append(rank)
                for other, theirs in order.items():
                    if one != other:
                        at = methods.index(one), methods.index(other)
                        games[at] += 1
                        here[at] += 0.5 + 0.5 * np.sign(theirs - rank)
        won += here / np.maximum(games, 1)
    for method in methods:
        mean = np.mean([np.mean(of_set) for of_set in ranks[method].values()])
        assert ranking.loc[method, "mean_rank"] == pytest.approx(mean, abs=0.0051)
        assert ranking.loc[method, "n_sets"] == len(ranks[method])

    def unlikely(theta):
        gap = theta[:, None] - theta[None, :]
        drawn = 0.5 * np.sum(np.logaddexp(0, -theta) + np.logaddexp(0, theta))
        return np.sum(won * np.logaddexp(0, -gap)) + drawn

    best = optimize.minimize(unlikely, np.zeros(len(methods)), method="BFGS", tol=1e-9).x
    expected = 1500 + 400 * best / np.log(10)
    np.testing.assert_allclose(ranking.loc[methods, "elo"], expected, atol=0.6)


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


@published
def test_scores_are_within_their_intervals_and_costs_within_reach(scores):
    meta = json.loads((FOLDER / "meta.json").read_text(encoding="utf-8"))
    assert meta["scale"] in SCALES
    assert (scores["low"] <= scores["score"] + 1e-6).all()
    assert (scores["score"] <= scores["high"] + 1e-6).all()
    largest = scores.groupby(["dataset", "prices"])["budget"].transform("max")
    assert (scores["cost"] <= largest * (1 + 1e-6)).all()
    fields = {f"{d}@{p}" for d, p in zip(scores["dataset"], scores["prices"], strict=True)}
    assert fields == set(meta["data"])


def test_nothing_to_rank_is_an_empty_ranking():
    nothing = pd.DataFrame(columns=["dataset", "prices", "method", "budget", "score"])
    assert list(ratings.ranking(nothing)) == ratings.RANKING
    flat = pd.DataFrame(
        [("s", "u", m, b, 0.5) for m in ("constant", "a") for b in (1.0, 2.0)],
        columns=list(nothing),
    )
    assert ratings.ranking(flat).empty
