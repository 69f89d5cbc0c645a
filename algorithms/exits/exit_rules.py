"""Who leaves an additive model at an exit: the rules of :mod:`algorithms.early_exit`."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np

from ..estimators.parameters import shown
from .ranking import near_kth_largest

RANKING_RULES = ("proximity", "score", "capacity", "rank")
RULES = (*RANKING_RULES, "likelihood")


def exit_rounds(n_rounds: int, every: int) -> list[int]:
    """Rounds evaluated before each exit."""
    return list(range(every, n_rounds + 1, every))


def proximity_margin(i: int, n_exits: int, s: float) -> float:
    """(E - i)/(E - 1) s at exit i, from 1; s if there is but one exit."""
    return s if n_exits == 1 else (n_exits - i) / (n_exits - 1) * s


def check_threshold(rule: str, threshold: object) -> float:
    """Check s by its rule."""
    number = isinstance(threshold, Real) and not isinstance(threshold, bool | np.bool_)
    least = "" if rule == "score" else " >= 0"
    try:
        number = number and not math.isnan(threshold)
    except OverflowError:  # a whole number beyond any float
        number = False
    if not number or (least and threshold < 0):
        raise ValueError(
            f"threshold must be a number{least} with rule={rule!r}, got {shown(threshold)}."
        )
    return float(threshold)


def documents_stay(
    rule: str, s: float, i: int, n_exits: int, place: int, scores: np.ndarray, starts: np.ndarray
) -> np.ndarray:
    """Apply a rule of ranking at exit i to the documents that remain."""
    scores = np.ascontiguousarray(scores[:, 0])
    if rule == "score":
        return scores >= s
    sizes = starts[1:] - starts[:-1]
    margin = 0.0
    if rule == "proximity":
        k = np.full(len(sizes), min(place, len(scores)), dtype=np.int64)
        margin = proximity_margin(i, n_exits, s)
    else:  # so many stay of each query: fewer others are better
        with np.errstate(over="ignore"):
            share = np.ceil(s * sizes) if rule == "capacity" else np.floor(s)
        k = np.minimum(share, sizes).astype(np.int64)
    stays = np.empty(len(scores), dtype=bool)
    near_kth_largest(scores, starts, k, margin, np.empty_like(scores), stays)
    return stays
