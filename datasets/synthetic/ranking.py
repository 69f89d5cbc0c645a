"""The generator of synthetic ranking sets: documents of queries, with graded relevance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from datasets import ranking
from datasets.synthetic.streams import PARTS, part_generator, record, rounded, structure

N_PLAIN, ON_QUERY, N_SEEN = 8, 0.1, 0.25
CHEAP_NOISE, EXPENSIVE_NOISE = 1.2, 0.8
ZEROS = (0.1, 0.95)
"""A feature is 0 in a share of the documents that is drawn between these."""
PIECE = 20_000
"""Documents drawn at once."""


@dataclass(frozen=True)
class Ranking:
    """What a ranking set looks like."""

    name: str
    costs: np.ndarray  # Of each feature: what costs more has less noise
    query_documents: tuple[int, int]  # Least and most documents of a query
    shares: tuple[float, ...]  # Of each grade, the worst first
    scaled: bool = False  # Each feature scaled to [0, 1] within its query, as LETOR does
    constant: tuple[int, ...] = ()  # Numbers, from 0, of features that are 0 throughout

    def documents(self, n_rows: int, seed: int, part: str) -> ranking.Triple:
        """Draw features, grades and queries."""
        rng = part_generator(self.name, seed, part)
        sizes = query_sizes(rng, n_rows, *self.query_documents)
        owner = np.repeat(np.arange(sizes.size), sizes)
        u, z = rng.standard_normal((sizes.size, 2))[owner], rng.standard_normal((n_rows, N_PLAIN))
        interaction = z[:, 1] * z[:, 2]
        relevance = 1.5 * z[:, 0] / (1.0 + np.abs(z[:, 0])) + 0.5 * interaction + 0.3 * u[:, 0]
        relevance += 0.4 * (z[:, 3] - z[:, 4]) + 0.2 * np.abs(z[:, 5])
        seen = np.column_stack([z, u[:, 1], relevance])
        noisy = rounded(relevance + 0.5 * rng.standard_normal(n_rows))
        y = np.searchsorted(np.quantile(noisy, np.cumsum(self.shares)[:-1]), noisy)
        X = np.empty((n_rows, self.costs.size))
        pieces = [slice(start, start + PIECE) for start in range(0, n_rows, PIECE)]
        for piece in pieces:
            X[piece] = self._features(seen[piece], rng)
        on_query = structure(f"{self.name} query").random(self.costs.size) < ON_QUERY
        on_query &= self.costs < self.costs.max()
        first = np.r_[0, np.cumsum(sizes)[:-1]]
        X[:, on_query] = X[first][:, on_query][owner]
        if self.scaled:
            _scale_within_queries(X, sizes)
        for piece in pieces:
            X[piece] = rounded(X[piece])
        X[:, list(self.constant)] = 0.0
        return X, y.astype(float), (owner + 10_000_000 * PARTS.index(part)).astype(np.int64)

    def _features(self, seen: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw features: cheap ones see properties, the most expensive fifth the relevance."""
        fixed, d = structure(self.name), self.costs.size
        prices = np.unique(self.costs)
        rank = np.searchsorted(prices, self.costs) / (prices.size - 1)
        loadings = fixed.normal(0.0, 1.0, (seen.shape[1], d))
        loadings *= fixed.random(loadings.shape) < N_SEEN
        loadings[-1] = np.where(rank >= 0.8, 1.0, 0.0)
        noise = CHEAP_NOISE + (EXPENSIVE_NOISE - CHEAP_NOISE) * rank
        spread = np.sqrt(np.square(loadings).sum(axis=0) + noise * noise)
        threshold = np.round(ndtri(fixed.uniform(*ZEROS, d)), 3)
        X = (seen @ loadings + noise * rng.standard_normal((len(seen), d))) / spread
        X = np.maximum(X - threshold, 0.0)
        return X / (1.0 + X)


def dataset_parts(shape: Ranking, sizes: tuple[int, int, int], seed: int):
    """Draw the three parts of a set, and give its record."""
    drawn = {
        part: shape.documents(size, seed, part) for part, size in zip(PARTS, sizes, strict=True)
    }
    arrays, facts = ranking.part_arrays(drawn)
    return arrays, {**record(sizes, "documents"), "queries": facts}


def query_sizes(rng: np.random.Generator, n_rows: int, low: int, high: int) -> np.ndarray:
    """Draw numbers of documents per query that add up to ``n_rows``.

    The last query takes what is left; less than ``low`` joins the query before it.
    """
    draws = rng.integers(low, high + 1, n_rows // low + 1)
    ends = np.cumsum(draws)
    n_queries = int(np.searchsorted(ends, n_rows)) + 1
    sizes = draws[:n_queries].copy()
    sizes[-1] -= ends[n_queries - 1] - n_rows
    if sizes[-1] < low and n_queries > 1:
        sizes[-2] += sizes[-1]
        sizes = sizes[:-1]
    return sizes


def _scale_within_queries(X: np.ndarray, sizes: np.ndarray) -> None:
    """Scale each feature to [0, 1] within each query, in place; a constant becomes 0."""
    first = np.r_[0, np.cumsum(sizes)[:-1]]
    low = np.minimum.reduceat(X, first, axis=0)
    span = np.maximum.reduceat(X, first, axis=0) - low
    X -= np.repeat(low, sizes, axis=0)
    X /= np.repeat(np.where(span > 0, span, 1.0), sizes, axis=0)
