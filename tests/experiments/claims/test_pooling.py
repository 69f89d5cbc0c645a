"""The pooled effect by hand, by SciPy and by simulation on known truths."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from experiments.claims import pooling
from experiments.claims.pooling import (
    SetMean,
    chance,
    enough,
    of_drawn_queries,
    of_queries,
    of_repetitions,
    pooled,
)
from experiments.claims.verdicts import UNDECIDED, of_direction

DRAWS = 2000


def test_one_set_is_the_plain_t_interval():
    values = np.array([0.3, 0.1, 0.5, 0.2])
    found = pooled([of_repetitions(values)], 0.9, 0.1)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert (found.n, found.tau) == (4, 0.0)


def test_two_sets_are_welchs_interval_of_half_a_sum():
    one, two = np.array([0.3, 0.1, 0.5, 0.2, 0.3]), np.array([1.0, 1.4, 0.1])
    found = pooled([of_repetitions(one), of_repetitions(two)], 0.95, 0.1)
    expected = stats.ttest_ind(one, -two, equal_var=False).confidence_interval(0.95)
    assert (2 * found.low, 2 * found.high) == pytest.approx((expected.low, expected.high))


def test_crossed_components_by_the_textbook():
    # Rows and columns without a rest: mean squares are exact.
    table = np.add.outer([0.0, 1.0, 2.0], [0.0, 0.0, 3.0, 3.0])
    found = of_queries(table)
    assert found.both == pytest.approx(0.0, abs=1e-12)
    assert found.repetition == pytest.approx(np.var([0, 1, 2], ddof=1))
    assert found.query == pytest.approx(np.var([0, 0, 3, 3], ddof=1))
    assert found.variance() == pytest.approx(found.repetition / 3 + found.query / 4)
    assert found.floor() == pytest.approx(found.query / 4)


@pytest.mark.parametrize(("n", "n_queries"), [(2, 9), (6, 6), (5, 30)])
def test_freedom_of_crossed_effects_by_the_textbook(n, n_queries):
    """Also where two mean squares have the same number of degrees of freedom."""
    one = SetMean(0.0, n, repetition=0.5, both=2.0, query=0.3, n_queries=n_queries)
    rows, columns, rest = 2.0 + n_queries * 0.5, 2.0 + n * 0.3, 2.0
    spread = rows**2 / (n - 1) + columns**2 / (n_queries - 1)
    spread += rest**2 / ((n - 1) * (n_queries - 1))
    assert one.freedom() == pytest.approx((rows + columns - rest) ** 2 / spread)


def test_spread_between_sets_is_beyond_noise():
    quiet = [SetMean(effect, 10, 1e-6) for effect in (0.0, 1.0)]
    noisy = [SetMean(effect, 10, 100.0) for effect in (0.0, 1.0)]
    assert pooled(quiet, 0.95, 0.1).tau == pytest.approx(math.sqrt(0.5), rel=1e-3)
    assert pooled(noisy, 0.95, 0.1).tau == 0.0


def decided(found):
    return found.low > 0 or found.high < found.delta


def test_enough_is_the_first_number_that_decides_more_likely_than_not():
    found = pooled([SetMean(0.4, 5, 1.0)], 0.95, 0.5)
    n = int(enough(found, 5, decided))
    assert chance(found.sets, n, 0.95, 0.5, decided) > 0.5
    assert chance(found.sets, n - 1, 0.95, 0.5, decided) <= 0.5


def test_enough_is_where_the_half_width_is_less_than_the_effect():
    """There the effect to come is as likely above it as below; a chance is a number of 400ths."""
    found = pooled([SetMean(0.2, 5, 1.0)], 0.95, 0.5)
    half = [stats.t.ppf(0.975, n - 1) / math.sqrt(n) for n in range(2, 200)]
    first = next(n for n, width in enumerate(half, start=2) if width < 0.2)
    assert first <= enough(found, 5, lambda later: later.low > 0) <= first + 1


def test_no_repetitions_are_enough_for_few_test_rows_or_an_effect_of_delta():
    shared = pooled([SetMean(0.4, 5, 1.0, shared=0.25)], 0.95, 0.5)
    assert math.isinf(enough(shared, 5, decided))
    near = pooled([SetMean(0.45, 5, 1.0)], 0.95, 0.5)
    assert math.isinf(enough(near, 5, lambda found: found.low > found.delta))
    assert math.isinf(enough(near, pooling.MOST_REPETITIONS, decided))


def test_what_never_varies_has_no_error():
    found = pooled([of_repetitions(np.array([0.1] * 6))], 0.95, 0.05)
    assert (found.low, found.high) == (found.effect, found.effect)


@pytest.mark.parametrize("values", [[], [1.0], [math.nan, 1.0]])
def test_too_few_repetitions_are_refused(values):
    with pytest.raises(ValueError, match="needs two"):
        of_repetitions(np.array(values))


def test_crossed_effects_are_checked():
    for table in (np.zeros((1, 5)), np.zeros((5, 1)), np.zeros(5)):
        with pytest.raises(ValueError, match="two repetitions and two queries"):
            of_queries(table)
    with pytest.raises(ValueError, match="NaN"):
        of_queries(np.full((2, 2), math.nan))


# --- Simulated on known truths --------------------------------------------------------------------


def missed(draw, level=0.95) -> float:
    """Share of simulated intervals that miss the truth, which is 0."""
    rng = np.random.default_rng(2026)
    out = 0
    for _ in range(DRAWS):
        found = pooled(draw(rng), level, 1.0)
        out += not found.low <= 0 <= found.high
    return out / DRAWS


def tolerance(rate: float) -> float:
    """Four standard errors of a simulated rate."""
    return 4 * math.sqrt(rate * (1 - rate) / DRAWS)


@pytest.mark.parametrize(
    ("n", "scales"), [(5, (1.0,)), (20, (1.0, 1.0)), (12, (1.0, 5.0)), (5, (1.0, 2.0, 3.0, 10.0))]
)
def test_intervals_of_normal_noise_hold(n, scales):
    rate = missed(lambda rng: [of_repetitions(rng.normal(0, s, n)) for s in scales])
    assert rate <= 0.05 + tolerance(0.05)
    assert rate >= 0.03 - tolerance(0.03)  # nor are they much too wide


def test_intervals_of_heavy_tails_are_wide_enough():
    rate = missed(lambda rng: [of_repetitions(rng.standard_t(3, 5)) for _ in range(3)])
    assert rate <= 0.05 + tolerance(0.05)


def test_intervals_of_skewed_noise_miss_a_little_more_often():
    """The t interval's known weakness; four sets with noise skewed the same way are the worst."""
    rate = missed(lambda rng: [of_repetitions(rng.exponential(1, 12) - 1) for _ in range(4)])
    assert rate <= 0.09


def test_ties_do_not_harm():
    rate = missed(lambda rng: [of_repetitions(np.round(rng.normal(0, 1, 12))) for _ in range(2)])
    assert rate <= 0.05 + tolerance(0.05)


@pytest.mark.parametrize(
    ("n", "n_queries", "spread"),
    [(5, 25, (1.0, 1.0, 1.0)), (10, 60, (0.0, 1.0, 3.0)), (20, 60, (0.3, 0.0, 1.0))],
)
def test_crossed_intervals_hold_for_new_trainings_and_queries(n, n_queries, spread):
    of_training, of_query, of_both = spread

    def draw(rng):
        table = rng.normal(0, of_both, (n, n_queries))
        table += rng.normal(0, of_training, (n, 1)) + rng.normal(0, of_query, (1, n_queries))
        return [of_queries(table)]

    assert missed(draw) <= 0.05 + tolerance(0.05)


def test_a_bootstrap_over_queries_alone_would_miss():
    """Why repetitions are a factor: what trainings share is no noise of queries."""
    rng, out = np.random.default_rng(1), 0
    for _ in range(1000):
        table = rng.normal(0, 1, (5, 60)) + rng.normal(0, 1, (5, 1))
        of_query = table.mean(axis=0)
        half = stats.t.ppf(0.975, 59) * of_query.std(ddof=1) / math.sqrt(60)
        out += abs(of_query.mean()) > half
    assert out / 1000 > 0.5


def folds(rng, divisions: int, learned: float) -> list[SetMean]:
    """Five folds of 200 rows, divided anew `divisions` times.

    A fold's effect is the mean of its test rows, and a part of the mean of its training rows'
    noise, as a model that has learned it would have.
    """
    rows, effects = rng.normal(0, 1, 200), []
    for _ in range(divisions):
        order = rng.permutation(200).reshape(5, 40)
        for fold in order:
            others = (rows.sum() - rows[fold].sum()) / 160
            effects.append(rows[fold].mean() + learned * others)
    return [of_repetitions(np.array(effects), shared=0.25)]


def test_folds_widened_by_a_quarter_hold():
    assert missed(lambda rng: folds(rng, 2, 0.0)) <= 0.05 + tolerance(0.05)


@pytest.mark.slow
def test_folds_whose_models_learn_the_same_miss_more_often():
    """The quarter assumes that two folds' effects correlate by a fifth; where they do more, effects
    of single queries are the better way (`of_queries`)."""
    assert missed(lambda rng: folds(rng, 2, 0.2)) < 0.09
    assert 0.05 + tolerance(0.05) < missed(lambda rng: folds(rng, 2, 0.5)) < 0.2


def test_drawn_queries_of_a_complete_table_are_those_of_all():
    rng = np.random.default_rng(5)
    table = rng.normal(size=(6, 40)) + rng.normal(size=(6, 1)) + 2 * rng.normal(size=40)
    one, other = of_queries(table), of_drawn_queries(table)
    for name in ("effect", "n", "repetition", "both", "query", "n_queries"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-9)
    with pytest.raises(ValueError, match="tested twice"):
        of_drawn_queries(np.where(np.eye(2) > 0, 1.0, np.nan))


def test_drawn_queries_cover_the_truth_as_often_as_they_say():
    """Draws that test three of five pictures; components and coverage are those of the truth."""
    rng, level, hits, found = np.random.default_rng(6), 0.9, [], []
    for _ in range(400):
        table = 0.3 + 0.1 * rng.normal(size=(8, 1)) + 0.5 * rng.normal(size=60)
        table = table + rng.normal(size=table.shape)
        for line in table:
            line[rng.permutation(60)[:24]] = np.nan
        mean = of_drawn_queries(table)
        interval = pooled([mean], level, 1.0)
        hits.append(interval.low <= 0.3 <= interval.high)
        found.append((mean.repetition, mean.query, mean.variance()))
    assert 0.86 < np.mean(hits) < 0.97
    repetition, query, variance = np.mean(found, axis=0)
    # Components are cut at 0, which lifts a small one.
    assert 0.01 <= repetition < 0.03
    assert query == pytest.approx(0.25, rel=0.1)
    assert variance == pytest.approx(0.01 / 8 + 0.25 / 60 + 1 / (8 * 36), rel=0.2)


# --- the chance of a verdict ----------------------------------------------------------------------


def decides(one) -> bool:
    return of_direction(one, 0.5) != UNDECIDED


def plain_sets(rng, truth):
    """Two sets whose repetitions vary differently, as after n repetitions."""
    drawn = [truth + scale * rng.normal(size=40) for scale in (2.0, 5.0)]
    return lambda n: [of_repetitions(values[:n]) for values in drawn]


def crossed_sets(rng, truth):
    """One set whose few queries are always the same."""
    table = truth + 0.5 * rng.normal(size=(40, 1)) + 1.5 * rng.normal(size=(1, 15))
    table = table + rng.normal(size=table.shape)
    return lambda n: [of_queries(table[:n])]


@pytest.mark.slow
@pytest.mark.parametrize("draw", [plain_sets, crossed_sets])
def test_a_verdict_comes_as_often_as_was_predicted(draw):
    rng, said, came = np.random.default_rng(21), [], []
    for truth in rng.uniform(-4, 4, 600):
        after = draw(rng, truth)
        said.append(chance(after(10), 40, 0.99, 0.5, decides))
        came.append(decides(pooled(after(40), 0.99, 0.5)))
    said, came = np.array(said), np.array(came)
    assert np.ptp(said) > 0.8
    for third in np.array_split(np.argsort(said), 3):
        assert abs(said[third].mean() - came[third].mean()) < 3 * 0.5 / math.sqrt(len(third))


def test_what_is_shared_by_all_repetitions_keeps_a_verdict_away():
    few_queries = SetMean(0.0, 10, repetition=1e-6, query=4.0, n_queries=9)
    assert chance([few_queries], 1_000, 0.95, 0.5, decides) == 0
    many_queries = SetMean(0.0, 10, repetition=1e-6, query=4.0, n_queries=9_000)
    assert chance([many_queries], 1_000, 0.95, 0.5, decides) == 1


def test_the_chance_of_no_more_repetitions_is_what_is_known():
    now = [SetMean(2.0, 10, repetition=1.0)]
    assert chance(now, 10, 0.95, 0.5, decides) == decides(pooled(now, 0.95, 0.5)) == 1
    assert now[0].moves(10) == now[0].moves(5) == 0
    assert now[0].moves(40) == pytest.approx(1 / 10 - 1 / 40)
