"""Trains one method and reads its learning curve: losses, test errors, and what they cost."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from algorithms import feature_sampling
from algorithms.adaboost_mh import AdaBoostMH
from algorithms.feature_sampling import SAMPLERS, new_samplers
from experiments.cell import Cell, rounded

N_SCALES = 12
"""The bandits' parameter is 2^0 ... 2^11, the best of them by the final training loss."""

SPLIT_COST = 4e-6
"""Milliseconds to evaluate a stump on an image and add its votes for ten labels: measured once,
3.6 ns on one core of the machine of the committed table. With more labels it is more; a family of
features costs from ten times (MNIST's pixels) to a million times as much."""

_COUNTS = ("paper_cost", "evaluations", "tuning_evaluations")
_BANDITS = {"ucb": "UCB", "exp3p": "Exp3P", "epsilon_greedy": "EpsilonGreedy"}


def laminating_size(n_features: int, n_samples: int, max_cost: float, least_examples: int) -> int:
    """Return Laminating's Q: the largest power of two that leaves S as many examples as asked for.

    Parameters
    ----------
    n_features, n_samples : int
        Of the data; Q is at most the first.
    max_cost : float
        Q·S·log₂ Q is at most this times the second.
    least_examples : int
        Of S.
    """
    most = max_cost * n_samples / least_examples
    exponents = range(1, max(2, n_features.bit_length()))
    return max([2, *(2**k for k in exponents if 2**k * k <= most)])


def sampler_of(method: str, n_families: int, given: Mapping[str, Any] | None = None):
    """Return the samplers of a method."""
    if method in _BANDITS:
        bandit = getattr(feature_sampling, _BANDITS[method])
        return [bandit(scale=2.0**n, **(given or {})) for n in range(N_SCALES)]
    return SAMPLERS[method](**given) if given else new_samplers(method, n_families)


def class_weights(y: np.ndarray, counts: list[int] | None) -> np.ndarray | None:
    """Return weights that give classes the shares of other counts; their mean is 1.

    Parameters
    ----------
    y : (n,) int
        Classes, from 0.
    counts : list of int or None
        Images of each class there are to be; None gives None.
    """
    if counts is None:
        return None
    wanted = np.array(counts) / sum(counts)
    return (wanted / (np.bincount(y, minlength=len(counts)) / len(y)))[y]


@dataclass
class Notes:
    """What is noted of one training."""

    # Of :func:`time.perf_counter`: the start, then the end of each round
    seconds: list[float] = field(default_factory=list)
    # (n_families,) int64: after each round, training rows that have asked for any feature of a
    # family
    family_rows: list[np.ndarray] = field(default_factory=list)


class Observed:
    """A sampler, watched at work: the estimator itself says this of a list of samplers as a whole.

    Parameters
    ----------
    sampler : Sampler
        The one that samples.
    notes : Notes
        Filled; a copy of this object fills the same, as the estimator uses copies of what it is
        given.
    """

    def __init__(self, sampler, notes: Notes) -> None:
        self.sampler = sampler
        self.notes = notes

    def __deepcopy__(self, memo) -> Observed:
        return Observed(copy.deepcopy(self.sampler, memo), self.notes)

    def begin(self, problem) -> None:
        """Start."""
        self._meter = problem.meter
        self.notes.seconds.append(time.perf_counter())
        self.sampler.begin(problem)

    def propose(self, problem):
        """Let it choose."""
        return self.sampler.propose(problem)

    def update(self, feature: int, edge: float) -> None:
        """Let it learn; the round ends."""
        self.sampler.update(feature, edge)
        self.notes.seconds.append(time.perf_counter())
        self.notes.family_rows.append(self._meter.family_rows.copy())


def learning_curve(cell: Cell, features) -> list[dict]:
    """Train a method and read it at several rounds."""
    params = cell.params
    model, kept, seconds = _train(cell, features)
    n_samples = features.train.shape[1]
    curve = _Curve(model, kept, features)
    reads = [("paper", t, t, 0) for t in params["rounds"]]
    for t in params["tables"]:
        budget = params["max_cost"] * n_samples * t
        reads.append(("all", t, *rounds_within(budget, curve.evaluations)))
    weights = class_weights(features.y_test, params.get("class_counts", {}).get("test"))
    errors = staged_errors(model, features, {used for _, _, used, _ in reads}, weights)
    rows = []
    for budget, rounds, used, short in reads:
        row = {"budget": budget, "rounds": rounds, "used_rounds": used, "short": short}
        row |= {"test_error": rounded(errors[used]), **curve.at(used)}
        if params["timed"]:
            last = used - 1
            row |= {name: rounded(spent[last]) if used else 0.0 for name, spent in seconds.items()}
        rows.append(row)
    return rows


def rounds_within(budget: float, cumulative: np.ndarray) -> tuple[int, int]:
    """Return the last round that a budget pays for, and whether it would pay for more."""
    rounds = int(np.searchsorted(cumulative, budget, side="right"))
    last = cumulative[-1] - (cumulative[-2] if len(cumulative) > 1 else 0)
    short = rounds == len(cumulative) and cumulative[-1] + last <= budget
    return rounds, int(short)


def staged_errors(
    model: AdaBoostMH, features, rounds: set[int], weights: np.ndarray | None = None
) -> dict[int, float]:
    """Return the test error in % after some rounds; after none all images are of class 0."""
    errors = {0: 100 * float(np.average(features.y_test != model.classes_[0], weights=weights))}
    stops = sorted(rounds - {0})
    for t, labels in zip(stops, model.staged_predict(features.test.T, rounds=stops), strict=True):
        errors[t] = 100 * float(np.average(labels != features.y_test, weights=weights))
    return errors


class _Curve:
    """What a model had reached and spent after each round."""

    def __init__(self, model: AdaBoostMH, kept: Notes, features) -> None:
        self._model = model
        self._losses = model.log_train_loss_ / np.log(10)
        self._paper, self._with_tuning = np.cumsum(model.sampling_cost_, axis=0).T
        tuned = hasattr(model, "best_sampler_")
        # The second column counts all trainings of a list; its samplers evaluate nothing more than
        # the paper counts.
        self.evaluations = self._paper if tuned else self._with_tuning
        self._kept = model.best_sampler_ if tuned else -1
        seconds = features.milliseconds / 1000
        self._feature_seconds = np.array(kept.family_rows) @ seconds
        self._tuning_feature_seconds = np.cumsum(model.family_rows_, axis=0) @ seconds
        self._family_of = family_of(features)
        prices = np.asarray(features.milliseconds)[self._family_of]
        one = features.test.T[:1]  # every image pays the same
        bills = model.staged_cost(one, feature_costs=prices, split_cost=SPLIT_COST)
        self._bills = [bill[0] for bill in bills]

    def at(self, rounds: int) -> dict[str, int | float]:
        """Return the columns that belong to a round; after none the loss is 1, its log 0."""
        used = self._model.stumps_.feature[:rounds]
        columns = {
            "log10_loss": self._losses,
            "paper_cost": self._paper,
            "evaluations": self.evaluations,
            "tuning_evaluations": self._with_tuning,
            "feature_seconds": self._feature_seconds,
            "tuning_feature_seconds": self._tuning_feature_seconds,
            "prediction_ms": self._bills,
        }
        values = {name: column[rounds - 1] if rounds else 0 for name, column in columns.items()}
        counts = {name: int(value) for name, value in values.items() if name in _COUNTS}
        families = len(np.unique(self._family_of[used[used >= 0]]))
        floats = {name: rounded(value) for name, value in values.items() if name not in _COUNTS}
        return {**floats, **counts, "families": families, "kept": int(self._kept)}


def family_of(features) -> np.ndarray:
    """Return the number of each feature's family, (n_features,) int64."""
    numbers = np.empty(features.n_features, dtype=np.int64)
    for k, family in enumerate(features.families):
        numbers[family] = k
    return numbers


def estimator(cell: Cell, features, sampler) -> AdaBoostMH:
    """Return the unfitted estimator of a cell: one acquisition computes a whole family."""
    return AdaBoostMH(
        n_estimators=cell.params["n_estimators"],
        sampler=sampler,
        max_cost=cell.params["max_cost"],
        families=features.families,
        feature_groups=family_of(features),
        random_state=cell.seed,
        n_threads=1,
    )


def _train(cell: Cell, features) -> tuple[AdaBoostMH, Notes, dict[str, np.ndarray]]:
    """Train; give the notes of the training kept, and if timed how long it took to each round."""
    X, y, params = features.train.T, features.y_train, cell.params
    given = dict(params.get("given", {}))
    if "least_examples" in given:
        least = given.pop("least_examples")
        given["n_features"] = laminating_size(X.shape[1], len(X), params["max_cost"], least)
    sampler = sampler_of(params.get("sampler", cell.algorithm), len(features.families), given)
    samplers = sampler if isinstance(sampler, list) else [sampler]
    watched = [Observed(one, Notes()) for one in samplers]
    if cell.params["timed"]:  # compiles
        estimator(cell, features, watched[0].sampler).set_params(n_estimators=2).fit(X, y)
    model = estimator(cell, features, watched if isinstance(sampler, list) else watched[0])
    start = time.perf_counter()
    model.fit(X, y, sample_weight=class_weights(y, params.get("class_counts", {}).get("train")))
    kept = getattr(model, "best_sampler_", 0)
    notes = watched[kept].notes
    if not cell.params["timed"]:
        return model, notes, {}
    setup = watched[0].notes.seconds[0] - start
    spent = [np.array(one.notes.seconds[1:]) - one.notes.seconds[0] for one in watched]
    seconds = {
        "training_seconds": setup + spent[kept],
        "tuning_seconds": setup + np.sum(spent, axis=0),
    }
    return model, notes, seconds
