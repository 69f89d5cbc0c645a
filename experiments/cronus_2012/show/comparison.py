"""What is compared: each method's pool of models, and differences between pools."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.cronus_2012.cells.rows import CHOSEN
from experiments.cronus_2012.show.panels import ABOUT_STAGES, TUNED
from experiments.curves import budgets_between, choose
from experiments.looks import LOOKS

PAPER = "_paper"
"""Of the columns of costs: all features of the trees evaluated; the claims are judged in it."""

MARGIN = 0.01
"""A marginal loss: a score that is not lower by more."""


def models(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows about whole models, as :mod:`experiments.curves` reads them.

    Early exits of all rules are one method, ``early_exit``, beside those of each rule; all of them
    have GBRT's models, too, which are those with an endless margin.
    """
    whole = _whole(rows)
    whole = whole.assign(algorithm=whole["method"])
    exits = whole[whole["method"].str.startswith("early_exit_")]
    boosting = whole[whole["method"] == "gbrt"]
    parts = [whole, exits.assign(algorithm="early_exit")]
    for method in ("early_exit", *exits["method"].unique()):
        parts.append(boosting.assign(algorithm=method))
    together = pd.concat([part for part in parts if len(exits) or part is whole])
    return together.reset_index(drop=True)


def _whole(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows about whole models; a table without stages has no others."""
    return rows[rows["stage"] == 0] if "stage" in rows else rows


def there(rows: pd.DataFrame, panel: str, *methods: str) -> bool:
    """Whether a panel has rows about whole models of all these methods."""
    mine = _whole(rows[rows["panel"] == panel])["method"]
    return all(mine.str.startswith(method).any() for method in methods)


def lead_of_each(rows: pd.DataFrame, panel: str, better: str, worse: str) -> np.ndarray:
    """Return the mean lead over a repetition's own budgets, one value per seed.

    From the first at which both have a model to the dearest model of either: past its last model a
    method stays what it is. So each repetition in which both have a model has a lead.
    """
    whole = models(rows[rows["panel"] == panel])
    whole = whole[whole["rounds"] > 0]
    leads = []
    for _, mine in whole.groupby("seed"):
        pools = [mine[mine["algorithm"] == method] for method in (better, worse)]
        if any(pool.empty for pool in pools):
            leads.append(np.nan)
            continue
        costs = [pool[f"valid_cost{PAPER}"] for pool in pools]
        budgets = budgets_between(max(c.min() for c in costs), max(c.max() for c in costs))
        one, two = (p["test_score"].to_numpy()[choose(p, budgets, PAPER)] for p in pools)
        leads.append(float(np.mean(one - two)))
    return np.array(leads)


def best(rows: pd.DataFrame, panel: str, method: str) -> pd.DataFrame:
    """Return for each seed the model with the best validation score (ties: cheaper)."""
    mine = _whole(rows[(rows["panel"] == panel) & (rows["method"] == method)])
    mine = mine[mine["rounds"] > 0]
    order = mine.sort_values(["valid_score", "valid_cost_paper"], ascending=[False, True])
    return order.groupby("seed").first()


OPTIMISED = ("cronus", "raykar_cascade", "and_or_cascade")
"""Methods whose training is ended by a limit where it has not come to its own end."""


def capped_in_words(rows: pd.DataFrame) -> str:
    """Say which share of a method's trainings ended at a limit, of those that there are."""
    # Moved thresholds are rows of the same training, as many of each.
    shares = _whole(rows).groupby("method")["capped"].mean()
    there = [method for method in OPTIMISED if method in shares]
    return ", ".join(f"{LOOKS[method].label} {100 * shares[method]:.0f} %" for method in there)


# --- stages ---------------------------------------------------------------------------------------


def of_best(rows: pd.DataFrame, panel: str, method: str) -> pd.DataFrame:
    """Return the rows by stage of a method at the λ that validation chooses for ``cronus``.

    So both ends of one training are compared: how it was initialised, and how optimised; each with
    the thresholds that it was trained with.
    """
    chosen = best(as_trained(rows), panel, "cronus")["tradeoff"].rename("chosen")
    mine = rows[(rows["panel"] == panel) & (rows["method"] == method) & (rows["stage"] > 0)]
    mine = mine.join(chosen, on="seed")
    return mine[mine["tradeoff"] == mine["chosen"]]


def as_trained(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out Cronus's cascades with thresholds that were moved after training."""
    moved = rows["method"].isin(BOTH_ENDS) & (rows["setting"] > 0)
    return rows[~moved]


def whole_models(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows about whole models, without the columns about stages and what was chosen."""
    return _whole(rows).drop(columns=[*ABOUT_STAGES, *TUNED])


def chosen_by_validation(rows: pd.DataFrame) -> dict:
    """Return Cronus's hyper-parameters by panel, method and seed, one value each."""
    chosen: dict = {}
    tuned = rows[rows["method"].isin(["single_stage", "cronus_initial", "cronus"])]
    for (panel, method, seed), mine in tuned.groupby(["panel", "method", "seed"]):
        values = mine[list(CHOSEN)].drop_duplicates()
        if len(values) > 1:
            raise ValueError(f"{method} on {panel}, seed {seed}, has several hyper-parameters")
        by_seed = chosen.setdefault(panel, {}).setdefault(method, {})
        by_seed[str(seed)] = {name: float(value) for name, value in values.iloc[0].items()}
    return chosen


def chosen_stages(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep Cronus's models, among which validation chooses, and the stages of the chosen ones."""
    rows = as_trained(rows)
    kept = (rows["stage"] == 0) & rows["method"].isin(["cronus_initial", "cronus"])
    for panel in rows["panel"].unique():
        for method in ("cronus_initial", "cronus"):
            kept |= rows.index.isin(of_best(rows, panel, method).index)
    return rows[kept]


def shares_remaining(rows: pd.DataFrame, panel: str, method: str, kind: str) -> pd.DataFrame:
    """Return the share of inputs that come to each stage (columns), by seed."""
    mine = of_best(rows, panel, method)
    return mine[mine["price"] < 0].pivot(index="seed", columns="stage", values=kind)


def stages_with_trees(rows: pd.DataFrame, panel: str) -> pd.Series:
    """Return the stages of Cronus that have trees, a list by seed."""
    mine = of_best(rows, panel, "cronus")
    mine = mine[(mine["price"] < 0) & (mine["n_trees"] > 0)]
    return mine.groupby("seed")["stage"].agg(sorted)


def bought(rows: pd.DataFrame, panel: str) -> pd.DataFrame:
    """Return features that Cronus buys until each stage (columns) for each (seed, price)."""
    mine = of_best(rows, panel, "cronus")
    mine = mine[mine["price"] >= 0]
    return mine.pivot(index=["seed", "price"], columns="stage", values="n_features")


STEPS = ("gbrt", "single_stage", "cronus_initial", "cronus")
BOTH_ENDS = ("cronus_initial", "cronus")


def features_by_price(rows: pd.DataFrame, panel: str) -> pd.Series:
    """Return how many features there are of each price."""
    mine = rows[(rows["panel"] == panel) & (rows["price"] >= 0)]
    return mine.groupby("price")["n_listed"].max()
