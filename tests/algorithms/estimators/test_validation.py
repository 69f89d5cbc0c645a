"""Rows to predict that pass are returned as they are; all others meet scikit-learn's checks."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from algorithms.estimators import validation

X = np.random.default_rng(0).normal(size=(7, 3))
FITTED = {"n_features_in_": 3}
GAP, HUGE = X.copy(), X.copy()
GAP[2, 1], HUGE[6, 2] = np.nan, -np.inf


class Rows(np.ndarray):
    """Somebody's own arrays."""


@pytest.fixture
def checked(monkeypatch):
    """What scikit-learn is asked to check."""
    asked = []

    def check(estimator, X, *y, **options):
        asked.append(X)
        return X

    monkeypatch.setattr(validation.validation, "validate_data", check)
    return asked


def validate(rows, of=FITTED, **options):
    options = {"dtype": [np.float64, np.uint8], "reset": False} | options
    return validation.validate_data(SimpleNamespace(**of), rows, **options)


@pytest.mark.parametrize(
    "options",
    [{}, {"dtype": np.float64}, {"dtype": np.float64, "order": "C"}],
)
def test_plain_rows_are_not_checked_again(checked, options):
    for rows in (X, X[:1], X[2:5]):
        assert validate(rows, **options) is rows
    transposed = np.asfortranarray(X)
    assert validate(transposed) is transposed
    assert checked == []


@pytest.mark.parametrize(
    ("rows", "of", "options"),
    [
        (X.astype(np.float32), FITTED, {}),
        (X.astype(">f8"), FITTED, {}),
        (X.tolist(), FITTED, {}),
        (X.view(Rows), FITTED, {}),
        (np.ma.masked_array(X), FITTED, {}),
        (pd.DataFrame(X), FITTED, {}),
        (X[:0], FITTED, {}),
        (X[:, :2], FITTED, {}),
        (X[0], FITTED, {}),
        (GAP, FITTED, {}),
        (GAP, FITTED, {"ensure_all_finite": "allow-nan"}),
        (HUGE, FITTED, {"ensure_all_finite": "allow-nan"}),
        (np.asfortranarray(HUGE), FITTED, {}),
        # Boosted trees, who read these, have looked at plain rows before.
        (X, FITTED, {"ensure_all_finite": "allow-nan"}),
        (X, FITTED, {"accept_sparse": "csr"}),
        (X, {}, {}),
        (X, FITTED | {"feature_names_in_": ["a", "b", "c"]}, {}),
        (X, FITTED, {"reset": True}),
        (X, FITTED, {"dtype": np.float32}),
        (X, FITTED, {"skip_check_array": True}),
        (X, FITTED, {"ensure_min_samples": 9}),
        (np.asfortranarray(X), FITTED, {"order": "C"}),
    ],
)
def test_all_others_are(checked, rows, of, options):
    validate(rows, of, **options)
    assert len(checked) == 1
