"""Trains one method on a part of the training images."""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np

from experiments.adaptive_sampling_2014.cells.measure import learning_curve
from experiments.cell import Cell

_NAME = zlib.crc32(b"sampling-examples")


def first_examples(y: np.ndarray, n_train: int, seed: int) -> np.ndarray:
    """Return which examples are kept: a larger number keeps all that a smaller one does."""
    rng = np.random.default_rng([_NAME, seed])
    place = np.empty(len(y))  # within its class, between 0 and 1
    for label in np.unique(y):
        mine = rng.permutation(np.flatnonzero(y == label))
        place[mine] = (np.arange(len(mine)) + 0.5) / len(mine)
    return np.sort(np.argsort(place, kind="stable")[:n_train])


def run_cell(cell: Cell, features) -> list[dict]:
    """Train a method on some of the images, and read it after several rounds.

    Returns
    -------
    list of dict
        As :func:`experiments.adaptive_sampling_2014.cells.measure.learning_curve`, and
        ``n_train``, the images that there were.
    """
    n_train = cell.params["n_train"]
    if n_train is not None:
        kept = first_examples(features.y_train, n_train, cell.seed)
        features = replace(
            features,
            train=np.ascontiguousarray(features.train[:, kept]),
            y_train=features.y_train[kept],
        )
    columns = ("rounds", "log10_loss", "test_error", "paper_cost", "evaluations")
    return [
        {"n_train": len(features.y_train)} | {name: row[name] for name in columns}
        for row in learning_curve(cell, features)
    ]
