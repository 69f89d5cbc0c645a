"""The suite's boosted stumps as methods: AdaBoost.MH with Laminating, and cascades of stumps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from sklearn.frozen import FrozenEstimator

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.bourdev_cascade import BourdevCascadeClassifier
from algorithms.fcboost import FCBoostClassifier
from algorithms.viola_jones import ViolaJonesClassifier
from experiments.evaluate import fibonacci_rounds
from experiments.methods.fitting import drawn_between, fitted, further, log_between, named
from experiments.methods.method import CLASSES, our_method
from experiments.methods.problem import Part, Problem
from experiments.methods.trained import Models, Trained
from experiments.methods.two_classes import alone, cascade, fitted_to_two

_DETECTION = 1 - np.geomspace(0.001, 0.5, 12)  # shares of the positives that a cascade keeps
_MOST_FCBOOST = 60  # its steps grow with all stumps before


class _Stumps(Trained):
    """AdaBoost.MH after some of its rounds; `trained` gives the model of so many rounds."""

    def __init__(self, trained: Callable[[int], AdaBoostMH], last: int, parameters) -> None:
        self._trained, self._model, self.parameters = trained, trained(last), dict(parameters)
        last = self._model.n_estimators_
        self.cuts = fibonacci_rounds(last) if last else []

    def only(self, cut: float) -> None:
        """Keep one cut; a model with fewer rounds is taken whole."""
        if self.cuts:
            self.cuts = [min(int(cut), self.cuts[-1])]

    def follow(self, part: Part) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield classes and costs at each cut."""
        wanted = set(self.cuts)
        both = self._model.staged_predict(part.X), self._model.staged_cost(part.X)
        for n, (answer, cost) in enumerate(zip(*both, strict=True), 1):
            if n in wanted:
                yield np.copy(answer), np.copy(cost)
            if n == self.cuts[-1]:
                return

    def model(self, cut: float) -> AdaBoostMH:
        """Give the model of so many rounds: its first rounds do not depend on how many follow."""
        whole = cut == self._model.n_estimators_
        return self._model if whole else self._trained(int(cut))


@our_method(CLASSES, allow_nan=False, gives="scores")
def adaboost_mh(problem: Problem, draw: Mapping) -> Trained:
    """Boost stumps that Laminating finds."""
    most = max(2.0, len(problem.names) / 2)
    options = {
        "sampler": "laminating",
        "max_cost": drawn_between(further(draw, 1)[0], 1.0, most),
        "random_state": draw["seed"],
    }

    def trained(rounds: int) -> AdaBoostMH:
        model = AdaBoostMH(n_estimators=rounds, **options, **problem.prices, n_threads=1)
        return fitted(model, problem, draw)

    parameters = named(problem, draw, {"n_estimators": draw["rounds"], **options})
    return _Stumps(trained, draw["rounds"], parameters)


@cascade()
def viola_jones(problem: Problem, draw: Mapping) -> Trained:
    """Train Viola and Jones's cascade on rows that stages let pass."""
    u = further(draw, 3)
    options = {
        "max_fpr": drawn_between(u[0], 0.3, 0.8),
        "min_tpr": float(f"{1 - log_between(u[1], 0.002, 0.15):.4g}"),
        "max_stages": 1 + round(u[2] * 9),
        "max_stumps": draw["rounds"],
        "random_state": draw["seed"],
    }
    model = ViolaJonesClassifier(**options, **problem.prices, tree_cost=0.0, n_threads=1)
    fitted_to_two(model, problem, draw)
    return alone(model, named(problem, draw, options))


@cascade()
def fcboost(problem: Problem, draw: Mapping) -> Trained:
    """Grow a cascade by FCBoost; it is used after some of its stumps."""
    u = further(draw, 2)
    options = {
        "n_estimators": min(draw["rounds"], _MOST_FCBOOST),
        "eta": drawn_between(u[0], 1e-4, 0.1),
        "steepness": drawn_between(u[1], 0.5, 4.0),
    }
    model = FCBoostClassifier(**options, **problem.prices, tree_cost=0.0, n_threads=1)
    fitted_to_two(model, problem, draw)
    last = model.n_estimators_
    cuts = fibonacci_rounds(last) if last else []
    return Models(
        lambda cut: model.first_rounds(int(min(cut, last))), cuts, named(problem, draw, options)
    )


@cascade()
def bourdev_cascade(problem: Problem, draw: Mapping) -> Trained:
    """Order boosted stumps into Bourdev and Brandt's soft cascade; cuts are detection rates."""
    u = further(draw, 1)
    pool = AdaBoostMH(n_estimators=draw["rounds"], random_state=draw["seed"], n_threads=1)
    alpha = float(f"{-8 + 16 * u[0]:.4g}")
    fitted_to_two(pool, problem, draw)

    def made(rate: float) -> BourdevCascadeClassifier:
        model = BourdevCascadeClassifier(
            FrozenEstimator(pool), detection_rate=rate, alpha=alpha, **problem.prices,
            tree_cost=0.0, n_threads=1,
        )  # fmt: skip
        return fitted_to_two(model, problem, draw)

    rates = [float(f"{rate:.6g}") for rate in _DETECTION]
    return Models(made, rates, named(problem, draw, {"alpha": alpha}))
