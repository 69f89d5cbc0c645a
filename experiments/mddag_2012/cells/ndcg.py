"""The averaged NDCG of LETOR 4.0, by which section 3.3 scores rankings."""

from __future__ import annotations

import numpy as np

from algorithms.metrics import query_starts


class MeanNDCG:
    """NDCG_m averaged over all places m of a query, then over queries.

    Gain, discount and ties are those of :func:`algorithms.metrics.ndcg_letor_at_k`: 2^y - 1, no
    discount at the second place, documents with equal scores stay in the order of the rows, a query
    without a relevant document counts 0.
    """

    def __init__(self, grades: np.ndarray, query_id: np.ndarray) -> None:
        self._starts = query_starts(query_id)
        self._sizes = np.diff(np.append(self._starts, len(grades)))
        self._query = np.repeat(np.arange(len(self._starts)), self._sizes)
        place = np.arange(len(grades)) - np.repeat(self._starts, self._sizes)
        self._gains = np.exp2(np.asarray(grades)) - 1.0
        self._discounts = np.log2(np.maximum(place + 1, 2))
        ideal = self._cumulated(self._gains)
        self._share = np.divide(1.0, ideal, out=np.zeros(len(ideal)), where=ideal > 0)

    def _cumulated(self, scores: np.ndarray) -> np.ndarray:
        """DCG at each place of each query, in the order of the ranking."""
        order = np.lexsort((-scores, self._query))  # stable: the rows' order in a tie
        total = np.cumsum(self._gains[order] / self._discounts)
        return total - np.repeat(np.r_[0.0, total[self._starts[1:] - 1]], self._sizes)

    def __call__(self, scores: np.ndarray) -> float:
        """Return the averaged NDCG of scores (n,), larger is better."""
        shares = self._cumulated(scores) * self._share
        sums = np.bincount(self._query, weights=shares, minlength=len(self._starts))
        return float(np.mean(sums / self._sizes))
