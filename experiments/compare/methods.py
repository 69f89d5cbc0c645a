"""The methods that are compared.

A method trains a model on a *draw*, numbers between 0 and 1 that are the same for all methods, and
gives a :class:`experiments.compare.trained.Trained` with the *cuts* at which it can be used. A draw
may name the columns that the model is to use, and has a λ (``tradeoff``) for methods that take one.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from experiments.compare import (
    blind_subsets,
    facts,
    optimal_trees,
    other_libraries,
    own_cascades,
    own_dags,
    own_forests,
    own_stumps,
    own_trees,
    penalised,
)
from experiments.compare.facts import Facts
from experiments.compare.problem import Problem
from experiments.compare.trained import Trained
from experiments.compare.users_class import imported, of_the_user


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
    most_classes : int or None
        Classes at most.
    unfit : callable or None
        ``(facts) -> str``: why it cannot serve all the same; an empty text if it can.
    has_tradeoff : bool
        Whether it has a λ, a price of cost in loss.
    has_budget : bool
        Whether it can be told a budget, of all its features together.
    chooses_features : bool
        Whether it is nothing but features taken first: every method of ``compare`` has those, too.
    ranks_within_queries : bool
        Whether its models rank by ``ranking_score(X, query)``.
    takes_categories : bool
        Whether it takes the table's own columns, text as categories, where the draw says so.
    """

    slug: str
    label: str
    train: Callable[[Problem, Mapping], Trained]
    tasks: tuple[str, ...] = ("classification", "regression", "ranking")
    library: str | None = None
    knows_groups: bool = True
    allow_nan: bool = True
    most_classes: int | None = None
    unfit: Callable[[Facts], str] | None = None
    has_tradeoff: bool = False
    has_budget: bool = False
    chooses_features: bool = False
    ranks_within_queries: bool = False
    takes_categories: bool = False

    @property
    def of_the_user(self) -> bool:
        """Whether it is a class of the user's."""
        return ":" in self.slug

    @property
    def ours(self) -> bool:
        """Whether the suite itself trains it: then it must not fail."""
        return not self.of_the_user and self.library is None and self.train.__module__ in _OURS

    def installed(self) -> bool:
        """Whether its library is there."""
        return self.library is None or importlib.util.find_spec(self.library) is not None

    def why_not(self, facts: Facts) -> str:
        """Say in a few words why it cannot be trained on a problem; an empty text if it can."""
        if facts.task not in self.tasks:
            return f"not for {facts.task}"
        if not self.installed():
            return f"{self.library} is not installed (make setup-peers)"
        if facts.has_groups and not self.knows_groups:
            return "it knows no groups of features"
        if facts.some_missing and not self.allow_nan:
            return "it does not support missing values"
        if self.most_classes is not None and facts.n_classes > self.most_classes:
            return f"it tells {self.most_classes} classes apart, and there are {facts.n_classes}"
        return self.unfit(facts) if self.unfit else ""


_OURS = {
    module.__name__
    for module in (own_trees, own_forests, own_cascades, own_stumps, own_dags, blind_subsets)
}
_CLASSES, _RANKED = ("classification",), ("classification", "ranking")
_CASCADE = {"allow_nan": False, "most_classes": 2, "ranks_within_queries": True}

METHODS = {
    method.slug: method
    for method in (
        Method("cegb", "CEGB", own_trees.cegb, has_tradeoff=True, takes_categories=True),
        Method(
            "greedy_miser",
            "Greedy Miser",
            own_trees.greedy_miser,
            has_tradeoff=True,
            has_budget=True,
            takes_categories=True,
        ),
        Method(
            "early_exit",
            "Early exit from GBRT",
            own_trees.early_exit,
            _RANKED,
            allow_nan=False,
            ranks_within_queries=True,
        ),
        Method("gbrt", "GBRT (no costs in training)", own_trees.gbrt, takes_categories=True),
        Method(
            "budget_forest",
            "BudgetRF",
            own_forests.budget_forest,
            _RANKED,
            allow_nan=False,
            unfit=facts.forest_of_grades,
        ),
        Method(
            "budget_prune",
            "BudgetPrune",
            own_forests.budget_prune,
            _CLASSES,
            allow_nan=False,
            unfit=facts.no_weights,
        ),
        Method("cronus", "Cronus", own_cascades.cronus, _RANKED, has_tradeoff=True, **_CASCADE),
        Method(
            "raykar_cascade",
            "Raykar's soft cascade",
            own_cascades.raykar,
            _RANKED,
            has_tradeoff=True,
            unfit=facts.stages_by_price,
            **_CASCADE,
        ),
        Method(
            "and_or_cascade",
            "AND-OR cascade",
            own_cascades.and_or,
            _RANKED,
            unfit=facts.stages_by_price,
            **_CASCADE,
        ),
        Method(
            "mddag",
            "MDDAG on trees",
            own_dags.on_trees,
            _CLASSES,
            allow_nan=False,
            has_tradeoff=True,
        ),
        Method(
            "mddag_stumps",
            "MDDAG on stumps",
            own_dags.on_stumps,
            _CLASSES,
            allow_nan=False,
            has_tradeoff=True,
        ),
        Method("viola_jones", "Viola–Jones", own_stumps.viola_jones, _RANKED, **_CASCADE),
        Method("fcboost", "FCBoost", own_stumps.fcboost, _RANKED, **_CASCADE),
        Method("bourdev_cascade", "SoftCascade", own_stumps.soft_cascade, _RANKED, **_CASCADE),
        Method(
            "adaboost_mh",
            "AdaBoost.MH with Laminating",
            own_stumps.laminating,
            _CLASSES,
            allow_nan=False,
        ),
        Method(
            "blind_subset",
            "GBRT on features chosen whatever they cost",
            blind_subsets.blind,
            chooses_features=True,
            takes_categories=True,
        ),
        Method(
            "priced_subset",
            "GBRT on features chosen by price",
            blind_subsets.by_price,
            chooses_features=True,
            takes_categories=True,
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
            penalised.lightgbm_cegb,
            library="lightgbm",
            knows_groups=False,
            has_tradeoff=True,
        ),
        Method(
            "lightgbm_early_stop",
            "LightGBM, its early stop",
            penalised.lightgbm_early_stop,
            _CLASSES,
            library="lightgbm",
            allow_nan=False,
            most_classes=2,
        ),
        Method(
            "lightgbm_lambdarank",
            "LightGBM, lambdarank (no costs in training)",
            other_libraries.lambdarank,
            ("ranking",),
            library="lightgbm",
            unfit=facts.lambdarank,
        ),
        Method(
            "catboost",
            "CatBoost (no costs in training)",
            other_libraries.catboost,
            library="catboost",
        ),
        Method(
            "catboost_first_use",
            "CatBoost, penalty at first use",
            penalised.catboost_first_use,
            library="catboost",
            knows_groups=False,
            has_tradeoff=True,
        ),
        Method(
            "catboost_per_object",
            "CatBoost, penalty per row",
            penalised.catboost_per_object,
            library="catboost",
            knows_groups=False,
            has_tradeoff=True,
        ),
        Method(
            "hist_gradient_boosting",
            "scikit-learn HGB (no costs in training)",
            other_libraries.hist_gradient_boosting,
        ),
        Method(
            "streed",
            "STreeD, an optimal tree",
            optimal_trees.streed,
            _CLASSES,
            library="pystreed",
            allow_nan=False,
            unfit=facts.optimal_tree,
            has_tradeoff=True,
        ),
    )
}


def method_of(slug: str) -> Method:
    """Give a method of the list, or the class of the user's that ``package:Class`` names.

    A class may say in ``tasks`` what it can do; else it is tried at everything.
    """
    if ":" not in slug:
        return METHODS[slug]
    method = Method(slug, slug.partition(":")[2], of_the_user)
    try:
        tasks = getattr(imported(slug), "tasks", method.tasks)
    except ValueError:  # who trains it says what is wrong with it
        return method
    return replace(method, tasks=tuple(tasks))
