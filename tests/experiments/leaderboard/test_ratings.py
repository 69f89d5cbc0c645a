"""Areas, ranks, Elo and tests, each computed another way."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.integrate import quad

from experiments.leaderboard import adding, answers, ratings
from experiments.leaderboard.kept import CONSTANT
from experiments.leaderboard.questions import Question


def made_up(n_sets=5, seed=0, methods=("a", "b", "c", "d"), divisions=2):
    """Scores of methods that differ, and of what answers always alike; one set has two lists."""
    rng, lines = np.random.default_rng(seed), []
    for s, division in itertools.product(range(n_sets), range(1, divisions + 1)):
        for prices in ("uniform", "dollars")[: 2 if s == 0 else 1]:
            budgets = np.geomspace(1, 10 + s, 5).round(2)
            for k, method in enumerate((CONSTANT, *methods)):
                for budget in budgets:
                    gain = 0 if method == CONSTANT else 0.02 * k + 0.1 * rng.random()
                    one = int(budget == 1)
                    score = 0.5 + gain * np.log(1 + budget)
                    lines.append((f"set{s}", prices, division, method, budget, one, score))
    columns = ["dataset", "prices", "division", "method", "budget", "one_feature", "score"]
    return pd.DataFrame(lines, columns=columns)


def areas_of(scores):
    return ratings.areas(scores, ratings.bounds(scores))


@pytest.fixture(scope="module")
def scores():
    return made_up()


@pytest.fixture(scope="module")
def table(scores):
    return areas_of(scores)


def test_areas_are_integrals_over_log_cost(scores, table):
    """Without the budget of one feature."""
    counted = scores[scores["one_feature"] == 0]
    for line in table.itertuples():
        field = counted[
            (counted["dataset"] == line.dataset)
            & (counted["prices"] == line.prices)
            & (counted["division"] == line.division)
        ]
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
    assert set(areas_of(flat)["dataset"]) == set(scores["dataset"]) - {"set1"}


def test_variants_change_no_method(scores, table):
    better = scores[scores["method"] == "a"].assign(method="cegb_from_zero", score=9.0)
    both = areas_of(pd.concat([scores, better]))
    mine = both[both["method"] != "cegb_from_zero"].reset_index(drop=True)
    pd.testing.assert_frame_equal(mine, table)
    assert both["area"].max() > 2
    pd.testing.assert_frame_equal(ratings.ranking(both), ratings.ranking(table))


def test_who_was_not_there_is_as_the_constant_or_absent(table):
    """And one data set is no rank."""
    less = table[~((table["method"] == "d") & (table["dataset"] == "set0"))]
    less = less[~((less["method"] == "c") & (less["dataset"] != "set2"))]
    ranked = ratings.ranking(less).set_index("method")
    assert ranked.index.tolist() == ["d", "b", "a", "c"]
    assert ranked["rank"].tolist()[:3] == [1, 2, 3]
    assert ranked.loc["c", ["rank", "low", "high"]].isna().all()
    assert ranked["n_sets"].tolist() == [4, 5, 5, 1]
    means = less.groupby(["method", "dataset"])["area"].mean()
    assert ranked.loc["d", "own_area"] == pytest.approx(means["d"].mean(), abs=1e-4)
    assert ranked.loc["d", "area"] == pytest.approx(means["d"].sum() / 5, abs=1e-4)
    a, b = (means[m] for m in "ab")  # trained on everything: ranked among themselves
    assert ranked.loc["a", "mean_rank"] == pytest.approx(1 + np.mean(b > a))
    assert ranked.loc[["c", "d"], "mean_rank"].isna().all()


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
    assert ratings.critical(table[table["method"] < "c"]) is None


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
        by_hand = means[answer.question.first] - means[answer.question.second]
        assert answer.difference.mean == pytest.approx(by_hand.mean())
        assert answer.difference.half == pytest.approx(stats.sem(by_hand) * stats.t.ppf(0.975, 4))
        assert answer.corrected >= answer.p
        # Five data sets: no sign flip is rarer than 1 in 16, so nothing may be said.
        assert answers.sentence(answer, {}).startswith("No difference")
    many = areas_of(made_up(n_sets=12))
    (answer,) = answers.answers(many, questions[:1])
    assert answers.sentence(answer, {"d": "D", "a": "A"}).startswith("D is better than A (")
    (other,) = answers.answers(many, (Question("a", "d", "?"),))
    assert other.difference.mean == pytest.approx(-answer.difference.mean)
    # turned, it is the same sentence: better on as many, not on as few
    same = answers.sentence(answer, {"d": "D", "a": "A"})
    assert answers.sentence(other, {"d": "D", "a": "A"}) == same


def test_who_leads_and_whether():
    many = areas_of(made_up(n_sets=12, methods=("a", "b", "z")))
    order = ratings.ranking(many)["method"].tolist()
    assert order[0] == "z"
    far = many.assign(area=many["area"] + (many["method"] == "z"))
    found = answers.lead(far, order)
    assert (found.first, found.not_told_apart) == ("z", [])
    assert answers.said_of_lead(found, {"z": "Z"}).startswith("Z leads: its mean area is larger")
    twin = many[many["method"] == "z"].assign(method="y")
    rng = np.random.default_rng(3)
    twin["area"] += 0.1 * rng.normal(size=len(twin))
    found = answers.lead(pd.concat([many, twin]), ["z", "y", "b", "a"])
    assert found.not_told_apart == ["y"]
    said = answers.said_of_lead(found, {})
    assert said.startswith("Nobody leads significantly: the largest mean area is that of z, ")
    assert "not told apart from y (difference to y " in said
    near = answers.lead(pd.concat([many, twin]), ["z", "b", "y", "a"])  # b is told apart, y not
    assert (near.not_told_apart, near.difference) == (["y"], found.difference)
    for alike, words in ((["y", "b"], "y and b"), (["y", "b", "a"], "y and 2 others")):
        said = answers.said_of_lead(found._replace(not_told_apart=alike), {})
        assert f"not told apart from {words} (" in said


@pytest.mark.slow
def test_two_that_are_alike_seldom_lead():
    """Ahead of all others, the first of the two leads in one of twenty editions."""
    rng, led = np.random.default_rng(12), []
    for _ in range(300):
        values = 0.1 * rng.normal(size=(12, 4)) + [1, 1, 0, 0]
        lines = [
            (f"s{i}", "u", 1, m, values[i, k]) for i in range(12) for k, m in enumerate("abcd")
        ]
        table = pd.DataFrame(lines, columns=ratings.AREAS)
        order = [*"abcd"] if values[:, 0].mean() > values[:, 1].mean() else [*"bacd"]
        led.append(not answers.lead(table, order).not_told_apart)
    assert 0.02 < np.mean(led) < 0.08


def test_the_place_of_a_method_in_words(table):
    ranked = ratings.ranking(table)
    order = ranked["method"].tolist()
    said = adding.place(order[1], table, ranked)
    means = table.groupby(["method", "dataset"])["area"].mean()
    below, above = (
        np.sum(means[order[1]] > means[order[2]]),
        np.sum(means[order[1]] < means[order[0]]),
    )
    assert said == (
        f"{order[1]} is 2nd of 4; better than {order[2]} on {below} of 5 sets, worse than "
        f"{order[0]} on {above} of 5 sets."
    )
    assert [adding._ordinal(n) for n in (1, 2, 3, 11, 17, 21)] == [
        *("1st", "2nd", "3rd"),
        *("11th", "17th", "21st"),
    ]
