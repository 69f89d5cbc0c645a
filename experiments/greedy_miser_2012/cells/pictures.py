"""Which test pictures a model is right on, as a text that stands in a row."""

from __future__ import annotations

import numpy as np

COLUMN = "right"
"""Column of the text."""


def numbers_of(dataset) -> np.ndarray:
    """Return which pictures of the set the test rows are; their places where nothing says."""
    numbers = dataset.test_numbers
    return np.arange(len(dataset.y_test)) if numbers is None else np.asarray(numbers)


def packed(right: np.ndarray, numbers: np.ndarray) -> str:
    """Return the numbers of the pictures that are tested, and of those that are right, as bits."""
    tested = np.zeros((2, numbers.max() + 1), dtype=bool)
    tested[0, numbers] = True
    tested[1, numbers] = right
    return ":".join(np.packbits(bits).tobytes().hex() for bits in tested)


def unpacked(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the tested pictures, ascending, and whether each is right."""
    tested, right = (
        np.unpackbits(np.frombuffer(bytes.fromhex(part), dtype=np.uint8)) > 0
        for part in text.split(":")
    )
    numbers = np.flatnonzero(tested)
    return numbers, right[numbers]
