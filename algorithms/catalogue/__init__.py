"""The estimators in one table, models loaded whatever their class, kernels compiled ahead."""

from .loading import load_model

__all__ = ["load_model"]
