"""What several tests of one data set share."""

import hashlib

import numpy as np
import pytest

from datasets import cbcl_windows
from tests.datasets.face_archives import SIZES, pixels


@pytest.fixture
def few_faces(monkeypatch):
    """Expect the few windows of :func:`contents`."""
    counts = {part: {1: SIZES[part, 1], 0: SIZES[part, 0]} for part in ("train", "test")}
    more = {**counts, "test": {1: SIZES["test", 1], 0: SIZES["test", 0] + 1}}
    monkeypatch.setattr(cbcl_windows, "COUNTS", {"mirror": counts, "official": more})
    both = {part: np.concatenate([pixels(part, 1), pixels(part, 0)]) for part in counts}
    digests = {part: hashlib.sha256(windows).hexdigest() for part, windows in both.items()}
    monkeypatch.setattr(cbcl_windows, "DIGESTS", digests)
    return both
