"""How the suite's boosted trees are built, alike in figures, ``compare`` and the leaderboard.

It holds no more than that, so that what ``compare`` searches over changes no figure's results.
"""

from __future__ import annotations

from typing import Any

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.greedy_miser import GreedyMiserClassifier, GreedyMiserRegressor

KINDS = {
    "cegb": (CEGBClassifier, CEGBRegressor),
    "gbrt": (GBRTClassifier, GBRTRegressor),
    "greedy_miser": (GreedyMiserClassifier, GreedyMiserRegressor),
}

AS_IN_ITS_PAPER: dict[str, dict[str, Any]] = {"greedy_miser": {"init": "zero"}}
"""What differs from the estimator's defaults: Greedy Miser starts from nothing."""


def one_of(task: str, classifier: type, regressor: type) -> type:
    """Give the class that fits a task; rankings are learned by regression."""
    return regressor if task in ("ranking", "regression") else classifier


def unfitted(method: str, task: str, **parameters):
    """Return the estimator of a method, as its paper has it but for these parameters."""
    given = {"n_threads": 1, **AS_IN_ITS_PAPER.get(method, {}), **parameters}
    return one_of(task, *KINDS[method])(**given)


def paid_once(tradeoff: float, n_rows: int) -> float:
    """Return Greedy Miser's λ, the price of a feature for the model: what all rows pay together."""
    return tradeoff * n_rows
