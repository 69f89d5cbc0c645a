"""What a method is: how it is trained, and what it can serve.

A method trains a model on a *draw*, numbers between 0 and 1 that are the same for all methods, and
gives a :class:`experiments.methods.trained.Trained` with the *cuts* at which it can be used. A draw
may name the columns that the model is to use, and has a λ (``tradeoff``) for methods that take one.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata

from experiments.methods.facts import Facts
from experiments.methods.problem import Problem
from experiments.methods.trained import Trained

Train = Callable[[Problem, Mapping], Trained]
ALL = ("classification", "regression", "ranking")
_GIVEN = ("answers", "scores", "likelihoods")
CLASSES, RANKED = ("classification",), ("classification", "ranking")


@dataclass(frozen=True)
class Method:
    """One method, and what it can serve."""

    slug: str  # Its name in tables; what people read is in :mod:`experiments.looks`
    train: Train
    tasks: tuple[str, ...] = ALL
    library: str | None = None  # Package that it needs
    allow_nan: bool = True
    most_classes: int | None = None
    # Why it cannot serve all the same; an empty text if it can
    unfit: Callable[[Facts], str] | None = None
    ours: bool = False  # Whether the suite itself trains it: then it must not fail
    has_tradeoff: bool = False  # Whether it has a λ, a price of cost in loss
    has_budget: bool = False  # Whether it can be told a budget, of all its features together
    # Whether it is nothing but features taken first: every method of ``compare`` has those, too
    chooses_features: bool = False
    ranks_within_queries: bool = False  # Whether its models rank by ``ranking_score(X, query)``
    # Whether it takes the table's own columns, text as categories, where the draw says so
    takes_categories: bool = False
    # The most that its models say of a row's classes: "answers", "scores" or "likelihoods"
    gives: str = "likelihoods"

    @property
    def of_the_user(self) -> bool:
        """Whether it is a class of the user's."""
        return ":" in self.slug

    def __call__(self, problem: Problem, draw: Mapping) -> Trained:
        """Train a draw."""
        return self.train(problem, draw)

    def installed(self) -> bool:
        """Whether its library is there."""
        return self.library is None or importlib.util.find_spec(self.library) is not None

    def its_version(self) -> dict[str, str]:
        """Give its library's version by name, which results depend on; nothing without one."""
        if self.library is None:
            return {}
        return {self.library: _version(self.library)}

    def why_not(self, facts: Facts) -> str:
        """Say in a few words why it cannot be trained on a problem; an empty text if it can."""
        if facts.task not in self.tasks:
            return f"not for {facts.task}"
        if not self.installed():
            return f"{self.library} is not installed (make setup-peers)"
        if facts.some_missing and not self.allow_nan:
            return "it does not support missing values"
        if _GIVEN.index(self.gives) < _GIVEN.index(facts.asks):
            return f"it gives no {facts.asks}, which the metric asks for"
        if self.most_classes is not None and facts.n_classes > self.most_classes:
            return f"it tells {self.most_classes} classes apart, and there are {facts.n_classes}"
        return self.unfit(facts) if self.unfit else ""


@functools.cache
def _version(library: str) -> str:
    """Version of the package that a library comes in, which may have another name."""
    (package,) = set(metadata.packages_distributions()[library])
    return metadata.version(package)


def method(tasks: tuple[str, ...] = ALL, **facts) -> Callable[[Train], Method]:
    """Make the function below it a method of its name, with what :class:`Method` says of it."""
    return lambda train: Method(train.__name__, train, tasks, **facts)


def our_method(tasks: tuple[str, ...] = ALL, **facts) -> Callable[[Train], Method]:
    """Make it one that the suite itself trains."""
    return method(tasks, ours=True, **facts)
