"""The methods that are compared: what each draws, trains, and answers.

A method trains a model on a *draw*, numbers between 0 and 1 that are the same for all methods, and
gives a :class:`Trained` with the *cuts* at which it can be used: after how many rounds, or with
which threshold. A cut costs no further training, so each trial is measured at all of them.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import ParameterSampler
from sklearn.utils import get_tags

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.early_exit import EarlyExit
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.greedy_miser import GreedyMiserClassifier, GreedyMiserRegressor
from algorithms.interop import from_catboost, from_lightgbm, from_scikit_learn
from algorithms.selection import prediction_cost
from experiments.compare.problem import Part, Problem

N_DRAWN = 5
"""Numbers of a draw: learning rate, leaves, rows in a leaf, price of cost, distance of exits."""

_N_THRESHOLDS = 12
_EXIT_DISTANCES = (1, 2, 5, 10, 20)


class Trained:
    """A trained model and its cuts.

    Attributes
    ----------
    cuts : list of float
        Rounds or thresholds; empty if the model is constant.
    parameters : dict
        What was drawn, as the method calls it.
    """

    cuts: list[float]
    parameters: dict[str, Any]

    def follow(self, part: Part) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield predictions and costs of the rows at each cut."""
        raise NotImplementedError

    def model(self, cut: float):
        """Give the model at a cut, to be saved and used."""
        raise NotImplementedError


# --- draws --------------------------------------------------------------------------------------


def _log(u: float, low: float, high: float) -> float:
    return float(low * (high / low) ** u)


def shape(problem: Problem, draw: Mapping) -> dict[str, Any]:
    """Give what all boosted trees draw alike: learning rate, leaves, rows in a leaf, rounds."""
    u = draw["u"]
    most = max(2.0, min(100.0, len(problem.parts["train"]) / 20))
    return {
        "learning_rate": float(f"{_log(u[0], 0.03, 0.3):.4g}"),
        "max_leaves": round(_log(u[1], 4, 48)),
        "min_samples_leaf": round(_log(u[2], 2, most)),
        "n_estimators": draw["rounds"],
    }


def tradeoff(problem: Problem, draw: Mapping) -> float:
    """Give the loss that a unit of cost must bring, per row."""
    return float(f"{_log(draw['u'][3], *problem.tradeoff_range):.4g}")


def checkpoints(first: int, last: int) -> list[int]:
    """Give the rounds at which a model is measured: 1, 2, 3, 5, 8, … from its first split on."""
    rounds, a, b = [], 1, 2
    while a < last:
        rounds.append(a)
        a, b = b, a + b
    kept = {max(first, r) for r in [*rounds, last] if last}
    return sorted(r for r in kept if r <= last)


# --- trees that are followed round by round -----------------------------------------------------


class Rounds(Trained):
    """Boosted trees, ours or another library's under our meter, after some of their rounds."""

    def __init__(self, model, parameters: Mapping) -> None:
        self._model, self.parameters = model, dict(parameters)
        sizes = np.diff(model.trees_.tree).reshape(-1, len(model.initial_scores_))
        with_splits = 1 + np.flatnonzero((sizes > 1).any(axis=1))
        self.cuts = []
        if len(with_splits):
            self.cuts = checkpoints(int(with_splits[0]), int(with_splits[-1]))

    def follow(self, part: Part) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield predictions and costs at each cut."""
        model = self._model
        if hasattr(model, "staged_predict"):
            answers, decide = model.staged_predict(part.X), np.copy
        else:
            answers, decide = model.staged_raw(part.X), self._decided
        wanted = set(self.cuts)
        for n, (answer, cost) in enumerate(zip(answers, model.staged_cost(part.X), strict=True), 1):
            if n in wanted:
                yield decide(answer), cost
            if n == self.cuts[-1]:
                return

    def _decided(self, raw: np.ndarray) -> np.ndarray:
        link = self._model.link
        if link is None:
            return raw.copy()
        second = (raw > 0).astype(np.int64) if raw.ndim == 1 else np.argmax(raw, axis=1)
        return link.classes[second]

    def model(self, cut: float):
        """Give the model as it was after so many rounds."""
        model = self._model.first_rounds(int(cut))
        model.n_threads = None  # whoever uses it may have all of them
        return model


class Exits(Trained):
    """Boosted trees that rows leave early; the cuts are thresholds."""

    def __init__(self, model, parameters: Mapping, rule: str, every: int, thresholds) -> None:
        self._options = {"rule": rule, "every": every}
        self._model, self.parameters = model, {**parameters, **self._options}
        self.cuts = [float(f"{t:.6g}") for t in thresholds] if model.n_estimators_ else []

    def follow(self, part: Part) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield predictions and costs at each cut."""
        query = () if part.query is None else (part.query,)
        for cut in self.cuts:
            model = self.model(cut)
            predict = model.ranking_score if query else model.predict
            yield predict(part.X, *query), model.prediction_cost(part.X, *query)

    def model(self, cut: float):
        """Give the model with this threshold."""
        return EarlyExit(self._model, threshold=cut, **self._options)


class Single(Trained):
    """Any class of the user's: one model, one price."""

    def __init__(self, model, parameters: Mapping) -> None:
        self._model, self.cuts, self.parameters = model, [0.0], dict(parameters)

    def follow(self, part: Part) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield what it predicts, and what it says that it costs."""
        yield np.asarray(self._model.predict(part.X)), prediction_cost(self._model, part.X)

    def model(self, cut: float):
        """Give the model."""
        return self._model


# --- training -----------------------------------------------------------------------------------


def _fitted(model, problem: Problem, X=None, **extras):
    part = problem.parts["train"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantModelWarning)
        X = part.X if X is None else X
        return model.fit(X, part.y, sample_weight=part.weight, **extras)


def _one_of(problem: Problem, classifier: type, regressor: type) -> type:
    return classifier if problem.task == "classification" else regressor


def _cegb(problem: Problem, draw: Mapping) -> Trained:
    kind = _one_of(problem, CEGBClassifier, CEGBRegressor)
    options = shape(problem, draw) | {"tradeoff": tradeoff(problem, draw)}
    return Rounds(_fitted(kind(**options, **problem.prices, n_threads=1), problem), options)


def _gbrt_model(problem: Problem, draw: Mapping):
    kind = _one_of(problem, GBRTClassifier, GBRTRegressor)
    return _fitted(kind(**shape(problem, draw), **problem.prices, n_threads=1), problem)


def _gbrt(problem: Problem, draw: Mapping) -> Trained:
    return Rounds(_gbrt_model(problem, draw), shape(problem, draw))


def _greedy_miser(problem: Problem, draw: Mapping) -> Trained:
    """Train a model that pays once for all rows: their price of cost together."""
    kind = _one_of(problem, GreedyMiserClassifier, GreedyMiserRegressor)
    options = shape(problem, draw)
    options["max_depth"] = max(2, round(np.log2(options.pop("max_leaves"))))
    options["tradeoff"] = tradeoff(problem, draw) * len(problem.parts["train"])
    return Rounds(_fitted(kind(**options, **problem.prices, n_threads=1), problem), options)


def _early_exit(problem: Problem, draw: Mapping) -> Trained:
    model, options = _gbrt_model(problem, draw), shape(problem, draw)
    every = _EXIT_DISTANCES[min(int(draw["u"][4] * len(_EXIT_DISTANCES)), 4)]
    every = min(every, max(1, model.n_estimators_))
    if problem.task == "ranking":
        spread = float(np.std(problem.parts["train"].y))
        thresholds = spread * np.geomspace(0.01, 10, _N_THRESHOLDS)
        return Exits(model, options, "proximity", every, thresholds)
    least = 1 / len(model.classes_)
    shares = 1 - np.geomspace(0.001, 0.98, _N_THRESHOLDS)
    return Exits(model, options, "likelihood", every, least + (1 - least) * shares)


def _lightgbm_options(problem: Problem, draw: Mapping) -> dict[str, Any]:
    options = shape(problem, draw)
    return {
        "learning_rate": options["learning_rate"],
        "num_leaves": options["max_leaves"],
        "min_child_samples": options["min_samples_leaf"],
        "n_estimators": options["n_estimators"],
        "random_state": draw["seed"],
        "deterministic": True,
        "force_col_wise": True,
        "n_jobs": 1,
        "verbosity": -1,
    }


def _lightgbm(problem: Problem, draw: Mapping, **options) -> Trained:
    import lightgbm

    kind = _one_of(problem, lightgbm.LGBMClassifier, lightgbm.LGBMRegressor)
    model = _fitted(kind(**_lightgbm_options(problem, draw), **options), problem, _plain(problem))
    parameters = shape(problem, draw)
    if "cegb_tradeoff" in options:
        parameters["cegb_tradeoff"] = options["cegb_tradeoff"]
    return _metered(from_lightgbm(model, **problem.prices), problem, parameters)


def _lightgbm_cegb(problem: Problem, draw: Mapping) -> Trained:
    """Train with LightGBM's penalties per row ("lazy"); its gain has no 1/2, hence the 2."""
    return _lightgbm(
        problem,
        draw,
        cegb_tradeoff=2 * tradeoff(problem, draw),
        cegb_penalty_feature_lazy=problem.feature_costs.tolist(),
    )


def _lambdarank(problem: Problem, draw: Mapping) -> Trained:
    """Train on the order within queries; how long is chosen on validation queries, as for all."""
    import lightgbm

    part = problem.parts["train"]
    options = _lightgbm_options(problem, draw) | {
        "objective": "lambdarank",
        "label_gain": [2.0**grade - 1 for grade in range(int(part.y.max()) + 1)],
    }
    starts = np.flatnonzero(np.diff(part.query, prepend=part.query[0] - 1))
    sizes = np.diff(starts, append=len(part))
    model = _fitted(lightgbm.LGBMRanker(**options), problem, _plain(problem), group=sizes)
    return _metered(from_lightgbm(model, **problem.prices), problem, shape(problem, draw))


def _catboost(problem: Problem, draw: Mapping) -> Trained:
    import catboost

    options = shape(problem, draw)
    del options["min_samples_leaf"]  # oblivious trees have none
    options["depth"] = max(2, round(np.log2(options.pop("max_leaves"))))
    kind = _one_of(problem, catboost.CatBoostClassifier, catboost.CatBoostRegressor)
    model = kind(
        iterations=options["n_estimators"],
        learning_rate=options["learning_rate"],
        depth=options["depth"],
        random_seed=draw["seed"],
        thread_count=1,
        allow_writing_files=False,
        verbose=0,
    )
    model = _fitted(model, problem, _plain(problem))
    return _metered(from_catboost(model, **problem.prices), problem, options)


def _hist_gradient_boosting(problem: Problem, draw: Mapping) -> Trained:
    options = shape(problem, draw)
    kind = _one_of(problem, HistGradientBoostingClassifier, HistGradientBoostingRegressor)
    model = kind(
        max_iter=options["n_estimators"],
        learning_rate=options["learning_rate"],
        max_leaf_nodes=options["max_leaves"],
        min_samples_leaf=options["min_samples_leaf"],
        early_stopping=False,
        random_state=draw["seed"],
    )
    model = _fitted(model, problem, _plain(problem))
    return _metered(from_scikit_learn(model, **problem.prices), problem, options)


def _plain(problem: Problem) -> np.ndarray:
    """Features without their names, which libraries spell in their own ways."""
    return problem.parts["train"].X.to_numpy()


def _metered(forest, problem: Problem, parameters: Mapping) -> Trained:
    forest.n_threads = 1
    forest.feature_names_in_ = np.array(problem.names, dtype=object)
    return Rounds(forest, parameters)


# --- a class of the user's ----------------------------------------------------------------------


def imported(name: str) -> type:
    """Import ``package.module:Class``.

    Raises
    ------
    ValueError
        If there is no such class, or it lacks ``fit``, ``predict`` or ``prediction_cost``.
    """
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


def _of_the_user(problem: Problem, draw: Mapping) -> Trained:
    kind = imported(draw["method"])
    space = getattr(kind, "search_space", None)
    drawn = {}
    if space:
        (drawn,) = ParameterSampler(space, 1, random_state=draw["seed"])
    accepted = inspect.signature(kind).parameters
    any_name = any(p.kind is p.VAR_KEYWORD for p in accepted.values())
    offered = {**problem.prices, "random_state": draw["seed"]}
    given = {n: v for n, v in offered.items() if v is not None and (any_name or n in accepted)}
    model, part = kind(**given, **drawn), problem.parts["train"]
    extras = {"sample_weight": part.weight, "query_id": part.query}
    takes = inspect.signature(model.fit).parameters
    extras = {n: v for n, v in extras.items() if v is not None and n in takes}
    model.fit(part.X, part.y, **extras)
    return Single(model, {name: str(value) for name, value in drawn.items()})


# --- the list -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes
    ----------
    slug, label : str
        Its name in tables and in the picture.
    train : callable
        ``(problem, draw) -> Trained``.
    tasks : tuple of str
        What it can do.
    library : str or None
        Package that it needs.
    knows_groups : bool
        Whether it can train where features are acquired together.
    allow_nan : bool
        Whether it supports missing values.
    cut : str
        What its cuts are: ``rounds`` or ``threshold``.
    """

    slug: str
    label: str
    train: Callable[[Problem, Mapping], Trained]
    tasks: tuple[str, ...] = ("classification", "regression", "ranking")
    library: str | None = None
    knows_groups: bool = True
    allow_nan: bool = True
    cut: str = "rounds"

    def installed(self) -> bool:
        """Whether its library is there."""
        return self.library is None or importlib.util.find_spec(self.library) is not None


METHODS = {
    method.slug: method
    for method in (
        Method("cegb", "CEGB", _cegb),
        Method("greedy_miser", "Greedy Miser", _greedy_miser),
        Method(
            "early_exit",
            "Early exit from GBRT",
            _early_exit,
            ("classification", "ranking"),
            allow_nan=False,
            cut="threshold",
        ),
        Method("gbrt", "GBRT (ignores costs)", _gbrt),
        Method("lightgbm", "LightGBM (ignores costs)", _lightgbm, library="lightgbm"),
        Method(
            "lightgbm_cegb",
            "LightGBM, its CEGB, per row",
            _lightgbm_cegb,
            library="lightgbm",
            knows_groups=False,
        ),
        Method(
            "lightgbm_lambdarank",
            "LightGBM, lambdarank (ignores costs)",
            _lambdarank,
            ("ranking",),
            library="lightgbm",
        ),
        Method("catboost", "CatBoost (ignores costs)", _catboost, library="catboost"),
        Method(
            "hist_gradient_boosting",
            "scikit-learn HGB (ignores costs)",
            _hist_gradient_boosting,
        ),
    )
}


def method_of(slug: str) -> Method:
    """Give a method of the list, or the class of the user's that ``package:Class`` names."""
    if ":" in slug:
        return Method(slug, slug.partition(":")[2], _of_the_user, cut="")
    return METHODS[slug]
