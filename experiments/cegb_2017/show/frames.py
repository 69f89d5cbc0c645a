"""Labelling of frames: what Figure 4 draws and claims judge."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.curves import saving_by_validation

LEVELS = (1, 2, 4, 8)


DATASET, PANEL, LEVEL_PANEL = "phc_c2dl_psc", "b3", "c3"
"""The frames, and the keys of the curves by method and by the resolutions available."""

BY_LEVEL = 1e-2
"""λ of panel c."""

SIMILAR_SEG = 0.01
"""SEG that CEGB may lose and still be called similar."""


def by_method(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of whole parts; λ = 0 is no CEGB, but with Friedman's plain boosting."""
    mine = rows[(rows["panel"] == PANEL) & (rows["kind"] == "score")]
    plain = mine[(mine["tradeoff"] == 0) & mine["algorithm"].isin(("gbrt", "cegb"))]
    others = mine[mine["tradeoff"] > 0]
    return pd.concat([plain.assign(algorithm="gbrt"), others], ignore_index=True)


def best(pool: pd.DataFrame, most: float = np.inf) -> pd.Series:
    """Return the model with the highest validation SEG within a cost (ties: the cheaper one)."""
    within = pool[(pool["valid_cost"] <= most) & (pool["rounds"] > 0)]
    order = within.sort_values(["valid_score", "valid_cost"], ascending=[False, True])
    return order.iloc[0]


def _by_frame(rows: pd.DataFrame, chosen: pd.Series, column: str) -> np.ndarray:
    """Return a test value of a chosen model on each test frame."""
    same = rows["kind"] == "frame"
    for name in ("panel", "seed", "origin", "coarsest", "tradeoff", "rounds"):
        same &= rows[name] == chosen[name]
    return rows[same].sort_values("line")[column].to_numpy()


def over_seeds(rows: pd.DataFrame, of_one_seed) -> np.ndarray:
    """Mean over seeds of an effect on each test frame; empty if there are no rows."""
    rows = rows[rows["panel"].isin((PANEL, LEVEL_PANEL))]
    rows = rows.assign(origin=rows["algorithm"])
    found = [of_one_seed(mine) for _, mine in rows.groupby("seed")]
    return np.mean(found, axis=0) if found else np.empty(0)


def at_half_the_cost(rows: pd.DataFrame) -> tuple[pd.Series, pd.Series, pd.Series]:
    """Choose on validation: plain boosting, plain boosting at half its cost, CEGB at half of it."""
    pools = by_method(rows)
    plain = best(pools[pools["algorithm"] == "gbrt"])
    half = plain["valid_cost"] / 2
    cegb = pools[pools["algorithm"] == "cegb"]
    return plain, best(pools[pools["algorithm"] == "gbrt"], half), best(cegb, half)


def similar(rows: pd.DataFrame) -> np.ndarray:
    """What is left on each test frame of the SEG that CEGB at half the cost may lose."""

    def of_one_seed(mine):
        plain, _, cegb = at_half_the_cost(mine)
        lost = _by_frame(mine, plain, "test_score") - _by_frame(mine, cegb, "test_score")
        dear = cegb["test_cost"] > plain["test_cost"] / 2
        return np.full(lost.shape, np.nan) if dear else SIMILAR_SEG - lost

    return over_seeds(rows, of_one_seed)


def better(rows: pd.DataFrame) -> np.ndarray:
    """SEG by which CEGB lies above plain boosting on each test frame, both at half the cost."""

    def of_one_seed(mine):
        _, plain, cegb = at_half_the_cost(mine)
        return _by_frame(mine, cegb, "test_score") - _by_frame(mine, plain, "test_score")

    return over_seeds(rows, of_one_seed)


def by_levels(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of panel c: CEGB at one λ by the coarsest resolution available."""
    same = (rows["algorithm"] == "cegb") & (rows["tradeoff"] == BY_LEVEL)
    return rows[same & rows["panel"].isin((PANEL, LEVEL_PANEL))]


def coarser(rows: pd.DataFrame, column: str) -> np.ndarray:
    """Compare the finest resolution alone with all four, on each test frame."""

    def of_one_seed(mine):
        mine = by_levels(mine)
        whole = mine[mine["kind"] == "score"]
        ends = [best(whole[whole["coarsest"] == level]) for level in (LEVELS[0], LEVELS[-1])]
        fine, all_four = (_by_frame(mine, end, column) for end in ends)
        return fine - all_four if column == "test_score" else np.log10(fine / all_four)

    return over_seeds(rows, of_one_seed)


def saving(rows: pd.DataFrame) -> np.ndarray:
    """Return how much cheaper CEGB is at the highest SEG that both reach, one value per seed."""
    return saving_by_validation(by_method(rows), PANEL, "cegb", "gbrt")[0]
