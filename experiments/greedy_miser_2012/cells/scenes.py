"""Scene-15: Greedy Miser and early exits on the machines' decision values, and two baselines.

The baselines do not see the table of decision values but what it is made of, on all training
pictures: one support vector machine per class on the averaged kernel of all descriptors, and a
linear one with ℓ1 penalty on the descriptors themselves.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, LinearSVC

from algorithms.metrics import accuracy
from datasets import scene15
from experiments.cell import Cell, rounded
from experiments.greedy_miser_2012.cells import pictures, shared_pass
from experiments.greedy_miser_2012.cells.measure import trace

_BYTE = 255.0
_ITERATIONS = 2000


def measure(cell: Cell, dataset) -> list[dict]:
    """Train the model of a cell and measure it.

    Parameters
    ----------
    cell : Cell
        ``algorithm`` is ``svm_averaged_kernel``, ``l1_raw_descriptors`` or one of
        :func:`experiments.greedy_miser_2012.cells.measure.trace`. ``penalties`` are the C that the
        two baselines choose from by validation. ``shared`` says that detectors share their pass
        over gradients, see :mod:`.shared_pass`; of a baseline it is the panel of that price, or
        empty. With ``pictures`` rows say on which test pictures they are right.
    dataset : Dataset
        Table of a draw; the baselines load what they need of the same draw.

    Returns
    -------
    list of dict
        As :func:`~experiments.greedy_miser_2012.cells.measure.trace`. A baseline has a row for each
        price, ``rounds`` 1, no trees, and its C as ``tradeoff``.
    """
    baselines = {"svm_averaged_kernel": _averaged_kernel, "l1_raw_descriptors": _raw_descriptors}
    if cell.algorithm not in baselines:
        if not cell.params["shared"]:
            return trace(cell, dataset)
        beyond = partial(shared_pass.pass_of, dataset)
        return trace(cell, shared_pass.without_pass(dataset), beyond)
    made_for = {name: dataset.provenance[name] for name in ("scale", "seed")}
    made_for["data"] = "real" if dataset.provenance["kind"] == "real" else "synthetic"
    row, used = baselines[cell.algorithm](cell, dataset, made_for)
    right = row.pop(pictures.COLUMN)
    if cell.params["pictures"]:
        row[pictures.COLUMN] = pictures.packed(right, pictures.numbers_of(dataset))
    if not cell.params["shared"]:
        return [row]
    detectors = np.unique(dataset.feature_groups[shared_pass.detectors_of(dataset)])
    cost = shared_pass.once(row["test_cost"], np.count_nonzero(np.isin(detectors, used)))
    costs = {f"{part}_cost{kind}": rounded(cost) for part in ("valid", "test")
             for kind in ("", "_paper")}  # fmt: skip
    return [row, {**row, "panel": cell.params["shared"], **costs}]


def _averaged_kernel(cell: Cell, dataset, made_for: dict) -> tuple[dict, np.ndarray]:
    kernel = scene15.averaged_kernel(**made_for)
    X = {"valid": kernel.valid, "test": kernel.test}

    def fit(C: float):
        return OneVsRestClassifier(SVC(kernel="precomputed", C=C)).fit(kernel.train, kernel.y_train)

    model, C = _best(fit, cell.params["penalties"], X["valid"], kernel.y_valid)
    cost = kernel.kernel_cost + len(model.classes_) * kernel.machine_cost
    return _row(cell, C, model, X, kernel, cost), np.unique(dataset.feature_groups)


def _raw_descriptors(cell: Cell, dataset, made_for: dict) -> tuple[dict, np.ndarray]:
    raw = scene15.raw_descriptors(**made_for)
    X = {part: getattr(raw, f"X_{part}") / _BYTE for part in ("train", "valid", "test")}

    def fit(C: float):
        model = LinearSVC(penalty="l1", dual=False, C=C, max_iter=_ITERATIONS, random_state=0)
        with warnings.catch_warnings():
            # What it has after so many iterations is judged by validation like any other model.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return model.fit(X["train"], raw.y_train)

    model, C = _best(fit, cell.params["penalties"], X["valid"], raw.y_valid)
    used = np.unique(raw.descriptor[np.any(model.coef_ != 0, axis=0)])
    return _row(cell, C, model, X, raw, float(np.sum(raw.descriptor_costs[used]))), used


def _best(fit, penalties, X_valid, y_valid):
    """Return the model of the best C by validation (the smallest of equals), and C."""
    models = {C: fit(C) for C in sorted(penalties)}
    best = max(models, key=lambda C: (accuracy(y_valid, models[C].predict(X_valid)), -C))
    return models[best], best


def _row(cell: Cell, C: float, model, X: dict, labels, cost: float) -> dict:
    row = {"panel": cell.params["panel"], "tradeoff": C, "limit": 0.0, "exit": 0.0, "rounds": 1}
    row |= {"best": 1, "test_trees": 0.0}
    for part in ("valid", "test"):
        y, predicted = getattr(labels, f"y_{part}"), model.predict(X[part])
        row[f"{part}_score"] = rounded(accuracy(y, predicted))
        row[f"{part}_cost"] = row[f"{part}_cost_paper"] = rounded(cost)
    row[pictures.COLUMN] = predicted == y  # of the test pictures, which come last
    return row
