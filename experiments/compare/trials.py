"""What workers do: train one draw of a method and measure it; or train what was chosen."""

from __future__ import annotations

import base64
import json
import tempfile
from pathlib import Path

from experiments.cell import Cell, rounded
from experiments.compare.methods import method_of
from experiments.compare.metrics import mean_cost, units
from experiments.compare.problem import Problem


def run_trial(cell: Cell, problem: Problem) -> list[dict]:
    """Train a draw of a method and measure it on validation and test rows at each cut.

    Returns
    -------
    list of dict
        ``cut, valid_score, valid_cost, test_score, test_cost``, six significant digits each, and
        ``parameters`` as JSON; nothing of a constant model.
    """
    trained = method_of(cell.algorithm).train(problem, cell.params["draw"])
    if not trained.cuts:
        return []
    measured = {}
    for part in ("valid", "test"):
        rows = problem.parts[part]
        measured[part] = [
            (units(problem.metric, rows, predicted).mean(), mean_cost(rows, costs))
            for predicted, costs in trained.follow(rows)
        ]
    names = ("valid_score", "valid_cost", "test_score", "test_cost")
    parameters = json.dumps(trained.parameters)
    return [
        {
            "cut": cut,
            **{n: rounded(v) for n, v in zip(names, (*valid, *test), strict=True)},
            "parameters": parameters,
        }
        for cut, valid, test in zip(trained.cuts, measured["valid"], measured["test"], strict=True)
    ]


def run_chosen(cell: Cell, problem: Problem) -> list[dict]:
    """Train a draw again and give one cut of it whole: its test units, and its file.

    Returns
    -------
    list of dict
        One row: ``value, weight, cluster`` of the test units, ``test_cost``; ``model`` (base64) and
        ``module, class`` of what loads it, None where the class has no ``save``.
    """
    trained = method_of(cell.algorithm).train(problem, cell.params["draw"])
    test = problem.parts["test"]
    at = trained.cuts.index(cell.params["cut"])
    (predicted, costs) = list(trained.follow(test))[at]
    score = units(problem.metric, test, predicted)
    model, kind = trained.model(trained.cuts[at]), None
    if callable(getattr(model, "save", None)):
        kind = type(model)
    return [
        {
            "value": score.value.tolist(),
            "weight": score.weight.tolist(),
            "cluster": score.cluster.tolist(),
            "test_cost": mean_cost(test, costs),
            "model": None if kind is None else _file(model),
            "module": None if kind is None else _public_module(kind),
            "class": None if kind is None else kind.__name__,
        }
    ]


def _file(model) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.zip"
        model.save(path)
        return base64.b64encode(path.read_bytes()).decode()


def _public_module(kind: type) -> str:
    """Give the module to import a class from: of a room that shows it, the room."""
    package = kind.__module__.rpartition(".")[0]
    return package if package == "algorithms.interop" else kind.__module__
