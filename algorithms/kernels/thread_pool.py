"""The threads that loops of kernels share (:mod:`.loops`): numba's, which a process starts once.

Compiled code knows nothing of them: it finds in a record of this process, when it runs, how many it
is to use, and what hands its pieces out. So a kernel is loaded where no thread was ever started;
and in a process that was forked from one with threads, which do not survive a fork (GNU OpenMP ends
a process that asks for those of its parent), one computes all.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import warnings
from collections.abc import Iterator

import llvmlite.binding as llvm
from numba.core import config
from numba.np.ufunc import parallel


class _Pool(ctypes.Structure):
    """What hands pieces to threads, and to how many."""

    _fields_ = (("hand_out", ctypes.c_void_p), ("n_threads", ctypes.c_int64))


# The record's name in compiled code: that of a wheel beside a checkout is another.
POOL = f"{__name__}._pool"
_pool = _Pool(None, 1)
_forked = False  # from a process with threads
llvm.add_symbol(POOL, ctypes.addressof(_pool))


def lost_its_threads() -> bool:
    """Whether this process was forked from one that had started numba's threads."""
    return _forked


@contextlib.contextmanager
def on_threads(n_threads: int) -> Iterator[None]:
    """Have loops inside the block shared among so many threads."""
    before = _pool.n_threads
    if n_threads == before:
        yield
        return
    if n_threads > 1 and not _pool.hand_out:
        _start()
    # numba's own functions of these names take two locks first, as long as a loop over 1,000 rows.
    users = parallel._get_num_threads() if n_threads > 1 else n_threads
    _pool.n_threads = n_threads
    try:
        yield
    finally:
        _pool.n_threads = before
        if users != n_threads:
            parallel._set_num_threads(users)  # which the pool changes


def _start() -> None:
    """Start numba's threads unless they are."""
    try:
        parallel._launch_threads()
    except ValueError as error:
        asked, why = config.THREADING_LAYER, str(error).splitlines()[0]
        config.THREADING_LAYER = "default"
        config.THREADING_LAYER_PRIORITY = ["tbb", "omp", "workqueue"]
        parallel._launch_threads()
        warnings.warn(
            f"numba cannot start threads with NUMBA_THREADING_LAYER={asked} ({why}): it uses "
            f"{parallel.threading_layer()}. No result depends on it.",
            RuntimeWarning,
            stacklevel=2,
        )
    _pool.hand_out = llvm.address_of_symbol("numba_parallel_for")


def _after_fork() -> None:
    global _forked
    _forked = _forked or parallel._is_initialized
    _pool.n_threads = 1


if hasattr(os, "register_at_fork"):  # not on Windows, which has no forks
    os.register_at_fork(after_in_child=_after_fork)
