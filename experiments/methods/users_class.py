"""Any class of the user's as a method."""

from __future__ import annotations

import copy
import hashlib
import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterSampler
from sklearn.utils import get_tags

from algorithms.selection import prediction_cost
from experiments.evaluate import measured
from experiments.methods.problem import Part, Problem
from experiments.methods.trained import Trained


def imported(name: str) -> type:
    """Import ``package.module:Class``."""
    module, _, attribute = name.partition(":")
    if not attribute:
        raise ValueError(f"--method must be package.module:Class, got {name!r}.")
    try:
        kind = getattr(importlib.import_module(module), attribute, None)
    except Exception as error:  # whatever it is that the user's module does
        raise ValueError(
            f"--method {name}: {module} cannot be imported ({type(error).__name__}: {error})."
        ) from None
    if not isinstance(kind, type):
        raise ValueError(f"--method {name}: {module} has no class {attribute!r}.")
    lacking = [m for m in ("fit", "predict", "prediction_cost") if not hasattr(kind, m)]
    if lacking:
        raise ValueError(
            f"--method {name}: {attribute} has no {lacking[0]}; a method needs fit(X, y), "
            "predict(X) and prediction_cost(X), one number for each row."
        )
    return kind


def allows_nan(kind: type) -> bool:
    """Whether a class of the user's says, by scikit-learn's tags, that it takes missing values."""
    if not hasattr(kind, "__sklearn_tags__"):
        return False
    try:
        return bool(get_tags(kind()).input_tags.allow_nan)
    except Exception:  # whatever it is that the user's class does
        return False


def takes_weights(kind: type) -> bool:
    """Whether a class of the user's can be told what rows count."""
    return "sample_weight" in inspect.signature(kind.fit).parameters


def its_draw(name: str, seed: int) -> dict[str, Any]:
    """Give a draw of a class of the user's, with what tells it from another version of it."""
    try:
        source = Path(inspect.getfile(imported(name))).read_bytes()
    except (OSError, TypeError):
        source = b""
    return {"seed": seed, "method": name, "source": hashlib.sha256(source).hexdigest()}


class Single(Trained):
    """Any class of the user's: one model, one price."""

    def __init__(self, model, parameters: Mapping) -> None:
        self._model, self.cuts, self.parameters = model, [0.0], dict(parameters)

    def follow(self, part: Part) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield what it predicts, and what it says that it costs, each of a copy of the rows."""
        answer = np.asarray(self._model.predict(part.X.copy()))
        yield answer, prediction_cost(self._model, part.X.copy())

    def model(self, cut: float):
        """Give the model."""
        return self._model


def followed(
    name: str, seed: int, problem: Problem, score: Callable[[np.ndarray, str], float]
) -> list[dict[str, float]]:
    """Train a draw for a figure; give ``valid_score, valid_cost, test_score, test_cost``.

    `score` is of what is predicted of a part. Nothing, if the class is not for such data.
    """
    if problem.task not in getattr(imported(name), "tasks", (problem.task,)):
        return []
    trained = of_the_user(problem, {"seed": seed, "method": name})

    def follow(part: str) -> Iterator[tuple[float, float]]:
        for answer, costs in trained.follow(problem.parts[part]):
            yield score(answer, part), float(np.mean(costs))

    return [row for _, row in measured([1], follow)]


def of_the_user(problem: Problem, draw: Mapping) -> Trained:
    """Train a class of the user's with a draw of its ``search_space``.

    It gets copies: what it writes into its rows and prices is its own, and nobody else's.
    """
    kind = imported(draw["method"])
    space = getattr(kind, "search_space", None)
    drawn = {}
    if space:
        (drawn,) = ParameterSampler(space, 1, random_state=draw["seed"])
    accepted = inspect.signature(kind).parameters
    any_name = any(p.kind is p.VAR_KEYWORD for p in accepted.values())
    offered = {**problem.prices, "random_state": draw["seed"]}
    given = {n: v for n, v in offered.items() if v is not None and (any_name or n in accepted)}
    model, part = kind(**copy.deepcopy({**given, **drawn})), problem.fit
    extras = {"sample_weight": problem.fit_weight(), "query_id": part.query}
    takes = inspect.signature(model.fit).parameters
    extras = {n: v for n, v in extras.items() if v is not None and n in takes}
    X, y, extras = copy.deepcopy((part.X, part.y, extras))
    model.fit(X, y, **extras)
    return Single(model, {name: str(value) for name, value in drawn.items()})
