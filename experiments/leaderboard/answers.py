"""The declared questions answered from scores: a test over data sets, and what it lets one say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from experiments.compare.intervals import holm, interval
from experiments.leaderboard.questions import QUESTIONS, Question
from experiments.leaderboard.ratings import LEVEL

_RESAMPLES = 9999
_MOST_EXACT = 16  # data sets, whose signs are all tried


class Answer(NamedTuple):
    """What data sets say to a question."""

    question: Question
    # difference, low, high: Mean of the areas' differences over data sets, and its interval over
    # resampled data sets
    difference: float
    low: float
    high: float
    # p, corrected: Of "the difference has either sign with equal chance"; and after Holm, over all
    # questions
    p: float
    corrected: float
    # wins, losses, n_sets: Data sets on which the first has the larger area, or the smaller; all on
    # which both were trained on a common price list
    wins: int
    losses: int
    n_sets: int

    @property
    def holds(self) -> bool:
        """Whether interval and corrected test both say that there is a difference."""
        return self.corrected < 1 - LEVEL and (self.low > 0 or self.high < 0)


def differences(table: pd.DataFrame, first: str, second: str) -> np.ndarray:
    """Give the differences of areas on each data set: means over common price lists, (n,)."""
    keys = ["dataset", "prices"]
    both = [table[table["method"] == name].set_index(keys)["area"] for name in (first, second)]
    return (both[0] - both[1]).dropna().groupby("dataset").mean().to_numpy()


def sign_flip(values: np.ndarray) -> float:
    """Give the two-sided p-value of a mean of 0 if signs are as likely one way as the other.

    All signs are tried of up to 16 values; of more, 9,999 random ones and the one that is there.
    """
    n, seen = len(values), abs(float(values.sum()))
    if n <= _MOST_EXACT:
        signs = np.array(list(product((-1.0, 1.0), repeat=n)))
        return float(np.mean(np.abs(signs @ values) >= seen - 1e-12))
    signs = np.random.default_rng(47).choice((-1.0, 1.0), size=(_RESAMPLES, n))
    return (1 + int(np.sum(np.abs(signs @ values) >= seen - 1e-12))) / (_RESAMPLES + 1)


def answers(table: pd.DataFrame, questions: Sequence[Question] = QUESTIONS) -> list[Answer]:
    """Answer the questions whose methods met on two data sets at least."""
    found = []
    for question in questions:
        values = differences(table, question.first, question.second)
        if len(values) >= 2:
            found.append((question, values))
    alone = [sign_flip(values) for _, values in found]
    corrected = holm(alone) if found else []
    given = []
    for (question, values), *both in zip(found, alone, corrected, strict=True):
        rng, n = np.random.default_rng(53), len(values)
        means = values[rng.integers(n, size=(_RESAMPLES, n))].mean(axis=1)
        counts = int(np.sum(values > 0)), int(np.sum(values < 0)), n
        given.append(Answer(question, float(values.mean()), *interval(means), *both, *counts))
    return given


def sentence(answer: Answer, labels: Mapping[str, str]) -> str:
    """Say what an answer lets one say, and no more."""
    if answer.holds and answer.difference < 0:
        answer = _turned(answer)
    first, second = (labels.get(n, n) for n in (answer.question.first, answer.question.second))
    numbers = (
        f"difference of the mean areas {answer.difference:+.3f}, {answer.low:+.3f} to "
        f"{answer.high:+.3f}; better on {answer.wins} of {answer.n_sets} data sets, worse on "
        f"{answer.losses}; p = {answer.corrected:.2g} after Holm"
    )
    if not answer.holds:
        return f"No difference between {first} and {second} is carried by these data ({numbers})."
    return f"{first} is better than {second} ({numbers})."


def _turned(answer: Answer) -> Answer:
    """Give the answer to the question whether the second is better than the first."""
    asked = answer.question
    return answer._replace(
        question=asked._replace(first=asked.second, second=asked.first),
        difference=-answer.difference,
        low=-answer.high,
        high=-answer.low,
        wins=answer.losses,
        losses=answer.wins,
    )
