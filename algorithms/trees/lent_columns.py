"""Memory that the threads of a pool use in turn."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue

import numpy as np


class LentColumns:
    """Memory for some columns, lent to each of several threads while it works on a task.

    The system's allocator would keep what each thread asks for and gives back (glibc: up to 32 MB
    an array, in a heap for each thread), beside all that boosting allocates later.
    """

    def __init__(self, n_threads: int, n_columns: int, n_samples: int) -> None:
        self._free: SimpleQueue[np.ndarray] = SimpleQueue()
        for memory in np.empty((n_threads, n_columns, n_samples)):
            self._free.put(memory)

    def to(self, task: Callable) -> Callable:
        """Return ``task(argument, memory)`` as a function of its argument alone."""

        def run(argument):
            memory = self._free.get()
            try:
                return task(argument, memory)
            finally:
                self._free.put(memory)

        return run
