"""The estimators that learn from data: an import line for each module that has some.

The tests of what all estimators promise (scikit-learn's checks, parameters, inputs, fits that fail,
files, prices by name) run over :data:`ESTIMATORS`, so that a new estimator is tested by its line.
"""

from types import ModuleType

from sklearn.base import BaseEstimator

from .. import (
    adaboost_mh,
    and_or_cascade,
    bourdev_cascade,
    budget_forest,
    budget_prune,
    cegb,
    cronus,
    fcboost,
    gbrt,
    greedy_miser,
    mddag,
    raykar_cascade,
    viola_jones,
)

ESTIMATORS: tuple[type[BaseEstimator], ...] = tuple(
    value
    for module in list(globals().values())
    if isinstance(module, ModuleType)
    for name, value in vars(module).items()
    if not name.startswith("_")
    and isinstance(value, type)
    and issubclass(value, BaseEstimator)
    and value.__module__ == module.__name__
)
"""The public estimators that these modules define, in the order of the lines."""
