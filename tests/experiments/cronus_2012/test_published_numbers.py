"""What the README says of the published rows of Cronus, computed another way: plain loops."""

import re
import statistics
from collections import defaultdict

import pytest

from tests.experiments.published_rows import lines, readme, record

README = readme("cronus_2012")
REAL = "bcdef"


@pytest.fixture(scope="module")
def models():
    """Rows about whole models of the real sets."""
    rows = lines("cronus-figure2")
    return [row for row in rows if row["panel"] in REAL]


def chosen_score(models, panel, method):
    """Mean test score of each repetition's best model by validation, the cheaper of equals."""
    scores = []
    for seed in "01234":
        mine = [
            (-float(row["valid_score"]), float(row["valid_cost_paper"]), float(row["test_score"]))
            for row in models
            if (row["panel"], row["method"], row["seed"]) == (panel, method, seed)
            and float(row["rounds"]) > 0
        ]
        scores.append(min(mine)[2])
    return statistics.mean(scores)


def test_no_claim_on_cheap_features_where_there_are_none():
    """By the prices of the rows."""
    prices = defaultdict(set)
    for row in lines("cronus-figure4"):
        if float(row["price"]) >= 0:
            prices[row["panel"]].add(float(row["price"]))
    claims = {row["claim"] for row in lines("cronus-figure4", "claims.csv")}
    without = {panel for panel, there in prices.items() if min(there) > max(there) / 40}
    assert without == {"f"}
    for panel in prices:
        about_cheap = {f"{panel}-cheap-first", f"{panel}-most-cheap-at-once"} & claims
        assert len(about_cheap) == (0 if panel in without else 2)
    assert f"between {min(prices['f']):.4f} and {max(prices['f']):.4f} ms" in README


def test_nothing_or_nearly_all(models):
    kept = [
        int(row["n_trees"])
        for row in models
        if (row["panel"], row["method"]) == ("c", "cronus_initial")
    ]
    assert f"has {min(kept)} or more of the 100 trees" in README


def test_the_objective_falls_and_scores_do_not_follow(models):
    ratios, capped = defaultdict(list), defaultdict(list)
    initial = {
        (row["panel"], row["seed"], row["tradeoff"]): float(row["objective"])
        for row in models
        if row["method"] == "cronus_initial"
    }
    for row in models:
        if row["method"] == "cronus":
            key = row["panel"], row["seed"], row["tradeoff"]
            ratios[row["panel"]].append(float(row["objective"]) / initial[key])
            capped[row["panel"]].append(int(row["capped"]))
    medians = [statistics.median(values) for values in ratios.values()]
    assert f"to {min(medians):.2f} to {max(medians):.2f} of the initialisation's" in README
    least = min(statistics.mean(values) for values in capped.values())
    assert f"{100 * least:.0f} % or more of the optimisations" in README
    said = [f"{chosen_score(models, 'f', m):.3f}" for m in ("cronus_initial", "cronus", "gbrt")]
    words = "scores {} as initialised and {} as optimised; GBRT {}".format(*said)
    assert words in README


def test_training_times():
    seconds = defaultdict(lambda: defaultdict(list))
    for row in lines("cronus-figure2", "timings.csv"):
        if row["cell"] == "" and row["fit_seconds"]:
            seconds[row["panel"], row["method"]][row["seed"]].append(float(row["fit_seconds"]))

    def between(method):
        each = [
            statistics.median(statistics.median(times) for times in by_seed.values())
            for (panel, name), by_seed in seconds.items()
            if name == method and panel in REAL
        ]
        return f"{min(each):.2f} to {max(each):.2f}"

    said = re.search(r"takes Cronus (.*?), the soft cascade (.*?), AND-OR (.*?)\. That", README)
    assert said.groups() == tuple(map(between, ("cronus", "raykar_cascade", "and_or_cascade")))


def test_what_our_choices_change():
    means = defaultdict(list)
    for row in lines("cronus-choices"):
        if row["method"] == "cronus":
            name = row["variant"], row["dataset"]
            means[name].append(
                {k: float(row[k]) for k in ("test_score", "tied_score", "test_cost_paper")}
            )

    def score(variant, dataset, column="test_score"):
        return statistics.mean(row[column] for row in means[variant, dataset])

    def lost(dataset):
        return score("ours", dataset) - score("ours", dataset, "tied_score")

    yahoo, mq = "yahoo_ltr_sample", "mq2008"
    assert f"costs {lost(yahoo):.3f} of precision@5" in README
    assert f"and {lost(mq):.3f} on MQ2008 once" in README


def test_what_was_chosen_is_kept():
    for number in "1234":
        for methods in record(f"cronus-figure{number}")["chosen"].values():
            assert set(methods) >= {"cronus_initial", "cronus"}
            assert all(set(by_seed) == set("01234"[: len(by_seed)]) for by_seed in methods.values())
            assert all(
                0 < values["penalty"] <= 1e-4
                for by_seed in methods.values()
                for values in by_seed.values()
            )
