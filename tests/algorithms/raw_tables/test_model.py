"""Saved models that take a user's table: what they read, what they pay for, what they refuse."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier
from sklearn.ensemble import HistGradientBoostingClassifier

from algorithms.budget_forest import BudgetForestClassifier
from algorithms.gbrt import GBRTClassifier
from algorithms.interop import from_scikit_learn
from algorithms.on_demand import OnDemandPredictor
from algorithms.raw_tables import RawColumn, TableModel
from algorithms.registry import load_model
from algorithms.selection import assert_budget

N = 200
rng = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "age": np.where(rng.random(N) < 0.1, np.nan, rng.integers(20, 60, N)),
        "colour": rng.choice(["red", "green", " blue", None], N),
        "code": rng.choice(["7", "007", "B"], N),
        "smokes": rng.random(N) < 0.5,
        "idle": 1,
    }
)
COLUMNS = [
    RawColumn("age"),
    RawColumn("colour", ("(missing)", "blue", "green", "red"), "columns"),
    RawColumn("code", ("007", "7", "B"), "numbers"),
    RawColumn("smokes"),
    RawColumn("idle"),
]
PRICES = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
Y = np.where(TABLE["colour"] == "red", TABLE["code"] == "7", TABLE["age"].fillna(99) > 40)


def made(table):
    """Rows for the model, by hand."""
    text = table["colour"].fillna("(missing)").str.strip()
    one_hot = [text == level for level in COLUMNS[1].values]
    code = table["code"].map({"007": 0, "7": 1, "B": 2}).fillna(-1)
    return np.column_stack([table["age"], *one_hot, code, table["smokes"], table["idle"]])


def fitted(kind=GBRTClassifier, table=TABLE, **options):
    one_hot = {"feature_costs": np.repeat(PRICES, [1, 4, 1, 1, 1])}
    one_hot["feature_groups"] = ["age", *["colour"] * 4, "code", "smokes", "idle"]
    names = [name for column in COLUMNS for name in column.made]
    rows = pd.DataFrame(made(table).astype(float), columns=names)
    return kind(n_estimators=8, **one_hot, **options).fit(rows, Y)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.zip"
    TableModel(fitted(min_samples_leaf=5), COLUMNS).save(path)
    return load_model(path)


def as_csv_reads(table):
    """Rows of text alone, as the module csv gives them."""
    return {n: ["" if pd.isna(v) else str(v) for v in table[n]] for n in table}


@pytest.mark.parametrize(
    "form",
    [
        lambda t: t,
        lambda t: t[[*t][::-1]].assign(more="x"),
        lambda t: t.rename(columns=lambda name: f" {name} "),
        lambda t: t.astype({"colour": "category", "code": "string", "age": "Float64"}),
        as_csv_reads,
        lambda t: t.drop(columns="idle"),
    ],
)
def test_a_table_in_any_form_is_the_rows_that_the_model_takes(model, form):
    rows, inner = made(TABLE).astype(float), model.model
    assert is_classifier(model)
    inner.__dict__.pop("feature_names_in_", None)
    table = form(TABLE)
    np.testing.assert_array_equal(model.predict_proba(table), inner.predict_proba(rows))
    costs = model.prediction_cost(table)
    used = model.acquired_features(table)
    assert costs.tolist() == (used @ PRICES).tolist()  # a column is one purchase
    assert len(set(costs)) > 1
    assert model.model_features().tolist() == [True, True, True, False, False]
    if isinstance(table, pd.DataFrame):
        assert_budget(model, table, Y, min_score=0.9, max_cost=7.0)


def test_what_training_did_not_know_is_none_of_what_it_knew(model):
    other = TABLE.assign(colour="pink", code=None)
    rows = made(other).astype(float)
    assert rows[:, 1:6].tolist() == [[0, 0, 0, 0, -1]] * N
    np.testing.assert_array_equal(model.made(other), rows)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda t: t.to_numpy(), "X must be a table with named columns"),
        (lambda t: t.drop(columns=["age", "code"]), "lacks the columns 'age', 'code'"),
        (lambda t: t.assign(**{"age ": 1}), "X has several columns 'age'"),
        (lambda t: t.assign(age="old"), "Column 'age' was numbers .* and holds 'old'"),
        (lambda t: t.assign(age=np.inf), "Column 'age' has infinite numbers"),
        (lambda t: t.assign(age=pd.Timestamp("2026-01-01")), "Column 'age' holds dates"),
        (lambda t: t.assign(code=8), r"Column 'code' was text .* dtype={'code': str}"),
    ],
)
def test_refused_in_a_sentence(model, change, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.predict(change(TABLE))


def test_missing_values_where_the_model_knows_none():
    whole = TABLE.fillna({"age": 50})
    model = TableModel(fitted(BudgetForestClassifier, whole, random_state=0), COLUMNS)
    assert len(model.predict(whole)) == N
    with pytest.raises(ValueError, match=r"'age' has \d+ missing values, of which .* nothing"):
        model.predict(TABLE)


TEXT = TABLE.assign(colour=TABLE["colour"].str.strip())
BY_SETS = [column._replace(kind="category") if column.values else column for column in COLUMNS]


def by_sets(**prices):
    texts = ["colour", "code"]
    model = GBRTClassifier(n_estimators=8, min_samples_leaf=5, categorical_features=texts, **prices)
    return model.fit(TEXT, Y)


def test_text_for_a_model_that_knows_categories(tmp_path):
    inner = by_sets()
    TableModel(inner, BY_SETS).save(tmp_path / "model.zip")
    model, other = load_model(tmp_path / "model.zip"), TABLE.assign(colour=" red ", code=None)
    for table, clean in ((TABLE, TEXT), (other, other.assign(colour="red"))):
        np.testing.assert_array_equal(model.predict_proba(table), inner.predict_proba(clean))


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (COLUMNS[:-1], "columns make 7 features, and the GBRTClassifier takes 8"),
        ([*COLUMNS[:-1], RawColumn("age")], "different names"),
        ([*COLUMNS[:-1], RawColumn("idle", ("a", "a"), "two")], "each once"),
        ([*COLUMNS[:-1], RawColumn("idle", (), "dates")], "a known kind"),
    ],
)
def test_columns_that_do_not_fit(model, columns, sentence):
    with pytest.raises(ValueError, match=sentence):
        TableModel(model.model, columns)


def test_no_file_of_a_model_that_has_none(tmp_path):
    class Mine(GBRTClassifier):
        pass

    mine = TableModel(fitted(Mine), COLUMNS)
    with pytest.raises(ValueError, match="Cannot save the TableModel of a Mine: only these"):
        mine.save(tmp_path / "model.zip")


def of_another_library():
    rows = made(TABLE).astype(float)
    trees = HistGradientBoostingClassifier(max_iter=8, min_samples_leaf=5).fit(rows, Y)
    groups = [0, 1, 1, 1, 1, 2, 3, 4]
    return from_scikit_learn(trees, feature_costs=PRICES[groups], feature_groups=groups)


@pytest.mark.parametrize(
    ("inner", "columns", "labels"),
    [
        (lambda: fitted(min_samples_leaf=5), COLUMNS, [*TABLE]),
        (of_another_library, COLUMNS, [0, 1, 2, 3, 4]),
        (lambda: by_sets(feature_costs=PRICES), BY_SETS, [*TABLE]),
    ],
)
def test_on_demand_functions_give_raw_columns(inner, columns, labels):
    model = TableModel(inner(), columns)
    functions = {
        label: lambda rows, name=name: rows[name] for label, name in zip(labels, TABLE, strict=True)
    }
    table = TABLE.assign(colour=np.where(np.arange(N) % 9, TABLE["colour"], "pink"))
    found = OnDemandPredictor(model, functions).predict_proba(table)
    np.testing.assert_array_equal(found.predictions, model.predict_proba(table))
    np.testing.assert_array_equal(found.cost, model.prediction_cost(table))
    np.testing.assert_array_equal(found.acquired, model.acquired_features(table))
    assert 0 < found.rows_by_function[labels[2]] < N
    shuffled = {**functions, labels[0]: lambda rows: rows["age"].sort_values()}
    with pytest.raises(ValueError, match="The function of age returned them in another order"):
        OnDemandPredictor(model, shuffled).predict(table)


def test_on_demand_columns_that_are_bought_together():
    rows = pd.DataFrame(made(TABLE).astype(float))
    groups = ["visit", *["visit"] * 4, "code", "visit", "idle"]
    inner = GBRTClassifier(n_estimators=8, min_samples_leaf=5, feature_groups=groups).fit(rows, Y)
    model, visit = TableModel(inner, COLUMNS), ["age", "colour", "smokes"]
    for answer in (lambda t: t[visit[::-1]], lambda t: t[visit].to_numpy(), lambda t: dict(t)):
        functions = {"visit": answer, "code": lambda t: t["code"]}
        found = OnDemandPredictor(model, functions).predict(TABLE)
        np.testing.assert_array_equal(found.predictions, model.predict(TABLE))
    functions["visit"] = lambda t: t["age"].to_numpy()
    with pytest.raises(ValueError, match="age, colour, smokes must return a column for each"):
        OnDemandPredictor(model, functions).predict(TABLE)
