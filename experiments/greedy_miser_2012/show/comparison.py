"""What is compared: each method's pool of models, baselines of a seed, differences to it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.curves import curves
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

MARGIN = 0.005
"""As good as the baseline: a score that is not lower by more."""

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


def decades_saved(
    rows: pd.DataFrame,
    panel: str,
    method: str,
    beside: str = BASELINE,
    margin: float = MARGIN,
) -> np.ndarray:
    """Return log10 of how many times cheaper a method is where it is as good as another.

    That is the first of its budgets whose model scores, on the test set, no less than `margin`
    below the other method's best by validation. Where none of its budgets is enough (validation
    may prefer a model that the test set does not) nothing is saved: 0, not a repetition left out.
    """
    if of_panel(rows, panel, method).empty:
        return np.empty(0)
    other, curve = chosen(rows, panel, beside), curves(pooled(rows), panel, method, PAPER)
    saved = np.zeros(len(other))
    if curve is None:  # nothing but models without a tree
        return saved
    for s, (target, cost) in enumerate(
        zip(other["test_score"] - margin, other["test_cost_paper"], strict=True)
    ):
        reached = curve.score[s] >= target
        if reached.any():
            saved[s] = np.log10(cost / curve.cost[s, np.argmax(reached)])
    return saved


def shortfall_left(rows: pd.DataFrame, panel: str, method: str) -> np.ndarray:
    """Return by how much a method's own best model stays within the margin below the baseline."""
    own, base = chosen(rows, panel, method), chosen(rows, panel, BASELINE)
    return (own["test_score"] - (base["test_score"] - MARGIN)).dropna().to_numpy()


def feature_share(rows: pd.DataFrame, panel: str, tree_cost: float) -> np.ndarray:
    """Return which part of the cost is features, where early exit is as good as the baseline.

    Of its own models, not the baseline's: the cheapest whose test score is within the margin.
    """
    own, base = of_panel(rows, panel, "early_exit"), chosen(rows, panel, BASELINE)
    shares = []
    for seed, target in (base["test_score"] - MARGIN).items():
        good = own[(own["seed"] == seed) & (own["test_score"] >= target)]
        if good.empty:
            shares.append(np.nan)
            continue
        cheapest = good.loc[good["test_cost_paper"].idxmin()]
        trees = tree_cost * cheapest["test_trees"]
        shares.append(1 - trees / cheapest["test_cost_paper"])
    return np.array(shares)


def largest_step(rows: pd.DataFrame, panel: str, tradeoffs: tuple[float, ...]) -> np.ndarray:
    """Return the difference in score between the two neighbouring λ that differ most on average."""
    by_tradeoff = [
        chosen(rows, panel, "greedy_miser" if t else BASELINE, tradeoff=t)["test_score"]
        for t in sorted(tradeoffs)
    ]
    steps = pd.concat(by_tradeoff, axis=1).diff(axis=1).iloc[:, 1:].to_numpy()
    means = steps.mean(axis=0)
    most = int(np.argmax(np.abs(means)))
    return np.sign(means[most]) * steps[:, most]


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
