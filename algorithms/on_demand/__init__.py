"""Prediction on demand: features are computed for those rows only whose paths ask for them."""

from ..stumps.haar import HaarFeatures
from .fetching import Fetch
from .predictor import OnDemandPredictor, OnDemandResult
from .scanning import PictureScanner, Scan

__all__ = ["Fetch", "HaarFeatures", "OnDemandPredictor", "OnDemandResult", "PictureScanner", "Scan"]
