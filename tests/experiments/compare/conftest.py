"""Comparisons in tests draw a twentieth of the resamples, and pictures where they are asked for."""

import pytest
from matplotlib.figure import Figure

from experiments.compare import intervals, show

RESAMPLES = intervals.RESAMPLES


@pytest.fixture(scope="module", autouse=True)
def _soon_written(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "RESAMPLES", 499)
        if not request.module.__name__.endswith("test_shown"):
            patch.setattr(show, "picture", lambda *_: Figure(figsize=(1, 1)))
        yield
