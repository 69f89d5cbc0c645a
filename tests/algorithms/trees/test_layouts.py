"""Single rows: the same scores as in a batch, whatever the forest; what is refused."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from algorithms.boosted_trees import estimator as boosted_trees
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.trees import layouts

RNG = np.random.default_rng(0)
X = RNG.integers(0, 50, (400, 5)).astype(float)
NOISE = RNG.normal(size=400)
TARGETS = {
    "regression": NOISE,
    "two classes": np.where(NOISE > 0, "yes", "no"),
    "three classes": np.digitize(NOISE, [-0.5, 0.5]),
    "one class": np.zeros(400, dtype=int),
}


def fitted(kind, n_leaves=31, n_estimators=20):
    cls = GBRTRegressor if kind == "regression" else GBRTClassifier
    model = cls(n_estimators=n_estimators, max_leaves=n_leaves, min_samples_leaf=1, n_threads=1)
    return model.fit(X, TARGETS[kind])


def rows_to_predict(model):
    """Between, on and far beyond the thresholds."""
    Z = RNG.normal(25, 25, size=(60, 5))
    thresholds = model.trees_.threshold[model.trees_.feature >= 0]
    if len(thresholds):
        Z[::3] = RNG.choice(thresholds, 5)  # on the edge: left
    Z[1::7], Z[2::7] = -1e308, 1e308
    return Z


def records_of(fast):
    """Records of the features in the table of a predictor."""
    (table,) = fast._forest
    numbers = table[: len(table) * table.itemsize // 8 * 8 // table.itemsize].view(np.uint64)
    first, n = int(numbers[layouts.FEATURES]), int(numbers[layouts.N_USED])
    return numbers[first : first + n * layouts.RECORD].reshape(n, layouts.RECORD)


def batch_scores(model, Z):
    """Scores of all rows at once, (n, n_columns)."""
    assert len(Z) > boosted_trees._FEW_ROWS
    return model._raw_scores(Z)


@pytest.mark.parametrize("kind", list(TARGETS))
@pytest.mark.parametrize("n_leaves", [2, 31, 64, 65])
@pytest.mark.filterwarnings("ignore:y is constant")
def test_one_row_equals_a_batch(kind, n_leaves, monkeypatch):
    monkeypatch.setattr(layouts, "_LEAST_REPLAYED", 16)  # several states even of a small model
    model = fitted(kind, n_leaves)
    Z = rows_to_predict(model)
    expected, fast = batch_scores(model, Z), model.fast_predictor()
    if kind == "three classes" and n_leaves == 31:
        assert records_of(fast)[-1, layouts.FIRST_STATE] > 2  # states are used
    np.testing.assert_array_equal([fast.scores(z) for z in Z], expected)
    np.testing.assert_array_equal([fast(z) for z in Z], model.predict(Z))
    np.testing.assert_array_equal([model._raw_scores(z[None])[0] for z in Z], expected)
    np.testing.assert_array_equal(np.concatenate([model.predict(z[None]) for z in Z]),
                                  model.predict(Z))  # fmt: skip
    for few in (2, boosted_trees._FEW_ROWS, boosted_trees._FEW_ROWS + 1):
        np.testing.assert_array_equal(model.predict(Z[:few]), model.predict(Z)[:few])


@pytest.mark.parametrize("n_leaves", [8, 65])
def test_a_fast_predictor_is_what_the_model_was(n_leaves):
    model = fitted("regression", n_leaves)
    fast = model.fast_predictor()
    Z = rows_to_predict(model)
    expected = batch_scores(model, Z)
    model.fit(X[:, ::-1], -TARGETS["regression"])
    assert not np.array_equal(batch_scores(model, Z), expected)
    for one in (fast, pickle.loads(pickle.dumps(fast))):
        np.testing.assert_array_equal([one.scores(z) for z in Z], expected)
    with ThreadPoolExecutor(4) as pool:
        np.testing.assert_array_equal(list(pool.map(fast.scores, np.tile(Z, (20, 1)))),
                                      np.tile(expected, (20, 1)))  # fmt: skip


def test_first_rounds_and_pickles_have_their_own_rows():
    model, z = fitted("regression"), X[:1]
    whole = model.predict(z)
    for k, stage in enumerate(model.staged_predict(z), 1):
        np.testing.assert_array_equal(model.first_rounds(k).predict(z), stage)
    with_layout = pickle.dumps(model)
    assert len(with_layout) == len(
        pickle.dumps(fitted("regression"))
    )  # which has predicted nothing
    np.testing.assert_array_equal(pickle.loads(with_layout).predict(z), whole)


def test_out_and_layouts_of_a_row():
    fast = fitted("three classes").fast_predictor()
    expected = fast.scores(X[0])
    out = np.empty(3)
    assert fast.scores(X[0], out) is out
    fixed = X[0].copy()
    fixed.flags.writeable = False
    for x in (np.asfortranarray(X)[0], X[:, :].T[:, 0], fixed, np.repeat(X[0], 2)[::2]):
        np.testing.assert_array_equal(fast.scores(x), expected)
    np.testing.assert_array_equal(out, expected)
    fixed = np.empty(3)
    fixed.flags.writeable = False
    for wrong in (fixed, np.empty((3, 2))[:, 0]):
        with pytest.raises(ValueError, match="out must lie in one piece and be writeable"):
            fast.scores(X[0], wrong)
    for wrong in (np.empty(2), np.empty(3, dtype=np.float32), [0.0, 0.0, 0.0]):
        with pytest.raises(ValueError, match=r"out must be an array of float64 of shape \(3,\)"):
            fast.scores(X[0], wrong)


def test_rows_whose_dtype_is_another_object():
    """Those of a pickle: equal to NumPy's own float64, and not the same."""
    fast = fitted("two classes").fast_predictor()
    x = X[0].view(pickle.loads(pickle.dumps(np.dtype(np.float64))))
    assert x.dtype is not np.dtype(np.float64)
    assert fast(x) == fast(X[0])


def test_answers_are_plain_numbers_and_the_model_s_own_labels():
    for kind in ("regression", "two classes", "three classes"):
        model = fitted(kind)
        answer, predicted = model.fast_predictor()(X[0]), model.predict(X[:1])[0]
        assert answer == predicted
        assert type(answer) is (float if kind == "regression" else type(predicted))


@pytest.mark.parametrize(
    ("wrong", "got"),
    [
        (X[0, :4], r"float64 of shape \(4,\)"),
        (X[:1], r"float64 of shape \(1, 5\)"),
        (X[0].astype(np.float32), r"float32 of shape \(5,\)"),
        (X[0].astype(">f8"), r">f8 of shape \(5,\)|float64 of shape"),
        (X[0].tolist(), "list"),
    ],
)
def test_rows_that_a_fast_predictor_refuses(wrong, got):
    with pytest.raises(ValueError, match=rf"x must be .* of shape \(5,\), got .*{got}"):
        fitted("regression").fast_predictor()(wrong)


@pytest.mark.parametrize(("n_leaves", "replayed"), [(31, 1024), (31, 16), (50, 1024), (65, 64)])
def test_missing_values_one_by_one_as_in_a_batch(n_leaves, replayed, monkeypatch):
    """Scores, features asked for and bills; single rows and batches are scored in other ways."""
    monkeypatch.setattr(layouts, "_LEAST_REPLAYED", replayed)
    rng = np.random.default_rng(5)
    holes = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    prices = {"feature_costs": [1, 2, 4, 8, 16], "split_cost": 0.25}
    model = GBRTRegressor(n_estimators=20, max_leaves=n_leaves, min_samples_leaf=1, **prices)
    model.fit(holes, NOISE)
    assert 0 < model.trees_.missing_left.sum() < (model.trees_.feature >= 0).sum()
    holes = holes[:100]
    fast, one_by_one = model.fast_predictor(), [holes[i : i + 1] for i in range(len(holes))]
    if n_leaves <= 64:  # what a missing value loses is kept as a state where it is much
        kept = records_of(fast)[:, layouts.MISSING_STATE] != layouts.NO_STATE
        assert np.all(kept == (replayed == 16)), "both ways are tested"
    scores = model.predict(holes)
    np.testing.assert_array_equal([fast(row) for row in holes], scores)
    np.testing.assert_array_equal(np.concatenate([model.predict(x) for x in one_by_one]), scores)
    *_, staged = model.staged_predict(holes)
    np.testing.assert_array_equal(staged, scores)
    for method in (model.prediction_cost, model.evaluations, model.acquired_features):
        whole = method(holes)
        np.testing.assert_array_equal(np.concatenate([method(x) for x in one_by_one]), whole)


# --- rows that skip scikit-learn's checks -----------------------------------------------------


def checked_by_scikit_learn(model, rows, monkeypatch):
    """Whether a prediction of these rows goes through scikit-learn's checks; what they say."""
    calls = []
    checks = boosted_trees.validate_data
    with monkeypatch.context() as patch:
        patch.setattr(
            boosted_trees, "validate_data", lambda *a, **k: calls.append(1) or checks(*a, **k)
        )
        try:
            model.predict(rows)
        except ValueError as error:
            return bool(calls), str(error)
    return bool(calls), ""


def test_only_plain_rows_skip_the_checks(monkeypatch):
    model = fitted("regression")
    for plain in (X, X[:1], X.astype(np.float32), np.asfortranarray(X), X[::2, :]):
        assert checked_by_scikit_learn(model, plain, monkeypatch) == (False, "")
        np.testing.assert_array_equal(model.predict(plain), model.predict(plain.tolist()))
    for other in (X.tolist(), X.astype(int), X.astype(object), X.astype(">f8"), pd.DataFrame(X)):
        assert checked_by_scikit_learn(model, other, monkeypatch) == (True, "")
    for k, bad in enumerate([np.nan, np.inf, -np.inf]):
        wrong = X.copy()
        wrong[k, k] = bad
        called, words = checked_by_scikit_learn(model, wrong, monkeypatch)
        assert called
        assert "contains infinity" in words if np.isinf(bad) else not words
    for wrong, words in ((X[:0], "0 sample"), (X[:, :4], "has 4 features"), (X[0], "1D array"),
                         (X[None], "dim 3")):  # fmt: skip
        called, said = checked_by_scikit_learn(model, wrong, monkeypatch)
        assert called
        assert words in said


def test_names_that_are_missing_still_warn():
    named = GBRTRegressor(n_estimators=2).fit(pd.DataFrame(X, columns=list("abcde")), NOISE)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        named.predict(X[:1])
