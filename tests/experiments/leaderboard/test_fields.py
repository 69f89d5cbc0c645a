"""What is played on: budgets fixed beforehand, rows drawn, prices, and the same draws for all."""

import dataclasses

import numpy as np
import pytest

import datasets
from datasets.features import families_of, prices
from datasets.features.families import SHAPES
from datasets.images import pixel_table
from datasets.registered import spec
from experiments.leaderboard import budgets, families, plan, problems, rows
from experiments.leaderboard.fields import FIELDS, PRICES, SCALES, Field, fields
from experiments.methods.table import METHODS


@pytest.fixture(scope="module")
def digits():
    return problems.load("digits@uniform", scale="check")


def test_every_field_has_its_budgets_and_the_rule_gives_them(digits):
    declared = budgets.declared()
    assert list(declared) == [field.name for field in FIELDS]
    assert declared["digits@uniform"] == budgets.by_rule(digits)
    for cheapest, *given in declared.values():
        assert len(given) == budgets.N_BUDGETS
        steps = np.diff(np.log(given))
        assert np.ptp(steps) < 0.12 * steps.mean()  # three digits, the first ones rounded up
        assert given[0] >= 2 * cheapest * (1 - 5e-3)  # in three digits


def test_budgets_begin_at_twice_the_cheapest_purchase_and_end_at_all(digits):
    costs = np.array([0.02, 3.0, *[1.0] * 62])
    priced = dataclasses.replace(digits, feature_costs=costs)
    one, least, *_, total = budgets.by_rule(priced)
    assert (one, least, total) == (0.02, 0.651, pytest.approx(65.02))  # a hundredth, rounded up
    few = dataclasses.replace(digits, feature_costs=np.where(np.arange(64) < 9, 5.0, 0.0))
    assert budgets.by_rule(few)[:2] == (5.0, 10.0)
    took = {"test": np.full((7, 3), 100.0)}
    assert budgets.by_rule(digits, took)[-1] == 300.0


def test_whole_queries_are_drawn_and_rows_in_their_order():
    query = np.repeat([4, 2, 9, 7], [3, 5, 2, 4])
    drawn = rows.drawn_rows(14, query, 8, np.random.default_rng(0))
    assert (np.diff(drawn) > 0).all()
    assert 0 < len(drawn) <= 8
    for q in np.unique(query[drawn]):
        assert np.sum(query[drawn] == q) == np.sum(query == q)
    assert rows.drawn_rows(5, None, 9, np.random.default_rng(0)).tolist() == [0, 1, 2, 3, 4]


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


def test_all_methods_have_the_same_draws_and_their_own_tradeoffs(digits):
    field = Field("digits", "uniform")
    chosen = [METHODS[name] for name in ("cegb", "gbrt", "greedy_miser")]
    assert plan.why_not(digits, [METHODS["cronus"]]) == {
        "cronus": "it tells 2 classes apart, and there are 10"
    }
    largest = {"cegb": 1.0, "greedy_miser": 1e-4}
    cells = plan.cells(field, digits, chosen, "laptop", 0, largest)
    n = SCALES["laptop"].trials
    assert len(cells) == 3 * n
    ours, plain, other = cells[:n], cells[n : 2 * n], cells[2 * n :]
    for one, without, third in zip(ours, plain, other, strict=True):
        draw, its = dict(one.params["draw"]), dict(third.params["draw"])
        assert 1e-5 < draw.pop("tradeoff") <= 1.0
        assert 1e-6 <= its.pop("tradeoff") <= 1e-4
        assert draw == without.params["draw"] == its


def test_draws_are_a_latin_hypercube_and_others_in_each_division():
    field, n = Field("digits", "uniform"), SCALES["laptop"].trials
    divisions = [plan.draws(field, "laptop", seed) for seed in range(5)]
    for each in divisions:
        u = np.array([draw["u"] for draw in each])
        np.testing.assert_array_equal(np.sort((u * n).astype(int), axis=0).T, [range(n)] * 5)
    assert len({draw["seed"] for each in divisions for draw in each}) == 5 * n
    assert divisions[0] == plan.draws(Field("digits", "other"), "laptop", 0)  # shared by its prices


def test_scales_state_what_is_played():
    assert set(SCALES["laptop"].datasets) == set(PRICES)
    assert [field.name for field in fields("laptop", ["pima@uniform"])] == ["pima@uniform"]
    assert [field.name for field in fields("check")] == ["digits@uniform"]


def test_no_synthetic_form_is_played_where_a_set_cannot_be_had(unreachable):
    sets = {field: spec(field.dataset) for field in FIELDS}
    has_both = [field.name for field, one in sets.items() if one.synthetic and not one.bundled]
    assert has_both
    for name in has_both:
        with pytest.raises(datasets.DataUnavailable, match="is unavailable here"):
            problems.load(name, scale="laptop")


def test_families_of_pictures_are_paid_once_at_their_milliseconds():
    shape = SHAPES["cifar10"]
    own = families_of("cifar10")
    chosen = families.features_of(own, shape)
    assert [len(one) for one in chosen] == [families.PER_FAMILY] * len(own)
    pictures = np.random.default_rng(0).integers(0, 256, size=(5, *shape), dtype=np.uint8)
    X = families.computed(own, chosen, pictures, np.array([4, 1]))
    np.testing.assert_array_equal(X[:, :12], own[0].columns(pictures)[[4, 1]][:, chosen[0]])
    np.testing.assert_array_equal(X[:, -12:], own[-1].columns(pictures)[[4, 1]][:, chosen[-1]])
    milliseconds = [float(line["milliseconds"]) for line in prices.read()
                    if line["dataset"] == "cifar10"]  # fmt: skip
    assert budgets.declared()["cifar10@milliseconds"][-1] == pytest.approx(sum(milliseconds))
    assert [field.name for field in FIELDS if field.of_families] == [
        "cifar10@milliseconds",
        "mnist@milliseconds",
    ]


def test_a_table_of_families_has_the_pictures_of_the_table_of_pixels(monkeypatch):
    def drawn(name, scale, data, seed):
        return datasets.load_images(name, scale="smoke", data="synthetic", seed=seed)

    monkeypatch.setattr(families, "load_images", drawn)
    most = (60, 20, 30)
    table = families.table("mnist", "laptop", most, 0)
    problem = problems.problem_of(table, "milliseconds", most, 0)
    pixels = pixel_table(drawn("mnist", "", "", 0), 0)
    pixels = problems.problem_of(pixels, "uniform", most, 0)
    for part in ("train", "valid", "test"):
        np.testing.assert_array_equal(problem.parts[part].y, pixels.parts[part].y)
    prefix = "identity_"
    first = [name for name in problem.names if name.startswith(prefix)]
    at = [int(name.removeprefix(prefix)) for name in first]
    np.testing.assert_array_equal(
        problem.parts["test"].X[first].to_numpy(), pixels.parts["test"].X.to_numpy()[:, at]
    )
    assert set(problem.group_costs) == {f"g{k}" for k in range(19)}
    assert not problem.feature_costs.any()
