"""Columns of text: what becomes of them, what they cost, and what is refused in a sentence."""

import numpy as np
import pandas as pd
import pytest

from experiments.compare.categories import Coded, expanded
from experiments.compare.fields import Refused
from experiments.compare.preparing import Asked, prepare
from experiments.compare.problem import load
from experiments.compare.tables import Prices

N = 120
COLOURS = np.array(["red", "green", "blue"])[np.arange(N) % 3]
BLOOD = np.array(["a", "b"])[np.arange(N) // 2 % 2]
WARDS = np.array([f"ward {k:02d}" for k in range(20)])[np.arange(N) * 7 % 20]


def table(**columns):
    rng = np.random.default_rng(0)
    frame = {"y": np.arange(N) % 2, "age": rng.random(N).round(3), "colour": COLOURS}
    return pd.DataFrame(frame | columns)


def prepared(folder, frame, costs=None, test=None):
    frame.to_csv(folder / "t.csv", index=False)
    if costs is not None:
        (folder / "c.csv").write_text(costs)
    if test is not None:
        test.to_csv(folder / "test.csv", index=False)
    asked = Asked(
        folder / "t.csv",
        "y",
        None if costs is None else folder / "c.csv",
        None if test is None else folder / "test.csv",
    )
    found = prepare(asked, folder)
    return found, load(str(found.path))


def rows(problem):
    return pd.concat([part.X for part in problem.parts.values()])


def test_each_kind_becomes_what_the_rule_says(tmp_path):
    found, problem = prepared(tmp_path, table(blood=BLOOD, ward=WARDS, smokes=BLOOD == "a"))
    X = rows(problem)
    colours = [f"colour={c}" for c in ("blue", "green", "red")]
    assert list(X) == ["age", *colours, "blood", "ward", "smokes"]
    assert (X[colours].sum(axis=1) == 1).all()
    assert sorted(X["blood"].unique()) == sorted(X["smokes"].unique()) == [0.0, 1.0]
    assert sorted(X["ward"].unique()) == list(range(20))
    counts = X[colours].sum().tolist()
    assert counts == [np.sum(COLOURS == c) for c in ("blue", "green", "red")]
    assert any("'ward' has text, taken as 20 values numbered" in note for note in found.notes)
    assert [code["column"] for code in found.encoding] == ["colour", "blood", "ward"]


def test_a_column_is_one_purchase(tmp_path):
    costs = "feature,cost\nage,1\ncolour,5\n"
    _, problem = prepared(tmp_path, table(), costs)
    assert problem.feature_costs.tolist() == [1.0, 5.0, 5.0, 5.0]
    assert problem.feature_groups == ["age", "colour", "colour", "colour"]
    assert problem.group_costs is None
    from experiments.compare.subsets import price_of, prices_of

    assert price_of(prices_of(problem), [1, 2, 3]) == 5.0


def test_within_a_group(tmp_path):
    together = "feature,cost,group\nage,5,visit\ncolour,5,visit\n"
    _, problem = prepared(tmp_path, table(), together)
    assert problem.feature_groups == ["visit"] * 4
    besides = "feature,cost,group\nage,1,visit\ncolour,2,visit\nvisit,7,\n"
    _, problem = prepared(tmp_path, table(), besides)  # a group knows no groups within
    assert problem.names == ["age", "colour"]
    assert sorted(rows(problem)["colour"].unique()) == [0.0, 1.0, 2.0]
    assert problem.feature_costs.tolist() == [1.0, 2.0]


def test_alone_beside_groups_with_prices():
    prices = Prices(np.array([1.0, 2.0, 4.0]), ["g", "g", "colour"], {"g": 3.0, "colour": 0.5}, "")
    code = Coded("colour", ("a", "b", "c"), "columns")
    found = expanded(prices, ["one", "two", "colour"], {"colour": code})
    assert found.feature_costs.tolist() == [1.0, 2.0, 0.0, 0.0, 0.0]
    assert found.feature_groups == ["g", "g", "colour", "colour", "colour"]
    assert found.group_costs == {"g": 3.0, "colour": 4.5}


def test_missing_is_a_value_and_new_ones_are_none(tmp_path):
    colours = np.where(np.arange(N) % 5 == 0, "", COLOURS)
    other = table(colour=np.where(np.arange(N) % 4 == 0, "pink", COLOURS))
    found, problem = prepared(tmp_path, table(colour=colours), test=other)
    assert "colour=(missing)" in problem.names
    assert not found.facts.some_missing
    test = problem.parts["test"].X.filter(like="colour=")
    assert test.sum(axis=1).tolist() == [float(k % 4 != 0) for k in range(N)]


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        ([f"2024-01-{1 + k % 28:02d}" for k in range(N)], "'x' of t.csv has dates or times"),
        ([f"{1 + k % 12}/3/2024" for k in range(N)], "'x' of t.csv has dates or times"),
        ([f"note {k}" for k in range(N)], "has 120 different texts in 120 rows"),
        ([*(str(k) for k in range(N - 1)), "?"], "has numbers, and '?' in line 121: write all"),
    ],
)
def test_what_is_no_category(tmp_path, column, sentence):
    with pytest.raises(Refused, match=r"\.$") as error:
        prepared(tmp_path, table(x=column))
    assert sentence in str(error.value)


def test_text_where_the_table_has_numbers(tmp_path):
    with pytest.raises(Refused, match=r"of test.csv are not, which are in the other file: 'age'"):
        prepared(tmp_path, table(), test=table(age=COLOURS))
    with pytest.raises(Refused, match=r"called, too \('colour=red'\)"):
        prepared(tmp_path, table(**{"colour=red": np.arange(N) % 7}))
