"""What is played on: data sets with a price list each, and how many of their rows at which scale.

Declared before any row is computed, as ``budgets.csv`` beside this file is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

UNIFORM = "uniform"
MILLISECONDS = "milliseconds"
SECONDS = "seconds"
"""Measured for each row and group of ``aslib_sat12``; what trains is told their means."""

OF_FAMILIES = ("mnist", "cifar10")
"""Sets of images whose milliseconds are those of families of features."""


@dataclass(frozen=True)
class Field:
    """A data set with prices."""

    dataset: str  # Name known to :func:`datasets.load`
    # ``published``, ``dollars``, ``milliseconds``, ``seconds``, ``table`` (our own, by kind of
    # feature): those that the data set comes with; or ``uniform``: 1 for each feature, none of
    # them together with others
    prices: str

    @property
    def name(self) -> str:
        """Return ``thyroid@dollars``."""
        return f"{self.dataset}@{self.prices}"

    @property
    def of_families(self) -> bool:
        """Whether its features are some of each measured family of pictures, not pixels."""
        return self.prices == MILLISECONDS and self.dataset in OF_FAMILIES

    @classmethod
    def named(cls, name: str) -> Field:
        """Read :attr:`name`."""
        dataset, _, prices = name.partition("@")
        return cls(dataset, prices)


PRICES = {
    "heart": ("dollars", UNIFORM),
    "pima": ("dollars", UNIFORM),
    "thyroid": ("dollars", UNIFORM),
    "aslib_sat12": (SECONDS,),
    "digits": (UNIFORM,),
    "miniboone": (UNIFORM,),
    "covertype": (UNIFORM,),
    "mq2008": ("table", UNIFORM),
    "yahoo_ltr_sample": ("published", UNIFORM),
    "mslr": ("published", UNIFORM),
    "clueweb09": ("table", UNIFORM),
    "cbcl_divided": (MILLISECONDS,),
    "vj_faces": (UNIFORM,),
    "cifar10": (MILLISECONDS,),
    "mnist": (MILLISECONDS,),
}
"""Price lists of each data set, what is quick first; of all of them there are real data."""

FIELDS = tuple(Field(name, prices) for name, lists in PRICES.items() for prices in lists)


@dataclass(frozen=True)
class Scale:
    """How much is computed."""

    datasets: Sequence[str]
    of_data: str  # Scale at which the data are loaded
    rows: tuple[int, int, int]  # Most rows that train, choose and judge; of a ranking whole queries
    # divisions: Of each data set, with draws of their own
    divisions: int
    trials: int  # trials, rounds: Draws of each method, and rounds of boosting at most
    rounds: int
    seconds: float  # Processor time of a trial at most; one that needs more is lost


SCALES = {
    "check": Scale(("digits",), "laptop", (300, 150, 300), 2, 2, 8, 30.0),
    "laptop": Scale(tuple(PRICES), "laptop", (2000, 1000, 2000), 5, 8, 50, 20.0),
}


def fields(scale: str, only: Sequence[str] = ()) -> list[Field]:
    """Give what is played on at a scale, or those of them that are named."""
    return [
        field
        for field in FIELDS
        if field.dataset in SCALES[scale].datasets and (not only or field.name in only)
    ]
