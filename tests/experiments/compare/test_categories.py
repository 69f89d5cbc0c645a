"""Columns of text: what becomes of them, what they cost, and what is refused in a sentence."""

import json

import numpy as np
import pandas as pd
import pytest

from algorithms.raw_tables import RawColumn
from experiments.compare import plan
from experiments.compare.categories import code_of, expanded
from experiments.compare.fields import Column, Refused
from experiments.compare.outcome import Search
from experiments.compare.preparing import Asked, prepare
from experiments.compare.problem import load
from experiments.compare.tables import Prices
from experiments.methods.by_sets import own_problem
from experiments.methods.fitting import features
from experiments.methods.table import METHODS

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
    assert list(problem.own.codes) == ["colour", "blood", "ward"]


def test_text_of_few_levels_removes_no_rival(tmp_path):
    levels = {
        f"x{k}": np.array(list("abcdefghijkl"))[np.arange(N) * (k + 1) % 11] for k in range(3)
    }
    with_text, problem = prepared(tmp_path, table(**levels))
    numbers = table(**{name: np.arange(N) % 7 for name in levels}).drop(columns="colour")
    without, _ = prepared(tmp_path, numbers)
    assert len(problem.names) == 1 + 3 + 3 * 11  # STreeD takes thirty
    for slug, method in METHODS.items():
        assert method.why_not(with_text.facts) == method.why_not(without.facts), slug


def test_a_column_is_one_purchase(tmp_path):
    costs = "feature,cost\nage,1\ncolour,5\n"
    _, problem = prepared(tmp_path, table(), costs)
    assert problem.feature_costs.tolist() == [1.0, 5.0, 5.0, 5.0]
    assert problem.feature_groups == ["age", "colour", "colour", "colour"]
    assert problem.group_costs is None
    from experiments.methods.subsets import price_of, prices_of

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
    code = RawColumn("colour", ("a", "b", "c"), "columns")
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


# --- the table's own columns, for methods that split categories ----------------------------------


def test_own_columns_are_had_back(tmp_path):
    colours = np.where(np.arange(N) % 5 == 0, " NA ", COLOURS)
    ages = np.where(np.arange(N) % 7 == 0, np.nan, np.arange(N) / 8)
    frame = table(colour=colours, blood=BLOOD, ward=WARDS, age=ages)
    frame.loc[3, "ward"] = None
    test = table(colour=np.where(np.arange(N) % 4 == 0, "pink", COLOURS), blood="o", ward="new")
    costs = "feature,cost,group\nage,1,\ncolour,5,\nblood,2,\nward,2,\n"
    _, problem = prepared(tmp_path, frame, costs, test)
    own = own_problem(problem.own, problem)
    assert own.names == ["age", "colour", "blood", "ward"]
    assert own.categorical == ["colour", "blood", "ward"]
    assert (own.own, own.feature_groups, own.group_costs) == (None, None, None)
    assert own.feature_costs.tolist() == [1.0, 5.0, 2.0, 2.0]
    train = pd.concat([own.parts[part].X for part in ("train", "valid")])
    frame.loc[frame["colour"] == " NA ", "colour"] = None
    got, wanted = (rows.astype(object).fillna("-") for rows in (train, frame[own.names]))
    assert sorted(map(repr, got.values.tolist())) == sorted(map(repr, wanted.values.tolist()))
    found = own.parts["test"].X
    pink = np.arange(N) % 4 == 0
    assert found["colour"].isna().tolist() == pink.tolist()
    assert found["colour"][~pink].tolist() == COLOURS[~pink].tolist()
    assert found["blood"].isna().all()
    assert found["ward"].isna().all()


def test_columns_of_a_draw_are_those_they_were_made_of(tmp_path):
    costs = "feature,cost\nage,1\ncolour,5\nward,2\n"
    _, problem = prepared(tmp_path, table(ward=WARDS), costs)
    assert problem.names == ["age", "colour=blue", "colour=green", "colour=red", "ward"]
    assert problem.own.columns_of(None) is None
    assert problem.own.columns_of([0, 3]) == [0, 1]
    assert problem.own.columns_of([4]) == [2]
    own = own_problem(problem.own, problem)
    kept = features(own, {"columns": [1]})
    assert (kept["age"] == 0.0).all()
    assert (kept["ward"] == "ward 00").all()
    pd.testing.assert_series_equal(kept["colour"], own.fit.X["colour"])
    assert kept["ward"].dtype == own.fit.X["ward"].dtype
    assert own.fit.X["ward"].nunique() > 10


def test_a_table_without_text_is_as_ever(tmp_path):
    found, problem = prepared(tmp_path, table().drop(columns="colour"))
    assert problem.own is problem.categorical is None
    with np.load(found.path) as file:
        meta = json.loads(file["meta"].tobytes())
    as_ever = {"task", "metric", "names", "classes", "feature_groups", "group_costs", "split_cost"}
    assert set(meta) == as_ever
    assert found.notes == ()


def cells(has_text):
    methods, search = list(METHODS.values()), Search([5.0, 9.0], trials=6)
    drawn = plan.drawn_cells("", methods, search, 0, (0.1, 1.0), has_text=has_text)
    left = {5.0: 4.0, 9.0: 8.0}
    subsets = [[0, 2]] * (2 * plan.n_further(search, 2))
    options = {"has_text": has_text}
    return drawn, plan.further_cells("", methods, search, 0, left, subsets, (0.1, 1.0), **options)


def test_every_second_training_takes_categories_and_there_are_no_more():
    for with_text, without in zip(cells(True), cells(False), strict=True):
        bare = [{k: v for k, v in c.params["draw"].items() if k != "categories"} for c in with_text]
        assert bare == [cell.params["draw"] for cell in without]
        assert [c.algorithm for c in with_text] == [c.algorithm for c in without]
        for slug, method in METHODS.items():
            taken = [c.params["draw"].get("categories", False) for c in with_text
                     if c.algorithm == slug]  # fmt: skip
            wanted = len(taken) // 2 if method.takes_categories else 0
            assert abs(sum(taken) - wanted) <= 1
    assert not any("categories" in c.params["draw"] for each in cells(False) for c in each)


def test_who_takes_categories_is_said(tmp_path):
    found, _ = prepared(tmp_path, table())
    assert found.notes[-1].startswith("CEGB, Greedy Miser and GBRT take text as categories")
    taking = {slug for slug, method in METHODS.items() if method.takes_categories}
    assert taking == {"cegb", "greedy_miser", "gbrt", "blind_subset", "priced_subset"}


def test_values_that_only_the_test_file_has_are_said(tmp_path):
    other = table(colour=np.where(np.arange(N) % 4 == 0, "pink", COLOURS))
    found, _ = prepared(tmp_path, table(), test=other)
    said = "column 'colour' of test.csv has 1 value that the table lacks ('pink'), in 30 rows"
    assert any(note.startswith(said) for note in found.notes)
    found, _ = prepared(tmp_path, table(), test=table())
    assert not any("lacks" in note for note in found.notes)


def test_hundred_thousand_categories():
    texts = np.array([f"code {k}" for k in range(100_000)] * 3, dtype=object)
    with pytest.raises(Refused, match=r"'x' of t.csv has 100,000 different texts in 300,000 rows"):
        code_of("x", Column(None, texts), "'code 0' in line 2", "t.csv")


def test_text_with_a_few_numbers_is_text(tmp_path):
    mixed = np.where(np.arange(N) % 4 == 0, "7", COLOURS)
    _, problem = prepared(tmp_path, table(colour=mixed))
    found = own_problem(problem.own, problem).fit.X["colour"]
    assert found.cat.categories.tolist() == ["7", "blue", "green", "red"]
