"""Tables and price lists that do not fit: one sentence each."""

import builtins
import itertools

import numpy as np
import pandas as pd
import pytest

from experiments.compare.own_columns import raw_columns
from experiments.compare.preparing import Asked, prepare
from experiments.compare.problem import load
from experiments.compare.tables import Refused, read_prices, read_table


def table(n=60, **columns):
    rng = np.random.default_rng(0)
    plain = {"a": rng.normal(size=n), "b": rng.normal(size=n), "y": np.arange(n) % 2}
    return pd.DataFrame(plain | columns)


def refused(tmp_path, frame, target="y", **options):
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    with pytest.raises(Refused) as error:
        prepare(Asked(path, target, **options), tmp_path)
    message = str(error.value)
    assert message.endswith(".")
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (table(10), "The table has 10 rows; training, choosing and judging need at least 50"),
        (table(y=1), "The target 'y' has one value only (1)"),
        (table(b=[np.inf] * 2 + [1.0] * 58), "has infinite values in 2 rows, in the columns 'b'"),
        (table(y=[None] + [1.0] * 59), "Column 'y' of table.csv (--target) has 1 missing values"),
        (table(y=[7] * 3 + [1, 2, 3] * 19), "A class of the target has 3 rows only"),
        (table()[["y"]], "no features left"),
        (table().iloc[:0], "table.csv has no rows"),
    ],
)
def test_tables_that_do_not_fit(tmp_path, frame, sentence):
    assert sentence in refused(tmp_path, frame)


def test_groups_queries_and_test_rows(tmp_path):
    few = table(who=np.arange(60) % 3)
    assert "3 groups, which the split keeps whole" in refused(tmp_path, few, groups="who")
    assert "3 queries, which" in refused(tmp_path, few, query="who")
    grades = table(who=np.arange(60) // 3, y=np.linspace(0, 1, 60))
    assert "needs grades 0, 1, 2" in refused(tmp_path, grades, query="who")
    torn = table(who=np.arange(60) // 4, doctor=np.arange(60) // 3)
    assert "a query has rows in two groups" in refused(tmp_path, torn, query="who", groups="doctor")
    test = tmp_path / "test.csv"
    table().drop(columns="b").to_csv(test, index=False)
    assert "test.csv lacks the columns 'b'" in refused(tmp_path, table(), test=test)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("judged", [False, True])
@pytest.mark.parametrize(
    "options", [{"groups": "who"}, {"query": "q"}, {"query": "q", "groups": "who"}]
)
def test_no_group_and_no_query_is_in_two_parts(tmp_path, options, judged, seed):
    """Nor are the rows of one in another's place; with a test file, of what it leaves."""
    who = np.random.default_rng(seed).permutation(120) // 6
    frame = table(120, a=np.arange(120.0), who=who, q=[f"{w}.{i % 2}" for i, w in enumerate(who)])
    frame.to_csv(tmp_path / "table.csv", index=False)
    test = tmp_path / "table.csv" if judged else None
    drop = {"who", "q"} - set(options.values())
    asked = Asked(tmp_path / "table.csv", "y", drop=drop, test=test, seed=seed, **options)
    prepared = prepare(asked, tmp_path)
    parts = load(str(prepared.path)).parts
    rows = {name: part.X["a"].to_numpy().astype(int) for name, part in parts.items()}
    cut = [rows[name] for name in ("train", "valid", "test")[: 2 if judged else 3]]
    assert sorted(np.concatenate(cut)) == list(range(120))
    together = frame[options.get("groups", "q")]
    for one, other in itertools.combinations(cut, 2):
        assert not set(together[one]) & set(together[other])
    for name, part in parts.items():
        of_rows = together.iloc[rows[name]].to_numpy()
        assert pd.Series(part.cluster).groupby(of_rows).nunique().eq(1).all()
        assert len(np.unique(part.cluster)) == len(set(of_rows))


def test_a_test_file_judges_and_nothing_else(tmp_path):
    table(a=np.arange(60.0)).to_csv(tmp_path / "table.csv", index=False)
    table(30, a=-1.0 - np.arange(30))[["y", "b", "a"]].to_csv(tmp_path / "test.csv", index=False)
    prepared = prepare(Asked(tmp_path / "table.csv", "y", test=tmp_path / "test.csv"), tmp_path)
    assert prepared.n_rows == {"train": 48, "valid": 12, "test": 30}
    parts = load(str(prepared.path)).parts
    assert parts["test"].X["a"].tolist() == (-1.0 - np.arange(30)).tolist()
    rest = np.concatenate([parts["train"].X["a"], parts["valid"].X["a"]])
    assert sorted(rest) == list(range(60))
    assert parts["valid"].y.mean() == 0.5  # stratified


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("feature,cost\na,1\nb,2\nc,3\n", "costs for what is no feature: 'c'"),
        ("feature,cost\na,1\n", "no cost for the columns 'b'"),
        ("feature,cost\na,1\na,2\nb,1\n", "more than one cost for 'a'"),
        ("feature,cost\na,free\nb,1\n", "Costs must be finite numbers of 0 or more"),
        ("feature,cost\na,-1\nb,1\n", "Costs must be finite numbers of 0 or more"),
        ("feature,cost\na,0\nb,0\n", "are 0: there is nothing to save"),
        ("name,price\na,1\nb,1\n", "must have the columns feature and cost"),
        ("feature,cost,group\na,1,g\nb,2,g\n", "must have one cost; in costs.csv they differ"),
        ("feature,cost,group\na,1,b\nb,2,\n", "groups with the name of a feature"),
        ("feature,cost,group\na,1,g\nb,2,h\ng,1,\n", "a price for some groups and none for 'h'"),
        ("feature,cost\na,1,\nb,2,\n", "costs.csv has 3 fields in line 2, and its header"),
        ("feature,cost,\na,1,\nb,2,\n", "costs.csv has a column without a name, number 3"),
        (",feature,cost\n0,a,1\n1,b,2\n", "costs.csv has a column without a name, number 1"),
        ("feature;cost\na;1\nb;2\n", "costs.csv are separated by semicolons"),
        ("feature,cost\na,007\nb,2\n", "costs.csv has others for 'a'"),
        ("feature,cost\na,\nb,2\n", "costs.csv has others for 'a'"),
        ("feature,cost\n,1\nb,2\n", "a line without the name of a feature"),
        ("feature,cost\n,1\nb,x\n", "3 things are wrong."),
        ("feature,cost\na,1\na ,2\nb,1\n", "more than one cost for 'a'"),
    ],
)
def test_price_lists_that_do_not_fit(tmp_path, text, sentence):
    path = tmp_path / "costs.csv"
    path.write_text(text)
    with pytest.raises(Refused) as error:
        read_prices(path, ["a", "b"])
    assert sentence in str(error.value)


def test_price_lists_meet_columns_by_name(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("feature,cost\nb,2\na,1\n")
    assert read_prices(path, ["a", "b"]).feature_costs.tolist() == [1, 2]
    assert read_prices(None, ["a", "b"]).feature_costs.tolist() == [1, 1]
    path.write_text("feature,cost,group\na,3,g\nb,3,g\n")
    prices = read_prices(path, ["a", "b"])
    assert (prices.feature_groups, prices.group_costs, prices.cheapest()) == (["g", "g"], None, 3)


@pytest.mark.parametrize(
    ("names", "text", "costs", "groups"),
    [
        (["NA", "null"], "feature,cost\nnull,5\nNA,12\n", [12, 5], None),
        (["00060", "60"], "feature,cost\n00060,12\n60,5\n", [12, 5], None),
        (["401.10", "401.1"], "feature,cost\n401.10,12\n401.1,5\n", [12, 5], None),
        (["TRUE", "True"], "feature,cost\nTRUE,12\nTrue,5\n", [12, 5], None),
        (["1e5", "100000"], "feature,cost\n1e5,12\n100000,5\n", [12, 5], None),
        ([str(2**53), str(2**53 + 1)], f"feature,cost\n{2**53 + 1},5\n{2**53},12\n", [12, 5], None),
        (["a", "b"], "feature,cost,group\na,1,\nb,2,7\n7,3,\n", [1, 2], ["a", "7"]),
        (["a", "b"], "feature,cost,group\na,1,07\nb,2,7\n7,3,\n07,3,\n", [1, 2], ["07", "7"]),
        (["a", "b"], "feature,cost,group\na,1,NA\nb,2,x\nx,3,\nNA,3,\n", [1, 2], ["NA", "x"]),
    ],
)
def test_names_in_price_lists_are_text(tmp_path, names, text, costs, groups):
    path = tmp_path / "costs.csv"
    path.write_text(text)
    prices = read_prices(path, names)
    assert (prices.feature_costs.tolist(), prices.feature_groups) == (costs, groups)
    assert bool(prices.notes) == ("NA," in text and groups is not None)


def test_parquet(tmp_path):
    """What others write: small and missing integers, classes, an index that has a name."""
    pytest.importorskip("pyarrow", reason="pip install -e '.[parquet]' brings what reads Parquet")
    n = 60
    frame = table(
        n,
        small=np.arange(n, dtype=np.int8),
        single=np.arange(n, dtype=np.float32),
        count=pd.array([None, *range(1, n)], dtype="Int64"),
        seen=pd.array([None, *[True] * (n - 1)], dtype="boolean"),
        y=pd.Categorical(np.where(np.arange(n) % 2, "yes", "no")),
        patient=np.repeat([f"p{i}" for i in range(n // 4)], 4),
    ).set_index("patient")
    path = tmp_path / "table.parquet"
    frame.to_parquet(path)
    prepared = prepare(Asked(path, "y", groups="patient"), tmp_path)
    parts = load(str(prepared.path)).parts
    assert (prepared.task, prepared.facts.some_missing) == ("classification", True)
    rows = pd.concat([part.X for part in parts.values()]).sort_values("small")
    assert list(rows) == ["a", "b", "small", "single", "count", "seen"]
    wanted = frame.drop(columns="y").astype(np.float64)
    np.testing.assert_array_equal(rows, wanted)
    assert {label for part in parts.values() for label in part.y} == {"yes", "no"}
    frame.assign(a=["red", "blue"] * (n // 2)).to_parquet(path)
    coded = prepare(Asked(path, "y", groups="patient"), tmp_path)
    problem = load(str(coded.path))
    assert raw_columns(problem.names, problem.own, False)[0] == ("a", ["blue", "red"], "two")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(Refused, match=r"^table\.parquet is no Parquet file .*[^.]\.$"):
        read_table(path)


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    path = tmp_path / "table.parquet"
    path.write_bytes(b"PAR1")
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith(("pyarrow", "fastparquet")):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(Refused, match="needs the package pyarrow"):
        read_table(path)


# --- all that is wrong at once -----------------------------------------------------------------


def faulty(folder, drop=()):
    """A table and a price list with a fault of each kind."""
    n = 60
    frame = pd.DataFrame({
        "y": np.arange(n) % 2,
        "age": np.where(np.arange(n) % 9, "40", "inf"),
        "notes": [f"note {k}" for k in range(n)],
        "seen": [f"2026-01-{1 + k % 28:02d}" for k in range(n)],
        "dose": np.where(np.arange(n) % 2, "1,5", "2,5"),
        "weight": 0,
        "fine": np.arange(n) % 7,
    })  # fmt: skip
    frame.to_csv(folder / "t.csv", index=False)
    lines = ["age,1", "notes,2", "seen,x", "dose,3", "dose,4", "colour,5"]
    (folder / "c.csv").write_text("\n".join(["feature,cost", *lines]))
    return Asked(folder / "t.csv", "y", folder / "c.csv", weight="weight", drop=list(drop))


def test_all_that_is_wrong_is_said_at_once(tmp_path):
    with pytest.raises(Refused) as error:
        prepare(faulty(tmp_path, ["absent"]), tmp_path)
    said = str(error.value)
    for words in (
        "t.csv has no column 'absent', which --drop names",
        "Weights must be numbers above 0: column 'weight'",
        "no cost for the columns 'fine' and costs for what is no feature: 'colour' and more than",
        "c.csv has others for 'seen'",
        "Column 'notes' of t.csv has 60 different texts",
        "Column 'seen' of t.csv has dates or times",
        "Column 'dose' of t.csv has numbers with decimal commas",
        "What leaves 3 of these columns out is --drop notes --drop seen --drop dose.",
        "t.csv has infinite values in 7 rows, in the columns 'age'",
    ):
        assert words in said
    assert said.startswith("9 things are wrong.\n- ")
    assert len(error.value.args) == 9


def test_a_price_of_a_column_that_is_dropped_is_not_used(tmp_path):
    asked = faulty(tmp_path, ["notes", "seen", "dose", "age"])
    lines = "feature,cost,group\nfine,1,\nnotes,2,visit\nvisit,9,\ny,3,\nage,4,\n"
    asked.costs.write_text(lines)
    table = read_table(asked.table)
    prices = read_prices(asked.costs, ["fine"], [name for name in table if name != "fine"])
    assert prices.feature_costs.tolist() == [1.0]
    assert prices.feature_groups is prices.group_costs is None
    (note,) = prices.notes
    assert (
        note == "c.csv has costs for 'notes', 'visit', 'y', 'age', which are not used: no features"
    )
