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
_BLOCK_ROWS = 2048
_SPARSE = 0.75  # share of one code from which leaving it out is faster


def n_lanes(n_labels: int) -> int:
    """Labels with padding."""
    return -(-n_labels // LANES) * LANES


def _lanes_at(context, builder, array_type, array, offset, bits):
    """Address of four neighbouring elements of a flat array."""
    data = context.make_array(array_type)(context, builder, array).data
    vector = ir.VectorType(ir.IntType(bits), LANES)
    return builder.bitcast(builder.gep(data, [offset]), vector.as_pointer())


def _load_wide(context, builder, array_type, array, offset):
    """Four neighbouring elements of a flat array of int32 or int64, as int64."""
    bits = array_type.dtype.bitwidth
    lanes = builder.load(_lanes_at(context, builder, array_type, array, offset, bits))
    lanes.align = bits // 8
    return lanes if bits == 64 else builder.sext(lanes, ir.VectorType(ir.IntType(64), LANES))


@intrinsic
def _add_lanes(typing_context, sums, a, b, c, d, weights, first):
    """``sums[at : at + 4] += weights[first : first + 4]`` at four places of int64.

    The weights are int32, or int64 where an example stands for several copies. Integers only; left
    to itself the compiler adds one by one and checks each index.
    """
    at = (types.int64,) * 4
    signature = types.void(sums, *at, weights, types.int64)

    def codegen(context, builder, signature, arguments):
        sums_type, weights_type = signature.args[0], signature.args[5]
        wide = _load_wide(context, builder, weights_type, arguments[5], arguments[6])
        for at in arguments[1:5]:
            target = _lanes_at(context, builder, sums_type, arguments[0], at, 64)
            old = builder.load(target)
            old.align = 8
            builder.store(builder.add(old, wide), target).align = 8
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def _add_lanes_once(typing_context, sums, at, weights, first):
    """The same at one place."""
    signature = types.void(sums, types.int64, weights, types.int64)

    def codegen(context, builder, signature, arguments):
        sums_type, weights_type = signature.args[0], signature.args[2]
        wide = _load_wide(context, builder, weights_type, arguments[2], arguments[3])
        target = _lanes_at(context, builder, sums_type, arguments[0], arguments[1], 64)
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
def _fill_sparse(codes, default, weights, total, sums, rows):
    """The histogram of a column that mostly holds one code: only the other rows are added.

    Sums are exact, so what is missing from the total belongs to the `default` code.
    """
    lanes, n_rows, size = total.shape[0], codes.shape[0], rows.shape[0]
    for begin in range(0, n_rows, size):
        n = 0
        for i in range(begin, min(begin + size, n_rows)):  # no branch: it could not be foreseen
            rows[n] = i
            n += 1 if _code(codes, i) != default else 0
        for j in range(n):
            i = np.int64(rows[j])
            at = lanes * _code(codes, i)
            for k in range(0, lanes, 4):
                _add_lanes_once(sums, at + k, weights, lanes * i + k)
    rest = sums[default * lanes : (default + 1) * lanes]
    rest[:] = total
    for code in range(N_CODES):
        if code != default:
            for k in range(lanes):
                rest[k] -= sums[code * lanes + k]


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
def _search_sparse(columns, features, defaults, weights, total, sums, left, edges, cuts):
    """The same for columns that mostly hold their default code."""
    n_features, n_chunks, lanes = features.shape[0], sums.shape[0], total.shape[0]
    for c in prange(n_chunks):
        rows = np.empty(_BLOCK_ROWS, dtype=np.int64)
        for q in range(n_features * c // n_chunks, n_features * (c + 1) // n_chunks):
            found = sums[c, : N_CODES * lanes]
            found[:] = 0
            _fill_sparse(columns[features[q]], defaults[q], weights, total, found, rows)
            edges[q], cuts[q] = _scan(found, total, lanes, left[c])


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
    signed : ndarray of shape (n_rows, n_lanes), int32 or int64
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


def default_codes(columns: np.ndarray) -> np.ndarray:
    """Code that fills most of a column, by a sample of its rows, or -1 if none does.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n_samples), uint8

    Returns
    -------
    ndarray of shape (n_features,), int64
        It changes how fast a column is searched, never what is found.
    """
    step = max(1, columns.shape[1] // 1000)
    defaults = np.full(len(columns), -1, dtype=np.int64)
    for m, column in enumerate(columns):
        counts = np.bincount(column[::step], minlength=N_CODES)
        if counts.max() > _SPARSE * counts.sum():
            defaults[m] = np.argmax(counts)
    return defaults


def search(
    columns: np.ndarray,
    features: np.ndarray,
    signed: np.ndarray,
    n_threads: int,
    rows: np.ndarray | None = None,
    defaults: np.ndarray | None = None,
) -> Search:
    """Best cut of each of some features.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n_samples), uint8
        One row per feature.
    features : ndarray of shape (n_searched,), int64
    signed : ndarray of shape (n_rows, n_lanes), int32 or int64
        Weight times label (-1 or 1) in grid steps, by row and label, padded with zeros.
    n_threads : int
        Features are shared out over so many chunks.
    rows : ndarray of shape (n_rows,), int64, optional
        Which samples `signed` belongs to, repeated or in any order; all of them if not given.
    defaults : ndarray of shape (n_features,), int64, optional
        See :func:`default_codes`.

    Returns
    -------
    Search
    """
    n_chunks = max(1, min(n_threads, len(features)))
    lanes, n_searched = signed.shape[1], len(features)
    default = np.full(n_searched, -1) if defaults is None else defaults[features]
    if rows is not None:
        gathered = np.empty((n_searched, len(rows)), dtype=np.uint8)
        _gather(columns, features, rows, gathered)
        columns, features = gathered, np.arange(n_searched)
    columns = columns.view()
    columns.flags.writeable = False  # one kind of array: the kernels are compiled once
    found = Search(np.empty(n_searched, np.int64), np.empty(n_searched, np.int64))
    sums = np.empty((n_chunks, _COLUMNS * N_CODES * lanes), dtype=np.int64)
    work = signed.reshape(-1), totals(signed), sums, np.empty((n_chunks, lanes), dtype=np.int64)
    for some, kernel_of_some, more in (
        (np.flatnonzero(default < 0), _search, ()),
        (np.flatnonzero(default >= 0), _search_sparse, (default[default >= 0],)),
    ):
        if len(some):
            edges, cuts = np.empty(len(some), np.int64), np.empty(len(some), np.int64)
            kernel_of_some(columns, features[some], *more, *work, edges, cuts)
            found.edges[some], found.cuts[some] = edges, cuts
    return found
