"""Comparisons in tests draw a twentieth of the resamples, and nothing that nobody asked for."""

import pytest
from matplotlib.figure import Figure

from experiments.compare import answering, intervals, show

RESAMPLES = intervals.RESAMPLES


@pytest.fixture(scope="module", autouse=True)
def _soon_written(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "RESAMPLES", 499)
        patch.setattr(answering, "_WORTH", float("inf"))
        if not request.module.__name__.endswith("test_shown"):
            patch.setattr(show, "picture", lambda *_: Figure(figsize=(1, 1)))
        yield
