"""The same algorithms as numba kernels under scikit-learn estimators."""
