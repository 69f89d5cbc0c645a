"""What the objectives of other libraries make of raw scores: classes, and their own predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .links import UNKNOWN, InverseLink
from .nodes import ClassLink

_CLASSIFY = ("binary", "multiclass", "multiclassova")
_AFTER_A_LOGARITHM = ("poisson", "gamma", "tweedie")
_AS_THEY_ARE = (
    "",
    *("regression", "regression_l1", "huber", "fair", "quantile", "mape"),
    *("lambdarank", "rank_xendcg"),
)


# --- LightGBM -----------------------------------------------------------------------------------


def lightgbm_link(model: Any, dump: dict) -> ClassLink | None:
    """Classes of an estimator of LightGBM, or 0, 1, … of a booster that was told to classify."""
    objective, options = _lightgbm_objective(dump)
    likelihood = {"cross_entropy": "logistic", "multiclass": "multinomial"}.get(objective)
    if objective == "binary" and options.get("sigmoid") == "1":
        likelihood = "logistic"  # else its log-odds are a multiple of the score
    if _decides_classes(model):
        known = objective in (*_CLASSIFY, "cross_entropy")
        return ClassLink(np.asarray(model.classes_), likelihood) if known else None
    if objective in _CLASSIFY:
        return ClassLink(np.arange(max(2, dump["num_class"])), likelihood)
    return None


def _lightgbm_objective(dump: dict) -> tuple[str, dict[str, str]]:
    """Name of the objective, and what LightGBM writes of its options; "" of a custom one."""
    objective, *options = dump.get("objective", "").split() or [""]
    return objective, {name: value for name, _, value in (o.partition(":") for o in options)}


def _decides_classes(model) -> bool:
    """Whether it is an estimator of LightGBM with classes."""
    return getattr(model, "classes_", None) is not None


def lightgbm_inverse_link(model: Any, dump: dict) -> InverseLink | None:
    """What ``predict`` makes of raw scores; None: classes, or nothing."""
    objective, options = _lightgbm_objective(dump)
    slope = float(options.get("sigmoid", 1.0))
    kind = None
    if _decides_classes(model):
        if objective in ("", *_CLASSIFY, "cross_entropy"):  # "": the scores, as LightGBM warns
            return None
        kind = UNKNOWN  # it compares a number that is no likelihood with one half
    elif "sqrt" in options:
        kind = "signed_square"
    elif objective in _AFTER_A_LOGARITHM:
        kind = "exponential"
    elif objective in ("binary", "multiclassova", "cross_entropy"):
        kind = "logistic"
    elif objective == "cross_entropy_lambda":
        kind = "softplus"
    elif objective == "multiclass":
        kind = "softmax"
    elif objective not in _AS_THEY_ARE:
        kind = UNKNOWN
    return None if kind is None else InverseLink(kind, slope)


# --- CatBoost -----------------------------------------------------------------------------------


def catboost_loss(model: Any) -> str:
    """Name of the loss, without its options."""
    return str(model.get_all_params().get("loss_function", "")).partition(":")[0]


def catboost_link(model: Any, loss: str) -> ClassLink | None:
    """Classes of a CatBoost model; ValueError if it has a probability threshold of its own."""
    if not len(model.classes_):
        return None
    if len(model.classes_) == 2 and hasattr(model, "get_probability_threshold"):
        threshold = model.get_probability_threshold()
        if threshold != 0.5:
            raise ValueError(
                f"This CatBoost model decides at a probability of {threshold:g}, and only 0.5 is "
                "supported: call set_probability_threshold(0.5), and take predict_raw."
            )
    likelihoods = {"Logloss": "logistic", "CrossEntropy": "logistic", "MultiClass": "multinomial"}
    return ClassLink(np.asarray(model.classes_), likelihoods.get(loss))


def catboost_inverse_link(model: Any, loss: str) -> InverseLink | None:
    """What ``predict`` makes of raw scores; None: classes, or nothing."""
    kinds = {cls.__name__ for cls in type(model).__mro__}
    if "CatBoostClassifier" in kinds:
        return None if len(model.classes_) else InverseLink(UNKNOWN)
    if "CatBoostRegressor" in kinds and loss in ("Poisson", "Tweedie"):
        return InverseLink("exponential")
    if "CatBoostRegressor" in kinds and loss == "RMSEWithUncertainty":
        return InverseLink("mean_and_variance")
    return InverseLink("identity") if len(model.classes_) else None


# --- scikit-learn -------------------------------------------------------------------------------


def scikit_learn_link(model: Any, n_outputs: int) -> ClassLink | None:
    """Classes of a classifier."""
    if not hasattr(model, "classes_"):
        return None
    likelihood = "logistic" if n_outputs == 1 else "multinomial"
    second_if_zero = not hasattr(model, "_predictors")  # of GradientBoosting's
    kept = likelihood if model.loss == "log_loss" else None
    return ClassLink(model.classes_, kept, second_if_zero)


def scikit_learn_inverse_link(model: Any) -> InverseLink | None:
    """What ``predict`` of a regressor makes of raw scores; None: nothing, or classes."""
    if hasattr(model, "classes_") or not hasattr(model, "_predictors"):
        return None
    link = type(model._loss.link).__name__
    kinds = {"IdentityLink": None, "LogLink": "exponential", "LogitLink": "logistic"}
    kind = kinds.get(link, UNKNOWN)
    return None if kind is None else InverseLink(kind)
