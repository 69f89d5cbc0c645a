"""How methods are compared, and what came out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from experiments.compare.methods import Method
from experiments.compare.preparing import Prepared


@dataclass(frozen=True)
class Search:
    """How methods are compared.

    Attributes
    ----------
    budgets : sequence of float
        Largest mean cost of a prediction, each.
    trials : int
        Draws of each method.
    rounds : int
        Rounds of boosting.
    own : sequence of str
        Classes of the user's, ``package:Class``.
    only : sequence of str
        Methods of the suite, by name; empty: all that fit.
    """

    budgets: Sequence[float]
    trials: int = 20
    rounds: int = 200
    own: Sequence[str] = ()
    only: Sequence[str] = ()


@dataclass(frozen=True)
class Outcome:
    """What came out; see :mod:`experiments.compare.choosing` for the tables."""

    prepared: Prepared
    methods: list[Method]
    left_out: list[str]
    rows: pd.DataFrame
    table: pd.DataFrame
    differences: pd.DataFrame
    models: dict[float, dict[str, Any]]
