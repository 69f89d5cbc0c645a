"""Cronus step by step: single stage, initialisation, optimisation, each along its path of λ."""

from __future__ import annotations

import copy
import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from itertools import product

import numpy as np
from scipy.special import expit
from sklearn.frozen import FrozenEstimator

from algorithms.cronus import CronusClassifier
from algorithms.exits.classifier import CascadeClassifier
from algorithms.exits.exit_rules import ranks_by_exit
from algorithms.metrics import query_starts
from algorithms.reweighted_trees.soft_objective import NothingSavedWarning
from experiments.cell import Cell
from experiments.cronus_2012.cells.boosting import boosting_rows, n_used
from experiments.cronus_2012.cells.cuts import cut_anew, outputs
from experiments.cronus_2012.cells.depth import Grown
from experiments.cronus_2012.cells.quality import quality
from experiments.cronus_2012.cells.rows import model_row, stage_row
from experiments.cronus_2012.cells.task import (
    Part,
    part_of,
    training_weights,
)
from experiments.evaluate import all_prices, price_with_group, prices_of

STEP = 1.3
"""Ratio of neighbouring λ; that of the paper's ten."""

TOP = 1e-4
"""λ from which the path is found: the paper's largest."""

_SEARCHED = (-64, 64)
"""Steps from :data:`TOP` between which the smallest λ with an empty cascade is looked for."""


class Trainer:
    """Fits cascades of a cell's trees, which are grown once."""

    def __init__(
        self, cell: Cell, dataset, trees, make: Callable[..., CronusClassifier] = CronusClassifier
    ) -> None:
        self.cell, self.dataset, self.trees = cell, dataset, FrozenEstimator(trees)
        self._make = make
        self.train = part_of(cell, dataset, "train")
        self.weights = training_weights(cell, self.train)
        self.forest = trees.trees_
        self._empty: dict[tuple[float, float], int] = {}

    def fit(self, tradeoff: float, chosen: Mapping, *, start=None, **changed) -> CronusClassifier:
        """Return a cascade."""
        given = self.cell.params
        options = {
            "n_stages": given["n_stages"],
            "rejection": given["rejection"],
            "steepness": given["steepness"],
            "tree_cost": given["tree_cost"],
            **prices_of(self.dataset),
            **given["limits"],
            "penalty": chosen["penalty"],
            "last_penalty": chosen["last_penalty"],
            "tradeoff_decay": chosen["decay"],
            "positive_weight": chosen["positive_weight"],
            "threshold_rule": "quantile" if chosen["quantile"] else "soft",
        }
        options |= {"tradeoff": tradeoff / given["tree_cost"], "n_threads": 1, **changed}
        model = self._make(self.trees, **options)
        classes = self.train.signs > 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NothingSavedWarning)  # small λ are wanted, too
            return model.fit(self.train.X, classes, sample_weight=self.weights, start=start)

    def empty_from(self, chosen: Mapping) -> int:
        """Return the steps from :data:`TOP` to the smallest λ whose last stage alone is empty.

        A single stage with the last stage's ρ: later than that the cascade is not empty either but
        for what rejection changes.
        """
        alone = {"n_stages": 1, "max_cycles": 0}
        key = chosen["positive_weight"], chosen["last_penalty"]  # one stage knows no others
        if key not in self._empty:
            self._empty[key] = _first_empty(
                lambda step: self.fit(TOP * STEP**step, chosen, **alone)
            )
        return self._empty[key]

    def fit_plain(self, penalty: float, chosen: Mapping) -> CronusClassifier:
        """Return a single stage without prices: nothing but an ℓ1 penalty."""
        plain = {**chosen, "penalty": penalty, "last_penalty": penalty}
        return self.fit(0.0, plain, n_stages=1, max_cycles=0)


def _first_empty(fit) -> int:
    """Return the smallest step, by bisection, whose cascade is empty."""
    full, empty = _SEARCHED
    while empty - full > 1:
        middle = (full + empty) // 2
        full, empty = (middle, empty) if np.any(fit(middle).coef_) else (full, middle)
    return empty


def tradeoffs(empty: int, steps) -> list[float]:
    """Return λ by their steps below the first at which a cascade is empty, the largest first."""
    return [TOP * STEP ** (empty - step) for step in sorted(steps)]


# --- choosing by validation -----------------------------------------------------------------------


def choose(trainer: Trainer, valid: Part, grid: Mapping, steps, **changed) -> dict[str, float]:
    """Choose hyper-parameters by the initialisation alone, one group of them after the other."""
    chosen, known = dict(grid["start"]), {}
    most = _all_there_is(trainer)
    for names in grid["groups"]:
        tried = []
        for values in product(*(grid["values"][name] for name in names)):
            setting = {**chosen, **dict(zip(names, values, strict=True))}
            key = tuple(sorted(setting.items()))
            if key not in known:
                empty = trainer.empty_from(setting)
                models = []
                for tradeoff in tradeoffs(empty, steps):
                    model = trainer.fit(tradeoff, setting, max_cycles=0, **changed)
                    models.append(score_and_bill(model, valid)[::-1])
                known[key] = quality(models, most)
            tried.append((known[key], setting))
        chosen = max(tried, key=lambda one: one[0])[1]
    return chosen


def _all_there_is(trainer: Trainer) -> float:
    """Return the bill of all trees."""
    trees = trainer.cell.params["tree_cost"] * trainer.forest.n_trees
    return all_prices(trainer.dataset) + trees


def score_and_bill(model: CascadeClassifier, part: Part) -> tuple[float, float]:
    """Return the score of a cascade, and its bill."""
    left = leaving(model, part)
    return left["score"], left["cost_paper"]


def leaving(model: CascadeClassifier, part: Part, costs: np.ndarray | None = None) -> dict:
    """Return score, the paper's bill, and the score if whoever is rejected gets -1, of one walk."""
    exits = model.exits(part.X)
    starts = [0] if part.query is None else query_starts(part.query)
    ranked = ranks_by_exit(exits.stage, exits.scores, np.asarray(starts, dtype=np.int64))
    rejected = exits.stage < len(model.intercept_)
    told = {
        **part.told(ranked),
        "cost_paper": part.mean(model.stage_bills()[exits.stage - 1]),
        "tied_score": part.score(np.where(rejected, -1.0, exits.scores)),
    }
    if costs is not None:
        told["cost"] = part.mean(costs[exits.stage - 1, np.arange(len(part.X))])
    return told


def costs_until(model: CascadeClassifier, part: Part) -> np.ndarray:
    """Return what each row pays until each stage by the meter, (n_stages, n) float64.

    Rows go through all stages: thresholds move where rows leave, not what they pay until there.
    """
    rejecting_none = copy.copy(model)
    fitted = model._responses_, model.coef_, model.intercept_
    rejecting_none._set_up(*fitted, np.full(len(model.intercept_) - 1, -np.inf))
    return np.array([*rejecting_none.staged_cost(part.X)])


# --- measuring ------------------------------------------------------------------------------------


def measured(
    model: CascadeClassifier,
    forest,
    parts: Mapping[str, Part],
    costs: Mapping[str, np.ndarray] | None = None,
) -> dict:
    """Return scores, both bills, and sizes of a cascade of a forest's trees.

    ``tied_score`` is the test score if whoever is rejected gets -1, as the paper says. `costs` are
    :func:`costs_until` of each part, where several cascades differ in nothing but thresholds.
    """
    values = {}
    for name in ("valid", "test"):
        until = costs_until(model, parts[name]) if costs is None else costs[name]
        left = leaving(model, parts[name], until)
        values |= {f"{name}_{key}": left[key] for key in ("score", "queries", "cost_paper", "cost")}
    used = np.flatnonzero(model.coef_.any(axis=0))
    return {
        **values,
        "tied_score": left["tied_score"],
        "n_trees": len(used),
        "n_features": n_used(forest.take(used)),
        "objective": model.objective_,
    }


def stages(
    cell: Cell, method: str, model: CronusClassifier, dataset, test: Part, **given
) -> list[dict]:
    """Return rows about the stages of a cascade: who comes there, and what is bought until then."""
    K = len(model.intercept_)
    exits = model.exit_stage(test.X)
    soft = soft_shares(model, test)
    prices = price_with_group(dataset)
    forest = model.estimator_.trees_
    rows = []
    for k in range(1, K + 1):
        until = np.flatnonzero(model.coef_[:k].any(axis=0))
        part = forest.take(until)
        bought = np.zeros(len(prices), dtype=bool)
        bought[np.unique(part.feature[part.feature >= 0])] = True
        rejects = k < K and np.isfinite(model.thresholds_[k - 1])
        about = {
            "hard": test.mean(exits >= k),
            "soft": soft[k - 1],
            "n_trees": np.count_nonzero(model.coef_[k - 1]),
            "n_features": bought.sum(),
            "threshold": model.thresholds_[k - 1] if rejects else np.nan,
        }
        rows.append(stage_row(cell, method, k, -1.0, about, **given))
        for price in np.unique(prices):
            mine = prices == price
            of_price = {
                "n_trees": 0,
                "n_features": np.count_nonzero(bought & mine),
                "n_listed": np.count_nonzero(mine),
            }
            rows.append(stage_row(cell, method, k, price, of_price, **given))
    return rows


def soft_shares(model: CronusClassifier, test: Part) -> list[float]:
    """Return d_k of the test inputs, section 3.2."""
    forest = model.estimator_.trees_
    used = np.flatnonzero(model.coef_.any(axis=0))
    answers = outputs(forest, used, test.X)
    reach, shares = np.ones(len(test.X)), []
    for k, constant in enumerate(model.intercept_):
        shares.append(test.mean(reach))
        if k < len(model.thresholds_):
            score = constant + answers @ model.coef_[k, used]
            reach = reach * expit(model.steepness * (score - model.thresholds_[k]))
    return shares


# --- the cell -------------------------------------------------------------------------------------


def cronus_rows(grown: Grown, dataset) -> list[dict]:
    """Measure the trees as they grew, and walk the paths of λ of all steps."""
    cell = grown.cell
    trainer = Trainer(cell, dataset, grown.trees)
    parts = {name: part_of(cell, dataset, name) for name in ("valid", "test")}
    given = cell.params
    single = choose(
        trainer, parts["valid"], given["single_grid"], given["tuning_steps"], n_stages=1
    )
    rows = boosting_rows(grown, dataset)
    rows += _path(trainer, "single_stage", single, parts, n_stages=1, max_cycles=0)
    rows += _plain_path(trainer, single, parts)
    chosen = choose(trainer, parts["valid"], given["grid"], given["tuning_steps"])
    return rows + _cascade_path(trainer, chosen, parts)


def _path(trainer: Trainer, method: str, chosen: dict, parts, **changed) -> list[dict]:
    rows = []
    empty = trainer.empty_from(chosen)
    for tradeoff in tradeoffs(empty, trainer.cell.params["steps"]):
        begun = time.process_time()
        model = trainer.fit(tradeoff, chosen, **changed)
        values = {"fit_seconds": time.process_time() - begun}
        values |= measured(model, trainer.forest, parts)
        rows.append(
            model_row(
                trainer.cell,
                method,
                values,
                tradeoff=tradeoff,
                rounds=int(values["n_trees"]),
                **chosen,
            )
        )
    return rows


def _plain_path(trainer: Trainer, chosen: dict, parts) -> list[dict]:
    """Measure plain ℓ1 along its path of ρ, which stands in the column ``setting``."""
    rows = []
    empty = _first_empty(lambda step: trainer.fit_plain(TOP * STEP**step, chosen))
    for penalty in tradeoffs(empty, trainer.cell.params["steps"]):
        begun = time.process_time()
        model = trainer.fit_plain(penalty, chosen)
        values = {"fit_seconds": time.process_time() - begun}
        values |= measured(model, trainer.forest, parts)
        about = {**chosen, "penalty": penalty, "last_penalty": penalty, "setting": penalty}
        rows.append(
            model_row(trainer.cell, "plain_l1", values, rounds=int(values["n_trees"]), **about)
        )
    return rows


def cascade_path(
    trainer: Trainer, chosen: Mapping
) -> Iterator[tuple[float, CronusClassifier, float]]:
    """Yield λ, the largest first, the optimised cascade and the seconds its training took.

    Each is started from its initialisation and from its neighbour.
    """
    before = None
    empty = trainer.empty_from(chosen)
    while np.any(trainer.fit(TOP * STEP**empty, chosen, max_cycles=0).coef_):
        empty += 1
    for tradeoff in tradeoffs(empty, trainer.cell.params["steps"]):
        begun = time.process_time()
        before = trainer.fit(tradeoff, chosen, start=before)
        yield tradeoff, before, time.process_time() - begun


def _cascade_path(trainer: Trainer, chosen: dict, parts) -> list[dict]:
    """Measure the path of λ, each cascade as it was initialised and as it was optimised."""
    rows = []
    for tradeoff, model, spent in cascade_path(trainer, chosen):
        seconds = {"cronus_initial": math.nan, "cronus": spent}
        for method, cascade in (("cronus_initial", model.initialised()), ("cronus", model)):
            n_trees = int(np.count_nonzero(cascade.coef_.any(axis=0)))
            about = {"tradeoff": tradeoff, "rounds": n_trees, **chosen}
            known = {"fit_seconds": seconds[method], "capped": model.capped_ and method == "cronus"}
            for m, values in enumerate(_with_cuts(trainer, cascade, parts)):
                rows.append(
                    model_row(trainer.cell, method, {**known, **values}, setting=m, **about)
                )
            rows += stages(trainer.cell, method, cascade, trainer.dataset, parts["test"], **about)
    return rows


def _with_cuts(trainer: Trainer, cascade: CronusClassifier, parts) -> Iterator[dict]:
    """Measure a cascade with each of the cell's threshold settings."""
    costs = {name: costs_until(cascade, parts[name]) for name in ("valid", "test")}
    for cut in cut_anew(cascade, trainer.train, trainer.cell.params["rejections"]):
        yield measured(cut, trainer.forest, parts, costs)
