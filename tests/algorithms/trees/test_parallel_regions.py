"""Parallel kernels start threads for their ``prange`` loops, and for nothing else.

In a parallel kernel numba makes a region of its own of each assignment to a whole array and of each
sum of two, however short. Threads that sleep take 40 microseconds to wake: once for each node of
each tree, that took longer than growing trees on 10,000 rows.
"""

from __future__ import annotations

import inspect

import numba
import numpy as np
import pytest
from numba import njit

from algorithms import losses
from algorithms.kernels.decorators import parallel_kernel
from algorithms.trees import forest, grower, histogram, partition, penalty, splitter
from algorithms.trees.binning import bin_matrix


def regions(kernel, *arguments) -> tuple[int, int]:
    """Parallel loops that numba makes of a kernel, and ``prange`` loops that it is written with."""
    signature = tuple(numba.typeof(argument) for argument in arguments)
    compiled = njit(parallel=True, error_model="numpy")(kernel.py_func)
    compiled.compile(signature)
    diagnostics = compiled.get_metadata(signature)["parfor_diagnostics"]
    return len(diagnostics.initial_parfors), inspect.getsource(kernel.py_func).count("prange(")


def arguments_of_kernels():
    """Each parallel kernel that runs while trees are trained, and arguments for it."""
    rng = np.random.default_rng(0)
    binned = bin_matrix(rng.normal(size=(50, 3)), None, 255, 1)
    memory = grower.allocate(binned, 3, 2)
    nodes, workspace, hists, scratch = memory
    gh, rows, numbers = np.ones((50, 2), dtype=np.int32), workspace.rows, np.ones(3)
    prices = penalty.Prices(1.0, *[numbers] * 4, np.arange(3))
    accounts = prices.begin(50, 50, 1.0, 5)
    scale, limits = splitter.Scale(1.0, 1.0, 1.0), splitter.Limits(3, -1, 1.0, 0.0, True, True)
    pair, scores = grower.Pair(0, -1, 0, 1, False), np.zeros(50)
    of_rows = losses.LOGISTIC, scores, np.zeros(50, dtype=np.int32), 1, 1.0
    layout, sums = binned.layout, np.zeros(3, dtype=np.int64)
    chunks, leaves = workspace.chunk_left, (1, 2)
    return {
        histogram.collect: (rows, 0, 9, gh, hists.words, hists.chunk_sums[0], sums),
        partition.partition: (
            layout, 0, rows, workspace.scratch, workspace.goes_left, chunks, 0, 9
        ),
        grower._process_tiles: (layout, gh, scale, limits, nodes, workspace, hists, scratch, pair),
        penalty._mark_all: (accounts.marks, rows, 0),
        penalty._count_fresh: (accounts, 0, leaves, rows, gh, 9),
        forest.add_to_scores: (nodes, 3, rows, numbers, 0.1, scores),
        losses._largest: (*of_rows, np.zeros((1, 2))),
        losses._write: (*of_rows, (1.0, 1.0), False, gh),
    }  # fmt: skip


@pytest.mark.slow
def test_no_region_beside_the_loops():
    for kernel, arguments in arguments_of_kernels().items():
        made, written = regions(kernel, *arguments)
        assert made == written > 0, kernel.py_func.__name__


def test_a_short_assignment_is_seen():
    @parallel_kernel
    def fill(values):
        values[:] = 0.0
        for i in numba.prange(3):
            values[i] += 1.0

    assert regions(fill, np.zeros(3)) == (2, 1)
