"""Parameters and attributes of the decision DAGs, for the tables of their estimators."""

from __future__ import annotations

from numba.core.registry import CPUDispatcher

from ..estimators.parameters import (
    LARGEST_FACTOR,
    Parameter,
    check_number,
    check_seed_or_state,
    check_whole_number,
    choice,
    number,
    shown,
    whole,
)
from ..exits.parameters import PRICED, PRICED_CLASSES, check_tree_cost
from .rewards import LARGEST_LOSS


def _check_reward(name: str, value):
    """Give a reward: one of two words, or a compiled function; refuse anything else."""
    if isinstance(value, CPUDispatcher) or (isinstance(value, str) and value in _REWARDS):
        return value
    raise ValueError(
        f"{name} must be {' or '.join(map(repr, _REWARDS))}, or a function compiled with numba, "
        f"got {shown(value)}."
    )


def _check_share(name: str, value) -> float:
    """Give a share as a float; refuse what is not in [0, 1]."""
    share = check_number(name, value)
    if share > 1:
        raise ValueError(f"{name} must be from 0 to 1, got {shown(value)}.")
    return share


def _check_bins(name: str, value):
    """Give a number of bins, or the word for the rule; refuse anything else."""
    if isinstance(value, str) and value == "auto":
        return value
    if isinstance(value, str):
        raise ValueError(f'{name} must be "auto" or a whole number, got {shown(value)}.')
    return check_whole_number(name, value, 1, most=_MOST_BINS)


_REWARDS = ("zero_one", "exponential")
_MOST_BINS = 2**16
_LARGEST_WEIGHT = 100.0  # it takes bits from the grid of losses, whose sums have 61
_OWN_FUNCTION = (
    "or a function (scores, y) -> loss compiled with numba, whose values are numbers of at "
    f"most {LARGEST_LOSS:g} in size"
)
PARAMETERS = {
    "estimator": Parameter(
        "estimator or None",
        "The additive model whose rounds are the base classifiers. Boosted trees and stumps of "
        "this package are cloned and fitted, regressors on -1 and +1 if there are two classes; "
        "what is in a FrozenEstimator, a MeteredForest, and models of LightGBM, CatBoost and "
        "scikit-learn are taken as fitted. None: AdaBoostMH with the paper's 1,000 rounds.",
    ),
    "beta": number(
        "float",
        "Price of evaluating a base classifier, in units of the loss.",
        most=LARGEST_FACTOR,
    ),
    "reward": Parameter(
        '{"zero_one", "exponential"} or compiled function',
        "What a row that quits loses: 1 if its class does not have the largest score alone, the "
        f"exponential loss of its scores, {_OWN_FUNCTION}; y is the number of its class, and two "
        "classes have one score.",
        _check_reward,
    ),
    "value_function": choice(
        "What of the scores is a part of the state: uniform bins of the only score, or the winning "
        'class and uniform bins of its margin. "auto": bins of one score, margins of several. Or '
        "values are sums of Gaussians of the only score, whose centres grow; policies are then "
        "tables of 1,001 cells.",
        "auto",
        "bins",
        "margin",
        "gaussians",
    ),
    "n_bins": Parameter(
        'int or "auto"',
        'Bins of a score, or of a margin. "auto": the largest odd number up to N + 1 for N base '
        "classifiers, from 101 to 1,001, so that a bin is no wider than two mean votes.",
        _check_bins,
    ),
    "negative_weight": number(
        "float",
        "By which the losses of the first of two classes, the negative one, are multiplied in the "
        "policy's training: in the objective, not in what evaluations cost.",
        positive=True,
        most=_LARGEST_WEIGHT,
    ),
    "solver": choice(
        "SARSA(lambda), or exact coordinate descent on Eq. (8), which is ours.", "sarsa", "descent"
    ),
    "n_episodes": whole("int", "Training episodes of SARSA.", 1),
    "score_every": whole(
        "int", "Episodes after which the policy is scored; the best one is kept.", 1
    ),
    "learning_rate": number("float", "Learning rate of SARSA.", positive=True, most=LARGEST_FACTOR),
    "rate_schedule": choice(
        "Whether the learning rate stays, or is divided by the number of the next scoring.",
        "constant",
        "decreasing",
    ),
    "trace_decay": Parameter("float", "lambda of SARSA(lambda).", _check_share),
    "exploration": Parameter(
        "float",
        "Probability of a random action until the first scoring; then divided by the number of the "
        "next one.",
        _check_share,
    ),
    "update": choice('SARSA(lambda), or with "q" Watkins\'s Q(lambda).', "sarsa", "q"),
    "select": choice(
        "The best policy is that of the least Eq. (8), or that of the fewest errors.",
        "objective",
        "accuracy",
    ),
    "normalisation": choice(
        "Scores are divided by what all base classifiers can answer, or by what those evaluated "
        "can.",
        "final",
        "running",
    ),
    "start": choice(
        "What descent starts from: the policy that evaluates all, or that of SARSA.",
        "eval",
        "sarsa",
    ),
    **PRICED_CLASSES,
    "tree_cost": Parameter(
        "float", "Price of evaluating a base classifier, beside its features.", check_tree_cost
    ),
    "random_state": Parameter(
        "int, RandomState or None",
        "Seed of the episodes. The estimator has its own.",
        check_seed_or_state,
    ),
}
PARAMETERS["feature_costs"] = PRICED["feature_costs"]._replace(
    text=PRICED["feature_costs"].text + " If this or another price is given here, beta multiplies "
    "all prices, `tree_cost` among them; else each evaluation costs beta."
)
ATTRIBUTES = {
    "estimator_": Parameter("estimator", "The fitted additive model."),
    "n_base_": Parameter("int", "Number N of base classifiers."),
    "objective_": Parameter("float", "Eq. (8) on the training rows."),
    "history_": Parameter(
        "ndarray of float64",
        "Eq. (8) of the policy at each scoring, or before and after each sweep of the descent.",
    ),
    "policy_": Parameter(
        "ndarray of shape (n_base, n_cells), int8",
        "Action in each state: 0 evaluates, 1 skips, 2 quits.",
    ),
    "classes_": Parameter("ndarray of shape (n_classes,)", "Class labels, ascending."),
    "n_features_in_": Parameter("int", "Number of columns."),
    "feature_names_in_": Parameter(
        "ndarray of str", "Names of the columns, if `fit` was given a table with names."
    ),
}
