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
        ((0.5, 2.0), (-0.5, 0.9), True),  # an effect of 1 or more, and one below 1
        ((0.5, 2.0), (-3.0, 0.9), True),
        ((0.5, 2.0), (0.1, 4.0), False),
        ((0.5, 2.0), (-0.5, 1.5), False),  # undecided
        ((-0.5, 0.9), (-3.0, -1.1), True),
        ((-0.5, 0.9), (-0.9, -0.1), False),  # opposite, and less than 1 of it: no effect, too
        ((-0.5, 0.9), (0.1, 0.9), False),
        ((0.1, 0.9), (-0.9, -0.1), True),
        ((-0.5, 0.9), (-3.0, 0.9), False),
        ((-3.0, -0.1), (-3.0, 0.9), False),
    ],
)
def test_which_verdicts_contradict_each_other(one, other, do):
    said = [
        (verdicts.of_direction(found, 1.0), found) for found in (interval(*one), interval(*other))
    ]
    assert verdicts.contradict(*said, "direction", 1.0) == do
    assert verdicts.contradict(*said[::-1], "direction", 1.0) == do


def test_verdicts_of_sets_that_go_opposite_ways_and_of_margins_contradict():
    found, below = interval(-0.5, 0.9), interval(-3.0, -1.1)
    mixed, reproduced = (verdicts.MIXED, found), (verdicts.REPRODUCED, found)
    assert verdicts.contradict(mixed, (verdicts.NOT_BETTER, found), "direction", 1.0)
    assert not verdicts.contradict(mixed, mixed, "direction", 1.0)
    for kind in ("margin", "equivalence"):
        assert verdicts.contradict(reproduced, (verdicts.OPPOSITE, below), kind, 1.0)
        assert not verdicts.contradict(reproduced, reproduced, kind, 1.0)
    assert verdicts.contradict(
        (verdicts.OPPOSITE, interval(1.1, 2.0)), (verdicts.OPPOSITE, below), "equivalence", 1.0
    )
