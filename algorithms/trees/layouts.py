"""Other forms of a fitted forest, made when they are first asked for; prediction of single rows.

A row's prediction reads the bit-vectors of :mod:`algorithms.trees.predictor`. A row fails, of the
splits on a feature by rising threshold, the first so many; each clears the leaves that it takes
away from the bit-vector of its tree. Half of all splits would have to be replayed for a row.
Therefore the bit-vectors of all trees are kept as they are after each so many splits of a feature:
a row takes over the last of these before its value, a few hundred words in order, and replays what
is left. Contributions are added in the order of the trees, so that scores are those of a batch, bit
for bit.

Handing 13 arrays to a compiled function takes about as long as adding up 500 trees, since numba
takes each apart anew. So all that is read for a row lies in one flat array of words, the words of
the bit-vectors; what is no such word is read through a view. The first :data:`HEADER` numbers say
where the parts begin, each at a cache line:

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

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.decorators import allocating_kernel, inlined_kernel, kernel
from ..kernels.simd import lowest_bit
from .forest import Forest
from .predictor import BitVectors, bit_vectors, next_node
from .tiles import TiledForest, tiled_forest

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
    for name, array in parts.items():
        header[name] = end // array.itemsize
        end += -(-array.nbytes // line) * line
    table = np.zeros(end, dtype=np.uint8)
    table[: header.nbytes] = header.view(np.uint8)
    for name, array in parts.items():
        begin = int(header[name]) * array.itemsize
        table[begin : begin + array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return table.view(dtype)


# --- prediction of single rows -----------------------------------------------------------------

_AT_ONCE = 4  # states taken over together, so that the bit-vectors are read and written once


@kernel
def _look_up(x, table, places):
    """Find how many splits the row fails: states to take over, and splits to replay.

    A feature's own branches would wait for its values, and all later features for them: no number
    decides here where the processor goes on, but whether it is missing.
    """
    numbers, values = table.view(np.uint64), table.view(np.float64)
    one, log2_step, n_states = np.uint64(1), numbers[LOG2_STEP], np.uint64(0)
    # Kept by themselves: what is written below could be them, for all that the compiler knows.
    n_words, states, lasts = numbers[N_WORDS], numbers[STATES], numbers[LASTS]
    records, thresholds = numbers[FEATURES], numbers[THRESHOLDS]
    for u in range(numbers[N_USED]):
        record = records + np.uint64(RECORD) * u
        number = x[numbers[record + np.uint64(FEATURE)]]
        if number != number:
            state = numbers[record + np.uint64(MISSING_STATE)]
            places[0, n_states] = states + state * n_words
            n_states += np.uint64(state != np.uint64(NO_STATE))
            places[1, u] = numbers[record + np.uint64(FIRST_MISSING)]
            places[2, u] = numbers[record + np.uint64(END_MISSING)]
            continue
        first, end = numbers[record + np.uint64(FIRST)], numbers[record + np.uint64(END)]
        state = numbers[record + np.uint64(FIRST_STATE)]
        last, n_whole = lasts + state, np.uint64(0)
        for k in range((end - first) >> log2_step):
            n_whole += np.uint64(values[last + k] < number)
        places[0, n_states] = states + (state + n_whole - one) * n_words
        n_states += np.uint64(n_whole > np.uint64(0))
        first += n_whole << log2_step
        threshold, n_failed = thresholds + first, np.uint64(0)
        for k in range(min(one << log2_step, end - first)):
            n_failed += np.uint64(values[threshold + k] < number)
        places[1, u], places[2, u] = first, first + n_failed
    return n_states


@allocating_kernel
def _reachable(x, table):
    """Bit-vector of each tree: the leaves that the row can reach, of which the lowest is its own.

    Unsigned numbers throughout: numba asks of a signed index whether it counts from the end.
    """
    numbers = table.view(np.uint64)
    one, n_used, n_words = np.uint64(1), numbers[N_USED], np.int64(numbers[N_WORDS])
    places = np.empty((3, np.int64(n_used) + _AT_ONCE), dtype=np.uint64)
    n_states = _look_up(x, table, places)
    reachable, splits = np.empty(n_words, dtype=table.dtype), numbers[SPLITS]
    reachable[:] = ~table.dtype.type(0)  # np.full takes 0.3 µs for 500
    for u in range(n_used):
        for s in range(places[1, u], places[2, u]):
            split = splits + (s << one)
            reachable[np.uint64(table[split])] &= table[split + one]
    if n_states > np.uint64(0):  # taken over twice, a state does no harm
        places[0, n_states : n_states + np.uint64(_AT_ONCE)] = places[0, n_states - one]
    for k in range(np.uint64(0), n_states, np.uint64(_AT_ONCE)):
        a, b = _state(table, places[0, k], n_words), _state(table, places[0, k + one], n_words)
        c = _state(table, places[0, k + np.uint64(2)], n_words)
        d = _state(table, places[0, k + np.uint64(3)], n_words)
        for t in range(n_words):
            reachable[t] &= a[t] & b[t] & c[t] & d[t]
    return reachable


@inlined_kernel
def _state(table, begin, n_words):
    return table[np.int64(begin) : np.int64(begin) + n_words]


@allocating_kernel
def only_score(x: np.ndarray, table: np.ndarray) -> float:
    """Score of a row of a forest with one score."""
    reachable = _reachable(x, table)
    numbers, values = table.view(np.uint64), table.view(np.float64)
    bits, value = np.uint64(8 * table.itemsize), numbers[VALUES]
    score = values[numbers[INITIAL]]
    for t in range(numbers[N_TREES]):
        score += values[value + t * bits + np.uint64(lowest_bit(np.uint64(reachable[t])))]
    return score


@allocating_kernel
def scores_of_row(x: np.ndarray, table: np.ndarray, out: NDArray[np.float64]) -> None:
    """Write the scores of a row of a forest with several."""
    reachable = _reachable(x, table)
    numbers, values = table.view(np.uint64), table.view(np.float64)
    bits, value = np.uint64(8 * table.itemsize), numbers[VALUES]
    n_columns = np.uint64(out.shape[0])
    for k in range(n_columns):
        score = values[numbers[INITIAL] + k]
        for t in range(k, numbers[N_TREES], n_columns):
            score += values[value + t * bits + np.uint64(lowest_bit(np.uint64(reachable[t])))]
        out[k] = score


@kernel
def _walk_row(x, forest, contributions, initial, out):
    """Write the scores of a row by walking down: for trees that have no table, or none at all."""
    n_columns = initial.shape[0]
    for k in range(n_columns):
        out[k] = initial[k]
    for t in range(forest.tree.shape[0] - 1):
        node = forest.tree[t]
        while forest.left[node] >= 0:
            node = next_node(forest, node, x[forest.feature[node]])
        out[t % n_columns] += contributions[node]


def row_program(forest: Forest, contributions: np.ndarray, initial: np.ndarray) -> tuple:
    """Choose and lay out what scores a row of a forest."""
    blocks = bit_vectors(forest, contributions, len(initial), forest.n_trees)
    if not blocks:  # no tree, one of more than 64 leaves, or one that splits categories
        # Of one kind whatever the model comes from: read-only arrays would be compiled for, too.
        forest = type(forest)(*(np.array(values) for values in forest))
        return _walk_row, (forest, np.array(contributions), np.array(initial))
    table = row_table(blocks[0], initial)
    return _of_table(len(initial)), (table,)


def _of_table(n_columns: int):
    """The kernel that scores a row with a table."""
    return only_score if n_columns == 1 else scores_of_row


def score_one(program: tuple, x: np.ndarray, n_columns: int) -> np.ndarray:
    """Scores (1, n_columns) of a row in one piece that can be written to."""
    run, forest = program
    out = np.empty((1, n_columns))
    if run is only_score:
        out[0, 0] = run(x, *forest)
    else:
        run(x, *forest, out[0])
    return out


def score_one_by_one(program: tuple, X: np.ndarray, n_columns: int) -> np.ndarray:
    """Scores of a few rows."""
    return np.concatenate([score_one(program, x, n_columns) for x in np.array(X)])


_FLOAT64 = np.dtype(np.float64)


class FastPredictor:
    """A fitted model that predicts one row at a time; made by ``model.fast_predictor()``.

    Scores and predictions are the model's, bit for bit. Of a row only the dtype and the width are
    checked: names of columns are not looked at, nor whether a value is infinite. It does not
    change when the model is fitted anew, can be pickled, and can be used from several threads at
    once.
    """

    def __init__(
        self, program: tuple, n_features: int, n_columns: int, classes: np.ndarray | None = None
    ) -> None:
        self._run, self._forest = program
        self._width, self._scores_shape = (n_features,), (n_columns,)
        # A list gives the same labels sooner than an array.
        self._classes = None if classes is None else list(classes)

    def __getstate__(self) -> dict:
        """Kernels are not pickled by value: which of them it is, is told by the arrays."""
        return {name: value for name, value in vars(self).items() if name != "_run"}

    def __setstate__(self, state: dict) -> None:
        vars(self).update(state)
        walks = isinstance(self._forest[0], Forest)
        self._run = _walk_row if walks else _of_table(*self._scores_shape)

    def scores(self, x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Raw scores of a row."""
        if not _is(x, self._width) or not x.flags.carray:
            x = self._one_piece(x)
        if out is None:
            out = np.empty(self._scores_shape)
        elif not _is(out, self._scores_shape):
            raise ValueError(_refusal("out", out, self._scores_shape))
        elif not out.flags.carray:
            raise ValueError("out must lie in one piece and be writeable.")
        if self._run is only_score:
            out[0] = only_score(x, *self._forest)
        else:
            self._run(x, *self._forest, out)
        return out

    def __call__(self, x: np.ndarray):
        """Predict one row."""
        classes = self._classes
        if self._run is only_score:  # without calls and an array on the way
            if (
                type(x) is not np.ndarray
                or x.dtype is not _FLOAT64
                or x.shape != self._width
                or not x.flags.carray
            ):
                x = self._one_piece(x)
            score = only_score(x, *self._forest)
        else:
            scores = self.scores(x)
            if len(scores) > 1:
                return classes[scores.argmax()]  # the first of equal ones
            score = float(scores[0])
        if classes is None:
            return score
        return classes[1 if score > 0 and len(classes) > 1 else 0]

    def _one_piece(self, x: np.ndarray) -> np.ndarray:
        """A row in one piece that can be written to, or an error."""
        if not _is(x, self._width):
            raise ValueError(_refusal("x", x, self._width))
        return x if x.flags.carray else np.array(x, order="C")


def _is(value, shape: tuple[int, ...]) -> bool:
    """Whether something is an array of float64 of a shape."""
    return type(value) is np.ndarray and value.dtype == _FLOAT64 and value.shape == shape


def _refusal(name: str, value, shape: tuple[int, ...]) -> str:
    """Say what should have been given."""
    got = type(value).__name__
    if type(value) is np.ndarray:
        got = f"{value.dtype} of shape {value.shape}"
    return f"{name} must be an array of float64 of shape {shape}, got {got}."


# --- forms of a forest -------------------------------------------------------------------------


class Layouts:
    """A forest laid out for many rows and for one."""

    def __init__(self, forest: Forest, contributions: np.ndarray, initial: np.ndarray) -> None:
        self._given = (forest, contributions, initial)

    def __getstate__(self) -> dict:
        """What was given: the rest is made anew."""
        return {"_given": self._given}

    @property
    def forest(self) -> Forest:
        """The forest they are forms of."""
        return self._given[0]

    @cached_property
    def tiled(self) -> TiledForest | None:
        """For many rows; None if there is no such form of it."""
        return tiled_forest(*self._given[:2])

    @cached_property
    def bit_vectors(self) -> list[BitVectors]:
        """For many rows where tiles cannot be; empty if there are none of it."""
        forest, contributions, initial = self._given
        return bit_vectors(forest, contributions, len(initial))

    @cached_property
    def row(self) -> tuple:
        """For one row, as :func:`algorithms.trees.layouts.row_program` gives it."""
        return row_program(*self._given)
