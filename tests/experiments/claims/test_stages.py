"""Looks share the error rate; the whole procedure is simulated on known truths."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.claims import stages, verdicts
from experiments.claims.pooling import of_repetitions, pooled

REPETITIONS = (10, 20, 40)
DELTA = 0.5
DRAWS = 800


def test_looks_spend_the_error_rate_of_a_claim():
    for repetitions in ((10,), (10, 20), (10, 20, 40), (5, 10, 20, 40)):
        found = stages.looks(repetitions, 12)
        assert [look.n for look in found] == list(repetitions)
        assert sum(1 - look.level for look in found) == pytest.approx(stages.ERROR_RATE / 12)


@pytest.mark.parametrize("wrong", [(), (1, 5), (10, 10), (20, 10), (2, 3, 4, 5, 6)])
def test_looks_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=r"look|Looks"):
        stages.looks(wrong, 3)


def test_which_look_is_next():
    found = stages.looks(REPETITIONS, 1)
    assert stages.next_after(found, 25) == found[2]
    assert stages.next_after(found, 40) is None


def decided(rng, truth, rule, scales=(1.0, 2.0)) -> str:
    """Run a claim to its end as ``decide`` does, and return its verdict."""
    sets = [truth + rng.normal(0, scale, REPETITIONS[-1]) for scale in scales]
    for look in stages.looks(REPETITIONS, 1):
        means = [of_repetitions(values[: look.n]) for values in sets]
        verdict = rule(pooled(means, look.level, DELTA), DELTA)
        if verdict != verdicts.UNDECIDED:
            return verdict
    return verdicts.UNDECIDED


def rates(truth, rule) -> dict[str, float]:
    """How often each verdict comes out."""
    rng = np.random.default_rng(7)
    found = [decided(rng, truth, rule) for _ in range(DRAWS)]
    return {name: found.count(name) / DRAWS for name in verdicts.VERDICTS}


def test_errors_in_stages_stay_below_the_rate():
    slack = 4 * math.sqrt(0.05 * 0.95 / DRAWS)
    nothing = rates(0.0, verdicts.of_direction)
    wrong = sum(nothing[name] for name in ("reproduced", "right way, too small", "opposite"))
    assert wrong <= 0.05 + slack
    just = rates(DELTA, verdicts.of_direction)  # at δ itself nothing may say that it is smaller
    smaller = ("right way, too small", "no effect (equivalent)", "not better", "opposite")
    assert sum(just[name] for name in smaller) <= 0.025 + slack
    apart = rates(DELTA, verdicts.of_equivalence)
    assert apart["reproduced"] <= 0.025 + slack
    beyond = rates(-DELTA, verdicts.of_margin)
    assert beyond["reproduced"] <= 0.025 + slack


def test_a_design_that_can_answer_does():
    assert rates(2 * DELTA, verdicts.of_direction)["reproduced"] > 0.8
    opposite = rates(-2 * DELTA, verdicts.of_direction)  # "not better" may be sure a look earlier
    assert opposite["opposite"] + opposite["not better"] > 0.8
    assert opposite["reproduced"] == 0
    assert rates(0.0, verdicts.of_direction)["undecided"] < 0.6


def test_looking_without_sharing_would_err_more_often():
    """The guard fires: three looks at the full rate miss more often than once in twenty."""
    rng, missed = np.random.default_rng(3), 0
    for _ in range(DRAWS):
        values = rng.normal(0, 1, REPETITIONS[-1])
        intervals = [pooled([of_repetitions(values[:n])], 0.95, DELTA) for n in REPETITIONS]
        missed += any(not one.low <= 0 <= one.high for one in intervals)
    assert missed / DRAWS > 0.08
