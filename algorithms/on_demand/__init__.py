"""Prediction on demand: features are computed for those rows only whose paths ask for them."""

from .predictor import OnDemandPredictor, OnDemandResult

__all__ = ["OnDemandPredictor", "OnDemandResult"]
