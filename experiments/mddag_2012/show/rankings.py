"""Figure 3's panels."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ranking:
    """One ranking set."""

    key: str  # key, name, dataset: Letter; name in titles and for :func:`datasets.load`
    name: str
    dataset: str
    own_copy: bool = False  # Only who has a copy has the real data: it is left to the long scales


RANKINGS = (Ranking("a", "MQ2007", "mq2007", own_copy=True), Ranking("b", "MQ2008", "mq2008"))

SAVING = 2.0
"""AdaBoost.MH evaluates so many times as many base classifiers."""

FEWEST_TREES = 3.0
"""Comparisons begin here: AdaBoost.MH's first base classifier is a constant vote."""
