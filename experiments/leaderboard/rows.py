"""Which rows of a data set are played on."""

from __future__ import annotations

import numpy as np

from experiments.methods.problem import PARTS


def rows_of(part: str, n: int, query: np.ndarray | None, most: int, seed: int) -> np.ndarray:
    """Draw the rows of a part, see :func:`drawn_rows`: by its name, their number and the seed."""
    rng = np.random.default_rng([seed, 31, PARTS.index(part)])
    return drawn_rows(n, query, most, rng)


def drawn_rows(n: int, query: np.ndarray | None, most: int, rng: np.random.Generator) -> np.ndarray:
    """Draw rows, in their order; of rankings whole queries, as many as fit."""
    if query is None:
        return np.sort(rng.permutation(n)[:most])
    starts = np.flatnonzero(np.diff(query, prepend=query[0] - 1))
    sizes = np.diff(starts, append=n)
    order = rng.permutation(len(starts))
    taken = order[: max(1, int(np.searchsorted(np.cumsum(sizes[order]), most, side="right")))]
    return np.concatenate([np.arange(starts[q], starts[q] + sizes[q]) for q in np.sort(taken)])
