"""What classes count in training, as ``--class-weight`` says and scikit-learn understands it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from algorithms.validation.prices import listed
from experiments.compare.fields import Refused

BALANCED = "balanced"


def class_weights(
    asked: Sequence[str], task: str, classes: list | None
) -> str | list[float] | None:
    """Give the weights of classes that are asked for.

    Parameters
    ----------
    asked : sequence of str
        ``balanced``: as much together as any other class has; or ``CLASS=NUMBER``, of each class
        that does not count 1.
    task : str
    classes : list or None
        Of the target, in the order of their numbers.

    Returns
    -------
    "balanced", or list of float, or None
        One number a class; None if nothing is asked for.

    Raises
    ------
    Refused
        If it does not fit.
    """
    if not asked:
        return None
    if classes is None:
        raise Refused(f"--class-weight is for classification, and this is a {task}.")
    if BALANCED in asked:
        if len(asked) > 1:
            raise Refused("--class-weight is either balanced or CLASS=NUMBER, not both.")
        return BALANCED
    names = [str(one) for one in classes]
    weights = [1.0] * len(names)
    named: set[str] = set()
    for text in asked:
        name, sign, number = text.rpartition("=")
        if not sign:
            raise Refused(f"--class-weight must be balanced or CLASS=NUMBER, not {text!r}.")
        if name not in names:
            raise Refused(
                f"--class-weight names {name!r}, which is no class: these are {listed(names[:5])}"
                f"{' …' if len(names) > 5 else ''}."
            )
        if name in named:
            raise Refused(f"--class-weight names {name!r} twice.")
        named.add(name)
        weights[names.index(name)] = _number(number, name)
    return weights


def _number(text: str, name: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 1e-9 <= weight <= 1e9:
        raise Refused(
            f"The weight of class {name!r} must be a number from 1e-9 to 1e9, not {text!r}."
        )
    return weight


def counted(y: np.ndarray, weights: str | list[float] | None) -> np.ndarray:
    """Give what each class counts in all: its rows times its weight.

    Parameters
    ----------
    y : (n,) int64
        Numbers of classes.
    weights : "balanced", list of float or None

    Returns
    -------
    (n_classes,) float64
    """
    counts = np.bincount(y).astype(np.float64)
    if weights is None:
        return counts
    if isinstance(weights, str):
        return np.where(counts > 0, len(y) / np.count_nonzero(counts), 0.0)
    return counts * np.array(weights)[: len(counts)]
