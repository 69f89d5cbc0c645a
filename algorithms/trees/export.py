"""A tree as text, with what each path through it costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..costs import GridPrices
from ..inputs.types import FeatureCosts
from .binning import ALL_PRESENT
from .categorical_forest import CategoricalForest
from .forest import Forest
from .paths import names_of_features, one_tree, own_bill, paths_of

_SHOWN = 8  # categories of a set


def export_text(
    model: object,
    tree: int = 0,
    *,
    feature_names: Sequence[str] | None = None,
    decimals: int = 2,
    feature_costs: FeatureCosts = None,
    split_cost: float | None = None,
    missing: bool = False,
) -> str:
    """Write a tree as text: at each split what it costs, at each leaf what the path to it costs.

    The costs are those of a row for which this tree is the first: it has bought nothing yet. In a
    later tree, a feature that the row has met before is free.

    Parameters
    ----------
    model : estimator or MeteredForest
        A fitted model of trees of this package, or one that :mod:`algorithms.interop` has read.
    tree : int
        0 to ``model.trees_.n_trees - 1``. With several scores, the trees of a round follow each
        other in the order of the classes.
    feature_names : sequence of str of length n_features, optional
        Default: the names of the columns, else ``feature_0`` and so on.
    decimals : int
        Of thresholds, values and costs.
    feature_costs, split_cost : optional
        Charge these prices instead of the model's own.
    missing : bool
        Say of every split on which side rows go that are missing the feature. A split of those
        from all others says so anyway.

    Returns
    -------
    str
        A line for each branch and leaf, as scikit-learn's ``export_text`` writes them. Values are
        those of the leaf before the learning rate.

    Raises
    ------
    ValueError
        If the model has no such tree, or names or prices do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from algorithms.cegb import CEGBRegressor
    >>> from algorithms.trees.export import export_text
    >>> x = np.arange(100.0)
    >>> model = CEGBRegressor(n_estimators=1, feature_costs=[1.0, 10.0], split_cost=0.5)
    >>> model = model.fit(np.column_stack([x, x]), x >= 50)
    >>> print(export_text(model, feature_names=["cheap", "dear"]))
    |--- cheap <= 49.50 [costs 1.50]
    |   |--- value: -0.50 (path: 1.50)
    |--- cheap >  49.50
    |   |--- value: 0.50 (path: 1.50)
    """
    prices = model._grid_prices(feature_costs, split_cost)
    forest = one_tree(model.trees_, tree)
    names = names_of_features(model, feature_names)
    categories = getattr(model, "categories_", None)
    return "\n".join(_lines(forest, prices, names, decimals, missing, categories))


def questions(
    forest: Forest | CategoricalForest,
    node: int,
    name: str,
    decimals: int,
    missing: bool,
    categories: dict[int, np.ndarray] | None = None,
) -> tuple[str, str]:
    """What is asked of a row that goes left, and of one that goes right.

    Parameters
    ----------
    forest : Forest
    node : int
        One that is split.
    name : str
        Of its feature.
    decimals : int
    missing : bool
        Whether to say where a missing value goes, even if it is plain.
    categories : dict of int to ndarray, optional
        Of each feature of categories, those that the model knows.

    Returns
    -------
    left, right : str
        Of one line each, whatever the texts are.
    """
    name = _in_one_line(name)
    if isinstance(forest, CategoricalForest) and forest.by_set[node]:
        return _questions_of_a_set(forest, node, name, categories[int(forest.feature[node])])
    threshold, missing_left = float(forest.threshold[node]), bool(forest.missing_left[node])
    if threshold >= ALL_PRESENT and not missing_left:
        return f"{name} is present", f"{name} is missing"
    also = " or missing" if missing else ""
    left, right = (also, "") if missing_left else ("", also)
    return f"{name} <= {threshold:.{decimals}f}{left}", f"{name} >  {threshold:.{decimals}f}{right}"


def _questions_of_a_set(
    forest: CategoricalForest, node: int, name: str, known: np.ndarray
) -> tuple[str, str]:
    """The same of a split of categories; all that are not known go where missing ones go."""
    is_left = np.isin(np.arange(len(known)), forest.codes_left(node))
    if forest.missing_left[node]:
        return f"{name} not in {_listed(known[~is_left])}", f"{name} in {_listed(known[~is_left])}"
    return f"{name} in {_listed(known[is_left])}", f"{name} not in {_listed(known[is_left])}"


def _in_one_line(text: str, others: str = "") -> str:
    """Text as it is, or as Python writes it if it is blank, unprintable or has one of `others`."""
    plain = text.strip() and text.isprintable() and not set(text) & set(others)
    return text if plain else repr(text)


def _listed(labels: np.ndarray) -> str:
    shown = [_in_one_line(f"{label}", ",{}") for label in labels[:_SHOWN].tolist()]
    more = [f"… ({len(labels)})"] if len(labels) > _SHOWN else []
    return "{" + ", ".join(shown + more) + "}"


def _lines(
    forest: Forest,
    prices: GridPrices,
    names: list[str],
    decimals: int,
    missing: bool,
    categories: dict[int, np.ndarray] | None,
) -> Iterator[str]:
    """Each branch and leaf of a tree, the left one with all that is below it first."""
    parent, bill = paths_of(forest, prices)
    bill = prices.cost(bill)
    waiting = [(0, False)]  # last in, first out
    while waiting:
        node, right = waiting.pop()
        indent = "|   " * int(forest.depth[node])
        feature, left = int(forest.feature[node]), int(forest.left[node])
        if left < 0:
            value = f"value: {forest.value[node]:.{decimals}f}"
            yield f"{indent}|--- {value} (path: {bill[node]:.{decimals}f})"
            continue
        goes_left, goes_right = questions(
            forest, node, names[feature], decimals, missing, categories
        )
        if right:
            yield f"{indent}|--- {goes_right}"
            waiting.append((left + 1, False))
            continue
        yield f"{indent}|--- {goes_left} [costs {own_bill(node, parent, bill):.{decimals}f}]"
        waiting += [(node, True), (left, False)]
