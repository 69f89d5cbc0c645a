"""Whether a cascade saves anything of what features cost, and from which trade-off on it would."""

from __future__ import annotations

import math
import warnings

import numpy as np

from .mixed_norms import Stage, TreePrices, solve_stage, without_traces
from .soft_objective import Soft, Weights

_MOST_STEPS = 30


class NothingSavedWarning(UserWarning):
    """Each row pays for all features; the message names a `tradeoff` that would save some."""


def warn_if_nothing_is_saved(soft: Soft, cascade: Weights, inflation: float) -> None:
    """Warn if whoever leaves a cascade first has paid for all that its trees need.

    At the trade-off that is named the first stage of Algorithm 2 was solved: it is there, and does
    without something. Algorithm 1 keeps zeros. It is looked for by steps of ten, then by bisection.

    Parameters
    ----------
    soft : Soft
        As Algorithm 2 has it.
    cascade : Weights
    inflation : float
        δ^(K - 1) = λ_1 / λ.
    """
    prices = soft.prices
    if soft.tradeoff == 0 or not len(prices.item):
        return
    leaves = int(np.argmax(np.append(cascade.thresholds > -math.inf, True)))
    if not _needed(prices, cascade.weights[: leaves + 1]).all():
        return
    low, high = soft.tradeoff, math.inf  # all is needed; nothing is
    for _ in range(_MOST_STEPS):
        tried = float(f"{10 * low if high == math.inf else math.sqrt(low * high):.3g}")
        needed = _needed(prices, _first_stage(soft, inflation * tried))
        if not low < tried < high or 0 < np.count_nonzero(needed) < len(needed):
            break
        low, high = (tried, high) if needed.any() else (low, tried)
    if 0 < np.count_nonzero(needed) < len(needed):
        paid, whole = math.fsum(prices.item[needed]), math.fsum(prices.item)
        advice = f"With tradeoff={tried:g} its first stage pays {paid:g} of {whole:g}."
    else:
        advice = (
            f"A larger one does not help: the first stage needs all with {low:g}, and has no tree "
            f"left with {high:g}. Give it trees that need fewer features each, shallower ones."
        )
    warnings.warn(
        "This cascade saves no feature: whoever leaves it first has paid for all of them. "
        f"tradeoff={soft.tradeoff:g} is too little for {soft.outputs.n_trees} trees (the paper's "
        f"1e-4 is for 5,000). {advice}",
        NothingSavedWarning,
        stacklevel=4,
    )


def _needed(prices: TreePrices, weights: np.ndarray) -> np.ndarray:
    """Which items the trees need that have weight at some stage (K, T)."""
    return prices.uses @ np.any(weights != 0, axis=0).astype(np.float64) > 0


def _first_stage(soft: Soft, tradeoff: float) -> np.ndarray:
    """Weights of the first stage of Algorithm 2, (1, n_trees), at λ_1."""
    before = np.zeros(soft.outputs.n_trees)
    stage = Stage(
        soft.outputs, soft.y, soft.omega, float(soft.copies.sum()), before,
        float(soft.penalties[0]), tradeoff, soft.prices, soft.smoothing,
    )  # fmt: skip
    solved = solve_stage(stage, np.flatnonzero(before))
    return without_traces(solved.weights, soft.smoothing)[None, :]
