"""Fitted forests of LightGBM, XGBoost, CatBoost, scikit-learn under this package's cost meter."""

from .forest import MeteredForest
from .libraries import from_catboost, from_lightgbm, from_scikit_learn
from .xgboost_trees import from_xgboost

__all__ = ["MeteredForest", "from_catboost", "from_lightgbm", "from_scikit_learn", "from_xgboost"]
