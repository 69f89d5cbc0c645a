"""A detection task as section 3.2 of the paper sees it: Haar features, two classes, two parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algorithms.adaboost_mh import AdaBoostMH


@dataclass(frozen=True)
class Windows:
    """The windows of one part of a data set."""

    X: np.ndarray  # (n, d) uint8, Fortran order: haar features, a byte each
    y: np.ndarray  # (n,) int64: 1: object, 0: background

    @property
    def background(self) -> np.ndarray:
        """Which windows are without an object, (n,) bool."""
        return self.y == 0

    def of_columns(self, columns: np.ndarray) -> Windows:
        """Return the same windows with some of the columns."""
        return Windows(np.asfortranarray(self.X[:, columns]), self.y)


SIXTEENTHS = 16
"""Weights are whole numbers of these: the fewer copies of rows, the finer the grid of losses."""


def weights_of(
    part: Windows, object_share: float | None, negative_weight: float = 1.0
) -> np.ndarray | None:
    """Return row weights by which objects are a share of all windows; None if none is wanted."""
    if object_share is None and negative_weight == 1:
        return None
    now = float(np.mean(part.y)) if object_share is None else object_share
    of_objects, of_background = (
        wanted / there for wanted, there in ((now, part.y.mean()), (1 - now, 1 - part.y.mean()))
    )
    sixteenths = np.rint(SIXTEENTHS * np.array([of_background * negative_weight, of_objects]))
    return sixteenths[part.y]


def haar_columns(dataset) -> np.ndarray:
    """Return the numbers of the Haar-like features, ascending.

    Raises
    ------
    ValueError
        If there are none, or their values are no bytes.
    """
    names = [i for i, name in enumerate(dataset.feature_names) if name.startswith("haar")]
    columns = np.array(names, dtype=np.int64)
    if not columns.size:
        raise ValueError(f"{dataset.name} has no Haar-like features")
    return columns


def windows_of(dataset, part: str) -> Windows:
    """Return the windows of a part: "train", "valid" or "test"."""
    values = getattr(dataset, f"X_{part}")[:, haar_columns(dataset)]
    X = np.asfortranarray(values.astype(np.uint8))
    if not np.array_equal(X, values):
        raise ValueError(f"{dataset.name}: Haar-like features that are no bytes")
    return Windows(X, getattr(dataset, f"y_{part}"))


def boosted(
    train: Windows, n_estimators: int, weights: np.ndarray | None = None
) -> tuple[AdaBoostMH, np.ndarray]:
    """Return AdaBoost.MH of stumps, trained on the columns that it tests, and their numbers.

    Boosting all columns finds which of them are tested; boosting these alone then gives the same
    stumps, round by round, and what is evaluated later need not carry the other columns.
    """

    def boost(part: Windows) -> AdaBoostMH:
        model = AdaBoostMH(n_estimators=n_estimators, n_threads=1)
        return model.fit(part.X, part.y, sample_weight=weights)

    whole = boost(train)
    tested = whole.stumps_.feature
    used = np.unique(tested[tested >= 0])
    few = train.of_columns(used)
    return boost(few), used
