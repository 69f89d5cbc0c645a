"""The cascade of boosted stages: by hand, equal to its reference, limits, bad input."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.fcboost import FCBoostClassifier
from algorithms.viola_jones import UnreachedRateWarning, ViolaJonesClassifier
from reference import viola_jones as reference
from tests.test_adaboost_mh import draw_data


def draw(seed, n=160, n_features=6):
    """Columns of bytes with ties and constants, few positives, weights of all kinds."""
    rng = np.random.default_rng(seed)
    X, _ = draw_data(rng, n, n_features, 2)
    X[:, 0] = rng.integers(0, 256, n)
    signal = X.astype(float) @ rng.normal(size=n_features) + 40 * rng.normal(size=n)
    y = (signal > np.quantile(signal, 0.7)).astype(int)
    weights = [None, rng.integers(1, 5, n).astype(float), rng.random(n) + 0.01][seed % 3]
    return X, y, weights


def fit_quietly(model, X, y, **fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreachedRateWarning)
        return model.fit(X, y, **fit)


def reference_of(model, X, y, weights=None, eval_set=None):
    """Fit the reference as the estimator was fitted."""
    names = ("max_fpr", "min_tpr", "max_stages", "max_stumps")
    options = {name: getattr(model, name) for name in names}
    signs = np.where(y == model.classes_[-1], 1, -1)
    valid, of_valid = (X, signs), weights
    if eval_set is not None:
        valid = (eval_set[0], np.where(eval_set[1] == model.classes_[-1], 1, -1))
        of_valid = None
    elif model.validation_share:
        rng = np.random.default_rng(model.random_state)
        drawn = reference.divide(signs, model.validation_share, rng)
        valid, X, signs = (X[drawn], signs[drawn]), X[~drawn], signs[~drawn]
        of_valid = None if weights is None else weights[drawn]
        weights = None if weights is None else weights[~drawn]
    return reference.fit(X, signs, *valid, weights=weights, valid_weights=of_valid, **options)


def assert_twins(model, X, y, weights=None, eval_set=None, new_rows=None):
    twin = reference_of(model, X, y, weights, eval_set)
    thresholds = [stage.threshold for stage in twin.stages]
    np.testing.assert_array_equal(model.thresholds_, thresholds[:-1])
    assert model.final_threshold_ == np.nextafter(thresholds[-1], -np.inf)
    np.testing.assert_array_equal(model.reached_, [stage.reached for stage in twin.stages])
    np.testing.assert_array_equal(model.targets_, [stage.target for stage in twin.stages])
    at_end = [[d for d in twin.trace if d.stage == stage.target][-1] for stage in twin.stages]
    np.testing.assert_array_equal(model.rates_, [(d.tpr, d.fpr) for d in at_end])
    alphas = [alpha for stage in twin.stages for alpha in stage.alphas]
    np.testing.assert_array_equal(model.coef_.sum(axis=0), alphas)
    sizes = [np.count_nonzero(stage.alphas) for stage in twin.stages]
    np.testing.assert_array_equal((model.coef_ != 0).sum(axis=1), sizes)
    forest = model._responses_.forest
    roots = forest.tree[:-1]
    np.testing.assert_array_equal(forest.feature[roots], [d.feature for d in twin.trace])
    np.testing.assert_array_equal(forest.threshold[roots], [d.cut for d in twin.trace])
    Z = X if new_rows is None else np.concatenate([X, new_rows])
    exits, expected = model.exits(Z), reference.leave(twin, Z)
    np.testing.assert_array_equal(exits.stage, expected.stage)
    np.testing.assert_array_equal(exits.scores, expected.scores)
    np.testing.assert_array_equal(model.predict(Z) == model.classes_[-1], expected.accepted)
    until = np.cumsum([sum(s.feature >= 0 for s in stage.stumps) for stage in twin.stages])
    np.testing.assert_array_equal(model.evaluations(Z), until[expected.stage - 1])
    return twin


# --- by hand ---------------------------------------------------------------------------------

COLUMN = np.array([[0], [1], [2], [3], [4], [5], [6], [7]], dtype=np.uint8)
LABELS = np.array([0, 0, 0, 1, 0, 1, 1, 1])


def test_by_hand():
    """Positives at 3, 5, 6, 7: the first stump is x > 4.5, wrong on row 3 alone."""
    model = ViolaJonesClassifier(
        max_fpr=0.25, min_tpr=0.75, max_stages=1, validation_share=0.0
    ).fit(COLUMN, LABELS)
    # Cuts at 2.5 and 4.5 are wrong on one row of eight each: the lower one is taken.
    forest = model._responses_.forest
    assert forest.threshold[0] == 2.5
    np.testing.assert_allclose(model.coef_, [[0.5 * math.log(7)]], rtol=1e-8)
    np.testing.assert_array_equal(model.rates_, [[1.0, 0.25]])  # row 4 of four negatives passes
    assert model.final_threshold_ == np.nextafter(0.0, -1.0)
    np.testing.assert_array_equal(model.predict(COLUMN), [0, 0, 0, 1, 1, 1, 1, 1])


def test_the_second_stage_sees_what_the_first_lets_pass():
    """Without row 4's fellows, one stump separates what is left; weights begin anew."""
    model = ViolaJonesClassifier(
        max_fpr=0.25, min_tpr=0.75, max_stages=2, validation_share=0.0
    ).fit(COLUMN, LABELS)
    np.testing.assert_array_equal(model.n_stumps_, [1, 1])
    forest = model._responses_.forest
    assert forest.threshold[forest.tree[1]] == 4.5  # balanced: the negative weighs as four
    np.testing.assert_array_equal(model.rates_[1], [0.75, 0.0])
    np.testing.assert_array_equal(model.exit_stage(COLUMN), [1, 1, 1, 2, 2, 2, 2, 2])
    np.testing.assert_array_equal(model.predict(COLUMN), [0, 0, 0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(model.evaluations(COLUMN), [1, 1, 1, 2, 2, 2, 2, 2])
    assert_twins(model, COLUMN, LABELS)


# --- twins -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_equals_the_reference(seed):
    X, y, weights = draw(seed)
    rng = np.random.default_rng(100 + seed)
    model = ViolaJonesClassifier(
        max_fpr=float(rng.choice([0.3, 0.6, 0.8])),
        min_tpr=float(rng.choice([0.9, 0.99, 1.0])),
        max_stages=int(rng.integers(1, 7)),
        max_stumps=int(rng.integers(2, 8)),
        validation_share=[0.3, 0.0][seed % 2],
        random_state=seed,
    )
    eval_set = draw(seed + 50)[:2] if seed % 4 == 2 else None
    fit_quietly(model, X, y, sample_weight=weights, eval_set=eval_set)
    assert_twins(model, X, y, weights, eval_set, draw(seed + 70)[0])


@pytest.mark.parametrize(
    "model",
    [
        ViolaJonesClassifier(max_stumps=5, validation_share=0.0, max_stages=4),
        FCBoostClassifier(n_estimators=6),
    ],
)
def test_numbers_are_binned(model):
    """The same decisions on codes and on numbers in the same order."""
    X, y, _ = draw(0)
    numbers = np.exp(X / 50.0) - 7
    model, other = (fit_quietly(clone(model), Z, y) for Z in (X, numbers))
    np.testing.assert_array_equal(other.coef_, model.coef_)
    np.testing.assert_array_equal(other.exits(numbers).stage, model.exits(X).stage)
    np.testing.assert_array_equal(other.exits(numbers).scores, model.exits(X).scores)


# --- limits and invariants -------------------------------------------------------------------


@pytest.mark.parametrize("n_stumps", [1, 7])
def test_one_stage_is_adaboost_with_a_threshold(n_stumps):
    """Of balanced classes, as many positives as negatives."""
    X, y, _ = draw(3, n=200)
    rows = np.concatenate([np.flatnonzero(y == 1)[:60], np.flatnonzero(y == 0)[:60]])
    X, y = X[rows], y[rows]
    boosted = AdaBoostMH(n_estimators=n_stumps).fit(X, y)
    model = ViolaJonesClassifier(
        max_fpr=1e-9, min_tpr=0.95, max_stages=1, max_stumps=n_stumps, validation_share=0.0
    )
    with pytest.warns(UnreachedRateWarning, match="1 stages ended without"):
        model.fit(X, y)
    scores = boosted.decision_function(X)
    np.testing.assert_array_equal(model.exits(X).scores, scores)
    ordered = np.sort(scores[y == 1])
    expected = min(0.0, ordered[3])  # three of sixty may be lost
    np.testing.assert_array_equal(model.predict(X) == 1, scores >= expected)


@pytest.mark.parametrize("seed", range(3))
def test_rates_hold_on_all_validation_rows(seed):
    X, y, _ = draw(seed, n=600)
    Z, z, _ = draw(seed, n=600)  # the same columns' kinds, so the same distribution
    model = ViolaJonesClassifier(max_fpr=0.7, min_tpr=0.98, max_stages=4, max_stumps=50)
    fit_quietly(model, X, y, eval_set=(Z, z))
    stage, accepted = model.exit_stage(Z), model.predict(Z) == 1
    K = len(model.rates_)
    for k, rates in enumerate(model.rates_, 1):
        passes = (stage > k) | ((k == K) & accepted)
        np.testing.assert_allclose(rates, [passes[z == 1].mean(), passes[z == 0].mean()])
        m = model.targets_[k - 1] + 1
        assert rates[0] >= 0.98**m - 1e-9
        assert rates[1] <= 0.7**m + 1e-9 or not model.reached_[k - 1]
    assert np.any(model.reached_)
    ranking = model.ranking_score(Z)
    for early in np.unique(stage)[:-1]:
        assert ranking[stage == early].max() < ranking[stage > early].min()


def test_a_tpr_of_1_rejects_no_validation_positive():
    X, y, _ = draw(4)
    model = ViolaJonesClassifier(min_tpr=1.0, validation_share=0.0, max_stumps=10)
    fit_quietly(model, X, y)
    assert np.all(model.predict(X)[y == 1] == 1)


def test_tables_of_validation_rows_and_seeds():
    X, y, _ = draw(5)
    model = ViolaJonesClassifier(max_stages=3, max_stumps=5, random_state=1)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    again = fit_quietly(clone(model), frame, y, eval_set=(frame, y))
    np.testing.assert_array_equal(
        again.exits(frame).scores, fit_quietly(clone(model), X, y, eval_set=(X, y)).exits(X).scores
    )
    other = fit_quietly(clone(model).set_params(random_state=2), X, y)
    assert not np.array_equal(other.rates_, fit_quietly(clone(model), X, y).rates_)


def test_a_target_that_is_met_needs_no_stage():
    """The first stage's single stump leaves a quarter: four stages must leave 0.2401."""
    model = ViolaJonesClassifier(max_fpr=0.7, min_tpr=1.0, max_stages=5, validation_share=0.0)
    model.fit(COLUMN, LABELS)
    np.testing.assert_array_equal(model.targets_, [0, 3])
    np.testing.assert_array_equal(model.rates_[0], [1.0, 0.25])
    assert_twins(model, COLUMN, LABELS)


# --- what cannot go on -----------------------------------------------------------------------


def test_a_stage_without_negatives_ends_the_training():
    model = ViolaJonesClassifier(max_fpr=0.5, min_tpr=1.0, max_stages=9, validation_share=0.0)
    model.fit(COLUMN, COLUMN[:, 0] > 3)
    assert len(model.rates_) == 1
    np.testing.assert_array_equal(model.rates_, [[1.0, 0.0]])
    assert_twins(model, COLUMN, COLUMN[:, 0] > 3)


def test_an_unreachable_rate_is_said():
    """Equal rows of both classes: no stump tells anything."""
    X, y = np.zeros((10, 2), dtype=np.uint8), np.arange(10) % 2
    model = ViolaJonesClassifier(validation_share=0.0)
    with pytest.warns(UnreachedRateWarning, match=r"stage 1, left 1 of .* asks for 0\.5"):
        model.fit(X, y)
    np.testing.assert_array_equal(model.reached_, [False])
    np.testing.assert_array_equal(model.targets_, [9])  # nine were dropped
    np.testing.assert_array_equal(model.predict(X), 1)
    np.testing.assert_array_equal(model.evaluations(X), 0)
    assert_twins(model, X, y)
    X, y, _ = draw(1)
    model.set_params(max_fpr=0.01, min_tpr=1.0, max_stumps=1, max_stages=50)
    with pytest.warns(UnreachedRateWarning, match="stages ended without their false positive"):
        model.fit(X, y)
    assert len(model.rates_) < 50  # stages that reject nothing are dropped
    assert_twins(model, X, y)


def test_wrong_validation_sets():
    X, y, _ = draw(0)
    model = ViolaJonesClassifier(max_stumps=3)
    wrong = X.astype(float)
    wrong[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, y, eval_set=(wrong, y))
    with pytest.raises(ValueError, match=r"eval_set must be \(X, y\)"):
        model.fit(X, y, eval_set=X)
    with pytest.raises(ValueError, match="lack: 2"):
        model.fit(X, y, eval_set=(X, y + 1))
    with pytest.raises(ValueError, match="lack: 2"):  # the pair in a list is what is read
        model.fit(X, y, eval_set=[(X, y + 1)])
    with pytest.raises(ValueError, match="no validation rows"):
        model.fit(X, y, eval_set=(X, np.ones_like(y)))
    with pytest.raises(ValueError, match="expecting 6"):
        model.fit(X, y, eval_set=(X[:, :5], y))
