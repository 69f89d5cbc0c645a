"""AdaBoost.MH with decision stumps, and sampling of features and examples.

C. Dubout, F. Fleuret: Adaptive sampling for large scale boosting. Journal of Machine Learning
Research 15 (2014), pages 1431-1453. The booster is that of R. E. Schapire, Y. Singer: Improved
boosting algorithms using confidence-rated predictions. Machine Learning 37 (1999), pages 297-336.
The ways to sample are in :mod:`reference.feature_sampling` and
:mod:`reference.adaptive_sampling`, weak learners other than stumps in
:mod:`reference.hamming_trees`. Initial weights and smoothing are those of MultiBoost, the program
of D. Benbouzid, R. Busa-Fekete, N. Casagrande, F.-D. Collin, B. Kégl: MultiBoost: a multi-purpose
boosting package. Journal of Machine Learning Research 13 (2012), pages 549-553.

=================  ========================================================================
symbol             name
=================  ========================================================================
T, t               ``n_estimators``; the round
N, n               number of examples; the example
K                  number of labels (columns of ``Y``)
y_nl               ``Y``, -1 or 1: whether example n has label l
f_l(x_n)           ``scores`` (N, K)
w_n                weight of an example in the loss (not in the papers): ``sample_weight``
ω_nl               weight of a pair: ``Weights.ints / Weights.total``, summing to 1
h_l(x)             the votes: ``votes[l]`` if x > ``threshold``, else ``-votes[l]``
ε(h)               the edge: ``edge / Weights.total``
α_t                ``alpha``
s                  ``smoothing``: what is added to both sides of α's fraction, in units of 1/N
F_1, F_2, …        ``families``: disjoint subsets of the columns
=================  ========================================================================

Deliberately absent: confidence-rated votes.

Deviations from the papers, and choices where they are silent

1. Features are columns of 8-bit numbers; every midpoint between two values present is a threshold.
2. Weights are rounded to a grid, at best 2**-30 of the largest, which makes sums exact. They are
   computed from the scores relative to the largest, never by repeated multiplication: however many
   rounds, the largest is 1 and none is lost but those too small to matter.
3. An edge of 1 would give an infinite α: a wrong weight of 0 counts as half a grid step.
4. The constant vote (no feature) is taken unless a stump has a larger edge.
5. A sampler proposes features; the stump (feature, threshold, votes), its edge and α are then found
   on all N examples among those, whatever sample the sampler itself has looked at.
6. A round without any edge has α = 0 and the training goes on: the next may propose better.
7. Two classes are one label, K = 1: with two columns, each the opposite of the other, everything is
   the same at twice the work.
8. Examples may have weights w_n > 0. Whole numbers are copies: the grid is that of all copies, a
   pair's weight is rounded first and then multiplied, so w_n = 3 equals three copies bit for bit.
   Other weights (and those that stand for more than 2**30 pairs) are added to the scores as
   log(w_n / max w): the largest weighted pair is 1, however small its own w_n.
9. ``initial_weights="balanced"`` (MultiBoost's) gives half of w_n to the example's own label and
   shares the other half out over the K - 1 others; "uniform" (the papers') gives each label the
   same. Before the grid the own label counts 1 and each other 1 / (K - 1), so whole w_n are still
   copies. With one label for two classes there is nothing to balance.
10. s = 0 is the papers' α; MultiBoost's is 0.01. N is the sum of the w_n that are copies, else of
    w_n / max w.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from reference.grid import unit_exponent

MOST_COPIES = 2.0**30  # pairs that whole weights may stand for


@dataclass(frozen=True)
class ExampleWeights:
    """What the pairs (N, K) count if every f is 0: ``counts[:, None] * exp(logs)``.

    The largest is 1, or its example's copies. ``total`` is N of the smoothing, and the pairs of an
    example weigh ``per_example`` times what its largest does: K, or 2 if they are balanced.
    """

    counts: np.ndarray
    logs: np.ndarray
    total: float
    per_example: int


@dataclass(frozen=True)
class Weights:
    """Weights of the pairs on their grid: pair (n, l) weighs ``ints[n, l] / total``.

    ``shift`` is the largest of log w - y f: ``ints * 2**-exponent * exp(shift)`` is w exp(-y f).
    ``n_pairs`` is what all pairs weigh if every f is 0: N K without any weights.
    """

    ints: np.ndarray
    total: int
    exponent: int
    shift: float
    n_pairs: float


@dataclass(frozen=True)
class Stump:
    """A weak learner. A constant vote has ``feature`` = -1 and a threshold of 0."""

    feature: int
    threshold: float
    votes: np.ndarray


@dataclass(frozen=True)
class WeakLearner:
    """A kind of weak learner h: three functions.

    ``best(X, signed, features) -> (edge, h)`` is the best on some features, ``responses(h, X)``
    gives its votes (N, K), and ``stumps_of(h)`` the stumps that it is made of, the first one first.
    """

    best: Callable
    responses: Callable
    stumps_of: Callable = lambda h: [h]


@dataclass(frozen=True)
class Problem:
    """What a sampler knows before the first round; ``max_cost`` is in passes over all N."""

    X: np.ndarray
    Y: np.ndarray
    families: list[np.ndarray]
    max_cost: float
    n_rounds: int


@dataclass(frozen=True)
class Proposal:
    """Features to search on all N examples, and what it took to find them.

    ``paper_cost`` is in evaluations of a feature on an example, as the paper counts them (section
    6.5); ``looks`` are the (features, rows) that the sampler itself evaluated, None for all rows.
    """

    features: np.ndarray
    paper_cost: int
    looks: tuple = ()


@dataclass(frozen=True)
class Sampler:
    """A way to sample: three functions that hand a state on.

    ``begin(problem, rng) -> state``; ``propose(state, weights, rng) -> (proposal, state)``;
    ``update(state, stump, edge) -> state`` with the stump taken (the first one of a tree) and the
    edge ε of the weak learner. A further method is one function that returns such a record.
    Nothing watches what it evaluates: it has to be in the proposal's ``looks``, which the tests
    compare with what the numba version's meter counts.
    """

    begin: Callable
    propose: Callable
    update: Callable = lambda state, stump, edge: state


@dataclass(frozen=True)
class Decision:
    """One round as it was decided.

    The first stump of the weak learner, and its ``n_stumps``; ``edge`` is ε of the weak learner;
    ``features`` are those proposed; costs are numbers of (feature, example)
    evaluations, as the paper counts and all; ``family_rows`` are the examples for which a family
    was computed for the first time; ``log_loss`` is the natural logarithm of the loss after the
    round.
    """

    round: int
    feature: int
    threshold: float
    votes: tuple[int, ...]
    edge: float
    alpha: float
    log_loss: float
    features: tuple[int, ...]
    paper_cost: int
    evaluations: int
    family_rows: tuple[int, ...]
    n_stumps: int = 1


@dataclass(frozen=True)
class Model:
    """A fitted classifier f = Σ α_t h_t; ``stumps`` are its h_t, stumps or what else they are."""

    stumps: list
    alphas: list[float]
    trace: list[Decision] = field(default_factory=list)
    weak_learner: WeakLearner = field(default_factory=lambda: STUMPS)


# --- Weights and loss ----------------------------------------------------------------------


def initial_logs(Y: np.ndarray, initial_weights: str) -> np.ndarray:
    """Logarithms (N, K) of the pairs' weights within an example, of which the largest is 1."""
    K = Y.shape[1]
    if initial_weights == "uniform" or K == 1:
        return np.zeros(Y.shape)
    return np.where(Y > 0, 0.0, -np.log(K - 1.0))


def example_weights(
    sample_weight: np.ndarray | None, Y: np.ndarray, initial_weights: str = "uniform"
) -> ExampleWeights:
    """Weights of the examples (N,), all positive, as numbers of copies or as logarithms."""
    N, K = Y.shape
    initial = initial_logs(Y, initial_weights)
    per_example = K if initial_weights == "uniform" or K == 1 else 2
    w = np.ones(N) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if np.all(w == np.rint(w)) and K * math.fsum(w) <= MOST_COPIES:
        return ExampleWeights(w.astype(np.int64), initial, int(np.sum(w)), per_example)
    logs = (np.log(w) - np.log(np.max(w)))[:, None] + initial
    return ExampleWeights(np.ones(N, dtype=np.int64), logs, math.fsum(w / np.max(w)), per_example)


def pair_weights(
    scores: np.ndarray, Y: np.ndarray, examples: ExampleWeights | None = None
) -> Weights:
    """Weights ω_nl ∝ w_n exp(-y_nl f_l(x_n)) of the pairs, (N, K)."""
    if examples is None:
        examples = example_weights(None, Y)
    losing = examples.logs - Y * scores
    shift = float(np.max(losing))
    exponent = unit_exponent(int(np.sum(examples.counts)) * Y.shape[1])
    ints = np.rint(np.ldexp(np.exp(losing - shift), exponent)).astype(np.int64)
    ints = examples.counts[:, None] * ints
    n_pairs = examples.total * examples.per_example
    return Weights(ints, int(np.sum(ints)), exponent, shift, n_pairs)


def log_loss(weights: Weights) -> float:
    """Logarithm of the mean of exp(-y f) over all pairs, each counting as it does initially."""
    mean = math.ldexp(weights.total / weights.n_pairs, -weights.exponent)
    return float(np.log(mean)) + weights.shift


# --- Weak learners -------------------------------------------------------------------------


def label_edges(phi: np.ndarray, signed: np.ndarray) -> np.ndarray:
    """Σ_n ω_nl y_nl φ(x_n) for each label: ``signed`` is ω y (n, K), φ is -1 or 1 (n,)."""
    return np.sum(phi[:, None] * signed, axis=0)


def constant_vote(signed: np.ndarray) -> tuple[int, Stump]:
    """Edge (in grid steps) and votes of the best weak learner that looks at nothing."""
    edges = label_edges(np.ones(len(signed), dtype=np.int64), signed)
    return int(np.sum(np.abs(edges))), Stump(-1, 0.0, np.where(edges >= 0, 1, -1))


def best_threshold(x: np.ndarray, signed: np.ndarray) -> tuple[int, float, np.ndarray]:
    """Best stump on one feature: its edge, threshold (the lowest among equals), and votes.

    The vote for a label is the sign of its edge; (-1, 0, no votes) if x is constant.
    """
    best = -1, 0.0, np.zeros(0, dtype=np.int64)
    values = np.unique(x).astype(np.float64)
    for threshold in 0.5 * (values[:-1] + values[1:]):
        edges = label_edges(np.where(x > threshold, 1, -1), signed)
        edge = int(np.sum(np.abs(edges)))  # Eq. (1), with the sign of each label its best
        if edge > best[0]:
            best = edge, float(threshold), np.where(edges >= 0, 1, -1)
    return best


def best_stump(X: np.ndarray, signed: np.ndarray, features) -> tuple[int, Stump]:
    """Best weak learner on any of the features, the lowest among equals; else a constant vote."""
    best, stump = constant_vote(signed)
    for m in sorted(features):
        edge, threshold, votes = best_threshold(X[:, m], signed)
        if edge > best:
            best, stump = edge, Stump(int(m), threshold, votes)
    return best, stump


def estimated_edges(X: np.ndarray, signed: np.ndarray, features) -> np.ndarray:
    """Edge of the best weak learner on each feature (or of the constant vote, if larger)."""
    least = constant_vote(signed)[0]
    return np.array([max(least, best_threshold(X[:, m], signed)[0]) for m in features])


def alpha_of(edge: int, total: int, smoothing: float = 0.0, n: float = 1.0) -> float:
    """α = ½ log((ε₊ + s/N) / (ε₋ + s/N)), ε± = (1 ± ε) / 2; edge and total in grid steps."""
    added = 2 * smoothing * total / n if smoothing > 0 else 0
    return 0.5 * float(np.log((total + edge + added) / max(total - edge + added, 1)))


def responses(stump: Stump, X: np.ndarray) -> np.ndarray:
    """Votes h (N, K) of a weak learner."""
    above = (
        np.ones(len(X), dtype=bool) if stump.feature < 0 else X[:, stump.feature] > stump.threshold
    )
    return np.where(above, 1, -1)[:, None] * stump.votes


STUMPS = WeakLearner(best_stump, responses)


# --- Costs of training -----------------------------------------------------------------------


def n_evaluations(looks, n_samples: int) -> int:
    """Count evaluations of a feature on an example in a round.

    A feature that was evaluated on all examples is not evaluated on them again.
    """
    on_all = {int(m) for features, rows in looks if rows is None for m in features}
    sampled = sum(len(features) * len(rows) for features, rows in looks if rows is not None)
    return len(on_all) * n_samples + sampled


def look_at(seen: np.ndarray, looks, families) -> np.ndarray:
    """Mark in ``seen`` (K, N) which examples have met a family; how many are new, (K,)."""
    before = np.sum(seen, axis=1)
    for features, rows in looks:
        for k, family in enumerate(families):
            if np.any(np.isin(features, family)):
                seen[k, slice(None) if rows is None else rows] = True
    return np.sum(seen, axis=1) - before


# --- Boosting ------------------------------------------------------------------------------


def fit(
    X,
    Y,
    sampler: Sampler,
    *,
    weak_learner: WeakLearner = STUMPS,
    n_estimators=100,
    max_cost=10,
    families=None,
    initial_weights="uniform",
    smoothing=0.0,
    sample_weight=None,
    rng,
) -> Model:
    """Boost.

    Parameters
    ----------
    X : (N, d) uint8
        Features.
    Y : (N, K) int
        Labels, -1 or 1.
    sampler : Sampler
        Proposes features in each round.
    weak_learner : WeakLearner
        Stumps, or :func:`reference.hamming_trees.hamming_trees`.
    n_estimators : int
        Rounds T.
    max_cost : float
        What a round may cost as the paper counts, in passes of one feature over all N examples.
    families : list of arrays of int, optional
        Disjoint subsets of the columns; None: all columns are one family.
    initial_weights : {"uniform", "balanced"}
        What an example's labels weigh before the first round.
    smoothing : float
        s.
    sample_weight : (N,) float, optional
        Positive weights of the examples in the loss. Costs count examples, whatever they weigh.
    rng : np.random.Generator
        The only source of randomness.
    """
    families = [np.arange(X.shape[1])] if families is None else families
    problem = Problem(X, Y, families, max_cost, n_estimators)
    state = sampler.begin(problem, rng)
    model = Model([], [], weak_learner=weak_learner)
    seen = np.zeros((len(families), len(X)), dtype=bool)
    scores = np.zeros(Y.shape)
    examples = example_weights(sample_weight, Y, initial_weights)
    weights = pair_weights(scores, Y, examples)
    for t in range(n_estimators):
        proposal, state = sampler.propose(state, weights, rng)
        edge, h = weak_learner.best(X, weights.ints * Y, proposal.features)
        alpha = alpha_of(edge, weights.total, smoothing, examples.total)
        scores = scores + alpha * weak_learner.responses(h, X)
        relative = edge / weights.total
        weights = pair_weights(scores, Y, examples)
        stump, n_stumps = weak_learner.stumps_of(h)[0], len(weak_learner.stumps_of(h))
        state = sampler.update(state, stump, relative)
        model.stumps.append(h)
        model.alphas.append(alpha)
        looks = [*proposal.looks, (proposal.features, None)]
        model.trace.append(
            Decision(
                t, stump.feature, stump.threshold, tuple(stump.votes.tolist()), relative, alpha,
                log_loss(weights), tuple(sorted(proposal.features.tolist())), proposal.paper_cost,
                n_evaluations(looks, len(X)), tuple(look_at(seen, looks, families).tolist()),
                n_stumps,
            )
        )  # fmt: skip
    return model


# --- Prediction ----------------------------------------------------------------------------


def staged_scores(model: Model, X: np.ndarray, n_labels: int) -> Iterator[np.ndarray]:
    """Scores f (N, K) after each round."""
    scores = np.zeros((len(X), n_labels))
    for alpha, h in zip(model.alphas, model.stumps, strict=True):
        scores = scores + alpha * model.weak_learner.responses(h, X)
        yield scores


def labels_of(scores: np.ndarray) -> np.ndarray:
    """Class (N,) of the largest score, the lowest among equals; 0 or 1 if K = 1, 1 for f > 0."""
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.int64)
    return np.argmax(scores, axis=1)


def acquired_features(model: Model, n_features: int) -> np.ndarray:
    """Which features (d,) bool any stump tests: of stumps alone every row asks for all of them."""
    used = np.zeros(n_features, dtype=bool)
    used[[stump.feature for stump in model.stumps if stump.feature >= 0]] = True
    return used


def evaluations(model: Model) -> int:
    """Stumps that each row passes; constant votes are not evaluated."""
    return sum(stump.feature >= 0 for stump in model.stumps)
