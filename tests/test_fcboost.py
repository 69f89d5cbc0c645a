"""FCBoost: derivatives, by hand, equal to its reference, limits, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.fcboost import FCBoostClassifier
from algorithms.stump_cascades.smooth_cascade import Line
from reference import fcboost as reference
from tests.test_viola_jones import COLUMN, LABELS, draw

STEP = 2.0**-12


def twin_of(model, X, y, weights=None):
    """Fit the reference as the estimator was fitted."""
    options = {name: getattr(model, name) for name in ("n_estimators", "eta", "steepness")}
    return reference.fit(X, np.where(y == model.classes_[-1], 1, -1), weights=weights, **options)


def assert_twins(model, X, y, weights=None, new_rows=None):
    twin = twin_of(model, X, y, weights)
    np.testing.assert_array_equal(model.stage_, [c.stage for c in twin.trace])
    np.testing.assert_array_equal(model.objectives_, twin.objectives)
    np.testing.assert_array_equal(model.coef_ != 0, twin.members.T)
    np.testing.assert_array_equal(model.coef_.max(axis=0, initial=0.0), twin.alphas)
    forest = model._responses_.forest
    roots = forest.tree[:-1]
    np.testing.assert_array_equal(forest.feature[roots], [c.feature for c in twin.trace])
    np.testing.assert_array_equal(forest.threshold[roots], [c.cut for c in twin.trace])
    Z = X if new_rows is None else np.concatenate([X, new_rows])
    exits, expected = model.exits(Z), reference.leave(twin, Z)
    np.testing.assert_array_equal(exits.stage, expected.stage)
    np.testing.assert_array_equal(exits.scores, expected.scores)
    np.testing.assert_array_equal(model.predict(Z) == model.classes_[-1], expected.accepted)
    first = np.argmax(twin.members, axis=1)
    is_split = np.array([s.feature >= 0 for s in twin.stumps])
    until = np.array([np.sum(is_split[first < k]) for k in range(1, len(model.coef_) + 1)])
    np.testing.assert_array_equal(model.evaluations(Z), until[expected.stage - 1])
    return twin


# --- the smooth cascade ----------------------------------------------------------------------


def drawn_state(seed, m=4, n=25, weighted=False):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1, -1)
    weights = rng.integers(1, 4, n).astype(float) if weighted else None
    problem = reference.make_problem(
        np.zeros((n, 1), dtype=np.uint8), y, steepness=1.7, eta=0.3, weights=weights
    )
    return reference.State(rng.normal(size=(m, n)), rng.integers(1, 5, m)), problem, weights


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("m", [1, 2, 4])
def test_the_derivatives_are_those_of_the_value(m, weighted):
    state, problem, weights = drawn_state(m, m, weighted=weighted)
    falls = reference.descent(state, problem)
    falls = falls if weights is None else falls * weights
    for k, i in np.ndindex(state.f.shape):
        sides = []
        for sign in (1, -1):
            f = state.f.copy()
            f[k, i] += sign * 1e-6
            sides.append(reference.objective(reference.State(f, state.n_own), problem))
        expected = -(sides[0] - sides[1]) / 2e-6
        np.testing.assert_allclose(falls[k, i], expected, rtol=2e-6, atol=1e-9)


def test_the_slopes_are_the_papers_formula():
    """b_k = ½ P_k {1 - tanh σf_k + σ (F_{k+1} - f_k) (1 - tanh² σf_k)}."""
    state, problem, _ = drawn_state(0)
    f, sigma = state.f, problem.steepness
    F, P = reference.cascades(f, sigma), reference.reach(f, sigma)
    t = np.tanh(sigma * f)
    expected = 0.5 * P[:-1] * (1 - t[:-1] + sigma * (F[1:] - f[:-1]) * (1 - t[:-1] ** 2))
    np.testing.assert_allclose(reference.slopes(f, sigma)[:-1], expected, rtol=1e-12)
    np.testing.assert_array_equal(reference.slopes(f, sigma)[-1], P[-1])


def test_a_neutral_stage_changes_nothing():
    state, problem, _ = drawn_state(1)
    longer = reference.with_new_stage(state)
    assert len(longer.f) == len(state.f) + 1
    before, after = (reference.objective(s, problem) for s in (state, longer))
    np.testing.assert_allclose(after, before, rtol=1e-13)


def test_a_steep_cascade_is_a_hard_one():
    """Its complexity is the number of stumps evaluated, its score that of the exit."""
    state, _, _ = drawn_state(2, n=200)
    C = reference.to_come(state.f, state.n_own, 1e6)[0]
    F = reference.cascades(state.f, 1e6)[0]
    m = len(state.f)
    rejected = np.concatenate([state.f[:-1] < 0, np.ones((1, 200), dtype=bool)])
    exit_at = np.argmax(rejected, axis=0)
    np.testing.assert_allclose(C, np.cumsum(state.n_own)[exit_at])
    np.testing.assert_allclose(F, state.f[exit_at, np.arange(200)])
    assert set(exit_at) == set(range(m))


@pytest.mark.parametrize("k", [0, 1, 3])
def test_the_line_has_the_slope_that_it_says(k):
    state, problem, _ = drawn_state(3)
    stump = reference.adaboost_mh.Stump(-1, 0.0, np.array([-1]))
    at = reference.line(state, k, stump, problem)
    np.testing.assert_allclose(at(0.0)[0], reference.objective(state, problem), rtol=1e-13)
    for alpha in (0.0, 0.3, 2.0):
        expected = (at(alpha + 1e-6)[0] - at(alpha - 1e-6)[0]) / 2e-6
        np.testing.assert_allclose(at(alpha)[1], expected, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(
    ("slope", "expected"),
    [
        (lambda alpha: alpha - 0.3, 0.3),
        (lambda alpha: alpha - 1.7, 1.7),
        (lambda alpha: (alpha - 0.3) ** 9, 0.3),
        (lambda alpha: math.exp(40 * (alpha - 0.7)) - 1, 0.7),
        (lambda alpha: min(0.0, alpha - 0.01), 0.01),  # flat beyond: it does not fall any more
        (lambda alpha: -5e-324 if alpha < 0.05 else 0.0, 0.05),
        (lambda alpha: -1.0, 8.0),
        (lambda alpha: 0.0, 0.0),
        (lambda alpha: 1.0, 0.0),
    ],
)
def test_a_step_is_the_first_minimum_on_the_grid(slope, expected):
    calls = []

    def at(alpha):
        calls.append(alpha)
        return 0.0, slope(alpha)

    found = reference.search_step(at)
    assert found == round(found / STEP) * STEP
    assert expected - STEP <= found <= expected
    assert len(calls) < 60
    line = object.__new__(Line)
    line.slope = slope
    assert line.best_step() == found


# --- by hand ---------------------------------------------------------------------------------


def test_by_hand():
    """Eight rows, two stumps that are wrong on one of them: the lower is taken, α = ½ log 7."""
    model = FCBoostClassifier(n_estimators=1, eta=0.0).fit(COLUMN, LABELS)
    forest = model._responses_.forest
    assert forest.threshold[0] == 2.5
    alpha = model.coef_[0, 0]
    assert alpha == round(alpha / STEP) * STEP
    np.testing.assert_allclose(alpha, 0.5 * math.log(7), atol=STEP)
    np.testing.assert_array_equal(model.predict(COLUMN), [0, 0, 0, 1, 1, 1, 1, 1])
    risk = (7 * math.exp(-alpha) + math.exp(alpha)) / 8
    np.testing.assert_allclose(model.objectives_, [1.0, risk], rtol=1e-14)
    costly = FCBoostClassifier(n_estimators=1, eta=0.1).fit(COLUMN, LABELS)
    np.testing.assert_allclose(costly.objective_, risk + 0.1, rtol=1e-14)


def test_a_copy_is_free():
    """Two stages, the second of which has the first one's stump and one more."""
    X, y, _ = draw(0, n=300)
    model = FCBoostClassifier(n_estimators=12, eta=0.05).fit(X, y)
    assert len(model.coef_) > 1
    shared = (model.coef_ != 0).sum(axis=0)
    assert shared.max() > 1
    stops = np.cumsum(model.n_stumps_)
    np.testing.assert_array_equal(model.evaluations(X), stops[model.exit_stage(X) - 1])
    assert stops[-1] == np.count_nonzero(model._responses_.forest.feature >= 0)


@pytest.mark.parametrize("eta", [0.01, 0.1])
def test_what_is_recorded_is_the_cascade_that_is_built(eta):
    """A stump for the last stage drops the copy behind it, and L is that of what remains."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 20, (120, 5)).astype(np.uint8)
    noisy = X[:, 0] / 20 + X[:, 1] / 20 + rng.normal(0, 0.3, 120)
    y = np.where(noisy > 1.2, 1, -1)
    problem = reference.make_problem(X, y, steepness=1.0, eta=eta)
    whole = reference.fit(X, y, n_estimators=12, eta=eta)
    grown = whole.members.argmax(axis=1)
    assert np.any((grown[1:] > 0) & (grown[1:] == np.maximum.accumulate(grown)[:-1]))
    for t in range(3, len(whole.stumps) + 1, 3):
        model = reference.fit(X, y, n_estimators=t, eta=eta)
        f = reference.stage_scores(model, X)
        n_own = np.bincount(model.members.argmax(axis=1), minlength=len(f))
        value = reference.objective(reference.State(f, n_own), problem)
        np.testing.assert_allclose(value, whole.objectives[t], rtol=1e-12)
    assert np.all(np.diff(whole.objectives) < 0)


# --- twins -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(9))
def test_equals_the_reference(seed):
    X, y, weights = draw(seed, n=120)
    model = FCBoostClassifier(
        n_estimators=8, eta=[0.0, 0.02, 0.1][seed // 3], steepness=[5.0, 1.0, 20.0][seed % 3]
    ).fit(X, y, sample_weight=weights)
    twin = assert_twins(model, X, y, weights, draw(seed + 70)[0])
    assert len(twin.stumps) == 8 or seed // 3 == 2
    assert np.all(np.diff(model.objectives_) < 0)


def test_decisions_are_no_matter_of_last_bits():
    """exp and tanh are inside: the best candidate is ahead of the next, unless it is the same."""
    X, y, _ = draw(1, n=120)
    signs = np.where(y == 1, 1, -1)
    model = FCBoostClassifier(n_estimators=6, eta=0.05, steepness=5.0).fit(X, y)
    problem = reference.make_problem(X, signs, steepness=5.0, eta=0.05)
    state = reference.State(np.zeros((1, len(y))), np.zeros(1, dtype=np.int64))
    for stage in model.stage_:
        listed = sorted(reference.candidates(state, problem), key=lambda c: c.objective)
        best = listed[0]
        assert best.stage == stage
        if len(listed) > 1:
            assert listed[1].objective - best.objective > 1e-9
        state = reference.with_new_stage(state) if stage == len(state.f) else state
        stump = reference.adaboost_mh.Stump(best.feature, best.cut, np.array([best.vote]))
        answers = reference.adaboost_mh.responses(stump, X)[:, 0]
        f, n_own = state.f.copy(), state.n_own.copy()
        f[stage] += best.alpha * answers
        n_own[stage] += 1
        state = reference.State(f, n_own)


# --- limits and invariants -------------------------------------------------------------------


def test_the_first_stump_is_adaboosts():
    X, y, _ = draw(3)
    model = FCBoostClassifier(n_estimators=1, eta=0.0).fit(X, y)
    boosted = AdaBoostMH(n_estimators=1).fit(X, y)
    forest = model._responses_.forest
    assert forest.feature[0] == boosted.stumps_.feature[0]
    np.testing.assert_allclose(model.coef_[0, 0], boosted.stumps_.alpha[0], atol=STEP)
    np.testing.assert_array_equal(model.predict(X), boosted.predict(X))


def test_dearer_stumps_are_evaluated_less():
    X, y, _ = draw(2, n=500)
    spent = []
    for eta in (0.0, 0.02, 0.1):
        model = FCBoostClassifier(n_estimators=30, eta=eta).fit(X, y)
        spent.append(model.evaluations(X[y == 0]).mean())
    assert spent[0] > spent[1] > spent[2]


def test_stumps_that_pay_for_nothing_are_not_added():
    X, y, _ = draw(0)
    with pytest.warns(ConstantModelWarning, match=r"No stump lowers .* eta=50: .* predicts 0"):
        model = FCBoostClassifier(eta=50.0).fit(X, y)
    assert model.n_estimators_ == 0
    np.testing.assert_array_equal(model.predict(X), 0)
    np.testing.assert_array_equal(model.evaluations(X), 0)
    assert_twins(model, X, y)


@pytest.mark.parametrize("eta", [0.0, 0.05])
def test_first_rounds_are_a_shorter_fit(tmp_path, eta):
    X, y, weights = draw(11, n=150)
    options = {"eta": eta, "steepness": 3.0, "feature_costs": [1, 2, 3, 4, 5, 6]}
    whole = FCBoostClassifier(n_estimators=12, **options).fit(X, y, sample_weight=weights)
    assert whole.stage_.max() >= 1  # a stage begins on the way
    for n_rounds in range(1, whole.n_estimators_ + 1):
        short = whole.first_rounds(n_rounds)
        fit = FCBoostClassifier(n_estimators=n_rounds, **options)
        fit.fit(X, y, sample_weight=weights)
        assert short.get_params() == fit.get_params()
        for name in ("coef_", "intercept_", "thresholds_", "stage_", "objectives_", "n_stumps_"):
            np.testing.assert_array_equal(getattr(short, name), getattr(fit, name))
        for name in ("decision_function", "prediction_cost", "exit_stage"):
            np.testing.assert_array_equal(getattr(short, name)(X), getattr(fit, name)(X))
    assert whole.n_estimators_ == whole.n_estimators == 12  # as it was
    for n_rounds in (0, 13, 1.5):
        with pytest.raises(ValueError, match="n_rounds must be a whole number from 1 to 12"):
            whole.first_rounds(n_rounds)
    whole.save(tmp_path / "model")
    with pytest.raises(ValueError, match="does not know in which order it grew"):
        FCBoostClassifier.load(tmp_path / "model").first_rounds(1)


def test_no_stumps():
    X, y, _ = draw(0)
    none = FCBoostClassifier(n_estimators=0).fit(X, y)
    np.testing.assert_array_equal(none.predict(X), 0)
