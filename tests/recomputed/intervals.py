"""Intervals of a mean over data sets, from the words of ``results/claims.md`` and of textbooks.

An effect of a repetition is a number, or one of each query: ``{query: effect}``.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict

from scipy import linalg, stats

from tests.experiments.published_rows import mean_of_known

FOLDS = 5


def means(effects) -> list[float]:
    """The effect of each repetition that has one."""
    each = [mean_of_known(e.values()) if isinstance(e, dict) else e for e in effects]
    return [effect for effect in each if not math.isnan(effect)]


def _of_few(values, shared=0.0):
    """Squared error of a mean and its degrees of freedom; all values share a part of what varies.

    Corrected as by Nadeau and Bengio (2003): the share is not averaged away.
    """
    if max(values) - min(values) <= 1e-12 * max(1, *map(abs, values)):  # equal but for rounding
        return 0.0, math.inf
    return statistics.variance(values) * (1 / len(values) + shared), len(values) - 1


def here(effects, in_folds):
    """Divisions and trainings vary: five folds are averaged first."""
    values = means(effects)
    if in_folds:
        whole = range(0, len(values) - FOLDS + 1, FOLDS)
        values = [statistics.mean(values[i : i + FOLDS]) for i in whole]
    return _of_few(values)


def elsewhere(effects, in_folds, overlap):
    """Rows or queries vary as well; None where all repetitions test the same rows."""
    if isinstance(effects[0], dict):
        every = {query for one in effects for query in one}
        return (_of_some if any(len(one) < len(every) for one in effects) else _of_all)(effects)
    if in_folds:
        return _of_few(means(effects), 1 / (FOLDS - 1))
    return None if overlap >= 1 else _of_few(means(effects), overlap / (1 - overlap))


def _of_all(effects):
    """Two crossed random factors, one value of each pair (Searle, Casella and McCulloch, 1992)."""
    queries, n, m = list(effects[0]), len(effects), len(effects[0])
    rows = [statistics.mean(one.values()) for one in effects]
    columns = [statistics.mean(one[query] for one in effects) for query in queries]
    mean = statistics.mean(rows)
    of_row, of_column = m * statistics.variance(rows), n * statistics.variance(columns)
    rest = sum(
        (one[query] - row - column + mean) ** 2
        for one, row in zip(effects, rows, strict=True)
        for query, column in zip(queries, columns, strict=True)
    ) / ((n - 1) * (m - 1))
    return _error(max(of_row, rest), max(of_column, rest), rest, n, m)


def _of_some(effects):
    """The same where each repetition tests some of all, by expected squares (Henderson, 1953)."""
    values = [value for one in effects for value in one.values()]
    of_query = defaultdict(list)
    for one in effects:
        for query, value in one.items():
            of_query[query].append(value)
    mean, n, m, cells = statistics.mean(values), len(effects), len(of_query), len(values)
    of_rows = [[value - mean for value in one.values()] for one in effects]
    of_columns = [[value - mean for value in each] for each in of_query.values()]
    squares = [sum(sum(e) ** 2 / len(e) for e in group) for group in (of_rows, of_columns)]
    squares.append(sum((value - mean) ** 2 for value in values))
    rows, columns = (sum(len(e) ** 2 for e in g) / cells for g in (of_rows, of_columns))
    coefficients = [
        [cells - rows, n - columns, n - 1],
        [m - rows, cells - columns, m - 1],
        [cells - rows, cells - columns, cells - 1],
    ]
    row, column, rest = (max(v, 0) for v in linalg.solve(coefficients, squares))
    # A query that is tested oftener counts more: as many as would be of equal weight.
    m = round(cells / columns)
    rest *= n * (cells / columns) / cells
    return _error(rest + m * row, rest + n * column, rest, n, m)


def _error(of_row, of_column, rest, n, m):
    """Squared error of the mean of n times m values by mean squares, and its freedom."""
    total = of_row + of_column - rest
    spread = of_row**2 / (n - 1) + of_column**2 / (m - 1) + rest**2 / ((n - 1) * (m - 1))
    return total / (n * m), total**2 / spread if spread else math.inf


def of_sets(effect, errors, level):
    """Low and high of the plain mean over sets, by Welch's and Satterthwaite's freedom."""
    total = sum(square for square, _ in errors)
    if not total:
        return effect, effect
    freedom = total**2 / sum(square**2 / freedom for square, freedom in errors)
    half = stats.t.ppf((1 + level) / 2, freedom) * math.sqrt(total) / len(errors)
    return effect - half, effect + half
