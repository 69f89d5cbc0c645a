"""Where rows first meet what they must buy, row by row, merged: the prices of a pruning programme.

A row buys a unit (or a feature beside its group) if a split stays at which any tree first asks for
it. Rows that meet it at the same splits are one purchase. The sets of splits are kept as paths of a
trie: a state is a set, its parent the set without the last split.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.decorators import kernel
from ..trees.forest import Forest
from ..trees.predictor import next_node

_FIRST_ROOM = 2**12  # states; doubled as needed
_MIXING = np.uint64(0x9E3779B97F4A7C15)  # of keys, so that neighbours fall far apart


class Marks(NamedTuple):
    """What can be bought: units by number, and behind them features beside their groups."""

    unit: np.ndarray  # (n_features,) int64
    # (n_units + n_features,) bool: whether it costs anything; else it is passed over
    priced: np.ndarray
    n_units: int


class Trie(NamedTuple):
    """Sets of splits. States ``0 … n_marks - 1`` are the empty sets of each mark."""

    parent: np.ndarray  # parent, split: (n_room,) int64
    split: np.ndarray
    weight: np.ndarray  # (n_room,) int64: rows, by weight, that meet the mark at just these splits
    # keys, states: (2**bits,) int64: hash table from ``parent * n_splits + split`` to the state; a
    # key of -1 is a free place
    keys: np.ndarray
    states: np.ndarray


class _Seen(NamedTuple):
    """What the row at hand has met."""

    in_tree: np.ndarray  # (n_marks,) int64: the last tree of a row that met the mark
    in_row: np.ndarray  # (n_marks,) int64: the last row that did
    state: np.ndarray  # (n_marks,) int64: its set so far
    met: np.ndarray  # (n_marks,) int64: marks of this row, in the order they were met


@kernel
def _place(keys, key):
    """Place of a key in the hash table, or the free place where it belongs."""
    mask = keys.shape[0] - 1
    place = np.int64((np.uint64(key) * _MIXING) >> np.uint64(20)) & mask
    while keys[place] != key and keys[place] != -1:
        place = (place + 1) & mask
    return place


@kernel
def _enter(trie, n_states, n_splits):
    """Fill an empty hash table with the states that there are."""
    for state in range(n_states):
        if trie.parent[state] >= 0:
            key = trie.parent[state] * n_splits + trie.split[state]
            place = _place(trie.keys, key)
            trie.keys[place], trie.states[place] = key, state


@kernel
def _meet(trie, n_states, n_splits, seen, mark, split, row, n_met):
    """Add a split to the row's set of a mark; return the numbers of states and of marks met."""
    if seen.in_row[mark] != row:
        seen.in_row[mark], seen.state[mark], seen.met[n_met] = row, mark, mark
        n_met += 1
    key = seen.state[mark] * n_splits + split
    place = _place(trie.keys, key)
    if trie.keys[place] == -1:
        trie.keys[place], trie.states[place] = key, n_states
        trie.parent[n_states], trie.split[n_states] = seen.state[mark], split
        trie.weight[n_states] = 0
        n_states += 1
    seen.state[mark] = trie.states[place]
    return n_states, n_met


@kernel
def _walk(forest, X, weights, split_of, n_splits, most, marks, trie, seen, first, n_states, passed):
    """Walk rows from `first` on, until one might not find room; return the next and the states.

    `most` is how many states one row may add.
    """
    n_trees = forest.tree.shape[0] - 1
    for i in range(first, X.shape[0]):
        if n_states + most > trie.parent.shape[0]:
            return i, n_states
        n_met = 0
        for t in range(n_trees):
            node, stamp = forest.tree[t], i * n_trees + t
            while forest.left[node] >= 0:
                m, split = np.int64(forest.feature[node]), split_of[node]
                passed[split] += weights[i]
                for mark in (marks.unit[m], marks.n_units + m):
                    if marks.priced[mark] and seen.in_tree[mark] != stamp:
                        seen.in_tree[mark] = stamp
                        n_states, n_met = _meet(
                            trie, n_states, n_splits, seen, mark, split, i, n_met
                        )
                node = next_node(forest, node, X[i, m])
        for k in range(n_met):
            trie.weight[seen.state[seen.met[k]]] += weights[i]
    return X.shape[0], n_states


@kernel
def _marks_and_sizes(parent, n_marks, mark, size):
    """Mark and number of splits of each state; parents come first."""
    for state in range(parent.shape[0]):
        mark[state] = state if state < n_marks else mark[parent[state]]
        size[state] = 0 if state < n_marks else size[parent[state]] + 1


@kernel
def _write_sets(parent, split, final, start, splits):
    """Write the splits of each final state, ascending."""
    for k in range(final.shape[0]):
        state = final[k]
        for place in range(start[k + 1] - 1, start[k] - 1, -1):
            splits[place] = split[state]
            state = parent[state]


class FirstUses(NamedTuple):
    """Purchases, and rows that pass the splits."""

    mark: np.ndarray  # (n_purchases,) int64: what is bought
    weight: np.ndarray  # (n_purchases,) int64: rows, by weight, that buy it
    start: np.ndarray  # (n_purchases + 1,) int64: where a purchase's splits begin
    splits: np.ndarray  # (n_edges,) int32: splits of which any makes the rows buy it
    passed: np.ndarray  # (n_splits,) int64: rows, by weight, that pass each split


def _larger(trie: Trie, n_states: int, n_splits: int, room: int) -> Trie:
    """Give a trie with more room the same states."""
    states = (np.concatenate([each[:n_states], np.zeros(room - n_states, dtype=np.int64)])
              for each in trie[:3])  # fmt: skip
    size = 1 << (2 * room - 1).bit_length()
    larger = Trie(*states, np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int64))
    _enter(larger, n_states, n_splits)
    return larger


def first_uses(forest: Forest, X: np.ndarray, weights: np.ndarray, marks: Marks) -> FirstUses:
    """Walk rows down all trees, and merge those that first meet a mark at the same splits."""
    split = np.flatnonzero(forest.left >= 0)
    n_splits, n_marks = len(split), len(marks.priced)
    split_of = np.full(len(forest.left), -1, dtype=np.int64)
    split_of[split] = np.arange(n_splits)
    depths = np.maximum.reduceat(forest.depth, forest.tree[:-1]) if forest.n_trees else 0
    most = 2 * int(np.sum(depths, dtype=np.int64))
    none = np.zeros(0, dtype=np.int64)
    trie = Trie(np.full(n_marks, -1), np.full(n_marks, -1), np.zeros(n_marks, np.int64), none, none)
    trie = _larger(trie, n_marks, n_splits, n_marks + most + _FIRST_ROOM)
    seen = _Seen(*(np.full(n_marks, -1, dtype=np.int64) for _ in range(4)))
    passed, row, n_states = np.zeros(n_splits, dtype=np.int64), 0, n_marks
    while True:
        row, n_states = _walk(
            forest, X, weights, split_of, n_splits, most, marks, trie, seen, row, n_states, passed
        )
        if row == len(X):
            break
        trie = _larger(trie, n_states, n_splits, 2 * len(trie.parent))
    return _purchases(trie, n_states, n_marks, passed)


def _purchases(trie: Trie, n_states: int, n_marks: int, passed: np.ndarray) -> FirstUses:
    """Take from the trie the sets that rows ended with."""
    mark, size = np.empty(n_states, dtype=np.int64), np.empty(n_states, dtype=np.int64)
    _marks_and_sizes(trie.parent[:n_states], n_marks, mark, size)
    final = np.flatnonzero(trie.weight[:n_states] > 0)
    start = np.concatenate([[0], np.cumsum(size[final])])
    splits = np.empty(start[-1], dtype=np.int32)
    _write_sets(trie.parent, trie.split, final, start, splits)
    return FirstUses(mark[final], trie.weight[final], start, splits, passed)
