"""How far a strategy's edge is from the best one there is, round by round, on pixels."""

from __future__ import annotations

import numpy as np

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.adaptive_sampling import Laminating
from algorithms.feature_sampling import UniformNaive
from algorithms.stumps.pair_weights import sample_by_weight
from algorithms.stumps.sampling import Problem, Proposal, Sampler
from experiments.cell import Cell, rounded


class FewExamples(Sampler):
    """All features on a small sample of the examples; the one that looks best is taken."""

    def __init__(self, n_examples: int) -> None:
        self.n_examples = n_examples

    def propose(self, problem: Problem) -> Proposal:
        """Choose one feature."""
        features = problem.all_features()
        rows, signed = sample_by_weight(problem.weights, self.n_examples, problem.rng)
        best = int(np.argmax(problem.edges(features, rows, signed)))
        return Proposal(features[best : best + 1], len(features) * self.n_examples)


class Watched(Sampler):
    """Another sampler, and beside what it proposes the best edge of all features.

    The search of all features is not part of the strategy: it follows the strategy's own choice,
    takes no random number, and is not counted as its cost.
    """

    def __init__(self, sampler: Sampler) -> None:
        self.sampler = sampler

    def __deepcopy__(self, memo: dict) -> Watched:
        """Return itself: the estimator fits a copy, and what that saw is to be read."""
        return self

    def begin(self, problem: Problem) -> None:
        """Get both ready."""
        self.sampler.begin(problem)
        self.best, self.found, self.paper_cost = [], [], []

    def propose(self, problem: Problem) -> Proposal:
        """Choose as the watched sampler does, and keep the true edges."""
        proposal = self.sampler.propose(problem)
        features = problem.all_features()
        edges = problem.search(features).edges
        proposed = edges[np.searchsorted(features, proposal.features)]
        self.best.append(int(edges.max()) / problem.weights.total)
        self.found.append(int(proposed.max()) / problem.weights.total)
        self.paper_cost.append(proposal.paper_cost)
        return proposal

    def update(self, feature: int, edge: float) -> None:
        """Pass on what was taken."""
        self.sampler.update(feature, edge)


def strategy(name: str, n_passes: int, n_samples: int, n_features: int):
    """Return a sampler with the first Q and S it looks at."""
    cost = n_passes * n_samples
    if name == "uniform_naive":
        return UniformNaive(), n_passes, n_samples
    if name == "uniform_examples":
        S = max(1, round(cost / n_features))
        return FewExamples(S), n_features, S
    # As many halvings as there are: Q·S·⌊log2 Q⌋ is the largest within the cost.
    S = max(1, cost // (n_features * (n_features.bit_length() - 1)))
    return Laminating(n_features=n_features, n_examples=S, ties="spread"), n_features, S


def run_cell(cell: Cell, images) -> list[dict]:
    """Boost with one strategy and watch it.

    Parameters
    ----------
    cell : Cell
        Its parameters: "passes" and "rounds".
    images : ImageSet
        Its training images; each pixel is a feature.

    Returns
    -------
    list of dict
        For each round the edge of the stump that was taken, and how much larger the best one is.
    """
    X = np.ascontiguousarray(images.train.reshape(len(images.train), -1).T).T
    n_samples, n_features = X.shape
    passes = cell.params["passes"]
    sampler, Q, S = strategy(cell.algorithm, passes, n_samples, n_features)
    watched = Watched(sampler)
    model = AdaBoostMH(
        n_estimators=cell.params["rounds"],
        sampler=watched,
        max_cost=passes,
        random_state=cell.seed,
        n_threads=1,
    )
    model.fit(X, images.y_train)
    return [
        {
            "passes": passes,
            "round": t + 1,
            "n_features": Q,
            "n_examples": S,
            "cost": watched.paper_cost[t],
            "edge": rounded(watched.found[t]),
            "difference": rounded(watched.best[t] - watched.found[t]),
        }
        for t in range(cell.params["rounds"])
    ]
