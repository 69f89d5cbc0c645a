"""Early exits: rows leave an additive model before all of its trees are evaluated.

B. B. Cambazoglu, H. Zaragoza, O. Chapelle, J. Chen, C. Liao, Z. Zheng and J. Degenhardt: Early
exit optimizations for additive machine learned ranking systems. Proceedings of the third ACM
International Conference on Web Search and Data Mining (2010), pages 411-420.

=================  ========================================================================
symbol             name
=================  ========================================================================
T, t               number of rounds of the model; the rounds evaluated so far
E, i               number of exits; an exit, 1 … E, after ``every * i`` rounds
5                  ``place``, that of the document that proximity looks at
s                  ``s``: a score, a share, a rank, a margin or a likelihood, by the rule
e                  ``tree_cost``, evaluating one tree
=================  ========================================================================

At each exit, among the documents of a query that remain,

* ``"score"``: those with a score below s leave;
* ``"capacity"``: the best share s of them stays (rounded up);
* ``"rank"``: those beyond rank s leave;
* ``"proximity"``: those leave whose score is more than (E - i)/(E - 1) s below the fifth best;
* ``"likelihood"`` (classes): rows leave whose largest likelihood is above s.

Who leaves later ranks higher, whatever the scores; who leaves at the same exit is ranked by the
scores there. Rows pay for features and trees until they leave. Written as loops over queries.

Deliberately absent: the order of computation (document by document, or tree by tree), and
thresholds that are learned separately for each exit.

Deviations and choices

1. The rules, and the margin that shrinks to 0, are those that Xu, Weinberger and Chapelle (The
   Greedy Miser, 2012, section 6) describe; the original was not at hand. They let documents leave
   that are "at least" the margin below the fifth best, which at the last exit, with a margin of 0,
   would be the fifth itself: here it takes *more than* the margin.
2. A single exit (E = 1) is the first and the last at once; its margin is s, the first one's.
3. A query in which fewer than five documents remain loses none by proximity.
4. Equal scores have equal fates: a document's rank is one more than the number of better ones. So
   a query of nothing but ties loses none by rank or capacity, and the order of rows never matters.
5. The capacity is a share of those that remain, of one query.
6. If ``every`` does not divide T, the last rounds follow the last exit.
7. A tree without a split is a constant and costs no e.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reference import boosting, costs, losses, metrics


@dataclass(frozen=True)
class Exits:
    """How each row left.

    ``exit`` (n,) is the exit, E + 1 for rows that never left; ``rounds`` (n,) how many rounds were
    evaluated; ``scores`` (n, K) the scores after them; ``ranking`` (n,) how many documents of the
    query rank lower, None by the rule ``"likelihood"``.
    """

    exit: np.ndarray
    rounds: np.ndarray
    scores: np.ndarray
    ranking: np.ndarray | None


@dataclass(frozen=True)
class Stages:
    """An additive model on n rows after t = 0, …, T rounds.

    ``scores[t]`` (n, K); ``passed[t]`` (n, d), split nodes passed so far by feature; ``n_trees``
    (T + 1,), trees with a split so far; ``n_split_nodes`` of the whole model.
    """

    scores: list[np.ndarray]
    passed: list[np.ndarray]
    n_trees: np.ndarray
    n_split_nodes: int


# --- The rules, for the scores of one query's remaining documents ---------------------------


def n_better(scores: np.ndarray) -> np.ndarray:
    """How many of the others have a larger score."""
    return np.array([int(np.sum(scores > score)) for score in scores], dtype=np.int64)


def stays_by_score(scores: np.ndarray, s: float) -> np.ndarray:
    """Whether the score is at least s."""
    return scores >= s


def stays_by_capacity(scores: np.ndarray, s: float) -> np.ndarray:
    """Whether the document is among the best share s."""
    return n_better(scores) < math.ceil(s * len(scores))


def stays_by_rank(scores: np.ndarray, s: float) -> np.ndarray:
    """Whether the rank is at most s."""
    return n_better(scores) + 1 <= s


def proximity_margin(i: int, n_exits: int, s: float) -> float:
    """(E - i)/(E - 1) s; s if there is but one exit."""
    return s if n_exits == 1 else (n_exits - i) / (n_exits - 1) * s


def stays_by_proximity(scores: np.ndarray, margin: float, place: int) -> np.ndarray:
    """Whether the score is no more than ``margin`` below that of the best but ``place`` - 1."""
    if len(scores) < place:
        return np.ones(len(scores), dtype=bool)
    at_place = sorted(scores, reverse=True)[place - 1]
    return ~(at_place - scores > margin)


def stays_by_likelihood(scores: np.ndarray, loss: str, s: float) -> np.ndarray:
    """Whether the largest likelihood of a class is at most s; scores are (rows, K)."""
    columns = losses.probabilities(loss, scores)
    if len(columns) == 1:
        columns = [1.0 - columns[0], columns[0]]
    return np.max(columns, axis=0) <= s


def who_stays(
    scores: np.ndarray, rule: str, s: float, i: int, n_exits: int, place: int, loss: str
) -> np.ndarray:
    """Apply a rule at exit i to the scores (rows, K) of one query's remaining rows."""
    if rule == "likelihood":
        return stays_by_likelihood(scores, loss, s)
    if rule == "proximity":
        return stays_by_proximity(scores[:, 0], proximity_margin(i, n_exits, s), place)
    by_rule = {"score": stays_by_score, "capacity": stays_by_capacity, "rank": stays_by_rank}
    return by_rule[rule](scores[:, 0], s)


# --- Leaving ---------------------------------------------------------------------------------


def exit_rounds(n_rounds: int, every: int) -> list[int]:
    """Rounds evaluated before each exit."""
    return list(range(every, n_rounds + 1, every))


def leave(
    stage_scores: Sequence[np.ndarray],
    query_id=None,
    *,
    rule: str = "proximity",
    s: float,
    every: int = 10,
    place: int = 5,
    loss: str = "squared",
) -> Exits:
    """Let rows leave."""
    n_rounds, n = len(stage_scores) - 1, len(stage_scores[0])
    stops = exit_rounds(n_rounds, every)
    exit_of, rounds = np.full(n, len(stops) + 1), np.full(n, n_rounds)
    queries = metrics.query_slices(np.zeros(n) if query_id is None else np.asarray(query_id))
    for i, stop in enumerate(stops, start=1):
        for query in queries:
            rows = [row for row in range(n)[query] if exit_of[row] > len(stops)]
            if not rows:
                continue
            stays = who_stays(stage_scores[stop][rows], rule, s, i, len(stops), place, loss)
            for row, stayed in zip(rows, stays, strict=True):
                if not stayed:
                    exit_of[row], rounds[row] = i, stop
    last = np.array([stage_scores[rounds[row]][row] for row in range(n)])
    ranking = None if rule == "likelihood" else ranking_scores(exit_of, last[:, 0], queries)
    return Exits(exit_of, rounds, last, ranking)


def ranking_scores(exit_of, scores, queries) -> np.ndarray:
    """How many documents (n,) of the same query left earlier, or with them and lower scores."""
    lower = np.zeros(len(scores))
    for query in queries:
        rows = range(len(scores))[query]
        keys = {row: (int(exit_of[row]), float(scores[row])) for row in rows}
        for row in rows:
            lower[row] = sum(keys[other] < keys[row] for other in rows)
    return lower


# --- Paying ----------------------------------------------------------------------------------


def stages_of(model: boosting.Model, X: np.ndarray) -> Stages:
    """The stages of one of the house's own models."""
    n_trees = [sum(tree.n_splits > 0 for tree in of_round) for of_round in model.rounds]
    return Stages(
        [
            boosting.start_scores(model.initial_scores, len(X)),
            *boosting.staged_scores(model, X),
        ],
        [np.zeros(X.shape, dtype=np.int64), *boosting.staged_passed(model, X)],
        np.cumsum([0, *n_trees]),
        boosting.n_split_nodes(model),
    )


def passed_until_exit(stages: Stages, exits: Exits) -> np.ndarray:
    """Split nodes (n, d) that each row passed before it left, by feature."""
    return np.array([stages.passed[t][row] for row, t in enumerate(exits.rounds)])


def row_cost(stages: Stages, exits: Exits, *, tree_cost: float = 0.0, **prices) -> np.ndarray:
    """Cost (n,) of each row: the meter's for what it passed, and e for each tree evaluated."""
    passed = passed_until_exit(stages, exits)
    metered = costs.prediction_cost(passed, stages.n_split_nodes, **prices)
    return metered + tree_cost * stages.n_trees[exits.rounds]


def forest_cost_until_exit(stage_costs: Sequence[float], exits: Exits) -> np.ndarray:
    """Cost (n,) by the bill of :mod:`reference.forest_costs`: all features of the trees evaluated.

    ``stage_costs`` are the T + 1 bills after 0, 1, …, T rounds.
    """
    return np.array([stage_costs[t] for t in exits.rounds], dtype=np.float64)
