"""Prices of raw columns through scikit-learn's pipelines, to the features that are made of them."""

from .priced import PricedPipeline
from .transformers import made_of, register_transformer

__all__ = ["PricedPipeline", "made_of", "register_transformer"]
