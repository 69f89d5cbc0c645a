"""The declared questions answered from areas: an interval and a test over data sets, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import permutation_test

from experiments.compare.intervals import holm
from experiments.leaderboard.nested import LEVEL, Nested, nested
from experiments.leaderboard.questions import QUESTIONS, Question
from experiments.leaderboard.ratings import in_sets

_RESAMPLES = 2**16


class Answer(NamedTuple):
    """What data sets say to a question."""

    question: Question
    difference: Nested  # Of the areas, over data sets
    # p, corrected: Of "the difference has either sign with equal chance"; and after Holm, over all
    # questions
    p: float
    corrected: float
    # wins, losses: Data sets on which the first has the larger area, or the smaller
    wins: int
    losses: int

    @property
    def holds(self) -> bool:
        """Whether interval and corrected test both say that there is a difference."""
        leaves_out_0 = self.difference.low > 0 or self.difference.high < 0
        return bool(self.corrected < 1 - LEVEL and leaves_out_0)


def differences(table: pd.DataFrame, first: str, second: str) -> list[np.ndarray]:
    """Give the differences of areas by data set, for each division the mean of common prices."""
    keys = ["dataset", "prices", "division"]
    both = [table[table["method"] == name].set_index(keys)["area"] for name in (first, second)]
    return in_sets((both[0] - both[1]).dropna().groupby(["dataset", "division"]).mean())


def sign_flip(values: np.ndarray) -> float:
    """Give the two-sided p-value of a mean of 0 if signs are as likely one way as the other.

    All signs are tried of up to 16 values, of more as many random ones.
    """
    found = permutation_test(
        (values,), np.sum, permutation_type="samples", vectorized=True, n_resamples=_RESAMPLES,
        rng=47,
    )  # fmt: skip
    return float(found.pvalue)


def answers(table: pd.DataFrame, questions: Sequence[Question] = QUESTIONS) -> list[Answer]:
    """Answer the questions whose methods met on two data sets at least."""
    found = []
    for question in questions:
        by_set = differences(table, question.first, question.second)
        if len(by_set) >= 2:
            found.append((question, by_set))
    means = [np.array([values.mean() for values in by_set]) for _, by_set in found]
    alone = [sign_flip(values) for values in means]
    corrected = holm(alone) if found else []
    return [
        Answer(question, nested(by_set), *both, int(np.sum(of > 0)), int(np.sum(of < 0)))
        for (question, by_set), of, *both in zip(found, means, alone, corrected, strict=True)
    ]


def sentence(answer: Answer, labels: Mapping[str, str]) -> str:
    """Say what an answer lets one say, and no more."""
    gap = answer.difference
    better, worse = answer.question.first, answer.question.second
    mean, low, high, wins, losses = gap.mean, gap.low, gap.high, answer.wins, answer.losses
    if answer.holds and mean < 0:
        better, worse = worse, better
        mean, low, high, wins, losses = -mean, -high, -low, losses, wins
    better, worse = labels.get(better, better), labels.get(worse, worse)
    numbers = (
        f"difference of the mean areas {mean:+.3f}, {low:+.3f} to {high:+.3f}; better on {wins} of "
        f"{gap.n_sets} data sets, worse on {losses}; p = {answer.corrected:.2g} after Holm"
    )
    if not answer.holds:
        return f"No difference between {better} and {worse} is carried by these data ({numbers})."
    return f"{better} is better than {worse} ({numbers})."


class Lead(NamedTuple):
    """Who has the largest mean area, and whether it is told apart from the others."""

    first: str
    not_told_apart: list[str]  # Whose difference to it has an interval with 0
    # To the first of these, or to the next one if there is none; None if it is alone
    difference: Nested | None


def lead(table: pd.DataFrame, ranked: Sequence[str]) -> Lead:
    """Say whether the first of those ranked leads; `table` has an area of each on every field."""
    first, *others = ranked
    gaps = {other: nested(differences(table, first, other)) for other in others}
    alike = [other for other, gap in gaps.items() if not gap.low > 0]
    return Lead(first, alike, next((gaps[name] for name in [*alike, *others]), None))


def said_of_lead(found: Lead, labels: Mapping[str, str]) -> str:
    """Say it in words."""
    first, gap = labels.get(found.first, found.first), found.difference
    numbers = gap and f"{gap.mean:+.3f}, {gap.low:+.3f} to {gap.high:+.3f}"
    if not found.not_told_apart:
        said = f"{first} leads: its mean area is larger than that of every other method"
        return f"{said} (difference to the next one {numbers})." if gap else f"{said}."
    alike = [labels.get(name, name) for name in found.not_told_apart]
    others = (
        " and ".join(alike[:2]) if len(alike) < 3 else f"{alike[0]} and {len(alike) - 1} others"
    )
    return (
        f"Nobody leads significantly: the largest mean area is that of {first}, which is not told "
        f"apart from {others} (difference to {alike[0]} {numbers})."
    )
