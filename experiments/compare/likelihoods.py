"""What a model says of the classes of rows, beside its answer: likelihoods, or an order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from algorithms.exits.classifier import CascadeClassifier


def gives(model: Any, asked: str) -> bool:
    """Whether a model, or a class of some, says what is asked for."""
    names = {"answers": "predict", "scores": "decision_function"}
    return hasattr(model, "predict_proba") or hasattr(model, names.get(asked, "predict_proba"))


def says_by(model: Any, asked: str) -> str:
    """Name the method of a model that says what is asked for."""
    if asked == "answers":
        return "predict"
    if hasattr(model, "predict_proba"):
        return "predict_proba"
    # A cascade's decisions are one number for all rows that it rejects.
    return "ranking_score" if isinstance(model, CascadeClassifier) else "decision_function"


def of_classes(model: Any, X: pd.DataFrame, asked: str, positive: Any, y: np.ndarray) -> np.ndarray:
    """Give what is asked for: likelihoods of the row's own class, or scores of a positive one."""
    says = says_by(model, asked)
    found, classes = np.asarray(getattr(model, says)(X)), np.asarray(model.classes_)
    if asked == "likelihoods":
        return found[np.arange(len(y)), np.searchsorted(classes, y)]
    of_second = found[:, -1] if found.ndim == 2 else found
    return of_second if positive == classes[-1] else -of_second
