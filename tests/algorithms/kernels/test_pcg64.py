"""PCG64 inside kernels: the numbers of NumPy's generator, one by one."""

import numpy as np
import pytest

from algorithms.kernels.pcg64 import next_below, next_double, next_word, put_back, words_of


@pytest.mark.parametrize("n", [2, 3, 7, 2**31 - 1, 2**31, 3_000_000_001, 2**32 - 1])
def test_numbers_of_all_kinds_in_any_order(n):
    theirs, order = np.random.default_rng(3), np.random.default_rng(4)
    words = words_of(np.random.default_rng(3))
    for kind in order.integers(0, 3, size=2_000):
        if kind == 0:
            assert next_double(words) == theirs.random()
        elif kind == 1:
            assert next_below(words, n) == theirs.integers(0, n)
        else:
            assert np.uint64(next_word(words)) == theirs.bit_generator.random_raw()


@pytest.mark.parametrize("n_drawn", [0, 1, 2])
def test_a_generator_goes_on_where_the_kernel_has_stopped(n_drawn):
    ours, theirs = np.random.default_rng(8), np.random.default_rng(8)
    words = words_of(ours)
    for _ in range(n_drawn):  # after one half of a word is left
        next_below(words, 3)
        theirs.integers(0, 3)
    put_back(ours, words)
    np.testing.assert_array_equal(ours.integers(0, 1000, size=9), theirs.integers(0, 1000, size=9))
    np.testing.assert_array_equal(ours.random(9), theirs.random(9))


def test_a_rejected_number_is_drawn_again():
    # Of n = 3 only a half word of 0 is rejected.
    words = words_of(np.random.default_rng(0))
    words[4:] = 1, 0  # has a half, and it is 0
    ours = next_below(words, 3)
    theirs = np.random.default_rng(0)
    state = theirs.bit_generator.state | {"has_uint32": 1, "uinteger": 0}
    theirs.bit_generator.state = state
    assert ours == theirs.integers(0, 3)
    assert next_double(words) == theirs.random()


def test_another_generator_is_refused():
    with pytest.raises(TypeError, match="PCG64 is needed, not of MT19937"):
        words_of(np.random.Generator(np.random.MT19937(0)))
