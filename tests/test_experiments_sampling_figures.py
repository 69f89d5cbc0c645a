"""Figures 1 to 3 of the adaptive-sampling paper, and Theorem 1."""

from itertools import pairwise

from experiments.style import LOOKS

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
