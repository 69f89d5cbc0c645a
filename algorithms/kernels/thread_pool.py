"""numba's threads: what starts them, and where a loop runs without any.

A parallel loop of numba's hands its chunks to a pool of threads, also where one thread alone is to
run it. Two things would end a process there:

* A kernel that is loaded from the cache names functions of the pool, which are found only once the
  pool was started. numba notes that with a kernel, but not with one that calls a kernel loaded
  from the cache itself: it would call what is not there. :func:`refers_to_pool` looks at the
  compiled code instead, and :func:`start_pool` is noted with all that needs it.
* Threads do not survive a fork, and GNU OpenMP ends a process that asks for those of its parent.

The function through which numba hands out a loop is therefore replaced: a loop for one thread, or
of a process that was forked from one with a pool, runs where it is called. The chunks, and so the
results, are the same.
"""

from __future__ import annotations

import ctypes
import os
import threading
import warnings
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import config
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.np.ufunc import parallel

_LOOP = "numba_parallel_for"
# Of numba.np.ufunc.parallel, what it gives to the linker when the pool is started.
_OF_POOL = frozenset({
    _LOOP, "do_scheduling_signed", "do_scheduling_unsigned", "allocate_sched", "deallocate_sched",
    "get_num_threads", "set_num_threads", "get_thread_id", "set_parallel_chunksize",
    "get_parallel_chunksize", "get_sched_size",
})  # fmt: skip

_lock = threading.RLock()
_forked = ctypes.c_int32(0)  # read by compiled code: whether there are no threads to hand a loop to
_handing_out = None  # the library of the replaced function, which must live as long as the process


def refers_to_pool(library: Any) -> bool:
    """Whether compiled code can be loaded only where the pool was started.

    Parameters
    ----------
    library : numba.core.codegen.CPUCodeLibrary
        Finished.
    """
    functions = library._final_module.functions
    return any(one.is_declaration and one.name in _OF_POOL for one in functions)


def start_pool() -> None:
    """Start numba's threads unless they are, and have loops for one thread run without them.

    Warns
    -----
    RuntimeWarning
        If the threading layer that was asked for cannot be had: another one is used.
    """
    global _handing_out
    if _handing_out is not None:
        return
    with global_compiler_lock, _lock:  # who compiles holds the first already
        if _handing_out is not None:
            return
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
        _handing_out = _compile_handing_out(llvm.address_of_symbol(_LOOP))
        llvm.add_symbol(_LOOP, _handing_out.get_pointer_to_function("hand_out_loop"))


def is_without_threads() -> bool:
    """Whether this process was forked from one that had started numba's threads."""
    return bool(_forked.value)


def _after_fork() -> None:
    """In the child: a thread of the parent may have held the lock, and none of its pool is here."""
    global _lock
    _lock = threading.RLock()
    if parallel._is_initialized:
        _forked.value = 1


if hasattr(os, "register_at_fork"):  # not on Windows, which has no forks
    os.register_at_fork(after_in_child=_after_fork)


def _compile_handing_out(of_pool: int):
    """Compile what numba calls for each loop; `of_pool` is the address of what hands it to threads.

    Its arguments are a function, what it is called with for all chunks, two sizes and the number
    of threads.
    """
    byte, size = ir.IntType(8).as_pointer(), ir.IntType(ctypes.sizeof(ctypes.c_ssize_t) * 8)
    of_loop = ir.FunctionType(ir.VoidType(), [byte] * 5 + [size] * 3)
    of_chunks = ir.FunctionType(ir.VoidType(), [byte] * 4)
    module = ir.Module("hand_out_loop")
    function = ir.Function(module, of_loop, "hand_out_loop")
    builder = ir.IRBuilder(function.append_basic_block())
    flag = ir.IntType(32)
    address = ir.Constant(size, ctypes.addressof(_forked))
    flagged = builder.load(builder.inttoptr(address, flag.as_pointer()))
    forked = builder.icmp_signed("!=", flagged, ir.Constant(flag, 0))
    alone = builder.icmp_signed("<=", function.args[7], ir.Constant(size, 1))
    with builder.if_else(builder.or_(forked, alone)) as (here, shared):
        with here:
            chunks = builder.bitcast(function.args[0], of_chunks.as_pointer())
            builder.call(chunks, function.args[1:5])
        with shared:
            pool = builder.inttoptr(ir.Constant(size, of_pool), of_loop.as_pointer())
            builder.call(pool, function.args)
    builder.ret_void()
    library = cpu_target.target_context.codegen().create_library("hand_out_loop")
    library.add_ir_module(module)
    library.finalize()
    return library
