"""What the boosting loop and a sampler say to each other, and the meter of what samplers look at.

A sampler is an object with three methods that the boosting loop calls: ``begin`` once, ``propose``
and ``update`` in every round. A new way to sample is one class. What it evaluates it evaluates
through :class:`Problem`, which counts, so that cost is metered alike for all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from .pair_weights import PairWeights, Sample, sample_by_weight
from .search import DefaultCodes, Leaves, Search, label_edges, search


class Proposal(NamedTuple):
    """Features to search on all examples.

    Attributes
    ----------
    features : ndarray of int
        Distinct features.
    paper_cost : int
        Evaluations of a feature on an example as the paper counts them (section 6.5).
    """

    features: np.ndarray
    paper_cost: int


class Meter:
    """Counts evaluations, and the rows that ask for a family of features for the first time."""

    def __init__(self, families: list[np.ndarray], n_features: int, n_samples: int) -> None:
        self.evaluations = 0
        self.family_rows = np.zeros(len(families), dtype=np.int64)
        self._n_samples = n_samples
        self._family_of = np.empty(n_features, dtype=np.int64)
        for k, family in enumerate(families):
            self._family_of[family] = k
        self._seen: dict[int, np.ndarray] = {}
        self._all_seen = False  # all rows have asked for all families: nothing is new any more

    def count(self, features: np.ndarray, rows: np.ndarray | None) -> None:
        """Count the evaluation of features on a sample of the rows, or on all of them (None)."""
        n_rows = self._n_samples if rows is None else len(rows)
        for k in self._new_to(features, n_rows):
            self.family_rows[k] = self._n_samples if rows is None else self._seen_with(rows, k)

    def count_told(self, features: np.ndarray, n_rows: int, family_rows: np.ndarray) -> None:
        """Count the evaluation of features on a sample of rows that lie elsewhere."""
        for k in self._new_to(features, n_rows):
            self.family_rows[k] = family_rows[k]

    def _new_to(self, features: np.ndarray, n_rows: int) -> list[int]:
        """Count evaluations; give the families of which not all rows have asked before."""
        self.evaluations += len(features) * n_rows
        if n_rows == 0 or self._all_seen:
            return []
        families = np.unique(self._family_of[features])
        new = families[self.family_rows[families] < self._n_samples]
        if len(new) == 0:
            self._all_seen = bool((self.family_rows == self._n_samples).all())
        return new.tolist()

    def _seen_with(self, rows: np.ndarray, family: int) -> int:
        seen = self._seen.setdefault(family, np.zeros(self._n_samples, dtype=bool))
        seen[rows] = True
        return np.count_nonzero(seen)


@dataclass
class Problem:
    """What a sampler may look at.

    Attributes
    ----------
    columns : ndarray of shape (n_features, n_samples), uint8
        Training features, one row each.
    defaults : DefaultCodes
        Of the columns.
    families : list of ndarray of int
        Disjoint subsets of the features, each ascending.
    max_cost : float
        What a round may cost as the paper counts, in passes of one feature over all examples.
    n_rounds : int
        Rounds T of the training.
    weights : PairWeights
        Boosting weights of the current round.
    rng : numpy.random.Generator
        The only source of randomness.
    n_threads : int
    meter : Meter
        Of all evaluations.
    n_features, n_samples : int
        Number of columns, and N of examples.
    """

    columns: np.ndarray
    defaults: DefaultCodes
    families: list[np.ndarray]
    max_cost: float
    n_rounds: int
    weights: PairWeights
    rng: np.random.Generator
    n_threads: int
    meter: Meter = field(init=False)
    n_features: int = field(init=False)
    n_samples: int = field(init=False)

    def __post_init__(self) -> None:
        self._set_up(*self.columns.shape)

    def _set_up(self, n_features: int, n_samples: int) -> None:
        self.n_features, self.n_samples = n_features, n_samples
        self.meter = Meter(self.families, n_features, n_samples)
        # Searches of this round on all examples: when, edge and cut of each feature.
        self._round = 0
        self._searched = np.full(n_features, -1, dtype=np.int64)
        self._edges = np.empty(n_features, dtype=np.int64)
        self._cuts = np.empty(n_features, dtype=np.int64)

    @property
    def n_passes(self) -> int:
        """Features that the cost of a round pays for on all examples: Q, at least 1."""
        return max(1, int(self.max_cost))

    def all_features(self) -> np.ndarray:
        """Features of all families, ascending."""
        return np.sort(np.concatenate(self.families))

    def next_round(self) -> None:
        """Forget the searches of this round: the weights have changed."""
        self._round += 1

    def search(self, features: np.ndarray) -> Search:
        """Best cut of each of the features on all examples, with the boosting weights.

        What was searched in this round is neither searched nor counted again.

        Parameters
        ----------
        features : ndarray of int
            Distinct.

        Returns
        -------
        Search
            See :func:`algorithms.stumps.search`.
        """
        is_new = self._searched[features] != self._round
        all_new = is_new.all()
        new = features if all_new else features[is_new]
        if len(new):
            self.meter.count(new, None)
            searched = self._searched_now(new)
            self._edges[new], self._cuts[new] = searched
            self._searched[new] = self._round
            if all_new:
                return searched
        return Search(self._edges[features], self._cuts[features])

    def _searched_now(self, features: np.ndarray) -> Search:
        signed, total = self.weights.signed, self.weights.totals
        defaults = self.defaults.of(features)
        return search(
            self.columns, features, signed, self.n_threads, defaults=defaults, total=total
        )

    def edges(
        self, features: np.ndarray, rows: Any | None = None, signed: NDArray[np.int32] | None = None
    ) -> np.ndarray:
        """Edge of the best stump on each feature (or the constant vote's), in grid steps.

        Parameters
        ----------
        features : ndarray of int
            Distinct.
        rows : ndarray of int, optional
            A sample of the examples, repeated or in any order; all of them if not given.
        signed : ndarray of shape (n_rows, n_lanes), int32, optional
            Weight times label of the sample; the boosting weights themselves if not given.

        Returns
        -------
        ndarray of shape (n_searched,), int64

        Raises
        ------
        ValueError
            If weights are given without the rows they belong to.
        """
        if rows is None:
            if signed is not None:
                raise ValueError("`signed` belongs to a sample: give its rows too.")
            return self.search(features).edges
        if signed is None:
            signed = self.weights.signed[rows]
        self.meter.count(features, rows)
        defaults = self.defaults.of(features)
        searched = search(self.columns, features, signed, self.n_threads, rows, defaults)
        return searched.edges

    def sample(self, size: int, by_weight: bool) -> Sample:
        """Draw examples with replacement.

        Parameters
        ----------
        size : int
        by_weight : bool
            By boosting weight, see :func:`.pair_weights.sample_by_weight`, or uniformly, with the
            weights that they have.
        """
        if by_weight:
            return sample_by_weight(self.weights, size, self.rng)
        rows = self.rng.integers(self.n_samples, size=size)
        rows.sort()
        return Sample(rows, self.weights.signed[rows])

    def edges_on(self, sample: Sample | None, features: np.ndarray) -> np.ndarray:
        """Edge of the best stump on each feature, on a sample or (None) on all examples.

        See :meth:`edges`.
        """
        return self.edges(features) if sample is None else self.edges(features, *sample)

    def label_edges(self, feature: int, cut: int) -> np.ndarray:
        """Edge of each label for the best stump on a feature that was searched in this round.

        Parameters
        ----------
        feature, cut : int
            As :meth:`search` gave them.

        Returns
        -------
        ndarray of shape (n_labels,), int64
        """
        edges = np.empty_like(self.weights.totals)
        label_edges(self.columns[feature], cut, self.weights.signed, edges)
        return edges[: self.weights.n_labels]

    def add(self, feature: int, cut: int, steps: np.ndarray) -> None:
        """Add a stump to the scores and weigh the examples anew.

        Parameters
        ----------
        feature : int
            -1 is a constant vote; its `cut` is -1.
        cut : int
        steps : ndarray of shape (n_labels,), float64
            α times the votes, of codes above the cut.
        """
        self.weights.add(self.columns[max(feature, 0)], cut, steps)

    def leaves(self) -> Leaves:
        """Give the rows of a tree that is to be grown; all are in its root."""
        return Leaves(self.columns, self.defaults, self.weights.signed, self.n_threads)

    def add_tree(self, leaves: Leaves, steps: np.ndarray) -> None:
        """Add a tree to the scores and weigh the examples anew.

        Parameters
        ----------
        leaves : Leaves
        steps : ndarray of shape (n_nodes, n_labels), float64
            α times the votes.
        """
        self.weights.add_tree(leaves.leaf_of(), steps)


class Sampler(BaseEstimator):
    """Base of the samplers: what the boosting loop calls.

    A subclass keeps the arguments of its constructor as attributes of the same names, as
    scikit-learn has it, so that `sampler__scale` can be set and searched over.

    Attributes
    ----------
    for_one_stump : bool
        Whether a proposal is what the best stump of the round is sought among, and nothing that a
        tree could be grown of.
    """

    for_one_stump = False

    def check_parameters(self) -> None:
        """Check what the constructor was given, as far as that needs no data.

        `begin` calls it, and so does whoever reads the sampler from a file.

        Raises
        ------
        ValueError
            If a parameter has a value that no problem allows.
        """

    def begin(self, problem: Problem) -> None:
        """Get ready; called once, before the first round.

        Parameters
        ----------
        problem : Problem
            Its weights are those before the first round.

        Raises
        ------
        ValueError
            If the sampler's parameters do not fit the problem.
        """

    def propose(self, problem: Problem) -> Proposal:
        """Choose the features of a round, of which the best stump is taken, or a tree is grown.

        Parameters
        ----------
        problem : Problem
            With the weights of this round. What is evaluated by its `search` and `edges` is
            counted; random numbers come from its `rng` only.

        Returns
        -------
        Proposal
            At least one feature, none twice: anything else ends the training with a ValueError.
        """
        raise NotImplementedError

    def update(self, feature: int, edge: float) -> None:
        """Learn what came of the proposal.

        Parameters
        ----------
        feature : int
            Feature of the stump that was taken (of a tree its root), -1 for a constant vote.
        edge : float
            Edge ε of the stump or tree on all examples, in [0, 1].
        """


def draw(family: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw distinct features of a family, or give all there are.

    Parameters
    ----------
    family : ndarray of shape (n_family,), int64
    size : int
    rng : numpy.random.Generator
        Not used if all are given.

    Returns
    -------
    ndarray of shape (min(size, n_family),), int64
    """
    if size >= len(family):
        return family
    return family[rng.choice(len(family), size, replace=False)]


def on_all_examples(problem: Problem, features: np.ndarray) -> Proposal:
    """Propose features that cost one pass over all examples each.

    Parameters
    ----------
    problem : Problem
    features : ndarray of int
        Those drawn twice are proposed, and paid for, once.

    Returns
    -------
    Proposal
    """
    features = np.sort(features)
    if (features[1:] == features[:-1]).any():
        features = np.unique(features)
    return Proposal(features, len(features) * problem.n_samples)
