"""Kernels compiled without optimising, for a child that compiles and runs little of them."""

QUICK = {"NUMBA_OPT": "1", "NUMBA_LOOP_VECTORIZE": "0", "NUMBA_SLP_VECTORIZE": "0"}
"""Environment of the child; no bit of a result changes by it."""
