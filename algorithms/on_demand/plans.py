"""What rows walk through on demand: boosted trees as one stage, a cascade as several with exits.

Boosted trees with early exits are several stages, too. A decision DAG is one stage, in which each
row has trees of its own.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..adaboost_mh import AdaBoostMH
from ..boosted_trees.estimator import BoostedTrees
from ..cost_meter.meter import tested_features
from ..cost_meter.trees import MeteredTrees
from ..decision_dag.estimator import DecisionDAGEstimator
from ..decision_dag.rewards import EVAL, QUIT, cell_of
from ..decision_dag.walk import DecisionDAG, Steps
from ..early_exit import EarlyExit
from ..early_exit import Exits as EarlyExits
from ..estimators.parameters import check_number
from ..exits.classifier import CascadeClassifier
from ..exits.exit_rules import documents_stay
from ..exits.fitted_trees import fitted_trees_of
from ..exits.hard_cascade import Exits
from ..forests.voting import VotingForest
from ..interop.forest import MeteredForest
from ..kernels.decorators import allocating_kernel
from ..trees.categorical_forest import refuse_sets
from ..trees.forest import Forest


class EvaluationPlan(NamedTuple):
    """Trees in the order in which rows pass them, and where rows may leave."""

    meter: MeteredTrees  # Knows features, groups and prices
    forest: Forest
    # What a leaf adds to its tree's score: (n_nodes,), or to every score: (n_nodes, n_scores)
    contributions: np.ndarray
    initial_scores: np.ndarray  # (n_scores,) float64
    # (n_trees, n_stages) float64: what each tree's answer is multiplied by for the score of each
    # stage. Empty: tree t adds to score t % n_scores, as it is, or to all of them
    weights: np.ndarray
    stops: np.ndarray  # (n_stages,) int64: trees evaluated until the end of each stage
    asked: np.ndarray  # (n_features,) bool: features that a row can come to be tested for
    # (n_stages,) float64: what the trees themselves cost until the end of each stage
    tree_prices: np.ndarray
    as_seen: Callable[[np.ndarray], np.ndarray]  # How values are compared with thresholds
    # What can be predicted, from the exits or, where there are none, from the scores (n, n_scores)
    predictions: dict[str, Callable]
    # Of a decision DAG. Its scores are whole steps; behind them stand the sum of the sizes, and the
    # number, of the base classifiers evaluated
    dag: Steps | None = None
    may_miss: bool = False  # Whether the model knows what to do with a missing value
    # ``(stage, scores) -> leaves``: who leaves at the end of a stage, from 0, by the scores (n,
    # n_scores) of the rows that remain
    leaves: Callable[[int, np.ndarray], np.ndarray] | None = None
    # ``(stage, scores) -> exits``: how rows left, by their stage and their scores
    exits: Callable | None = None


def plan_of(
    model: object, tree_cost: float | None = None, *, with_sets: bool = False
) -> EvaluationPlan:
    """Read a fitted model as it is now; refuse what cannot be followed row by row (ValueError).

    `tree_cost` is the price of a tree: of a cascade or DAG in the place of its own, of an EarlyExit
    0 if it is not given. `with_sets` says whether functions give codes of categories.
    """
    if isinstance(model, CascadeClassifier):
        return _of_cascade(copy.copy(model), tree_cost)
    if isinstance(model, DecisionDAGEstimator):
        return _of_dag(copy.copy(model), tree_cost)
    if isinstance(model, EarlyExit):
        return _of_early_exit(copy.copy(model), tree_cost)
    if not isinstance(model, BoostedTrees | MeteredForest | AdaBoostMH | VotingForest):
        raise ValueError(
            "model must be a forest, a cascade or a DAG of this package, EarlyExit around boosted "
            f"trees, or another library's trees read by interop, got {model!r}."
        )
    if tree_cost is not None:
        raise ValueError("tree_cost is of cascades, decision DAGs and EarlyExit only.")
    check_is_fitted(model)
    model = copy.copy(model)
    if isinstance(model, AdaBoostMH):
        return _of_adaboost_mh(model)
    if not with_sets:
        refuse_sets(model.trees_, "A predictor on demand")
    if isinstance(model, VotingForest):
        return _of_votes(model)
    return _of_metered(model) if isinstance(model, MeteredForest) else _of_boosted_trees(model)


def _of_boosted_trees(model: BoostedTrees) -> EvaluationPlan:
    predictions = {"predict": _targets}
    if hasattr(model, "classes_"):
        predictions = {"predict": model._labels, "predict_proba": model._probabilities}
    return _of_rounds(model, model._contributions, _as_it_is, predictions, True)


def _of_metered(model: MeteredForest) -> EvaluationPlan:
    predictions = {"predict": model._answer}
    if hasattr(model, "predict_proba"):
        predictions["predict_proba"] = model._likelihoods
    return _of_leaves(model, predictions)


def _of_leaves(model: MeteredForest, predictions) -> EvaluationPlan:
    flat = model._flat
    added = flat.values if model._many_valued else flat.forest.value
    plan = _of_rounds(model, added, model._as_seen, predictions, model.allow_nan)
    # The meter's trees have lone leaves besides, which make up a round.
    return plan._replace(forest=flat.forest, stops=np.array([flat.forest.n_trees]))


def _of_adaboost_mh(model: AdaBoostMH) -> EvaluationPlan:
    meter = fitted_trees_of(model).meter
    predictions = {"predict": model._labels, "decision_function": meter._shaped}
    return _of_leaves(meter, predictions)


def _of_votes(model: VotingForest) -> EvaluationPlan:
    plan = _of_rounds(model, model._votes, _as_it_is, model._answers(), False)
    return plan._replace(initial_scores=model._initial_votes())


def _of_rounds(model, contributions, as_seen, predictions, may_miss: bool) -> EvaluationPlan:
    """Trees without exits, as one stage."""
    return EvaluationPlan(
        model,
        model.trees_,
        contributions,
        model.initial_scores_,
        np.zeros((0, 0)),
        np.array([model.trees_.n_trees]),
        model.model_features(),
        np.zeros(1),
        as_seen,
        predictions,
        may_miss=may_miss,
    )


def _of_cascade(model: CascadeClassifier, tree_cost) -> EvaluationPlan:
    hard = model._now(priced=True)
    responses = hard.responses
    n_split = responses.forest.n_split_trees(1)
    highest = highest_scores(
        responses.forest, responses.contributions, hard.constants, hard.weights
    )
    bounds = highest[hard.stops[:-1], np.arange(len(hard.thresholds))]
    asked = features_until(
        responses.forest, hard.stops, bounds < hard.thresholds, responses.meter.n_features_in_
    )

    def leaves(stage: int, scores: np.ndarray) -> np.ndarray:
        return scores[:, stage] < hard.thresholds[stage]

    def exits(stage: np.ndarray, scores: np.ndarray) -> Exits:
        return Exits(stage + 1, scores[np.arange(len(stage)), stage])

    return EvaluationPlan(
        responses.meter,
        responses.forest,
        responses.contributions,
        hard.constants,
        hard.weights,
        hard.stops,
        asked,
        model._price_of_a_tree(tree_cost) * n_split[hard.stops],
        getattr(responses.meter, "_as_seen", _as_it_is),
        {"predict": model._labels, "decision_function": model._decision},
        leaves=leaves,
        exits=exits,
    )


def _of_early_exit(model: EarlyExit, tree_cost) -> EvaluationPlan:
    read, s = model._checked()
    responses, rule, n_exits = read.responses, model.rule, read.n_exits
    if getattr(responses.meter, "_many_valued", False):
        raise ValueError(
            "EarlyExit is followed on demand around trees whose leaves hold one value, not around "
            f"{responses.name}: call its predict with all features."
        )
    if rule not in ("score", "likelihood"):
        raise ValueError(
            f"EarlyExit with rule={rule!r} compares each row with the others of its query, so that "
            "rows cannot walk on demand: take rule='score' or 'likelihood', call its predict with "
            "all features, or give its model instead."
        )
    forest, n_columns = responses.forest, responses.n_columns
    rounds = np.append(read.stages.stops[:n_exits], responses.n_rounds).astype(np.int64)
    stops = rounds * n_columns
    if rule == "score":
        start, ones = responses.initial_scores, np.ones((forest.n_trees, 1))
        highest = highest_scores(forest, responses.contributions, start, ones)
        empties = highest[stops[:-1], 0] < s
    else:  # one of the classes is at least as likely as their mean, but for rounding
        empties = np.full(n_exits, s < (1.0 - 1e-9) / max(2, n_columns))

    def leaves(stage: int, scores: np.ndarray) -> np.ndarray:
        if rule == "likelihood":
            return ~(responses.largest_likelihood(scores) <= s)
        return ~documents_stay(rule, s, stage + 1, n_exits, model.place, scores, None)

    def exits(stage: np.ndarray, scores: np.ndarray) -> EarlyExits:
        return EarlyExits(stage + 1, rounds[stage], scores)

    def decision(left: EarlyExits) -> np.ndarray:
        return left.scores[:, 0] if n_columns == 1 else left.scores

    def predict(left: EarlyExits) -> np.ndarray:
        if responses.link is None:
            return responses.numbers(left.scores)
        return responses.labels(left.scores)

    each = check_number("tree_cost", 0.0 if tree_cost is None else tree_cost)
    return EvaluationPlan(
        responses.meter,
        forest,
        responses.contributions,
        responses.initial_scores,
        np.zeros((0, 0)),
        stops,
        features_until(forest, stops, empties, responses.meter.n_features_in_),
        each * forest.n_split_trees(n_columns)[rounds],
        getattr(responses.meter, "_as_seen", _as_it_is),
        {"predict": predict, "decision_function": decision},
        leaves=leaves,
        exits=exits,
    )


def _of_dag(model: DecisionDAGEstimator, tree_cost) -> EvaluationPlan:
    check_is_fitted(model)
    base, cells, policy = model._dag_
    responses = model._priced(model._responses_)
    forest, n_columns = base.forest, len(base.initial)
    feature = np.append(base.used, -1)[forest.feature].astype(np.int32)

    def steps(method):
        return lambda scores: method(scores[:, :n_columns].astype(np.int64))

    return EvaluationPlan(
        responses.meter,
        forest._replace(feature=feature),
        np.zeros(0),
        np.concatenate([base.initial, [0, 0]]).astype(np.float64),
        np.zeros((0, 0)),
        np.array([forest.n_trees]),
        features_of_dag(model._dag_, responses.meter.n_features_in_),
        np.array([model._price_of_a_tree(tree_cost)]),
        getattr(responses.meter, "_as_seen", _as_it_is),
        {"predict": steps(model._predicted), "decision_function": steps(model._decision)},
        Steps(base.answers, base.n_parts, cells, policy, base.evaluates),
    )


def _as_it_is(values: np.ndarray) -> np.ndarray:
    return values


def _targets(scores: np.ndarray) -> np.ndarray:
    """Predictions of a regressor."""
    return scores[:, 0]


# --- what any row can come to: trees that no row is ever sent to need no features -----------------

MOST_STATES = 4096
"""Scores that are told apart on the way through a DAG; of more, only the policy is looked at."""


def highest_scores(
    forest: Forest,
    contributions: NDArray[np.float64],
    start: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> np.ndarray:
    """Bounds of scores after the first 0, 1, … trees, exact to the last bit: rounding keeps order.

    As (n_trees + 1, n_scores); `weights` (n_trees, n_scores) are of each tree for each score.
    """
    if forest.n_trees == 0:
        return start[None, :]
    leaf = forest.left < 0
    most = np.maximum.reduceat(np.where(leaf, contributions, -np.inf), forest.tree[:-1])
    least = np.minimum.reduceat(np.where(leaf, contributions, np.inf), forest.tree[:-1])
    added = np.maximum(weights * most[:, None], weights * least[:, None])
    return np.add.accumulate(np.vstack([start, added]), axis=0)


def features_until(
    forest: Forest, stops: NDArray[np.int64], empties: NDArray[np.bool_], n_features: int
) -> np.ndarray:
    """Features that stages test until the first of which every row leaves (`empties`)."""
    last = int(np.argmax(np.append(empties, True)))
    feature = forest.feature[: forest.tree[stops[last]]]
    return tested_features(feature, n_features)


def features_of_dag(dag: DecisionDAG, n_features: int) -> np.ndarray:
    """Features of the base classifiers of a decision DAG that any row can come to evaluate."""
    base = dag.base
    tree = base.forest.tree
    reached = reached_bases(dag)
    parts = [
        base.forest.feature[tree[j * base.n_parts] : tree[(j + 1) * base.n_parts]]
        for j in np.flatnonzero(reached)
    ]
    feature = np.concatenate([np.zeros(0, dtype=np.int32), *parts])
    return tested_features(base.used[feature[feature >= 0]], n_features)


def reached_bases(dag: DecisionDAG) -> np.ndarray:
    """Base classifiers that a row of some features would evaluate: (n_base,) bool.

    Rows are followed by all scores that they may have. Where these are too many, a base classifier
    counts if the policy evaluates it at any score.
    """
    base, cells = dag.base, dag.cells
    reached = np.zeros(base.n_base, dtype=bool)
    states = np.append(cells.initial, 0).astype(np.int64)[None, :]  # scores, sizes evaluated
    for j, policy in enumerate(dag.policy):
        action = policy[_cells_of(cells, states)]
        now = states[action == EVAL]
        states = states[(action != EVAL) & (action != QUIT)]
        if not len(now):
            continue
        reached[j] = True
        answers = _answers_of(base, j)
        if answers is None or len(now) * len(answers) + len(states) > MOST_STATES:
            reached[j + 1 :] = (dag.policy[j + 1 :] == EVAL).any(axis=1)
            break
        after = now[:, None, :].repeat(len(answers), axis=1)
        after[:, :, :-1] += answers
        after[:, :, -1] += cells.sizes[j]
        states = np.unique(np.vstack([states, after.reshape(-1, states.shape[1])]), axis=0)
    return reached


def _answers_of(base, j: int) -> np.ndarray | None:
    """All answers (n, n_columns) of base classifier j, in steps; None if they are too many."""
    answers = np.zeros((1, base.answers.shape[1]), dtype=np.int64)
    for t in range(j * base.n_parts, (j + 1) * base.n_parts):
        nodes = slice(base.forest.tree[t], base.forest.tree[t + 1])
        own = np.unique(base.answers[nodes][base.forest.left[nodes] < 0], axis=0)
        if len(answers) * len(own) > MOST_STATES:
            return None
        answers = (answers[:, None, :] + own).reshape(-1, answers.shape[1])
        answers = np.unique(answers, axis=0)
    return answers


@allocating_kernel
def _cells_of(cells, states):
    """Cell of each of some states (scores, and sizes of what was evaluated)."""
    found = np.empty(states.shape[0], dtype=np.int64)
    for i in range(states.shape[0]):
        found[i] = cell_of(cells, states[i, :-1], states[i, -1])
    return found
