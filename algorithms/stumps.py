"""Search for the best decision stump of AdaBoost.MH on 8-bit columns, and its votes.

One histogram of signed weights per column, (value, label), gives the edges of all its thresholds.
Weights are integers, so sums are exact in any order (DESIGN §4); the reference is
:func:`reference.adaboost_mh.best_threshold`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import prange, types
from numba.extending import intrinsic

from algorithms.kernels import kernel, parallel_kernel

N_CODES = 256
LANES = 4  # labels are padded to a multiple of so many
_COLUMNS = 4  # searched together, see _fill


def n_lanes(n_labels: int) -> int:
    """Labels with padding."""
    return -(-n_labels // LANES) * LANES


def _lanes_at(context, builder, array_type, array, offset, bits):
    """Address of four neighbouring elements of a flat array."""
    data = context.make_array(array_type)(context, builder, array).data
    vector = ir.VectorType(ir.IntType(bits), LANES)
    return builder.bitcast(builder.gep(data, [offset]), vector.as_pointer())


@intrinsic
def _add_lanes(typing_context, sums, a, b, c, d, weights, first):
    """``sums[at : at + 4] += weights[first : first + 4]`` at four places, int64 and int32.

    Integers only; left to itself the compiler adds one by one and checks each index.
    """
    at = (types.int64,) * 4
    signature = types.void(sums, *at, weights, types.int64)

    def codegen(context, builder, signature, arguments):
        sums_type, weights_type = signature.args[0], signature.args[5]
        address = _lanes_at(context, builder, weights_type, arguments[5], arguments[6], 32)
        weight = builder.load(address)
        weight.align = 4
        wide = builder.sext(weight, ir.VectorType(ir.IntType(64), LANES))
        for at in arguments[1:5]:
            target = _lanes_at(context, builder, sums_type, arguments[0], at, 64)
            old = builder.load(target)
            old.align = 8
            builder.store(builder.add(old, wide), target).align = 8
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def _code(typing_context, codes, at):
    """``codes[at]`` as int64, without the check for a negative index."""

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        code = builder.load(builder.gep(data, [arguments[1]]))
        return builder.zext(code, ir.IntType(64))

    return types.int64(codes, types.int64), codegen


@kernel
def _fill(codes, others, weights, lanes, sums):
    """Add the weights of all rows to the histograms of four columns.

    Four at a time: weights are loaded once for all, and where one value fills a column, as 0 does
    in pictures, four chains of additions to the same place overlap.
    """
    size = N_CODES * lanes
    second, third, fourth = others
    for i in range(codes.shape[0]):
        a = lanes * _code(codes, i)
        b = lanes * _code(second, i) + size
        c = lanes * _code(third, i) + 2 * size
        d = lanes * _code(fourth, i) + 3 * size
        w = lanes * i
        for k in range(0, lanes, 4):
            _add_lanes(sums, a + k, b + k, c + k, d + k, weights, w + k)


@kernel
def _scan(sums, total, lanes, left):
    """Edge and code of the best cut of a histogram, the lowest among equals.

    ``code <= cut`` goes left. A cut that separates nothing has the edge of the constant vote.
    """
    left[:] = 0
    best, cut = np.int64(-1), np.int64(-1)
    for code in range(N_CODES):
        edge = np.int64(0)
        for k in range(lanes):
            left[k] += sums[code * lanes + k]
            edge += abs(total[k] - 2 * left[k])
        if edge > best:
            best, cut = edge, np.int64(code)
    return best, cut


@parallel_kernel
def _search(columns, features, weights, total, sums, left, edges, cuts):
    """Best cut of each feature; chunks of features are independent."""
    n_chunks, lanes = sums.shape[0], total.shape[0]
    for c in prange(n_chunks):
        stop = features.shape[0] * (c + 1) // n_chunks
        for q in range(features.shape[0] * c // n_chunks, stop, np.int64(_COLUMNS)):
            # The last of a chunk may be fewer than four; then the last is searched again.
            r, s, t = min(q + 1, stop - 1), min(q + 2, stop - 1), min(q + 3, stop - 1)
            others = columns[features[r]], columns[features[s]], columns[features[t]]
            sums[c] = 0
            _fill(columns[features[q]], others, weights, lanes, sums[c])
            for j in range(min(_COLUMNS, stop - q)):
                found = sums[c, j * N_CODES * lanes : (j + 1) * N_CODES * lanes]
                edges[q + j], cuts[q + j] = _scan(found, total, lanes, left[c])


@parallel_kernel
def _gather(columns, features, rows, out):
    for q in prange(features.shape[0]):
        column = columns[features[q]]
        for s in range(rows.shape[0]):
            out[q, s] = column[rows[s]]


class Search(NamedTuple):
    """What a search found, feature by feature.

    Attributes
    ----------
    edges : ndarray of shape (n_searched,), int64
        Edge of the best stump, or of the constant vote if that is larger, in grid steps.
    cuts : ndarray of shape (n_searched,), int64
        Codes up to this one lie left of the best threshold.
    """

    edges: np.ndarray
    cuts: np.ndarray


@kernel
def label_edges(codes, cut, signed, out):
    """Edge of each label for the stump ``code > cut``.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,), uint8
    cut : int
    signed : ndarray of shape (n_rows, n_lanes), int32
    out : ndarray of shape (n_lanes,), int64
        Output.
    """
    out[:] = 0
    for i in range(signed.shape[0]):
        sign = np.int64(1) if codes[i] > cut else np.int64(-1)
        for k in range(signed.shape[1]):
            out[k] += sign * signed[i, k]


@kernel
def _add_up(signed, out):
    out[:] = 0
    for i in range(signed.shape[0]):
        for k in range(signed.shape[1]):
            out[k] += signed[i, k]


def totals(signed: np.ndarray) -> np.ndarray:
    """Edge of each label for the constant vote: sums by label, shape (n_lanes,), int64."""
    out = np.empty(signed.shape[1], dtype=np.int64)
    _add_up(signed, out)
    return out


def search(
    columns: np.ndarray, features: np.ndarray, signed: np.ndarray, n_threads: int, rows=None
) -> Search:
    """Best cut of each of some features.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n_samples), uint8
        One row per feature.
    features : ndarray of shape (n_searched,), int64
    signed : ndarray of shape (n_rows, n_lanes), int32
        Weight times label (-1 or 1) in grid steps, by row and label, padded with zeros.
    n_threads : int
        Features are shared out over so many chunks.
    rows : ndarray of shape (n_rows,), int64, optional
        Which samples `signed` belongs to, repeated or in any order; all of them if not given.

    Returns
    -------
    Search
    """
    n_chunks = max(1, min(n_threads, len(features)))
    lanes = signed.shape[1]
    if rows is not None:
        gathered = np.empty((len(features), len(rows)), dtype=np.uint8)
        _gather(columns, features, rows, gathered)
        columns, features = gathered, np.arange(len(features))
    columns = columns.view()
    columns.flags.writeable = False  # one kind of array: the kernels are compiled once
    edges, cuts = np.empty(len(features), np.int64), np.empty(len(features), np.int64)
    sums = np.empty((n_chunks, _COLUMNS * N_CODES * lanes), dtype=np.int64)
    left = np.empty((n_chunks, lanes), dtype=np.int64)
    _search(
        columns, features, signed.reshape(-1), totals(signed), sums, left, edges, cuts
    )  # fmt: skip
    return Search(edges, cuts)


# --- Scores and weights --------------------------------------------------------------------


@parallel_kernel
def _add_votes(codes, cut, steps, targets, scores, losing, largest):
    """Add a stump's votes to the scores; write -y f and its largest value by chunk."""
    n_samples, n_labels = scores.shape
    n_chunks = largest.shape[0]
    for c in prange(n_chunks):
        top = -np.inf
        for i in range(n_samples * c // n_chunks, n_samples * (c + 1) // n_chunks):
            right = codes[i] > cut
            for k in range(n_labels):
                scores[i, k] += steps[k] if right else -steps[k]
                losing[i, k] = -scores[i, k] if targets[i, k] > 0 else scores[i, k]
                top = max(top, losing[i, k])
        largest[c] = top


@parallel_kernel
def _subtract(losing, shift):
    n_samples, n_labels = losing.shape
    n_chunks = max(1, n_samples >> 12)
    for c in prange(n_chunks):
        for i in range(n_samples * c // n_chunks, n_samples * (c + 1) // n_chunks):
            for k in range(n_labels):
                losing[i, k] -= shift


@parallel_kernel
def _round_weights(weights, targets, scale, signed, of_row):
    """Weights on the grid, signed by the label; their sum in each row."""
    n_samples, n_labels = weights.shape
    n_chunks = max(1, n_samples >> 12)
    for c in prange(n_chunks):
        for i in range(n_samples * c // n_chunks, n_samples * (c + 1) // n_chunks):
            total = np.int64(0)
            for k in range(n_labels):
                w = np.int64(np.rint(weights[i, k] * scale))
                total += w
                signed[i, k] = w if targets[i, k] > 0 else -w
            of_row[i] = total


class PairWeights:
    """Scores of the training rows and the boosting weights of all (example, label) pairs.

    Weights are recomputed from the scores, relative to the largest, and rounded to a grid: after
    any number of rounds the largest is 1 and the rest is as exact as in the first round.

    Parameters
    ----------
    targets : ndarray of shape (n_samples, n_labels), int8
        -1 or 1.

    Attributes
    ----------
    targets : ndarray of shape (n_samples, n_labels), int8
    signed : ndarray of shape (n_samples, n_lanes), int32
        Weight times label, in grid steps.
    of_row : ndarray of shape (n_samples,), int64
        Weight of each example, over its labels.
    total : int
        Weight of all pairs: what the weights are to be divided by.
    log_loss : float
        Logarithm of the mean of exp(-y f) over all pairs.
    """

    def __init__(self, targets: np.ndarray) -> None:
        n_samples, n_labels = targets.shape
        self.targets = targets
        self._exponent = grid_exponent(targets.size)
        self._scores = np.zeros((n_samples, n_labels))
        self._losing = np.empty((n_samples, n_labels))
        self._largest = np.empty(max(1, n_samples >> 12))
        self.signed = np.zeros((n_samples, n_lanes(n_labels)), dtype=np.int32)
        self.of_row = np.empty(n_samples, dtype=np.int64)
        nothing = np.zeros(n_samples, dtype=np.uint8)
        nothing.flags.writeable = False
        self.add(nothing, -1, np.zeros(n_labels))

    def add(self, codes: np.ndarray, cut: int, steps: np.ndarray) -> None:
        """Add a stump to the scores and weigh anew.

        Parameters
        ----------
        codes : ndarray of shape (n_samples,), uint8
            The stump's column.
        cut : int
            Rows with a larger code get `steps`, the others minus that; -1 is a constant vote.
        steps : ndarray of shape (n_labels,), float64
            α times the votes.
        """
        _add_votes(codes, cut, steps, self.targets, self._scores, self._losing, self._largest)
        shift = float(self._largest.max())
        _subtract(self._losing, shift)
        np.exp(self._losing, out=self._losing)
        _round_weights(self._losing, self.targets, 2.0**self._exponent, self.signed, self.of_row)
        self.total = int(self.of_row.sum())
        mean = np.ldexp(self.total / self.targets.size, -self._exponent)
        self.log_loss = float(np.log(mean)) + shift


def grid_exponent(n_pairs: int) -> int:
    """Exponent k of the grid 2**-k on which `n_pairs` values of at most 1 sum up exactly.

    At most 30, so that a signed weight fits 32 bits; the rounding error of a weight is then
    2**-31 of the largest.
    """
    return min(30, 52 - int(np.frexp(n_pairs)[1]))


# --- Prediction ----------------------------------------------------------------------------


@parallel_kernel
def add_scores(values, place, threshold, steps, first, last, scores):
    """Add the votes of stumps `first` … `last` - 1 to the scores, in order.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_used), float64
        The features that the model uses.
    place : ndarray of shape (n_stumps,), int64
        Column of each stump; -1 is a constant vote.
    threshold : ndarray of shape (n_stumps,), float64
    steps : ndarray of shape (n_stumps, n_labels), float64
        α times the votes.
    first, last : int
    scores : ndarray of shape (n_samples, n_labels), float64
        Added to.
    """
    n_samples, n_labels = scores.shape
    n_chunks = max(1, n_samples >> 8)
    for c in prange(n_chunks):
        for i in range(n_samples * c // n_chunks, n_samples * (c + 1) // n_chunks):
            for t in range(first, last):
                right = place[t] < 0 or values[i, place[t]] > threshold[t]
                for k in range(n_labels):
                    scores[i, k] += steps[t, k] if right else -steps[t, k]
