"""What the estimators refuse: a ValueError that names parameter and value, before any work."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_regressor
from sklearn.exceptions import NotFittedError

from algorithms.boosted_trees import estimator as estimator_module
from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.greedy_miser import GreedyMiserClassifier, GreedyMiserRegressor
from tests.algorithms.estimators.kinds import EVERY, TREES, small_size, takes
from tests.algorithms.estimators.kinds import TREE_CLASSIFIERS as CLASSIFIERS
from tests.algorithms.estimators.kinds import TREE_REGRESSORS as REGRESSORS

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = X[:, 0]
LABELS = (Y > 0).astype(int)
QUERIES = np.repeat([4, 1, 2], 20)


@pytest.fixture(autouse=True)
def no_work(monkeypatch, request):
    """Boosting must not begin: what is wrong is said before any work."""
    if "working" in request.fixturenames:
        return

    def begun(*_, **__):
        raise AssertionError("the estimator began to work on wrong input")

    monkeypatch.setattr(estimator_module, "boost", begun)


@pytest.fixture
def working():
    """Mark a test that fits a model first."""


def target(cls):
    return Y if is_regressor(cls()) else LABELS


def refuse(cls, match, parameters=None, **fit):
    data = {"X": X, "y": target(cls)} | fit
    with pytest.raises(ValueError, match=match):
        cls(**(parameters or {})).fit(data.pop("X"), data.pop("y"), **data)


WHOLE = {
    "n_estimators": [-1, 1.5, "3", None, True, np.nan],
    "min_samples_leaf": [0, -3, 1.5, None, "2", False],
    "max_leaves": [1, 0, 2.5, "8", True],
    "max_depth": [0, -1, 1.5, "3", True],
    "max_bins": [1, 256, 2.5, None, True, "9"],
    "early_stopping_rounds": [0, -1, 1.5, "3", True],
    "n_threads": [0, -1, 1.5, "2", [], np.nan, np.inf, True],
}
NUMBERS = {
    "learning_rate": [-0.1, np.nan, np.inf, "0.1", None, True],
    "min_hessian_leaf": [-1, np.nan, np.inf, None, "x"],
    "split_cost": [-1.0, np.nan, np.inf, None, "x", "1", [1.0, 2.0]],
}
CHOICES = {
    "growth": ["depth_first", None, 3, ["best_first"]],
    "init": ["median", None, 0],
    "random_state": [-1, 1.5, "x", [3], {"a": 1}, True, np.random.default_rng(0)],
    "eval_metric": ["auc", "ndcg", "ndcg@0", "ndcg@x", "ndcg@-1", None, 3],
}
LISTS = {
    "feature_costs": [[1, 2], [1, 2, -1], [1, 2, np.nan], [1, 2, np.inf], [1, 2, None], 3.0, "abc"],
    "feature_groups": [
        [0, 1], [0, 1, 1.5], [0, 1, np.nan], ["a", "b", 3], [True, False, True], 3,
        [["a", "b"], "b", "b"], ["a", None, "b"],
    ],
    "feature_sharing": [[1, 2], [1, 2, 0], [1, 2, -1], [1, 2, np.nan], ["1", "2", "3"]],
}  # fmt: skip
ONLY_CEGB = {
    "tradeoff": [-1e-9, np.nan, np.inf, "1", None, True],
    "model_feature_costs": [[1, 2], [1, 2, -1], [1, 2, np.nan], [1, 2, np.inf], [1, "2", 3]],
    "stop_on_negative_gain": ["no", None, 2],
    "second_order": ["no", None, 1],
}
ONLY_MISER = {
    "tradeoff": ONLY_CEGB["tradeoff"],
    "tree_cost": [-1.0, np.nan, np.inf, "1", None, True, 1e271],
    "budget": [-1.0, np.nan, -np.inf, "1", True, [3.0], 10**400],
    "charging": ["per_node", None, 1, ["authors"]],
    "max_depth": WHOLE["max_depth"],
}


def cases(*tables):
    return [(name, value) for table in tables for name in table for value in table[name]]


@pytest.mark.parametrize(("name", "value"), cases(ONLY_MISER))
@pytest.mark.parametrize("cls", [GreedyMiserRegressor, GreedyMiserClassifier])
def test_parameters_of_greedy_miser(cls, name, value):
    refuse(cls, name, {name: value})


@pytest.mark.parametrize(("name", "value"), cases(WHOLE, NUMBERS, CHOICES, LISTS))
@pytest.mark.parametrize("cls", [CEGBRegressor, GBRTClassifier])
def test_parameters(cls, name, value):
    refuse(cls, name, {name: value})


@pytest.mark.parametrize(("name", "value"), cases(ONLY_CEGB))
@pytest.mark.parametrize("cls", [CEGBRegressor, CEGBClassifier])
def test_parameters_of_cegb(cls, name, value):
    refuse(cls, name, {name: value})


@pytest.mark.parametrize(("name", "value"), [*cases(WHOLE, CHOICES), ("learning_rate", -0.25)])
def test_message_names_the_value(name, value):
    with pytest.raises(ValueError, match=name) as error:
        GBRTRegressor(**{name: value}).fit(X, Y)
    assert repr(value) in str(error.value)


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ([1, -2.5, 3], r"feature 1 has -2\.5"),
        ([1, 2, np.nan], "missing.*feature 2"),
        ([1, 2], r"each of the 3 features, got an array of shape \(2,\)"),
    ],
)
def test_message_names_the_feature(costs, words):
    refuse(CEGBRegressor, f"^feature_costs .*{words}", {"feature_costs": costs})
    refuse(CEGBRegressor, f"^model_feature_costs .*{words}", {"model_feature_costs": costs})
    refuse(GBRTClassifier, f"^feature_costs .*{words}", {"feature_costs": costs})


def test_unequal_costs_in_a_group():
    words = "must be equal within a group .*features 0 and 2 .* cost 1.0 and 3.0"
    parameters = {"feature_costs": [1, 2, 3], "feature_groups": [7, 0, 7]}
    for cls in TREES:
        refuse(cls, f"^feature_costs {words}", parameters)
    for cls in (CEGBRegressor, CEGBClassifier):
        parameters = {"model_feature_costs": [1, 2, 3], "feature_groups": [7, 0, 7]}
        refuse(cls, f"^model_feature_costs {words}", parameters)


@pytest.mark.parametrize(
    ("groups", "prices", "message"),
    [
        (None, {"a": 1.0}, "group_costs needs feature_groups"),
        (["a", "b", "b"], {"a": 1.0}, "no price for 'b'"),
        (["a", "b", "b"], {"a": 1.0, "b": 1.0, "c": 1.0}, "a price for the unknown 'c'"),
        ([1, 2, 2], {"1": 1.0, 2: 2.0}, "no price for 1 and a price for the unknown '1'"),
        (["a", "b", "b"], [1.0, 2.0], "group_costs must be a dict"),
        (["a", "b", "b"], 3.0, "group_costs must be a dict"),
        (["a", "b", "b"], {"a": 1.0, "b": -2.0}, "must not be negative; group 'b' has -2"),
        ([5, 7, 7], {5: 1.0, 7: np.nan}, r"must not be missing \(NaN\); group 7"),
        (["a", "b", "b"], {"a": "1", "b": 1.0}, "group_costs must be numbers, one for each group"),
        (["a", "b", "b"], {"a": [1.0], "b": [1.0]}, "group_costs must have one number"),
        (["a", "b", "b"], {"a": 1.0, "b": True}, "not booleans"),
    ],
)
@pytest.mark.parametrize("cls", REGRESSORS)
def test_prices_of_groups(cls, groups, prices, message):
    refuse(cls, message, {"feature_groups": groups, "group_costs": prices})


# --- rows -----------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", TREES)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_missing_and_infinite_values(cls, bad):
    wrong = X.copy()
    wrong[3, 1] = bad
    word = "NaN" if np.isnan(bad) else "infinity"
    y = Y.copy()
    y[3] = bad
    refuse(cls, f"y contains {word}", y=y)
    refuse(cls, f"y contains {word}", eval_set=(X, y))
    if np.isinf(bad):  # a missing value of X is none to refuse
        refuse(cls, f"X contains {word}", X=wrong)
        refuse(cls, f"X contains {word}", eval_set=(wrong, target(cls)))


@pytest.mark.parametrize("cls", TREES)
def test_shapes(cls):
    y = target(cls)
    refuse(cls, "0 sample", X=X[:0], y=y[:0])
    refuse(cls, "0 feature", X=X[:, :0])
    refuse(cls, "inconsistent numbers of samples", y=y[:-1])
    refuse(cls, "1D array", X=X[:, 0])
    refuse(cls, "1d array", y=np.column_stack([y, y]))


def test_targets():
    for cls in REGRESSORS:
        refuse(cls, "y must be numbers", y=np.where(LABELS, "yes", "no"))
        refuse(cls, "y is too large", y=1e101 * Y)
    for cls in CLASSIFIERS:
        refuse(cls, "Unknown label type: continuous", y=Y)
        refuse(
            cls,
            "missing dates",
            y=np.where(LABELS, np.datetime64("2026-11-28"), None).astype("M8[D]"),
        )


def with_value(index, value):
    weights = np.ones(N)
    weights[index] = value
    return weights


@pytest.mark.parametrize("cls", EVERY)
@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(N - 1), r"each of the 60 rows, got an array of shape \(59,\)"),
        (np.ones((N, 2)), r"shape \(60, 2\)"),
        (2.0, r"shape \(\)"),
        (with_value(7, -0.5), r"not negative; row 7 has -0\.5"),
        (with_value(7, np.nan), "row 7 has nan"),
        (with_value(7, np.inf), "row 7 has inf"),
        (np.zeros(N), "zero for every row"),
        (np.array(["a"] * N), "one number"),
        (np.full(N, 1e15), "sum to at most"),
        (np.full(N, 1.7e308), "sum to at most"),
    ],
)
def test_weights(cls, weights, words):
    refuse(cls, f"^sample_weight.*{words}", small_size(cls), sample_weight=weights)


@pytest.mark.parametrize("cls", TREES)
def test_query_labels(cls):
    split = np.r_[np.full(20, 1), np.full(20, 2), np.full(20, 1)]
    refuse(cls, "query 1 recurs at row 40", query_id=split)
    refuse(cls, r"^query_id .*60 rows, got an array of shape \(59,\)", query_id=QUERIES[:-1])
    refuse(cls, r"^query_id .*shape \(\)", query_id=3)
    refuse(cls, "missing", query_id=np.full(N, np.nan))
    refuse(cls, "query 1 recurs", eval_set=(X, target(cls), split))
    refuse(cls, r"query_id of eval_set .*shape \(59,\)", eval_set=(X, target(cls), QUERIES[:-1]))


# --- the validation set ---------------------------------------------------------------------


@pytest.mark.parametrize("cls", TREES)
def test_validation_set(cls):
    y = target(cls)
    refuse(cls, "early_stopping_rounds needs a validation set", {"early_stopping_rounds": 3})
    for wrong in ((X,), (X, y, QUERIES, y), X, "data"):
        refuse(cls, r"eval_set must be \(X, y\) or \(X, y, query_id\)", eval_set=wrong)
    refuse(cls, "X has 2 features, but .* expecting 3", eval_set=(X[:, :2], y))
    refuse(cls, "inconsistent numbers of samples", eval_set=(X, y[:-1]))


@pytest.mark.parametrize("cls", TREES)
def test_several_validation_sets(cls):
    y = target(cls)
    refuse(cls, "one validation set, got a list of 2: choose one", eval_set=[(X, y), (X, y)])
    refuse(cls, "X has 2 features, but .* expecting 3", eval_set=[(X[:, :2], y)])  # of one is read


def test_validation_targets():
    for cls in REGRESSORS:
        refuse(cls, "y must be numbers", eval_set=(X, np.where(LABELS, "yes", "no")))
    for cls in CLASSIFIERS:
        refuse(cls, "class that the training data lack: 2", eval_set=(X, LABELS + 1))
        words = np.where(LABELS, "yes", "no")
        refuse(cls, "class that the training data lack: 'maybe'", y=words,
               eval_set=(X, np.where(LABELS, "yes", "maybe")))  # fmt: skip


def test_validation_metric_that_does_not_fit():
    three = np.arange(N) % 3
    for cls in REGRESSORS:
        refuse(cls, "'accuracy' is for classifiers", {"eval_metric": "accuracy"}, eval_set=(X, Y))
        real = {"eval_metric": "ndcg@3"}
        refuse(cls, "Grades must be whole numbers", real, eval_set=(X, Y, QUERIES))
    for cls in CLASSIFIERS:
        needs = {"eval_metric": "precision@3"}
        refuse(cls, r"needs eval_set=\(X, y, query_id\)", needs, eval_set=(X, LABELS))
        refuse(cls, "needs one score", needs, y=three, eval_set=(X, three, QUERIES))


RANKINGS = ["precision@3", "average_precision@3", "ndcg@3", "ndcg_letor@3"]


@pytest.mark.parametrize("metric", RANKINGS)
@pytest.mark.parametrize("cls", TREES)
@pytest.mark.parametrize("patience", [None, 2])
def test_validation_set_without_relevant_documents(cls, metric, patience):
    options = {"eval_metric": metric, "early_stopping_rounds": patience}
    nothing = (X, np.zeros(N, int), QUERIES)
    refuse(cls, "no document of any query is relevant", options, eval_set=nothing)


@pytest.mark.parametrize("metric", RANKINGS[:2])
@pytest.mark.parametrize("grades", [(0.0, 0.5), (-1.0, 0.0)])
def test_validation_grades_below_one(metric, grades):
    y = np.where(LABELS, *grades)
    for cls in REGRESSORS:
        refuse(cls, "No document is relevant", {"eval_metric": metric}, eval_set=(X, y, QUERIES))


@pytest.mark.parametrize("answer", [np.nan, np.inf, -np.inf, np.float32("nan")])
@pytest.mark.parametrize("cls", TREES)
@pytest.mark.usefixtures("working")
def test_validation_score_that_is_never_finite(cls, answer):
    def metric(y, scores, query_id):
        return answer

    y, rounds = target(cls), {"n_estimators": 6, "eval_metric": metric}
    model = cls(**rounds, early_stopping_rounds=3)
    words = f"no finite number in any of the 3 rounds .*{answer}.*mend eval_metric"
    with pytest.raises(ValueError, match=words):
        model.fit(X, y, eval_set=(X, y))
    with pytest.raises(ValueError, match="any of the 6 rounds"):  # the patience outlasts them
        model.set_params(early_stopping_rounds=9).fit(X, y, eval_set=(X, y))
    with pytest.warns(UserWarning, match="any of the 6 rounds"):
        cls(**rounds).fit(X, y, eval_set=(X, y))


@pytest.mark.usefixtures("working")
def test_infinite_validation_scores_are_never_the_best():
    scores = iter([-np.inf, np.inf, 0.5, 0.4, 0.3, 0.2])
    model = GBRTRegressor(
        n_estimators=9, early_stopping_rounds=3, eval_metric=lambda *_: next(scores)
    )
    assert model.fit(X, Y, eval_set=(X, Y)).n_estimators_ == 3


@pytest.mark.parametrize(
    "answer",
    [None, "0.5", [0.1, 0.2], [[1], [1, 2]], np.ones(1), {}, 1j, pd.NA, np.ma.masked, 10**400],
)
@pytest.mark.usefixtures("working")
def test_validation_metric_that_returns_no_number(answer):
    model = CEGBRegressor(n_estimators=2, eval_metric=lambda y, scores, query_id: answer)
    with pytest.raises(ValueError, match="must return one number"):
        model.fit(X, Y, eval_set=(X, Y))


# --- prediction -----------------------------------------------------------------------------

PREDICTIONS = ["predict", "acquired_features", "evaluations", "prediction_cost"]


@pytest.mark.parametrize("cls", TREES)
def test_prediction_before_fit(cls):
    for name in PREDICTIONS:
        with pytest.raises(NotFittedError):
            getattr(cls(), name)(X)
    for name in ("staged_predict", "staged_cost"):
        with pytest.raises(NotFittedError):
            next(getattr(cls(), name)(X))
    for name in ("model_features", "model_cost"):
        with pytest.raises(NotFittedError):
            getattr(cls(), name)()
    with pytest.raises(NotFittedError):
        cls().save("nowhere")


@pytest.mark.parametrize("cls", TREES)
def test_a_fit_that_failed_leaves_no_model(cls):
    broken = cls(feature_costs=[1, 2, -3])
    with pytest.raises(ValueError, match="feature_costs"):
        broken.fit(X, target(cls))
    with pytest.raises(NotFittedError):
        broken.predict(X)


@pytest.mark.parametrize("cls", TREES)
def test_prediction_rows(cls, working):
    wrong = X.copy()
    wrong[0, 2] = np.inf
    model = cls(n_estimators=2).fit(X, target(cls))
    for name in PREDICTIONS:
        method = getattr(model, name)
        with pytest.raises(ValueError, match=r"has 2 features, but .* expecting 3"):
            method(X[:, :2])
        with pytest.raises(ValueError, match="contains infinity"):
            method(wrong)
        with pytest.raises(ValueError, match="0 sample"):
            method(X[:0])


@pytest.mark.parametrize("cls", TREES)
def test_feature_names(cls, working):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = cls(n_estimators=2).fit(frame, target(cls))
    for name in PREDICTIONS:
        with pytest.raises(ValueError, match="feature names should match"):
            getattr(model, name)(frame[["c", "b", "a"]])


@pytest.mark.parametrize("cls", TREES)
def test_prices_of_a_prediction(cls, working):
    model = cls(n_estimators=2).fit(X, target(cls))
    for wrong in ([1, 2], [1, 2, -3], [1, 2, np.nan]):
        with pytest.raises(ValueError, match="feature_costs"):
            model.prediction_cost(X, feature_costs=wrong)
        with pytest.raises(ValueError, match="feature_costs"):
            next(model.staged_cost(X, feature_costs=wrong))
    for wrong in (-1, np.nan, "x"):
        with pytest.raises(ValueError, match="split_cost"):
            model.prediction_cost(X, split_cost=wrong)


@pytest.mark.parametrize("cls", TREES)
def test_numpy_numbers_are_welcome(cls, working):
    model = cls(
        n_estimators=np.int64(3),
        learning_rate=np.float32(0.5),
        **{"max_leaves" if takes(cls, "max_leaves") else "max_depth": np.int32(4)},
        max_bins=np.uint8(16),
        min_samples_leaf=np.int16(2),
        feature_costs=pd.Series([1, 2, 3]),
        feature_groups=np.array([0.0, 1.0, 2.0]),
        split_cost=np.float64(0.25),
        n_threads=np.int64(1),
    )
    assert model.fit(X, target(cls), sample_weight=pd.Series(np.ones(N))).n_estimators_ == 3
