"""The thirteen methods of Tables 1 to 4, in the paper's order, and the data sets of the tables."""

from __future__ import annotations

from dataclasses import dataclass

BASELINE, TASTING, MAS, LAMINATING = "baselines", "Tasting", "M.A.S.", "Laminating"


@dataclass(frozen=True)
class Method:
    """One line of the tables.

    Attributes
    ----------
    key : str
        Name of the sampler, see :class:`algorithms.adaboost_mh.AdaBoostMH`.
    name : str
        As the paper prints it.
    group : str
        What section 6.5 calls it: one of the baselines (sections 6.3 and 6.4), Tasting, M.A.S. or
        Laminating.
    tuned : bool
        Trained many times, of which the smallest final training loss is kept.
    """

    key: str
    name: str
    group: str
    tuned: bool = False


METHODS = (
    Method("best_family", "Best family", BASELINE, tuned=True),
    Method("uniform_naive", "Uniform Naive", BASELINE),
    Method("uniform_1q", "Uniform 1.Q", BASELINE),
    Method("uniform_q1", "Uniform Q.1", BASELINE),
    Method("ucb", "UCB", BASELINE, tuned=True),
    Method("exp3p", "Exp3.P", BASELINE, tuned=True),
    Method("epsilon_greedy", "ε-greedy", BASELINE, tuned=True),
    Method("tasting_1q", "Tasting 1.Q", TASTING),
    Method("tasting_q1", "Tasting Q.1", TASTING),
    Method("mas_naive", "M.A.S. Naive", MAS),
    Method("mas_1q", "M.A.S. 1.Q", MAS),
    Method("mas_q1", "M.A.S. Q.1", MAS),
    Method("laminating", "Laminating", LAMINATING),
)

KEYS = tuple(method.key for method in METHODS)
NAMES = {method.key: method.name for method in METHODS}


def group(*names: str) -> list[str]:
    """Return the keys of all methods of some groups, in the paper's order."""
    return [method.key for method in METHODS if method.group in names]
