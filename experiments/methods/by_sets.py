"""Methods that take the table's own columns, text as categories, in the draws that say so."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from experiments.methods.problem import Part, Problem
from experiments.methods.trained import Trained

if TYPE_CHECKING:
    from experiments.compare.own_columns import OwnColumns


def own_part(own: OwnColumns, part: Part) -> Part:
    """Give a part with the table's own columns."""
    return replace(part, X=own.table(part.X))


def own_problem(own: OwnColumns, problem: Problem) -> Problem:
    """Give a problem with the table's own columns and their prices."""
    return replace(
        problem,
        parts={name: own_part(own, part) for name, part in problem.parts.items()},
        **own.prices | {"feature_costs": np.array(own.prices["feature_costs"])},
        own=None,
        categorical=list(own.codes),
    )


class OfOwnColumns(Trained):
    """A model that takes the table's own columns, measured on rows of numbers made of them."""

    def __init__(self, trained: Trained, own: OwnColumns) -> None:
        self._trained, self._own = trained, own
        self.parameters = trained.parameters

    @property
    def cuts(self) -> list[float]:
        """Cuts at which it can be used."""
        return self._trained.cuts

    def only(self, cut: float) -> None:
        """Keep one cut."""
        self._trained.only(cut)

    def follow(self, part: Part) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield predictions and costs of the rows at each cut."""
        yield from self._trained.follow(own_part(self._own, part))

    def model(self, cut: float):
        """Give the model at a cut; it takes the table's own columns."""
        return self._trained.model(cut)


def takes_categories(
    train: Callable[[Problem, Mapping], Trained],
) -> Callable[[Problem, Mapping], Trained]:
    """Let a method take the table's own columns where the draw says so (``categories``)."""

    @functools.wraps(train)
    def trained(problem: Problem, draw: Mapping) -> Trained:
        if not draw.get("categories"):
            return train(problem, draw)
        own = problem.own
        draw = {**draw, "columns": own.columns_of(draw.get("columns"))}
        return OfOwnColumns(train(own_problem(own, problem), draw), own)

    return trained
