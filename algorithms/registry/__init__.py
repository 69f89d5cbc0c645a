"""The estimators in one table, models loaded whatever their class, kernels compiled ahead."""

from ..registry.loading import load_model

__all__ = ["load_model"]
