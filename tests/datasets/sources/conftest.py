"""What the tests of the sources of files share."""

import pytest

from datasets.sources import unreachable


@pytest.fixture
def cache(cache, monkeypatch):
    """No mirror beside the cache, and no host known to be dead."""
    monkeypatch.delenv("COST_AWARE_BOOSTING_MIRROR", raising=False)
    unreachable.forget()
    yield cache
    unreachable.forget()
