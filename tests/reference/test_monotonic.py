"""Monotonic constraints and the L2 penalty in the references: what the rule says, counted anew."""

import numpy as np
import pytest

from reference import boosting, cegb, gbrt, greedy_miser
from reference.beyond.by_name import fit
from reference.beyond.monotonic import Bounded, bounds_of_children, taken_off
from reference.trees import predict_tree

rng = np.random.default_rng(4)
X = rng.integers(0, 12, (80, 3)).astype(float)
Y = X[:, 0] - (X[:, 0] > 6) * 5 + X[:, 1] * rng.normal(size=80)
SMALL = {"n_estimators": 6, "min_samples_leaf": 3}
KINDS = {"cegb": cegb, "gbrt": gbrt, "miser": greedy_miser}


def along(model, m):
    """Scores of some rows as one feature grows, (steps, rows)."""
    rows = np.tile(X[:20], (25, 1))
    rows[:, m] = np.repeat(np.linspace(-1, 13, 25), 20)
    return boosting.predict(model, rows)[:, 0].reshape(25, 20)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("kind", KINDS)
def test_scores_keep_the_direction(kind, loss):
    y = Y if loss == "squared" else (np.median(Y) < Y).astype(int)
    free = fit(KINDS[kind], X, y, loss=loss, **SMALL)
    model = fit(KINDS[kind], X, y, loss=loss, monotonic_cst=(1, -1, 0), **SMALL)
    assert np.diff(along(free, 0), axis=0).min() < 0
    assert np.diff(along(model, 0), axis=0).min() >= 0
    assert np.diff(along(model, 1), axis=0).max() <= 0
    assert np.ptp(along(model, 0)) > 0
    assert np.ptp(along(model, 2)) > 0


def test_values_are_the_penalised_optimum():
    """Of one tree: each leaf's value is what a search over numbers finds, λ and all."""
    one_tree = {"n_estimators": 1, "max_leaves": 4, "min_samples_leaf": 3, "learning_rate": 1.0}
    model = fit(cegb, X, Y, reg_lambda=5.0, **one_tree)
    residual = Y - model.initial_scores[0]
    tree = model.rounds[0][0]
    values = predict_tree(tree, X)
    assert len(np.unique(values)) == tree.n_splits + 1 > 2
    for v in np.unique(values):
        r = residual[values == v]
        tried = np.linspace(v - 1, v + 1, 20_001)
        objective = 0.5 * np.sum((r[:, None] - tried) ** 2, axis=0) + 0.5 * 5.0 * tried**2
        assert tried[np.argmin(objective)] == pytest.approx(v, abs=2e-4)


def test_the_gain_is_what_the_split_takes_off():
    """The first split is the best of all that keep the direction, by sums over rows."""
    for sign in (0, 1, -1):
        model = fit(
            gbrt, X[:, :1], Y, n_estimators=1, max_leaves=2, min_samples_leaf=3, reg_lambda=2.0,
            monotonic_cst=(sign,), learning_rate=1.0,
        )  # fmt: skip
        r, best = Y - model.initial_scores[0], (0.0, None)
        for cut in np.unique(X[:, 0])[:-1]:
            left, right = r[X[:, 0] <= cut], r[X[:, 0] > cut]
            v = [np.sum(side) / (len(side) + 2.0) for side in (left, right)]
            if min(len(left), len(right)) < 3 or sign * v[0] > sign * v[1]:
                continue
            whole = np.sum(r) / (len(r) + 2.0)
            after = [
                np.sum((side - u) ** 2) + 2.0 * u**2
                for side, u in zip((left, right), v, strict=True)
            ]
            gain = np.sum((r - whole) ** 2) + 2.0 * whole**2 - sum(after)
            if gain > best[0]:
                best = gain, cut
        if best[1] is None:
            assert model.rounds == []
        else:
            tree = model.rounds[0][0]
            assert tree.gain[0] == pytest.approx(0.5 * best[0], rel=1e-6)
            assert best[1] < tree.threshold[0] < best[1] + 1.5


def test_bounds_are_handed_down():
    assert bounds_of_children(1.0, 3.0, 1, (-9.0, 9.0)) == ((-9.0, 2.0), (2.0, 9.0))
    assert bounds_of_children(3.0, 1.0, -1, (-9.0, 9.0)) == ((2.0, 9.0), (-9.0, 2.0))
    assert bounds_of_children(3.0, 1.0, 0, (-9.0, 9.0)) == ((-9.0, 9.0), (-9.0, 9.0))
    assert Bounded((1,), (-9.0, 2.5)).value(-6.0, 2.0) == 2.5
    assert taken_off(-6.0, 2.0, 3.0) == 18.0  # G²/H
