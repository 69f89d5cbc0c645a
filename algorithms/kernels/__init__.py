"""The project's numba decorators and the vector instructions its kernels use."""
