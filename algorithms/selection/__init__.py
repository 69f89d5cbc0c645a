"""Choosing models within a budget: search, curve of score against cost, scorer, assertion."""

from .curve import cost_curve
from .scoring import (
    Measured,
    TotalCostScorer,
    assert_budget,
    cost_scorer,
    prediction_cost,
    total_cost,
)
from .search import BudgetSearchCV

__all__ = [
    "BudgetSearchCV",
    "Measured",
    "TotalCostScorer",
    "assert_budget",
    "cost_curve",
    "cost_scorer",
    "prediction_cost",
    "total_cost",
]
