"""Metrics that people use: the numbers of scikit-learn, computed anew in each resample."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as theirs

from experiments.compare import intervals, show
from experiments.compare.comparison import compare
from experiments.compare.intervals import resampled_scores
from experiments.compare.metrics import proposed, rarer, units
from experiments.compare.outcome import Search
from experiments.compare.preparing import Asked, prepare
from experiments.compare.tables import Refused
from experiments.methods.problem import Part
from experiments.methods.table import METHODS
from tests.experiments.compare.test_comparison import InThisProcess

N = 300
rng = np.random.default_rng(4)
ILL = rng.random(N) < 0.15
SCORE = (rng.normal(size=N) + 2 * ILL).round(1)  # some are tied
LIKELIHOOD = 1 / (1 + np.exp(-SCORE))
AMOUNT = rng.normal(size=N)
WEIGHTS = {"alike": None, "weighted": rng.random(N) + 0.1}
AGAIN = {
    "roc_auc": (ILL, SCORE, theirs.roc_auc_score),
    "average_precision": (ILL, SCORE, theirs.average_precision_score),
    "f1": (ILL, SCORE > 1, theirs.f1_score),
    "accuracy": (ILL, SCORE > 1, theirs.accuracy_score),
    "neg_log_loss": (ILL, np.where(ILL, LIKELIHOOD, 1 - LIKELIHOOD), None),
    "balanced_accuracy": (ILL, SCORE > 1, theirs.balanced_accuracy_score),
    "neg_root_mean_squared_error": (AMOUNT, SCORE, theirs.root_mean_squared_error),
    "neg_mean_absolute_error": (AMOUNT, SCORE, theirs.mean_absolute_error),
}


def by_scikit_learn(metric, rows, weight):
    y, answer, score = AGAIN[metric]
    if score is None:
        return -theirs.log_loss(y[rows], LIKELIHOOD[rows], sample_weight=weight)
    found = score(y[rows], answer[rows], sample_weight=weight)
    return -found if metric.startswith("neg_") else found


def of_part(metric, weight, cluster=None):
    y, answer, _ = AGAIN[metric]
    return units(metric, Part(pd.DataFrame(), y, None, cluster, weight), answer, True)


@pytest.mark.parametrize("metric", AGAIN)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_score_is_scikit_learns(metric, weights):
    weight = WEIGHTS[weights]
    wanted = by_scikit_learn(metric, np.arange(N), weight)
    assert of_part(metric, weight).score() == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("metric", AGAIN)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_resample_is_scored_anew(metric, weights, monkeypatch):
    monkeypatch.setattr(intervals, "RESAMPLES", 25)
    weight, cluster = WEIGHTS[weights], np.arange(N) // 3
    found = resampled_scores([of_part(metric, weight, cluster)], 0)[:, 0]
    draws = np.random.default_rng([0, 95])
    counts = draws.multinomial(N // 3, np.full(N // 3, 3 / N), size=25)
    for score, times in zip(found, counts, strict=True):
        rows = np.repeat(np.arange(N), times[cluster])
        of_rows = None if weight is None else weight[rows]
        assert score == pytest.approx(by_scikit_learn(metric, rows, of_rows), rel=1e-9)


def test_resamples_without_positives_are_none(monkeypatch):
    monkeypatch.setattr(intervals, "RESAMPLES", 9999)
    y = np.arange(20) < 1
    part = Part(pd.DataFrame(), y, None, None, None)
    found = resampled_scores([units("roc_auc", part, np.arange(20), True)], 0)
    assert np.isfinite(found).all()
    assert 5500 < len(found) < 7000  # (19/20)^20 of 9,999 lack it


def test_what_is_proposed():
    assert proposed(np.repeat([0, 1], [88, 12])) == "accuracy"
    assert proposed(np.repeat([0, 1], [4, 96])) == "average_precision"
    assert proposed(np.repeat([0, 1, 2], [4, 92, 4])) == "balanced_accuracy"
    assert rarer(np.repeat([0, 1], [4, 96])) == 0
    assert rarer(np.repeat([0, 1], [5, 5])) == 1


# --- 4 % positives -------------------------------------------------------------------------------


def rare(folder, n=1500, classes=("bad", "good")):
    """A table with 4 % of a class that two features tell together."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)).round(3)
    risk = X[:, 0] + X[:, 1] + rng.normal(size=n) / 2
    bad = risk > np.quantile(risk, 0.96)
    table = pd.DataFrame(X, columns=list("abc")).assign(y=np.where(bad, *classes))
    table.to_csv(folder / "t.csv", index=False)
    return Asked(folder / "t.csv", "y")


def test_at_four_per_cent_accuracy_is_no_metric(tmp_path):
    only = ["gbrt", "cronus", "mddag", "budget_forest", "hist_gradient_boosting"]
    search = Search((3.0,), 1, 4, only=only)
    outcome = compare(rare(tmp_path), search, tmp_path, InThisProcess())
    assert outcome.prepared.metric == "average_precision"
    text = (tmp_path / "README.txt").read_text(encoding="utf-8")
    assert (
        "Note: 96.0% of the rows are 'good': who always says so has an accuracy of 0.9600" in text
    )
    assert "Note: average_precision is of the class 'bad', the rarer one" in text
    assert set(outcome.rows["method"]) == set(only)
    best = outcome.table[outcome.table["recommended"]].iloc[0]
    assert best["test_low"] < best["test_score"] < best["test_high"]
    assert best["test_score"] > 0.5  # who says nothing has .04
    assert outcome.constant["test_score"] == pytest.approx(0.04)
    assert outcome.constant["answer"] == "one score for all rows"
    names = {"table": pd.read_csv(tmp_path / "t.csv")}
    exec("\n".join(show.loading(outcome.models[3.0], "classification")), names)
    assert names["predictions"].shape in ((1500, 2), (1500,))


@pytest.mark.parametrize(
    ("metric", "left_out"),
    [
        ("neg_log_loss", ["cronus", "mddag", "early_exit", "adaboost_mh"]),
        ("roc_auc", []),
        ("f1", []),
    ],
)
def test_who_says_less_than_the_metric_asks_is_left_out(tmp_path, metric, left_out):
    asked = rare(tmp_path)
    facts = prepare(Asked(asked.table, "y", metric=metric), tmp_path).facts
    why = "it gives no likelihoods, which the metric asks for"
    found = [slug for slug, m in METHODS.items() if m.ours and m.why_not(facts) == why]
    assert set(found) >= set(left_out)
    assert bool(found) == bool(left_out)


def test_metrics_of_two_classes_are_refused_for_three(tmp_path):
    table = pd.DataFrame({"a": np.arange(90.0), "y": np.arange(90) % 3})
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(Refused, match="--metric roc_auc is of two classes, and column 'y' has 3"):
        prepare(Asked(tmp_path / "t.csv", "y", metric="AUC"), tmp_path)
