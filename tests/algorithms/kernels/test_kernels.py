"""The project's decorators, their threads, and the vector operations of simd.py."""

from __future__ import annotations

import importlib
import pkgutil
import threading
from pathlib import Path

import numba
import numpy as np
import pandas as pd
import pytest
from numba.core.dispatcher import Dispatcher
from numba.core.errors import TypingError

import algorithms
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.kernels import decorators as kernels
from algorithms.kernels import loops
from algorithms.kernels.cache import KernelCache, cache_folder
from algorithms.kernels.loops import for_each
from algorithms.kernels.simd import (
    BIN_STRIDE,
    LANES,
    add_pairs,
    add_quadruples,
    add_words,
    clear_above,
    count_bits,
    lowest_bit,
    prefetch,
)

ROOT = Path(algorithms.__file__).resolve().parent.parent


def n_compiled(kernel: Dispatcher) -> int:
    """How often a function was compiled: for calls from Python, and for those from kernels."""
    return len(kernel.signatures) + len(kernel.inner.signatures)


def all_kernels() -> dict[str, Dispatcher]:
    """Every compiled function of the package."""
    modules = [importlib.import_module(m.name) for m in
               pkgutil.walk_packages(algorithms.__path__, "algorithms.")]  # fmt: skip
    return {
        f"{module.__name__}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Dispatcher) and value.py_func.__module__ == module.__name__
    }


# --- the decorator ---------------------------------------------------------------------------


def test_options_of_every_kernel():
    found = all_kernels()
    assert len(found) > 30
    for name, kernel in found.items():
        options = kernel.targetoptions
        assert options["fastmath"] is False, name
        assert options["nogil"] is True, name
        assert options["error_model"] == "numpy", name
        assert options.get("nopython") is True, name
        assert options.get("forceobj") is None, name
        assert options.get("parallel") is None, name
        assert type(kernel._cache) is KernelCache, name
        assert Path(kernel._cache.cache_path).parent == cache_folder(), name


def test_only_one_module_uses_numba_s_own_decorators():
    for path in sorted((ROOT / "algorithms").rglob("*.py")):
        if path != ROOT / "algorithms" / "kernels" / "decorators.py":
            source = path.read_text("utf-8")
            for word in ("njit", "numba.jit", "@jit", "jitclass", "vectorize", "fastmath"):
                assert word not in source, f"{path.name} has {word}"


def test_division_by_zero_is_numpy_s():
    @kernels.kernel
    def divide(a, b):
        return a / b

    assert divide(1.0, 0.0) == np.inf
    assert np.isnan(divide(0.0, 0.0))


def test_no_contraction_or_re_association():
    """fastmath would turn a*a - b into a fused operation and cancel (x + y) - x."""

    @kernels.kernel
    def fused(a, b):
        return a * a - b

    @kernels.kernel
    def cancelled(x, y):
        return (x + y) - x

    a = 1.0 + 2.0**-30
    assert fused(a, a * a) == 0.0
    assert cancelled(1e20, 1.0) == 0.0


@pytest.mark.slow
def test_each_kernel_compiles_once():
    """Whatever the memory of the input: the wrapper hands on one kind of array."""
    rng = np.random.default_rng(0)
    X, score = rng.normal(size=(40, 3)), rng.normal(size=40)

    def use(X, y, weights):
        for cls, target in ((GBRTRegressor, y), (GBRTClassifier, y > 0)):
            for w in (None, weights):
                model = cls(n_estimators=2, min_samples_leaf=3, max_leaves=3)
                model.fit(X, target, sample_weight=w, eval_set=(X, target))
                model.predict(X)
                model.prediction_cost(X)

    use(X, score, rng.random(40))
    use(X, score, np.ones(40))  # whole weights have derivatives of their own kind
    use(X.astype(np.float32), score, np.ones(40))  # its validation set is read in another way
    before = {name: n_compiled(kernel) for name, kernel in all_kernels().items()}
    assert sum(before.values()) > 10
    frozen = X.copy(), score.copy(), rng.random(40)
    for array in frozen:
        array.flags.writeable = False
    use(*frozen)
    use(np.asfortranarray(X), score[::-1], rng.random(80)[::2])
    use(X.astype(np.float32), score.astype(np.float32), np.ones(40, dtype=np.int8))
    use(X[:, :1], score, rng.random(40))
    use(frozen[0][:, 1:2].copy(), score, rng.random(40))
    use(pd.DataFrame(X), pd.Series(score), pd.Series(rng.random(40)))
    assert {name: n_compiled(kernel) for name, kernel in all_kernels().items()} == before


# --- threads ---------------------------------------------------------------------------------


@kernels.allocating_kernel
def note_place(i, x, first, inner):
    if i < first:
        raise ValueError(i)
    if x[i] < 0:
        raise ValueError("negative")
    x[i] = i + inner[1][0]


@kernels.kernel
def call_loop(x, first=0, shared=True):
    for_each(note_place, x.shape[0], shared, (x, first, (0, (0.5,))))


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_a_loop_runs_all_indices(n, shared, n_threads):
    x = np.zeros(n)
    with kernels.threads(n_threads, 10**6):
        call_loop(x, 0, shared)
    np.testing.assert_array_equal(x, np.arange(n) + 0.5)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_error_in_a_loop_is_raised(n_threads):
    x = np.zeros(1000)
    with kernels.threads(n_threads, 10**6):
        with pytest.raises(ValueError, match=r"^0$"):
            call_loop(x, 1)
        x[:] = 0
        x[600] = -1
        with pytest.raises(ValueError, match=r"^negative$"):
            call_loop(x)
    assert x[601] == 0  # the run of neighbours ends
    assert x[599] == 599.5


def test_the_body_of_a_loop_returns_nothing():
    @kernels.kernel
    def twice(i):
        return 2 * i

    @kernels.kernel
    def loop(n):
        for_each(twice, n, False, ())

    with pytest.raises(TypingError, match="returns int64"):
        loop(3)


def test_resolve_n_threads():
    available = kernels.available_threads()
    assert kernels.resolve_n_threads(None) == available
    assert kernels.resolve_n_threads(1) == kernels.resolve_n_threads(np.int8(1)) == 1
    assert kernels.resolve_n_threads(10_000) == available
    for wrong in (0, -1, 1.0, 1.5, "2", True, np.nan, np.inf, [], (1,)):
        with pytest.raises(ValueError, match=r"n_threads must be .* got"):
            kernels.resolve_n_threads(wrong)


@pytest.fixture
def n_threads():
    """Tell how many threads a loop would be shared among now."""
    return lambda: loops._pool.n_threads


def test_threads_are_given_back(n_threads):
    users = max(1, numba.get_num_threads() - 1)
    numba.set_num_threads(users)
    assert n_threads() == 1
    with kernels.threads(1, 10**6):
        assert n_threads() == 1
        with kernels.threads(2, 10**6):  # a score may predict, too
            assert n_threads() == 2
            call_loop(np.zeros(1000))
        assert n_threads() == 1

    def fail():
        with kernels.threads(2, 10**6):
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert n_threads() == 1
    assert numba.get_num_threads() == users  # for loops of the user's own


def test_small_data_take_one_thread(n_threads):
    with kernels.threads(2, 1000):
        assert n_threads() == 1
        with kernels.threads(2, 10**6):
            assert n_threads() == 2
        assert n_threads() == 1


def test_one_parallel_region_at_a_time():
    inside, most = [], []
    lock = threading.Lock()

    def enter():
        for _ in range(20):
            with kernels.threads(1, 10**6):
                with lock:
                    inside.append(1)
                    most.append(len(inside))
                with lock:
                    inside.pop()

    workers = [threading.Thread(target=enter) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(most) == 80
    assert max(most) == 1


# --- simd ------------------------------------------------------------------------------------


@kernels.kernel
def call_adders(sums, codes, width, words):
    for row in range(words.shape[0]):
        at = row * width
        prefetch(codes, at + width)  # also behind the end: nothing is read
        if words.shape[1] == 1:
            add_words(sums, codes, at, width, words, row)
        elif words.shape[1] == 2:
            add_pairs(sums, codes, at, width, words, row)
        else:
            add_quadruples(sums, codes, at, width, words, row)


@kernels.kernel
def call_clear_above(vectors, offset, values, start, threshold, mask):
    clear_above(vectors, offset, values, start, threshold, mask)


@kernels.kernel
def call_count_bits(counters, offset, words):
    for i in range(0, words.shape[0], 4):
        count_bits(counters, offset, words[i], words[i + 1], words[i + 2], words[i + 3])


@kernels.kernel
def call_lowest_bit(word):
    return lowest_bit(word)


@pytest.mark.parametrize("width", range(1, 18))
@pytest.mark.parametrize("n_words", [1, 2, 4])
def test_rows_are_added_to_bins(n_words, width):
    rng = np.random.default_rng(width)
    codes = rng.integers(0, 256, (50, width)).astype(np.uint8)
    codes[:3] = [[0], [255], [128]]  # a byte is not signed
    words = rng.integers(-(2**50), 2**50, (50, n_words))
    sums = rng.integers(-5, 5, (width, BIN_STRIDE, n_words))
    expected = sums.copy()
    for c in range(width):
        np.add.at(expected[c], codes[:, c], words)
    flat = sums.reshape(-1)
    call_adders(flat, codes.reshape(-1), width, words)
    np.testing.assert_array_equal(flat, expected.reshape(-1))


@pytest.mark.parametrize("bits", [np.uint32, np.uint64])
@pytest.mark.parametrize("offset", [0, 3, 16])
def test_clear_above(bits, offset):
    rng = np.random.default_rng(2)
    limit = np.iinfo(bits).max
    vectors = rng.integers(0, limit, 40, dtype=bits, endpoint=True)
    values = rng.integers(-2, 3, 40).astype(np.float64)
    values[offset : offset + 6] = [0.0, -0.0, 5e-324, -5e-324, np.inf, -np.inf]
    values[offset + 6] = np.nan  # no row has it; not above anything
    for threshold in (0.0, -0.0, 1.0, -2.0, np.inf):
        mask = rng.integers(0, limit, dtype=bits, endpoint=True)
        expected = vectors.copy()
        lanes = slice(offset, offset + LANES)
        expected[lanes] &= np.where(values[lanes] > threshold, mask, bits(limit))
        call_clear_above(vectors, offset, values, offset, threshold, mask)
        np.testing.assert_array_equal(vectors, expected)


def test_count_bits():
    rng = np.random.default_rng(3)
    words = rng.integers(0, 2**64 - 1, 252, dtype=np.uint64, endpoint=True)
    words[:8] = [0, 2**64 - 1, 1, 2**63, 2**64 - 1, 0, 0xFF, 0xFF00]
    words[100:] |= np.uint64(1 << 17)  # a counter that nearly fills its byte
    counters = np.zeros(24, dtype=np.uint64)
    call_count_bits(counters, 8, words)
    bits = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    ours = counters[8:16].view(np.uint8).reshape(8, 8).T.ravel()  # byte j of word s: bit 8 j + s
    np.testing.assert_array_equal(ours, bits.sum(axis=0))
    np.testing.assert_array_equal(counters[[*range(8), *range(16, 24)]], 0)


def test_count_bits_can_count_252_rows():
    counters = np.zeros(8, dtype=np.uint64)
    call_count_bits(counters, 0, np.full(252, 2**64 - 1, dtype=np.uint64))
    np.testing.assert_array_equal(counters.view(np.uint8), 252)


def test_lowest_bit():
    rng = np.random.default_rng(4)
    words = [1 << i for i in range(64)] + [2**64 - 1, 0b101000, 1 << 63 | 1 << 40]
    words += rng.integers(1, 2**64 - 1, 50, dtype=np.uint64).tolist()
    for word in words:
        assert call_lowest_bit(np.uint64(word)) == (word & -word).bit_length() - 1
