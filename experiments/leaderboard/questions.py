"""The questions that the leaderboard answers in words, asked before any row was computed.

Each names two methods that can be trained on nearly everything, the first being the one that is
thought to win. All pairs of methods together are what the critical difference is for.
"""

from __future__ import annotations

from typing import NamedTuple


class Question(NamedTuple):
    """Two methods, and what their difference says."""

    first: str
    second: str
    asks: str


QUESTIONS = (
    Question("cegb", "gbrt", "does it pay to know the prices while trees are grown?"),
    Question("cegb", "priced_subset", "is a price for each row better than features chosen first?"),
    Question("cegb", "greedy_miser", "is a price for each row better than one for the model?"),
    Question("budget_prune", "budget_forest", "does pruning by the prices help a forest?"),
    Question("cegb", "budget_prune", "are boosted trees better than the pruned forest?"),
)

ABLATION = {
    "cegb_from_zero": "starts from 0, not from the best constant",
    "cegb_all_splits": "goes on at a negative net gain",
    "cegb_paid_by_model": "pays for a feature once, for all rows, when the model first uses it",
}
"""Our own variants of CEGB, which are trained on the same draws and not ranked."""
