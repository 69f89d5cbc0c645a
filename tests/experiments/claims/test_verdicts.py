"""Every verdict is read off one interval."""

from __future__ import annotations

import pytest

from experiments.claims import verdicts
from experiments.claims.pooling import Pooled


def interval(low, high, effect=None) -> Pooled:
    effect = (low + high) / 2 if effect is None else effect
    return Pooled(effect, low, high, 9.0, (), 0.95, 1.0)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.1, 3.0, "reproduced"),
        (0.1, 1.5, "undecided"),  # above 0; whether it is of interest is open
        (0.1, 0.9, "right way, too small"),
        (-0.5, 0.9, "no effect (equivalent)"),
        (-3.0, 0.9, "not better"),
        (-3.0, -0.1, "opposite"),
        (-0.5, -0.1, "opposite"),
        (-0.5, 1.5, "undecided"),
        (0.0, 3.0, "undecided"),
        (-1.0, 1.0, "undecided"),
    ],
)
def test_directions(low, high, expected):
    assert verdicts.of_direction(interval(low, high), 1.0) == expected


@pytest.mark.parametrize(
    ("low", "high", "same", "loses_less"),
    [
        (-0.9, 0.9, "reproduced", "reproduced"),
        (-0.9, 1.1, "undecided", "reproduced"),
        (1.1, 3.0, "opposite", "reproduced"),
        (-3.0, -1.1, "opposite", "opposite"),
        (-1.1, 0.5, "undecided", "undecided"),
        (-1.0, 1.0, "undecided", "undecided"),
    ],
)
def test_equivalence_and_margins(low, high, same, loses_less):
    assert verdicts.of_equivalence(interval(low, high), 1.0) == same
    assert verdicts.of_margin(interval(low, high), 1.0) == loses_less


def test_each_verdict_has_a_sign_of_its_own():
    assert len(set(verdicts.SIGNS.values())) == len(verdicts.VERDICTS)


@pytest.mark.parametrize(
    ("one", "other", "do"),
    [
        (verdicts.REPRODUCED, verdicts.NO_EFFECT, True),
        (verdicts.REPRODUCED, verdicts.NOT_BETTER, True),
        (verdicts.REPRODUCED, verdicts.REPRODUCED, False),
        (verdicts.REPRODUCED, verdicts.UNDECIDED, False),
        (verdicts.NO_EFFECT, verdicts.OPPOSITE, True),
        (verdicts.NO_EFFECT, verdicts.NOT_BETTER, False),
        (verdicts.OPPOSITE, verdicts.NOT_BETTER, False),
        (verdicts.MIXED, verdicts.NOT_BETTER, True),
    ],
)
def test_which_verdicts_contradict_each_other(one, other, do):
    assert verdicts.contradict(one, other) == verdicts.contradict(other, one) == do
