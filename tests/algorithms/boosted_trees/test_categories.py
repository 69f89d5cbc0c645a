"""Tables with categories: what is read, what is refused, what is kept in files and shown."""

import datetime
import functools
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from algorithms.boosted_trees import files
from algorithms.cegb import CEGBRegressor
from algorithms.early_exit import EarlyExit
from algorithms.exporting import export_lightgbm
from algorithms.gbrt import GBRTClassifier
from algorithms.on_demand import OnDemandPredictor
from algorithms.registry.loading import load_model
from algorithms.selection import BudgetSearchCV
from algorithms.trees.export import export_dot, export_text
from algorithms.validation.categories import ManyCategoriesWarning

pytestmark = pytest.mark.slow  # kernels of their own are compiled

rng = np.random.default_rng(33)
CITY = np.array(["Bern", "Basel", "Chur", "Genf"])[rng.integers(0, 4, 200)]
AGE = rng.integers(20, 60, 200)
Y = np.isin(CITY, ["Bern", "Genf"]) * 4.0 + (AGE > 40)
TABLE = pd.DataFrame({"age": AGE, "city": CITY})
SMALL = {"n_estimators": 3, "learning_rate": 0.5, "n_threads": 1}
PRICES = {"feature_costs": {"age": 1.0, "city": 5.0}, "split_cost": 0.5}


def fitted(X=TABLE, spec="from_dtype", **more):
    return CEGBRegressor(**SMALL, categorical_features=spec, **more).fit(X, Y)


@functools.cache
def the_model():
    return fitted(**PRICES)


# --- what is read ---------------------------------------------------------------------------------


def tables():
    yield "names", TABLE, ["city"]
    yield "mask", TABLE, np.array([False, True])
    yield "places", TABLE, np.array([1])
    yield "category", TABLE.astype({"city": "category"}), "from_dtype"
    yield "object", TABLE.astype({"city": object}), "from_dtype"
    yield "array", TABLE.to_numpy(dtype=object), [1]
    yield "list", TABLE.to_numpy(dtype=object).tolist(), [1]


@pytest.mark.parametrize(("X", "spec"), [pytest.param(x, s, id=n) for n, x, s in tables()])
def test_every_way_to_say_it_is_the_same(X, spec):
    model = fitted(X, spec)
    np.testing.assert_array_equal(model.predict(X), the_model().predict(TABLE))
    assert model.is_categorical_.tolist() == [False, True]
    assert model.categories_[1].tolist() == sorted(set(CITY))


@pytest.mark.parametrize("dtype", ["String", "Categorical", "Enum"])
def test_polars(dtype):
    polars = pytest.importorskip("polars")
    kind = polars.Enum(sorted(set(CITY))) if dtype == "Enum" else getattr(polars, dtype)
    table = polars.DataFrame({"age": AGE, "city": CITY.tolist()}).cast({"city": kind})
    model = fitted(table, **PRICES)
    np.testing.assert_array_equal(model.predict(table), the_model().predict(TABLE))
    np.testing.assert_array_equal(model.prediction_cost(table), the_model().prediction_cost(TABLE))


@pytest.mark.parametrize("dictionary", [False, True])
def test_arrow(dictionary):
    arrow = pytest.importorskip("pyarrow")
    city = arrow.array(CITY.tolist())
    table = arrow.table({"age": AGE, "city": city.dictionary_encode() if dictionary else city})
    np.testing.assert_array_equal(fitted(table).predict(table), the_model().predict(TABLE))


def test_numbers_are_told_apart_by_equality_alone():
    code = {"Bern": 7.5, "Basel": -3.0, "Chur": 100.0, "Genf": 0.0}
    X = np.column_stack([AGE, [code[city] for city in CITY]])
    model = fitted(X, [1])
    assert model.categories_[1].tolist() == [-3.0, 0.0, 7.5, 100.0]
    close = model.predict(X), the_model().predict(TABLE)
    np.testing.assert_allclose(*close, rtol=0, atol=1e-12)
    whole = pd.DataFrame({"age": AGE, "code": pd.array(np.arange(200) % 4, dtype="Int64")})
    whole.loc[3, "code"] = pd.NA
    assert fitted(whole, ["code"]).categories_[1].tolist() == [0.0, 1.0, 2.0, 3.0]


def test_unknown_missing_and_rare_ones_are_one_and_the_same():
    X = TABLE.copy()
    X.loc[:4, "city"] = "Zug"  # five rows, of min_samples_leaf=20
    X.loc[5:6, "city"] = None
    model = fitted(X, ["city"])
    assert model.categories_[1].tolist() == sorted(set(CITY))
    rows = pd.DataFrame({"age": 33, "city": ["Zug", None, "Paris", np.nan]})
    assert len(set(model.predict(rows))) == 1
    assert model.prediction_cost(rows, feature_costs=[0, 1]).tolist() == [1.0] * 4


def test_a_table_without_categories_is_read_as_ever():
    numbers = pd.DataFrame({"age": AGE, "b": AGE % 7})
    model = fitted(numbers)
    assert model.is_categorical_ is None
    assert model.categories_ == {}
    assert type(model.trees_).__name__ == "Forest"
    np.testing.assert_array_equal(model.predict(numbers), fitted(numbers, None).predict(numbers))


def test_a_validation_set_and_a_search_over_tables():
    model = CEGBRegressor(**SMALL, categorical_features=["city"], early_stopping_rounds=2)
    new = TABLE.assign(city=np.where(AGE > 50, "Zug", CITY))
    model.fit(TABLE, Y, eval_set=(new, Y))
    errors = [np.mean((scores - Y) ** 2) for scores in model.staged_predict(new)]
    np.testing.assert_allclose(2 * model.validation_scores_[: len(errors)], errors)
    search = BudgetSearchCV(
        CEGBRegressor(**SMALL, **PRICES, categorical_features="from_dtype"),
        {"tradeoff": [0.0, 1e6]},
        budget=100.0,
        n_iter=None,
        cv=2,
    ).fit(TABLE, Y)
    assert search.best_params_ == {"tradeoff": 0.0}
    assert search.prediction_cost(TABLE).max() > 6.0  # both columns, and splits


def test_what_is_derived_of_a_model():
    model = the_model()
    again = pickle.loads(pickle.dumps(model))  # of our own making
    np.testing.assert_array_equal(again.predict(TABLE), model.predict(TABLE))
    assert clone(model).categorical_features == "from_dtype"
    alone = [model.predict(TABLE[i : i + 1])[0] for i in range(20)]
    np.testing.assert_array_equal(alone, model.predict(TABLE)[:20])
    total = np.sum(model.cost_importances(TABLE))
    assert total == pytest.approx(model.prediction_cost(TABLE).mean())
    first = model.first_rounds(1)
    np.testing.assert_array_equal(first.predict(TABLE), next(model.staged_predict(TABLE)))
    assert np.all(first.acquired_features(TABLE) <= model.acquired_features(TABLE))


def test_a_constant_target():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GBRTClassifier(categorical_features=["city"]).fit(TABLE, np.zeros(200))
    assert model.predict(TABLE).tolist() == [0.0] * 200


# --- what is refused ------------------------------------------------------------------------------


def with_city(values):
    return pd.DataFrame({"age": AGE, "city": pd.Series(values, dtype=object)})


@pytest.mark.parametrize(
    ("X", "spec", "message"),
    [
        (with_city(["a", 3] * 100), ["city"], "mixes text and numbers as categories"),
        (with_city([datetime.date(2026, 1, 1)] * 200), ["city"], "dates or times as categories"),
        (with_city([("a",)] * 200), ["city"], "type tuple as categories"),
        (with_city([["a"]] * 200), ["city"], "type list"),
        (with_city([2**60, 2**60 + 1] * 100), ["city"], r"above 2\*\*53"),
        (TABLE, ["age"], "Column 'city' holds text .*, not numbers: name it in"),
        (TABLE.assign(age=pd.Timestamp("2026-01-01")), ["city"], "'age' holds dates or times"),
        (TABLE, ["town"], "'town', which no column"),
        (TABLE.to_numpy(dtype=object), ["city"], "the columns of X have none"),
        (TABLE, [2], "the place 2, and the 2 columns are 0 to 1"),
        (TABLE, [True], "one truth value for each of the 2 columns, got 1"),
        (TABLE, "auto", 'must be None, "from_dtype", or a list'),
        (TABLE, [0, "city"], "one kind only"),
        (TABLE, 1, "one kind only"),
        (np.array([[1.0, np.inf]] * 200), [1], "infinite number as a category"),
    ],
)
def test_refused_in_a_sentence(X, spec, message):
    model = CEGBRegressor(**SMALL, categorical_features=spec)
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)
    assert not hasattr(model, "trees_")


def test_a_category_per_row_and_very_many_of_them():
    each = pd.DataFrame({"age": AGE, "city": [f"c{i}" for i in range(200)]})
    with pytest.warns(ManyCategoriesWarning, match="'city' has 200 categories, of which 0"):
        model = fitted(each)
    assert model.model_features().tolist() == [True, False]
    n = 100_000
    many = pd.DataFrame({"id": np.repeat(np.arange(n // 4), 4)})
    many.loc[:999, "id"] = -1
    big = CEGBRegressor(**SMALL, min_samples_leaf=4, categorical_features=["id"], max_bins=9)
    with pytest.warns(ManyCategoriesWarning, match="of which 9 are told apart"):
        big.fit(many, np.arange(n) < 1000)
    assert big.categories_[0].tolist() == [-1.0, *range(250, 258)]
    assert big.predict(many[:1000]).min() > big.predict(many[1000:]).max()


def test_dask_arrays_are_refused():
    array = pytest.importorskip("dask.array")
    model = CEGBRegressor(categorical_features=[0])
    with pytest.raises(ValueError, match="categorical_features is not read with Dask arrays"):
        model.fit(array.zeros((9, 2)), array.zeros(9))


def test_sparse_rows_are_refused():
    with pytest.raises(ValueError, match="rows are read densely: give X"):
        CEGBRegressor(categorical_features=[0]).fit(sparse.csr_matrix(np.eye(9)), np.arange(9))


def test_other_kinds_than_in_training_are_refused():
    with pytest.raises(ValueError, match="'city' has numbers as categories, and in fit text"):
        the_model().predict(TABLE.assign(city=3))
    with pytest.raises(ValueError, match="feature names"):
        the_model().predict(TABLE[["city", "age"]])


@pytest.mark.parametrize(
    "other",
    [
        export_lightgbm,
        lambda model: model.fast_predictor(),
        lambda model: EarlyExit(model, threshold=1.0).fit(TABLE, Y),
        lambda model: OnDemandPredictor(model, {}),
    ],
    ids=["LightGBM", "fast", "early exit", "on demand"],
)
def test_who_reads_thresholds_says_so(other):
    with pytest.raises(ValueError, match="splits categories by sets: encode them as numbers"):
        other(the_model())


# --- files, and what is shown ---------------------------------------------------------------------


def test_a_file_round_trip(tmp_path):
    model = the_model()
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    rows = pd.concat([TABLE, pd.DataFrame({"age": [30, 31], "city": ["Paris", None]})])
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))
    np.testing.assert_array_equal(loaded.prediction_cost(rows), model.prediction_cost(rows))
    assert loaded.categorical_features == "from_dtype"
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").stat().st_size == (tmp_path / "model").stat().st_size
    for a, b in zip(loaded.trees_, model.trees_, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_model_without_categories_has_no_word_of_them_in_its_file():
    header, arrays = CEGBRegressor(**SMALL).fit(TABLE[["age"]], Y)._contents()
    assert "categor" not in str(header)
    assert set(arrays) == set(files.SavedForest._stored_arrays)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"2": ["a"]}, "must be of some of 2 columns"),
        ({"x": ["a"]}, "must be of some of 2 columns"),
        ({}, "must be of some of 2 columns"),
        ({"1": ["b", "a"]}, "distinct and ascending"),
        ({"1": ["a", 1.0]}, "texts or numbers"),
        ({"1": [True]}, "texts or numbers"),
        ({"1": ["Bern"]}, "a category left that there is not"),
        ({"0": ["a", "b", "c", "d"]}, "a category left that there is not"),
    ],
)
def test_hostile_files_are_refused(change, message):
    header, arrays = the_model()._contents()
    with pytest.raises(ValueError, match=message):
        CEGBRegressor._from_file(header | {"categories": change}, arrays)
    wrong = {**arrays, "left_set": arrays["left_set"][:, :3]}
    with pytest.raises(ValueError, match="left_set"):
        CEGBRegressor._from_file(header, wrong)


def test_a_tree_is_shown_with_its_sets():
    model = the_model()
    text = export_text(model)
    assert "city in {Basel, Chur} [costs 5.50]" in text or "city not in {" in text
    assert "city" in export_dot(model)
    frame = model.to_frame()
    by_set = frame["feature"] == "city"
    assert by_set.any()
    assert frame.loc[by_set, "threshold"].isna().all()
    assert all(set(one) < set(CITY) for one in frame.loc[by_set, "categories_left"])
    assert frame.loc[~by_set, "categories_left"].isna().all()
