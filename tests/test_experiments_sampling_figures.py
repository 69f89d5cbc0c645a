"""Figures 1 to 3 of the adaptive-sampling paper, and Theorem 1."""

import math
from itertools import pairwise

import pytest
from scipy import stats

from experiments.style import LOOKS
from reference import adaptive_sampling

METHODS = (
    *("best_family", "uniform_naive", "uniform_1q", "uniform_q1", "ucb", "exp3p", "epsilon_greedy"),
    *("tasting_1q", "tasting_q1", "mas_naive", "mas_1q", "mas_q1", "laminating"),
)


def lightness(colour):
    """Relative luminance of a colour, 0 black to 1 white, as in the WCAG."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_thirteen_methods_have_looks_visible_on_white():
    looks = [LOOKS[method] for method in METHODS]
    assert len({look.marker for look in looks}) == len(METHODS)
    assert all(lightness(look.colour) < 0.55 for look in looks)


def test_methods_of_a_kind_differ_in_lightness():
    for kind in ("uniform_", "tasting_", "mas_"):
        found = sorted(lightness(LOOKS[m].colour) for m in METHODS if m.startswith(kind))
        assert all(b > 1.3 * a for a, b in pairwise(found)), kind


# --- Theorem 1 ------------------------------------------------------------------------------------


def test_the_bounds_that_follow():
    C = adaptive_sampling.C
    assert pytest.approx(5.862, abs=5e-4) == C
    assert 2 * C * C == pytest.approx(69, abs=0.5)
    # Theorem 1 is the union bound of Lemma 1 over iterations that share out δ.
    delta, S = 0.5, 4000
    for divisor, bound in (
        (adaptive_sampling.OF_VOTES, adaptive_sampling.failure_bound_of_votes(delta, S)),
        (adaptive_sampling.PRINTED, 4 / (1 - math.exp(-(delta**2) * S / (2 * C * C))) - 4),
    ):
        shares = [delta / C * math.sqrt(k / 2 ** (k - 1)) for k in range(1, 60)]
        assert sum(shares) == pytest.approx(delta)
        terms = [
            adaptive_sampling.lemma_bound(share, S * 2**k, divisor)
            for k, share in enumerate(shares)
        ]
        assert sum(terms) == pytest.approx(bound)


def test_lemma_1_as_printed_is_false():
    """Two learners of edges δ/2 and -δ/2 that always disagree: the exact probability."""
    delta, S = 0.5, 48
    fails = stats.binom.cdf(S // 2, S, (1 + delta / 2) / 2)  # the better one is not ahead
    assert fails == pytest.approx(0.05, abs=0.005)
    assert adaptive_sampling.lemma_bound(delta, S) == pytest.approx(0.01, abs=0.001)
    for n in range(1, 400):  # with Hoeffding's inequality for votes it holds
        fails = stats.binom.cdf(n // 2, n, (1 + delta / 2) / 2)
        assert fails <= adaptive_sampling.lemma_bound(delta, n, adaptive_sampling.OF_VOTES)
