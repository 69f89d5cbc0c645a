"""pytest-benchmark on single kernels: ``make bench-kernels``."""

from __future__ import annotations

import pytest

from .kernels import KERNELS


@pytest.mark.parametrize("name", KERNELS)
def test_kernel(benchmark, name):
    benchmark(KERNELS[name]())
