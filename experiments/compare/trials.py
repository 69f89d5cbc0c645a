"""What workers do: train one draw of a method and measure it; or train what was chosen."""

from __future__ import annotations

import base64
import json
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from algorithms.estimators.files import SavedModel
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.raw_tables import TableModel
from algorithms.selection.scoring import is_within
from experiments.cell import Cell, rounded
from experiments.compare import limited, metrics
from experiments.compare.likelihoods import of_classes, says_by
from experiments.compare.metrics import Units, mean_cost, units
from experiments.compare.own_columns import raw_columns
from experiments.compare.reasons import reason
from experiments.evaluate import measured
from experiments.methods.problem import Part, Problem, with_validation
from experiments.methods.table import method_of
from experiments.methods.trained import Trained

_LOAD = "experiments.compare.problem:load"


def run_trial(cell: Cell, problem: Problem) -> list[dict]:
    """Train a draw of a method and measure it on validation and test rows at each cut."""
    seconds = getattr(cell, "seconds", None)
    if seconds is not None:
        options = {"name": cell.dataset}
        return limited.run(f"{__name__}:train_here", cell, _LOAD, options, seconds)
    return train_here(cell, problem)


def train_here(cell: Cell, problem: Problem) -> list[dict]:
    """Train a draw in this process: :func:`run_trial` without a limit."""
    try:
        return _measured(cell, problem)
    except Exception as error:  # whatever it is that a library, or the user's class, does
        return [{"failed": reason(error)}]


def _measured(cell: Cell, problem: Problem) -> list[dict]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConstantModelWarning)
        trained = method_of(cell.algorithm).train(problem, cell.params["draw"])
    if not trained.cuts:
        said = [str(w.message) for w in caught if issubclass(w.category, ConstantModelWarning)]
        return [{"constant": said[0] if said else "no tree has a split: the model is constant."}]

    def follow(part: str) -> Iterator[tuple[float, float]]:
        rows = problem.parts[part]
        for found, costs in _scored(trained, problem, rows):
            yield found.score(), mean_cost(rows, costs)

    parameters = {"parameters": json.dumps(trained.parameters, ensure_ascii=False)}
    return [{"cut": cut, **row, **parameters} for cut, row in measured(trained.cuts, follow)]


def _scored(trained: Trained, problem: Problem, part: Part) -> Iterator[tuple[Units, np.ndarray]]:
    """Yield the units of a part, scored, and what its rows pay, at each cut."""
    asked, positive = metrics.asks(problem.metric), metrics.positive(problem)
    for cut, (answer, costs) in zip(trained.cuts, trained.follow(part), strict=True):
        if asked != "answers":
            X = problem.own.table(part.X) if _takes_text(trained) else part.X
            answer = of_classes(trained.model(cut), X, asked, positive, part.y)
        yield units(problem.metric, part, answer, positive), costs


def _takes_text(trained: Trained) -> bool:
    """Whether a model takes the table's own columns."""
    return "categorical_features" in trained.parameters


def run_chosen(cell: Cell, problem: Problem) -> list[dict]:
    """Train a chosen draw again, and give its cut whole: its test units, and its file.

    It is trained on training and validation rows. Where that model would cost more than the budget
    on the validation rows, is constant, or cannot be trained, the one of the training rows alone,
    which was chosen, is kept.
    """
    try:
        trained, why = _retrained(cell, problem)
        return [_whole(trained or _at(cell, problem), problem) | {"not_retrained": why}]
    except Exception as error:  # as above
        return [{"failed": reason(error)}]


def _at(cell: Cell, problem: Problem) -> Trained:
    """Train the draw of a cell and keep its cut."""
    with warnings.catch_warnings(record=True):
        trained = method_of(cell.algorithm).train(problem, cell.params["draw"])
    trained.only(cell.params["cut"])
    return trained


def _retrained(cell: Cell, problem: Problem) -> tuple[Trained | None, str | None]:
    """Train on training and validation rows; else say why the result cannot be taken."""
    try:
        trained = _at(cell, with_validation(problem))
        if not trained.cuts:
            return None, "retrained, it is constant"
        valid = problem.parts["valid"]
        ((_, costs),) = trained.follow(valid)
        cost = rounded(mean_cost(valid, costs))  # as when it was chosen
    except Exception as error:  # the training rows alone did not fail
        return None, f"retraining failed ({reason(error)})"
    if not is_within(cost, cell.params["budget"]):
        return None, f"retrained, it costs {cost:.4g} on the validation rows"
    return trained, None


def _whole(trained: Trained, problem: Problem) -> dict:
    test = problem.parts["test"]
    ((score, costs),) = _scored(trained, problem, test)
    model = trained.model(trained.cuts[0])
    says = says_by(model, metrics.asks(problem.metric))
    if isinstance(model, SavedModel):
        model = TableModel(model, raw_columns(problem.names, problem.own, _takes_text(trained)))
    of_users = None if isinstance(model, TableModel) else type(model)
    return {
        **score.to_json(),
        "says": says,
        "cut": trained.cuts[0],
        "test_cost": mean_cost(test, costs),
        "model": _file(model),
        "module": None if of_users is None else of_users.__module__,
        "class": None if of_users is None else of_users.__name__,
    }


def _file(model) -> str | None:
    """Give the file of a model; None where it has none: exits from another library's trees, say."""
    if not callable(getattr(model, "save", None)):
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.zip"
        try:
            model.save(path)
        except ValueError:  # its class says so of what it holds
            return None
        return base64.b64encode(path.read_bytes()).decode()
