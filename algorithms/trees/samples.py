"""Rows and features drawn at random for each tree (Friedman 2002, Stochastic gradient boosting).

A row that is not drawn walks down the tree with the others, for its score and for what it comes to
own, but has no gradient, hessian or weight in it. The reference is
:mod:`reference.beyond.subsampling`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .binning import Layout
from .monotonic import MonotonicNodes
from .searching_sets import CategoricalNodes
from .splitter import MISSING_RIGHT

if TYPE_CHECKING:
    from .grower import Nodes


class Sampling(NamedTuple):
    """How trees draw."""

    rows: float  # rows, features: Shares in (0, 1]; of 1 nothing is drawn
    features: float
    seed: int


class Sample(NamedTuple):
    """What one tree sees."""

    rows: np.ndarray | None  # (n_samples,) bool, or None: None: all
    features: np.ndarray | None  # (n_features,) bool, or None

    def leave_out(self, gh: np.ndarray) -> None:
        """Take the other rows' weight from derivatives, before :func:`~.histogram.in_halves`."""
        if self.rows is None:
            return
        if gh.itemsize == 4:
            gh[~self.rows, 2] = 0
        else:
            gh[~self.rows] = 0

    def send_missing_right(self, nodes: Nodes, n_nodes: int, layout: Layout) -> None:
        """Of a feature that only rows that are not drawn miss in a node: they went right."""
        if self.rows is None:
            return
        split = np.flatnonzero(nodes.feature[:n_nodes] >= 0)
        feature = nodes.feature[split]
        unseen = layout.feature_missing[feature]
        # Or are of a category that only they are of.
        if isinstance(nodes, CategoricalNodes | MonotonicNodes):
            unseen = unseen | (nodes.place[feature] >= 0)
        unseen = unseen & (nodes.cut[split, feature] < MISSING_RIGHT)
        nodes.missing_left[split[unseen]] = False

    def layout(self, layout: Layout) -> Layout:
        """Layout in which the other features have one bin: nothing to split at."""
        if self.features is None:
            return layout
        return layout._replace(
            feature_n_bins=np.where(self.features, layout.feature_n_bins, 1),
            feature_default=np.where(self.features, layout.feature_default, -1),
            feature_missing=layout.feature_missing & self.features,
        )


EVERYTHING = Sample(None, None)


def _drawn(rng: np.random.Generator, share: float, n: int) -> np.ndarray | None:
    """Which of `n` are drawn, without replacement: the share rounded down, at least one."""
    if share == 1.0:
        return None
    drawn = np.zeros(n, dtype=bool)
    drawn[rng.choice(n, max(1, math.floor(share * n)), replace=False)] = True
    return drawn


class Samples:
    """The samples of a fit, tree by tree: first its rows, then its features."""

    def __init__(self, sampling: Sampling | None, n_samples: int, n_features: int) -> None:
        self._sampling, self._shape = sampling, (n_samples, n_features)
        self._rng = None if sampling is None else np.random.default_rng(sampling.seed)

    @property
    def of_rows(self) -> bool:
        """Whether trees see some of the rows only."""
        return self._sampling is not None and self._sampling.rows < 1.0

    def draw(self) -> Sample:
        """Return the sample of the next tree."""
        if self._sampling is None:
            return EVERYTHING
        rows = _drawn(self._rng, self._sampling.rows, self._shape[0])
        return Sample(rows, _drawn(self._rng, self._sampling.features, self._shape[1]))
