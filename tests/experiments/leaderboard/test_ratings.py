"""Areas, ranks, Elo and tests, each computed another way."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats
from scipy.integrate import quad

from experiments.leaderboard import answers, ratings
from experiments.leaderboard.judging import CONSTANT
from experiments.leaderboard.questions import Question


def made_up(n_sets=5, seed=0, methods=("a", "b", "c", "d")):
    """Scores of methods that differ, and of what answers always alike; one set has two lists."""
    rng, lines = np.random.default_rng(seed), []
    for s in range(n_sets):
        for prices in ("uniform", "dollars")[: 2 if s == 0 else 1]:
            budgets = np.geomspace(1, 10 + s, 4).round(2)
            for k, method in enumerate((CONSTANT, *methods)):
                for budget in budgets:
                    gain = 0 if method == CONSTANT else 0.02 * k + 0.1 * rng.random()
                    lines.append((f"set{s}", prices, method, budget, 0.5 + gain * np.log(budget)))
    return pd.DataFrame(lines, columns=["dataset", "prices", "method", "budget", "score"])


@pytest.fixture(scope="module")
def scores():
    return made_up()


@pytest.fixture(scope="module")
def table(scores):
    return ratings.areas(scores)


def test_areas_are_integrals_over_log_cost(scores, table):
    for line in table.itertuples():
        field = scores[(scores["dataset"] == line.dataset) & (scores["prices"] == line.prices)]
        curve = field[field["method"] == line.method].sort_values("budget")
        low, high = 0.5, field["score"].max()
        x = np.log(curve["budget"].to_numpy())
        width, shown = x[-1] - x[0], curve["score"].to_numpy()

        def height(t, x=x, y=shown, low=low, high=high):
            return (np.interp(t, x, y) - low) / (high - low)

        area, _ = quad(height, x[0], x[-1], points=x[1:-1], limit=200)
        assert line.area == pytest.approx(area / width, abs=1e-9)


def test_a_field_in_which_nobody_learns_has_no_areas(scores):
    flat = scores.assign(score=np.where(scores["dataset"] == "set1", 0.5, scores["score"]))
    assert set(ratings.areas(flat)["dataset"]) == set(scores["dataset"]) - {"set1"}


def test_mean_ranks_count_who_is_better(table):
    by_hand = {}
    for method in "abcd":
        of_sets = []
        for _, pool in table.groupby("dataset"):
            ranks = []
            for _, field in pool.groupby("prices"):
                area = field.set_index("method")["area"]
                ranks.append(1 + sum(area > area[method]))
            of_sets.append(np.mean(ranks))
        by_hand[method] = np.mean(of_sets)
    assert ratings.mean_ranks(table).to_dict() == pytest.approx(by_hand)


def test_elo_is_the_most_likely_rating(table):
    counted = ratings.wins(table)
    won = counted.won.sum(axis=0)
    assert won.sum() == pytest.approx(6 * len(counted.datasets))  # each pair once a data set

    def unlikely(theta):
        gap = theta[:, None] - theta[None, :]
        lost = np.sum(won * np.log1p(np.exp(-gap)))
        drawn = 0.5 * np.sum(np.log1p(np.exp(-theta)) + np.log1p(np.exp(theta)))
        return lost + drawn

    best = optimize.minimize(unlikely, np.zeros(len(won)), method="BFGS", tol=1e-10).x
    expected = 1500 + 400 / np.log(10) * best
    np.testing.assert_allclose(ratings.elo(won), expected, atol=0.05)
    assert ratings.elo(np.zeros((3, 3))).tolist() == [1500.0] * 3


def test_ties_and_who_was_not_there(table):
    same = table.assign(area=0.5)
    counted = ratings.wins(same)
    assert set(np.unique(counted.won)) == {0.0, 0.5}
    less = table[~((table["method"] == "d") & (table["dataset"] != "set2"))]
    at = ratings.wins(less).methods.index("d")
    assert ratings.wins(less).there[:, at].tolist() == [s == 2 for s in range(5)]
    ranked = ratings.ranking(made_up()).set_index("method")
    assert (ranked["low"] <= ranked["elo"]).all()
    assert (ranked["elo"] <= ranked["high"]).all()
    assert ranked["n_sets"].tolist() == [5] * 4
    assert ranked.index.tolist() == ["d", "c", "b", "a"]  # the highest rating first
    assert ranked["elo"].is_monotonic_decreasing


def test_the_critical_difference_is_nemenyis(table):
    found = ratings.critical(table)
    whole = table.groupby(["dataset", "method"])["area"].mean().unstack()
    n, k = whole.shape
    ranks = whole.rank(axis=1, ascending=False)
    chi = 12 * n / (k * (k + 1)) * (np.sum(ranks.mean() ** 2) - k * (k + 1) ** 2 / 4)
    assert found.p == pytest.approx(stats.chi2.sf(chi, k - 1))
    # Demsar (2006), table 5: q of four methods at 5 % is 2.569.
    assert found.difference == pytest.approx(2.569 * np.sqrt(k * (k + 1) / (6 * n)), rel=1e-3)
    assert ratings.critical(table[table["dataset"] == "set1"]) is None


def test_sign_flips_are_all_tried():
    values = np.array([0.3, 0.1, 0.2, -0.05, 0.4])
    flips = [
        abs(sum(s * v for s, v in zip(signs, values, strict=True)))
        for signs in itertools.product((-1, 1), repeat=5)
    ]
    expected = np.mean([flip >= abs(sum(values)) - 1e-12 for flip in flips])
    assert answers.sign_flip(values) == pytest.approx(expected)
    assert answers.sign_flip(np.ones(6)) == pytest.approx(2 / 2**6)


def test_nothing_is_said_that_the_intervals_do_not_carry(table):
    questions = (Question("d", "a", "?"), Question("a", "b", "?"), Question("a", "nobody", "?"))
    found = answers.answers(table, questions)
    assert [answer.question.second for answer in found] == ["a", "b"]  # the third never met
    for answer in found:
        means = table.pivot_table(index="dataset", columns="method", values="area")
        by_hand = (means[answer.question.first] - means[answer.question.second]).mean()
        assert answer.difference == pytest.approx(by_hand)
        assert answer.corrected >= answer.p
        # Five data sets: no sign flip is rarer than 1 in 16, so nothing may be said.
        assert answers.sentence(answer, {}).startswith("No difference")
    many = ratings.areas(made_up(n_sets=12))
    (answer,) = answers.answers(many, questions[:1])
    assert answers.sentence(answer, {"d": "D", "a": "A"}).startswith("D is better than A (")
    (other,) = answers.answers(many, (Question("a", "d", "?"),))
    assert other.difference == pytest.approx(-answer.difference)
    same = answers.sentence(answer, {"d": "D", "a": "A"}).partition(";")[2]
    turned = answers.sentence(other, {"d": "D", "a": "A"})
    assert turned.startswith("D is better than A (difference of the mean areas +")
    assert turned.partition(";")[2] == same  # better on as many, not on as few
