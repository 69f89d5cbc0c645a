"""Boosted stumps, or trees of them, as files, with the samplers that they were trained with.

A sampler of this package is written as the name of its class and its parameters. Of any other
object nothing can be written: the model is saved without it, and says so. What is read is checked
as that of boosted trees is (:mod:`algorithms.estimators.files`).
"""

from __future__ import annotations

import warnings

import numpy as np

from ..costs import by_column, check_split_cost
from ..estimators.files import (
    SavedModel,
    entry,
    known_classes,
    n_score_columns,
    plain,
    stored_parameter,
)
from ..trees.forest import check_forest
from .boosting import Stumps
from .hamming_trees import HammingTrees
from .sampling import Problem, Sampler

# Dtype and dimensions of each array: what happened in training, stumps, and trees.
_HISTORY = {
    "log_train_loss_": (np.float64, "rounds"),
    "train_loss_": (np.float64, "rounds"),
    "sampling_cost_": (np.int64, "rounds", "sampling costs"),
    "family_rows_": (np.int64, "rounds", "families"),
}
_STUMPS = {
    "feature": (np.int64, "rounds"),
    "threshold": (np.float64, "rounds"),
    "votes": (np.int8, "rounds", "scores"),
    "alpha": (np.float64, "rounds"),
    "edge": (np.float64, "rounds"),
}
_TREES = {
    "tree": (np.int64, "rounds + 1"),
    "feature": (np.int32, "nodes"),
    "threshold": (np.float64, "nodes"),
    "left": (np.int32, "nodes"),
    "depth": (np.int32, "nodes"),
    "votes": (np.int8, "nodes", "scores"),
    "alpha": (np.float64, "rounds"),
    "edge": (np.float64, "rounds"),
}
_LEARNERS = {"stump": _STUMPS, "hamming_tree": _TREES}


class ForgottenSampler(Sampler):
    """In the place of a sampler that a file does not hold; a model can predict with it, not be fit.

    Parameters
    ----------
    description : str
        Class of the sampler that was.
    """

    def __init__(self, description: str) -> None:
        self.description = description

    def check_parameters(self) -> None:
        """Check that the description is one."""
        if not isinstance(self.description, str):
            raise ValueError("the description of a sampler must be text")

    def begin(self, problem: Problem) -> None:
        """Refuse."""
        raise ValueError(
            f"The sampler of this model was an object of class {self.description}, which its file "
            "does not hold: set_params(sampler=…) before fit."
        )


def known_samplers() -> dict[str, type[Sampler]]:
    """Samplers of this package that a file may name, by the names of their classes."""
    return known_classes(Sampler)


def stored_sampler(sampler: str | object | list) -> str | dict | list:
    """The parameter `sampler` as JSON can hold it."""
    if isinstance(sampler, str):
        return sampler
    if isinstance(sampler, list | tuple):
        return [stored_sampler(one) for one in sampler]
    kind = type(sampler)
    if known_samplers().get(kind.__name__) is kind:
        try:
            parameters = {
                name: plain(name, v) for name, v in sampler.get_params(deep=False).items()
            }
            return {"class": kind.__name__, "parameters": parameters}
        except ValueError:
            pass
    description = f"{kind.__module__}.{kind.__qualname__}"
    warnings.warn(
        f"A file cannot hold the sampler, an object of class {description}: the loaded model "
        "predicts, but is to be given a sampler before it is fitted again.",
        UserWarning,
        stacklevel=2,
    )
    return {"class": ForgottenSampler.__name__, "parameters": {"description": description}}


def restored_sampler(stored: str | dict | list) -> str | object | list:
    """The parameter `sampler` from what a file holds."""
    if isinstance(stored, str):
        return stored
    if isinstance(stored, list):
        if any(isinstance(one, list) for one in stored):
            raise ValueError("a list of samplers cannot hold a list")
        return [restored_sampler(one) for one in stored]
    if not isinstance(stored, dict):
        raise ValueError("a sampler must be a name, an object or a list of them")
    name = entry(stored, "class", str, "the name of a class")
    parameters = entry(stored, "parameters", dict, "an object")
    cls = known_samplers().get(name)
    try:
        sampler = cls(**parameters)
    except TypeError:  # no such class, or no such parameter
        raise ValueError(
            f"The sampler {name} was saved by a newer version of this package, or by another"
        ) from None
    sampler.check_parameters()
    return sampler


def check_stumps(stumps: Stumps, n_features: int, n_labels: int) -> None:
    """Check all that predictions and the cost meter rely on, of stumps from a file."""
    if np.any(stumps.feature < -1) or np.any(stumps.feature >= n_features):
        raise ValueError(f"a stump tests a feature beyond the {n_features} there are")
    if stumps.votes.shape[1] != n_labels or np.any(np.abs(stumps.votes.astype(int)) != 1):
        raise ValueError(f"votes must be -1 or 1 for each of the {n_labels} label(s)")
    if not np.all(np.isfinite(stumps.threshold)):
        raise ValueError("threshold of its stumps must be finite")
    _check_rounds(stumps, "stumps")


def check_trees(trees: HammingTrees, n_features: int, n_labels: int) -> None:
    """Check all that predictions and the cost meter rely on, of trees from a file."""
    check_forest(trees.forest(), n_features, np.zeros(1))
    split = trees.left >= 0
    if trees.votes.shape[1] != n_labels:
        raise ValueError(f"votes must be {n_labels} for each node")
    if np.any(trees.votes[split]) or np.any(np.abs(trees.votes[~split].astype(int)) != 1):
        raise ValueError("votes must be -1 or 1 in leaves of its trees, and 0 in split nodes")
    _check_rounds(trees, "trees")


def _check_rounds(learners: Stumps | HammingTrees, name: str) -> None:
    """Check α and the edge of each round."""
    if not np.all(np.isfinite(learners.alpha)):
        raise ValueError(f"alpha of its {name} must be finite")
    if not np.all((learners.edge >= 0) & (learners.edge <= 1)):
        raise ValueError(f"edge of its {name} must be from 0 to 1")
    with np.errstate(over="ignore"):
        total = np.sum(np.abs(learners.alpha))
    if not total <= np.finfo(np.float64).max / 4:
        raise ValueError(f"alpha of its {name} is so large that scores are no finite numbers")


def _kind_of_learners(header: dict) -> str:
    """Kind of what was boosted; files from before there were trees do not say it."""
    if "learners" not in header:
        return "stump"
    kind = entry(header, "learners", str, "the name of a weak learner")
    if kind not in _LEARNERS:
        raise ValueError(f"its weak learners are of a kind unknown here, {kind!r:.80}")
    return kind


class SavedStumps(SavedModel):
    """Files of an estimator of boosted stumps, or of trees of them; a mixin."""

    @classmethod
    def _array_kinds(cls, header: dict):
        return _HISTORY | _LEARNERS[_kind_of_learners(header)], frozenset()

    def _stored(self) -> tuple[dict, dict[str, np.ndarray]]:
        trees = hasattr(self, "trees_")
        header = {
            "best_sampler": getattr(self, "best_sampler_", None),
            "learners": "hamming_tree" if trees else "stump",
        }
        learners = self.trees_ if trees else self.stumps_
        return header, {name: getattr(self, name) for name in _HISTORY} | learners._asdict()

    def _restore(self, header: dict, arrays: dict[str, np.ndarray]) -> None:
        kind = _kind_of_learners(header)
        learners = {name: arrays[name] for name in _LEARNERS[kind]}
        size = self.n_features_in_, n_score_columns(self)
        if kind == "stump":
            self.stumps_ = Stumps(**learners)
            check_stumps(self.stumps_, *size)
        else:
            self.trees_ = HammingTrees(**learners)
            check_trees(self.trees_, *size)
        self.n_estimators_ = len(learners["alpha"])
        if len(self.classes_) == 1 and self.n_estimators_:
            raise ValueError(f"a model of one class can have no {kind.replace('_', ' ')}s")
        for name in _HISTORY:
            setattr(self, name, arrays[name])
        if self.sampling_cost_.shape[1] != 2 or self.family_rows_.shape[1] < 1:
            raise ValueError("sampling_cost_ must have two columns, family_rows_ at least one")
        best = entry(header, "best_sampler", int | None, "a whole number or null")
        if best is not None:
            if not 0 <= best < 2**31:
                raise ValueError("best_sampler in its header must be a place in a list")
            self.best_sampler_ = best

    def _check_restored(self) -> None:
        self._check_all_parameters()
        if by_column(self):
            self._grid_prices()
        check_split_cost(self.split_cost)

    def _stored_params(self) -> dict:
        names = [name for name in self._get_param_names() if name != "sampler"]
        stored = {name: stored_parameter(self, name) for name in names}
        return stored | {"sampler": stored_sampler(self.sampler)}

    @staticmethod
    def _restored_params(params: dict) -> dict:
        if "sampler" not in params:
            raise ValueError("its header lacks the sampler")
        return params | {"sampler": restored_sampler(params["sampler"])}
