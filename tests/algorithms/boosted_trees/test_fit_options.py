"""n_jobs, callbacks, verbose and class_weight: equal to the reference, and nothing by default."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.greedy_miser import GreedyMiserClassifier, GreedyMiserRegressor
from algorithms.trees import grower
from reference import cegb, gbrt, greedy_miser
from reference.losses import class_weights
from tests.twins import assert_same_trees, assert_twins, fit_reference

rng = np.random.default_rng(9)
X = rng.integers(0, 9, (120, 3)).astype(float)
Y = X[:, 0] * (X[:, 1] > 4) + rng.normal(size=120)
WORDS = np.array(["a", "b", "c"])[np.digitize(Y, [0.0, 3.0])]
SMALL = {"n_estimators": 5, "min_samples_leaf": 5, "n_threads": 1}
TWINS = [
    (CEGBRegressor(**SMALL, max_leaves=5), cegb),
    (GBRTRegressor(**SMALL, max_leaves=5), gbrt),
    (GreedyMiserRegressor(**SMALL, max_depth=2), greedy_miser),
]


# --- callbacks ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "reference"), TWINS, ids=["cegb", "gbrt", "miser"])
def test_a_callback_stops_both_twins(model, reference):
    told = []
    model.fit(X, Y, eval_set=(X[:40], Y[:40]), callbacks=[lambda r: told.append(r) or None])
    assert [one.number for one in told] == [1, 2, 3, 4, 5]
    assert [one.validation_score for one in told] == model.validation_scores_.tolist()
    of_round = np.diff(model.trees_.tree) // 2
    assert [one.n_splits for one in told] == of_round.tolist()
    assert told[-1].n_estimators == told[-1].best_round == 5
    model.fit(X, Y, callbacks=[lambda r: np.bool_(r.number == 2), lambda r: False])
    twin = fit_reference(model, reference, X, Y, callbacks=[lambda n, scores: n == 2])
    assert model.n_estimators_ == len(twin.rounds) == 2
    assert_same_trees(model, twin)


def test_a_stop_keeps_the_best_round_of_early_stopping():
    worse = (X[:40], -9 * Y[:40])
    model = CEGBRegressor(**SMALL, early_stopping_rounds=5)
    model.fit(X, Y, eval_set=worse, callbacks=[lambda r: r.number == 4])
    assert len(model.validation_scores_) == 4
    assert model.n_estimators_ == 1 + np.argmin(model.validation_scores_) < 4


def test_callbacks_that_fail_leave_the_earlier_model_whole():
    model = CEGBRegressor(**SMALL).fit(X, Y)
    before = model.predict(X).tobytes()

    def raising(told):
        raise KeyError(told.number)

    for callbacks, error, message in (
        ([raising], KeyError, "1"),
        ([lambda told: 0], ValueError, "must return True to stop, or None, got 0"),
        (raising, ValueError, "callbacks must be a list of functions"),
        (["stop"], ValueError, "callbacks must be a list of functions"),
    ):
        with pytest.raises(error, match=message):
            model.fit(-X, Y, callbacks=callbacks)
        assert model.predict(X).tobytes() == before


def test_verbose_prints_every_so_many_rounds(capsys):
    CEGBRegressor(**SMALL).fit(X, Y)
    assert capsys.readouterr().out == ""
    CEGBRegressor(**SMALL, verbose=2).fit(X, Y, eval_set=(X, Y))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [f"round {k} of 5" for k in (2, 4, 5)]
    assert all("splits, validation score" in line for line in lines)
    CEGBRegressor(**SMALL, verbose=4).fit(X, Y)
    assert capsys.readouterr().out.splitlines()[0].endswith(" splits")


# --- threads --------------------------------------------------------------------------------------


def test_n_jobs_is_n_threads():
    for jobs in (1, 2, -1, -2, -99):
        options = {"n_threads": None, "n_jobs": jobs}
        model = CEGBRegressor(**SMALL | options).fit(X, Y)
        assert model.predict(X).tobytes() == CEGBRegressor(**SMALL).fit(X, Y).predict(X).tobytes()
    model = CEGBRegressor(**SMALL, n_jobs=1).fit(X, Y)
    model.set_params(n_jobs=2)
    for ask in (model.predict, model.prediction_cost, lambda X: model.fit(X, Y)):
        with pytest.raises(ValueError, match="n_jobs=2 and n_threads=1 differ"):
            ask(np.tile(X, (9, 1)) if ask is not model.fit else X)
    for wrong in (0, 1.0, True, "2"):
        with pytest.raises(ValueError, match="n_jobs must be None, a whole number >= 1, or -1"):
            CEGBRegressor(n_jobs=wrong).fit(X, Y)


# --- weights of classes ---------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, rng.integers(1, 4, 120).astype(float)])
@pytest.mark.parametrize(
    "class_weight", ["balanced", {"a": 3.0, "c": 0.25}], ids=["balanced", "dict"]
)
def test_weights_of_classes_are_weights_of_rows(class_weight, weights, tmp_path):
    model = CEGBClassifier(**SMALL, max_leaves=4, class_weight=class_weight)
    model.fit(X, WORDS, sample_weight=weights)
    by_row = class_weights(WORDS, class_weight, weights)
    plain = CEGBClassifier(**SMALL, max_leaves=4).fit(X, WORDS, sample_weight=by_row)
    assert plain.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    model.save(tmp_path / "model")
    assert CEGBClassifier.load(tmp_path / "model").class_weight == class_weight
    unweighted = CEGBClassifier(**SMALL, max_leaves=4).fit(X, WORDS, sample_weight=weights)
    assert unweighted.predict_proba(X).tobytes() != model.predict_proba(X).tobytes()


def test_weights_need_no_other_grower():
    """It takes half a minute to compile, for which the first to weigh rows would wait once more."""
    for weights in (None, np.tile([1.0, 2.0], 60), rng.random(120) + 0.1):
        GBRTRegressor(**SMALL, max_leaves=4).fit(X, Y, sample_weight=weights)
    trainings = [arguments[0] for arguments in grower.grow.signatures]
    kinds = {str(one.types[one.fields.index("gh")]) for one in trainings}
    assert kinds == {"array(int32, 2d, C)"}


def test_the_twins_agree_on_weights_of_classes():
    y = (Y > 0).astype(int)
    by_row = class_weights(y, {0: 0.3, 1: 2.0})
    assert_twins(GBRTClassifier(**SMALL, max_leaves=4), gbrt, X, y, weights=by_row)


def test_a_class_of_whole_weight_is_copies():
    copies = np.repeat(np.arange(120), np.where(WORDS == "b", 3, 1))
    weighed = GBRTClassifier(**SMALL, class_weight={"b": 3}).fit(X, WORDS)
    copied = GBRTClassifier(**SMALL).fit(X[copies], WORDS[copies])
    assert weighed.predict_proba(X).tobytes() == copied.predict_proba(X).tobytes()


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("equal", 'must be None, "balanced" or a dict'),
        ([1.0, 2.0, 3.0], 'must be None, "balanced" or a dict'),
        ({"a": -1.0}, "class_weight of 'a' must be a finite number > 0, got -1.0"),
        ({"a": np.nan}, "class_weight of 'a' must be a finite number > 0, got nan"),
        ({"a": 0}, "class_weight of 'a' must be a finite number > 0, got 0"),
        ({"z": 1.0}, "class_weight has 'z', which is no class of y: these are 'a', 'b', 'c'"),
        ({"a": 1e300}, "must sum to at most"),
    ],
)
def test_weights_that_are_none(class_weight, message):
    with pytest.raises(ValueError, match=message):
        CEGBClassifier(**SMALL, class_weight=class_weight).fit(X, WORDS)


def test_a_regressor_has_no_classes():
    with pytest.raises(ValueError, match="class_weight is for classifiers"):
        CEGBRegressor(**SMALL, class_weight="balanced").fit(X, Y)


# --- samples of rows and features -----------------------------------------------------------------

GAPS = np.where(rng.random((120, 3)) < 0.2, np.nan, X)
WEIGHTS = rng.integers(0, 4, 120).astype(float)
PRICES = {"feature_costs": [1.0, 2.0, 0.5], "feature_groups": [0, 1, 1]}
PRICES |= {"group_costs": {0: 0.5, 1: 2.0}}
DRAWING = [
    (CEGBRegressor(**SMALL, **PRICES, max_leaves=6, tradeoff=0.02), cegb, Y),
    (CEGBClassifier(**SMALL, **PRICES, max_leaves=6, tradeoff=1e-3), cegb, WORDS),
    (GBRTClassifier(**SMALL, max_leaves=5), gbrt, WORDS),
    (GreedyMiserRegressor(**SMALL, max_depth=3, budget=9.0, **PRICES), greedy_miser, Y),
]
NAMES = ["cegb", "cegb classes", "gbrt", "miser"]
SHARES = {"subsample": 0.6, "colsample_bytree": 0.7, "random_state": 3}


@pytest.mark.parametrize("weights", [None, WEIGHTS, WEIGHTS / 7, 200 * WEIGHTS])
@pytest.mark.parametrize(("model", "reference", "y"), DRAWING, ids=NAMES)
def test_samples_equal_the_reference(model, reference, y, weights):
    drawn = type(model)(**model.get_params() | SHARES)
    assert_twins(drawn, reference, GAPS, y, weights=weights)
    again = type(model)(**drawn.get_params()).fit(GAPS, y, sample_weight=weights)
    assert again._raw_scores(GAPS).tobytes() == drawn._raw_scores(GAPS).tobytes()
    other = type(model)(**drawn.get_params() | {"random_state": 4})
    other.fit(GAPS, y, sample_weight=weights)
    assert other._raw_scores(GAPS).tobytes() != drawn._raw_scores(GAPS).tobytes()


def test_a_tree_tests_only_features_that_it_drew():
    many = np.tile(X, (1, 4))  # in bundles and not: 12 features, of which each tree draws 3
    many[:, 6:] *= many[:, 6:] > 6
    model = GBRTRegressor(**SMALL, colsample_bytree=0.25, random_state=1)
    assert_twins(model, gbrt, many, Y)
    forest = model.trees_
    used = [set(forest.feature[a:b]) - {-1} for a, b in pairwise(forest.tree)]
    assert all(len(one) <= 3 for one in used)
    assert len(set.union(*used)) > 3


# --- L2 penalty and monotonic constraints ---------------------------------------------------------


@pytest.mark.parametrize("weights", [None, WEIGHTS / 7])
@pytest.mark.parametrize(("model", "reference", "y"), DRAWING, ids=NAMES)
def test_an_l2_penalty_equals_the_reference(model, reference, y, weights):
    penalised = type(model)(**model.get_params() | {"reg_lambda": 2.5})
    assert_twins(penalised, reference, GAPS, y, weights=weights)
    free = type(model)(**model.get_params()).fit(GAPS, y, sample_weight=weights)
    assert np.ptp(penalised._raw_scores(GAPS)) < np.ptp(free._raw_scores(GAPS))


def test_no_constraint_is_none():
    free = CEGBRegressor(**SMALL).fit(X, Y)
    for nothing in ([0, 0, 0], {}, {0: 0}, np.zeros(3)):
        model = CEGBRegressor(**SMALL, monotonic_cst=nothing).fit(X, Y)
        assert model.predict(X).tobytes() == free.predict(X).tobytes()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1, 0], "there are 3 columns, got 2 values"),
        ([1, 2, 0], "must have 1 .scores never fall., -1 .they never rise. or 0 for each column"),
        ([1, np.nan, 0], "must have 1"),
        ([[1, 0, 0]], "must have 1"),
        (1, "must have 1"),
        ("up", "must have 1"),
        ([True, False, False], "must have 1"),
        ({"x": 1}, "monotonic_cst is of 'x', which no column of X is called"),
        ({0: "up"}, "must have 1"),
    ],
)
def test_constraints_that_are_none(given, message):
    with pytest.raises(ValueError, match=message):
        CEGBRegressor(**SMALL, monotonic_cst=given).fit(X, Y)


def test_constraints_that_contradict():
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    twice = pd.Series([1, -1], index=["a", "a"])
    with pytest.raises(ValueError, match="has a column twice, and may contradict itself"):
        GBRTRegressor(**SMALL, monotonic_cst=twice).fit(table, Y)
    model = GBRTRegressor(**SMALL, monotonic_cst={"b": 1}, categorical_features=["b"])
    with pytest.raises(ValueError, match="constrains column 'b', which is of categories"):
        model.fit(table, Y)
    with pytest.raises(ValueError, match="is for one score"):
        GBRTClassifier(**SMALL, monotonic_cst={"b": 1}).fit(table, WORDS)
    for wrong in (-1.0, np.nan, np.inf, "1"):
        with pytest.raises(ValueError, match="reg_lambda must be"):
            GBRTRegressor(**SMALL, reg_lambda=wrong).fit(table, Y)


# --- going on -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shares", [{}, SHARES], ids=["all", "samples"])
@pytest.mark.parametrize(("model", "reference", "y"), DRAWING, ids=NAMES)
def test_going_on_is_one_fit(model, reference, y, shares):
    asked = model.get_params() | shares | {"early_stopping_rounds": 4}
    told = {"sample_weight": WEIGHTS, "eval_set": (X[:50], y[:50])}
    whole = type(model)(**asked).fit(GAPS, y, **told)
    parts = type(model)(**asked | {"warm_start": True, "n_estimators": 2}).fit(GAPS, y, **told)
    assert parts.n_estimators_ == 2
    encoded = y if y is Y else np.searchsorted(parts.classes_, y)
    loss = "squared" if y is Y else "multinomial"
    told_twin = told | {"loss": loss, "eval_set": (X[:50], encoded[:50])}
    first = fit_reference(parts, reference, GAPS, encoded, **told_twin)
    parts.set_params(n_estimators=5).fit(GAPS, y, **told)
    twin = fit_reference(parts, reference, GAPS, encoded, earlier=first, **told_twin)
    assert_same_trees(parts, twin)
    for name, values in whole.trees_._asdict().items():
        assert getattr(parts.trees_, name).tobytes() == values.tobytes()
    assert parts.validation_scores_.tolist() == whole.validation_scores_.tolist()
    assert parts.validation_scores_.tolist() == twin.validation_scores


def test_what_nothing_goes_on_from(tmp_path):
    model = GBRTClassifier(**SMALL, warm_start=True).fit(X, WORDS)
    before = model.predict_proba(X).tobytes()
    model.save(tmp_path / "m")
    model = GBRTClassifier.load(tmp_path / "m")
    for changed, given, message in (
        ({"n_estimators": 2}, (X, WORDS), "n_estimators=2 is less than 5 rounds of it"),
        ({"learning_rate": 0.3}, (X, WORDS), "learning_rate=0.3 differs from 0.1 of it"),
        ({}, (X[:, :2], WORDS), "X has 2 features and not the 3 of it"),
        ({}, (X, Y > 0), "y has other classes than those of it"),
    ):
        asked = {name: model.get_params()[name] for name in changed}
        with pytest.raises(ValueError, match=message):
            model.set_params(**changed).fit(*given)
        model.set_params(**asked)
        assert model.predict_proba(X).tobytes() == before
    assert model.fit(X, WORDS).predict_proba(X).tobytes() == before
    longer = model.set_params(n_estimators=7).fit(X, WORDS)
    cold = GBRTClassifier(**SMALL | {"n_estimators": 7}).fit(X, WORDS)
    assert longer.predict_proba(X).tobytes() == cold.predict_proba(X).tobytes()


PRICED = {"feature_costs": [1.0, 2.0, 3.0], "tradeoff": 0.01, "n_estimators": 2}
GOING_ON = [
    CEGBRegressor(**SMALL | PRICED, **SHARES, warm_start=True),
    GreedyMiserClassifier(**SMALL | PRICED, budget=99.0, warm_start=True),
    GBRTRegressor(**SMALL | {"n_estimators": 2}, warm_start=True),
]


@pytest.mark.parametrize(
    ("model", "changed", "message"),
    [
        (GOING_ON[2], {"monotonic_cst": {0: 1}}, r"monotonic_cst=\[1, 0, 0\] differs from None"),
        (GOING_ON[2], {"reg_lambda": 1.0}, r"reg_lambda=1\.0 differs from 0\.0"),
        (GOING_ON[2], {"max_leaves": None}, "max_leaves=None differs from 31"),
        (GOING_ON[2], {"max_bins": 9}, "max_bins=9 differs from 255"),
        (GOING_ON[2], {"init": "zero"}, "init='zero' differs from 'mean'"),
        (GOING_ON[2], {"objective": "lambdarank"}, "objective='lambdarank' differs from None"),
        (GOING_ON[2], {"subsample": 0.5}, r"subsample=0\.5 differs from 1\.0"),
        (GOING_ON[0], {"random_state": 1}, "random_state=1 differs from 3"),
        (GOING_ON[0], {"feature_costs": [1.0, 2.0, 4.0]}, "prices differ from those"),
        (GOING_ON[0], {"feature_groups": [0, 0, 1], "feature_costs": [1, 1, 3]}, "prices differ"),
        (GOING_ON[0], {"tradeoff": 0.0}, r"tradeoff=0\.0 differs from 0\.01"),
        (GOING_ON[1], {"budget": 9.0}, r"budget=9\.0 differs from 99\.0"),
        (GOING_ON[1], {"class_weight": "balanced"}, "class_weight='balanced' differs from None"),
    ],
)
def test_what_decides_trees_is_as_it_was(model, changed, message, tmp_path):
    y = Y if "Regressor" in type(model).__name__ else Y > 0
    y = y if "objective" not in changed else (Y > 0) * 1.0
    asked = {name: model.get_params()[name] for name in changed}
    query = np.repeat(np.arange(12), 10)
    model.fit(X, y).save(tmp_path / "m")
    for earlier in (model, type(model).load(tmp_path / "m"), model.first_rounds(1)):
        before = earlier.predict(X).tobytes()
        with pytest.raises(ValueError, match=f"and {message}.* of it: give what it had"):
            earlier.set_params(**changed).fit(X, y, query_id=query)
        assert earlier.predict(X).tobytes() == before
        earlier.set_params(**asked)


@pytest.mark.parametrize(
    ("model", "same"),
    [
        (GOING_ON[0], {"monotonic_cst": [0, 0, 0], "feature_costs": {2: 3.0, 0: 1, 1: 2}}),
        (
            GOING_ON[0],
            {"n_threads": 2, "eval_metric": "ndcg@5", "verbose": 9, "random_state": None},
        ),
        (GOING_ON[2], {"feature_costs": [1.0, 2.0, 3.0], "split_cost": 1.0}),
    ],
)
def test_what_decides_no_trees_may_differ(model, same):
    once = type(model)(**model.get_params() | {"n_estimators": 4}).fit(X, Y)
    parts = type(model)(**model.get_params()).fit(X, Y).set_params(n_estimators=4, **same)
    assert parts.fit(X, Y).predict(X).tobytes() == once.predict(X).tobytes()


def test_a_drawn_seed_is_kept(tmp_path):
    def drawing(seed):
        return CEGBRegressor(**GOING_ON[0].get_params() | {"random_state": seed})

    once = drawing(np.random.RandomState(3)).set_params(n_estimators=4).fit(X, Y)
    parts = drawing(np.random.RandomState(3)).fit(X, Y).set_params(n_estimators=4).fit(X, Y)
    assert parts.predict(X).tobytes() == once.predict(X).tobytes()
    parts = drawing(None).fit(X, Y)
    parts.save(tmp_path / "m")
    parts, loaded = (
        one.set_params(n_estimators=4).fit(X, Y)
        for one in (parts, type(parts).load(tmp_path / "m"))
    )
    assert parts.predict(X).tobytes() == loaded.predict(X).tobytes()
    anew = parts.set_params(warm_start=False).fit(X, Y)
    assert anew.predict(X).tobytes() != loaded.predict(X).tobytes()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"subsample": 0.0}, "subsample must be a finite number > 0"),
        ({"subsample": 1.5}, "subsample must be above 0 and at most 1, got 1.5"),
        ({"subsample": np.nan}, "subsample must be a finite number > 0, got nan"),
        ({"colsample_bytree": -1}, "colsample_bytree must be a finite number > 0"),
        ({"colsample_bytree": 2}, "colsample_bytree must be above 0 and at most 1, got 2"),
        ({"subsample": 0.5, "random_state": "a"}, "random_state must be None, a whole number"),
        ({"subsample": 0.5, "random_state": np.random.default_rng(0)}, "or a RandomState, got Gen"),
        ({"warm_start": 1}, "warm_start must be True or False, got 1"),
    ],
)
def test_shares_that_are_none(changed, message):
    with pytest.raises(ValueError, match=message):
        CEGBRegressor(**SMALL, **changed).fit(X, Y)
