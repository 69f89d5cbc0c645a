"""From a data set of the suite to the problem that every method is given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from datasets import aslib_sat12
from datasets import load as load_dataset
from datasets.dataset import Dataset, checksum
from experiments.leaderboard import families
from experiments.leaderboard.fields import SCALES, SECONDS, UNIFORM, Field
from experiments.leaderboard.rows import rows_of
from experiments.methods.problem import PARTS, Part, Problem, of_dataset
from experiments.methods.trained import Trained

METRICS = {"classification": "accuracy", "ranking": "ndcg@5"}


def load(name: str, *, scale: str, data: str = "real", seed: int = 0) -> Problem:
    """Load a field.

    Parameters
    ----------
    name : str
        Such as ``thyroid@dollars``.
    scale : str
        One of :data:`experiments.leaderboard.fields.SCALES`.
    data : ignored
        It is always real data.
    seed : int
        Of the split and of the rows that are drawn.
    """
    field, size = Field.named(name), SCALES[scale]
    if field.of_families:
        dataset = families.table(field.dataset, size.of_data, size.rows, seed)
    else:
        dataset = load_dataset(field.dataset, scale=size.of_data, data="real", seed=seed)
    return problem_of(dataset, field.prices, size.rows, seed)


def took(name: str, seed: int) -> dict[str, np.ndarray] | None:
    """Give what each purchase took on each row, by part; None where all rows pay the same.

    The rows are all that there are, as :func:`load` gives them.
    """
    return aslib_sat12.seconds(seed) if Field.named(name).prices == SECONDS else None


def bills(made: Trained, part: Part, took: np.ndarray | None) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield what a model says of the rows at each cut, and what they pay.

    Where rows took times of their own they pay these; a class of the user's that does not say what
    it acquired is billed by itself.
    """
    for cut, (answer, cost) in zip(made.cuts, made.follow(part), strict=True):
        acquired = None if took is None else getattr(made.model(cut), "acquired_features", None)
        yield answer, cost if acquired is None else aslib_sat12.bill(acquired(part.X), took)


def problem_of(dataset: Dataset, prices: str, most: tuple[int, int, int], seed: int) -> Problem:
    """Draw rows of a data set and give it prices."""

    def chosen(part: str, n: int, query: np.ndarray | None) -> np.ndarray:
        return rows_of(part, n, query, most[PARTS.index(part)], seed)

    task = "ranking" if dataset.task == "ranking" else "classification"
    problem = of_dataset(dataset, chosen, metric=METRICS[task])
    if prices == UNIFORM:
        alone = {"feature_groups": None, "group_costs": None}
        problem = replace(problem, feature_costs=np.ones(dataset.n_features), **alone)
    seen = {
        f"{name}_{part}": value
        for part, rows in problem.parts.items()
        for name, value in (("X", rows.X.to_numpy()), ("y", rows.y), ("query", rows.query))
    }
    seen["feature_costs"] = problem.feature_costs
    if problem.feature_groups is not None:
        seen["groups"] = np.array(problem.feature_groups)
        seen["group_costs"] = np.array(list((problem.group_costs or {}).values()))
    return replace(problem, provenance={"checksum": checksum(seen), **problem.provenance})
