"""Metrics by hand, against scikit-learn, and the two twins against each other."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, log_loss, ndcg_score

import algorithms.metrics as fast
import reference.losses
import reference.metrics as slow

both = pytest.mark.parametrize("metrics", [slow, fast], ids=["reference", "algorithm"])
RANKINGS = ["precision_at_k", "average_precision_at_k", "ndcg_at_k"]

# Query 7: places by score: grades 0 2 1 0. Query 3: nothing relevant. Query 5: one document.
GRADES = np.array([2, 0, 0, 1, 0, 0, 1])
SCORES = np.array([3.0, 4.0, 1.0, 2.0, 0.5, 0.7, 0.1])
QUERIES = np.array([7, 7, 7, 7, 3, 3, 5])


@both
def test_precision_by_hand(metrics):
    # Query 7: 1 relevant in the first 2 -> 1/2. Query 5: 1 relevant, 2 places -> 1/2.
    values = metrics.precision_at_k(GRADES, SCORES, QUERIES, 2, per_query=True)
    np.testing.assert_array_equal(values, [0.5, np.nan, 0.5])
    assert metrics.precision_at_k(GRADES, SCORES, QUERIES, 2) == 0.5


@both
def test_average_precision_by_hand(metrics):
    # Query 7: relevant at places 2 and 3: (1/2 + 2/3) / min(2, 3) = 7/12. Query 5: 1.
    values = metrics.average_precision_at_k(GRADES, SCORES, QUERIES, 3, per_query=True)
    np.testing.assert_allclose(values, [7 / 12, np.nan, 1.0], rtol=1e-15)
    mean = metrics.average_precision_at_k(GRADES, SCORES, QUERIES, 3)
    assert mean == pytest.approx((7 / 12 + 1) / 2, rel=1e-15)
    # From grade 2 on only one document is relevant, at place 2: 1/2.
    only = metrics.average_precision_at_k(GRADES, SCORES, QUERIES, 3, relevant_from=2)
    assert only == 0.5
    # k = 1 and two relevant documents: nothing at place 1.
    values = metrics.average_precision_at_k(GRADES, SCORES, QUERIES, 1, per_query=True)
    np.testing.assert_array_equal(values, [0.0, np.nan, 1.0])


@both
def test_ndcg_by_hand(metrics):
    # Query 7: gains 0 3 1 0 at discounts log2(2, 3, 4, 5); ideal 3 1 0 0.
    dcg = 3 / math.log2(3) + 1 / 2
    ideal = 3 + 1 / math.log2(3)
    values = metrics.ndcg_at_k(GRADES, SCORES, QUERIES, 4, per_query=True)
    np.testing.assert_allclose(values, [dcg / ideal, np.nan, 1.0], rtol=1e-15)


@both
def test_ndcg_by_letors_rule_by_hand(metrics):
    # Query 7: gains 0 3 1 0 at discounts 1, 1, log2(3), 2; ideal 3 1 0 0. Query 3: nothing is
    # relevant, which counts 0. Query 5: one document.
    dcg = 3 + 1 / math.log2(3)
    expected = [dcg / (3 + 1), 0.0, 1.0]
    values = metrics.ndcg_letor_at_k(GRADES, SCORES, QUERIES, 4, per_query=True)
    np.testing.assert_allclose(values, expected, rtol=1e-15)
    mean = metrics.ndcg_letor_at_k(GRADES, SCORES, QUERIES, 4)
    assert mean == pytest.approx(sum(expected) / 3, rel=1e-15)
    # The fourth place counts half, and a fifth, empty one nothing.
    last = metrics.ndcg_letor_at_k(np.array([0, 0, 0, 1]), -np.arange(4.0), np.zeros(4), 5)
    assert last == 0.5
    # Swapping the first two places changes nothing, while it changes the usual NDCG.
    query = np.zeros(3)
    swapped = [np.array([1.0, 2.0, 0.0]), np.array([2.0, 1.0, 0.0])]
    by_letor = {metrics.ndcg_letor_at_k(np.array([2, 0, 1]), s, query, 3) for s in swapped}
    assert len(by_letor) == 1
    assert len({metrics.ndcg_at_k(np.array([2, 0, 1]), s, query, 3) for s in swapped}) == 2


@both
def test_letors_rule_keeps_the_order_of_equal_scores(metrics):
    query = np.zeros(3)
    for grades in ([2, 0, 1], [0, 1, 2], [1, 0, 2]):
        grades = np.array(grades)
        tied = metrics.ndcg_letor_at_k(grades, np.array([0.0, -0.0, 0.0]), query, 3)
        assert tied == metrics.ndcg_letor_at_k(grades, np.array([3.0, 2.0, 1.0]), query, 3)


@both
@pytest.mark.parametrize("name", RANKINGS)
def test_ties_put_the_least_relevant_first(metrics, name):
    score = getattr(metrics, name)
    grades, query = np.array([2, 0, 1]), np.zeros(3)
    tied = score(grades, np.zeros(3), query, 2)
    assert tied == score(grades, np.array([1.0, 3.0, 2.0]), query, 2)  # 0, 1, then 2
    assert tied == score(grades[::-1], np.zeros(3), query, 2)
    assert tied < score(grades, np.array([3.0, 1.0, 2.0]), query, 2)


@both
@pytest.mark.parametrize("name", RANKINGS)
def test_nothing_relevant_is_nan(metrics, name):
    assert math.isnan(getattr(metrics, name)(np.zeros(3, int), np.arange(3.0), np.zeros(3), 2))


@both
def test_against_scikit_learn(metrics):
    rng = np.random.default_rng(3)
    for n in (5, 17, 60):
        grades = rng.integers(0, 5, n)
        grades[0] = 4
        scores = rng.permutation(n) / 7  # no ties
        query = np.ones(n, dtype=int)
        for k in (1, 3, n, n + 4):
            theirs = ndcg_score([2.0**grades - 1], [scores], k=k)
            assert metrics.ndcg_at_k(grades, scores, query, k) == pytest.approx(theirs, rel=1e-12)
        theirs = average_precision_score(grades >= 2, scores)
        ours = metrics.average_precision_at_k(grades, scores, query, n, relevant_from=2)
        assert ours == pytest.approx(theirs, rel=1e-12)


@st.composite
def rankings(draw):
    sizes = draw(st.lists(st.integers(1, 9), min_size=1, max_size=6))
    n = sum(sizes)
    grades = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    scores = draw(
        st.lists(st.sampled_from([-1.5, 0.0, -0.0, 0.1, 2.0, 1e9]), min_size=n, max_size=n)
    )
    return np.array(grades), np.array(scores), np.repeat(np.arange(len(sizes))[::-1], sizes)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=rankings(), k=st.integers(1, 12), relevant_from=st.integers(1, 4))
def test_twins_are_equal(data, k, relevant_from):
    for name in [*RANKINGS, "ndcg_letor_at_k"]:
        options = {} if name.startswith("ndcg") else {"relevant_from": relevant_from}
        for per_query in (True, False):
            ours = getattr(fast, name)(*data, k, per_query=per_query, **options)
            theirs = getattr(slow, name)(*data, k, per_query=per_query, **options)
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", ["ndcg_at_k", "ndcg_letor_at_k"])
@pytest.mark.parametrize("k", [1, 5, fast._FEW_PLACES, fast._FEW_PLACES + 1, 10**6])
def test_many_and_few_places_agree_with_the_reference(name, k):
    """Also where scores come in order, and where most are tied."""
    rng = np.random.default_rng(k)
    sizes = [1, 2, 300, 70, fast._FEW_PLACES]
    n, query = sum(sizes), np.repeat(np.arange(len(sizes)), sizes)
    grades = rng.integers(0, 5, n)
    for scores in (rng.normal(size=n), np.arange(n), -np.arange(n), rng.integers(0, 2, n)):
        ours = getattr(fast, name)(grades, scores, query, k, per_query=True)
        theirs = getattr(slow, name)(grades, scores, query, k, per_query=True)
        np.testing.assert_array_equal(ours, theirs)


def test_row_order_within_a_query_does_not_matter():
    rng = np.random.default_rng(0)
    grades, scores = rng.integers(0, 3, 40), rng.integers(0, 4, 40).astype(float)
    query = np.repeat([4, 1], 20)
    order = np.concatenate([rng.permutation(20), 20 + rng.permutation(20)])
    for name in RANKINGS:
        score = getattr(fast, name)
        assert score(grades, scores, query, 5) == score(grades[order], scores[order], query, 5)


MIXED = np.array([7, "7", "a", None], dtype=object)


def test_queries_of_mixed_types_are_numbered():
    y, score = [1, 0, 1, 0, 0, 1], [1.0, 2, 3, 4, 5, 6]
    query = MIXED[[0, 0, 1, 1, 2, 2]]
    for name in [*RANKINGS, "ndcg_letor_at_k"]:
        score_of = getattr(fast, name)
        assert score_of(y, score, query, 2) == score_of(y, score, [1, 1, 2, 2, 3, 3], 2)


@pytest.mark.parametrize(
    ("y", "score", "query", "k", "message"),
    [
        ([1, 0, 1], [1.0, 2, 3], [1, 2, 1], 2, "query 1 recurs at row 2"),
        ([1, 0, 1, 0, 0], [1.0, 2, 3, 4, 5], ["b", "a", "b", "a", "b"], 2, "query b recurs"),
        ([1, 0], [1.0, 2, 3], [1, 1, 1], 2, "same length, got 2, 3 and 3"),
        ([1, 0], [1.0, np.nan], [1, 1], 2, "y_score must not contain NaN"),
        ([1, np.inf], [1.0, 2], [1, 1], 2, "y_true must not contain NaN"),
        ([1, 0], [1.0, 2], [1, np.nan], 2, "query_id must not be missing"),
        ([1, 0], [1.0, 2], MIXED[[0, 3]], 2, "query_id must not be missing"),
        ([1, 0, 1], [1.0, 2, 3], MIXED[[0, 2, 0]], 2, "query 7 recurs at row 2"),
        ([1, 0], [1.0, 2], [1, 1], 0, "k must be a whole number >= 1"),
        ([1, 0], [1.0, 2], [1, 1], 1.5, "k must be a whole number >= 1"),
        ([], [], [], 1, "there must be rows"),
        (["a", "b"], [1.0, 2], [1, 1], 1, "y_true must be numbers"),
        ([[1, 0]], [1.0, 2], [1, 1], 1, "one number for each row"),
    ],
)
def test_bad_input_is_named(y, score, query, k, message):
    for name in [*RANKINGS, "ndcg_letor_at_k"]:
        with pytest.raises(ValueError, match=message):
            getattr(fast, name)(y, score, query, k)


@pytest.mark.parametrize("grade", [-1, 0.5, 51])
def test_ndcg_wants_grades(grade):
    for ndcg in (fast.ndcg_at_k, fast.ndcg_letor_at_k):
        with pytest.raises(ValueError, match="whole numbers from 0 to 50"):
            ndcg([1, grade], [1.0, 2.0], [1, 1], 2)


@both
def test_average_precision_of_one_ranking_by_hand(metrics):
    # Scores 4 | 3 3 | 1: positives 0, then one of two, then one: precisions 0, 1/3, 2/4.
    y, score = np.array([0, 1, 0, 1]), np.array([4.0, 3.0, 3.0, 1.0])
    expected = 0.5 * (1 / 3) + 0.5 * (2 / 4)
    assert metrics.average_precision_score(y, score) == pytest.approx(expected, rel=1e-15)
    # The second row three times: 3 of 5 taken, then 4 of 6.
    weighted = metrics.average_precision_score(y, score, sample_weight=[1, 3, 1, 1])
    assert weighted == pytest.approx(0.75 * (3 / 5) + 0.25 * (4 / 6), rel=1e-15)
    assert metrics.average_precision_score(np.array([0, 2, 1]), np.arange(3.0)) == 1.0
    grades = metrics.average_precision_score(np.array([0, 2, 1]), np.arange(3.0), relevant_from=2)
    assert grades == 0.5
    assert math.isnan(metrics.average_precision_score(np.zeros(3), np.arange(3.0)))
    no_weight = metrics.average_precision_score(
        np.eye(3)[0], np.arange(3.0), sample_weight=[0, 1, 1]
    )
    assert math.isnan(no_weight)


@st.composite
def weighted_rows(draw):
    n = draw(st.integers(1, 25))
    labels = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    scores = draw(
        st.lists(st.sampled_from([-1.5, 0.0, -0.0, 0.1, 2.0, 1e9]), min_size=n, max_size=n)
    )
    weights = draw(st.lists(st.sampled_from([0.0, 0.1, 1.0, 2.5, 10.0]), min_size=n, max_size=n))
    return np.array(labels), np.array(scores), np.array(weights)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(data=weighted_rows(), weighted=st.booleans())
def test_average_precision_is_scikit_learns(data, weighted):
    y, score, weight = data
    options = {"sample_weight": weight} if weighted else {}
    ours = fast.average_precision_score(y, score, **options)
    np.testing.assert_array_equal(ours, slow.average_precision_score(y, score, **options))
    if np.sum(np.where(weighted, weight, 1.0) * y) > 0:
        assert ours == pytest.approx(average_precision_score(y, score, **options), rel=1e-12)
    else:
        assert math.isnan(ours)


def test_average_precision_takes_weights_as_copies_and_any_order():
    rng = np.random.default_rng(7)
    y, score = rng.integers(0, 2, 300), rng.integers(0, 40, 300) / 8
    weight = rng.integers(0, 5, 300)
    copies = np.repeat(np.arange(300), weight)
    expected = fast.average_precision_score(y[copies], score[copies])
    assert fast.average_precision_score(y, score, sample_weight=weight) == expected
    order = rng.permutation(300)
    again = fast.average_precision_score(y[order], score[order], sample_weight=weight[order])
    assert again == expected


@pytest.mark.parametrize(
    ("y", "score", "weight", "message"),
    [
        ([1, 0], [1.0, 2.0, 3.0], None, "same length of 1 or more, got 2, 3 and 2"),
        ([1, 0], [1.0, 2.0], [1.0], "got 2, 2 and 1"),
        ([], [], None, "got 0, 0 and 0"),
        ([1, 0], [1.0, np.nan], None, "y_score must not contain NaN"),
        ([1, 0], [1.0, 2.0], [1.0, -1.0], "sample_weight must not be negative"),
        ([1, 0], [1.0, 2.0], [1.0, np.inf], "sample_weight must not contain NaN or infinity"),
        (["a", "b"], [1.0, 2.0], None, "y_true must be numbers"),
    ],
)
def test_bad_input_to_average_precision_is_named(y, score, weight, message):
    with pytest.raises(ValueError, match=message):
        fast.average_precision_score(y, score, sample_weight=weight)


@both
def test_accuracy(metrics):
    assert metrics.accuracy(np.array([0, 1, 2, 1]), np.array([0, 1, 1, 1])) == 0.75


def test_accuracy_checks_its_input():
    with pytest.raises(ValueError, match=r"shapes \(2,\) and \(3,\)"):
        fast.accuracy([0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match="one label for each row"):
        fast.accuracy([], [])


def loss_cases():
    rng = np.random.default_rng(5)
    wide = rng.normal(scale=30, size=(101, 1))
    yield "squared", wide, rng.normal(size=101)
    yield "logistic", wide, rng.integers(0, 2, 101)
    yield "multinomial", rng.normal(scale=5, size=(101, 9)), rng.integers(0, 9, 101)


@pytest.mark.parametrize(("loss", "scores", "y"), list(loss_cases()), ids=lambda v: str(v)[:11])
def test_mean_losses(loss, scores, y):
    ours = fast.validation_score("loss", loss, scores, y)
    assert ours == slow.validation_score("loss", loss, scores, y)
    if loss == "squared":
        expected = 0.5 * np.mean((scores[:, 0] - y) ** 2)
    else:
        p = np.stack(reference.losses.probabilities(loss, scores), axis=1)
        p = np.hstack([1 - p, p]) if loss == "logistic" else p
        # scikit-learn clips probabilities; moderate scores keep away from that.
        near = np.max(np.abs(scores), axis=1) < 30
        ours = fast.validation_score("loss", loss, scores[near], y[near])
        expected = log_loss(y[near], p[near], labels=np.arange(p.shape[1]))
    assert ours == pytest.approx(expected, rel=1e-6)


def test_losses_of_no_rows_are_an_error():
    with pytest.raises(ValueError, match="at least one row"):
        fast.mean_squared_loss(np.empty(0), np.empty((0, 1)))


@both
def test_validation_scores(metrics):
    scores = SCORES[:, None] - 1.0  # log-odds: classes 1 1 0 1 0 0 0
    y = (GRADES > 0).astype(int)  #                     1 0 0 1 0 0 1
    assert metrics.validation_score("accuracy", "logistic", scores, y) == 5 / 7
    # -0.0 and 0.0 are ties: class 0, and the first class.
    assert (
        metrics.validation_score("accuracy", "logistic", np.zeros((2, 1)), np.array([0, 1])) == 0.5
    )
    tied = np.array([[1.0, 2.0, 2.0]])
    assert metrics.validation_score("accuracy", "multinomial", tied, np.array([1])) == 1.0
    for name in ("precision", "average_precision", "ndcg", "ndcg_letor"):
        value = metrics.validation_score(f"{name}@3", "squared", scores, GRADES, QUERIES)
        assert value == getattr(metrics, f"{name}_at_k")(GRADES, scores[:, 0], QUERIES, 3)
    own = metrics.validation_score(lambda y, F, q: np.float32(len(F)), "squared", scores, GRADES)
    assert own == 7.0


@pytest.mark.parametrize(
    ("metric", "loss", "queries", "message"),
    [
        ("ndcg", "squared", True, "a number k"),
        ("ndcg@0", "squared", True, "a number k"),
        ("ndcg_letor@0", "squared", True, "a number k"),
        ("mrr@3", "squared", True, "eval_metric must be"),
        (None, "squared", True, "eval_metric must be"),
        ("accuracy", "squared", False, "for classifiers"),
        ("ndcg@3", "squared", False, "query_id"),
        ("ndcg@3", "multinomial", True, "one score for each row"),
    ],
)
def test_unfitting_eval_metric(metric, loss, queries, message):
    with pytest.raises(ValueError, match=message):
        fast.check_eval_metric(metric, loss, queries)


def test_direction_of_eval_metric():
    assert not fast.larger_is_better("loss")
    assert fast.larger_is_better("ndcg@5")


@pytest.mark.parametrize("name", ["precision_at_k", "average_precision_at_k"])
@pytest.mark.parametrize("grades", [[0.0, 0.5, 0.5], [-1.0, 0.0, 0.0]])
def test_grades_below_the_relevant_ones(name, grades):
    metric = getattr(fast, name)
    with pytest.raises(ValueError, match="No document is relevant: grades go from"):
        metric(grades, np.arange(3.0), np.zeros(3), 2)
    assert metric(grades, np.arange(3.0), np.zeros(3), 2, relevant_from=max(grades)) == 1.0
    assert math.isfinite(metric([*grades, 1.0], np.arange(4.0), np.zeros(4), 2))
