"""Both intervals, *mixed* and *robust*, by simulation on known truths."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from experiments.claims import pooling
from experiments.claims.declared import Claim, Part, Reading
from experiments.claims.judging import judge
from experiments.claims.pooling import (
    SetMean,
    of_divisions,
    of_queries,
    of_repetitions,
    pooled,
)
from experiments.claims.verdicts import MIXED, NO_EFFECT, OPPOSITE, REPRODUCED, of_claim

LEVEL, ROWS = 0.95, 100


def divided(rng, rows, n_divisions, learned=0.5):
    """Effects of five folds of each division: the mean of the rows tested, and what was trained.

    A model takes a part of its training rows' own noise over; each training has noise of its own,
    each division (where features or bins are drawn for all folds) too.
    """
    effects = []
    for _ in range(n_divisions):
        shared = 0.05 * rng.normal()
        for fold in rng.permutation(len(rows)).reshape(5, -1):
            others = (rows.sum() - rows[fold].sum()) / (len(rows) - len(fold))
            own = 0.1 * rng.normal() + shared
            effects.append(rows[fold].mean() + learned * others + own)
    return np.array(effects)


def covered(draw, n_draws):
    """How often an interval has its truth in it."""
    rng = np.random.default_rng(12)
    found = []
    for _ in range(n_draws):
        interval, truth = draw(rng)
        found.append(interval.low <= truth <= interval.high)
    return np.mean(found)


def off(n_draws):
    """Three standard errors of a coverage of 95 %."""
    return 3 * np.sqrt(LEVEL * (1 - LEVEL) / n_draws)


def on_these(n_divisions, sets=1):
    """These rows' own truth: whole divisions test each row once, and train on each four times."""

    def draw(rng):
        many = [rng.normal(0.3, 1.0, ROWS) for _ in range(sets)]
        truth = np.mean([1.5 * rows.mean() for rows in many])
        means = [of_divisions(divided(rng, rows, n_divisions), 5) for rows in many]
        return pooled(means, LEVEL, 1.0), truth

    return draw


def for_new(of_effects, learned=0.0):
    """The truth of all rows of the kind, of which these are some."""

    def draw(rng):
        effects = divided(rng, rng.normal(0.3, 1.0, ROWS), 4, learned)
        return pooled([of_effects(effects)], LEVEL, 1.0), 0.3 * (1 + learned)

    return draw


def check_on_these(n_draws):
    for n_divisions, sets in ((4, 1), (8, 1), (4, 3)):
        # Satterthwaite's freedom of several sets makes a few divisions wider than they need be.
        assert covered(on_these(n_divisions, sets), n_draws) >= LEVEL - off(n_draws)
    assert covered(on_these(4), n_draws) <= LEVEL + off(n_draws)


def check_for_new(n_draws):
    wide = covered(for_new(lambda effects: of_repetitions(effects, 0.25)), n_draws)
    assert wide >= LEVEL - off(n_draws)
    narrow = covered(for_new(lambda effects: of_divisions(effects, 5)), n_draws)
    assert narrow < 0.9  # that on these data is no answer to the question of others


def test_on_these_data_whole_divisions_cover_their_truth():
    check_on_these(100)


def test_for_new_data_folds_are_wider_and_those_on_these_data_miss():
    check_for_new(150)


@pytest.mark.slow
def test_both_intervals_in_many_draws():
    check_on_these(3_000)
    check_for_new(3_000)


def test_queries_that_all_repetitions_test():
    """On these queries the truth is their mean; for others that of the kind."""

    def draw(of_effects, new):
        def one(rng):
            queries = rng.normal(0.3, 1.0, 40)
            effects = queries + 0.2 * rng.normal(size=(6, 1)) + rng.normal(size=(6, 40))
            return pooled([of_effects(effects)], LEVEL, 1.0), 0.3 if new else queries.mean()

        return one

    n = 800
    assert abs(covered(draw(of_divisions, False), n) - LEVEL) < off(n)
    assert covered(draw(of_queries, True), n) > LEVEL - off(n)
    assert covered(draw(of_divisions, True), n) < 0.85


USED = 1 - 0.05 / 12
"""Level of a claim of twelve that is looked at once."""


def misses(divisions, spreads, n_draws=20_000):
    """How often the interval of sets misses, in parts of what it says; 0 of divisions: 20 draws.

    Means of sets and what is estimated of their variances are drawn; each set varies by its own.
    """
    rng, missed = np.random.default_rng(3), 0
    for _ in range(n_draws):
        sets = []
        for number, spread in zip(divisions, spreads, strict=True):
            n, unit = (number * 5, 5) if number else (20, 1)
            freedom = n // unit - 1
            variance = n * spread**2 * rng.chisquare(freedom) / freedom
            sets.append(SetMean(spread * rng.normal(), n, variance, unit=unit))
        found = pooled(sets, USED, 1.0)
        missed += not found.low <= 0 <= found.high
    return missed / n_draws / (1 - USED)


@pytest.mark.slow
def test_one_set_that_varies_more_than_the_others_at_the_level_of_claims(monkeypatch):
    """Satterthwaite's freedom is an approximation, and of few divisions it shows."""
    assert misses((4, 4, 4), (1, 1, 1)) < 1
    assert misses((0, 0, 4, 4), (1, 1, 1, 1)) < 1.5
    assert 1.5 < misses((0, 0, 4, 4), (1, 1, 4, 0.25)) < 4
    assert misses((0, 0, 8, 8), (1, 1, 4, 0.25)) < 2
    monkeypatch.setattr(pooling, "LEAST_DIVISIONS", 2)
    assert misses((0, 2), (1, 3), 5_000) > 6


def test_of_fewer_than_four_divisions_there_is_no_interval():
    folds = np.random.default_rng(1).normal(3.0, 0.1, 20)
    few, enough = (pooled([of_divisions(folds[:n], 5)], USED, 1.0) for n in (15, 20))
    assert (few.low, few.high, few.finds) == (-np.inf, np.inf, np.inf)
    assert few.effect == pytest.approx(folds[:15].mean())
    assert enough.low > 2
    drawings = of_repetitions(folds[:5])  # repetitions that are no folds may be five
    assert np.isinf(pooled([of_divisions(folds[:15], 5), drawings], USED, 1.0).high)
    assert pooled([drawings], USED, 1.0).low > 2


# --- mixed ----------------------------------------------------------------------------------------


def verdicts_of(truths, n_draws=400, delta=0.5):
    rng = np.random.default_rng(5)
    found = []
    for _ in range(n_draws):
        sets = [of_divisions(truth + rng.normal(size=10)) for truth in truths]
        interval = pooled(sets, 1 - 0.05 / 12, delta)
        found.append(of_claim("direction", interval, interval.of_each(), delta))
    return found


@pytest.mark.parametrize("truths", [(0.0, 0.0, 0.0), (0.3, 0.3), (0.0, 2.0), (-2.0, 0.0)])
def test_sets_that_do_not_go_opposite_ways_are_hardly_called_mixed(truths):
    """In families of twelve claims one in twenty may err: of one claim about one in 240."""
    assert np.mean([verdict == MIXED for verdict in verdicts_of(truths)]) <= 3 / 400


def test_sets_that_do_are_called_mixed_and_never_reproduced():
    found = verdicts_of((4.0, -2.0))
    assert np.mean([verdict == MIXED for verdict in found]) > 0.9
    together = verdicts_of((2.0, -2.0), delta=3.0)  # equivalence of the mean is asked first
    assert np.mean([verdict == NO_EFFECT for verdict in together]) > 0.9


# --- robust ---------------------------------------------------------------------------------------


def judged_with(rng, truth, as_read, n=10, spread=1.0, shared=0.0):
    """A claim and a reading of it; `shared` is the part of the variance that rivals' rows have."""
    both = np.sqrt(shared) * rng.normal(size=n)
    each = (both + np.sqrt(1 - shared) * rng.normal(size=n) for _ in range(2))
    effects = [mean + spread * one for mean, one in zip((truth, as_read), each, strict=True)]
    rows = pd.DataFrame(
        {"dataset": ["claim"] * n + ["reading"] * n, "effect": np.concatenate(effects)}
    )
    parts = [
        Part("toy", name, lambda rows, name=name: rows.loc[rows["dataset"] == name, "effect"].array)
        for name in ("claim", "reading")
    ]
    claim = Claim("toy-x", "X.", "s", "u", 0.5, "half", parts=(parts[0],), looks=(n,))
    claim = dataclasses.replace(claim, readings=(Reading("other", "why", (parts[1],), n),))
    data = {name: {"kind": "real", "test_overlap": 0.0} for name in ("claim", "reading")}
    return judge(claim, {"toy": (rows, {"data": data})}, 12)


def test_readings_of_one_truth_hardly_contradict_and_those_of_another_do():
    rng = np.random.default_rng(3)
    same = [judged_with(rng, 3.0, 3.0) for _ in range(50)]
    assert np.mean([one.verdict == REPRODUCED for one in same]) > 0.95
    assert not any(one.readings[0].contradicts(one) for one in same)
    vague = [judged_with(rng, 3.0, 0.0) for _ in range(50)]  # what is open contradicts nothing
    assert np.mean([one.readings[0].verdict == "undecided" for one in vague]) > 0.9
    assert np.mean([one.robust == "yes" for one in vague]) > 0.9
    other = [judged_with(rng, 3.0, -3.0) for _ in range(50)]
    assert np.mean([one.readings[0].verdict == OPPOSITE for one in other]) > 0.95
    assert np.mean([one.robust == "yes" for one in other]) < 0.05


@pytest.mark.parametrize("shared", [0.0, 0.8])
@pytest.mark.parametrize("truth", [-0.25, 0.0, 0.25, 0.5])
def test_near_a_bound_readings_of_one_truth_hardly_contradict_either(truth, shared):
    """Verdicts then differ by chance, as small and as none, and can both hold; δ is 0.5."""
    rng = np.random.default_rng(4)
    found = [judged_with(rng, truth, truth, n=20, spread=0.3, shared=shared) for _ in range(200)]
    assert np.mean([one.readings[0].contradicts(one) for one in found]) < 0.02
