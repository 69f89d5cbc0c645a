"""Prediction of single rows: the bit-vectors of :mod:`algorithms.trees.predictor` for one row.

A row fails, of the splits on a feature by rising threshold, the first so many; each clears the
leaves that it takes away from the bit-vector of its tree. Half of all splits would have to be
replayed for a row. Therefore the bit-vectors of all trees are kept as they are after each so many
splits of a feature: a row takes over the last of these before its value, a few hundred words in
order, and replays what is left. Contributions are added in the order of the trees, so that scores
are those of a batch, bit for bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.decorators import kernel
from ..kernels.simd import lowest_bit
from .forest import Forest
from .predictor import bit_vectors, next_node

_LEAST_REPLAYED = 64  # splits between two stored states; fewer would take more memory than time


class RowVectors(NamedTuple):
    """A forest laid out for one row at a time; flat arrays, of which numba hands over each soonest.

    Attributes
    ----------
    feature : ndarray of shape (n_used,), uint64
        Features tested.
    split : ndarray of shape (n_used + 1,), uint64
        First split of each.
    threshold : ndarray of shape (n_splits,), float64
        Rising within a feature.
    tree : ndarray of shape (n_splits,), uint32
    mask : ndarray of shape (n_splits,), uint32 or uint64
        Leaves that stay reachable if the row goes right.
    missing_left : ndarray of shape (n_splits,), uint8
        Whether a row goes left if its value is missing.
    state : ndarray of shape (n_states * n_trees,), of the dtype of `mask`
        Bit-vectors of all trees after each ``2**log2_step`` splits of a feature.
    first_state : ndarray of shape (n_used,), uint64
        First state of each feature.
    log2_step : int
    value : ndarray of shape (n_trees * bits of a mask,), float64
        Contribution of each leaf, learning rate included; 0 where a tree has fewer.
    """

    feature: np.ndarray
    split: np.ndarray
    threshold: np.ndarray
    tree: np.ndarray
    mask: np.ndarray
    missing_left: np.ndarray
    state: np.ndarray
    first_state: np.ndarray
    log2_step: int
    value: np.ndarray


@kernel
def _store_states(split, n_states, tree, mask, log2_step, state):
    """Fill `state`, one row for each whole step of each feature; see :class:`RowVectors`."""
    at = 0
    for u in range(n_states.shape[0]):
        for k in range(n_states[u]):
            if k > 0:
                state[at] = state[at - 1]
            begin = split[u] + (k << log2_step)
            for s in range(begin, begin + (1 << log2_step)):
                state[at, tree[s]] &= mask[s]
            at += 1


def row_vectors(forest: Forest, contributions: np.ndarray, n_columns: int) -> RowVectors | None:
    """Lay out a forest for one row at a time.

    Parameters
    ----------
    forest : Forest
    contributions : ndarray of shape (n_nodes,), float64
        Leaf values times the learning rate.
    n_columns : int
        Trees per round.

    Returns
    -------
    RowVectors or None
        None if there is no tree, or one has more than 64 leaves.
    """
    blocks = bit_vectors(forest, contributions, n_columns, forest.n_trees)
    if not blocks:
        return None
    (whole,) = blocks
    n_trees, bits = forest.n_trees, 8 * whole.mask.itemsize
    value = np.zeros((n_trees, bits))
    n_leaves = np.diff(whole.leaf)
    value[np.arange(bits) < n_leaves[:, None]] = whole.value
    # To take a state over costs a word for each tree, to replay a split about as much as four.
    log2_step = int(max(_LEAST_REPLAYED, n_trees // 4) - 1).bit_length()
    n_states = np.diff(whole.split) >> log2_step
    first_state = np.cumsum([0, *n_states[:-1]])
    all_leaves = np.iinfo(whole.mask.dtype).max
    state = np.full((n_states.sum(), n_trees), all_leaves, dtype=whole.mask.dtype)
    _store_states(whole.split, n_states, whole.tree, whole.mask, log2_step, state)
    return RowVectors(
        whole.feature.astype(np.uint64),
        whole.split.astype(np.uint64),
        whole.threshold,
        whole.tree.astype(np.uint32),
        whole.mask,
        whole.missing_left,
        state.ravel(),
        first_state.astype(np.uint64),
        log2_step,
        value.ravel(),
    )


@kernel
def score_row(
    x,
    feature,
    split,
    threshold,
    tree,
    mask,
    missing_left,
    state,
    first_state,
    log2_step,
    value,
    initial,
    out,
):
    """Write the scores of a row; all but the first two and last two are :class:`RowVectors`.

    Unsigned numbers throughout: numba asks of a signed index whether it counts from the end.

    Parameters
    ----------
    x : ndarray of shape (n_features,), float64
        NaN where a value is missing.
    initial : ndarray of shape (n_columns,), float64
        Scores before the first tree.
    out : ndarray of shape (n_columns,), float64
    """
    bits = 8 * mask.itemsize
    n_trees, n_columns = value.shape[0] // bits, initial.shape[0]
    one, log2_step = np.uint64(1), np.uint64(log2_step)
    step = one << log2_step
    reachable = np.full(n_trees, ~np.zeros(1, mask.dtype)[0])
    for u in range(feature.shape[0]):
        begin, end, number = split[u], split[u + 1], x[feature[u]]
        if number != number:
            for s in range(begin, end):
                if missing_left[s] == 0:
                    reachable[tree[s]] &= mask[s]
            continue
        last = begin + step - one
        while last < end and threshold[last] < number:
            last += step
        s = last + one - step
        if s > begin:
            n_stored = (s - begin) >> log2_step
            first = np.int64(first_state[u] + n_stored - one) * n_trees
            stored = state[first : first + n_trees]
            for t in range(n_trees):
                reachable[t] &= stored[t]
        while s < end and threshold[s] < number:
            reachable[tree[s]] &= mask[s]
            s += one
    for k in range(n_columns):
        score = initial[k]
        for t in range(k, n_trees, n_columns):
            score += value[np.uint64(t * bits + lowest_bit(np.uint64(reachable[t])))]
        out[k] = score


@kernel
def _walk_row(x, forest, contributions, initial, out):
    """Write the scores of a row by walking down: for trees of more than 64 leaves, or none."""
    out[:] = initial
    n_columns = initial.shape[0]
    for t in range(forest.tree.shape[0] - 1):
        node = forest.tree[t]
        while forest.left[node] >= 0:
            node = next_node(forest, node, x[forest.feature[node]])
        out[t % n_columns] += contributions[node]


def row_program(forest: Forest, contributions: np.ndarray, initial: np.ndarray) -> tuple:
    """Choose and lay out what scores a row of a forest.

    Parameters
    ----------
    forest : Forest
    contributions : ndarray of shape (n_nodes,), float64
        Leaf values times the learning rate.
    initial : ndarray of shape (n_columns,), float64
        Scores before the first tree.

    Returns
    -------
    kernel, arguments
        ``kernel(x, *arguments, out)`` writes the scores of a row x to `out`.
    """
    # Of one kind whatever the model comes from: read-only arrays would be compiled for, too.
    initial = np.array(initial)
    vectors = row_vectors(forest, contributions, len(initial))
    if vectors is None:
        forest = Forest(*(np.array(values) for values in forest))
        return _walk_row, (forest, np.array(contributions), initial)
    return score_row, (*vectors, initial)


def score_one_by_one(program: tuple, X: np.ndarray, n_columns: int) -> np.ndarray:
    """Scores of a few rows.

    Parameters
    ----------
    program : tuple
        From :func:`row_program`.
    X : ndarray of shape (n_samples, n_features), float64
    n_columns : int

    Returns
    -------
    ndarray of shape (n_samples, n_columns), float64
    """
    run, forest = program
    out = np.empty((len(X), n_columns))
    for x, scores in zip(np.array(X), out, strict=True):
        run(x, *forest, scores)
    return out


_FLOAT64 = np.dtype(np.float64)


class FastPredictor:
    """A fitted model that predicts one row at a time; made by ``model.fast_predictor()``.

    Scores and predictions are the model's, bit for bit. Of a row only the dtype and the width are
    checked: names of columns are not looked at, nor whether a value is infinite. It does not
    change when the model is fitted anew, can be pickled, and can be used from several threads at
    once.

    Parameters
    ----------
    program : tuple
        From :func:`row_program`.
    n_features, n_columns : int
        Length of a row, and of its scores.
    classes : ndarray of shape (n_classes,), or None
        Labels of a classifier.
    """

    def __init__(self, program: tuple, n_features: int, n_columns: int, classes=None) -> None:
        self._run, self._forest = program
        self._width, self._scores_shape = (n_features,), (n_columns,)
        self._classes = classes

    def __getstate__(self) -> dict:
        """Kernels are not pickled by value: which of the two it is, is told by the arrays."""
        return {name: value for name, value in vars(self).items() if name != "_run"}

    def __setstate__(self, state: dict) -> None:
        vars(self).update(state)
        self._run = _walk_row if isinstance(self._forest[0], Forest) else score_row

    def scores(self, x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Raw scores of a row.

        Parameters
        ----------
        x : ndarray of shape (n_features,), float64
            Soonest if it lies in one piece and can be written to; else it is copied.
        out : ndarray of shape (n_columns,), float64, optional
            Where to write them: in one piece and writeable. No array is then made.

        Returns
        -------
        ndarray of shape (n_columns,), float64
            `out`, if given. One score, or one for each of three classes or more.

        Raises
        ------
        ValueError
            If `x` or `out` is no array of float64, or of another shape.
        """
        if not _is(x, self._width):
            raise ValueError(_refusal("x", x, self._width))
        if not x.flags.carray:
            x = np.array(x, order="C")
        if out is None:
            out = np.empty(self._scores_shape)
        elif (
            type(out) is not np.ndarray or out.dtype != _FLOAT64 or out.shape != self._scores_shape
        ):
            raise ValueError(_refusal("out", out, self._scores_shape))
        elif not out.flags.carray:
            raise ValueError("out must lie in one piece and be writeable.")
        self._run(x, *self._forest, out)
        return out

    def __call__(self, x: np.ndarray):
        """Predict one row.

        Parameters
        ----------
        x : ndarray of shape (n_features,), float64
            As for :meth:`scores`.

        Returns
        -------
        float, or a class label
            What the model's ``predict`` says of the row.

        Raises
        ------
        ValueError
            As :meth:`scores`.
        """
        scores = self.scores(x)
        if self._classes is None:
            return scores[0]
        if len(scores) > 1:
            return self._classes[scores.argmax()]  # the first of equal ones
        return self._classes[1 if scores[0] > 0 and len(self._classes) > 1 else 0]


def _is(value, shape: tuple[int, ...]) -> bool:
    """Whether something is an array of float64 of a shape."""
    return type(value) is np.ndarray and value.dtype == _FLOAT64 and value.shape == shape


def _refusal(name: str, value, shape: tuple[int, ...]) -> str:
    """Say what should have been given."""
    got = type(value).__name__
    if type(value) is np.ndarray:
        got = f"{value.dtype} of shape {value.shape}"
    return f"{name} must be an array of float64 of shape {shape}, got {got}."
