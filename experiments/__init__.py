"""Experiments: one folder per paper, one file per figure or table, and their runner."""

from experiments.instructions import compute_as_on_avx2

compute_as_on_avx2()  # before any module of the package imports NumPy
