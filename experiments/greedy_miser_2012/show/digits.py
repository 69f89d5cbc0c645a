"""MNIST at prices of families: what is tried, and effects on each test image."""

from __future__ import annotations

import pandas as pd

from experiments.greedy_miser_2012.show import pictures
from experiments.greedy_miser_2012.show.panels import Panel

DIGITS = Panel(
    "n",
    "MNIST, families of features",
    "mnist_mash",
    (0.005, 0.015, 0.04, 0.1),
    ranking=False,
    tree_cost=0.0,
    in_smoke=True,
)
"""Limits lie between the measured prices of families, which go from 0.00003 to 0.2 ms: three, six,
eleven, or fourteen of the nineteen."""

METHODS = ("stagewise", "stagewise_subsets", "early_exit", "greedy_miser")

SHARES = (0.01, 0.0178, 0.0316, 0.0562, 0.1, 0.178, 0.316, 0.5, 0.562, 1.0)
"""Of λ = 0's bill, as on the ranking sets."""


def beside_baseline(rows: pd.DataFrame, share: float, method: str = "greedy_miser"):
    """Return by image by how much oftener a method is right than λ = 0 at a share of its bill."""
    return pictures.of_each_picture(pictures.beside_within(rows, DIGITS.key, method, share))


def lead(rows: pd.DataFrame, better: str, worse: str):
    """Return by image the mean lead over shared budgets."""
    return pictures.of_each_picture(pictures.lead_of_each(rows, DIGITS.key, better, worse))
