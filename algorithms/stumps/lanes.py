"""Additions over neighbouring labels and over histogram bins, as LLVM IR.

Plain vector instructions on integers, legal on every processor, as in
:mod:`algorithms.kernels.simd`. A histogram of signed weights by (code, label) is kept in blocks of
labels, first those of 8, then one of what is left over, 0, 2 or 4: a block is (N_CODES, width),
flat.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from ..kernels.decorators import kernel
from ..kernels.simd import load, vector_at

N_CODES = 256
WIDEST = 8
STEP = 8  # bins that are scanned at once

_I32, _I64 = ir.IntType(32), ir.IntType(64)


def n_lanes(n_labels: int) -> int:
    """Labels with padding: whole blocks of 8, and 0, 2 or 4 more."""
    left = n_labels % WIDEST
    return n_labels - left + (0 if left == 0 else 2 if left <= 2 else 4 if left <= 4 else WIDEST)


@intrinsic
def code_at(typing_context: object, codes: object, at: object) -> tuple:
    """``codes[at]`` as int64, without the check for a negative index."""

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.zext(builder.load(builder.gep(data, [arguments[1]])), _I64)

    return types.int64(codes, types.int64), codegen


@intrinsic
def other_codes(typing_context: object, codes: object, at: object, code: object) -> tuple:
    """Bit j of the uint64 result says whether ``codes[at + j] != code``, for j below 64."""
    signature = types.uint64(codes, types.int64, types.int64)

    def codegen(context, builder, signature, arguments):
        byte, vector = ir.IntType(8), ir.VectorType(ir.IntType(8), 64)
        address = vector_at(context, builder, signature.args[0], *arguments[:2], byte, 64)
        one = builder.insert_element(
            ir.Constant(vector, ir.Undefined), builder.trunc(arguments[2], byte), _I32(0)
        )
        same = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_I32, 64), [0] * 64))
        return builder.bitcast(builder.icmp_unsigned("!=", load(builder, address, 1), same), _I64)

    return signature, codegen


def _weights_adder(lanes):
    """Intrinsic that adds the weights of `lanes` labels at several places."""

    @intrinsic
    def add(typing_context, sums, places, weights, first):
        """``sums[at : at + lanes] += weights[first : first + lanes]`` for each `at` of `places`.

        `sums` is flat int64, `weights` flat int32 or int64. The weights are loaded and widened once
        for all places; left to itself the compiler adds one by one and checks each index.
        """
        signature = types.void(sums, places, weights, types.int64)

        def codegen(context, builder, signature, arguments):
            sums_type, places_type, weights_type, _ = signature.args
            bits = weights_type.dtype.bitwidth
            source = ir.IntType(bits)
            address = vector_at(context, builder, weights_type, *arguments[2:], source, lanes)
            weight = load(builder, address, bits // 8)
            if bits < 64:
                weight = builder.sext(weight, ir.VectorType(_I64, lanes))
            for j in range(places_type.count):
                at = builder.extract_value(arguments[1], j)
                target = vector_at(context, builder, sums_type, arguments[0], at, _I64, lanes)
                total = builder.add(load(builder, target, 8), weight)
                builder.store(total, target).align = 8
            return context.get_dummy_value()

        return signature, codegen

    return add


ADDERS = {0: None, **{lanes: _weights_adder(lanes) for lanes in (2, 4, 8)}}


def _bins_adder(lanes):
    @intrinsic
    def add(typing_context, sums, at, total, label):
        signature = types.void(sums, types.int64, total, types.int64)

        def codegen(context, builder, signature, arguments):
            sums_type, _, total_type, _ = signature.args
            address = vector_at(context, builder, total_type, *arguments[2:], _I64, lanes)
            value = load(builder, address, 8)
            for b in range(STEP):
                at = builder.add(arguments[1], _I64(b * lanes))
                bin_ = vector_at(context, builder, sums_type, arguments[0], at, _I64, lanes)
                value = builder.add(value, load(builder, bin_, 8))
            builder.store(value, address).align = 8
            return context.get_dummy_value()

        return signature, codegen

    return add


def _neighbours_added(builder, vectors, lanes):
    """Half as many vectors: sums of neighbouring elements of the first, then of the next."""
    index = ir.VectorType(_I32, lanes)
    even, odd = (ir.Constant(index, list(range(start, 2 * lanes, 2))) for start in (0, 1))
    return [
        builder.add(builder.shuffle_vector(a, b, even), builder.shuffle_vector(a, b, odd))
        for a, b in zip(vectors[::2], vectors[1::2], strict=True)
    ]


def _bins_scanner(lanes):
    @intrinsic
    def scan(typing_context, sums, at, rest, label, edges, first):
        signature = types.void(sums, types.int64, rest, types.int64, edges, types.int64)

        def codegen(context, builder, signature, arguments):
            sums_type, _, rest_type, _, edges_type, _ = signature.args
            state = vector_at(context, builder, rest_type, *arguments[2:4], _I64, lanes)
            zero = ir.Constant(ir.VectorType(_I64, lanes), [0] * lanes)
            rest, parts = load(builder, state, 8), []
            for b in range(STEP):
                at = builder.add(arguments[1], _I64(b * lanes))
                address = vector_at(context, builder, sums_type, arguments[0], at, _I64, lanes)
                bin_ = load(builder, address, 8)
                builder.store(zero, address).align = 8
                rest = builder.sub(rest, builder.add(bin_, bin_))
                above = builder.icmp_signed(">", rest, zero)
                parts.append(builder.select(above, rest, builder.sub(zero, rest)))
            builder.store(rest, state).align = 8
            while len(parts) > STEP // lanes:
                parts = _neighbours_added(builder, parts, lanes)
            for j, part in enumerate(parts):
                at = builder.add(arguments[5], _I64(j * lanes))
                address = vector_at(context, builder, edges_type, arguments[4], at, _I64, lanes)
                builder.store(builder.add(load(builder, address, 8), part), address).align = 8
            return context.get_dummy_value()

        return signature, codegen

    return scan


_bins_2, _bins_4, _bins_8 = (_bins_adder(lanes) for lanes in (2, 4, 8))
_scan_2, _scan_4, _scan_8 = (_bins_scanner(lanes) for lanes in (2, 4, 8))


@kernel
def add_bins(width: int, block: np.ndarray, touched: int, total: np.ndarray) -> None:
    """``total += `` the sum over the codes of a block, as :func:`scan_bins` takes it."""
    for code in range(0, N_CODES, STEP):
        if touched >> np.uint64(code // STEP) & np.uint64(1) == 0:
            continue
        if width == 8:
            _bins_8(block, code * 8, total, 0)
        elif width == 4:
            _bins_4(block, code * 4, total, 0)
        else:
            _bins_2(block, code * 2, total, 0)


@kernel
def scan_bins(
    width: int,
    block: NDArray[np.int64],
    touched: int,
    rest: NDArray[np.int64],
    edges: NDArray[np.int64],
) -> None:
    """Add to the edge of each cut that of the block's labels, and empty the block."""
    for code in range(0, N_CODES, STEP):
        if touched >> np.uint64(code // STEP) & np.uint64(1) == 0:
            continue
        if width == 8:
            _scan_8(block, code * 8, rest, 0, edges, code)
        elif width == 4:
            _scan_4(block, code * 4, rest, 0, edges, code)
        else:
            _scan_2(block, code * 2, rest, 0, edges, code)
