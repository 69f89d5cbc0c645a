"""Speed: the asv suite, pytest-benchmark on single kernels, and side-by-side runs with peers."""
