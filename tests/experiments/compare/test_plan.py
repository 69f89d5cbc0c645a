"""What is trained for each budget: λ's range, draws, affordable features, λ bisected."""

import math

import numpy as np
import pandas as pd
import pytest

from algorithms.costs import price_list
from experiments.cell import Cell
from experiments.compare import bisecting, plan
from experiments.compare.bisecting import Spent
from experiments.compare.outcome import Search
from experiments.compare.tables import Prices
from experiments.methods.problem import Part, Problem
from experiments.methods.subsets import price_of, prices_of, run_subset
from experiments.methods.table import METHODS

ONES = Prices(np.ones(10), None, None, "ones")


# --- λ ----------------------------------------------------------------------------------------


def test_the_range_of_lambda_follows_the_budgets():
    low, high = plan.tradeoff_range(2.0, ONES, 0.0, [4.0])
    assert (low, high) == (pytest.approx(2e-3 / 4), 0.5)
    lower, same = plan.tradeoff_range(2.0, ONES, 0.0, [4.0, 8.0])
    assert (lower, same) == (pytest.approx(2e-3 / 8), high)
    assert plan.tradeoff_range(2.0, ONES, 0.0, [1e6]) == plan.tradeoff_range(2.0, ONES, 0.0, [10])
    low, high = plan.tradeoff_range(2.0, ONES, 0.01, [1e-3, 1e6])  # splits may cost any sum
    assert high / low == pytest.approx(1e5)


def trained(tradeoff, cost, score=0.5):
    return Spent(tradeoff, cost, score, {"tradeoff": tradeoff, "u": [score]})


def test_lambda_is_bisected_between_its_neighbours():
    drawn = [trained(0.001, 50.0, 0.9), trained(0.01, 8.4, 0.2), trained(0.1, 0.55, 0.3),
             trained(1.0, 0.0, -math.inf)]  # fmt: skip
    start = bisecting.begin(drawn, 5.0)
    assert start is drawn[0]  # the best shape among those near the budget
    path = [start]
    assert bisecting.next_tradeoff(path, drawn, 5.0) == pytest.approx(0.01)  # up to 0.1 from 0.001
    path.append(trained(0.01, 8.4))
    assert bisecting.next_tradeoff(path, drawn, 5.0) == pytest.approx(math.sqrt(0.001), rel=1e-3)
    path.append(trained(0.0316, 0.55))
    assert bisecting.next_tradeoff(path, drawn, 5.0) == pytest.approx(
        math.sqrt(0.01 * 0.0316), rel=1e-3
    )


def test_bisecting_goes_beyond_what_was_drawn():
    dear = [trained(0.1, 9.0), trained(0.2, 7.0)]
    start = bisecting.begin(dear, 5.0)
    step = bisecting.next_tradeoff([start], dear, 5.0)
    assert step == pytest.approx(start.tradeoff * math.sqrt(10), rel=1e-3)
    cheap = [trained(0.1, 2.0), trained(0.2, 1.0)]
    start = bisecting.begin(cheap, 5.0)
    assert bisecting.next_tradeoff([start], cheap, 5.0) < start.tradeoff
    assert bisecting.begin([], 5.0) is None


# --- draws ------------------------------------------------------------------------------------


def test_every_method_has_as_many_trainings_and_the_same_draws():
    search, methods = Search((5.0, 9.0), trials=20), [METHODS[s] for s in ("cegb", "lightgbm")]
    methods.append(METHODS["greedy_miser"])
    n = plan.n_further(search, 2)
    assert (n, plan.n_bisected(n)) == (7, 3)
    subsets = [[0]] * (2 * n)
    cells = plan.further_cells("", methods, search, 0, {5.0: 4.0, 9.0: 8.0}, subsets, (0.1, 1.0))
    by_method = {}
    for cell in cells:
        by_method.setdefault(cell.algorithm, []).append(cell)
    assert {slug: len(each) for slug, each in by_method.items()} == {
        "cegb": 8, "lightgbm": 14, "greedy_miser": 8,
    }  # and three steps of bisection for each budget, where there is a λ  # fmt: skip
    shapes = {
        slug: {cell.params["trial"]: cell.params["draw"]["u"] for cell in each}
        for slug, each in by_method.items()
    }
    for shape in shapes.values():
        assert shape.items() <= shapes["lightgbm"].items()
    assert {cell.params["draw"].get("budget") for cell in by_method["greedy_miser"]} == {
        None, 4.0, 8.0,
    }  # fmt: skip
    assert all(cell.params["draw"]["columns"] == [0] for cell in by_method["lightgbm"])


def test_a_budget_s_draws_do_not_depend_on_the_others():
    search = Search((5.0,), trials=20)
    seven = plan.further_draws(search, 0, 5.0, 7)
    assert plan.further_draws(search, 0, 5.0, 3) == seven[:3]
    assert plan.further_draws(search, 0, 5.000001, 7) != seven
    assert plan.n_further(search, 1) == plan.n_further(search, 3) == 7
    assert plan.n_further(search, 10) == plan.FEWEST
    assert (plan.plain(5.0), plan.plain(5.0000001)) == ("5", "5.0000001")


def test_splits_are_set_aside_before_features_are_chosen():
    assert plan.for_features(5.0, ONES, 0.0) == 5.0
    assert plan.for_features(5.0, ONES, 0.01) == pytest.approx(4.4)
    assert plan.for_features(5.0, ONES, 1.0) == 2.5
    assert plan.for_features(1.8, ONES, 0.5) == pytest.approx(1.3)  # half would buy nothing
    (cell, *_) = plan.subset_cells("", Search((5.0,)), 0, {5.0: 4.4}, 3)
    assert cell.params["budget"] == 4.4


# --- features ---------------------------------------------------------------------------------


def problem_of(X, y, costs, groups=None, group_costs=None, task="classification", weight=None):
    names = [f"x{m}" for m in range(X.shape[1])]
    part = Part(pd.DataFrame(X, columns=names), y, None, None, weight)
    return Problem(
        task, "accuracy", {"train": part}, np.array(costs, float), groups, group_costs, 0.0, {}
    )


def chosen(problem, budget, exponent=1.0, seed=None):
    params = {"budget": budget, "exponent": exponent, "seed": seed}
    return run_subset(Cell("", "", params), problem)[0]["columns"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 5))
    X[:, 3] = X[:, 0] + 0.1 * rng.normal(size=800)  # tells what x0 tells
    X[::7, 2] = np.nan
    return X, (X[:, 0] + 0.5 * np.nan_to_num(X[:, 1]) > 0).astype(int)


def test_prices_of_groups_are_paid_once_and_in_decimals(rows):
    X, y = rows
    labels, prices = ["a", "a", "b", "b", "c"], {"a": 1.0, "b": 2.0, "c": 0.0}
    problem = problem_of(X, y, [0.1, 0.2, 3, 4, 5], labels, prices)
    listed = prices_of(problem)
    assert [price_of(listed, c) for c in ([0], [0, 1], [1, 2], [4])] == [1.1, 1.3, 6.2, 5.0]
    together = price_list([3, 3, 4, 4, 5], labels, None, 5)
    assert price_of(together, [0, 1, 2]) == 7.0
    assert price_of(price_list([0.1, 0.2], None, None, 2), [0, 1]) == 0.3  # which floats exceed


def test_features_that_tell_most_for_their_price(rows):
    X, y = rows
    problem = problem_of(X, y, [4, 1, 1, 2, 1])
    assert chosen(problem, 9.0) is None  # all of them
    assert set(chosen(problem, 3.0)) >= {1, 3}  # x3 for x0, at half its price
    assert 0 in chosen(problem, 5.0, exponent=0.0)  # whatever it costs
    for budget in (1.0, 2.0, 3.0, 5.0, 8.0):
        for seed in (None, 1, 2):
            columns = chosen(problem, budget, seed=seed)
            assert 0 < price_of(prices_of(problem), columns) <= budget
    assert chosen(problem, 0.5) == []
    assert price_of(prices_of(problem), chosen(problem, 8.0, seed=1)) > 6  # filled up


def test_a_group_is_bought_for_what_it_tells_together(rows):
    """Each of x0, x1 costs 5.1 alone; together they are worth it, and x4 tells nothing."""
    X, y = rows
    labels = ["g", "g", "u", "v", "w"]
    prices = {"g": 5.0, "u": 0.0, "v": 30.0, "w": 0.0}
    problem = problem_of(X, y, [0.1, 0.1, 5.1, 1, 5.1], labels, prices)
    assert chosen(problem, 6.0)[:2] == [0, 1]


@pytest.mark.parametrize("task", ["regression", "ranking", "classification"])
def test_weights_and_other_targets(rows, task):
    X, _ = rows
    y = np.digitize(X[:, 1], [-1, 0, 1]) if task == "classification" else X[:, 1]
    problem = problem_of(X, y, [2, 2, 2, 2, 2], task=task, weight=np.linspace(0.1, 2, 800))
    assert chosen(problem, 2.0) == [1]
