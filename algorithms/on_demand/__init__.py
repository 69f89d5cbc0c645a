"""Prediction on demand: features are computed for those rows only whose paths ask for them."""

from ..stumps.haar import HaarFeatures
from .predictor import OnDemandPredictor, OnDemandResult
from .scanning import PictureScanner, Scan

__all__ = ["HaarFeatures", "OnDemandPredictor", "OnDemandResult", "PictureScanner", "Scan"]
