"""What is compared: each method's pool of models, baselines of a seed, differences to it."""

from __future__ import annotations

import pandas as pd

from experiments.greedy_miser_2012.show.panels import Panel

BASELINE = "stagewise"
"""Stage-wise regression, which is Greedy Miser at λ = 0."""

RIVALS = {
    "stagewise_subsets": "stage-wise regression on feature subsets",
    "early_exit": "early exit",
    "cronus": "Cronus",
}
"""Rivals in the paper."""

OWN = ("greedy_miser", "stagewise_subsets", "early_exit", "greedy_miser_early_exit")
"""Methods that have stage-wise regression as a limiting case: λ = 0, all prices, no exits. Cronus
has not: its trees learn two classes, and cascades of all of them are its own."""


PAPER = "_paper"
"""Of the columns of costs: the forest's bill, Eq. (3), in which the claims are judged."""


def pooled(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows in which every method also has the models of stage-wise regression.

    The paper's curves end there: at λ = 0, with the subset of all prices, with an endless margin.
    """
    base = rows[rows["algorithm"] == BASELINE]
    there = [method for method in OWN if (rows["algorithm"] == method).any()]
    return pd.concat([rows, *(base.assign(algorithm=method) for method in there)])


def of_panel(rows: pd.DataFrame, panel: str, algorithm: str) -> pd.DataFrame:
    """Return the rows of one method in one panel."""
    return rows[(rows["panel"] == panel) & (rows["algorithm"] == algorithm)]


def chosen(rows: pd.DataFrame, panel: str, algorithm: str, **setting) -> pd.DataFrame:
    """Return for each seed the model that validation chooses, indexed by seed.

    Parameters
    ----------
    rows : DataFrame
    panel, algorithm : str
    **setting
        Values that columns must have, for example ``tradeoff``.
    """
    mine = of_panel(rows, panel, algorithm)
    for column, value in setting.items():
        mine = mine[mine[column] == value]
    best = mine[mine["best"] == 1].sort_values(["valid_score", "rounds"], ascending=[False, True])
    return best.groupby("seed").first()


def shares(rows: pd.DataFrame, panel: str) -> pd.DataFrame:
    """Return the used share of each price (columns) for each (seed, λ)."""
    mine = rows[rows["panel"] == panel]
    share = mine.assign(share=mine["n_used"] / mine["n_features"])
    return share.pivot(index=["seed", "tradeoff"], columns="price", values="share")


SCENES = Panel("s", "Scene-15", "scene15", (), ranking=False, tree_cost=0.0, in_smoke=True)

ONE_PASS = Panel(
    "p",
    "Scene-15, one pass for all detectors",
    "scene15",
    (),
    ranking=False,
    tree_cost=0.0,
    in_smoke=True,
)
"""The same where that pass, most of what a detector takes, is charged once, not 101 times."""
