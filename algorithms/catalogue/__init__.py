"""The estimators of this package in one table, and their kernels compiled ahead of time."""
