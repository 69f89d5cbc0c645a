"""One effect over several data sets, with an interval that knows what varies between repetitions.

A set's mean has a variance of two parts: one falls with the number of repetitions n, the other
does not, because all repetitions share it (test queries that are always the same, rows that are
divided again). The pooled effect is the plain mean over named sets, so that a set with little noise
does not decide for the others; its degrees of freedom are Satterthwaite's (Biometrics Bulletin 2,
1946). It speaks of these sets, not of a new one: the spread between sets, τ, is printed beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

POWER = 0.8
"""Chance with which the smallest detectable effect is found."""

MOST_REPETITIONS = 10_000
"""Beyond this a number of repetitions is called infinite."""

LEAST_DIVISIONS = 4
"""Whole divisions of a set without which there is no interval: where one set varies more than the
others, one of two divisions misses ten times as often as Satterthwaite's freedom has it, one of
four up to three times (``test_truths.py``)."""

_NORMAL = special.ndtri((np.arange(400) + 0.5) / 400)
"""Values of a normal variable that are equally likely."""

_ROUNDING = 1e-12
"""What effects may differ by and be equal: differences of decimals are not exact in binary."""


@dataclass(frozen=True)
class SetMean:
    """The mean effect on one data set and the components of its variance."""

    effect: float  # Mean over repetitions, and over queries where each has effects of its own
    n: int  # Repetitions
    # repetition, both: Variance between repetitions, σ_s², and what is left for each query of each,
    # σ_sq²; without queries `both` is 0
    repetition: float
    both: float = 0.0
    query: float = 0.0  # Variance between queries, σ_q²; 0 without them
    n_queries: int = 1  # 1 without queries
    # Share of the variance between repetitions that no number of them removes: 1/4 where a
    # repetition is one of five folds, m/(1 - m) where repetitions share a part m of their test rows
    # (Nadeau and Bengio, Machine Learning 52, 2003)
    shared: float = 0.0
    unit: int = 1  # Repetitions that make a whole division: five folds, else one

    def variance(self, n: int | None = None) -> float:
        """Variance of the mean over `n` repetitions; by default over those there are."""
        return sum(self._terms(self.n if n is None else n))

    def freedom(self, n: int | None = None) -> float:
        """Satterthwaite's degrees of freedom of :meth:`variance`; infinite where nothing varies."""
        n = self.n if n is None else n
        if self.n_queries == 1:
            return n / self.unit - 1.0
        # The variance is (MS_s + MS_q - MS_sq)/(SQ), each mean square with its own freedom.
        cells = n * self.n_queries
        squares = (
            (n - 1, self.both + self.n_queries * self.repetition),
            (self.n_queries - 1, self.both + n * self.query),
            ((n - 1) * (self.n_queries - 1), self.both),
        )
        spread = sum((square / cells) ** 2 / freedom for freedom, square in squares)
        return self.variance(n) ** 2 / spread if spread > 0 else math.inf

    def floor(self) -> float:
        """Variance that is left however many repetitions there are."""
        return self.repetition * self.shared + self.query / self.n_queries

    def moves(self, n: int) -> float:
        """Variance of the mean over `n` repetitions about that over those there are, given these.

        What all repetitions share does not move.
        """
        return (self.repetition + self.both / self.n_queries) * max(1 / self.n - 1 / n, 0.0)

    def _terms(self, n: int) -> tuple[float, ...]:
        return (
            self.repetition * (1 / n + self.shared),
            self.both / (n * self.n_queries),
            self.query / self.n_queries,
        )


def of_repetitions(effects: np.ndarray, shared: float = 0.0) -> SetMean:
    """Return the mean of one effect per repetition."""
    known = np.asarray(effects, dtype=np.float64)
    known = known[~np.isnan(known)]
    if len(known) < 2:
        raise ValueError(f"{len(known)} repetitions have an effect; an interval needs two.")
    mean, low, high = known.mean(), known.min(), known.max()
    varies = high - low > _ROUNDING * max(1.0, -low, high)
    variance = float(((known - mean) ** 2).sum() / (len(known) - 1)) if varies else 0.0
    return SetMean(float(mean), len(known), variance, shared=shared)


def of_divisions(effects: np.ndarray, folds: int = 1) -> SetMean:
    """Return the mean on these data, where divisions and trainings alone vary.

    Parameters
    ----------
    effects : array of shape (n,) or (n, n_queries)
        Of each repetition, or of each query of each; NaN where one has none.
    folds : int
        So many repetitions make a whole division, one after the other: they are averaged first,
        since a row that one of them tests no other does.
    """
    table = np.asarray(effects, dtype=np.float64)
    if folds > 1:
        table = table[: len(table) // folds * folds].reshape(-1, folds)
    known = ~np.isnan(table)
    if table.ndim > 1:
        table, known = table[known.any(axis=1)], known[known.any(axis=1)]
        table = np.where(known, table, 0.0).sum(axis=1) / known.sum(axis=1)
    one = of_repetitions(table)
    return replace(one, n=one.n * folds, repetition=one.repetition * folds, unit=folds)


def of_queries(effects: np.ndarray) -> SetMean:
    """Return the mean of one effect per repetition and query, for new trainings and new queries.

    Two crossed random factors without replication: mean squares MS_s, MS_q, MS_sq give σ_sq² =
    MS_sq, σ_s² = (MS_s - MS_sq)/Q and σ_q² = (MS_q - MS_sq)/S, none below 0.
    """
    table = np.asarray(effects, dtype=np.float64)
    if table.ndim != 2 or min(table.shape) < 2:
        raise ValueError("Crossed effects need two repetitions and two queries at least.")
    if np.isnan(table).any():
        raise ValueError("Some effects of queries are NaN.")
    n, n_queries = table.shape
    mean, of_row, of_column = table.mean(), table.mean(axis=1), table.mean(axis=0)
    rest = table - of_row[:, None] - of_column[None, :] + mean
    ms_rows = n_queries * np.sum((of_row - mean) ** 2) / (n - 1)
    ms_columns = n * np.sum((of_column - mean) ** 2) / (n_queries - 1)
    ms_rest = np.sum(rest**2) / ((n - 1) * (n_queries - 1))
    return SetMean(
        float(mean),
        n,
        repetition=float(max(ms_rows - ms_rest, 0.0) / n_queries),
        both=float(ms_rest),
        query=float(max(ms_columns - ms_rest, 0.0) / n),
        n_queries=n_queries,
    )


def of_drawn_queries(effects: np.ndarray) -> SetMean:
    """Return the mean of one effect per repetition and query, where a repetition tests some of all.

    The components are those of :func:`of_queries`, by Henderson's first method (Biometrics 9,
    1953): sums of squares of the unbalanced table are set equal to what they are expected to be.
    Which queries a repetition tests must not depend on their effects. The mean is that of all
    cells; a query that is tested more often counts more, so that the number of queries is the
    effective one, N²/Σn_q².
    """
    table = np.asarray(effects, dtype=np.float64)
    if table.ndim == 2:
        table = table[:, ~np.isnan(table).all(axis=0)]
    known = ~np.isnan(table)
    if table.ndim != 2 or min(table.shape) < 2 or known.sum() <= max(table.shape):
        raise ValueError("Two repetitions and two queries are needed, and queries tested twice.")
    n_cells, of_row, of_column = known.sum(), known.sum(axis=1), known.sum(axis=0)
    mean = table[known].mean()
    table = np.where(known, table - mean, 0.0)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    squares = np.array([np.sum(rows**2 / of_row), np.sum(columns**2 / of_column), np.sum(table**2)])
    shares_row, shares_column = np.sum(of_row**2) / n_cells, np.sum(of_column**2) / n_cells
    n, n_queries = table.shape
    # Expected squares about the mean, as weights of σ_s², σ_q² and σ_sq²; n_rq² = n_rq.
    expected = np.array(
        [
            [n_cells - shares_row, n - shares_column, n - 1],
            [n_queries - shares_row, n_cells - shares_column, n_queries - 1],
            [n_cells - shares_row, n_cells - shares_column, n_cells - 1],
        ]
    )
    repetition, query, both = np.maximum(np.linalg.solve(expected, squares), 0.0)
    effective = n_cells / shares_column
    return SetMean(
        float(mean),
        n,
        repetition=float(repetition),
        both=float(both * n * effective / n_cells),
        query=float(query),
        n_queries=round(effective),
    )


@dataclass(frozen=True)
class Pooled:
    """An effect over named sets."""

    effect: float  # effect, low, high: Mean of the sets' means with its interval
    low: float
    high: float
    freedom: float  # Degrees of freedom
    sets: tuple[SetMean, ...]  # What was pooled
    level: float  # level, delta: Of the interval; the smallest effect of interest
    delta: float

    @property
    def n(self) -> int:
        """Repetitions of the set that has the fewest."""
        return min(one.n for one in self.sets)

    @property
    def of_sets(self) -> tuple[float, ...]:
        """The effect on each set."""
        return tuple(one.effect for one in self.sets)

    @property
    def tau(self) -> float:
        """Standard deviation of effects between sets beyond noise; 0 for one set.

        Hedges' estimator: the variance of the sets' means less the mean of their variances.
        """
        if len(self.sets) < 2:
            return 0.0
        spread = np.var(self.of_sets, ddof=1)
        return math.sqrt(max(spread - np.mean([one.variance() for one in self.sets]), 0.0))

    @property
    def finds(self) -> float:
        """Smallest effect that so many repetitions find with :data:`POWER`, in units of δ."""
        if math.isinf(self.high):
            return math.inf
        error, freedom = _error(self.sets)
        tails = _quantile((1 + self.level) / 2, freedom) + _quantile(POWER, freedom)
        return tails * error / self.delta

    def of_each(self) -> list[Pooled]:
        """Return the interval of each set alone, at a level at which all hold together."""
        level = 1 - (1 - self.level) / len(self.sets)
        return [pooled([one], level, self.delta) for one in self.sets]

    @property
    def floor(self) -> float:
        """Smallest detectable effect of however many repetitions, in units of δ."""
        left = math.sqrt(sum(one.floor() for one in self.sets)) / len(self.sets)
        z = float(special.ndtri((1 + self.level) / 2) + special.ndtri(POWER))
        return z * left / self.delta


def pooled(sets: Sequence[SetMean], level: float, delta: float) -> Pooled:
    """Pool the means of named sets with equal weights; of too few divisions without an end."""
    effect, error, freedom = sum(one.effect for one in sets) / len(sets), *_error(sets)
    half = _quantile((1 + level) / 2, freedom) * error
    if any(one.n < LEAST_DIVISIONS * one.unit for one in sets if one.unit > 1):
        half = math.inf
    return Pooled(effect, effect - half, effect + half, freedom, tuple(sets), level, delta)


def chance(
    sets: Sequence[SetMean], n: int, level: float, delta: float, decides: Callable[[Pooled], bool]
) -> float:
    """Predict with which probability `n` repetitions of each set decide.

    The predictive power of Spiegelhalter, Abrams and Myles (Bayesian Approaches to Clinical Trials,
    2004): nothing is known of the effect but what the repetitions there are say, and the components
    of the variance are taken to be what they are estimated to be.
    """
    now = pooled(sets, level, delta)
    error, freedom = _error(sets, n)
    half = _quantile((1 + level) / 2, freedom) * error
    moves = math.sqrt(sum(one.moves(n) for one in sets)) / len(sets)
    effects = (now.effect + moves * _NORMAL).tolist()
    intervals = (replace(now, effect=e, low=e - half, high=e + half) for e in effects)
    return sum(map(decides, intervals)) / len(effects)


def enough(found: Pooled, n: int, decides: Callable[[Pooled], bool]) -> float:
    """Return the repetitions of each set by which a verdict is more likely than not.

    Parameters
    ----------
    found : Pooled
        By the repetitions there are.
    n : int
        How many there are of each set; the smallest number that is returned is one more.
    decides : callable
        Whether an interval does.

    Returns
    -------
    float
        Infinite beyond :data:`MOST_REPETITIONS`, as where an effect lies near δ or test examples
        are too few.
    """

    def likely(n: int) -> bool:
        return chance(found.sets, n, found.level, found.delta, decides) > 0.5

    if n >= MOST_REPETITIONS or not likely(MOST_REPETITIONS):
        return math.inf
    too_few, are_enough = n, MOST_REPETITIONS
    while are_enough - too_few > 1:
        middle = (too_few + are_enough) // 2
        too_few, are_enough = (too_few, middle) if likely(middle) else (middle, are_enough)
    return float(are_enough)


def _error(sets: Sequence[SetMean], n: int | None = None) -> tuple[float, float]:
    """Standard error of the pooled mean, and Satterthwaite's degrees of freedom."""
    variances = [one.variance(n) / len(sets) ** 2 for one in sets]
    total = sum(variances)
    if total == 0:
        return 0.0, math.inf
    spread = sum(v**2 / one.freedom(n) for v, one in zip(variances, sets, strict=True) if v > 0)
    return math.sqrt(total), total**2 / spread if spread > 0 else math.inf


def _quantile(p: float, freedom: float) -> float:
    if math.isinf(freedom):
        return float(special.ndtri(p))
    return float(special.stdtrit(freedom, p))
