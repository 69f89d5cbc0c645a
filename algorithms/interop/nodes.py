"""What readers of other libraries' models make of them: trees, node by node, and classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..metrics import labels_of


class Leaf(NamedTuple):
    """A leaf: its value for each output, and the number that the library gives it."""

    value: Sequence[float]
    number: int


class Split(NamedTuple):
    """A split node: ``x <= threshold`` goes to `left`, and a missing x if `missing_left`."""

    feature: int
    threshold: float
    left: Any
    right: Any
    missing_left: bool = False


class ClassLink(NamedTuple):
    """What raw scores mean to a classifier."""

    # (n_classes,): labels; class k has score column k, or the second of two has the only one
    classes: np.ndarray
    likelihood: str | None  # How scores become likelihoods; None if they do not, or in another way
    second_if_zero: bool = False  # Whether a single score of 0 means the second class

    def labels(self, scores: np.ndarray) -> np.ndarray:
        """Classes (n,) of scores (n, n_outputs); the lower one in a tie of several."""
        if len(self.classes) == 1:
            return np.repeat(self.classes, len(scores))
        if self.second_if_zero and scores.shape[1] == 1:
            return self.classes[(scores[:, 0] >= 0).astype(np.int64)]
        return self.classes[labels_of(scores)]


class Tree(NamedTuple):
    """A root, and what turns a node of the library's own kind into a leaf or a split."""

    root: Any
    read: Callable[[Any], Leaf | Split]
