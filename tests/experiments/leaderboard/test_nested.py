"""The nested interval on known truths: it covers the mean of all sets as often as it says."""

import numpy as np
import pytest

from experiments.leaderboard.nested import nested

N_SETS, REPETITIONS = 12, 4000


def drawn(rng, of_sets, of_divisions, divisions, skewed=False):
    """Differences of areas by set, whose mean over all sets of the kind is 0.1."""
    effects = rng.exponential(size=N_SETS) - 1 if skewed else rng.normal(size=N_SETS)
    return [0.1 + of_sets * effect + of_divisions * rng.normal(size=divisions)
            for effect in effects]  # fmt: skip


@pytest.mark.parametrize(
    ("of_sets", "of_divisions", "divisions", "skewed"),
    [
        (0.08, 0.07, 5, False),
        *(
            pytest.param(*truth, marks=pytest.mark.slow)
            for truth in ((0.0, 0.07, 3, False), (0.08, 0.07, 1, False), (0.08, 0.07, 5, True))
        ),
    ],
)
def test_it_covers_the_truth_as_often_as_it_says(of_sets, of_divisions, divisions, skewed):
    rng = np.random.default_rng(7)
    found = [
        nested(drawn(rng, of_sets, of_divisions, divisions, skewed)) for _ in range(REPETITIONS)
    ]
    covered = np.mean([one.low <= 0.1 <= one.high for one in found])
    # Of 4,000 repetitions, ± .007; sets of which a few differ far from the others cost some more.
    assert (0.925 if skewed else 0.943) <= covered <= 0.957
    if divisions > 1:
        seen = np.sqrt(np.mean([one.of_divisions**2 for one in found]))
        assert seen == pytest.approx(of_divisions, rel=0.03)
        between = np.sqrt(np.mean([one.of_sets**2 for one in found]))
        assert between == pytest.approx(of_sets, rel=0.05) or (of_sets == 0 and between < 0.03)


def test_divisions_are_no_sets():
    """Were each division of a set counted as a set, the interval would miss the truth often."""
    rng = np.random.default_rng(8)
    covered = []
    for _ in range(REPETITIONS // 4):
        values = np.concatenate(drawn(rng, 0.08, 0.03, 5))
        wrong = nested([np.array([value]) for value in values])
        covered.append(wrong.low <= 0.1 <= wrong.high)
    assert np.mean(covered) < 0.8


def test_the_width_with_more_divisions_is_predicted():
    rng = np.random.default_rng(9)
    few = [nested(drawn(rng, 0.08, 0.15, 3)) for _ in range(REPETITIONS // 4)]
    many = [nested(drawn(rng, 0.08, 0.15, 5)) for _ in range(REPETITIONS // 4)]
    predicted = np.mean([one.half_with(5) for one in few])
    assert predicted == pytest.approx(np.mean([one.half for one in many]), rel=0.04)
    assert predicted < 0.93 * np.mean([one.half for one in few])


def test_by_hand_and_what_cannot_be_said():
    one = nested([np.array([0.1, 0.3]), np.array([0.4, 0.4, 0.4])])
    assert one.mean == pytest.approx(0.3)
    assert one.half == pytest.approx(12.706 * 0.1, rel=1e-3)  # t of one degree of freedom
    assert one.of_divisions == pytest.approx(np.sqrt(0.02 / 3))
    assert np.isnan(nested([np.array([0.1, 0.2])]).half)
    single = nested([np.array([0.1]), np.array([0.3])])
    assert np.isnan(single.of_divisions)
    assert np.isnan(single.half_with(5))
