"""Vector operations that the compiler does not find by itself, as LLVM IR.

They are plain LLVM vector instructions, legal on every processor (LLVM splits what the hardware
lacks), on integers or comparisons only: no result depends on the vector width.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

LANES = 16

_I32, _I64, _F64 = ir.IntType(32), ir.IntType(64), ir.DoubleType()


def _splat(builder, value, lanes):
    vector = ir.VectorType(value.type, lanes)
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, value, _I32(0))
    return builder.shuffle_vector(
        first, undefined, ir.Constant(ir.VectorType(_I32, lanes), [0] * lanes)
    )


def _address(context, builder, array_type, array, offset, element, lanes):
    data = context.make_array(array_type)(context, builder, array).data
    vector = ir.VectorType(element, lanes)
    return builder.bitcast(builder.gep(data, [offset]), vector.as_pointer())


def _load(builder, address, align):
    value = builder.load(address)
    value.align = align
    return value


@intrinsic
def add_to_bin(typing_context, pairs, first, codes, at, left, right):
    """``pairs[2 * e] += left; pairs[2 * e + 1] += right`` for entry ``e = first + codes[at]``.

    One two-lane addition of int64; left to itself the compiler emits two scalar
    read-modify-writes and checks each index for being negative, which takes twice as long.
    """
    signature = types.void(pairs, types.int64, codes, types.int64, types.int64, types.int64)

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[2])(context, builder, arguments[2]).data
        code = builder.zext(builder.load(builder.gep(data, [arguments[3]])), _I64)
        offset = builder.shl(builder.add(arguments[1], code), _I64(1))
        address = _address(context, builder, signature.args[0], arguments[0], offset, _I64, 2)
        pair = ir.Constant(ir.VectorType(_I64, 2), ir.Undefined)
        pair = builder.insert_element(pair, arguments[4], _I32(0))
        pair = builder.insert_element(pair, arguments[5], _I32(1))
        old = _load(builder, address, 8)
        builder.store(builder.add(old, pair), address).align = 8
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def clear_above(typing_context, vectors, offset, values, start, threshold, mask):
    """``vectors[offset + l] &= mask`` in each of 16 lanes where ``values[start + l] > threshold``.

    `vectors` is a flat uint32 or uint64 array, `values` a flat float64 array.
    """
    bits = vectors.dtype
    signature = types.void(vectors, types.int64, values, types.int64, types.float64, bits)

    def codegen(context, builder, signature, arguments):
        element = ir.IntType(bits.bitwidth)
        words = _address(
            context, builder, signature.args[0], arguments[0], arguments[1], element, LANES
        )
        numbers = _address(
            context, builder, signature.args[2], arguments[2], arguments[3], _F64, LANES
        )
        above = builder.fcmp_ordered(
            ">", _load(builder, numbers, 8), _splat(builder, arguments[4], LANES)
        )
        old = _load(builder, words, bits.bitwidth // 8)
        cleared = builder.and_(old, _splat(builder, arguments[5], LANES))
        new = builder.select(above, cleared, old)
        builder.store(new, words).align = bits.bitwidth // 8
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def count_bits(typing_context, counters, offset, a, b, c, d):
    """Add four words bit by bit to 64 one-byte counters.

    The counters are ``counters[offset:offset + 8]`` (uint64); byte j of the s-th counts bit
    8 j + s. The caller empties them before a byte can overflow.
    """
    word = types.uint64
    signature = types.void(counters, types.int64, word, word, word, word)

    def codegen(context, builder, signature, arguments):
        address = _address(context, builder, signature.args[0], arguments[0], arguments[1], _I64, 8)
        vector = ir.VectorType(_I64, 8)
        shifts = ir.Constant(vector, list(range(8)))
        lanes = ir.Constant(vector, [0x0101010101010101] * 8)
        total = _load(builder, address, 8)
        for argument in arguments[2:]:
            shifted = builder.lshr(_splat(builder, argument, 8), shifts)
            total = builder.add(total, builder.and_(shifted, lanes))
        builder.store(total, address).align = 8
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def lowest_bit(typing_context, word):
    """Position of the lowest set bit of a uint64 word that is not 0."""
    signature = types.int64(types.uint64)

    def codegen(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return signature, codegen
