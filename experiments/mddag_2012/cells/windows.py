"""A detection task as section 3.2 of the paper sees it: Haar features, two classes, two parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algorithms.adaboost_mh import AdaBoostMH


@dataclass(frozen=True)
class Windows:
    """The windows of one part of a data set.

    Attributes
    ----------
    X : ndarray of shape (n, d), uint8, Fortran order
        Haar features, a byte each.
    y : ndarray of shape (n,), int64
        1: object, 0: background.
    """

    X: np.ndarray
    y: np.ndarray

    @property
    def background(self) -> np.ndarray:
        """Which windows are without an object, (n,) bool."""
        return self.y == 0

    def of_columns(self, columns: np.ndarray) -> Windows:
        """Return the same windows with some of the columns."""
        return Windows(np.asfortranarray(self.X[:, columns]), self.y)


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


def boosted(train: Windows, n_estimators: int) -> tuple[AdaBoostMH, np.ndarray]:
    """Return AdaBoost.MH of stumps, trained on the columns that it tests, and their numbers.

    Boosting all columns finds which of them are tested; boosting these alone then gives the same
    stumps, round by round, and what is evaluated later need not carry the other columns.
    """
    whole = AdaBoostMH(n_estimators=n_estimators, n_threads=1).fit(train.X, train.y)
    tested = whole.stumps_.feature
    used = np.unique(tested[tested >= 0])
    few = train.of_columns(used)
    return AdaBoostMH(n_estimators=n_estimators, n_threads=1).fit(few.X, few.y), used
