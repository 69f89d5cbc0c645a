"""A fitted model at its operating points: what it answers and costs after some of its rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from experiments.cell import rounded


def fibonacci_rounds(last: int, first: int = 1) -> list[int]:
    """Return 1, 2, 3, 5, 8, 13, … and the last; those before the first become the first.

    A model without any round has 0 alone: it predicts a constant at no cost.
    """
    rounds, a, b = [], 1, 2
    while a < last:
        rounds.append(a)
        a, b = b, a + b
    return sorted({max(first, r) for r in rounds} | {last})


def rounds_by_tens(last: int) -> list[int]:
    """Return 1, 2, 3, 5, 10, 20, 30, 50, 80, … and the last; 0 as above."""
    rounds, a, b = [1, 2, 3, 5], 10, 20
    while a < last:
        rounds.append(a)
        a, b = b, a + b
    return [*(r for r in rounds if r < last), last]


def follow(model, X, rounds: Sequence[int], **meter) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield what boosted trees predict, and what each row pays, after each of these rounds.

    A model cut short predicts each point by itself: of rounds that grow like these, that is faster
    than to answer after every round. `meter` is ``feature_costs`` and the like, if not the model's.
    """
    costs = model.staged_cost(X, rounds=rounds, **meter)
    for n, cost in zip(rounds, costs, strict=True):
        yield model.first_rounds(n).predict(X), cost


def measured(
    wanted: Sequence[int], follow: Callable[[str], Iterable[tuple[float, float]]]
) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield each number of rounds with what was measured after it, rounded as rows are.

    Parameters
    ----------
    wanted : sequence of int
        Rounds.
    follow : callable
        ``part -> iterable``: score and mean cost of a part of the data after these rounds.

    Yields
    ------
    rounds : int
    row : dict of str to float
        ``valid_score, valid_cost, test_score, test_cost``.
    """
    for rounds, valid, test in zip(wanted, follow("valid"), follow("test"), strict=True):
        pairs = zip(("valid_score", "valid_cost", "test_score", "test_cost"), (*valid, *test),
                    strict=True)  # fmt: skip
        yield rounds, {name: rounded(value) for name, value in pairs}


def as_metered(row: dict[str, float]) -> dict[str, float]:
    """Return what was measured with the metered costs in the columns of a paper's accounting."""
    return row | {f"{name}_paper": row[name] for name in ("valid_cost", "test_cost")}


def prices_of(dataset) -> dict[str, Any]:
    """Return the prices of a data set as parameters of an estimator."""
    names = ("feature_costs", "feature_groups", "group_costs")
    return {name: getattr(dataset, name) for name in names}


def price_with_group(dataset) -> np.ndarray:
    """Return what each feature costs if it is acquired alone, (d,) float64."""
    if dataset.group_costs is None:
        return dataset.feature_costs
    shared = [dataset.group_costs[label] for label in dataset.feature_groups.tolist()]
    return dataset.feature_costs + np.array(shared)


def all_prices(dataset) -> float:
    """Return what all features cost together; prices of groups count once."""
    groups = dataset.group_costs or {}
    return float(np.sum(dataset.feature_costs)) + sum(groups.values())


def constant_loss(y: np.ndarray, classifies: bool) -> float:
    """Return the loss, a row, of the best constant: the entropy, or half the variance."""
    if not classifies:
        return float(np.var(y)) / 2
    shares = np.unique(y, return_counts=True)[1] / len(y)
    return -float(np.sum(shares * np.log(shares)))
