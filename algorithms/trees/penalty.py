"""What a split pays: the questions a grower asks of any penalty, and CEGB's answers.

A penalty is a NamedTuple of prices and of accounts: what has been paid for already. The grower does
four things with one, whatever its class, and reads nothing in it:

===================  ================================================================
:func:`begin_tree`   a new tree is a single leaf, node 0
:func:`charge`       what splitting a leaf on a feature would take off its gain
:func:`pay`          the split is made
:func:`divide`       the rows of the split node now lie in two leaves
===================  ================================================================

numba chooses by the class of the penalty when it compiles the grower, and puts the function in
place of the call: there is one compiled grower for each class, and no choice is left for run time.
A further penalty is a NamedTuple, four functions marked :func:`implements`, and a
:class:`Charging` that allocates it.

CEGB's penalty (Peter et al. 2017) is below, equation by equation; its reference is
:mod:`reference.cegb`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..kernels.decorators import COMPILED_ONLY, allocating_kernel, chosen_by_class, kernel
from ..kernels.loops import for_each
from ..kernels.simd import count_bits, prefetch
from .histogram import of_row, weights_of
from .partition import AHEAD, CHUNK, PARALLEL_ROWS

# --- What a grower asks of a penalty -----------------------------------------------------------


def begin_tree(penalty: Any) -> None:
    """Open the accounts of a new tree, whose only leaf is node 0."""
    raise NotImplementedError(COMPILED_ONLY)


def charge(penalty: NamedTuple, leaf: int, feature: int, n_rows: float) -> float:
    """Return what splitting a leaf on a feature takes off its gain: λ ΔΨ.

    Parameters
    ----------
    penalty : NamedTuple
    leaf, feature : int
    n_rows : float
        Weighted rows of the leaf.
    """
    raise NotImplementedError(COMPILED_ONLY)


def pay(penalty: NamedTuple, node: int, feature: int, rows: np.ndarray) -> bool:
    """Bring the accounts up to date: the node is split on the feature.

    Parameters
    ----------
    penalty : NamedTuple
    node, feature : int
    rows : ndarray of int32
        Rows of the node.

    Returns
    -------
    bool
        Whether leaves elsewhere in the tree are charged differently from now on.
    """
    raise NotImplementedError(COMPILED_ONLY)


def divide(
    penalty: NamedTuple, node: int, leaves: tuple, rows: np.ndarray, gh: np.ndarray, n_rows: int
) -> None:
    """Open the accounts of the two leaves under a node that has just been split.

    Parameters
    ----------
    penalty : NamedTuple
    node : int
    leaves : tuple of two int
        The leaf with fewer rows, and the other one.
    rows : ndarray of int32
        Rows of the first.
    gh : ndarray, see :func:`algorithms.trees.histogram.build`
        Its third column, if there is one, holds the row weights on their grid.
    n_rows : int
        Weighted rows of the first leaf, on the weights' grid.
    """
    raise NotImplementedError(COMPILED_ONLY)


def implements(question: Callable, kind: type) -> Callable:
    """Decorate the function that answers a grower's question for one class of penalties.

    Parameters
    ----------
    question : callable
        :func:`begin_tree`, :func:`charge`, :func:`pay` or :func:`divide`.
    kind : type
        A NamedTuple.
    """

    def register(answer: Callable) -> Callable:
        @chosen_by_class(question)
        def choose(penalty, *_):
            return answer if getattr(penalty, "instance_class", None) is kind else None

        return answer

    return register


class Charging(Protocol):
    """What the boosting loop asks: the accounts of a fit, and what happens between rounds."""

    def begin(
        self, n_samples: int, total_weight: int, weight_step: float, n_nodes: int
    ) -> NamedTuple:
        """Return the penalty before the first tree."""

    def end_round(self, penalty: Any) -> None:
        """Bring the accounts up to date after all trees of a round."""

    def for_samples(self, penalty: Any) -> Any:
        """Return the penalty of trees each of which counts some rows only."""

    def recount(self, penalty: Any, gh: np.ndarray) -> None:
        """Open the accounts of all rows anew, by what rows weigh now."""

    def go_on(self, penalty: Any, used: np.ndarray, n_trees: int, acquired: np.ndarray) -> None:
        """Enter into fresh accounts what an earlier model has paid for."""

    def row_accounts(self, penalty: Any) -> np.ndarray:
        """Return the accounts that are sums over the rows of a node, (n_nodes, n_accounts) int64.

        Where rows lie on several machines, each opens them for its own, and those of all rows are
        the sums. They are the penalty's own memory, not a copy.
        """


# --- CEGB: prices and accounts -----------------------------------------------------------------


class CEGBPenalty(NamedTuple):
    """Prices of Eqs. (4)-(6), and what has been paid for already.

    A *unit* is what one acquisition brings: a feature, or a group of them. A *mark* is the bit, in
    the row's words of `marks`, of a priced unit, or of a feature with a price beside its unit's. A
    row is *fresh* to what it has not used yet.
    """

    tradeoff: float  # lambda
    split_price: np.ndarray  # (n_features,) alpha / eps_m
    row_price: np.ndarray  # (n_features,) beta_m
    own_price: np.ndarray  # (n_features,) beta_m beside that of its group
    model_price: np.ndarray  # (n_features,) gamma_m
    unit: np.ndarray  # (n_features,) int64
    mark: np.ndarray  # (n_features,) int64, -1 where row_price is 0
    own_mark: np.ndarray  # (n_features,) int64, -1 where own_price is 0
    model_uses: np.ndarray  # (n_units,) uint8, D(k, m)
    marks: np.ndarray  # (n_samples, n_words) uint64, C(k, i, m)
    all_fresh: np.ndarray  # (n_marks,) int64, fresh rows of all, weighted, on the weights' grid
    fresh: np.ndarray  # (n_nodes, n_marks) int64, those of each node
    mark_counts: np.ndarray  # (n_chunks, 64 * n_words) int64, scratch space
    weight_step: float  # of the weights' grid
    sampled: bool = False  # whether trees count some rows only: none may be fresh, others still


@dataclass(frozen=True)
class Prices:
    """Prices of CEGB's objective, Eq. (13); all zero in plain boosting."""

    tradeoff: float  # lambda of Eq. (2)
    split: np.ndarray  # (n_features,): alpha / eps_m
    row: np.ndarray  # (n_features,): beta_m, paid at a row's first use of the unit
    own: np.ndarray  # (n_features,): paid besides, at its first use of the feature itself
    model: np.ndarray  # (n_features,): gamma_m
    # (n_features,) int64: what one acquisition brings: the feature itself, or its group
    unit: np.ndarray

    def begin(
        self, n_samples: int, total_weight: int, weight_step: float, n_nodes: int
    ) -> CEGBPenalty:
        """Return the accounts before the first tree: nothing has been used yet.

        Parameters and value are those of :meth:`Charging.begin`.
        """
        n_units = int(self.unit.max(initial=-1)) + 1
        mark_of_unit = np.full(n_units, -1, dtype=np.int64)
        own_mark = np.full(len(self.unit), -1, dtype=np.int64)
        n_marks = 0
        if self.tradeoff > 0:
            priced, priced_alone = np.unique(self.unit[self.row > 0]), np.flatnonzero(self.own > 0)
            n_marks = len(priced) + len(priced_alone)
            mark_of_unit[priced] = np.arange(len(priced))
            own_mark[priced_alone] = np.arange(len(priced), n_marks)
        n_words = -(-n_marks // 64)
        return CEGBPenalty(
            tradeoff=self.tradeoff,
            split_price=self.split,
            row_price=self.row,
            own_price=self.own,
            model_price=self.model,
            unit=self.unit,
            mark=mark_of_unit[self.unit],
            own_mark=own_mark,
            model_uses=np.zeros(n_units, dtype=np.uint8),
            marks=np.zeros((n_samples, n_words), dtype=np.uint64),
            all_fresh=np.full(n_marks, total_weight, dtype=np.int64),
            fresh=np.zeros((n_nodes, n_marks), dtype=np.int64),
            mark_counts=np.zeros((n_samples // CHUNK + 1, 64 * n_words), dtype=np.int64),
            weight_step=weight_step,
        )

    def end_round(self, penalty: CEGBPenalty) -> None:
        """Do nothing: C and D are brought up to date with every split."""

    def for_samples(self, penalty: CEGBPenalty) -> CEGBPenalty:
        """Return the penalty of trees that see samples; see :meth:`Charging.for_samples`."""
        return penalty._replace(sampled=True)

    def recount(self, penalty: CEGBPenalty, gh: np.ndarray) -> None:
        """Count the fresh rows of all; see :meth:`Charging.recount`."""
        n_rows, n_marks = len(penalty.marks), len(penalty.all_fresh)
        if n_marks == 0:
            return
        counts = np.zeros(64 * penalty.marks.shape[1], dtype=np.int64)
        count_marks(penalty.marks, np.arange(n_rows, dtype=np.int32), gh, counts)
        weights = weights_of(gh)
        total = n_rows if weights is None else weights.sum(dtype=np.int64)
        penalty.all_fresh[:] = total - counts[:n_marks]

    def go_on(
        self, penalty: CEGBPenalty, used: np.ndarray, n_trees: int, acquired: np.ndarray
    ) -> None:
        """Mark what earlier trees use; see :meth:`Charging.go_on`."""
        penalty.model_uses[penalty.unit[used]] = 1
        for feature in used.tolist():
            rows = np.flatnonzero(acquired[:, feature]).astype(np.int32)
            for mark in (penalty.mark[feature], penalty.own_mark[feature]):
                if mark >= 0:
                    mark_rows(penalty.marks, rows, mark)

    def row_accounts(self, penalty: CEGBPenalty) -> np.ndarray:
        """Return the fresh rows of each node."""
        return penalty.fresh


# --- CEGB: what a candidate pays ---------------------------------------------------------------


@implements(charge, CEGBPenalty)
def _charge(penalty, leaf, feature, n_rows):
    # One function, not one for each equation: a call would count references to all arrays.
    evaluation_cost = n_rows * penalty.split_price[feature]  # Eq. (6), what the split adds
    model_feature_cost = 0.0  # Eq. (5), what the split adds: 1 - D(k, m)
    if penalty.model_uses[penalty.unit[feature]] == 0:
        model_feature_cost = penalty.model_price[feature]
    n_fresh = 0.0  # Eq. (4), what the split adds: the sum of 1 - C(k, i, m)
    if penalty.mark[feature] >= 0:
        n_fresh = penalty.fresh[leaf, penalty.mark[feature]] * penalty.weight_step
    feature_cost = penalty.row_price[feature] * n_fresh
    n_fresh = 0.0  # the same of the feature itself, beside its group
    if penalty.own_mark[feature] >= 0:
        n_fresh = penalty.fresh[leaf, penalty.own_mark[feature]] * penalty.weight_step
    own_feature_cost = penalty.own_price[feature] * n_fresh
    change = (evaluation_cost + model_feature_cost) + feature_cost  # Eq. (13); Eqs. (9c) and (9d)
    return penalty.tradeoff * (change + own_feature_cost)  # Eq. (12), the last term


# --- CEGB: what a split changes ----------------------------------------------------------------


@implements(begin_tree, CEGBPenalty)
def _begin_tree(penalty):
    for mark in range(penalty.all_fresh.shape[0]):
        penalty.fresh[0, mark] = penalty.all_fresh[mark]


@kernel
def _mark_chunk(c, marks, rows, mark):
    mark_rows(marks, rows[c * CHUNK : (c + 1) * CHUNK], mark)


@kernel
def _mark_used(penalty, node, mark, rows):
    """C: the rows of the node have a mark from here on."""
    if mark >= 0 and (penalty.sampled or penalty.fresh[node, mark] > 0):
        n_chunks = (rows.shape[0] + CHUNK - 1) // CHUNK  # each row is there once
        shared = rows.shape[0] > PARALLEL_ROWS
        for_each(_mark_chunk, n_chunks, shared, (penalty.marks, rows, mark))
        penalty.all_fresh[mark] -= penalty.fresh[node, mark]
        penalty.fresh[node, mark] = 0


@implements(pay, CEGBPenalty)
def _pay(penalty, node, feature, rows):
    """C and D: the rows of the node, and the model, have used the feature from here on."""
    _mark_used(penalty, node, penalty.mark[feature], rows)
    _mark_used(penalty, node, penalty.own_mark[feature], rows)
    unit = penalty.unit[feature]
    if penalty.model_uses[unit] == 0:
        penalty.model_uses[unit] = 1
        return penalty.model_price[feature] > 0.0
    return False


@implements(divide, CEGBPenalty)
def _divide(penalty, node, leaves, rows, gh, n_rows):
    if penalty.fresh.shape[1] > 0:
        _count_fresh(penalty, node, leaves, rows, gh, n_rows)


@kernel
def _count_chunk(c, marks, rows, gh, counts):
    count_marks(marks, rows[c * CHUNK : (c + 1) * CHUNK], gh, counts[c])


@kernel
def _count_fresh(penalty, node, leaves, rows, gh, n_rows):
    """Fresh rows of two leaves: those of the first are counted, the others are left over."""
    counts, fresh = penalty.mark_counts, penalty.fresh
    n_chunks = max(1, (rows.shape[0] + CHUNK - 1) // CHUNK)
    shared = rows.shape[0] > PARALLEL_ROWS
    for_each(_count_chunk, n_chunks, shared, (penalty.marks, rows, gh, counts))
    for c in range(1, n_chunks):
        for mark in range(counts.shape[1]):
            counts[0, mark] += counts[c, mark]
    for mark in range(fresh.shape[1]):
        fresh[leaves[0], mark] = n_rows - counts[0, mark]
        fresh[leaves[1], mark] = fresh[node, mark] - fresh[leaves[0], mark]


# --- CEGB: C(k, i, m) as one bit for each row and priced unit ----------------------------------


@kernel
def mark_rows(marks: NDArray[np.uint64], rows: Any, mark: int) -> None:
    """Set the bit `mark` of each of the rows."""
    word = np.uint64(mark >> 6)
    bit = np.uint64(1) << np.uint64(mark & 63)
    flat, width, n_rows = marks.reshape(-1), np.uint64(marks.shape[1]), np.uint64(rows.shape[0])
    for i in range(n_rows):
        ahead = np.uint64(rows[min(i + np.uint64(AHEAD), n_rows - np.uint64(1))])
        prefetch(flat, np.int64(ahead * width + word))
        flat[np.uint64(rows[i]) * width + word] |= bit


@kernel
def _count_block(marks, rows, start, stop, lanes, counts):
    """Count the set bits of at most 252 rows: a one-byte counter holds 255."""
    n_words = marks.shape[1]
    lanes[:] = 0
    whole = start + (stop - start) // 4 * 4
    flat, last = marks.reshape(-1), rows.shape[0] - 1
    for i in range(start, whole, 4):
        for k in range(4):
            prefetch(flat, np.int64(rows[min(i + k + AHEAD, last)]) * n_words)
        a, b = np.uint64(rows[i]), np.uint64(rows[i + 1])
        c, d = np.uint64(rows[i + 2]), np.uint64(rows[i + 3])
        for w in range(n_words):
            count_bits(lanes, 8 * w, marks[a, w], marks[b, w], marks[c, w], marks[d, w])
    none = np.uint64(0)
    for i in range(whole, stop):
        for w in range(n_words):
            count_bits(lanes, 8 * w, marks[rows[i], w], none, none, none)
    for w in range(n_words):
        for byte in range(8):
            for s in range(8):
                count = (lanes[8 * w + s] >> np.uint64(8 * byte)) & np.uint64(255)
                counts[64 * w + 8 * byte + s] += np.int64(count)


@allocating_kernel
def count_marks(
    marks: NDArray[np.uint64], rows: Any, gh: np.ndarray, counts: NDArray[np.int64]
) -> None:
    """Weighted number of the rows with each bit set."""
    counts[:] = 0
    if gh.shape[1] < 3:
        lanes = np.empty(8 * marks.shape[1], dtype=np.uint64)
        for start in range(0, rows.shape[0], 252):
            _count_block(marks, rows, start, min(rows.shape[0], start + 252), lanes, counts)
        return
    for row in rows:
        weight = of_row(gh, row)[2]
        for word in range(marks.shape[1]):
            x = marks[row, word]
            at = 64 * word
            while x != np.uint64(0):
                if x & np.uint64(1):
                    counts[at] += weight
                x >>= np.uint64(1)
                at += 1
