"""The numbers of NumPy's generator PCG64 inside kernels, without a call for each.

O'Neill 2014, "PCG: a family of simple fast space-efficient statistically good algorithms for random
number generation", PCG XSL RR 128/64. A kernel that asks a `Generator` calls a function for each
number, around which nothing stays in registers.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from .decorators import small_kernel

_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_I64, _I128 = ir.IntType(64), ir.IntType(128)
_LOW = (1 << 64) - 1
_TO_UNIT = 2.0**-53
# Where the words of a state are.
_HIGH_WORD, _LOW_WORD, _HIGH_INCREMENT, _LOW_INCREMENT, _HAS_HALF, _HALF = range(6)


def words_of(rng: np.random.Generator) -> NDArray[np.uint64]:
    """State of a generator, for kernels."""
    state = rng.bit_generator.state
    if state["bit_generator"] != "PCG64":
        raise TypeError(f"a generator of PCG64 is needed, not of {state['bit_generator']}.")
    at, step = state["state"]["state"], state["state"]["inc"]
    parts = at >> 64, at & _LOW, step >> 64, step & _LOW, state["has_uint32"], state["uinteger"]
    return np.array(parts, dtype=np.uint64)


def put_back(rng: np.random.Generator, words: NDArray[np.uint64]) -> None:
    """Let a generator go on where a kernel has stopped."""
    high, low, high_step, low_step, has_half, half = map(int, words)
    rng.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": high << 64 | low, "inc": high_step << 64 | low_step},
        "has_uint32": has_half,
        "uinteger": half,
    }


@intrinsic
def _advance(typing_context, high, low, high_increment, low_increment):
    """Next state by the congruence in 128 bits, as its two words."""
    word = types.uint64
    signature = types.UniTuple(word, 2)(word, word, word, word)

    def codegen(context, builder, signature, arguments):
        def whole(upper, lower):
            upper = builder.shl(builder.zext(upper, _I128), _I128(64))
            return builder.or_(upper, builder.zext(lower, _I128))

        state, increment = whole(*arguments[:2]), whole(*arguments[2:])
        state = builder.add(builder.mul(state, _I128(_MULTIPLIER)), increment)
        words = builder.lshr(state, _I128(64)), state
        parts = [builder.trunc(part, _I64) for part in words]
        return context.make_tuple(builder, signature.return_type, parts)

    return signature, codegen


@small_kernel
def next_word(words: NDArray[np.uint64]) -> int:
    """The next 64 bits; the state moves on."""
    high, low = _advance(
        words[_HIGH_WORD], words[_LOW_WORD], words[_HIGH_INCREMENT], words[_LOW_INCREMENT]
    )
    words[_HIGH_WORD], words[_LOW_WORD] = high, low
    mixed, turn = high ^ low, high >> np.uint64(58)
    return mixed >> turn | mixed << (np.uint64(64) - turn & np.uint64(63))


@small_kernel
def next_double(words: NDArray[np.uint64]) -> float:
    """As ``Generator.random()``."""
    return np.float64(next_word(words) >> np.uint64(11)) * _TO_UNIT


@small_kernel
def _next_half(words):
    """The next 32 bits: what is left of a word is kept for the next time."""
    if words[_HAS_HALF]:
        words[_HAS_HALF] = 0
        return words[_HALF]
    word = next_word(words)
    words[_HAS_HALF], words[_HALF] = 1, word >> np.uint64(32)
    return word & np.uint64(0xFFFFFFFF)


@small_kernel
def next_below(words: NDArray[np.uint64], n: int) -> int:
    """As ``Generator.integers(0, n)``, for n from 2 to 2**32 - 1 (Lemire's method)."""
    n = np.uint64(n)
    low = np.uint64(0xFFFFFFFF)
    product = _next_half(words) * n
    while product & low < n and product & low < (np.uint64(1 << 32) - n) % n:
        product = _next_half(words) * n
    return np.int64(product >> np.uint64(32))
