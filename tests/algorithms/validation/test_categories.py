"""What a model reads of a column of categories, and what of those that training did not know."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from algorithms.gbrt import GBRTRegressor
from algorithms.grid import row_weights
from algorithms.validation.categories import (
    ManyCategoriesWarning,
    encoded,
    known_categories,
    tabulate,
)
from algorithms.validation.columns import columns_of

MASK = np.array([False, True])
CALLED = ["Column 0", "Column 1"]


def table_of(categories):
    kind = pd.Series(categories, dtype=object)
    return tabulate(columns_of(pd.DataFrame({"age": 1.0, "kind": kind}), ["age", "kind"]), MASK)


def codes_of(categories, known):
    return encoded(table_of(categories), known, CALLED)[:, 1]


@pytest.mark.parametrize(
    ("trained", "asked", "codes"),
    [
        (list("bbaacc"), ["c", "a", "b"], [2, 0, 1]),
        (list("bbaacc"), ["d", "a", "", "bb", None, np.nan], [np.nan, 0, *[np.nan] * 4]),
        (list("bbaac"), ["c", "b"], [np.nan, 1]),  # too rare in training
        (["b", "b", None, "a", "a"], [None, "b"], [np.nan, 1]),
        ([7.5, 7.5, -3, -3], [-3, 0, 7.5, 8, np.nan, 7], [0, np.nan, 1, np.nan, np.nan, np.nan]),
        ([2, 2, 1, 1], [2.0, True, 3], [1, 0, np.nan]),
    ],
)
def test_what_training_did_not_know_is_missing(trained, asked, codes):
    known = known_categories(table_of(trained), None, 0, 2.0, 255, CALLED)
    np.testing.assert_array_equal(codes_of(asked, known), codes)


def test_trees_send_it_where_missing_values_go():
    """The reference's by hand: means of leaves, of a row each of 0, 5, 9 and a lone 50."""
    X, y = np.repeat(np.array([[0.0], [1], [2], [3]]), [6, 6, 6, 1], axis=0), [0.0, 5, 9, 50]
    model = GBRTRegressor(
        n_estimators=1,
        learning_rate=1.0,
        max_leaves=2,
        min_samples_leaf=2,
        categorical_features=[0],
    )
    model.fit(X, np.repeat(y, [6, 6, 6, 1]))
    scores = model.predict(np.array([[2.0], [3.0], [4.0], [np.nan], [-1.0], [0.0], [1.0]]))
    np.testing.assert_allclose(scores, [104 / 7] * 5 + [2.5] * 2, rtol=1e-7)


def test_of_too_many_the_heaviest_are_known():
    weights = row_weights(np.array([3.0, 1, 2, 1, 2, 1]), 6)
    with pytest.warns(ManyCategoriesWarning, match="Column 1 has 4 categories, of which 2"):
        known = known_categories(
            table_of(list("abcbda")), weights.counts, weights.exponent, 1.0, 2, CALLED
        )
    assert known[1].tolist() == ["a", "b"]  # 4, and of b, c and d with 2 each the lowest
    np.testing.assert_array_equal(codes_of(list("dbax"), known), [np.nan, 1, 0, np.nan])
