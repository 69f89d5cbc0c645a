"""Effects on each test picture: the mean over the draws that test it is what pictures say."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.curves import as_good, budgets_between, choose, decades_saved
from experiments.greedy_miser_2012.cells.pictures import COLUMN, unpacked
from experiments.greedy_miser_2012.show.comparison import PAPER, of_panel, pooled

COST = f"valid_cost{PAPER}"


def _pools(rows: pd.DataFrame, panel: str, method: str) -> dict[int, pd.DataFrame]:
    """Return by seed a method's models, with its limiting case's, that cost anything."""
    mine = of_panel(pooled(rows[rows["panel"] == panel]), panel, method)
    mine = mine[mine[COST] > 0]
    return {seed: pool.reset_index(drop=True) for seed, pool in mine.groupby("seed", sort=True)}


def _table(effects: dict[int, tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return effects by draw and picture, NaN where a draw does not test a picture."""
    if not effects:
        return np.empty((0, 0))
    size = 1 + max(numbers.max() for numbers, _ in effects.values())
    table = np.full((len(effects), size), np.nan)
    for line, (numbers, values) in zip(table, effects.values(), strict=True):
        line[numbers] = values
    return table[:, ~np.isnan(table).all(axis=0)]


def lead_of_each(rows: pd.DataFrame, panel: str, better: str, worse: str) -> np.ndarray:
    """Return for each draw and test picture by how much oftener one method is right at equal cost.

    The mean over the budgets that both share on the draw; beyond its dearest model a method stays
    where it is. For each budget the best by validation within it, in the paper's bill.
    """
    pools = [_pools(rows, panel, method) for method in (better, worse)]
    effects = {}
    for seed in sorted(set(pools[0]) & set(pools[1])):
        both = [pool[seed] for pool in pools]
        lowest = max(pool[COST].min() for pool in both)
        highest = max(pool[COST].max() for pool in both)
        budgets = budgets_between(lowest, highest)
        right = []
        for pool in both:
            at, times = np.unique(choose(pool, budgets, PAPER), return_counts=True)
            answers = [unpacked(pool[COLUMN].iloc[i]) for i in at]
            right.append(np.average([one for _, one in answers], axis=0, weights=times))
        effects[seed] = answers[0][0], right[0] - right[1]
    return _table(effects)


def saved_beside(
    rows: pd.DataFrame, panel: str, method: str, beside: str, margin: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return what a method saves on each draw where it validates as well as another.

    And on which draws none of its models does: nothing is saved there.
    """
    pools, others = (_pools(rows, panel, name) for name in (method, beside))
    saved, none = [], []
    for seed in sorted(set(pools) & set(others)):
        end = others[seed].sort_values(["valid_score", COST], ascending=[False, True]).iloc[0]
        chosen, is_none = as_good(pools[seed], end, margin, PAPER)
        none.append(is_none)
        saved.append(decades_saved(end, chosen, is_none, PAPER))
    return np.array(saved), np.array(none, dtype=bool)
