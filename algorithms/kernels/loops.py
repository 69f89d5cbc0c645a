"""Loops that several threads share: the body is a kernel, and a dozen instructions hand it out.

numba's own, ``prange``, takes a loop out of its function and compiles it as one more, with wrappers
around it, whether or not it is ever shared: five to ten times as long as a plain loop.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import warnings
from collections.abc import Iterator
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils, config, types
from numba.core.callconv import excinfo_ptr_t
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.ufunc import parallel

# --- the threads: numba's, which a process starts once -----------------------------------------

# Compiled code knows nothing of them: it finds in a record of this process, when it runs, how many
# it is to use, and what hands its pieces out. So a kernel is loaded where no thread was ever
# started; and in a process that was forked from one with threads, which do not survive a fork (GNU
# OpenMP ends a process that asks for those of its parent), one computes all.


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


# --- the loops ---------------------------------------------------------------------------------

_BYTES, _SIZE, _CODE = ir.IntType(8).as_pointer(), ir.IntType(64), ir.IntType(32)
# What the pool calls: with the number of the first piece, how many there are, and the record.
_PIECES = ir.FunctionType(
    ir.VoidType(), [_BYTES.as_pointer(), _SIZE.as_pointer(), _SIZE.as_pointer(), _BYTES]
)
# Its own function: what it is to call with which first piece, number of pieces, step and record.
_HAND_OUT = ir.FunctionType(ir.VoidType(), [_BYTES] * 5 + [_SIZE] * 3)
_POOL = ir.LiteralStructType([_HAND_OUT.as_pointer(), _SIZE])
_CAPTURED, _N, _N_PIECES, _ERROR, _EXCEPTION = range(5)  # the record of a loop


@intrinsic
def for_each(typing_context: Any, body: Any, n: Any, shared: Any, captured: Any) -> tuple:
    """Call ``body(i, *captured)`` for each i below n; if `shared`, on all threads that are set.

    Each thread takes a run of neighbours, in order. The body, a kernel that returns nothing,
    becomes part of the loop. What it raises ends the thread's run, and is raised here.
    """
    called = typing_context.resolve_function_type(body, (types.int64, *captured.types), {})
    if called.return_type != types.none:
        raise TypingError(
            f"The body of a loop returns {called.return_type}, where nothing takes it."
        )
    signature = types.void(body, types.int64, types.boolean, captured)

    def codegen(context, builder, signature, arguments):
        compiled = body.dispatcher.inner.get_compile_result(called)
        context.active_code_library.add_linking_library(compiled.library)
        _, n, shared, values = arguments
        kind = ir.LiteralStructType([values.type, _SIZE, _SIZE, _CODE, excinfo_ptr_t])
        run = _run_of_pieces(context, builder.module, compiled, len(captured.types), kind)
        record = cgutils.alloca_once(builder, kind)
        _put(builder, record, _CAPTURED, values)
        _put(builder, record, _N, n)
        _put(builder, record, _ERROR, _CODE(0))
        pool = context.get_c_value(builder, _POOL, POOL)
        n_threads = _take(builder, pool, 1)
        for number in (n, n_threads):
            shared = builder.and_(shared, builder.icmp_signed(">", number, _SIZE(1)))
        n_pieces = builder.select(shared, n_threads, _SIZE(1))
        _put(builder, record, _N_PIECES, n_pieces)
        first = cgutils.alloca_once_value(builder, ir.Constant(_BYTES, None))
        count = cgutils.gep_inbounds(builder, record, 0, _N_PIECES)
        data = builder.bitcast(record, _BYTES)
        with builder.if_else(shared) as (on_threads, here):
            with on_threads:
                step = cgutils.alloca_once_value(builder, _SIZE(1))
                given = [builder.bitcast(one, _BYTES) for one in (run, first, count, step)]
                others = [data, _SIZE(0), _SIZE(1), n_threads]
                builder.call(_take(builder, pool, 0), [*given, *others])
            with here:
                builder.call(run, [first, count, count, data])
        error = _take(builder, record, _ERROR)
        with cgutils.if_unlikely(builder, cgutils.is_not_null(builder, error)):
            exception = _take(builder, record, _EXCEPTION)
            status = context.call_conv._get_return_status(builder, error, exception)
            context.call_conv.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return signature, codegen


def _run_of_pieces(context, module, compiled, n_captured, kind):
    """Function that calls the body for the indices of some pieces."""
    run = ir.Function(module, _PIECES, module.get_unique_name("run_of_pieces"))
    run.linkage = "internal"
    run.attributes.add("noinline")  # it is there once, for threads and without
    builder = ir.IRBuilder(run.append_basic_block())
    record = builder.bitcast(run.args[3], kind.as_pointer())
    n, n_pieces = _take(builder, record, _N), _take(builder, record, _N_PIECES)
    piece = builder.ptrtoint(builder.load(run.args[0]), _SIZE)
    after = builder.add(piece, builder.load(run.args[1]))
    begin, end = (builder.sdiv(builder.mul(n, one), n_pieces) for one in (piece, after))
    values = cgutils.unpack_tuple(builder, _take(builder, record, _CAPTURED), n_captured)
    body = context.declare_function(module, compiled.fndesc)
    with cgutils.for_range_slice(builder, begin, end, _SIZE(1)) as (i, _):
        status, _ = context.call_conv.call_function(
            builder,
            body,
            types.none,
            compiled.fndesc.argtypes,
            [i, *values],
            attrs=("alwaysinline",),
        )
        with cgutils.if_unlikely(builder, status.is_error):
            _put(builder, record, _ERROR, status.code)
            _put(builder, record, _EXCEPTION, status.excinfoptr)
            builder.ret_void()
    builder.ret_void()
    return run


def _put(builder, record, field, value):
    builder.store(value, cgutils.gep_inbounds(builder, record, 0, field))


def _take(builder, record, field):
    return builder.load(cgutils.gep_inbounds(builder, record, 0, field))
