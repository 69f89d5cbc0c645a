"""Whole numbers that float64 cannot tell apart, and how people write numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from algorithms.distributed.row_partitions import Accepted, checked_part
from algorithms.gbrt import GBRTRegressor
from algorithms.validation import columns
from algorithms.validation.columns import spelled_otherwise
from tests.algorithms.estimators.kinds import EVERY, small_size

N = 40
Y = np.arange(N) % 2
APART = np.column_stack([np.arange(N), 2**53 + 2 * np.arange(N)])  # all are float64
ALIKE = APART + np.array([0, 1])[None, :] * (np.arange(N) == 3)[:, None]
PAIR = f"{2**53 + 6} and {2**53 + 7}|{2**53 + 7} and {2**53 + 8}"
TABLES = {
    "array": lambda X: X,
    "unsigned": lambda X: X.astype(np.uint64),
    "objects": lambda X: X.astype(object),
    "list": lambda X: X.tolist(),
    "list with floats": lambda X: [[a + 0.5, b] for a, b in X.tolist()],
    "masked": lambda X: np.ma.masked_equal(X, 5),
    "list of masked": lambda X: list(np.ma.masked_equal(X, 5)),
    "sparse": sparse.csr_matrix,
    "frame": lambda X: pd.DataFrame(X, columns=["a", "b"]),
    "frame of objects": lambda X: pd.DataFrame(X, columns=["a", "b"], dtype=object),
    "frame with a gap": lambda X: pd.DataFrame(X, columns=["a", "b"], dtype="Int64").mask(X == 5),
}


@pytest.mark.parametrize("kind", TABLES)
def test_whole_numbers_that_become_one_are_refused(kind):
    table, model = TABLES[kind], GBRTRegressor(**small_size(GBRTRegressor))
    column = "'b'" if "frame" in kind else "1"
    message = rf"Column {column} has whole numbers beyond 2\*\*53 .*\(({PAIR})\): subtract"
    with pytest.raises(ValueError, match=message):
        model.fit(table(ALIKE), Y)
    model.fit(table(APART), Y)
    model.predict(table(ALIKE))  # its thresholds lie between numbers that are float64
    model.fit(table(np.where(ALIKE > 2**53, -7, ALIKE) if kind != "unsigned" else APART), Y)


@pytest.mark.parametrize("cls", EVERY)
def test_every_estimator_refuses_them(cls):
    with pytest.raises(ValueError, match=rf"Column 1 has whole numbers .*\(({PAIR})\)"):
        cls(**small_size(cls)).fit(ALIKE, Y)


@pytest.mark.parametrize(
    ("dtype", "n_looked_at"), [("uint8", 0), ("int32", 0), ("float64", 0), ("int64", 3), ("O", 3)]
)
def test_only_columns_with_room_for_them_are_looked_at(dtype, n_looked_at):
    """One by one, which takes seconds of a table of a hundred thousand columns."""
    assert len([*columns._columns(np.ones((4, 3), dtype=dtype), None)]) == n_looked_at


def test_a_worker_and_columns_beside_categories_refuse_them():
    with pytest.raises(ValueError, match=rf"Column 1 has whole numbers .*\(({PAIR})\)"):
        checked_part(0, ALIKE, Y, None, True, Accepted((np.float64,), True), 2)
    table = pd.DataFrame(ALIKE, columns=["a", "b"]).assign(c="x")
    model = GBRTRegressor(**small_size(GBRTRegressor), categorical_features=["c"])
    with pytest.raises(ValueError, match=rf"Column 'b' has whole numbers .*\(({PAIR})\)"):
        model.fit(table, Y)
    with pytest.raises(ValueError, match=rf"Column 1 has whole numbers .*\(({PAIR})\)"):
        model.set_params(categorical_features=[0]).fit(np.ma.masked_equal(ALIKE, 5), Y)
    model.set_params(categorical_features=["c"])
    table = table.assign(b=["3,5", "1,25"] * (N // 2))
    with pytest.raises(
        ValueError, match=r"'b' holds numbers with decimal commas .*'3,5': write 3\.5"
    ):
        model.fit(table, Y)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["3,5"], "decimal commas such as '3,5': write 3.5"),
        ([" -0,123 ", "12,5e3"], "decimal commas such as '-0,123': write -0.123"),
        (["1,234,567"], "thousands separators such as '1,234,567': write 1234567"),
        (["1,234.5"], "thousands separators such as '1,234.5': write 1234.5"),
        (["1.234,5"], "thousands separators such as '1.234,5': write 1234.5"),
        (["12 345", "+1 234 567"], "thousands separators such as '12 345': write 12345"),
        (["1'234.50"], 'thousands separators such as "1\'234.50": write 1234.50'),
        (["1,234"], "separators or decimal commas such as '1,234': write 1234 or 1.234"),
        (["1,234", "2,5"], "decimal commas such as '2,5': write 2.5"),
        (["1,234", "1,234.5"], "thousands separators such as '1,234.5': write 1234.5"),
        ([], ""),
        (["3,5", "red"], ""),
        (["10.0.0.1"], ""),
        (["1,2,3"], ""),
        (["1,23 4"], ""),
    ],
)
def test_other_spellings_of_numbers(texts, said):
    found = spelled_otherwise(texts)
    assert found.endswith(said)
    assert bool(found) == bool(said)
