"""What of a problem decides which methods can be trained on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.methods.problem import Problem
from experiments.methods.subsets import price_alone

MOST_GRADES = 1_024  # each is a class of a forest
MOST_OF_OPTIMAL = 30  # features of an optimal tree: its search grows with their square, and more
LONGEST_QUERY = 10_000  # LightGBM refuses longer ones
HIGHEST_GRADE = 50  # of which a gain, 2^grade - 1, is exact


@dataclass(frozen=True)
class Facts:
    """What a method may not be able to serve."""

    task: str
    n_classes: int  # Of a classification; else 0
    some_missing: bool
    # weighted, class_weighted: Whether rows have weights of their own, and whether classes have
    weighted: bool
    n_features: int  # Columns of the table
    n_prices: int  # Different prices of single features, those of their groups included
    n_grades: int = 0  # n_grades, longest_query: Of a ranking; else 0
    longest_query: int = 0
    whole_grades: bool = True  # Whether grades are 0, 1, …, 50
    class_weighted: bool = False
    # What the metric asks of a model: "answers", "scores" or "likelihoods" of classes
    asks: str = "answers"

    @classmethod
    def of(cls, problem: Problem) -> Facts:
        """Look at a problem; classes, weights and queries are those of the training rows."""
        train = problem.parts["train"]
        # Of the user's columns: those made of one column of text are a group that nobody gave.
        own = problem.prices if problem.own is None else problem.own.prices
        known = {
            "task": problem.task,
            "n_classes": 0,
            "some_missing": any(
                bool(np.isnan(part.X.to_numpy()).any()) for part in problem.parts.values()
            ),
            "weighted": train.weight is not None,
            "class_weighted": problem.class_weight is not None,
            "n_features": len(own["feature_costs"]),
            "n_prices": len(np.unique(price_alone(problem))),
        }
        if problem.task == "classification":
            return cls(**known | {"n_classes": len(np.unique(train.y))})
        if problem.task == "regression":
            return cls(**known)
        grades = train.y
        whole = (grades >= 0) & (grades == np.rint(grades)) & (grades <= HIGHEST_GRADE)
        return cls(
            **known,
            n_grades=len(np.unique(grades)),
            longest_query=int(np.unique(train.query, return_counts=True)[1].max()),
            whole_grades=bool(whole.all()),
        )


def no_weights(facts: Facts) -> str:
    """Say why a method that draws copies of rows cannot serve."""
    weighted = facts.weighted or facts.class_weighted
    return "it draws copies of rows, and takes no weights" if weighted else ""


def forest_of_grades(facts: Facts) -> str:
    """Say why a forest that votes for grades cannot serve."""
    if facts.n_grades > MOST_GRADES:
        return f"it takes at most {MOST_GRADES:,} different grades"
    return no_weights(facts)


def optimal_tree(facts: Facts) -> str:
    """Say why STreeD's optimal tree cannot serve."""
    if (n := facts.n_features) > MOST_OF_OPTIMAL:
        return f"its search takes too long on {n} columns: {MOST_OF_OPTIMAL} at most"
    return "it takes no weights of rows" if facts.weighted else ""


def lambdarank(facts: Facts) -> str:
    """Say why LightGBM's lambdarank cannot serve."""
    if not facts.whole_grades:
        return f"it needs grades 0, 1, …, {HIGHEST_GRADE}"
    if facts.longest_query > LONGEST_QUERY:
        return f"it takes at most {LONGEST_QUERY:,} rows a query, and one has " + (
            f"{facts.longest_query:,}"
        )
    return ""


def stages_by_price(facts: Facts) -> str:
    """Say why a cascade whose stages are divided by price cannot serve."""
    return "all features have one price, by which its stages differ" if facts.n_prices < 2 else ""
