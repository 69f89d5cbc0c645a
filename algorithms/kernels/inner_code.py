"""Kernels that only kernels call: LLVM's intermediate code, and no machine code.

numba compiles each function as if it were run by itself, and once more inside each that calls it.
Of a kernel that only kernels call, the former is never run. Such code is therefore kept as it is
after LLVM's cheapest passes, and optimised once, inside the kernel that Python calls.

Nothing of numba is replaced: a compiler class, a code generator and a library of our own are given
to our kernels alone. The code generator shares all with the process's own but the library.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler import Compiler
from numba.core.cpu import CPUContext
from numba.core.registry import cpu_target

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
