"""A forest laid out for one row at a time: one flat array, since numba takes each apart anew.

Handing 13 arrays to a compiled function takes about as long as adding up 500 trees. So all that
:mod:`algorithms.trees.one_row` reads lies in one array of words, the words of the bit-vectors;
what is no such word is read through a view. The first :data:`HEADER` numbers say where the parts
begin, each at a cache line:

==============  ==========  ===================================================================
part            read as     what
==============  ==========  ===================================================================
``FEATURES``    uint64      a record of :data:`RECORD` numbers for each feature that is tested
``THRESHOLDS``  float64     of all splits, by feature, rising
``LASTS``       float64     the last threshold of each whole step of splits of a feature
``VALUES``      float64     contribution of each leaf; as many places a tree as a word has bits
``INITIAL``     float64     scores before the first tree
``SPLITS``      words       tree and mask of each split, then those of missing values
``STATES``      words       bit-vectors of all trees after each whole step, then with a feature
                            missing
==============  ==========  ===================================================================

A mask keeps the leaves that stay reachable if the row goes right.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .predictor import BitVectors

HEADER = 16
N_USED, N_TREES, N_WORDS, LOG2_STEP = range(4)  # features tested; words of a state
FEATURES, THRESHOLDS, LASTS, VALUES, INITIAL, SPLITS, STATES = range(4, 11)

RECORD = 8
FEATURE, FIRST, END, FIRST_STATE = range(4)  # splits FIRST … END - 1; its first whole step
FIRST_MISSING, END_MISSING, MISSING_STATE = range(4, 7)
"""What a row with the feature missing loses: splits as above, and a state, or :data:`NO_STATE`."""
NO_STATE = 2**32

_LEAST_REPLAYED = 64  # splits between two stored states; fewer would take more memory than time
_STATE_WORDS = 16  # a cache line of 32-bit words


class _Missing(NamedTuple):
    """What rows with a feature missing lose."""

    split: np.ndarray  # (2, n) tree and mask
    first: np.ndarray  # (n_used + 1,) first of them of each feature
    state: np.ndarray  # (n_used,) number of a state, or NO_STATE
    states: np.ndarray  # (n_states, n_words)


def _states(whole: BitVectors, log2_step: int, n_words: int) -> np.ndarray:
    """Bit-vectors of all trees after each whole step of splits, feature by feature."""
    n_steps = np.diff(whole.split) >> log2_step
    ones = np.iinfo(whole.mask.dtype).max
    states = np.full((n_steps.sum(), n_words), ones, dtype=whole.mask.dtype)
    at = 0
    for first, n in zip(whole.split[:-1], n_steps, strict=True):
        for k in range(n):
            if k > 0:
                states[at] = states[at - 1]
            step = slice(first + (k << log2_step), first + ((k + 1) << log2_step))
            np.bitwise_and.at(states[at], whole.tree[step], whole.mask[step])
            at += 1
    return states


def _missing(whole: BitVectors, log2_step: int, n_words: int, n_states: int) -> _Missing:
    """Splits that a missing value goes right at: as a state if they are many, else one by one."""
    trees, masks, first = [whole.tree[:0]], [whole.mask[:0]], [0]
    numbers, states = [], []
    for begin, end in zip(whole.split[:-1], whole.split[1:], strict=True):
        right = begin + np.flatnonzero(whole.missing_left[begin:end] == 0)
        number = NO_STATE
        if len(right) >= 1 << log2_step:
            number = n_states + len(states)
            states.append(np.full(n_words, np.iinfo(whole.mask.dtype).max, whole.mask.dtype))
            np.bitwise_and.at(states[-1], whole.tree[right], whole.mask[right])
            right = right[:0]
        trees.append(whole.tree[right])
        masks.append(whole.mask[right])
        first.append(first[-1] + len(right))
        numbers.append(number)
    split = np.array([np.concatenate(trees), np.concatenate(masks)], whole.mask.dtype)
    states = np.array(states, whole.mask.dtype).reshape(-1, n_words)
    return _Missing(split, np.array(first), np.array(numbers), states)


def row_table(whole: BitVectors, initial: np.ndarray) -> np.ndarray:
    """Lay out a forest for one row at a time."""
    dtype, n_trees, n_splits = whole.mask.dtype, len(whole.column), len(whole.threshold)
    bits, n_words = 8 * dtype.itemsize, -(-n_trees // _STATE_WORDS) * _STATE_WORDS
    # To take a state over costs 1/8 of a cycle for each tree, to replay a split one or two.
    log2_step = int(max(_LEAST_REPLAYED, n_trees // 8) - 1).bit_length()
    states = _states(whole, log2_step, n_words)
    missing = _missing(whole, log2_step, n_words, len(states))
    n_steps = np.diff(whole.split) >> log2_step
    step_of_feature = np.arange(n_steps.sum()) - np.repeat(np.cumsum(n_steps) - n_steps, n_steps)
    lasts = np.repeat(whole.split[:-1], n_steps) + ((step_of_feature + 1) << log2_step) - 1
    records = np.zeros((len(whole.feature), RECORD), dtype=np.uint64)
    records[:, FEATURE], records[:, FIRST_STATE] = whole.feature, np.cumsum(n_steps) - n_steps
    records[:, FIRST], records[:, END] = whole.split[:-1], whole.split[1:]
    records[:, FIRST_MISSING] = n_splits + missing.first[:-1]
    records[:, END_MISSING] = n_splits + missing.first[1:]
    records[:, MISSING_STATE] = missing.state
    value = np.zeros((n_trees, bits))
    value[np.arange(bits) < np.diff(whole.leaf)[:, None]] = whole.value
    splits = np.concatenate([[whole.tree.astype(dtype), whole.mask], missing.split], axis=1).T
    parts = {
        FEATURES: records,
        THRESHOLDS: whole.threshold,
        LASTS: whole.threshold[lasts],
        VALUES: value,
        INITIAL: initial,
        SPLITS: splits.astype(dtype),
        STATES: np.concatenate([states, missing.states]),
    }
    numbers = {N_USED: len(records), N_TREES: n_trees, N_WORDS: n_words, LOG2_STEP: log2_step}
    return _packed(numbers, parts, dtype)


def _packed(numbers: dict[int, int], parts: dict[int, np.ndarray], dtype: np.dtype) -> np.ndarray:
    """One array of a header and all parts; where they begin is counted in their own items."""
    header = np.zeros(HEADER, dtype=np.uint64)
    header[list(numbers)] = list(numbers.values())
    line, end = 64, header.nbytes
    for name, part in parts.items():
        header[name] = end // part.itemsize
        end += -(-part.nbytes // line) * line
    table = np.zeros(end, dtype=np.uint8)
    table[: header.nbytes] = header.view(np.uint8)
    for name, part in parts.items():
        begin = int(header[name]) * part.itemsize
        table[begin : begin + part.nbytes] = np.ascontiguousarray(part).reshape(-1).view(np.uint8)
    return table.view(dtype)
