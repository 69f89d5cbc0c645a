"""Equals in a random order: Laminating, M.A.S. Q.1 and the first sweep of UCB, and their twins."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.adaptive_sampling import MASQ1, Laminating
from algorithms.feature_sampling import UCB
from reference import adaptive_sampling, edge_models, feature_sampling, sample_sizes
from tests.test_adaboost_mh import assert_twins, draw_data

PAIRS = {
    "laminating": (
        lambda: Laminating(n_examples=5, ties="spread"),
        lambda: adaptive_sampling.laminating(n_examples=5, ties="spread"),
    ),
    "mas_q1": (lambda: MASQ1(ties="spread"), lambda: adaptive_sampling.mas_q1(ties="spread")),
    "ucb": (lambda: UCB(2.0, shuffle=True), lambda: feature_sampling.ucb(2.0, shuffle=True)),
}


def model_of(sampler, families, **options):
    options = {"n_estimators": 8, "max_cost": 4, "random_state": 0, "n_threads": 1} | options
    return AdaBoostMH(sampler=sampler, families=families, **options)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("seed", range(3))
def test_twins_are_equal(name, seed):
    """Few levels, copies of features and small samples: edges are often equal."""
    rng = np.random.default_rng([2018, seed])
    ours, theirs = PAIRS[name]
    X, y = draw_data(rng, int(rng.integers(20, 150)), 12, int(rng.integers(2, 8)))
    X = np.concatenate([X, X], axis=1)
    families = np.split(rng.permutation(24), [1, 5, 6, 15])
    options = {"max_cost": float(rng.choice([0.5, 3, 10])), "random_state": seed}
    assert_twins(model_of(ours(), families, **options), X, y, twin=theirs)


@pytest.mark.parametrize(
    ("sampler", "spread"),
    [
        (Laminating(n_features=8), Laminating(n_features=8, ties="spread")),
        (MASQ1(), MASQ1(ties="spread")),
        (UCB(), UCB(shuffle=True)),
    ],
)
def test_of_copies_any_is_taken(sampler, spread):
    """Eight copies of one feature, a family each: by default always the lowest, else any."""
    column = np.repeat([0, 1, 2, 3], 20)[:, None]
    X, y = np.tile(column, (1, 8)).astype(np.uint8), np.repeat([0, 1, 0, 1], 20)
    families = [np.array([k]) for k in range(8)]
    first = []
    for seed in range(12):
        for one in (sampler, spread):
            model = model_of(one, families, n_estimators=1, max_cost=4, random_state=seed)
            first.append(int(model.fit(X, y).stumps_.feature[0]))
    assert set(first[0::2]) == {0}
    assert len(set(first[1::2])) > 3


def test_families_that_promise_the_same_take_turns():
    mixture = edge_models.fit_mixture(np.array([0.2, 0.2, 0.2]), 1)
    options = ([mixture] * 3, [50, 50, 50], 100, 1_000.0)
    counts, S, _ = sample_sizes.greedy_sizes(*options)
    assert counts.max() - counts.min() > 1
    spread, same, _ = sample_sizes.greedy_sizes(*options, order=np.array([2, 0, 1]))
    assert same == S
    assert spread.sum() == counts.sum()
    assert spread.max() - spread.min() <= 1
    assert spread[2] >= spread[0] >= spread[1]


def test_halving_keeps_equals_by_their_places():
    features, edges = np.array([2, 3, 5, 7]), np.array([4, 4, 4, 9])
    kept = adaptive_sampling.best_half(features, edges, np.array([1, 3, 0, 2]))
    np.testing.assert_array_equal(kept, [5, 7])


def test_the_first_sweep_meets_every_arm_once():
    sampler = UCB(shuffle=True)
    X, y = draw_data(np.random.default_rng(0), 60, 6, 3)
    families = [np.array([k]) for k in range(6)]
    rows = model_of(sampler, families, n_estimators=6).fit(X, y).family_rows_
    assert (rows.sum(axis=1) == 60).all()
    assert (rows.sum(axis=0) == 60).all()


@pytest.mark.parametrize(
    ("sampler", "message"),
    [
        (Laminating(ties="random"), "ties must be 'lowest' or 'spread', got 'random'"),
        (MASQ1(ties=None), "ties must be 'lowest' or 'spread', got None"),
        (UCB(shuffle=1), "shuffle must be True or False, got 1"),
    ],
)
def test_bad_parameters(sampler, message):
    with pytest.raises(ValueError, match=message):
        AdaBoostMH(sampler=sampler).fit(np.eye(3, dtype=np.uint8), [0, 1, 1])
