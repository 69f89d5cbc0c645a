"""All methods: an entry each, which says how it is trained and what it can serve.

No cell of a figure imports this list, so that a new method leaves their results as they are.
"""

from __future__ import annotations

from dataclasses import replace

from experiments.methods import (
    blind_subsets,
    boosted,
    cascades,
    dags,
    exits,
    forests,
    libraries,
    optimal_trees,
    stumps,
)
from experiments.methods.method import Method
from experiments.methods.users_class import imported, of_the_user

METHODS = {
    method.slug: method
    for method in (
        boosted.cegb,
        boosted.greedy_miser,
        exits.early_exit,
        boosted.gbrt,
        forests.budget_forest,
        forests.budget_prune,
        cascades.cronus,
        cascades.raykar_cascade,
        cascades.and_or_cascade,
        dags.mddag,
        dags.mddag_stumps,
        stumps.viola_jones,
        stumps.fcboost,
        stumps.bourdev_cascade,
        stumps.adaboost_mh,
        blind_subsets.blind_subset,
        blind_subsets.priced_subset,
        libraries.lightgbm,
        libraries.lightgbm_cegb,
        libraries.lightgbm_early_stop,
        libraries.lightgbm_lambdarank,
        libraries.xgboost,
        libraries.catboost,
        libraries.catboost_first_use,
        libraries.catboost_per_object,
        libraries.hist_gradient_boosting,
        optimal_trees.streed,
    )
}


def method_of(slug: str) -> Method:
    """Give a method of the list, or the class of the user's that ``package:Class`` names.

    A class may say in ``tasks`` what it can do; else it is tried at everything.
    """
    if ":" not in slug:
        return METHODS[slug]
    method = Method(slug, of_the_user)
    try:
        tasks = getattr(imported(slug), "tasks", method.tasks)
    except ValueError:  # who trains it says what is wrong with it
        return method
    return replace(method, tasks=tuple(tasks))
