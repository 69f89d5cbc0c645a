"""Classes, queries and groups as the user writes them, alike in the table and the test file."""

import numpy as np
import pandas as pd
import pytest

from experiments.compare.preparing import Asked, prepare
from experiments.compare.problem import load
from experiments.compare.tables import Refused

N = 60
RNG = np.random.default_rng(0)
A, B = RNG.normal(size=N), RNG.normal(size=N)


def written(folder, labels, name="table.csv", column="y", **others):
    path = folder / name
    path.write_text(
        "\n".join(
            [",".join(["a", "b", column, *others])]
            + [",".join(map(str, row)) for row in zip(A, B, labels, *others.values(), strict=True)]
        )
        + "\n",
        encoding="utf-8",
    )
    return path


def either(one, other):
    return [one if a > 0 else other for a in A]


def classes(path, **options):
    prepared = prepare(Asked(path, "y", **options), path.parent)
    assert prepared.task == "classification"
    parts = load(str(prepared.path)).parts.values()
    return sorted(set(np.concatenate([part.y for part in parts]).tolist()))


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        (("1", "0"), [0, 1]),
        (("1.0", "0.0"), [0, 1]),
        (("+1", "-1"), [-1, 1]),
        (("01", "02"), ["01", "02"]),
        (("7", "007"), ["007", "7"]),
        (("Apnea", "None"), ["Apnea", "None"]),
        (("ZA", "NA"), ["NA", "ZA"]),
        (("nan", "null"), ["nan", "null"]),
        (("1", "nan"), ["1", "nan"]),
        (("3", str(2**53 + 1)), [3, 2**53 + 1]),
        (("3", str(2**63 + 5)), ["3", str(2**63 + 5)]),
        ((str(2**63 + 5), str(2**63 + 6)), [str(2**63 + 5), str(2**63 + 6)]),
        (("0", "1e19"), ["0", "1e19"]),
        (("0", "1e300"), ["0", "1e300"]),
        (("1" * 5000, "2"), ["1" * 5000, "2"]),
        (("1_0", "10"), ["10", "1_0"]),
        (("0x1", "0x2"), ["0x1", "0x2"]),
        (("True", "False"), [0, 1]),
        (("inf", "sup"), ["inf", "sup"]),
        (("401.10", "042"), ["042", "401.10"]),
    ],
)
def test_classes_are_what_is_written(tmp_path, labels, wanted):
    assert classes(written(tmp_path, either(*labels))) == wanted


@pytest.mark.parametrize("labels", [("250.00", "401.10"), ("0.5", "1.5")])
def test_codes_with_a_point(tmp_path, labels):
    path = written(tmp_path, either(*labels))
    assert classes(path, task="classification") == list(labels)


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (("0", "inf"), "has infinite values"),
        (("-Infinity", "inf"), "has infinite values"),
        (("1", "1.0"), "'1.0' and '1', two texts for one number"),
        (("yes", "yes "), "differ only by blanks or by Unicode's form"),
        (("\u00e9", "e\u0301"), "differ only by blanks or by Unicode's form"),
        (("x\0", "x"), "NUL characters"),
        (("x", ""), "missing values: leave these rows out"),
    ],
)
def test_labels_that_are_refused(tmp_path, labels, sentence):
    labels = either(*labels)
    labels.sort(key=lambda label: label != "1.0")
    with pytest.raises(Refused, match=sentence):
        classes(written(tmp_path, labels))


def test_a_word_for_missing_beside_numbers_is_said(tmp_path):
    labels = ["NA"] * 9 + either("1", "0")[9:]
    path = written(tmp_path, labels)
    assert classes(path) == ["0", "1", "NA"]
    assert prepare(Asked(path, "y"), tmp_path).notes == ("'NA' in column 'y' is taken as a class",)
    amounts = written(tmp_path, ["NA", *A[1:]])
    with pytest.raises(Refused, match="'NA' beside numbers: leave these rows out"):
        prepare(Asked(amounts, "y"), tmp_path)
    with pytest.raises(Refused, match="must be numbers for regression, and has 'NA'"):
        prepare(Asked(amounts, "y", task="regression"), tmp_path)


@pytest.mark.parametrize(
    ("table", "test"),
    [
        (("0", "1"), ("0.0", "1.0")),
        (("0", "1"), ("False", "True")),
        (("TRUE", "FALSE"), ("true", "false")),
        (("True", "False"), ("1", "0")),
        (("None", "NA"), ("None", "NA")),
        (("\u00e9", "x"), ("e\u0301", " x")),
        ((str(2**63 + 5), "3"), (str(2**63 + 5), "3")),
    ],
)
def test_labels_of_the_test_file_are_the_tables(tmp_path, table, test):
    path = written(tmp_path, either(*table))
    judged = written(tmp_path, either(*test), "test.csv")
    parts = load(str(prepare(Asked(path, "y", test=judged), tmp_path).path)).parts
    alike = load(str(prepare(Asked(path, "y", test=path), tmp_path).path)).parts
    np.testing.assert_array_equal(parts["test"].y, alike["test"].y)


def test_a_test_file_with_some_of_the_classes(tmp_path):
    """What looks like numbers by itself is text where the table has text."""
    path = written(tmp_path, np.where(B > 0.5, "unknown", either("0", "1")))
    judged = written(tmp_path, either("0", "1"), "test.csv")
    assert classes(path, test=judged) == ["0", "1", "unknown"]


@pytest.mark.parametrize(("table", "test", "shown"), [("7", "007", "'007'"), ("007", "7", "7")])
def test_zeros_that_lead_tell_classes_apart(tmp_path, table, test, shown):
    path = written(tmp_path, either(table, "8"))
    judged = written(tmp_path, either(test, "8"), "test.csv")
    with pytest.raises(Refused, match=f"test.csv has classes that table.csv lacks: {shown}"):
        classes(path, test=judged)


def test_queries_and_groups_are_told_apart_by_their_text(tmp_path):
    queries = [f"{'00' * (i % 2)}{i // 2 + 1}" for i in range(20)]  # 1, 001, 2, 002, …
    path = written(tmp_path, np.arange(N) % 3, q=np.repeat(queries, 3))
    for options in ({"query": "q"}, {"groups": "q"}):
        parts = load(str(prepare(Asked(path, "y", **options), tmp_path).path)).parts.values()
        assert sum(len(np.unique(part.cluster)) for part in parts) == 20
    mixed = [query if i % 3 else f"visit {query}" for i, query in enumerate(queries)]
    path = written(tmp_path, np.arange(N) % 3, q=np.repeat(mixed, 3))
    parts = load(str(prepare(Asked(path, "y", query="q"), tmp_path).path)).parts.values()
    assert sum(len(np.unique(part.query)) for part in parts) == 20


def test_a_regression_of_prices(tmp_path):
    path = written(tmp_path, [f"{a:.2f}" for a in A])
    prepared = prepare(Asked(path, "y"), tmp_path)
    assert prepared.task == "regression"
    parts = load(str(prepared.path)).parts.values()
    assert sorted(np.concatenate([part.y for part in parts])) == sorted(np.round(A, 2))


# --- Parquet ------------------------------------------------------------------------------------


def parquet(folder, columns, name="table.parquet"):
    arrow = pytest.importorskip("pyarrow", reason="pip install pyarrow brings what reads Parquet")
    from pyarrow import parquet as format_

    path = folder / name
    format_.write_table(arrow.table(columns), path)
    return path


def test_parquet_says_what_is_text(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from decimal import Decimal

    kinds = {
        "decimals": (either(Decimal(1), Decimal(0)), arrow.decimal128(38, 0), [0, 1]),
        "large decimals": (
            either(Decimal(2**64), Decimal(2**64 + 1)), arrow.decimal128(38, 0),
            [str(2**64), str(2**64 + 1)],
        ),
        "unsigned": (either(3, 2**63 + 5), arrow.uint64(), ["3", str(2**63 + 5)]),
        "text": (either("1", "0"), arrow.string(), ["0", "1"]),
        "codes": (either("007", "7"), arrow.string(), ["007", "7"]),
        "bytes": (either(b"yes", b"no"), arrow.binary(), ["no", "yes"]),
        "truth": (either(True, False), arrow.bool_(), [0, 1]),
        "floats": (either(1.0, 0.0), arrow.float32(), [0, 1]),
        "large floats": (either(1e19, 0.0), arrow.float64(), ["0", "1e+19"]),
    }  # fmt: skip
    for name, (labels, kind, wanted) in kinds.items():
        path = parquet(tmp_path, {"a": A, "b": B, "y": arrow.array(labels, kind)})
        assert classes(path) == wanted, name
    dictionary = arrow.array(either("x", "z")).dictionary_encode()
    assert classes(parquet(tmp_path, {"a": A, "y": dictionary})) == ["x", "z"]


def test_parquets_decimals_are_features_targets_and_weights(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from decimal import Decimal

    cents = [Decimal(f"{a:.2f}") for a in A]
    decimals = arrow.array([None, *cents[1:]], arrow.decimal128(10, 2))
    weight = arrow.array([Decimal("1.25")] * N, arrow.decimal128(5, 2))
    path = parquet(tmp_path, {"a": decimals, "y": A > 0, "w": weight})
    prepared = prepare(Asked(path, "y", weight="w"), tmp_path)
    parts = load(str(prepared.path)).parts.values()
    values = sorted(np.concatenate([part.X["a"] for part in parts]))[: N - 1]
    assert values == sorted(float(cent) for cent in cents[1:])
    path = parquet(tmp_path, {"b": B, "y": arrow.array(cents, arrow.decimal128(10, 2))})
    assert prepare(Asked(path, "y"), tmp_path).task == "regression"


def test_parquets_other_kinds_are_refused_by_name(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    for values, words in (
        (pd.date_range("2020", periods=N), "dates or times"),
        ([[1.0]] * N, "values of the kind ndarray"),
        ([{"k": 1}] * N, "values of the kind dict"),
        (["1.5"] * N, "numbers, and text such as '1.5'"),
    ):
        path = parquet(tmp_path, {"a": arrow.array(values), "b": B, "y": A > 0})
        with pytest.raises(Refused, match=f"'a' of table.parquet has {words}"):
            prepare(Asked(path, "y"), tmp_path)


def test_parquets_index_and_names(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as format_

    frame = pd.DataFrame({"a": A, "b": B, "y": (A > 0).astype(int)})
    path = tmp_path / "table.parquet"
    frame.set_index(pd.Index(np.arange(N), name="a")).to_parquet(path)
    with pytest.raises(Refused, match=r"several columns of one name \('a'\)"):
        prepare(Asked(path, "y"), tmp_path)
    twice = arrow.Table.from_arrays([arrow.array(v) for v in (A, B, A > 0)], ["a", "a", "y"])
    format_.write_table(twice, path)
    with pytest.raises(Refused, match=r"several columns of one name \('a'\)"):
        prepare(Asked(path, "y"), tmp_path)
    path = parquet(tmp_path, {"__index_level_0__": np.arange(N), "a": A, "y": A > 0})
    prepared = prepare(Asked(path, "y"), tmp_path)
    assert list(load(str(prepared.path)).parts["train"].X) == ["a"]
    assert "'__index_level_0__' of table.parquet had no name" in prepared.notes[0]


def test_parquet_and_csv_judge_each_other(tmp_path):
    csv = written(tmp_path, either(1, 0))
    for labels in (either(1, 0), either(1.0, 0.0), either(True, False), either("1", "0")):
        path = parquet(tmp_path, {"a": A, "b": B, "y": labels})
        prepare(Asked(path, "y", test=csv), tmp_path)
        assert classes(csv, test=path) == [0, 1]
