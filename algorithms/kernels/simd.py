"""Vector operations that the compiler does not find by itself, as LLVM IR.

They are plain LLVM vector instructions, legal on every processor (LLVM splits what the hardware
lacks), on integers, comparisons, or numbers each by itself: no result depends on the vector width.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16
_FEW_STEPS = 4  # up to 15 edges: comparing with each is faster than a bisection
BIN_STRIDE = 256 + 8
"""Places from the bins of one column to those of the next: 256 codes, and a cache line between.

Without it the same code of all columns would fall on the same few sets of the first-level cache,
which hold eight lines each. Where columns share a frequent code, as zeros, that takes 4 times as
long.
"""

SPLIT_LANES = 8
"""Thresholds that :func:`best_split` looks at together."""

_I16, _I32, _I64, _F64 = ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.DoubleType()


def _splat(builder, value, lanes):
    vector = ir.VectorType(value.type, lanes)
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, value, _I32(0))
    return builder.shuffle_vector(
        first, undefined, ir.Constant(ir.VectorType(_I32, lanes), [0] * lanes)
    )


def vector_at(
    context: Any,
    builder: ir.IRBuilder,
    array_type: Any,
    array: Any,
    offset: Any,
    element: Any,
    lanes: int,
) -> Any:
    """Pointer to so many neighbouring elements of an array, from an offset."""
    data = context.make_array(array_type)(context, builder, array).data
    vector = ir.VectorType(element, lanes)
    return builder.bitcast(builder.gep(data, [offset]), vector.as_pointer())


def load(builder: ir.IRBuilder, address: Any, align: int) -> Any:
    """What lies at an address that is a multiple of so many bytes."""
    value = builder.load(address)
    value.align = align
    return value


def _row_adder(lanes):
    """Intrinsic that adds the words of a row to the bins of all columns of a tile."""

    @intrinsic
    def add(typing_context, sums, codes, at, width, words, row):
        index = types.int64
        signature = types.void(sums, codes, index, index, words, index)

        def codegen(context, builder, signature, arguments):
            totals, numbers, added = (
                context.make_array(signature.args[k])(context, builder, arguments[k]).data
                for k in (0, 1, 4)
            )
            at, width, row = arguments[2], arguments[3], arguments[5]
            vector = ir.VectorType(_I64, lanes) if lanes > 1 else _I64
            place = builder.gep(added, [builder.mul(row, _I64(lanes))])
            word = load(builder, builder.bitcast(place, vector.as_pointer()), 8)

            def add_columns(column, n_codes):
                """Add to the bins of the next 8, 4 or 1 columns, whose codes are read at once."""
                bits = ir.IntType(8 * n_codes)
                place = builder.gep(numbers, [builder.add(at, column)])
                several = load(builder, builder.bitcast(place, bits.as_pointer()), 1)
                several = builder.zext(several, _I64) if n_codes < 8 else several
                first = builder.gep(totals, [builder.mul(column, _I64(lanes * BIN_STRIDE))])
                for k in range(n_codes):
                    code = builder.and_(builder.lshr(several, _I64(8 * k)), _I64(255))
                    offset = builder.mul(builder.add(code, _I64(BIN_STRIDE * k)), _I64(lanes))
                    address = builder.bitcast(builder.gep(first, [offset]), vector.as_pointer())
                    new = builder.add(load(builder, address, 8), word)
                    builder.store(new, address).align = 8

            done = _I64(0)
            for n_codes in (8, 4, 1):
                end = builder.and_(width, _I64(-n_codes))
                with cgutils.for_range_slice(builder, done, end, _I64(n_codes)) as (column, _):
                    add_columns(column, n_codes)
                done = end
            return context.get_dummy_value()

        return signature, codegen

    return add


# ``sums[lanes * (BIN_STRIDE * c + codes[at + c]) + k] += words[row, k]`` for all columns c < width
# and all lanes k. Left to itself the compiler loads every code by itself, updates lane by lane
# and checks each index for being negative.
add_words, add_pairs, add_quadruples = _row_adder(1), _row_adder(2), _row_adder(4)


@intrinsic
def prefetch(typing_context: object, values: object, at: object) -> tuple:
    """Have the cache line of ``values[at]`` fetched; nothing waits for it."""
    signature = types.void(values, types.int64)

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, _I32, _I32, _I32])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        builder.call(function, [address, _I32(0), _I32(3), _I32(1)])  # to read, often, data
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def clear_above(
    typing_context: object,
    vectors: object,
    offset: object,
    values: object,
    start: object,
    threshold: object,
    mask: object,
) -> tuple:
    """``vectors[offset + l] &= mask`` in each of 16 lanes where ``values[start + l] > threshold``.

    `vectors` is a flat uint32 or uint64 array, `values` a flat float64 array.
    """
    bits = vectors.dtype
    signature = types.void(vectors, types.int64, values, types.int64, types.float64, bits)

    def codegen(context, builder, signature, arguments):
        element = ir.IntType(bits.bitwidth)
        words = vector_at(
            context, builder, signature.args[0], arguments[0], arguments[1], element, LANES
        )
        numbers = vector_at(
            context, builder, signature.args[2], arguments[2], arguments[3], _F64, LANES
        )
        above = builder.fcmp_ordered(
            ">", load(builder, numbers, 8), _splat(builder, arguments[4], LANES)
        )
        old = load(builder, words, bits.bitwidth // 8)
        cleared = builder.and_(old, _splat(builder, arguments[5], LANES))
        new = builder.select(above, cleared, old)
        builder.store(new, words).align = bits.bitwidth // 8
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def count_bits(
    typing_context: object,
    counters: object,
    offset: object,
    a: object,
    b: object,
    c: object,
    d: object,
) -> tuple:
    """Add four words bit by bit to 64 one-byte counters.

    The counters are ``counters[offset:offset + 8]`` (uint64); byte j of the s-th counts bit
    8 j + s. The caller empties them before a byte can overflow.
    """
    word = types.uint64
    signature = types.void(counters, types.int64, word, word, word, word)

    def codegen(context, builder, signature, arguments):
        address = vector_at(context, builder, signature.args[0], *arguments[:2], _I64, 8)
        vector = ir.VectorType(_I64, 8)
        shifts = ir.Constant(vector, list(range(8)))
        lanes = ir.Constant(vector, [0x0101010101010101] * 8)
        total = load(builder, address, 8)
        for argument in arguments[2:]:
            shifted = builder.lshr(_splat(builder, argument, 8), shifts)
            total = builder.add(total, builder.and_(shifted, lanes))
        builder.store(total, address).align = 8
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def reachable_leaves(
    typing_context: object,
    codes: object,
    feature: object,
    code: object,
    lost: object,
    split: object,
    tree: object,
    words: object,
    at: object,
) -> tuple:
    """Leaves of one tree that 16 rows can still reach, as ``words[at + l]`` of each lane l.

    The leaves are looked at 16 at a time, one bit each. Of these the splits of part p are
    ``split[tree, p] … split[tree, p + 1] - 1``: in lanes where
    ``codes[feature[s] * 16 + l] > code[s]`` the leaves ``lost[s]`` are cleared. `codes` and `code`
    are flat int16, `feature` int32, `lost` uint16, `words` uint16, uint32 or uint64 arrays, `split`
    is int64. The parts stay in registers until the tree is done; written and read back at each
    split, as the compiler would have it, they take twice as long. Few splits clear leaves of two
    parts, and 16 numbers of 16 bits are one register where those of 64 are four.
    """
    bits = words.dtype
    index, n_parts = types.int64, bits.bitwidth // 16
    signature = types.void(codes, feature, code, lost, split, index, words, index)

    def codegen(context, builder, signature, arguments):
        numbers, features, thresholds, masks, bounds = (
            context.make_array(kind)(context, builder, argument).data
            for kind, argument in zip(signature.args[:5], arguments[:5], strict=True)
        )
        element = ir.IntType(bits.bitwidth)
        vector, whole = ir.VectorType(_I16, LANES), ir.VectorType(element, LANES)
        nothing = ir.Constant(vector, [0] * LANES)

        def add_where_above(split, cleared):
            tested = builder.sext(builder.load(builder.gep(features, [split])), _I64)
            place = builder.gep(numbers, [builder.mul(tested, _I64(LANES))])
            place = builder.bitcast(place, vector.as_pointer())
            threshold = builder.load(builder.gep(thresholds, [split]))
            above = builder.icmp_signed(
                ">", load(builder, place, 2), _splat(builder, threshold, LANES)
            )
            mask = _splat(builder, builder.load(builder.gep(masks, [split])), LANES)
            more = builder.select(above, mask, nothing)
            builder.store(builder.or_(builder.load(cleared), more), cleared)

        first = builder.gep(bounds, [builder.mul(arguments[5], _I64(n_parts + 1))])
        left = ir.Constant(whole, [0] * LANES)
        for part in range(n_parts):
            cleared = cgutils.alloca_once(builder, vector)
            builder.store(nothing, cleared)
            begin, end = (builder.load(builder.gep(first, [_I64(k)])) for k in (part, part + 1))
            with cgutils.for_range_slice(builder, begin, end, _I64(1)) as (split, _):
                add_where_above(split, cleared)
            kept = builder.not_(builder.load(cleared))
            if n_parts > 1:
                shift = ir.Constant(whole, [16 * part] * LANES)
                kept = builder.shl(builder.zext(kept, whole), shift)
            left = builder.or_(left, kept)
        to = vector_at(context, builder, signature.args[6], *arguments[6:8], element, LANES)
        builder.store(left, to).align = bits.bitwidth // 8
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def count_below(
    typing_context: object,
    edges: object,
    begin: object,
    n_steps: object,
    values: object,
    codes: object,
    at: object,
    lowest: object,
) -> tuple:
    """``codes[at + l] = lowest`` plus the number of edges below ``values[l]``, in 16 lanes l.

    From `begin` on there are ``2 ** n_steps - 1`` rising float64 `edges`; `codes` are int16.
    The lanes search by bisection side by side: a branch at each step would be mispredicted half of
    the time. Few edges are compared one after the other, each with all lanes at once: a step of the
    bisection loads sixteen edges lane by lane.
    """
    index = types.int64
    signature = types.void(edges, index, index, values, codes, index, index)

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        vector = ir.VectorType(_I64, LANES)
        first = vector_at(context, builder, signature.args[3], arguments[3], _I64(0), _F64, LANES)
        numbers = load(builder, first, 8)
        nothing = ir.Constant(vector, [0] * LANES)
        below = cgutils.alloca_once(builder, vector)
        builder.store(nothing, below)

        def add_where_below(compared, number):
            more = builder.select(builder.fcmp_ordered("<", compared, numbers), number, nothing)
            builder.store(builder.add(builder.load(below), more), below)

        few = builder.icmp_signed("<=", arguments[2], _I64(_FEW_STEPS))
        with builder.if_else(few) as (one_by_one, by_halves):
            with one_by_one:
                n_edges = builder.sub(builder.shl(_I64(1), arguments[2]), _I64(1))
                with cgutils.for_range(builder, n_edges) as loop:
                    place = builder.gep(data, [builder.add(arguments[1], loop.index)])
                    edge = _splat(builder, builder.load(place), LANES)
                    add_where_below(edge, ir.Constant(vector, [1] * LANES))
            with by_halves, cgutils.for_range(builder, arguments[2]) as loop:
                step = builder.sub(builder.sub(arguments[2], loop.index), _I64(1))
                half = builder.shl(_I64(1), step)
                middle = builder.gep(data, [builder.sub(builder.add(arguments[1], half), _I64(1))])
                so_far = builder.load(below)
                compared = ir.Constant(ir.VectorType(_F64, LANES), ir.Undefined)
                for lane in range(LANES):
                    place = builder.gep(middle, [builder.extract_element(so_far, _I32(lane))])
                    compared = builder.insert_element(compared, builder.load(place), _I32(lane))
                add_where_below(compared, _splat(builder, half, LANES))
        result = builder.add(builder.load(below), _splat(builder, arguments[6], LANES))
        to = vector_at(context, builder, signature.args[4], *arguments[4:6], _I16, LANES)
        builder.store(builder.trunc(result, ir.VectorType(_I16, LANES)), to).align = 2
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def best_split(
    typing_context: object,
    left_g: object,
    left_h: object,
    n: object,
    g_scale: object,
    h_scale: object,
    G: object,
    H: object,
    reg_lambda: object,
    score: object,
) -> tuple:
    """Largest raw gain above 0 of n candidates, and the first of those that have it.

    Gradients to the left are ``left_g[:n] * g_scale``, hessians ``left_h[:n] * h_scale``; behind
    them are copies of the last, up to a multiple of :data:`SPLIT_LANES`. The gain
    is the bracket of Eq. (12), (GL²/HL + GR²/HR) - `score`, operation by operation, after the
    sides' sums of hessians have got `reg_lambda`, which `score` has in it already. Returned are
    0.0 and -1 if none is above 0. Each lane keeps the first of its largest: written to memory,
    and looked for there, gains take half as long again.
    """
    number, index = types.float64, types.int64
    signature = types.Tuple((number, index))(left_g, left_h, index, *(number,) * 6)

    def codegen(context, builder, signature, arguments):
        gradients, hessians = (
            context.make_array(signature.args[k])(context, builder, arguments[k]).data
            for k in range(2)
        )
        scales_and_sums = [_splat(builder, value, SPLIT_LANES) for value in arguments[3:]]
        g_scale, h_scale, all_g, all_h, reg, score = scales_and_sums
        vector, whole = (ir.VectorType(kind, SPLIT_LANES) for kind in (_F64, _I64))
        best, found = (cgutils.alloca_once(builder, kind) for kind in (vector, whole))
        builder.store(ir.Constant(vector, [0.0] * SPLIT_LANES), best)
        builder.store(ir.Constant(whole, [-1] * SPLIT_LANES), found)
        steps = _I64(0), arguments[2], _I64(SPLIT_LANES)
        with cgutils.for_range_slice(builder, *steps) as (start, _):
            g, h = (
                load(builder, builder.bitcast(builder.gep(place, [start]), vector.as_pointer()), 8)
                for place in (gradients, hessians)
            )
            g, h = builder.fmul(g, g_scale), builder.fmul(h, h_scale)
            right_g, right_h = builder.fsub(all_g, g), builder.fsub(all_h, h)
            left = builder.fdiv(builder.fmul(g, g), builder.fadd(h, reg))
            right = builder.fdiv(builder.fmul(right_g, right_g), builder.fadd(right_h, reg))
            gain = builder.fsub(builder.fadd(left, right), score)
            larger = builder.fcmp_ordered(">", gain, builder.load(best))
            builder.store(builder.select(larger, gain, builder.load(best)), best)
            at = _splat(builder, start, SPLIT_LANES)
            builder.store(builder.select(larger, at, builder.load(found)), found)
        gains, starts = builder.load(best), builder.load(found)
        gain, which = ir.Constant(_F64, 0.0), _I64(-1)
        for lane in range(SPLIT_LANES):
            of_lane = builder.extract_element(gains, _I32(lane))
            place = builder.add(builder.extract_element(starts, _I32(lane)), _I64(lane))
            better = builder.or_(
                builder.fcmp_ordered(">", of_lane, gain),
                builder.and_(
                    builder.fcmp_ordered("==", of_lane, gain),
                    builder.icmp_signed("<", place, which),
                ),
            )
            gain = builder.select(better, of_lane, gain)
            which = builder.select(better, place, which)
        return context.make_tuple(builder, signature.return_type, (gain, which))

    return signature, codegen


@intrinsic
def lowest_bit(typing_context: object, word: object) -> tuple:
    """Position of the lowest set bit of a uint64 word that is not 0."""
    signature = types.int64(types.uint64)

    def codegen(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return signature, codegen
