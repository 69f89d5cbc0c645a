"""One instruction set on all x86-64 processors: results must not depend on the machine."""

from __future__ import annotations

import os
from pathlib import Path

AS_ON_AVX2 = {
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4,AVX512_ICL,AVX512_SPR",
}
"""OpenBLAS's kernels and NumPy's functions as a processor without AVX-512 has them.

Sums of products and exp differ in the last bit between the two; fits that are not convex (cascades)
can then end in another valley. Published results and expected values are those of AVX2.
"""


def compute_as_on_avx2(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Let this process and those it starts compute as without AVX-512, where there is AVX-512.

    Only before NumPy is imported, and only on Linux, which says what a processor can. What the
    user has set stays.
    """
    try:
        wide = " avx512f " in f"{cpuinfo.read_text()} ".replace("\n", " ")
    except OSError:
        return False
    if wide:
        for name, value in AS_ON_AVX2.items():
            os.environ.setdefault(name, value)
    return wide
