"""Prices and groups given as a dict or a Series belong to columns by name, never by position."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.bourdev_cascade import BourdevCascadeClassifier
from algorithms.cegb import CEGBRegressor
from algorithms.decision_dag.estimator import DecisionDAGEstimator
from algorithms.exits.classifier import CascadeClassifier
from algorithms.fcboost import FCBoostClassifier
from algorithms.forests.voting import VotingForest
from algorithms.gbrt import GBRTRegressor
from algorithms.greedy_miser import GreedyMiserClassifier
from algorithms.interop import from_scikit_learn
from algorithms.interop.forest import MeteredForest
from algorithms.interop.nodes import Leaf, Split, Tree
from algorithms.mddag import MDDAGClassifier
from algorithms.on_demand import OnDemandPredictor
from algorithms.validation.prices import in_column_order
from algorithms.viola_jones import ViolaJonesClassifier
from tests.algorithms.estimators.kinds import EVERY, OF_EACH_FIT, small_size, takes

NAMES = ["age", "height", "blood", "scan"]
RNG = np.random.default_rng(12)
TABLE = pd.DataFrame(RNG.normal(size=(150, 4)), columns=NAMES)
Y = (TABLE["age"] + TABLE["scan"] * TABLE["blood"] > 0).astype(int)

COSTS = [1.0, 2.0, 4.0, 4.0]  # in the order of the columns
GROUPS = [7, 8, 9, 9]
SHARING = [1.0, 2.0, 4.0, 8.0]


def small(cls, **parameters):
    return cls(**small_size(cls, n_estimators=5) | parameters)


def shuffled_series(values):
    return pd.Series(values, index=NAMES)[["scan", "age", "blood", "height"]]


def shuffled_dict(values):
    return shuffled_series(values).to_dict()


def in_turns(*forms):
    """Each estimator with one of the forms, which one function reads for all of them."""
    return [(cls, forms[k % len(forms)]) for k, cls in enumerate(EVERY)]


def priced(cls, form):
    """An estimator with all that can be given by name, in one form."""
    parameters = {"feature_costs": form(COSTS), "feature_groups": form(GROUPS), "split_cost": 0.5}
    parameters |= {"feature_sharing": form(SHARING), "model_feature_costs": form(COSTS)}
    parameters |= {"monotonic_cst": form([1, 0, 0, -1]), "random_state": 0}
    parameters |= {"tradeoff": 1e-3, "budget": 9.0}
    return small(cls, **{name: value for name, value in parameters.items() if takes(cls, name)})


def assert_same_bills(model, expected):
    np.testing.assert_array_equal(model.predict(TABLE), expected.predict(TABLE))
    np.testing.assert_array_equal(model.prediction_cost(TABLE), expected.prediction_cost(TABLE))
    for ours, theirs in zip(model.staged_cost(TABLE), expected.staged_cost(TABLE), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    if hasattr(expected, "model_cost"):
        assert model.model_cost() == expected.model_cost()
    if hasattr(expected, "forest_cost"):
        assert model.forest_cost() == expected.forest_cost()
        prices = dict(zip(NAMES[::-1], COSTS[::-1], strict=True))
        if model.group_costs is None:
            assert model.forest_cost(feature_costs=prices) == expected.forest_cost()


@pytest.mark.parametrize(("cls", "form"), in_turns(shuffled_series, shuffled_dict))
def test_every_estimator_matches_by_name(cls, form, tmp_path):
    expected = priced(cls, list).fit(TABLE, Y)
    model = clone(priced(cls, form))
    stored = model.get_params(deep=False)
    model.fit(TABLE, Y)
    assert all(stored[name] is value for name, value in model.get_params(deep=False).items())
    assert_same_bills(model, expected)
    other = dict(zip(NAMES, [3.0, 1.0, 5.0, 5.0], strict=True))
    for method in ("prediction_cost", "staged_cost"):
        ours = getattr(model, method)(TABLE, feature_costs=form(list(other.values())))
        theirs = getattr(expected, method)(TABLE, feature_costs=list(other.values()))
        np.testing.assert_array_equal(list(ours), list(theirs))
    model.save(tmp_path / "model")
    loaded = cls.load(tmp_path / "model")
    assert_same_bills(loaded, expected)
    for name in ("feature_costs", "feature_groups", "monotonic_cst"):
        assert not takes(cls, name) or getattr(loaded, name) == dict(getattr(model, name))
    assert_same_bills(loaded.fit(TABLE, Y), expected)


@pytest.mark.parametrize(
    ("X", "signs"),
    [
        (TABLE, {"scan": -1}),
        (TABLE, pd.Series({"scan": -1, "age": 1})),
        (TABLE.set_axis([3, 0, 2, 1], axis=1), {0: 1}),
        (TABLE.set_axis([3, 0, 2, 1], axis=1), pd.Series([0, 1, 0, -1])),
        (TABLE.to_numpy(), pd.Series([1, -1])),
    ],
)
def test_constraints_of_some_columns_are_of_these_after_loading(X, signs, tmp_path):
    model = small(GBRTRegressor, monotonic_cst=signs).fit(X, Y)
    model.save(tmp_path / "model")
    again = GBRTRegressor.load(tmp_path / "model").fit(X, Y)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("name", ["feature_costs", "feature_groups", "model_feature_costs",
                                  "feature_sharing"])  # fmt: skip
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda values: values.drop("blood"), "no value for 'blood'"),
        (lambda values: values.rename({"blood": "Blood"}), "no value for 'blood' and a value for "
         "the unknown 'Blood'"),
        (lambda values: pd.concat([values, pd.Series({"weight": 1})]), "the unknown 'weight'"),
        (lambda values: pd.concat([values, values[["age"]]]), "more than one value for 'age'"),
        (lambda values: values.reset_index(drop=True), "unknown 0, 1, 2, 3"),
    ],
)  # fmt: skip
def test_names_that_do_not_match(name, change, message):
    values = pd.Series([1, 1, 1, 1], index=NAMES)
    with pytest.raises(ValueError, match=rf"^{name} must have exactly one value .*{message}"):
        small(CEGBRegressor, **{name: change(values)}).fit(TABLE, Y)


@pytest.mark.parametrize("cls", EVERY)
def test_prices_of_a_prediction_that_do_not_match(cls):
    model = small(cls).fit(TABLE, Y)
    for method in ("prediction_cost", "staged_cost"):
        with pytest.raises(ValueError, match=r"feature_costs .* no value for 'scan'"):
            list(getattr(model, method)(TABLE, feature_costs={"age": 1, "height": 1, "blood": 1}))


@pytest.mark.parametrize("cls", OF_EACH_FIT)
def test_columns_without_names(cls):
    X = TABLE.to_numpy()
    expected = small(cls, feature_costs=COSTS).fit(X, Y).prediction_cost(X)
    for costs in (
        pd.Series(COSTS),
        {3: 4.0, 0: 1.0, 2: 4.0, 1: 2.0},
        pd.Series({3: 4.0, 0: 1.0, 2: 4.0, 1: 2.0}),
    ):
        model = small(cls, feature_costs=costs).fit(X, Y)
        np.testing.assert_array_equal(model.prediction_cost(X), expected)
    for costs in (shuffled_dict(COSTS), shuffled_series(COSTS)):
        with pytest.raises(ValueError, match=r"feature_costs has names .* columns of X had none"):
            small(cls, feature_costs=costs).fit(X, Y)
    with pytest.raises(ValueError, match=r"by its number: it has no value for 0 and .*unknown 4"):
        small(cls, feature_costs={4: 1.0, 1: 2.0, 2: 3.0, 3: 4.0}).fit(X, Y)
    with pytest.raises(ValueError, match=r"each of the 4 features, got an array of shape \(3,\)"):
        small(cls, feature_costs=pd.Series([1.0, 2.0, 3.0])).fit(X, Y)


def test_names_that_are_not_all_text_follow_scikit_learn():
    numbered = TABLE.set_axis([10, 20, 30, 40], axis=1)  # no names, for scikit-learn
    assert not hasattr(small(CEGBRegressor).fit(numbered, Y), "feature_names_in_")
    mixed = TABLE.set_axis(["a", 1, 2, 3], axis=1)
    with pytest.raises(TypeError, match=r"[Ff]eature names"):
        small(CEGBRegressor).fit(mixed, Y)


def test_columns_with_the_same_name_are_not_matched():
    with pytest.raises(ValueError, match=r"several columns are called 'a'"):
        in_column_order({"a": 1, "b": 2}, "feature_costs", 3, ["a", "b", "a"])
    assert in_column_order([1, 2, 3], "feature_costs", 3, ["a", "b", "a"]) == [1, 2, 3]


def test_long_lists_of_names_are_shortened():
    with pytest.raises(ValueError, match=r"'c3', 'c4' and 95 more") as caught:
        in_column_order({}, "feature_costs", 100, [f"c{m}" for m in range(100)])
    assert "c7" not in str(caught.value)


def test_saving_two_values_for_one_name_is_refused(tmp_path):
    model = small(CEGBRegressor).fit(TABLE, Y)
    model.set_params(feature_costs=pd.Series([1.0, 2.0], index=["age", "age"]))
    with pytest.raises(ValueError, match=r"feature_costs has two values for one name"):
        model.save(tmp_path / "model")


@pytest.mark.parametrize("cls", [CEGBRegressor, AdaBoostMH])
def test_groups_with_names(cls, tmp_path):
    expected = small(cls, feature_groups=GROUPS, feature_costs=COSTS).fit(TABLE, Y)
    labels = ["old", "tall", "lab", "lab"]
    for groups in (labels, np.array(labels), shuffled_series(labels), shuffled_dict(labels)):
        model = small(cls, feature_groups=groups, feature_costs=COSTS).fit(TABLE, Y)
        assert_same_bills(model, expected)
        model.save(tmp_path / "model")
        assert_same_bills(cls.load(tmp_path / "model"), expected)


@pytest.mark.parametrize(("cls", "form"), in_turns(list, shuffled_series, shuffled_dict))
def test_prices_of_groups_belong_to_their_labels(cls, form, tmp_path):
    """A group pays 3, and each of its features its own price besides."""
    own = [1.0, 2.0, 0.5, 4.0]
    labels = ["lab", "tall", "lab", "lab"]
    prices = {"lab": 3.0, "tall": 0.25}
    billed = issubclass(cls, CascadeClassifier | DecisionDAGEstimator)
    free = {"tree_cost": 0.0} if billed else {}
    expected = small(
        cls, feature_groups=[9, 8, 9, 9], feature_costs=own, group_costs={9: 3.0, 8: 0.25}, **free
    ).fit(TABLE, Y)
    used = expected.acquired_features(TABLE)
    in_lab = used[:, [0, 2, 3]].sum(axis=1)
    by_hand = used @ own + 0.25 * used[:, 1] + 3.0 * (in_lab > 0)
    np.testing.assert_allclose(expected.prediction_cost(TABLE), by_hand, rtol=1e-12)
    # no row asks for two features of the group
    too_small = (GreedyMiserClassifier, AdaBoostMH, MDDAGClassifier, VotingForest)
    of_stumps = (BourdevCascadeClassifier, FCBoostClassifier, ViolaJonesClassifier)
    assert in_lab.max() > 1 or issubclass(cls, too_small + of_stumps)
    given = {"feature_groups": form(labels), "feature_costs": shuffled_dict(own)}
    model = clone(small(cls, **given, group_costs=prices, **free)).fit(TABLE, Y)
    model.save(tmp_path / "model")
    loaded = cls.load(tmp_path / "model")
    assert loaded.group_costs == prices
    assert_same_bills(loaded, expected)
    expected.save(tmp_path / "model")
    assert cls.load(tmp_path / "model").group_costs == {9: 3.0, 8: 0.25}


# --- columns called by whole numbers -------------------------------------------------------------


@pytest.mark.parametrize(("cls", "numbers"), in_turns([2, 0, 3, 1], [7, 5, 2, 11]))
def test_columns_called_by_numbers(cls, numbers, tmp_path):
    table = TABLE.set_axis(numbers, axis=1)

    def by_number(values):
        return pd.Series(values, index=numbers).sort_index().to_dict()

    expected = priced(cls, list).fit(TABLE, Y)
    model = priced(cls, by_number).fit(table, Y)
    np.testing.assert_array_equal(model.predict(table), expected.predict(TABLE))
    bill = expected.prediction_cost(TABLE)
    np.testing.assert_array_equal(model.prediction_cost(table), bill)
    prices = pd.Series(by_number([8.0, 1.0, 3.0, 3.0]))
    np.testing.assert_array_equal(
        model.prediction_cost(table, feature_costs=prices),
        expected.prediction_cost(TABLE, feature_costs=[8.0, 1.0, 3.0, 3.0]),
    )
    with pytest.raises(ValueError, match=r"columns of X .* in another order"):
        model.predict(table[sorted(numbers)])
    model.save(tmp_path / "model")
    loaded = cls.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.prediction_cost(table), bill)
    np.testing.assert_array_equal(
        loaded.prediction_cost(table, feature_costs=prices),
        model.prediction_cost(table, feature_costs=prices),
    )
    loaded.save(tmp_path / "again")
    for one in (loaded, cls.load(tmp_path / "again")):
        with pytest.raises(ValueError, match=r"columns of X .* in another order"):
            one.predict(table[sorted(numbers)])


def test_numbers_that_are_no_columns():
    numbers = [7, 5, 2, 11]
    table = TABLE.set_axis(numbers, axis=1)
    places = small(GBRTRegressor, feature_costs=dict(enumerate(COSTS))).fit(table, Y)
    expected = small(GBRTRegressor, feature_costs=COSTS).fit(TABLE, Y)
    np.testing.assert_array_equal(places.prediction_cost(table), expected.prediction_cost(TABLE))
    with pytest.raises(ValueError, match=r"by its number: it has no value for 11"):
        small(GBRTRegressor, feature_costs={7: 1, 5: 1, 2: 1}).fit(table, Y)
    with pytest.raises(ValueError, match=r"feature_costs has names|no value for 7"):
        small(GBRTRegressor, feature_costs=shuffled_dict(COSTS)).fit(table, Y)
    again = places.fit(TABLE.to_numpy(), Y)  # nothing of the earlier columns stays
    assert not hasattr(again, "_column_numbers_")
    again.predict(table[[2, 5, 7, 11]])


# --- prediction on demand ------------------------------------------------------------------------


def test_on_demand_with_names_of_groups_and_prices():
    groups = shuffled_dict(["old", "tall", "lab", "lab"])
    model = small(CEGBRegressor, feature_groups=groups, tradeoff=0.0).fit(TABLE, Y)
    functions = {
        "old": lambda rows: rows[["age"]],
        "lab": lambda rows: rows[["scan", "blood"]],
        "tall": lambda rows: {"height": rows["height"]},
    }
    prices = shuffled_series(COSTS)
    result = OnDemandPredictor(model, functions, feature_costs=prices).predict(TABLE)
    np.testing.assert_array_equal(result.predictions, model.predict(TABLE))
    expected = model.prediction_cost(TABLE, feature_costs=COSTS)
    np.testing.assert_array_equal(result.cost, expected)
    with pytest.raises(ValueError, match=r"key 'young', but the model has no such group.* 'lab'"):
        OnDemandPredictor(model, functions | {"young": len})
    del functions["lab"]
    with pytest.raises(ValueError, match=r"no function for: group 'lab' \(features 2 \('blood'\)"):
        OnDemandPredictor(model, functions)
    with pytest.raises(ValueError, match=r"feature_costs .* no value for 'age'"):
        OnDemandPredictor(model, functions | {"lab": len}, feature_costs=prices.drop("age"))


def on_demand_pair(answer, names):
    """Prediction on demand of two features in one group that `answer` brings."""
    X = TABLE[["age", "blood"]]
    X = X if names else X.to_numpy()
    y = TABLE["age"] * TABLE["blood"]
    model = small(CEGBRegressor, feature_groups=[1, 1]).fit(X, y)
    rows = TABLE.set_axis([5, 6, 0, 7], axis=1) if not names else TABLE
    result = OnDemandPredictor(model, {1: answer}).predict(rows)
    np.testing.assert_array_equal(result.predictions, model.predict(X))


def test_a_table_is_read_by_its_labels():
    on_demand_pair(lambda rows: rows[["blood", "age"]], names=True)
    on_demand_pair(lambda rows: pd.DataFrame(rows[["age", "blood"]].to_numpy()), names=True)
    on_demand_pair(lambda rows: rows[[0, 5]].set_axis([1, 0], axis=1), names=False)
    with pytest.raises(ValueError, match=r"a table with named columns, but .* had no name"):
        on_demand_pair(lambda rows: rows[[5, 0]].set_axis(["age", "blood"], axis=1), names=False)
    with pytest.raises(ValueError, match=r"returned 5, which is not in the group"):
        on_demand_pair(lambda rows: rows[[5, 0]], names=False)
    with pytest.raises(ValueError, match=r"returned feature 'age' twice"):
        on_demand_pair(lambda rows: rows[["age", "age"]], names=True)


# --- forests of other libraries ------------------------------------------------------------------


def test_a_forest_of_another_library():
    model = GradientBoostingRegressor(n_estimators=4, random_state=0).fit(TABLE, Y)
    expected = from_scikit_learn(model, feature_costs=COSTS, feature_groups=GROUPS)
    for form in (shuffled_series, shuffled_dict):
        meter = from_scikit_learn(model, feature_costs=form(COSTS), feature_groups=form(GROUPS))
        np.testing.assert_array_equal(meter.prediction_cost(TABLE), expected.prediction_cost(TABLE))
        np.testing.assert_array_equal(
            meter.prediction_cost(TABLE, feature_costs=form([1, 2, 3, 3])),
            expected.prediction_cost(TABLE, feature_costs=[1, 2, 3, 3]),
        )
    with pytest.raises(ValueError, match=r"feature_costs .* unknown 'weight'"):
        from_scikit_learn(model, feature_costs=shuffled_dict(COSTS) | {"weight": 1})
    unnamed = GradientBoostingRegressor(n_estimators=4, random_state=0).fit(TABLE.to_numpy(), Y)
    with pytest.raises(ValueError, match=r"feature_costs has names"):
        from_scikit_learn(unnamed, feature_costs=shuffled_dict(COSTS))


def forest(value=1.0, threshold=0.0, initial=0.0, **parameters):
    """A stump of another library on its column ``blood_sugar``."""
    nodes = [Split(1, threshold, 1, 2), Leaf((value,), 0), Leaf((0.0,), 1)]
    return MeteredForest(
        [Tree(0, nodes.__getitem__)] * 2,
        np.array([initial]),
        2,
        as_seen=np.asarray,
        library="Library",
        feature_names=["age", "blood_sugar"],
        **parameters,
    )


def test_a_library_that_writes_names_without_spaces():
    meter = forest(feature_costs={"blood sugar": 8.0, "age": 1.0})
    np.testing.assert_array_equal(meter.prediction_cost([[0.0, 0.0]]), [8.0])
    other = pd.Series({"blood sugar": 3.0, "age": 1.0})
    np.testing.assert_array_equal(meter.prediction_cost([[0.0, 0.0]], feature_costs=other), [3.0])
    with pytest.raises(ValueError, match=r"more than one value for 'blood_sugar'"):
        forest(feature_costs={"blood sugar": 8.0, "blood_sugar": 8.0, "age": 1.0})


@pytest.mark.parametrize(
    "wrong", [{"value": np.nan}, {"value": np.inf}, {"value": 1e308}, {"initial": np.nan}]
)
def test_a_forest_that_predicts_no_numbers(wrong):
    with pytest.raises(ValueError, match=r"must be finite|sum is no finite number"):
        forest(**wrong)


def test_a_threshold_that_is_no_number():
    with pytest.raises(ValueError, match=r"threshold of its trees must be finite, node 0"):
        forest(threshold=np.nan)


# --- numbers that are too large ------------------------------------------------------------------


@pytest.mark.parametrize("cls", EVERY)
def test_prices_whose_sum_would_overflow(cls):
    with pytest.raises(ValueError, match=r"feature_costs must not be above 1e\+270; feature 0"):
        small(cls, feature_costs=[1e308] * 4).fit(TABLE, Y)
    model = small(cls).fit(TABLE, Y)
    with pytest.raises(ValueError, match=r"feature_costs must not be above 1e\+270"):
        model.prediction_cost(TABLE, feature_costs=[1e308] * 4)
    most = model.prediction_cost(TABLE, feature_costs=[1e270] * 4, split_cost=1e270)
    assert np.all(np.isfinite(most) & (most > 0))


@pytest.mark.parametrize("tradeoff", [0.0, 1e-280, 1e-3])
def test_the_largest_prices_in_training(tradeoff):
    prices = {"feature_costs": [1e270] * 4, "model_feature_costs": [1e270] * 4, "split_cost": 1e270}
    model = small(CEGBRegressor, tradeoff=tradeoff, stop_on_negative_gain=False, **prices)
    model.fit(TABLE, Y)
    assert np.all(np.isfinite(model.trees_.gain))
    assert model.n_estimators_ == 5


def test_a_tradeoff_that_is_too_large():
    with pytest.raises(ValueError, match=r"tradeoff .* times the largest price .* too large"):
        small(CEGBRegressor, tradeoff=1e200, feature_costs=[1e200] * 4).fit(TABLE, Y)


def test_scores_that_are_no_numbers():
    model = GBRTRegressor(learning_rate=1e307, n_estimators=1).fit(TABLE, Y)
    assert np.all(np.isfinite(model.predict(TABLE)))
    model.set_params(learning_rate=1e308)
    with pytest.raises(ValueError, match=r"scores diverge.*learning_rate=1e\+308"):
        model.fit(TABLE, 1e3 * Y)
