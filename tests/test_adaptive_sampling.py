"""Maximum Adaptive Sampling: what a round costs, what it finds, and the two twins."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.feature_sampling import SAMPLERS
from reference import adaboost_mh as reference
from reference import adaptive_sampling, edge_models, sample_sizes
from tests.test_adaboost_mh import (
    assert_same_rounds,
    assert_twins,
    draw_data,
    reference_of,
    twin_of,
)

OURS = {name: cls for name, cls in SAMPLERS.items() if name.startswith("mas_")}


def informative_family(rng, n_samples=400, n_noise=60):
    """Four classes, which of three families only the second one, of 12 features, knows."""
    y = rng.integers(0, 4, n_samples)
    signal = 40 * y[:, None] + rng.integers(0, 100, (n_samples, 12))
    noise = rng.integers(0, 256, (n_samples, n_noise))
    X = np.concatenate([noise[:, :30], signal, noise[:, 30:]], axis=1).astype(np.uint8)
    return X, y, [np.arange(30), np.arange(30, 42), np.arange(42, 12 + n_noise)]


# --- Costs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("max_cost", [3, 10, 40])
def test_a_round_costs_what_it_may_and_all_evaluations_one_pass_more(name, max_cost):
    X, y, families = informative_family(np.random.default_rng(1))
    model = AdaBoostMH(
        sampler=name, families=families, max_cost=max_cost, n_estimators=20, random_state=0
    ).fit(X, y)
    paper, everything = model.sampling_cost_.T
    assert (paper <= max_cost * 400).all()
    if max_cost == 3:  # less than any family has: only what no whole feature can be had for is left
        assert (paper > 0.75 * max_cost * 400).all()
    assert (everything <= paper + 400).all()  # the chosen one, unless searched on all already


def test_sizes_of_the_pilot():
    """A tenth of 10 N, shared by K families; Q_0 = 10 features, or fewer if S_0 would be less."""
    X = np.broadcast_to(np.uint8(0), (60_000, 1))
    for n, K, sizes in [(60_000, 19, (10, 315)), (1515, 33, (6, 7)), (100, 200, (1, 1))]:
        problem = reference.Problem(X[:n], None, [np.arange(1)] * K, 10, 5)
        assert adaptive_sampling.pilot_sizes(problem) == sizes


def test_a_pilot_is_paid_for():
    X, y, families = informative_family(np.random.default_rng(2))
    options = {"families": families, "max_cost": 10, "n_estimators": 1}
    Y = np.where(y[:, None] == np.arange(4), 1, -1)
    for name in ("mas_1q", "mas_q1"):
        (decision,) = reference.fit(
            X, Y, twin_of(name)(), rng=np.random.default_rng(0), **options
        ).trace
        # 400 / 3 = 133.3: 10 features on 13 examples, of each of three families.
        rest = decision.paper_cost - 3 * 10 * 13
        sizes = [400 >> i for i in range(9)]
        assert rest in {min(int((4000 - 390) // S), 72) * S for S in sizes} | {
            12 * S for S in sizes
        }


def test_naive_begins_in_the_middle():
    assert adaptive_sampling.middle_sizes(600_000.0, 60_000, 16_775) == (775, 774)
    assert adaptive_sampling.middle_sizes(600_000.0, 60_000, 784) == (775, 774)
    assert adaptive_sampling.middle_sizes(600_000.0, 60_000, 50) == (50, 774)
    assert adaptive_sampling.middle_sizes(1e6, 100, 50) == (50, 100)
    assert adaptive_sampling.middle_sizes(0.5, 1, 50) == (1, 1)


def test_naive_goes_by_the_model_of_the_round_before(monkeypatch):
    X, y = draw_data(np.random.default_rng(5), 90, 20, 3)
    Y = np.where(y[:, None] == np.arange(3), 1, -1)
    fitted, asked = [], []

    def fit_mixture(edges, n_components):
        fitted.append(edge_models.fit_mixture(edges, n_components))
        return fitted[-1]

    def best_family_sizes(mixtures, *arguments):
        asked.extend(mixtures)
        return sample_sizes.best_family_sizes(mixtures, *arguments)

    monkeypatch.setattr(adaptive_sampling, "fit_mixture", fit_mixture)
    monkeypatch.setattr(adaptive_sampling, "best_family_sizes", best_family_sizes)
    rng = np.random.default_rng(0)
    reference.fit(X, Y, adaptive_sampling.mas_naive(), n_estimators=5, max_cost=3, rng=rng)
    assert len(fitted) == 5
    assert all(a is b for a, b in zip(asked, fitted[:4], strict=True))
    assert len({mixture.means.tobytes() for mixture in fitted}) == 5


# --- What is found -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mas_1q", "mas_q1"])
def test_models_of_the_families_find_the_informative_one(name):
    X, y, families = informative_family(np.random.default_rng(3), n_samples=2000, n_noise=600)
    model = AdaBoostMH(sampler=name, families=families, n_estimators=10, random_state=0).fit(X, y)
    naive = AdaBoostMH(sampler="uniform_naive", n_estimators=10, random_state=0)
    assert np.isin(model.stumps_.feature, families[1]).sum() >= 8
    assert model.train_loss_[-1] < naive.fit(X, y).train_loss_[-1]


@pytest.mark.parametrize("name", ["mas_naive", "mas_q1"])
def test_whoever_can_pay_for_all_features_on_all_examples_finds_the_best(name):
    X, y = draw_data(np.random.default_rng(4), 60, 9, 3)
    exact = AdaBoostMH(n_estimators=6).fit(X, y)
    for max_cost in (20.0, 1e300):
        model = AdaBoostMH(sampler=name, max_cost=max_cost, n_estimators=6, random_state=0)
        np.testing.assert_array_equal(model.fit(X, y).stumps_.alpha[1:], exact.stumps_.alpha[1:])


# --- The two twins -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("seed", range(5))
def test_equals_reference_whatever_its_parameters(name, seed):
    rng = np.random.default_rng([2017, seed])
    X, y = draw_data(rng, int(rng.integers(8, 200)), 24, int(rng.integers(2, 6)))
    options = {
        "n_components": int(rng.choice([1, 2, 3, 5])),
        "by_weight": bool(rng.integers(2)),
        "deconvolve": bool(rng.integers(2)),
    }
    sizes = np.cumsum([1, 2, 14, 7])[: int(rng.integers(1, 5)) - 1]
    model = AdaBoostMH(
        sampler=OURS[name](**options),
        families=np.split(rng.permutation(24), sizes),
        max_cost=float(rng.choice([0.1, 1, 5, 10, 30])),
        n_estimators=8,
        random_state=seed,
        n_threads=1,
    )
    model.set_params(families=[family for family in model.families if len(family)])
    assert_twins(model, X, y, twin=lambda: twin_of(name)(**options))


@pytest.mark.parametrize("name", OURS)
def test_examples_that_weigh_nothing(name):
    """Drawn uniformly, a sample may hold nothing but rows whose weight is rounded to 0."""
    X, y = draw_data(np.random.default_rng(6), 60, 6, 3)
    weights = np.full(60, 0.1)
    weights[5:] = 1e-13  # of the largest: less than any step of the grid
    model = AdaBoostMH(
        sampler=OURS[name](by_weight=False), max_cost=0.4, n_estimators=20, random_state=0
    )
    with np.errstate(invalid="raise", divide="raise"):
        model.fit(X, y, sample_weight=weights)
        twin = reference_of(model, X, y, lambda: twin_of(name)(by_weight=False), weights)
    assert_same_rounds(model, twin)


# --- Bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", OURS.values())
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be a whole number >= 1, got 0"),
        ({"n_components": 2.5}, "n_components must be a whole number >= 1, got 2.5"),
        ({"by_weight": "no"}, "by_weight must be True or False, got 'no'"),
        ({"deconvolve": 1}, "deconvolve must be True or False, got 1"),
    ],
)
def test_bad_parameters(sampler, parameters, message):
    with pytest.raises(ValueError, match=message):
        AdaBoostMH(sampler=sampler(**parameters)).fit(np.eye(3, dtype=np.uint8), [0, 1, 1])
