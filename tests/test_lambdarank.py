"""LambdaRank: both twins against a naive double loop, and boosted trees against their reference."""

import math
from fractions import Fraction

import numpy as np
import pytest

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.gbrt import GBRTRegressor
from algorithms.greedy_miser import GreedyMiserRegressor
from algorithms.kernels.decorators import available_threads, threads
from algorithms.lambdarank import LambdaRank
from algorithms.metrics import ndcg_at_k
from reference import cegb, gbrt, greedy_miser
from reference.beyond import lambdarank
from tests.twins import assert_same_predictions, assert_same_trees, fit_reference

SMALL = {"n_estimators": 4, "min_samples_leaf": 2, "objective": "lambdarank"}
TWINS = [
    (CEGBRegressor(**SMALL, max_leaves=6, tradeoff=1e-4, feature_costs=[1.0, 2.0, 0.1, 5.0]), cegb),
    (GBRTRegressor(**SMALL, max_leaves=6, min_hessian_leaf=0.0), gbrt),
    (GreedyMiserRegressor(**SMALL, max_depth=3, budget=6.0, feature_costs=[1.0, 2.0, 0.1, 5.0]),
     greedy_miser),
]  # fmt: skip
NAMES = ["cegb", "gbrt", "miser"]


def draw_queries(rng, n_queries=9, largest=25, highest=4):
    """Queries of different sizes, one document among them, and grades."""
    sizes = np.append(1, rng.integers(1, largest + 1, n_queries - 1))
    query_id = np.repeat(rng.permutation(n_queries), sizes)
    return query_id, rng.integers(0, highest + 1, len(query_id)).astype(float)


def naive(s, y, truncation):
    """Derivatives of one query, as Burges and LightGBM's documentation have them, unrounded."""
    n = len(y)
    place = [sum((s[j], -y[j]) > (s[i], -y[i]) for j in range(n)) for i in range(n)]
    best = sum((2.0**a - 1) / math.log2(r + 2) for r, a in enumerate(sorted(y)[::-1][:truncation]))
    g, h, S = [0.0] * n, [0.0] * n, 0.0
    for i in range(n):
        for j in range(n):
            if y[i] > y[j] and min(place[i], place[j]) < truncation:
                discounts = [1 / math.log2(place[k] + 2) for k in (i, j)]
                delta = (2.0 ** y[i] - 2.0 ** y[j]) * abs(discounts[0] - discounts[1]) / best
                if max(s) != min(s):
                    delta /= 0.01 + abs(s[i] - s[j])
                rho = 1 / (1 + math.exp(s[i] - s[j]))
                g[i], g[j] = g[i] - delta * rho, g[j] + delta * rho
                h[i], h[j] = h[i] + delta * rho * (1 - rho), h[j] + delta * rho * (1 - rho)
                S += 2 * delta * rho
    factor = math.log2(1 + S) / S if S > 0 else 1.0
    return [v * factor for v in g], [v * factor for v in h]


def by_kernel(s, y, query_id, truncation, n_threads=1):
    """Derivatives of the fast twin."""
    loss = LambdaRank(y, query_id, None, truncation)
    scores = np.asfortranarray(s[:, None])
    with threads(n_threads, 10**6):
        return loss.prepare(scores, loss.scratch(scores, None)).copy()


@pytest.mark.parametrize("seed", range(8))
def test_derivatives_equal_a_double_loop(seed):
    rng = np.random.default_rng([2010, seed])
    query_id, y = draw_queries(rng)
    s = [np.zeros(len(y)), rng.integers(0, 4, len(y)) / 2, rng.normal(size=len(y)) * 3][seed % 3]
    truncation = int(rng.choice([1, 3, 30]))
    ranking = lambdarank.ranking_of(query_id, None, truncation)
    expected = ranking.derivatives(s, y)
    found = by_kernel(s, y, query_id, truncation)
    np.testing.assert_array_equal(found, expected)
    if available_threads() > 1:
        assert by_kernel(s, y, query_id, truncation, 2).tobytes() == found.tobytes()
    for query in ranking.queries:
        unrounded = naive(s[query].tolist(), y[query].tolist(), truncation)
        np.testing.assert_allclose(found[:, query], unrounded, rtol=1e-9, atol=ranking.rounding())
        assert sum(map(Fraction, found[0, query])) == pytest.approx(0, abs=1e-12)
    shuffled = np.lexsort((rng.random(len(y)), query_id))  # rows and queries in another order
    other = by_kernel(s[shuffled], y[shuffled], query_id[shuffled], truncation)
    assert other.tobytes() == found[:, shuffled].tobytes()


def test_scores_far_apart_have_numbers():
    y, s = np.array([0.0, 1.0, 2.0]), np.array([1e5, -1e5, -1e5 - 1])
    found = by_kernel(s, y, np.zeros(3), 30)
    assert np.all(np.isfinite(found))
    assert found[0, 0] > 0
    np.testing.assert_array_equal(found, lambdarank.Ranking([slice(0, 3)], 30).derivatives(s, y))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("model", "reference"), TWINS, ids=NAMES)
def test_trees_equal_their_reference(model, reference, weighted):
    rng = np.random.default_rng(7)
    query_id, y = draw_queries(rng)
    X = np.round(rng.normal(size=(len(y), 4)) + y[:, None] * [0.5, 0.0, 0.2, 1.0], 1)
    of_query = rng.choice([0.0, 1.0, 3.0], 9)
    weights = of_query[query_id] if weighted else None
    told = {"sample_weight": weights, "query_id": query_id, "eval_set": (X, y, query_id)}
    model.set_params(eval_metric="ndcg@5", lambdarank_truncation=5).fit(X, y, **told)
    twin = fit_reference(model, reference, X, y, loss="lambdarank", **told)
    assert model.n_estimators_ > 0
    assert_same_trees(model, twin)
    np.testing.assert_array_equal(model.validation_scores_, twin.validation_scores)
    assert_same_predictions(model, twin, X, {"feature_costs": model.feature_costs})
    assert ndcg_at_k(y, model.predict(X), query_id, 5) > ndcg_at_k(y, np.zeros(len(y)), query_id, 5)
    if weighted:  # a query of weight 3 counts as three of them
        copies = np.concatenate(
            [np.tile(np.flatnonzero(query_id == q), int(of_query[q])) for q in range(9)]
        )
        names = np.concatenate(
            [np.repeat([f"{q} {k}" for k in range(int(of_query[q]))], np.sum(query_id == q))
             for q in range(9)]
        )  # fmt: skip
        copied = type(model)(**model.get_params()).fit(X[copies], y[copies], query_id=names)
        assert copied.predict(X).tobytes() == model.predict(X).tobytes()


@pytest.mark.parametrize(("model", "reference"), TWINS, ids=NAMES)
def test_samples_and_going_on(model, reference):
    rng = np.random.default_rng(8)
    query_id, y = draw_queries(rng)
    X = np.round(rng.normal(size=(len(y), 4)) + y[:, None] * [0.5, 0.0, 0.2, 1.0], 1)
    asked = model.get_params() | {"subsample": 0.7, "colsample_bytree": 0.8, "random_state": 5}
    asked |= {"budget": 30.0} if "budget" in asked else {}
    parts = type(model)(**asked | {"warm_start": True, "n_estimators": 2})
    parts.fit(X, y, query_id=query_id).set_params(n_estimators=4).fit(X, y, query_id=query_id)
    told = {"query_id": query_id, "loss": "lambdarank"}
    assert parts.n_estimators_ == 4
    assert_same_trees(parts, fit_reference(parts, reference, X, y, **told))
    with pytest.raises(ValueError, match="objective=None differs from 'lambdarank'"):
        parts.set_params(objective=None, lambdarank_truncation=None).fit(X, y)


def test_files_hold_the_objective(tmp_path):
    X, y = np.arange(6.0)[:, None], np.array([0, 1, 2, 0, 1, 2])
    model = GBRTRegressor(**SMALL).fit(X, y, query_id=[0, 0, 0, 1, 1, 1])
    model.save(tmp_path / "m")
    again = GBRTRegressor.load(tmp_path / "m")
    assert again.objective == "lambdarank"
    assert again.predict(X).tobytes() == model.predict(X).tobytes()
    plain = GBRTRegressor(min_samples_leaf=1).fit(X, y)
    assert "objective" not in plain._told_params()  # as files were before


def test_nothing_to_rank():
    X, y = np.arange(6.0)[:, None], np.array([1, 1, 2, 2, 0, 0])
    with pytest.warns(UserWarning, match="No query has documents of different grades"):
        model = GBRTRegressor(**SMALL).fit(X, y, query_id=[0, 0, 1, 1, 2, 2])
    assert model.predict(X).tolist() == [0.0] * 6


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"query_id": None}, r"give fit\(…, query_id=\)"),
        ({"query_id": [0, 1, 0, 1]}, "rows of a query must stand together"),
        ({"y": [0, -1, 2, 1]}, "Grades must be whole numbers from 0 to 50"),
        ({"y": [0, 51, 2, 1]}, "Grades must be whole numbers from 0 to 50"),
        ({"y": [0, 0.5, 2, 1]}, "Grades must be whole numbers from 0 to 50"),
        ({"sample_weight": [1, 2, 1, 1]}, "the same for all documents of a query"),
        ({"objective": "rank"}, "objective must be 'lambdarank', got 'rank'"),
        ({"objective": None, "lambdarank_truncation": 3}, "means nothing without"),
        ({"lambdarank_truncation": 0}, "lambdarank_truncation must be None or a whole number"),
        ({"eval_set": ([[1.0]] * 4, [0, 1, 0, 1], [0, 0, 1, 1])}, "has derivatives but no loss"),
    ],
)
def test_what_is_refused(changed, message):
    given = {"y": [0, 1, 0, 1], "query_id": [0, 0, 1, 1], "sample_weight": None, "eval_set": None}
    given |= {k: v for k, v in changed.items() if k in given}
    parameters = SMALL | {k: v for k, v in changed.items() if k not in given}
    with pytest.raises(ValueError, match=message):
        GBRTRegressor(**parameters).fit(np.arange(4.0)[:, None], **given)


def test_what_a_ranking_is_not():
    X, y = np.arange(4.0)[:, None], [0, 1, 0, 1]
    with pytest.raises(ValueError, match="is for regressors"):
        CEGBClassifier(objective="lambdarank").fit(X, y, query_id=[0, 0, 1, 1])
    model = GBRTRegressor(**SMALL | {"n_estimators": 0}).fit(X, y, query_id=[0, 0, 1, 1])
    with pytest.raises(ValueError, match="R² says nothing of a ranking"):
        model.score(X, y)
    with pytest.raises(ValueError, match="A query has 10001 documents"):
        LambdaRank(np.zeros(10_001), np.zeros(10_001), None, 30)
