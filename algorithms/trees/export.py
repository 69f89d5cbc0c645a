"""A tree as text, with what each path through it costs; and as a picture.

The picture is by matplotlib, or text that Graphviz's ``dot`` draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..costs import GridPrices
from ..validation.types import FeatureCosts
from .binning import ALL_PRESENT
from .categorical_forest import CategoricalForest
from .forest import Forest, names_of_features, one_tree, own_bill, paths_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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


# --- pictures ----------------------------------------------------------------------------------


class _Box(NamedTuple):
    """A node as it is shown: its lines of text, its left child (-1 in a leaf) and depth."""

    lines: tuple[str, ...]
    left: int
    depth: int


def _boxes(model, tree, feature_names, decimals, feature_costs, split_cost) -> list[_Box]:
    """Each node of a tree, from the root."""
    prices = model._grid_prices(feature_costs, split_cost)
    forest: Forest = one_tree(model.trees_, tree)
    names = names_of_features(model, feature_names)
    parent, bill = paths_of(forest, prices)
    bill, categories = prices.cost(bill), getattr(model, "categories_", None)

    def lines(node: int) -> tuple[str, ...]:
        if forest.left[node] < 0:
            value = f"value: {forest.value[node]:.{decimals}f}"
            return (value, f"path: {bill[node]:.{decimals}f}")
        name = names[forest.feature[node]]
        question, _ = questions(forest, node, name, decimals, False, categories)
        return (question, f"costs {own_bill(node, parent, bill):.{decimals}f}")

    return [
        _Box(lines(node), int(forest.left[node]), int(forest.depth[node]))
        for node in range(len(forest.feature))
    ]


def export_dot(
    model: Any,
    tree: int = 0,
    *,
    feature_names: Sequence[str] | None = None,
    decimals: int = 2,
    feature_costs: FeatureCosts = None,
    split_cost: float | None = None,
) -> str:
    r"""Write a tree in the language of Graphviz: ``dot -Tsvg`` makes a picture of it.

    The costs are those of a row for which this tree is the first: it has bought nothing yet.

    Parameters
    ----------
    model : estimator or MeteredForest
        A fitted model of trees of this package, or one that :mod:`algorithms.interop` has read.
    tree : int
        0 to ``model.trees_.n_trees - 1``.
    feature_names : sequence of str of length n_features, optional
        Default: the names of the columns, else ``feature_0`` and so on.
    decimals : int
        Of thresholds, values and costs.
    feature_costs, split_cost : optional
        Charge these prices instead of the model's own, in the user's unit.

    Returns
    -------
    str
        Splits say what evaluating them costs, leaves their value before the learning rate and what
        the path to them costs. The left branch is the one of the rows that fulfil the question.

    Raises
    ------
    ValueError
        If the model has no such tree, or names or prices do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from algorithms.cegb import CEGBRegressor
    >>> from algorithms.trees.export import export_dot
    >>> x = np.arange(100.0)
    >>> model = CEGBRegressor(n_estimators=1, feature_costs=[1.0]).fit(x[:, None], x >= 50)
    >>> print(export_dot(model, feature_names=["age"]))
    digraph tree {
      node [shape=box];
      0 [label="age <= 49.50\ncosts 1.00"];
      1 [label="value: -0.50\npath: 1.00"];
      2 [label="value: 0.50\npath: 1.00"];
      0 -> 1 [label="yes"];
      0 -> 2 [label="no"];
    }
    """
    boxes = _boxes(model, tree, feature_names, decimals, feature_costs, split_cost)
    return "\n".join(["digraph tree {", "  node [shape=box];", *_statements(boxes), "}"])


def _statements(boxes: list[_Box]) -> Iterator[str]:
    for node, box in enumerate(boxes):
        text = "\\n".join(_quoted(line) for line in box.lines)
        yield f'  {node} [label="{text}"];'
    for node, box in enumerate(boxes):
        if box.left >= 0:
            yield f'  {node} -> {box.left} [label="yes"];'
            yield f'  {node} -> {box.left + 1} [label="no"];'


def _quoted(text: str) -> str:
    """A line of text inside quotation marks of dot."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def plot_tree(
    model: Any,
    tree: int = 0,
    *,
    feature_names: Sequence[str] | None = None,
    decimals: int = 2,
    feature_costs: FeatureCosts = None,
    split_cost: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a tree with matplotlib: at each split what it costs, at each leaf what its path costs.

    Parameters
    ----------
    model, tree, feature_names, decimals, feature_costs, split_cost : optional
        As of :func:`export_dot`.
    ax : matplotlib Axes, optional
        Where to draw; None: on pyplot's present axes.

    Returns
    -------
    Axes
        With a box of text for each node; who fulfils the question of a box goes left.

    Raises
    ------
    ValueError
        If the model has no such tree, or names or prices do not fit.
    """
    boxes = _boxes(model, tree, feature_names, decimals, feature_costs, split_cost)
    if ax is None:
        from matplotlib import pyplot  # nothing else of this package needs it

        ax = pyplot.gca()
    x, deepest = _places(boxes), max(box.depth for box in boxes)
    ax.set_axis_off()
    ax.set_xlim(-0.5, float(np.max(x)) + 0.5)
    ax.set_ylim(-deepest - 0.5, 0.5)
    for node, box in enumerate(boxes):
        for child in (box.left, box.left + 1) if box.left >= 0 else ():
            ax.plot([x[node], x[child]], [-box.depth, -boxes[child].depth], color="0.6", zorder=1)
    for node, box in enumerate(boxes):
        face = "0.92" if box.left >= 0 else "white"
        frame = {"boxstyle": "round", "facecolor": face, "edgecolor": "0.4"}
        text = "\n".join(line.replace("$", r"\$") for line in box.lines)
        ax.text(x[node], -box.depth, text, ha="center", va="center", bbox=frame, zorder=2)
    return ax


def _places(boxes: list[_Box]) -> np.ndarray:
    """Place of each node from left to right: leaves side by side, others above their children."""
    x, waiting, n_leaves = np.zeros(len(boxes)), [0], 0
    while waiting:
        node = waiting.pop()
        if boxes[node].left < 0:
            x[node], n_leaves = n_leaves, n_leaves + 1
        else:
            waiting += [boxes[node].left + 1, boxes[node].left]
    for node in range(len(boxes) - 1, -1, -1):  # children come after their parents
        if (left := boxes[node].left) >= 0:
            x[node] = (x[left] + x[left + 1]) / 2
    return x
