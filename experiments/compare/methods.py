"""The methods that are compared.

A method trains a model on a *draw*, numbers between 0 and 1 that are the same for all methods, and
gives a :class:`experiments.compare.trained.Trained` with the *cuts* at which it can be used. A draw
may name the columns that the model is to use, and has a λ (``tradeoff``) for methods that take one.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from experiments.compare import other_libraries, own_forests, own_trees
from experiments.compare.problem import Problem
from experiments.compare.trained import Trained
from experiments.compare.users_class import of_the_user


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes
    ----------
    slug, label : str
        Its name in tables and in the picture.
    train : callable
        ``(problem, draw) -> Trained``.
    tasks : tuple of str
        What it can do.
    library : str or None
        Package that it needs.
    knows_groups : bool
        Whether it can train where features are acquired together.
    allow_nan : bool
        Whether it supports missing values.
    cut : str
        What its cuts are: ``rounds``, ``threshold`` or ``tradeoff``.
    has_tradeoff : bool
        Whether it has a λ, a price of cost in loss.
    has_budget : bool
        Whether it can be told a budget, of all its features together.
    """

    slug: str
    label: str
    train: Callable[[Problem, Mapping], Trained]
    tasks: tuple[str, ...] = ("classification", "regression", "ranking")
    library: str | None = None
    knows_groups: bool = True
    allow_nan: bool = True
    cut: str = "rounds"
    has_tradeoff: bool = False
    has_budget: bool = False

    @property
    def of_the_user(self) -> bool:
        """Whether it is a class of the user's."""
        return ":" in self.slug

    @property
    def ours(self) -> bool:
        """Whether the suite itself trains it: then it must not fail."""
        own = (own_trees.__name__, own_forests.__name__)
        return not self.of_the_user and self.train.__module__ in own

    def installed(self) -> bool:
        """Whether its library is there."""
        return self.library is None or importlib.util.find_spec(self.library) is not None


METHODS = {
    method.slug: method
    for method in (
        Method("cegb", "CEGB", own_trees.cegb, has_tradeoff=True),
        Method(
            "greedy_miser",
            "Greedy Miser",
            own_trees.greedy_miser,
            has_tradeoff=True,
            has_budget=True,
        ),
        Method(
            "early_exit",
            "Early exit from GBRT",
            own_trees.early_exit,
            ("classification", "ranking"),
            allow_nan=False,
            cut="threshold",
        ),
        Method("gbrt", "GBRT (no costs in training)", own_trees.gbrt),
        Method(
            "budget_forest",
            "BudgetRF",
            own_forests.budget_forest,
            ("classification", "ranking"),
            allow_nan=False,
        ),
        Method(
            "budget_prune",
            "BudgetPrune",
            own_forests.budget_prune,
            ("classification",),
            allow_nan=False,
            cut="tradeoff",
        ),
        Method(
            "lightgbm",
            "LightGBM (no costs in training)",
            other_libraries.lightgbm,
            library="lightgbm",
        ),
        Method(
            "lightgbm_cegb",
            "LightGBM, its CEGB, per row",
            other_libraries.lightgbm_cegb,
            library="lightgbm",
            knows_groups=False,
            has_tradeoff=True,
        ),
        Method(
            "lightgbm_lambdarank",
            "LightGBM, lambdarank (no costs in training)",
            other_libraries.lambdarank,
            ("ranking",),
            library="lightgbm",
        ),
        Method(
            "catboost",
            "CatBoost (no costs in training)",
            other_libraries.catboost,
            library="catboost",
        ),
        Method(
            "hist_gradient_boosting",
            "scikit-learn HGB (no costs in training)",
            other_libraries.hist_gradient_boosting,
        ),
    )
}


def method_of(slug: str) -> Method:
    """Give a method of the list, or the class of the user's that ``package:Class`` names."""
    if ":" in slug:
        return Method(slug, slug.partition(":")[2], of_the_user, cut="")
    return METHODS[slug]
