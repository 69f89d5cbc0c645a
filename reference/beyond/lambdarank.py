"""LambdaRank: gradients of a ranking, each pair of documents weighted by what it moves of NDCG.

C. J. C. Burges: From RankNet to LambdaRank to LambdaMART: An overview. Microsoft Research Technical
Report MSR-TR-2010-82 (2010), sections 3 to 7. Truncation and normalisation are LightGBM's
(documentation, ``lambdarank_truncation_level``, ``lambdarank_norm``), which [Burges 2010] has not.

=================  ========================================================================
symbol             name
=================  ========================================================================
s_i, l_i           score and grade of document i
U_i ▷ U_j          i has the higher grade: ``high`` and ``low``
σ                  1, LightGBM's ``sigmoid``: another is another unit of the scores
λ_ij, ρ_ij         ``pair``; ρ_ij = 1 / (1 + e^(s_i - s_j))
ΔZ_ij              change of NDCG if i and j swap places
T                  ``truncation``: only pairs with a document among the first T count
=================  ========================================================================

Rules

1. The gain of a grade is 2^l - 1, the discount of a place r = 0, 1, … is 1 / log2(r + 2), beyond T,
   too; the best DCG, which divides both, is that of the first T places.
2. The place of a document is the number of those above it: of a larger score, or of an equal score
   and a lower grade, as in :mod:`reference.metrics`. Documents of equal score and grade share a
   place, so that no derivative depends on the order of the rows. (LightGBM: the order of the rows.)
3. Unless all scores of a query are equal, ΔZ is divided by 0.01 + |s_i - s_j|; and the derivatives
   of a query are multiplied by log2(1 + S) / S, S the sum of the sizes of its λ. (LightGBM's
   ``lambdarank_norm``.)
4. A pair of equal grades, and so a query of one document, has no derivatives.
5. Each pair's λ and its derivative are rounded to a grid of 2^-k, k from the size of the largest
   query: sums are whole numbers, exact in any order.
6. e^s is taken of a score's distance from the largest of its query, at least -700.
"""

import math
from dataclasses import dataclass

import numpy as np

from reference import metrics
from reference.grid import sum_exponent

LEAST_DISTANCE = 0.01  # Rule 3.
LOWEST_SCORE = -700.0  # Rule 6.
LARGEST_PAIR = 1.0 / LEAST_DISTANCE  # ΔZ and ρ are at most 1.


def pair_exponent(largest: int) -> int:
    """Exponent k of Rule 5: a row's sums stay below 2^52, those of a query below 2^62."""
    of_row, of_query = LARGEST_PAIR * largest, LARGEST_PAIR * largest * largest
    return min(sum_exponent(of_row), 10 + sum_exponent(of_query))


def places(scores: np.ndarray, grades: np.ndarray) -> list[int]:
    """Place of each document of a query by Rule 2."""
    return [
        sum(t > s or (t == s and b < a) for t, b in zip(scores, grades, strict=True))
        for s, a in zip(scores, grades, strict=True)
    ]


def pair(delta: float, e_high: float, e_low: float) -> tuple[float, float]:  # Burges, section 4.1
    """Size of λ_ij and its derivative by s_i: ΔZ ρ, ΔZ ρ (1 - ρ)."""
    total = e_high + e_low
    size = delta * (e_low / total)
    return size, size * (e_high / total)


@dataclass(frozen=True)
class Ranking:
    """Queries as slices of the rows, and T."""

    queries: list[slice]
    truncation: int

    @property
    def largest(self) -> int:
        """Documents of the largest query."""
        return max(query.stop - query.start for query in self.queries)

    def rounding(self) -> float:
        """Size up to which a row's λ may be rounding: half a step a pair, times at most 1/ln 2."""
        return self.largest * 2.0 ** -pair_exponent(self.largest)

    def derivatives(self, scores: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and hessian (n,) of the documents, pair after pair.

        λ_i = Σ_{j: i ▷ j} -|λ_ij| + Σ_{j: j ▷ i} |λ_ij| (Burges, section 4.1, with the sign of a
        gradient); the second derivatives add up likewise.
        """
        largest = self.largest
        k = pair_exponent(largest)
        discount = 1.0 / np.log2(np.arange(2, largest + 2, dtype=np.float64))
        tops = [np.max(scores[query]) for query in self.queries]
        sizes = [query.stop - query.start for query in self.queries]
        e = np.exp(np.maximum(scores - np.repeat(tops, sizes), LOWEST_SCORE))
        g, h = np.zeros(len(y), dtype=np.int64), np.zeros(len(y), dtype=np.int64)
        totals = np.zeros(len(sizes), dtype=np.int64)
        for number, query in enumerate(self.queries):
            rows = range(query.start, query.stop)
            place = places(scores[query], y[query])
            best = metrics.dcg(np.array(sorted(y[query], reverse=True)), self.truncation)
            inverse = 1.0 / best if best > 0 else 0.0
            all_equal = np.max(scores[query]) == np.min(scores[query])
            for i in rows:
                for j in rows:
                    at = place[i - query.start], place[j - query.start]
                    if not y[i] > y[j] or min(at) >= self.truncation:
                        continue
                    gap = 2.0 ** int(y[i]) - 2.0 ** int(y[j])
                    delta = gap * abs(discount[at[0]] - discount[at[1]]) * inverse
                    if not all_equal:
                        delta = delta / (LEAST_DISTANCE + abs(scores[i] - scores[j]))
                    size, slope = (int(np.rint(math.ldexp(v, k))) for v in pair(delta, e[i], e[j]))
                    g[i] -= size
                    g[j] += size
                    h[i] += slope
                    h[j] += slope
                    totals[number] += 2 * size
        S = np.ldexp(totals.astype(np.float64), -k)
        factor = np.ones(len(S))
        np.divide(np.log2(1.0 + S), S, out=factor, where=S > 0)
        factor = np.repeat(factor, sizes)
        return np.ldexp(g.astype(float), -k) * factor, np.ldexp(h.astype(float), -k) * factor


def ranking_of(query_id, sample_weight, truncation: int) -> Ranking | None:
    """Queries of the rows that count; None without queries."""
    if query_id is None:
        return None
    query_id = np.asarray(query_id)
    if sample_weight is not None:
        query_id = query_id[np.asarray(sample_weight) > 0]
    return Ranking(metrics.query_slices(query_id), truncation)
