"""Intervals of rates, and in what words data are called real."""

import pytest

from experiments.data_kinds import kind_in_words
from experiments.estimates import rate_interval


def test_interval_of_a_rate_by_hand():
    """Of 20 trials in which nothing failed: the rate at which that happens once in forty times."""
    assert rate_interval(0, 20) == pytest.approx((0, 1 - 0.025 ** (1 / 20)))
    assert rate_interval(20, 20) == pytest.approx((0.025 ** (1 / 20), 1))


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"kind": "real"}, "real"),
        ({"kind": "real", "missing": "nothing", "selection": "all"}, "real"),
        ({"kind": "real", "missing": "the last file"}, "real, a part"),
        ({"kind": "real", "selection": "the first 2,000"}, "real, a part"),
        ({"kind": "synthetic", "missing": "all"}, "synthetic"),
    ],
)
def test_what_lacks_anything_is_a_part(record, words):
    assert kind_in_words(record) == words
