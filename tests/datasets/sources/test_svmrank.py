"""The reader of SVM-rank lines: what it reads, and every way in which a line can be wrong."""

import io

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from datasets import DamagedData
from datasets.sources.svmrank import read_pieces, read_rows

GOOD = b"2 qid:7 1:0.5 3:-1e-3 # docid = a:b qid:9\n0 qid:7 2:1\n\n# all of 8\n1.0 qid:8\r\n"


def read(text: bytes, n_features: int = 3, **how):
    return read_rows(io.BytesIO(text), "file.txt", n_features, **how)


def test_a_small_file():
    rows = read(GOOD)
    np.testing.assert_array_equal(rows.X, [[0.5, 0, -1e-3], [0, 1, 0], [0, 0, 0]])
    np.testing.assert_array_equal(rows.y, [2, 0, 1])
    np.testing.assert_array_equal(rows.query, [7, 7, 8])
    assert rows.listed.tolist() == [True, True, True]
    assert (rows.y.dtype, rows.query.dtype) == (np.float64, np.int64)


def test_unsorted_features_and_files_without_queries():
    rows = read(b"1 3:0.25 1:4\n0 2:0\n", has_queries=False, dtype=np.float32)
    np.testing.assert_array_equal(rows.X, [[4, 0, 0.25], [0, 0, 0]])
    assert rows.X.dtype == np.float32
    assert rows.query is None
    assert rows.listed.tolist() == [True, True, True]


@pytest.mark.parametrize("chunk_lines", [1, 3, 7, 1000])
def test_same_bits_as_an_independent_reader(chunk_lines):
    rng = np.random.default_rng(chunk_lines)
    lines = []
    for i in range(60):
        columns = np.sort(rng.choice(20, rng.integers(0, 20), replace=False)) + 1
        values = rng.normal(size=columns.size) * 10.0 ** rng.integers(-8, 8)
        pairs = " ".join(f"{c}:{v!r}" for c, v in zip(columns, values.tolist(), strict=True))
        lines.append(f"{rng.integers(5)} qid:{i // 7 + 1} {pairs}".rstrip())
    text = ("\n".join(lines) + "\n").encode()
    rows = read(text, 20, chunk_lines=chunk_lines)
    X, y, query = load_svmlight_file(
        io.BytesIO(text), n_features=20, query_id=True, zero_based=False
    )
    np.testing.assert_array_equal(rows.X, X.toarray())
    np.testing.assert_array_equal(rows.y, y)
    np.testing.assert_array_equal(rows.query, query)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"one qid:9 1:1", "does not start or go on"),
        (b"1 qid:x 1:1", "does not start or go on"),
        (b"1 qid:9 1:", "does not start or go on"),
        (b"1 qid:9 1", "does not start or go on"),
        (b"1 qid:9 1:1:2", "does not start or go on"),
        (b"1 qid:9 :1", "does not start or go on"),
        (b"1 qid:9 1:nan", "does not start or go on"),
        (b"1 qid:9 1:inf", "does not start or go on"),
        (b"1 qid:9 1:0x1p3", "does not start or go on"),
        (b"1 qid:9 -1:1", "does not start or go on"),
        (b"1 qid:-9 1:1", "does not start or go on"),
        (b"1 qid:9 1:1 trailing", "does not start or go on"),
        (b"1, qid:9, 1:1", "does not start or go on"),
        (b"\x00\xff\xfe", "does not start or go on"),
        (b"1 1:1", "has no qid"),
        (b"1 qid:9 0:1", "numbered 1 to 3"),
        (b"1 qid:9 4:1", "numbered 1 to 3"),
        (b"1 qid:9 2:1 2:1", "feature 2 stands there twice"),
        (b"1 qid:9 3:1 2:1 3:0", "feature 3 stands there twice"),
        (b"1 qid:9 1:1e999", "too large"),
        (b"7 qid:9 1:1", "label 7 is not one of"),
        (b"0.5 qid:9 1:1", "label 0.5 is not one of"),
        (b"1 qid:7 1:1", "query 7 comes back"),
    ],
)
def test_a_wrong_line_is_named(line, reason):
    with pytest.raises(DamagedData, match=rf"file\.txt, line 6: .*{reason}"):
        read(GOOD + line + b"\n1 qid:10 1:1\n", grades=range(5))


COMPLETE = b"1 qid:1 1:1 2:0 3:0\n"
HOSTILE = b"1 qid:1 " + b"1:" * 200_000 + b"\n"  # would take minutes if the grammar went back


@pytest.mark.parametrize(
    ("text", "how", "reason"),
    [
        (COMPLETE + b"1 qid:1 1:1 2:0\n", {"complete": True}, "line 2: lists 2 of the 3 features"),
        (b"1 qid:1 1:1e300\n", {"dtype": np.float32}, "line 1: a value is too large"),
        (GOOD, {"has_queries": False}, "line 1: has a qid"),
        (b"", {}, "no row"),
        (b"\n\n", {}, "no row"),
        (b"# nothing\n", {}, "no row"),
        (HOSTILE, {}, "line 1"),
    ],
    ids=["incomplete", "float32", "qid", "empty", "blank", "comment", "long"],
)
def test_a_wrong_file_is_refused(text, how, reason):
    with pytest.raises(DamagedData, match=rf"file\.txt.*{reason}"):
        read(text, **how)


def test_a_complete_line():
    assert read(COMPLETE, complete=True).X.tolist() == [[1, 0, 0]]


def test_a_split_query_is_found_across_pieces():
    text = b"".join(b"0 qid:%d 1:1\n" % query for query in (1, 1, 2, 3, 3, 2))
    with pytest.raises(DamagedData, match="line 6: query 2 comes back"):
        list(read_pieces(io.BytesIO(text), "f", 1, chunk_lines=2))
