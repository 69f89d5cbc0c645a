"""The GBRT reference by hand, and against scikit-learn's gradient boosting."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from reference import boosting, cegb, gbrt, losses
from reference.beyond.by_name import fit
from reference.grid import row_weights

SMALL = {"min_samples_leaf": 1, "n_estimators": 1, "learning_rate": 1.0}


def test_two_classes_by_hand():
    # x = 1 … 6, y = 0 0 1 0 1 1, F = 0: p = 1/2, so g = ½ ½ -½ ½ -½ -½. Split by squared error
    # (h = 1): after 2: 1²/2 + 1²/4 = 0.75; after 4 the same by symmetry; after 3: 2 * 0.25/3;
    # after 1: 0.25 + 0.25/5. The lowest of the best is 2.5; half of 0.75 is the gain.
    # Newton steps with h = 1/4: left -1/(2/4) = -2, right 1/(4/4) = 1.
    X, y = np.arange(1.0, 7.0)[:, None], np.array([0, 0, 1, 0, 1, 1])
    model = fit(gbrt, X, y, loss="logistic", max_leaves=2, init="zero", **SMALL)
    (tree,) = model.rounds[0]
    assert (tree.feature[0], tree.threshold[0], tree.gain[0]) == (0, 2.5, 0.375)
    np.testing.assert_array_equal(tree.value, [0, -2, 1])
    np.testing.assert_array_equal(boosting.predict(model, X)[:, 0], [-2, -2, 1, 1, 1, 1])
    np.testing.assert_array_equal(boosting.evaluations(model, X), 1)


def test_initial_scores_by_hand():
    weights = row_weights(np.array([1.0, 2.0, 1.0]))

    def initial(loss, y):
        return losses.initial_scores(loss, np.array(y), weights, "mean")

    np.testing.assert_array_equal(initial("squared", [1.0, 2.0, 3.0]), [2.0])
    np.testing.assert_array_equal(initial("logistic", [1, 0, 0]), [np.log(0.25 / 0.75)])
    np.testing.assert_array_equal(initial("multinomial", [0, 1, 2]), np.log([0.25, 0.5, 0.25]))


@pytest.mark.parametrize(
    ("loss", "y", "initial"),
    [("squared", np.full(4, 0.1), [0.1]), ("logistic", np.ones(4, int), [0.0])],
)
def test_constant_target(loss, y, initial):
    model = fit(gbrt, np.arange(4.0)[:, None], y, loss=loss, **SMALL)
    assert model.rounds == []
    np.testing.assert_array_equal(model.initial_scores, initial)
    np.testing.assert_array_equal(boosting.predict(model, np.zeros((2, 1))), [initial] * 2)


def data(loss, n=240):
    rng = np.random.default_rng(7)
    X = rng.integers(0, 15, (n, 5)).astype(float)
    score = X[:, 0] + np.abs(X[:, 1] - 7) + rng.normal(scale=3, size=n)
    if loss == "squared":
        return X, score
    return X, np.digitize(score, [11.0] if loss == "logistic" else [8.0, 14.0])


@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
@pytest.mark.parametrize(
    ("shape", "fraction"), [({"max_depth": 3, "max_leaves": None}, 0.3), ({"max_leaves": 6}, 1.0)]
)
def test_against_scikit_learn(loss, shape, fraction):
    X, y = data(loss)
    weight = fraction * np.random.default_rng(8).integers(0, 3, len(y))
    shared = {"n_estimators": 12, "learning_rate": 0.2}
    # Ours counts weight, scikit-learn rows: one row is enough for either.
    ours = fit(
        gbrt, X, y, loss=loss, sample_weight=weight, min_samples_leaf=fraction, **shared, **shape
    )
    estimator = GradientBoostingRegressor if loss == "squared" else GradientBoostingClassifier
    theirs = estimator(
        max_leaf_nodes=shape["max_leaves"],
        max_depth=shape.get("max_depth"),
        **shared,
    ).fit(X, y, sample_weight=weight)
    scores = theirs.predict(X) if loss == "squared" else theirs.decision_function(X)
    kept = weight > 0  # elsewhere thresholds may fall differently between the values seen
    # scikit-learn's log priors of several classes are shifted to have mean zero.
    shift = np.mean(ours.initial_scores) if loss == "multinomial" else 0.0
    mine = boosting.predict(ours, X)[kept].squeeze() - shift
    np.testing.assert_allclose(mine, scores[kept], rtol=0, atol=2e-9 * np.abs(scores).max())
    assert len(ours.rounds) == 12


@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
def test_weights_equal_copies(loss):
    X, y = data(loss, 80)
    copies = np.random.default_rng(9).integers(0, 4, len(y))
    options = {"loss": loss, "n_estimators": 4, "min_samples_leaf": 6, "max_leaves": 5}
    weighted = fit(gbrt, X, y, sample_weight=copies, **options)
    repeated = fit(gbrt, np.repeat(X, copies, axis=0), np.repeat(y, copies), **options)
    assert weighted.trace == repeated.trace
    np.testing.assert_array_equal(boosting.predict(weighted, X), boosting.predict(repeated, X))


def test_equals_cost_free_cegb_for_squared_loss():
    X, y = data("squared")
    options = {"n_estimators": 5, "max_leaves": 7, "init": "mean"}
    plain, free = fit(gbrt, X, y, **options), fit(cegb, X, y, **options)
    np.testing.assert_array_equal(boosting.predict(plain, X), boosting.predict(free, X))


def test_early_stopping_keeps_the_best_rounds():
    X, y = data("squared")
    rng = np.random.default_rng(1)
    noise = rng.permutation(y)  # a validation set that gets worse sooner or later
    options = {"n_estimators": 40, "learning_rate": 0.5, "max_leaves": 8, "eval_set": (X, noise)}
    stopped = fit(gbrt, X, y, early_stopping_rounds=3, **options)
    watched = fit(gbrt, X, y, **options)
    best = int(np.argmin(watched.validation_scores)) + 1
    assert len(watched.rounds) == 40
    assert len(stopped.rounds) == stopped.best_round == best
    assert stopped.validation_scores == watched.validation_scores[: best + 3]
    staged = list(boosting.staged_scores(watched, X))
    assert (
        losses.mean_loss("squared", staged[best - 1], noise) == watched.validation_scores[best - 1]
    )
    np.testing.assert_array_equal(boosting.predict(stopped, X), staged[best - 1])


def test_early_stopping_by_a_metric_maximises_it():
    X, y = data("logistic")
    falling = iter([0.5, 0.7, np.nan, 0.7, 0.6, 0.9])
    model = fit(
        gbrt,
        X,
        y,
        loss="logistic",
        n_estimators=6,
        early_stopping_rounds=3,
        eval_set=(X, y),
        eval_metric=lambda y, scores, query_id: next(falling),
    )
    assert (model.best_round, len(model.rounds), len(model.validation_scores)) == (2, 2, 5)
