"""What wrong predictions cost: a price for each pair of a true and a predicted class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..costs import LARGEST_PRICE
from ..validation.columns import refuse_masked
from ..validation.prices import listed

_NAME = "confusion_costs"


def check_confusion_costs(confusion_costs: Any, classes: np.ndarray) -> np.ndarray:
    """Validate the prices of errors."""
    n_classes, labels = len(classes), classes.tolist()
    refuse_masked(confusion_costs, _NAME)
    if hasattr(confusion_costs, "iloc"):
        confusion_costs = confusion_costs.to_dict("index")
    if isinstance(confusion_costs, Mapping):
        confusion_costs = _by_place(confusion_costs, labels)
    try:
        array = np.asarray(confusion_costs)
        if array.dtype.kind not in "iufO":
            raise TypeError
        prices = array.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{_NAME} must be numbers, one for each pair of classes.") from None
    if prices.shape != (n_classes, n_classes):
        raise ValueError(
            f"{_NAME} must have a row for each of the {n_classes} true classes and a column for "
            f"each predicted one, got an array of shape {prices.shape}."
        )
    wrong = ~((prices >= 0) & (prices <= LARGEST_PRICE))
    if np.any(wrong):
        i, j = np.argwhere(wrong)[0]
        raise ValueError(
            f"{_NAME} must be from 0 to {LARGEST_PRICE:g}; predicting {labels[j]!r} for "
            f"{labels[i]!r} has {prices[i, j]}."
        )
    return prices + 0.0  # -0.0 becomes 0.0


def _by_place(by_label: Mapping, labels: list) -> list[list]:
    """Prices in the order of the classes; what is right costs 0 unless it is there."""
    known = set(labels)
    for true, prices in by_label.items():
        if not isinstance(prices, Mapping):
            raise ValueError(f"{_NAME} must be a dict of dicts: {{true: {{predicted: price}}}}.")
        unknown = [label for label in (true, *prices) if label not in known]
        if unknown:
            raise ValueError(f"{_NAME} has {listed(unknown)}, but classes are {listed(labels)}.")
    lacking = [
        (true, other)
        for true in labels
        for other in labels
        if other != true and other not in by_label.get(true, {})
    ]
    if lacking:
        raise ValueError(f"{_NAME} lacks the price of (true, predicted) {listed(lacking)}.")
    return [[by_label.get(true, {}).get(other, 0.0) for other in labels] for true in labels]


def error_costs(
    y: ArrayLike, predicted: ArrayLike, classes: np.ndarray, confusion_costs: Any
) -> np.ndarray:
    """Price of each row's prediction by its true class."""
    prices = check_confusion_costs(confusion_costs, classes)
    refuse_masked(y, "y")
    places = []
    for values in (np.asarray(y), np.asarray(predicted)):
        place = np.searchsorted(classes, values) if len(values) else np.zeros(0, dtype=np.int64)
        place = np.minimum(place, len(classes) - 1)
        unknown = classes[place] != values
        if np.any(unknown):
            raise ValueError(
                f"y has a class that the model does not know: {values[unknown][:1].tolist()[0]!r}."
            )
        places.append(place)
    return prices[places[0], places[1]]
