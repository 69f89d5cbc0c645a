"""Kernels that kernels call have no machine code; all that they do, and numba, are as they were."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core.codegen import JitEngine
from numba.core.errors import TypingError

import algorithms
from algorithms.kernels import decorators
from algorithms.kernels.decorators import kernel

from .test_kernels import all_kernels

ROOT = Path(algorithms.__file__).resolve().parent.parent


def compiled_here(*kernels):
    """Kernels that no earlier run of the tests has left to be loaded."""
    for one in kernels:
        one._cache.disable()
        one.inner._cache.disable()
    return kernels


def square_and_sum():
    """Two kernels, of which one calls the other."""

    @kernel
    def square(x):
        return x * x

    @kernel
    def sum_of_squares(values):
        total = 0.0
        for i in range(values.shape[0]):
            total += square(values[i])
        return total

    return compiled_here(square, sum_of_squares)


def code_of(dispatcher):
    return [compiled.library for compiled in dispatcher.overloads.values()]


def test_no_inner_kernel_has_machine_code(monkeypatch):
    given, add_module = [], JitEngine.add_module

    def add_and_note(self, module):
        given.append(module.name)
        return add_module(self, module)

    monkeypatch.setattr(JitEngine, "add_module", add_and_note)
    square, sum_of_squares = square_and_sum()
    assert sum_of_squares(np.array([3.0, 4.0])) == 25.0
    (inner,), (outer,) = code_of(square.inner), code_of(sum_of_squares)
    assert outer.name in given
    assert inner.name not in given
    assert not code_of(square)


def test_all_inner_kernels_are_of_that_kind():
    libraries = [one for found in all_kernels().values() for one in code_of(found.inner)]
    assert all(type(one) is decorators._InnerLibrary for one in libraries)


def test_numbers_in_the_source_make_no_signatures():
    @kernel
    def add(x, y=2, doubled=True):
        return (x + y) * (2 if doubled else 1)

    @kernel
    def sum_up(x):
        return add(x, 3) + add(x, 4) + add(x, y=5) + add(x, 6, False) + add(x, 7, doubled=True)

    compiled_here(add, sum_up)
    assert sum_up(1) == 8 + 10 + 12 + 7 + 16
    assert len(add.inner.signatures) == 2  # with and without the default of the last


def test_the_collector_comes_back():
    @kernel
    def wrong(x):
        return x.missing

    assert gc.isenabled()
    with pytest.raises(TypingError):
        wrong(1)
    assert gc.isenabled()
    gc.disable()
    try:
        square_and_sum()[1](np.zeros(1))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_an_unknown_numba_compiles_as_it_does(monkeypatch):
    monkeypatch.setattr(decorators, "_TRIED", ((0, 1), (0, 2)))
    for cached in (decorators.inner_context, decorators._say_unknown):
        cached.cache_clear()
    try:
        square, sum_of_squares = square_and_sum()
        with pytest.warns(UserWarning, match=r"tried with \(0\.1 to 0\.2\)"):
            assert sum_of_squares(np.array([3.0, 4.0])) == 25.0
        assert type(code_of(square.inner)[0]) is type(code_of(sum_of_squares)[0])
    finally:
        decorators.inner_context.cache_clear()


# --- with kernels and functions of somebody else's ---------------------------------------------

MINE = """
import numba
import numpy as np
from numba.core.codegen import JITCodeLibrary
from algorithms.kernels.decorators import allocating_kernel, kernel

@allocating_kernel
def positive(x):
    if x == 0:
        raise ValueError("zero")
    if x < 0:
        raise ValueError(x)
    return x * 2.0

@kernel
def ours(x):
    return positive(x) + 1

@numba.njit
def theirs(x):
    return positive(x) + ours(x)

@numba.njit
def helper(x):
    return x + 3

@kernel
def ours_with_theirs(x):
    return helper(x) * 2

@numba.njit
def theirs_with_both(x):
    return ours_with_theirs(x) + helper(x)

@kernel
def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)

def message_of(function, x):
    try:
        return function(x)
    except ValueError as error:
        return str(error)

# An error is raised before anything else is: no kernel of these ran before.
print([message_of(function, x) for x in (-1.5, 0.0) for function in (theirs, ours)])
print(theirs(1.5), ours(1.5), ours_with_theirs(2), theirs_with_both(2), factorial(5))
functions = theirs, helper, theirs_with_both
print({type(one.library) is JITCodeLibrary for f in functions for one in f.overloads.values()})
print(sum(sum(f.stats.cache_misses.values()) for f in (ours, ours_with_theirs, factorial)) > 0)
"""


@pytest.mark.slow
def test_errors_and_other_people_s_functions(tmp_path):
    """When they are compiled, and when they are loaded."""
    (tmp_path / "mine.py").write_text(MINE)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    for compiled in (True, False):
        done = subprocess.run(
            [sys.executable, str(tmp_path / "mine.py")],
            capture_output=True, text=True, cwd=ROOT, env=environment, timeout=600,
        )  # fmt: skip
        assert done.returncode == 0, (done.returncode, done.stderr)
        assert done.stdout.splitlines() == [
            "['-1.5', '-1.5', 'zero', 'zero']", "7.0 4.0 10 15 120", "{True}", str(compiled),
        ]  # fmt: skip
