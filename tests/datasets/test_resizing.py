"""Resizing by area."""

from __future__ import annotations

import numpy as np
import pytest

from datasets.resizing import resized
from tests.datasets.picture_archives import noise


@pytest.mark.parametrize(
    ("old", "new"),
    [((128, 64), (36, 18)), ((19, 19), (24, 24)), ((6, 4), (3, 2)), ((5, 7), (5, 7))],
)
def test_against_repeated_pixels(old, new):
    windows = noise(3, 4, *old)
    fine = windows.repeat(new[0], axis=1).repeat(new[1], axis=2).astype(np.int64)
    sums = fine.reshape(4, new[0], old[0], new[1], old[1]).sum(axis=(2, 4))
    expected = np.floor(sums / (old[0] * old[1]) + 0.5).astype(np.uint8)
    np.testing.assert_array_equal(resized(windows, new), expected)


def test_reflection_of_the_window_is_the_reflection():
    windows = noise(4, 3, 128, 64)
    np.testing.assert_array_equal(
        resized(windows[:, :, ::-1], (36, 18)), resized(windows, (36, 18))[:, :, ::-1]
    )
