"""Sparse matrices: the model, the scores and the bills of the dense ones, bit for bit."""

import numpy as np
import pytest
from scipy import sparse

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.gbrt import GBRTClassifier
from algorithms.greedy_miser import GreedyMiserRegressor
from algorithms.validation import sparse_rows

rng = np.random.default_rng(31)
DENSE = np.where(rng.random((150, 12)) < 0.2, np.round(rng.normal(size=(150, 12)), 1), 0.0)
DENSE[rng.random((150, 12)) < 0.03] = np.nan
DENSE[:5] = 0.0
Y = np.nan_to_num(DENSE[:, 0] - DENSE[:, 3]) + 0.1 * rng.normal(size=150)
CLASSES = np.digitize(Y, [-0.2, 0.2])
WEIGHTS = rng.integers(0, 4, 150).astype(float)
SMALL = {"n_estimators": 6, "min_samples_leaf": 3}
COSTS = {"feature_costs": np.arange(1.0, 13.0), "split_cost": 0.25}
MODELS = [
    (CEGBRegressor(**SMALL, **COSTS, tradeoff=1e-3), Y),
    (CEGBClassifier(**SMALL, **COSTS, tradeoff=1e-4), CLASSES),
    (GBRTClassifier(**SMALL, **COSTS, subsample=0.7, random_state=1), CLASSES > 1),
    (GreedyMiserRegressor(**SMALL, **COSTS, tradeoff=0.01), Y),
]
NAMES = ["cegb", "cegb classes", "gbrt", "miser"]


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
@pytest.mark.parametrize(("model", "y"), MODELS, ids=NAMES)
def test_equals_the_dense_matrix(model, y, form, monkeypatch):
    model = type(model)(**model.get_params() | {"early_stopping_rounds": 3})
    X, kind = form(DENSE), type(model)
    dense = kind(**model.get_params()).fit(DENSE, y, sample_weight=WEIGHTS, eval_set=(DENSE, y))
    model.fit(X, y, sample_weight=WEIGHTS, eval_set=(X, y))
    for name, values in dense.trees_._asdict().items():
        assert getattr(model.trees_, name).tobytes() == values.tobytes()
    assert model.validation_scores_.tolist() == dense.validation_scores_.tolist()
    monkeypatch.setattr(sparse_rows, "_VALUES_AT_ONCE", 12 * 40)  # four blocks
    assert len(list(sparse_rows.SparseRows(X).blocks())) == 4
    assert model._raw_scores(model._check_X(X)).tobytes() == dense._raw_scores(DENSE).tobytes()
    assert model.predict(X).tobytes() == dense.predict(DENSE).tobytes()
    assert model.prediction_cost(X).tobytes() == dense.prediction_cost(DENSE).tobytes()
    np.testing.assert_array_equal(model.acquired_features(X), dense.acquired_features(DENSE))
    np.testing.assert_array_equal(model.evaluations(X), dense.evaluations(DENSE))
    assert model.prediction_cost(X[:1] if form is sparse.csr_matrix else form(DENSE[:1]))[0] > 0


def test_a_zero_that_is_looked_at_is_paid_for():
    x = np.repeat([0.0, 1.0], 20)[:, None]
    model = CEGBRegressor(n_estimators=1, min_samples_leaf=1, feature_costs=[7.0])
    model.fit(sparse.csr_matrix(x), x[:, 0])
    assert model.prediction_cost(sparse.csr_matrix((1, 1))).tolist() == [7.0]
    assert model.acquired_features(sparse.csr_matrix((1, 1))).tolist() == [[True]]


def test_no_dense_matrix_is_made(monkeypatch):
    wide = sparse.random(40, 3000, 0.01, format="csr", random_state=1)
    y = np.asarray(wide.sum(axis=1)).ravel()
    stored = wide.data.tobytes(), wide.indices.tobytes()
    with monkeypatch.context() as patch:
        patch.setattr(sparse.csr_matrix, "toarray", None)
        patch.setattr(sparse.csc_matrix, "toarray", None)
        model = CEGBRegressor(n_estimators=2, min_samples_leaf=2, tradeoff=0.0).fit(wide, y)
    expected = CEGBRegressor(**model.get_params()).fit(wide.toarray(), y).predict(wide.toarray())
    assert model.predict(wide).tobytes() == expected.tobytes()
    assert (wide.data.tobytes(), wide.indices.tobytes()) == stored


def test_duplicates_are_added_and_the_matrix_stays_the_users():
    twice = sparse.csc_matrix(
        (np.ones(41), np.append(np.arange(20), np.arange(20, -1, -1)), [0, 41]), shape=(40, 1)
    )
    stored = twice.indices.copy()
    model = CEGBRegressor(n_estimators=2, min_samples_leaf=2).fit(twice, np.arange(40.0))
    dense = CEGBRegressor(n_estimators=2, min_samples_leaf=2).fit(twice.toarray(), np.arange(40.0))
    assert model.predict(twice).tobytes() == dense.predict(twice.toarray()).tobytes()
    np.testing.assert_array_equal(twice.indices, stored)


def test_what_reads_dense_rows():
    X = sparse.csr_matrix(DENSE)
    model = CEGBRegressor(**SMALL, **COSTS, warm_start=True).fit(X, Y)
    for ask in (model.staged_predict, model.staged_cost, lambda X: [model.cost_importances(X)]):
        with pytest.raises(ValueError, match=r"reads dense rows: give X.toarray\(\)"):
            list(ask(X))
    longer = model.set_params(n_estimators=9).fit(X, Y).predict(DENSE)
    cold = CEGBRegressor(**SMALL | {"n_estimators": 9}, **COSTS).fit(DENSE, Y).predict(DENSE)
    assert longer.tobytes() == cold.tobytes()
    infinite = X.copy()
    infinite.data[0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.predict(infinite)
