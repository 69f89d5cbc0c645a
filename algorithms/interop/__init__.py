"""Fitted forests of LightGBM, CatBoost and scikit-learn under this package's one cost meter."""

from .forest import MeteredForest
from .libraries import from_catboost, from_lightgbm, from_scikit_learn

__all__ = ["MeteredForest", "from_catboost", "from_lightgbm", "from_scikit_learn"]
