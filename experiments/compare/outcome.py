"""How methods are compared, and what came out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from experiments.compare.preparing import Prepared
from experiments.looks import name_of
from experiments.methods.method import Method


@dataclass(frozen=True)
class Search:
    """How methods are compared."""

    budgets: Sequence[float]  # Largest mean cost of a prediction, each
    trials: int = 12  # Draws of each method
    rounds: int = 200  # Rounds of boosting
    own: Sequence[str] = ()  # Classes of the user's, ``package:Class``
    only: Sequence[str] = ()  # Methods of the suite, by name; empty: all that fit
    # Processor time of a trial at most; one that needs more is lost. None: any
    seconds: float | None = None


@dataclass(frozen=True)
class Trained:
    """What training gave.

    Attributes
    ----------
    rows : DataFrame
        Every trial at every cut.
    n_trained : dict of str to int
        Trainings of each method.
    n_further : int
        Of them for each budget.
    constant : dict of str to list of str
        Of each method, why a trained model is constant; one reason a trial.
    failed : dict of str to list of str
        Of each method, what a trial said that failed.
    """

    rows: pd.DataFrame
    n_trained: dict[str, int]
    n_further: int
    constant: dict[str, list[str]]
    failed: dict[str, list[str]]

    def without_models(self, methods: Sequence[Method]) -> list[str]:
        """Give a line for each method that has no usable model at all, and why."""
        lines = []
        for method in methods:
            if (self.rows["method"] == method.slug).any():
                continue
            whys = [*self.failed.get(method.slug, []), *self.constant.get(method.slug, [])]
            lines.append(
                f"{name_of(method.slug)}: no usable model in {self.n_trained.get(method.slug, 0)} "
                f"trainings ({whys[0].rstrip('.') if whys else 'nothing was trained'})"
            )
        return lines

    def lost(self, methods: Sequence[Method]) -> list[str]:
        """Give a line for each method of which trials failed, with the first reason."""
        return [
            f"{name_of(method.slug)}: {len(self.failed[method.slug])} of "
            f"{self.n_trained[method.slug]} trainings failed ({self.failed[method.slug][0]})"
            for method in methods
            if method.slug in self.failed
        ]


@dataclass(frozen=True)
class Outcome:
    """What came out; see :mod:`experiments.compare.choosing` for the tables."""

    prepared: Prepared
    methods: list[Method]
    left_out: list[str]  # Why methods do not take part
    trained: Trained
    table: pd.DataFrame
    differences: pd.DataFrame
    # ``answer`` in words, ``valid_score, test_score, test_low, test_high`` of what answers always
    # alike
    constant: dict[str, Any]
    gaps: list[dict]
    unreached: dict[float, str]  # Budgets without a model, each with a sentence
    # The recommended model of each budget: its file, and the class of the user's that loads it
    models: dict[float, dict[str, Any]]
    so_far: str = ""  # Of an answer before all is trained, what it rests on

    @property
    def rows(self) -> pd.DataFrame:
        """Every trial at every cut."""
        return self.trained.rows
