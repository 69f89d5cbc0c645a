"""Other forms of a fitted forest, made when they are first asked for."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .forest import Forest
from .one_row import row_program
from .predictor import BitVectors, bit_vectors
from .tiles import TiledForest, tiled_forest


class Layouts:
    """A forest laid out for many rows and for one."""

    def __init__(self, forest: Forest, contributions: np.ndarray, initial: np.ndarray) -> None:
        self._given = (forest, contributions, initial)

    def __getstate__(self) -> dict:
        """What was given: the rest is made anew."""
        return {"_given": self._given}

    @property
    def forest(self) -> Forest:
        """The forest they are forms of."""
        return self._given[0]

    @cached_property
    def tiled(self) -> TiledForest | None:
        """For many rows; None if there is no such form of it."""
        return tiled_forest(*self._given[:2])

    @cached_property
    def bit_vectors(self) -> list[BitVectors]:
        """For many rows where tiles cannot be; empty if there are none of it."""
        forest, contributions, initial = self._given
        return bit_vectors(forest, contributions, len(initial))

    @cached_property
    def row(self) -> tuple:
        """For one row, as :func:`algorithms.trees.one_row.row_program` gives it."""
        return row_program(*self._given)
