"""The project's numba decorators and the number of threads.

Compiled kernels are kept on disk as :mod:`algorithms.kernels.cache` says; that a first fit compiles
them it says itself, if that takes long.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import logging
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any, ParamSpec, TypeVar

# GNU OpenMP lets a thread that waits for another spin for milliseconds before it sleeps. Beside one
# other busy process that made a fit of 0.3 s last 3 to 10 s. This much spinning (some 0.1 ms) keeps
# both: 0.4 s in company, and within a few per cent of the default alone. Read when the library is
# loaded, so it must be set before; a user's own setting wins.
os.environ.setdefault("GOMP_SPINCOUNT", "3000")

import llvmlite.binding as llvm
import numba
from numba.core import config as numba_config
from numba.core import event as numba_events
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUContext
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.types import unliteral
from numba.extending import overload

from .cache import KernelCache, cache_folder
from .loops import lost_its_threads, on_threads

# --- kernels that only kernels call ------------------------------------------------------------

# Of these LLVM's intermediate code is kept, and no machine code. numba compiles each function as if
# it were run by itself, and once more inside each that calls it. Of a kernel that only kernels
# call, the former is never run. Such code is therefore kept as it is after LLVM's cheapest passes,
# and optimised once, inside the kernel that Python calls.
#
# Nothing of numba is replaced: a compiler class, a code generator and a library of our own are
# given to our kernels alone. The code generator shares all with the process's own but the library.

_TRIED = (0, 62), (0, 68)  # the first and the last numba whose insides are known to be as here


class _InnerLibrary(JITCodeLibrary):
    """A function that is linked into others and never run by itself."""

    def _optimize_final_module(self):
        passes, builder = self._codegen._module_pass_manager(opt=0, cost="cheap")
        passes.run(self._final_module, builder)

    def _finalize_specific(self):
        """Nothing is linked for a run."""

    serialize_using_object_code = JITCodeLibrary.serialize_using_bitcode


class _InnerCodegen(JITCPUCodegen):
    """The process's own, but its functions get no machine code."""

    _library_class = _InnerLibrary

    def __init__(self, outer: JITCPUCodegen) -> None:
        vars(self).update(vars(outer))

    def _add_module(self, module):
        """Nothing is given to the machine."""

    def set_env(self, env_name, env):
        """Set where an error with computed arguments looks, whatever links its function."""
        if not self._engine.is_symbol_defined(env_name):
            place = llvm.parse_assembly(f'@"{env_name}" = common global ptr null')
            self._engine.add_module(place)
        super().set_env(env_name, env)


@functools.cache
def inner_context() -> CPUContext:
    """Context of the CPU for numba, with :class:`_InnerCodegen` if this numba is known."""
    outer = cpu_target.target_context
    if not _is_known():
        return outer
    return outer.subtarget(_internal_codegen=_InnerCodegen(outer.codegen()))


def _is_known() -> bool:
    return _TRIED[0] <= numba.version_info.short <= _TRIED[1]


@functools.cache
def _say_unknown() -> None:
    first, last = (".".join(map(str, version)) for version in _TRIED)
    warnings.warn(
        f"numba {numba.__version__} is none of those that this version was tried with ({first} to "
        f"{last}): kernels compile as numba has it, which takes longer. Nothing else differs.",
        stacklevel=2,
    )


class InnerCompiler(Compiler):
    """numba's, for a kernel that kernels call."""

    def __init__(self, typing_context: Any, target_context: Any, *others: Any) -> None:
        if not _is_known():
            _say_unknown()
        super().__init__(typing_context, inner_context(), *others)


# --- the first fit says that it compiles -------------------------------------------------------

# How long it will take nobody knows beforehand. A fit that has compiled for a second has met one of
# the large kernels, and most of a minute is to come; a small kernel alone is not worth a word.

log = logging.getLogger(__name__)

PATIENCE = 1.0  # seconds of compilation before something is said

_PACKAGE = __name__.split(".")[0]


class _Announcer(numba_events.Listener):
    """Says it once, however many fits and threads compile."""

    def __init__(self) -> None:
        self.said = False
        self._began = None

    def fit_begins(self) -> None:
        """Forget what an earlier fit compiled."""
        self._began = None

    def on_start(self, event) -> None:
        """At each kernel that is compiled, the first of a fit and those that it calls."""
        now = time.monotonic()
        if self._began is None:
            self._began = now
        elif not self.said and now - self._began > PATIENCE:
            self.said = True
            log.warning(
                "The first fit compiles its kernels, once, for up to half a minute; they are "
                "kept for later runs. To compile all of them beforehand: python -m "
                "%s.registry",
                _PACKAGE,
            )

    def on_end(self, event) -> None:
        """Nothing to say."""


_announcer = _Announcer()


@contextlib.contextmanager
def announcing() -> Iterator[None]:
    """Say, once in a process, that the fit in the block compiles, if that takes long."""
    if _announcer.said:
        yield
        return
    _announcer.fit_begins()
    with numba_events.install_listener("numba:compile", _announcer):
        yield


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Say nothing of what fits in the block compile: it is what they are for."""
    before, _announcer.said = _announcer.said, True
    try:
        yield
    finally:
        _announcer.said = before


# --- the decorators ----------------------------------------------------------------------------

P = ParamSpec("P")
R = TypeVar("R")

# fastmath would re-associate and contract, which breaks the equality of the twins; error_model
# "numpy" lets a division by zero give inf as in NumPy instead of a branch per division.
_OPTIONS = {"nogil": True, "fastmath": False, "error_model": "numpy"}


# By what Python calls a compiled function: it takes apart every array of every argument, and for a
# kernel that only kernels call is a quarter of the time to compile.
_NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class _Dispatcher(CPUDispatcher):
    """numba's, which compiles what no other process does, and without the garbage collector."""

    def compile(self, sig):
        with global_compiler_lock, _collector_waits():
            try:
                return super().compile(sig)
            finally:
                if isinstance(self._cache, KernelCache):
                    self._cache.let_others_compile()


@contextlib.contextmanager
def _collector_waits() -> Iterator[None]:
    """Python's collector would walk, again and again, over all that numba keeps."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _compiled(py_func, **options):
    """Dispatcher of a function, with our cache in the place of numba's own.

    For kernels that call it there is a second one, `inner`, whose code Python cannot call.
    """
    options = {"nopython": True, "boundscheck": None} | _OPTIONS | options
    dispatcher = _Dispatcher(py_func, {}, options)
    inner = _Dispatcher(py_func, {}, options | _NO_WRAPPERS, InnerCompiler)
    inner.targetctx = inner_context()
    if cache_folder() is not None:
        dispatcher._cache = KernelCache(py_func)
        inner._cache = KernelCache(py_func, "inner")

    def get_call_template(args, kws):
        # Of a number that stands in the source only the type matters: else each is compiled for.
        kws = {name: unliteral(one) for name, one in kws.items()}
        return inner.get_call_template([unliteral(one) for one in args], kws)

    # What numba asks of a function when it compiles a call of it.
    dispatcher.get_call_template = get_call_template
    dispatcher.get_overload = inner.get_overload
    dispatcher.inner = inner
    return dispatcher


def kernel(py_func: Callable[P, R]) -> Callable[P, R]:
    """Compile a function that makes no array; the project's decorator.

    References to arrays are not counted, as whoever calls it holds them: one by one for each array
    in each tuple, that takes as long as a short loop. It may take views of its arguments but cannot
    return one.
    """
    return _compiled(py_func, _nrt=False)


def allocating_kernel(py_func: Callable[P, R]) -> Callable[P, R]:
    """Compile a function that counts who holds arrays, as it makes one, or returns one.

    An error with a computed argument is such an object, too.
    """
    return _compiled(py_func, _nrt=True)


def inlined_kernel(py_func: Callable[P, R]) -> Callable[P, R]:
    """Compile a function that becomes part of each kernel that calls it, as if written there."""
    return _compiled(py_func, inline="always")


def small_kernel(py_func: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel that LLVM makes part of each kernel that calls it.

    A call hands over every number of every array of every tuple, forty for the losses of a decision
    process alone: more than a short function does.
    """
    return _compiled(py_func, _nrt=False, forceinline=True)


COMPILED_ONLY = "This function is chosen by the class of its first argument, in compiled code only."
"""What a function says that compiled code replaces, see :func:`chosen_by_class`."""


def chosen_by_class(question: Callable) -> Callable[[Callable], Callable]:
    """Decorate what chooses, from numba's types of the arguments, the code of a function."""
    # Inlined before numba counts references: else each call would count those of all arrays.
    options = {"error_model": "numpy", "pipeline_class": InnerCompiler}
    return overload(question, strict=False, jit_options=options, inline="always")


_PARALLEL_VALUES = 100_000

# numba's fallback threading layer ("workqueue") aborts the process on concurrent use. Re-entrant:
# a validation score may itself predict with another model.
_one_parallel_region = threading.RLock()


def _after_fork() -> None:
    """In the child: a thread of the parent may have held the lock, which nobody here gives back."""
    global _one_parallel_region
    _one_parallel_region = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def available_threads() -> int:
    """Return the number of threads that numba may use in this process."""
    return numba_config.NUMBA_NUM_THREADS


def resolve_n_threads(n_threads: int | None) -> int:
    """Return the number of threads to use."""
    if n_threads is None:
        return available_threads()
    if isinstance(n_threads, bool) or not isinstance(n_threads, Integral) or n_threads < 1:
        raise ValueError(f"n_threads must be None or a whole number >= 1, got {n_threads!r}.")
    return min(int(n_threads), available_threads())


@contextlib.contextmanager
def threads(n_threads: int, n_values: int) -> Iterator[None]:
    """Share the loops of kernels inside the block among threads, one block at a time."""
    with _one_parallel_region:
        wanted = n_threads if n_values >= _PARALLEL_VALUES else 1
        if wanted > 1 and lost_its_threads():
            _say_without_threads()
            wanted = 1
        with on_threads(wanted):
            yield


def _say_without_threads() -> None:
    warnings.warn(
        "This process was forked from one that had started its threads, which do not survive a "
        "fork: one thread computes all. For more, start workers by spawn "
        '(multiprocessing.get_context("spawn"); gunicorn without --preload). With n_threads=1 '
        "nothing is said.",
        RuntimeWarning,
        stacklevel=4,
    )
