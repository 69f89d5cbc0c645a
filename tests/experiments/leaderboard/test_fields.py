"""What is played on: budgets fixed beforehand, rows drawn, prices, and the same draws for all."""

import dataclasses

import numpy as np
import pytest

import datasets
from experiments.compare.methods import METHODS
from experiments.leaderboard import budgets, plan, problems
from experiments.leaderboard.fields import FIELDS, PRICES, SCALES, Field, fields


@pytest.fixture(scope="module")
def digits():
    return problems.load("digits@uniform", scale="check")


def test_every_field_has_its_budgets_and_the_rule_gives_them(digits):
    declared = budgets.declared()
    assert list(declared) == [field.name for field in FIELDS]
    assert declared["digits@uniform"] == budgets.by_rule(digits)
    for given in declared.values():
        assert len(given) == budgets.N_BUDGETS
        steps = np.diff(np.log(given))
        assert np.ptp(steps) < 0.12 * steps.mean()  # three digits, the first ones rounded up


def test_budgets_begin_at_the_cheapest_feature_and_end_at_all(digits):
    costs = np.array([0.02, 3.0, *[1.0] * 62])
    priced = dataclasses.replace(digits, feature_costs=costs)
    given = budgets.by_rule(priced)
    assert (given[0], given[-1]) == (0.651, pytest.approx(65.02))  # a hundredth, rounded up
    few = dataclasses.replace(digits, feature_costs=np.where(np.arange(64) < 2, 5.0, 0.0))
    assert budgets.by_rule(few)[0] == 5.0


def test_whole_queries_are_drawn_and_rows_in_their_order():
    query = np.repeat([4, 2, 9, 7], [3, 5, 2, 4])
    rows = problems.drawn_rows(14, query, 8, np.random.default_rng(0))
    assert (np.diff(rows) > 0).all()
    assert 0 < len(rows) <= 8
    for q in np.unique(query[rows]):
        assert np.sum(query[rows] == q) == np.sum(query == q)
    assert problems.drawn_rows(5, None, 9, np.random.default_rng(0)).tolist() == [0, 1, 2, 3, 4]


def test_prices_are_the_sets_own_or_one_each():
    thyroid = datasets.load("thyroid", scale="smoke")
    own = problems.problem_of(thyroid, "dollars", (200, 100, 100), 0)
    ones = problems.problem_of(thyroid, "uniform", (200, 100, 100), 0)
    assert own.feature_costs.tolist() == thyroid.feature_costs.tolist()
    assert own.group_costs == {f"g{k}": v for k, v in thyroid.group_costs.items()}
    assert ones.feature_costs.tolist() == [1.0] * 20
    assert ones.feature_groups is None
    np.testing.assert_array_equal(own.parts["test"].y, ones.parts["test"].y)
    assert own.provenance["checksum"] != ones.provenance["checksum"]


def test_all_methods_have_the_same_draws(digits):
    field = Field("digits", "uniform")
    chosen = [METHODS[name] for name in ("cegb", "gbrt", "cronus")]
    cells, skipped = plan.cells(field, digits, chosen, "check")
    assert [(s.method, s.why) for s in skipped] == [
        ("cronus", "it tells 2 classes apart, and there are 10")
    ]
    n = SCALES["check"].trials
    assert len(cells) == 2 * n
    ours, others = cells[:n], cells[n:]
    for one, other in zip(ours, others, strict=True):
        draw = dict(one.params["draw"])
        assert 0 < draw.pop("tradeoff") < 10
        assert draw == other.params["draw"]


def test_scales_state_their_minutes_and_play_real_sets_alone():
    assert all(scale.minutes > 0 for scale in SCALES.values())
    assert set(SCALES["overnight"].datasets) == set(PRICES)
    assert {field.dataset for field in fields("laptop", ["thyroid"])} == {"thyroid"}
    with pytest.raises(datasets.DataUnavailable):  # not its stand-in
        problems.load("flies@uniform", scale="laptop")
