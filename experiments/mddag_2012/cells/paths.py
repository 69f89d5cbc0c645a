"""Classification paths, edges of the DAG and their multiplicities (section 3.1)."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np


def node_lists(paths) -> list[tuple[int, ...]]:
    """Return the base classifiers that each row evaluates, in their order."""
    paths = paths.tocsr().sorted_indices()
    return [tuple(nodes.tolist()) for nodes in np.split(paths.indices, paths.indptr[1:-1])]


def edges(taken: list[tuple[int, ...]]) -> Counter:
    """Return the multiplicity of each edge (j, j'): how many of the paths include it."""
    return Counter(edge for nodes in taken for edge in pairwise(nodes))


def visits(taken: list[tuple[int, ...]], n_base: int) -> np.ndarray:
    """Return how many of the paths evaluate each base classifier, (n_base,) int64."""
    flat = [node for nodes in taken for node in nodes]
    return np.bincount(np.array(flat, dtype=np.int64), minlength=n_base)
