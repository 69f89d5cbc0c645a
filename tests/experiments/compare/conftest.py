"""Comparisons in tests draw a twentieth of the resamples; one test draws all of them."""

import pytest

from experiments.compare import intervals

RESAMPLES = intervals.RESAMPLES


@pytest.fixture(scope="module", autouse=True)
def _fewer_resamples():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "RESAMPLES", 499)
        yield
