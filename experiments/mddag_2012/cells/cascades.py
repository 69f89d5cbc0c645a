"""The cascades that MDDAG is compared with: Viola and Jones's, FCBoost, the soft cascade."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from sklearn.frozen import FrozenEstimator

from algorithms.bourdev_cascade import BourdevCascadeClassifier
from algorithms.exits.exit_rules import ranks_by_exit
from algorithms.fcboost import FCBoostClassifier
from algorithms.viola_jones import UnreachedRateWarning, ViolaJonesClassifier
from experiments.cell import Cell
from experiments.mddag_2012.cells.gap_filling import filled, trace
from experiments.mddag_2012.cells.operating import Scored, measured
from experiments.mddag_2012.cells.rows import run_row
from experiments.mddag_2012.cells.windows import Windows, boosted, weights_of, windows_of


def seen_by(model, parts: Sequence[Windows]) -> list[Scored]:
    """Return what a cascade says of windows: who leaves later, or there with more score, is more.

    Windows of all parts are ranked together, so that one threshold holds for them all.
    """
    exits = [model.exits(part.X) for part in parts]
    stages, scores = (
        np.concatenate([getattr(left, name) for left in exits]) for name in ("stage", "scores")
    )
    ranked = ranks_by_exit(stages, scores, np.zeros(1, dtype=np.int64))
    bounds = np.cumsum([len(part.y) for part in parts])[:-1]
    return [
        Scored(ranks, model.evaluations(part.X), part.background)
        for ranks, part in zip(np.split(ranked, bounds), parts, strict=True)
    ]


def soft_cascade_rows(cell: Cell, dataset) -> list[dict]:
    """Measure soft cascades made of one pool of AdaBoost's base classifiers."""
    train, share = windows_of(dataset, "train"), cell.params["object_share"]
    weights = weights_of(train, share)
    pool, used = boosted(train, cell.params["n_estimators"], weights)
    parts = train.of_columns(used), windows_of(dataset, "test").of_columns(used)

    def fitted(train: Windows, **given):
        model = BourdevCascadeClassifier(FrozenEstimator(pool), **given)
        return model.fit(train.X, train.y, sample_weight=weights)

    return _rows(cell, parts, fitted)


def viola_jones_rows(cell: Cell, dataset) -> list[dict]:
    """Measure cascades of Viola and Jones, whose rates are those of the validation part."""
    parts = windows_of(dataset, "train"), windows_of(dataset, "test")
    valid, weights = windows_of(dataset, "valid"), weights_of(parts[0], cell.params["object_share"])

    def fitted(train: Windows, **given):
        with warnings.catch_warnings():
            # Targets that no stage reaches are part of the grid.
            warnings.simplefilter("ignore", UnreachedRateWarning)
            model = ViolaJonesClassifier(**given)
            return model.fit(train.X, train.y, sample_weight=weights, eval_set=(valid.X, valid.y))

    return _rows(cell, parts, fitted)


def fcboost_rows(cell: Cell, dataset) -> list[dict]:
    """Measure cascades of FCBoost; what differs in length alone is grown once, and cut."""
    longest = max(one["given"]["n_estimators"] for one in cell.params["grid"])
    grown, share = {}, cell.params["object_share"]

    def fitted(train: Windows, n_estimators: int, negative_weight: float, **given):
        key = given["eta"], negative_weight
        if key not in grown:
            weights = weights_of(train, share, negative_weight)
            model = FCBoostClassifier(n_estimators=longest, **given)
            grown[key] = model.fit(train.X, train.y, sample_weight=weights)
        whole = grown[key]
        return whole.first_rounds(n_estimators) if n_estimators < whole.n_estimators_ else whole

    return _rows(cell, (windows_of(dataset, "train"), windows_of(dataset, "test")), fitted)


BISECTED = {"viola_jones": "max_fpr", "fcboost": "n_estimators", "bourdev_cascade": "n_stages"}
"""The number of each method that is bisected where its curve has a gap."""

_SHOWN_AS = {"max_fpr": "tradeoff", "n_estimators": "size", "n_stages": "size"}


def _rows(cell: Cell, parts: tuple[Windows, Windows], fitted: Callable) -> list[dict]:
    rows, lines, options_of = [], {}, {}
    number = BISECTED[cell.algorithm]
    # As cascades compare them: else each walk would convert all columns again.
    measured_on = [Windows(np.ascontiguousarray(w.X, dtype=np.float64), w.y) for w in parts]

    def run(given: dict, about: dict) -> float:
        begun = time.process_time()
        model = fitted(parts[0], random_state=cell.seed, n_threads=1, **given)
        seconds = time.process_time() - begun
        values = {**measured(*seen_by(model, measured_on)), "fit_seconds": seconds}
        rows.append(run_row(cell, cell.algorithm, len(rows), values, **about))
        return values["train_evaluations"]

    for options in cell.params["grid"]:
        line = tuple(sorted((k, v) for k, v in options["given"].items() if k != number))
        at = float(options["given"][number])
        lines.setdefault(line, {})[at] = trace(run(options["given"], options["about"]))
        options_of[line] = options

    def bisected(line: tuple, at: float) -> float:
        value = at if number == "max_fpr" else round(at)
        options = options_of[line]
        about = {**options["about"], _SHOWN_AS[number]: value}
        return run({**options["given"], number: value}, about)

    for _ in filled(lines, bisected):
        pass
    return rows
