"""Prediction of single rows: the bit-vectors of :mod:`algorithms.trees.predictor` for one row.

A row fails, of the splits on a feature by rising threshold, the first so many; each clears the
leaves that it takes away from the bit-vector of its tree. Half of all splits would have to be
replayed for a row. Therefore the bit-vectors of all trees are kept as they are after each so many
splits of a feature (:mod:`algorithms.trees.row_table`): a row takes over the last of these before
its value, a few hundred words in order, and replays what is left. Contributions are added in the
order of the trees, so that scores are those of a batch, bit for bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.decorators import allocating_kernel, inlined_kernel, kernel
from ..kernels.simd import lowest_bit
from . import row_table as part
from .forest import Forest
from .predictor import bit_vectors, next_node

_AT_ONCE = 4  # states taken over together, so that the bit-vectors are read and written once


@kernel
def _look_up(x, table, places):
    """Find how many splits the row fails: states to take over, and splits to replay.

    A feature's own branches would wait for its values, and all later features for them: no number
    decides here where the processor goes on, but whether it is missing.
    """
    numbers, values = table.view(np.uint64), table.view(np.float64)
    one, log2_step, n_states = np.uint64(1), numbers[part.LOG2_STEP], np.uint64(0)
    # Kept by themselves: what is written below could be them, for all that the compiler knows.
    n_words, states, lasts = numbers[part.N_WORDS], numbers[part.STATES], numbers[part.LASTS]
    records, thresholds = numbers[part.FEATURES], numbers[part.THRESHOLDS]
    for u in range(numbers[part.N_USED]):
        record = records + np.uint64(part.RECORD) * u
        number = x[numbers[record + np.uint64(part.FEATURE)]]
        if number != number:
            state = numbers[record + np.uint64(part.MISSING_STATE)]
            places[0, n_states] = states + state * n_words
            n_states += np.uint64(state != np.uint64(part.NO_STATE))
            places[1, u] = numbers[record + np.uint64(part.FIRST_MISSING)]
            places[2, u] = numbers[record + np.uint64(part.END_MISSING)]
            continue
        first, end = numbers[record + np.uint64(part.FIRST)], numbers[record + np.uint64(part.END)]
        state = numbers[record + np.uint64(part.FIRST_STATE)]
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
    one, n_used, n_words = np.uint64(1), numbers[part.N_USED], np.int64(numbers[part.N_WORDS])
    places = np.empty((3, np.int64(n_used) + _AT_ONCE), dtype=np.uint64)
    n_states = _look_up(x, table, places)
    reachable, splits = np.empty(n_words, dtype=table.dtype), numbers[part.SPLITS]
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
    bits, value = np.uint64(8 * table.itemsize), numbers[part.VALUES]
    score = values[numbers[part.INITIAL]]
    for t in range(numbers[part.N_TREES]):
        score += values[value + t * bits + np.uint64(lowest_bit(np.uint64(reachable[t])))]
    return score


@allocating_kernel
def scores_of_row(x: np.ndarray, table: np.ndarray, out: NDArray[np.float64]) -> None:
    """Write the scores of a row of a forest with several."""
    reachable = _reachable(x, table)
    numbers, values = table.view(np.uint64), table.view(np.float64)
    bits, value = np.uint64(8 * table.itemsize), numbers[part.VALUES]
    n_columns = np.uint64(out.shape[0])
    for k in range(n_columns):
        score = values[numbers[part.INITIAL] + k]
        for t in range(k, numbers[part.N_TREES], n_columns):
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
    table = part.row_table(blocks[0], initial)
    return _of_table(len(initial)), (table,)


def _of_table(n_columns: int):
    """The kernel that scores a row with a table."""
    return only_score if n_columns == 1 else scores_of_row


def score_one_by_one(program: tuple, X: np.ndarray, n_columns: int) -> np.ndarray:
    """Scores of a few rows."""
    run, forest = program
    out = np.empty((len(X), n_columns))
    for x, scores in zip(np.array(X), out, strict=True):
        if run is only_score:
            scores[0] = run(x, *forest)
        else:
            run(x, *forest, scores)
    return out


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
