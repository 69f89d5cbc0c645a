"""How rows and queries are divided, the same for every source of a data set.

The stream of a split is ``np.random.default_rng([crc32(name), seed])``: it depends on the data
set and the seed alone, so that all algorithms see the same rows. Frozen; changing it changes
every published number.
"""

from __future__ import annotations

import zlib

import numpy as np

PARTS = ("train", "valid", "test")


def split_generator(name: str, seed: int) -> np.random.Generator:
    """Give the generator that draws splits (and synthetic data) of a data set."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed must be an integer of 0 or more, not {seed!r}")
    return np.random.default_rng([zlib.crc32(name.encode()), int(seed)])


def split_rows(
    name: str, seed: int, n_rows: int, n_train: int, n_valid: int, n_test: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw disjoint training, validation and test rows, in drawn order.

    One permutation of all rows; the test rows come first, then training, then validation; what they
    leave over is not used.
    """
    order = split_generator(name, seed).permutation(n_rows)
    test, others = order[:n_test], order[n_test:]
    return others[:n_train], others[n_train : n_train + n_valid], test


def split_parts(
    name: str, seed: int, n_rows: int, sizes: tuple[int, int, int]
) -> dict[str, np.ndarray]:
    """Give :func:`split_rows` by part."""
    return dict(zip(PARTS, split_rows(name, seed, n_rows, *sizes), strict=True))


def split_queries(
    name: str, seed: int, query: np.ndarray, train_share: float
) -> tuple[np.ndarray, np.ndarray]:
    """Divide the rows of whole queries into training and validation."""
    queries = np.unique(query)
    order = split_generator(name, seed).permutation(queries.size)
    chosen = queries[order[: round(train_share * queries.size)]]
    mask = np.isin(query, chosen)
    return np.flatnonzero(mask), np.flatnonzero(~mask)
