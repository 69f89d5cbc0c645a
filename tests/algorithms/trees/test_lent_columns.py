"""Memory lent to threads: each has its own, and gives it back whatever happens."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

from algorithms.trees.bundling import LentColumns


def test_threads_that_work_at_once_have_memory_of_their_own():
    lent, together = LentColumns(2, 3, 5), Barrier(2, timeout=60)

    def task(number, memory):
        memory[:] = number
        together.wait()
        assert memory.shape == (3, 5)
        assert np.all(memory == number)
        together.wait()
        return memory

    with ThreadPoolExecutor(2) as pool:
        a, b = pool.map(lent.to(task), (1, 2))
        assert not np.shares_memory(a, b)
        assert len(list(pool.map(lent.to(task), range(6)))) == 6  # and is lent again


def test_a_task_that_fails_gives_its_memory_back():
    lent = LentColumns(1, 1, 5)

    def fail(number, memory):
        raise KeyError(number)

    for number in range(2):
        with pytest.raises(KeyError):
            lent.to(fail)(number)
    assert lent.to(lambda number, memory: memory.size)(0) == 5
