"""AdaBoost as it grows: one run for each number of base classifiers, none of them selected."""

from __future__ import annotations

import time

import numpy as np

from experiments.cell import Cell
from experiments.mddag_2012.cells.operating import Scored, measured
from experiments.mddag_2012.cells.rows import run_row
from experiments.mddag_2012.cells.windows import boosted, weights_of, windows_of


def adaboost_rows(cell: Cell, dataset) -> list[dict]:
    """Measure AdaBoost after every round."""
    train = windows_of(dataset, "train")
    begun = time.process_time()
    weights = weights_of(train, cell.params.get("object_share"))
    model, used = boosted(train, cell.params["n_estimators"], weights)
    seconds = time.process_time() - begun
    test = windows_of(dataset, "test").of_columns(used)
    train = train.of_columns(used)
    stages = zip(
        model.staged_decision_function(train.X), model.staged_decision_function(test.X), strict=True
    )
    rows = []
    for j, (on_train, on_test) in enumerate(stages, start=1):
        seen = [
            Scored(scores, np.full(len(scores), j), part.background)
            for scores, part in ((on_train, train), (on_test, test))
        ]
        values = {**measured(*seen), "fit_seconds": seconds * j / model.n_estimators_}
        rows.append(run_row(cell, "adaboost", j, values, size=j))
    return rows
