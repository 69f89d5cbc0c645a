"""The fixed kernel: what all benchmarks of the gate are timed against, in the same process.

It is none of ours and calls nothing of ours, so no change of the package changes its time. It does
a little of what kernels do: it sums by codes, gathers, sorts, and runs Python.
"""

from __future__ import annotations

import numpy as np

_rng = np.random.default_rng(0)
_codes = _rng.integers(0, 256, 100_000)
_values = _rng.normal(size=100_000)
_some = _rng.permutation(100_000)[:30_000]


def fixed_kernel() -> None:
    """Run for some milliseconds."""
    np.bincount(_codes, _values, 256)
    np.sort(_values[_some])
    total = 0
    for i in range(5_000):
        total += i & 3
