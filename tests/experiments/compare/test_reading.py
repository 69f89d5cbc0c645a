"""Reading a table: fields stay text unless all of a column is plainly numbers; widths; names."""

import types

import numpy as np
import pandas as pd
import pytest

from algorithms.raw_tables.fields import number_of
from experiments.compare import fields, reading
from experiments.compare.preparing import Asked, prepare
from experiments.compare.problem import load
from experiments.compare.reading import read_table
from experiments.compare.tables import Refused

N = 60
A = np.round(np.random.default_rng(0).normal(size=N), 2).tolist()
B = np.round(np.random.default_rng(1).normal(size=N), 2).tolist()
Y = [int(a > 0) for a in A]


@pytest.fixture
def write(tmp_path):
    """Write a header and columns as CSV; return the file."""

    def write_csv(header, *columns, name="table.csv", end="\n", start="", encoding="utf-8"):
        path = tmp_path / name
        lines = [header, *(",".join(map(str, row)) for row in zip(*columns, strict=True))]
        path.write_bytes((start + end.join(lines) + end).encode(encoding))
        return path

    return write_csv


def prepared(path, target="y", **options):
    return prepare(Asked(path, target, **options), path.parent)


def features(path, target="y", **options):
    return list(load(str(prepared(path, target, **options).path)).parts["train"].X)


def refusal(read, *arguments, **options):
    with pytest.raises(Refused) as error:
        read(*arguments, **options)
    message = str(error.value)
    assert message.endswith(".")
    assert "\n" not in message
    return message


# --- the shape of the file ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape",
    [
        {},
        {"end": "\r\n"},
        {"end": "\r"},
        {"end": "\n\n"},
        {"start": "\n   \n\n"},
        {"encoding": "utf-8-sig"},
    ],
)
def test_line_ends_blank_lines_and_a_byte_order_mark_change_nothing(write, shape):
    table = read_table(write("a,b,y", A, B, Y, **shape), ["y"])
    assert list(table) == ["a", "b", "y"]
    assert (table.columns["a"].numbers.tolist(), len(table)) == (A, N)
    assert table.columns["y"].text.tolist() == [str(y) for y in Y]


@pytest.mark.parametrize(
    ("header", "rows", "sentence"),
    [
        ("y,a,b", ["1,2,3,"], r"4 fields in line 2, and its header \(line 1\) has 3"),
        ("y,a,b", ["1,2,3", "1,2"], r"2 fields in line 3, and its header \(line 1\) has 3"),
        ("y,a,b", ['"1\n\n0",2,3', "1,2,3,4"], r"4 fields in line 5, and its header"),
        ("\n\ny,a,b", ["", "1,2"], r"2 fields in line 5, and its header \(line 3\) has 3"),
        ("y,a,b,", ["1,2,3"], "3 fields in line 2, and its header .* has 4"),
        ("a,b", [], "table.csv has no rows"),
        ("", [], "table.csv has no rows"),
        ("a;b;y", ["1,5;2;0"], "separated by semicolons: write it with commas"),
        ("a\tb\ty", ["1\t2\t0"], "separated by tabs: write it with commas"),
        ("\n\na,b,a", ["1,2,3"], r"several columns of one name \('a'\)"),
        ("a,b,a ", ["1,2,3"], r"several columns of one name \('a', 'a '\)"),
        ("caf\u00e9,b,cafe\u0301", ["1,2,3"], "several columns of one name"),
        ("a\0,b", ["1,2"], "it has NUL bytes"),
        ("a,b", ["1,2", '"3,4', "5,6"], "in the row of line 3 a quoted field is never closed"),
        ("a,b", ['"1"2,3'], "in the row of line 2 text follows the quote"),
    ],
)
def test_files_that_are_no_table(tmp_path, header, rows, sentence):
    path = tmp_path / "table.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    with pytest.raises(Refused, match=sentence):
        read_table(path, ["y"])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1"])
def test_other_encodings_are_refused(write, encoding):
    path = write("a,\u00e9,y", A, B, Y, encoding=encoding)
    assert "is no CSV file in UTF-8" in refusal(read_table, path)


def test_fields_may_be_long_and_have_commas_and_line_breaks(write):
    note = '"' + "so, it\nis" * 20_000 + '"'  # longer than the module csv takes by itself
    assert features(write("a,note,y", A, [note] * N, Y), drop=["note"]) == ["a"]


def test_blocks_of_rows_are_one_column(write, monkeypatch):
    monkeypatch.setattr(reading, "_FIELDS_AT_A_TIME", 9)
    truth = ["true" if a > 0 else "" for a in A]
    table = read_table(write("a,t,y", A, truth, Y), ["y"])
    assert table.columns["a"].numbers.tolist() == A
    assert table.columns["t"].boolean
    assert len(table.columns["y"].text) == N
    for late in ("red", "true", "007"):
        odd = read_table(write("a,y", [*A[:-1], late], Y), ["y"]).columns["a"]
        assert (odd.numbers, odd.odd) == (None, f"{late!r} in line {N + 1}")
    mixed = read_table(write("t,y", [*truth[:-1], 1], Y), ["y"]).columns["t"]
    assert mixed.odd == f"'1' in line {N + 1}"


# --- what is a number ---------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["0", "-1.50", "+3", ".5", "5.", "1e5", "2E-07", " 7 ", "0.01"])
def test_plain_numbers(text):
    assert number_of(text) == float(text)
    assert fields._fast([text.strip()]).tolist() == [float(text)]


@pytest.mark.parametrize(
    "text",
    ["007", "-01", "00", "1_000", "0x1F", "1,5", "1 000", "\u0663", "e5", "-", ".", "$5", "1.2.3",
     "1\n2", "TRUE", "NA"],
)  # fmt: skip
def test_what_only_looks_like_numbers(text):
    assert number_of(text) is None
    assert fields._fast([text]) is None


@pytest.mark.parametrize("word", ["", "  ", "NaN", "nan", "NA", "N/A", "null", "NULL", "None"])
def test_words_for_missing_values_of_features(write, word):
    path = write("a,b,y", [word, *A[1:]], B, Y)
    assert prepared(path).facts.some_missing
    column = read_table(path, ["y"]).columns["a"]
    np.testing.assert_array_equal(column.numbers, [np.nan, *A[1:]])


@pytest.mark.parametrize("word", ["?", "red", "007", "1_000", "2020-01-01"])
def test_features_that_are_text_are_shown(write, word):
    path = write("a,b,y", [*A[:3], word, *A[4:]], B, Y)
    sentence = refusal(prepared, path)
    assert f"Column 'a' of table.csv has numbers, and {word!r} in line 5: write all" in sentence


QUOTED = [f'"{a:.2f}"'.replace(".", ",") for a in A]
THOUSANDS = [f'"{1000 + 7 * i:,}.5"' for i in range(N)]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (QUOTED, "decimal commas such as '"),
        ([*QUOTED[:-1], "7"], "decimal commas"),
        ([*QUOTED[:-1], "NA"], "decimal commas"),
        (THOUSANDS, "thousands separators such as '1,000.5': write 1000.5"),
        (['"1,234"', "999"] * (N // 2), "thousands separators or decimal commas such as '1,234'"),
    ],
)
def test_numbers_in_another_spelling_are_named(write, tmp_path, values, said):
    path, costs = write("a,v,y", A, values, Y), tmp_path / "costs.csv"
    assert f"Column 'v' of table.csv has numbers with {said}" in refusal(prepared, path)
    as_target = refusal(prepared, path, "v")
    assert f"Column 'v' (--target) has numbers with {said}" in as_target
    assert "--task classification if they are classes" in as_target
    if "NA" not in values:
        assert f"has numbers with {said}" in refusal(prepared, path, "v", task="regression")
        assert f"column 'v' has numbers with {said}" in refusal(prepared, path, weight="v")
    costs.write_text(f"feature,cost\na,{values[0]}\n")
    assert "numbers with " in refusal(prepared, path, drop=["v"], costs=costs)


ONE = [str(2**53 + i // 2) if i < N - 2 else f" {2**53 + 31}" for i in range(N)]


def test_whole_numbers_that_are_one_in_double_precision(write):
    path = write("a,v,y", A, ONE, Y)
    said = f"whole numbers that are one in double precision ({2**53} and {2**53 + 1})"
    assert f"Column 'v' of table.csv has {said}: subtract" in refusal(prepared, path)
    assert f"The target 'v' has {said}" in refusal(prepared, path, "v", task="regression")
    other = write("a,v,y", A, range(N), Y, name="other.csv")
    assert f"Column 'v' of table.csv has {said}" in refusal(prepared, other, test=path)
    assert prepared(path, groups="v", drop=[]).resampled == "groups"  # of text, all of it
    apart = [str(2**53 + 2 * (i // 2)) for i in range(N)]
    assert features(write("a,v,y", A, apart, Y)) == ["a", "v"]


@pytest.mark.parametrize("dtype", ["int64", "uint64", "Int64", object])
def test_whole_numbers_of_a_file_with_types(dtype):
    one = pd.Series([2**53 + 1, 5, 2**53], dtype=dtype)
    assert fields.column_of_series(one, False).alike == (2**53, 2**53 + 1)
    assert fields.column_of_series(one.iloc[1:], False).alike is None
    assert fields.column_of_series(one.astype("float64"), False).alike is None


def test_truth_values_are_features(write):
    path = write("a,b,y", ["TRUE" if a > 0 else "False" for a in A], B, Y)
    assert read_table(path, ["y"]).columns["a"].numbers.tolist() == Y


# --- columns without a name ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["", '""', "  ", "Unnamed: 0", "Unnamed: 0.1", "__index_level_0__"]
)
def test_columns_that_had_no_name_are_left_out_with_a_line(write, name):
    path = write(f"{name},a,b,y", range(N), A, B, Y)
    assert features(path) == ["a", "b"]
    (note,) = prepared(path).notes
    assert "left out" in note
    test = write("a,b,y", A, B, Y, name="test.csv")
    assert features(path, test=test) == features(test, test=path) == ["a", "b"]


def test_a_comma_at_the_end_of_header_and_rows(write):
    path = write("y,a,b,", Y, A, B, [""] * N)
    assert features(path) == ["a", "b"]
    (note,) = prepared(path).notes
    assert "column 4 of table.csv has no name" in note


def test_an_option_may_name_what_pandas_called_unnamed(write):
    path = write("Unnamed: 0,a,y", np.arange(N) // 3, A, Y)
    assert prepared(path, groups="Unnamed: 0").notes == ()
    assert prepared(path, drop=["Unnamed: 0"]).notes == ()


def test_features_that_number_the_rows_are_named(write):
    shuffled = np.random.default_rng(0).permutation(N) + 1
    for numbers in (range(N), range(N, 0, -1), np.arange(N) ** 2, shuffled):
        (note,) = prepared(write("id,a,y", numbers, A, Y)).notes
        assert note.startswith("'id' looks like numbers of the rows")
    missing = ["", *range(1, N)]
    for numbers in (np.arange(N) // 2, np.arange(N) + 0.5, shuffled**2, missing):
        assert prepared(write("id,a,y", numbers, A, Y)).notes == ()


# --- names in other forms -----------------------------------------------------------------------


def test_names_are_matched_without_blanks_and_in_one_unicode_form(write, tmp_path):
    path = write("caf\u00e9, b,\u00e9y", A, B, Y)
    test = write("b , cafe\u0301,e\u0301y", B, A, Y, name="test.csv")
    costs = tmp_path / "costs.csv"
    costs.write_text("feature, cost\ncafe\u0301,2\nb,3\n", encoding="utf-8")
    answer = prepared(path, "e\u0301y", test=test, costs=costs)
    assert answer.prices.feature_costs.tolist() == [2, 3]
    parts = load(str(answer.path)).parts
    assert list(parts["test"].X) == ["caf\u00e9", " b"]  # as the table spells them
    assert parts["test"].X["caf\u00e9"].tolist() == A
    assert features(path, target="\u00e9y", drop=["b"]) == ["caf\u00e9"]


def test_a_file_larger_than_memory(write, monkeypatch):
    path = write("a,y", A, Y)
    free = types.SimpleNamespace(available=20)
    monkeypatch.setattr(reading.psutil, "virtual_memory", lambda: free)
    assert "take a sample of its rows" in refusal(read_table, path)
