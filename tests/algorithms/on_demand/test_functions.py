"""Prediction on demand: rows of all kinds, what a function may answer, and what is refused."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from algorithms.cegb import CEGBRegressor
from algorithms.on_demand.predictor import OnDemandPredictor, OnDemandResult, _Batch
from tests.algorithms.on_demand.test_predictor import (
    FORK,
    FORK_X,
    SMALL,
    STUMP,
    Functions,
    assert_accounted,
    fitted,
    fork_model,
    small_forest,
)
from tests.test_layers import ROOT

# --- rows of all kinds, names, what groups may answer --------------------------------------------


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        (FORK_X, np.ndarray),
        (pd.DataFrame(FORK_X, index=list("edcba")), pd.DataFrame),
        (pd.Series(list(FORK_X), index=[4, 3, 2, 1, 0]), pd.Series),
        (sparse.coo_matrix(FORK_X), sparse.csr_matrix),
        (FORK_X.tolist(), list),
        (tuple(map(tuple, FORK_X)), list),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_kinds_of_rows(rows, kind):
    seen = []

    def column(m):
        def compute(part):
            seen.append(part)
            table = part.toarray() if sparse.issparse(part) else np.array(list(part))
            table = part.to_numpy() if isinstance(part, pd.DataFrame) else table
            return table[:, m]

        return compute

    result = OnDemandPredictor(fork_model(), {m: column(m) for m in range(4)}).predict(rows)
    np.testing.assert_array_equal(result.predictions, fork_model().predict(FORK_X))
    assert {type(part) for part in seen} == {kind}


def test_names_of_columns():
    rng = np.random.default_rng(8)
    table = pd.DataFrame(rng.normal(size=(300, 3)), columns=["age", "height", "blood"])
    model = CEGBRegressor(**SMALL, tradeoff=0.0).fit(table, table["age"] * table["blood"])
    functions = {
        "age": lambda part: part["age"],
        1: lambda part: part["height"].to_numpy(),
        "blood": lambda part: part["blood"].tolist(),
    }
    result = OnDemandPredictor(model, functions, batch_size=64).predict(table)
    np.testing.assert_array_equal(result.predictions, model.predict(table))
    assert list(result.calls_by_function) == ["age", 1, "blood"]
    with pytest.raises(ValueError, match=r"two functions for feature 0 \('age'\)"):
        OnDemandPredictor(model, functions | {0: len})
    with pytest.raises(ValueError, match="no such feature"):
        OnDemandPredictor(model, functions | {"weight": len})
    del functions["blood"]
    with pytest.raises(ValueError, match=r"no function for: feature 2 \('blood'\)"):
        OnDemandPredictor(model, functions)


def group_model():
    """Groups 5 = features 0, 1 and 9 = features 2, 3, of which a tree tests all but 3."""
    model = CEGBRegressor(feature_groups=[5, 5, 9, 9])
    return fitted(model, small_forest([FORK]), [0.0], 4)


def group_functions(second):
    return {5: lambda rows: FORK_X[rows][:, :2], 9: second}


@pytest.mark.parametrize(
    "answer",
    [
        lambda rows: FORK_X[rows][:, 2:],
        lambda rows: FORK_X[rows][:, 2:].tolist(),
        lambda rows: pd.DataFrame(FORK_X[rows][:, 2:]),
        lambda rows: {2: FORK_X[rows][:, 2]},
        lambda rows: {3: FORK_X[rows][:, 3], 2: FORK_X[rows][:, 2].astype(np.float32)},
    ],
)
def test_a_group_answers_an_array_or_a_mapping(answer):
    result = OnDemandPredictor(group_model(), group_functions(answer)).predict(range(5))
    np.testing.assert_array_equal(result.predictions, group_model().predict(FORK_X))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda rows: FORK_X[rows][:, 2], r"returned shape \(3,\); \(3, 2\) is wanted"),
        (lambda rows: FORK_X[rows][:, 1:], r"returned shape \(3, 3\); \(3, 2\) is wanted"),
        (lambda rows: {3: FORK_X[rows][:, 3]}, "left out feature 2"),
        (
            lambda rows: {0: FORK_X[rows][:, 0]},
            "returned 0, which is not in the group: in it are 2, 3",
        ),
        (lambda rows: {2: [1.0, 2.0]}, r"for 2 returned shape \(2,\); \(3,\) is wanted"),
    ],
)
def test_a_group_answers_wrongly(answer, message):
    with pytest.raises(ValueError, match=message) as caught:
        OnDemandPredictor(group_model(), group_functions(answer)).predict(range(5))
    assert "group 9 (features 2, 3), asked for 3 rows" in str(caught.value)


def named_group_model():
    """The same with names of columns."""
    model = group_model()
    model.feature_names_in_ = np.array(["a", "b", "c", "d"], dtype=object)
    return model


@pytest.mark.parametrize("order", [["c", "d"], ["d", "c"], ["c"]])
def test_a_table_with_names_is_read_by_name(order):
    table = pd.DataFrame(FORK_X, columns=["a", "b", "c", "d"])
    functions = {5: lambda rows: rows[["b", "a"]], 9: lambda rows: rows[order]}
    result = OnDemandPredictor(named_group_model(), functions).predict(table)
    np.testing.assert_array_equal(result.predictions, group_model().predict(FORK_X))


def test_a_table_with_other_names_is_refused():
    table = pd.DataFrame(FORK_X, columns=["a", "b", "c", "d"])
    functions = {5: lambda rows: rows[["a", "b"]], 9: lambda rows: rows[["b", "c"]]}
    with pytest.raises(ValueError, match="returned 'b', which is not in the group"):
        OnDemandPredictor(named_group_model(), functions).predict(table)


@pytest.mark.parametrize(
    "answer",
    [
        lambda rows: rows[["c", "d"]][::-1],
        lambda rows: {"c": rows["c"][::-1]},
        lambda rows: {"c": rows["c"], "d": rows["d"].sort_index(ascending=False)},
    ],
)
def test_rows_in_another_order_are_refused(answer):
    table = pd.DataFrame(FORK_X, columns=["a", "b", "c", "d"], index=[3, 0, 8, 2, 5])
    functions = {5: lambda rows: rows[["a", "b"]], 9: answer}
    with pytest.raises(ValueError, match=r"group 9 .* returned them in another order"):
        OnDemandPredictor(named_group_model(), functions).predict(table)


@pytest.mark.parametrize("index", [[3, 0, 8, 2, 5], [1, 1, 1, 2, 2]])
def test_an_index_that_tells_no_order_is_fine(index):
    """A new index, as a merge gives, and labels that are not unique."""
    table = pd.DataFrame(FORK_X, index=index)
    functions = {m: lambda rows, m=m: rows[m].reset_index(drop=True) for m in range(4)}
    functions[0] = lambda rows: rows[0]
    result = OnDemandPredictor(fork_model(), functions).predict(table)
    np.testing.assert_array_equal(result.predictions, fork_model().predict(FORK_X))


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda rows: FORK_X[rows], r"returned shape \(2, 4\); \(2,\) is wanted"),
        (lambda rows: 1.0, r"returned shape \(\); \(2,\) is wanted"),
        (lambda rows: None, r"returned shape \(\)"),
        (lambda rows: [[1.0], [1.0, 2.0]], "returned what is no array"),
        (lambda rows: ["1", "2"], "returned values of dtype <U1"),
        (lambda rows: [1.0, None], "returned values of dtype object"),
        (lambda rows: [1.0, 2j], "returned values of dtype complex128"),
        (lambda rows: {1: [1.0, 2.0]}, "returned a mapping"),
        (lambda rows: [-np.inf, np.inf], r"2 infinite values, the first \(-inf\)"),
        (lambda rows: [np.nan, np.inf], r"1 infinite values, the first \(inf\) for its row 1"),
    ],
)
def test_a_function_answers_wrongly(answer, message):
    functions = Functions(fork_model(), FORK_X) | {1: answer}
    with pytest.raises(ValueError, match=message) as caught:
        OnDemandPredictor(fork_model(), functions).predict(range(5))
    assert str(caught.value).startswith("The function of feature 1, asked for 2 rows,")


@pytest.mark.parametrize(
    "values", [[np.nan, np.nan], np.ma.array([1.0, 2.0], mask=[True, True])], ids=["NaN", "masked"]
)
def test_missing_values_are_paid_for_and_go_their_way(values):
    model = fork_model()
    model.trees_.missing_left[model.trees_.feature == 1] = 1
    model, X = model.first_rounds(2), FORK_X.copy()
    functions = Functions(model, FORK_X) | {1: lambda rows: values}
    result = OnDemandPredictor(model, functions).predict(range(5))
    X[[0, 3], 1] = np.nan  # the rows that ask for it
    np.testing.assert_array_equal(result.predictions, [17.5, 20.5, 40.5, 33.5, 36.5])
    np.testing.assert_array_equal(model.predict(X), result.predictions)
    np.testing.assert_array_equal(result.cost, model.prediction_cost(FORK_X))


@pytest.mark.parametrize("values", [[1, 2], [True, False], np.float32([1, 2]), np.uint8([1, 2])])
def test_other_numbers_are_fine(values):
    functions = Functions(fork_model(), FORK_X) | {1: lambda rows: values}
    assert OnDemandPredictor(fork_model(), functions).predict(range(5)).predictions[0] == 18.5


@pytest.mark.parametrize("error", [KeyError("sensor"), KeyboardInterrupt(), SystemExit(3)])
def test_a_function_that_fails_leaves_nothing_behind(error):
    functions, fail = Functions(fork_model(), FORK_X), [True]
    read = functions[3]

    def fragile(rows):
        if fail:
            raise error
        return read(rows)

    functions[3] = fragile
    predictor = OnDemandPredictor(fork_model(), functions, batch_size=2)
    with pytest.raises(type(error)) as caught:
        predictor.predict(range(5))
    assert caught.value is error
    fail.clear()
    functions.calls.clear()
    functions.seconds.clear()
    result = predictor.predict(range(5))
    assert isinstance(result, OnDemandResult)
    np.testing.assert_array_equal(result.predictions, fork_model().predict(FORK_X))
    assert_accounted(fork_model(), functions, result)


def test_no_row_acquires_twice():
    """The guard fires: a row that is handed the same unit again is an error."""
    predictor = OnDemandPredictor(fork_model(), Functions(fork_model(), FORK_X))
    outputs = (
        np.zeros((5, 1), dtype=np.uint64),
        np.zeros(5, dtype=np.int64),
        np.zeros(5, dtype=np.int64),
        np.zeros((5, 1)),
    )
    batch = _Batch(predictor, np.zeros((4, 5)), outputs)
    batch.hand_over(2, np.array([0, 3]), {2: np.ones(2)})
    batch.hand_over(2, np.array([1, 2]), {2: np.ones(2)})
    with pytest.raises(RuntimeError, match="acquired feature 2 twice"):
        batch.hand_over(2, np.array([4, 3]), {2: np.zeros(2)})
    np.testing.assert_array_equal(batch.values[2], [1, 1, 1, 1, 0])


def test_missing_functions_are_listed_before_any_work():
    functions = Functions(fork_model(), FORK_X)
    del functions[1], functions[3]
    with pytest.raises(ValueError, match="uses: feature 0; feature 1; feature 2; feature 3") as one:
        OnDemandPredictor(fork_model(), functions)
    assert "no function for: feature 1; feature 3." in str(one.value)
    assert functions.calls == []
    with pytest.raises(ValueError, match=r"no function for: group 9 \(features 2, 3\)"):
        OnDemandPredictor(group_model(), {5: len})
    # What no tree tests needs no function.
    model = fitted(CEGBRegressor(), small_forest([STUMP]), [0.0], 4)
    assert OnDemandPredictor(model, {3: lambda rows: rows}).predict([1.0]).predictions == [32.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": object()}, "must be a forest, a cascade or a DAG"),
        ({"model": CEGBRegressor}, "must be a forest, a cascade or a DAG"),
        ({"model": CEGBRegressor()}, "not fitted"),
        ({"functions": [len, len]}, "must map each feature .* asks for: 0, 1, 2"),
        ({"functions": {0: 3}}, "function of feature 0 is not callable: 3"),
        ({"functions": {4: len}}, "key 4, but .* no such feature. Keys .*: 0, 1, 2"),
        (
            {"model": group_model(), "functions": {0: len}},
            "the key 0, .* no such group. Keys .*: 5, 9",
        ),
        ({"batch_size": 0}, "batch_size"),
        ({"batch_size": True}, "batch_size"),
        ({"batch_size": 2.0}, "batch_size"),
        ({"feature_costs": [1.0, -1.0, 0.0, 0.0]}, "negative"),
    ],
)
def test_wrong_arguments(arguments, message):
    arguments = {"model": fork_model(), "functions": Functions(fork_model(), FORK_X)} | arguments
    with pytest.raises(ValueError, match=message):
        OnDemandPredictor(arguments.pop("model"), arguments.pop("functions"), **arguments)


@pytest.mark.parametrize("rows", ["abc", {1: 2}, {1, 2}, iter([1, 2]), 3, np.array(3.0)])
def test_rows_that_are_no_sequence(rows):
    with pytest.raises(ValueError, match="rows must be an array"):
        OnDemandPredictor(fork_model(), Functions(fork_model(), FORK_X)).predict(rows)


@pytest.mark.parametrize("rows", [[], np.zeros((0, 4)), pd.DataFrame({"id": []}), range(0)])
def test_no_rows(rows):
    with pytest.raises(ValueError, match="rows is empty"):
        OnDemandPredictor(fork_model(), Functions(fork_model(), FORK_X)).predict(rows)


def test_the_documented_database(capsys):
    """Each feature is a query, and the dear one is asked for some rows only."""
    text = (ROOT / "docs" / "examples.md").read_text("utf-8")
    section = text.split("\n## Ask a database, or a service, for features\n")[1].split("\n## ")[0]
    names = {}
    exec(re.search(r"```python\n(.*?)```", section, re.DOTALL)[1], names)
    result, model, table = (names[name] for name in ("result", "model", "table"))
    assert result.cost.tobytes() == model.prediction_cost(table).tobytes()
    assert result.predictions.tobytes() == model.predict(table).tobytes()
    assert result.rows_by_function["age"] == 1000
    assert 300 < result.rows_by_function["spent"] < 800
    asked, cost, metered = re.fullmatch(
        r"({.*?})\n([\d.]+) ([\d.]+)\n", capsys.readouterr().out
    ).groups()
    assert float(cost) == float(metered) < 45
    assert "'age': 1000" in asked


def test_a_regressor_has_no_probabilities():
    with pytest.raises(ValueError, match="CEGBRegressor has no predict_proba on demand"):
        OnDemandPredictor(fork_model(), Functions(fork_model(), FORK_X)).predict_proba([0])
