"""What readers of other libraries' models make of them: trees, node by node, and classes.

Also how a library compares rows with its thresholds, and what it makes of raw scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..losses import probabilities
from ..metrics import labels_of
from ..trees.forest import NODE_DTYPES, Forest


class Leaf(NamedTuple):
    """A leaf: its value for each output, and the number that the library gives it."""

    value: Sequence[float]
    number: int


class Split(NamedTuple):
    """A split node: ``x <= threshold`` goes to `left`, and a missing x if `missing_left`."""

    feature: int
    threshold: float
    left: Any
    right: Any
    missing_left: bool = False


class ClassLink(NamedTuple):
    """What raw scores mean to a classifier."""

    # (n_classes,): labels; class k has score column k, or the second of two has the only one
    classes: np.ndarray
    likelihood: str | None  # How scores become likelihoods; None if they do not, or in another way
    second_if_zero: bool = False  # Whether a single score of 0 means the second class

    def labels(self, scores: np.ndarray) -> np.ndarray:
        """Classes (n,) of scores (n, n_outputs); the lower one in a tie of several."""
        if len(self.classes) == 1:
            return np.repeat(self.classes, len(scores))
        if self.second_if_zero and scores.shape[1] == 1:
            return self.classes[(scores[:, 0] >= 0).astype(np.int64)]
        return self.classes[labels_of(scores)]


class Tree(NamedTuple):
    """A root, and what turns a node of the library's own kind into a leaf or a split."""

    root: Any
    read: Callable[[Any], Leaf | Split]


class FlatTrees(NamedTuple):
    """Trees as arrays; of a split node values are 0 and the number is -1."""

    forest: Forest  # Its `value` is the first of a leaf's
    values: np.ndarray  # (n_nodes, 1 or n_outputs) float64: of each leaf
    numbers: np.ndarray  # (n_nodes,) int64: of each leaf, by the library

    @classmethod
    def of_leaves(cls, forest: Forest, values: np.ndarray, numbers: np.ndarray) -> FlatTrees:
        """Give a forest's leaves values and numbers; what stands at split nodes does not count."""
        leaf = forest.left < 0
        values = np.where(leaf[:, None], values, 0.0)
        nothing = np.zeros(len(leaf))
        forest = forest._replace(value=values[:, 0].copy(), gain=nothing, count=nothing)
        return cls(forest, values, np.where(leaf, numbers, -1))

    def first(self, n_trees: int) -> FlatTrees:
        """Give the first trees."""
        n_nodes = int(self.forest.tree[n_trees])
        return FlatTrees(self.forest.first(n_trees), self.values[:n_nodes], self.numbers[:n_nodes])


def flat_stumps(
    feature: np.ndarray, threshold: np.ndarray, low: np.ndarray, high: np.ndarray
) -> FlatTrees:
    """Trees of one split each, or of a lone leaf worth `high` where the feature is -1.

    Leaves are numbered -1 (low) and 1 (high), a lone one 0.
    """
    sizes = np.where(feature < 0, 1, 3)
    tree = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    n_nodes, (split,) = int(tree[-1]), np.nonzero(feature >= 0)
    root = tree[split]
    nodes = {name: np.zeros(n_nodes, dtype) for name, dtype in NODE_DTYPES.items()}
    nodes["feature"][:] = nodes["left"][:] = -1
    nodes["feature"][root], nodes["threshold"][root] = feature[split], threshold[split]
    nodes["left"][root] = root + 1
    values, numbers = np.zeros((n_nodes, high.shape[1])), np.zeros(n_nodes, dtype=np.int64)
    values[tree[:-1]] = high
    for child, sign, of_stumps in ((root + 1, -1, low), (root + 2, 1, high)):
        nodes["depth"][child], numbers[child], values[child] = 1, sign, of_stumps[split]
    return FlatTrees.of_leaves(Forest(tree, **nodes), values, numbers)


# --- from raw scores to what a library's own ``predict`` gives ---------------------------------

UNKNOWN = "unknown"


def _logistic(scores: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-scores))


def _exponential(scores: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # infinite for the library, too
        return np.exp(scores)


def _softplus(scores: np.ndarray) -> np.ndarray:
    return np.logaddexp(0.0, scores)


def _signed_square(scores: np.ndarray) -> np.ndarray:
    return np.sign(scores) * scores * scores


def _mean_and_variance(scores: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.column_stack([scores[:, 0], np.exp(2.0 * scores[:, 1])])


INVERSE_LINKS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "identity": np.copy,
    "exponential": _exponential,
    "logistic": _logistic,
    "softplus": _softplus,
    "signed_square": _signed_square,
    "softmax": probabilities,
    "mean_and_variance": _mean_and_variance,
}
"""Functions of scores (n, n_outputs), by the name that files give them."""
_OF_SEVERAL = {"softmax", "mean_and_variance"}


class InverseLink(NamedTuple):
    """How a library turns raw scores into what its ``predict`` gives."""

    kind: str  # A key of ``INVERSE_LINKS``, or ``"unknown"``: in a way that is not followed here
    slope: float = 1.0  # What scores are multiplied by first

    def __call__(self, scores: np.ndarray, library: str) -> np.ndarray:
        """Predictions (n, n_outputs) of scores of this shape; ValueError if it is not known how."""
        if self.kind == UNKNOWN:
            raise ValueError(
                f"How this {library} model predicts from its raw scores is not known here: take "
                "predict_raw, or the library's own predict."
            )
        return INVERSE_LINKS[self.kind](scores if self.slope == 1.0 else self.slope * scores)

    def check(self, n_outputs: int) -> None:
        """Refuse what no reader gives (ValueError)."""
        if self.kind != UNKNOWN and self.kind not in INVERSE_LINKS:
            raise ValueError("its inverse link is of an unknown kind")
        if not 0.0 < self.slope < 1e100:
            raise ValueError("the slope of its inverse link must be positive and finite")
        if self.kind in _OF_SEVERAL and n_outputs < 2:
            raise ValueError("its inverse link needs several scores")
        if self.kind == "mean_and_variance" and n_outputs != 2:
            raise ValueError("its inverse link needs two scores")


# --- what the objectives of libraries make of raw scores ---------------------------------------

_CLASSIFY = ("binary", "multiclass", "multiclassova")
_AFTER_A_LOGARITHM = ("poisson", "gamma", "tweedie")
_AS_THEY_ARE = (
    "",
    *("regression", "regression_l1", "huber", "fair", "quantile", "mape"),
    *("lambdarank", "rank_xendcg"),
)


# --- LightGBM -----------------------------------------------------------------------------------


def lightgbm_link(model: Any, dump: dict) -> ClassLink | None:
    """Classes of an estimator of LightGBM, or 0, 1, … of a booster that was told to classify."""
    objective, options = _lightgbm_objective(dump)
    likelihood = {"cross_entropy": "logistic", "multiclass": "multinomial"}.get(objective)
    if objective == "binary" and options.get("sigmoid") == "1":
        likelihood = "logistic"  # else its log-odds are a multiple of the score
    if _decides_classes(model):
        known = objective in (*_CLASSIFY, "cross_entropy")
        return ClassLink(np.asarray(model.classes_), likelihood) if known else None
    if objective in _CLASSIFY:
        return ClassLink(np.arange(max(2, dump["num_class"])), likelihood)
    return None


def _lightgbm_objective(dump: dict) -> tuple[str, dict[str, str]]:
    """Name of the objective, and what LightGBM writes of its options; "" of a custom one."""
    objective, *options = dump.get("objective", "").split() or [""]
    return objective, {name: value for name, _, value in (o.partition(":") for o in options)}


def _decides_classes(model) -> bool:
    """Whether it is an estimator of LightGBM with classes."""
    return getattr(model, "classes_", None) is not None


def lightgbm_inverse_link(model: Any, dump: dict) -> InverseLink | None:
    """What ``predict`` makes of raw scores; None: classes, or nothing."""
    objective, options = _lightgbm_objective(dump)
    slope = float(options.get("sigmoid", 1.0))
    kind = None
    if _decides_classes(model):
        if objective in ("", *_CLASSIFY, "cross_entropy"):  # "": the scores, as LightGBM warns
            return None
        kind = UNKNOWN  # it compares a number that is no likelihood with one half
    elif "sqrt" in options:
        kind = "signed_square"
    elif objective in _AFTER_A_LOGARITHM:
        kind = "exponential"
    elif objective in ("binary", "multiclassova", "cross_entropy"):
        kind = "logistic"
    elif objective == "cross_entropy_lambda":
        kind = "softplus"
    elif objective == "multiclass":
        kind = "softmax"
    elif objective not in _AS_THEY_ARE:
        kind = UNKNOWN
    return None if kind is None else InverseLink(kind, slope)


# --- CatBoost -----------------------------------------------------------------------------------


def catboost_loss(model: Any) -> str:
    """Name of the loss, without its options."""
    return str(model.get_all_params().get("loss_function", "")).partition(":")[0]


def catboost_link(model: Any, loss: str) -> ClassLink | None:
    """Classes of a CatBoost model; ValueError if it has a probability threshold of its own."""
    if not len(model.classes_):
        return None
    if len(model.classes_) == 2 and hasattr(model, "get_probability_threshold"):
        threshold = model.get_probability_threshold()
        if threshold != 0.5:
            raise ValueError(
                f"This CatBoost model decides at a probability of {threshold:g}, and only 0.5 is "
                "supported: call set_probability_threshold(0.5), and take predict_raw."
            )
    likelihoods = {"Logloss": "logistic", "CrossEntropy": "logistic", "MultiClass": "multinomial"}
    return ClassLink(np.asarray(model.classes_), likelihoods.get(loss))


def catboost_inverse_link(model: Any, loss: str) -> InverseLink | None:
    """What ``predict`` makes of raw scores; None: classes, or nothing."""
    kinds = {cls.__name__ for cls in type(model).__mro__}
    if "CatBoostClassifier" in kinds:
        return None if len(model.classes_) else InverseLink(UNKNOWN)
    if "CatBoostRegressor" in kinds and loss in ("Poisson", "Tweedie"):
        return InverseLink("exponential")
    if "CatBoostRegressor" in kinds and loss == "RMSEWithUncertainty":
        return InverseLink("mean_and_variance")
    return InverseLink("identity") if len(model.classes_) else None


# --- scikit-learn -------------------------------------------------------------------------------


def scikit_learn_link(model: Any, n_outputs: int) -> ClassLink | None:
    """Classes of a classifier."""
    if not hasattr(model, "classes_"):
        return None
    likelihood = "logistic" if n_outputs == 1 else "multinomial"
    second_if_zero = not hasattr(model, "_predictors")  # of GradientBoosting's
    kept = likelihood if model.loss == "log_loss" else None
    return ClassLink(model.classes_, kept, second_if_zero)


def scikit_learn_inverse_link(model: Any) -> InverseLink | None:
    """What ``predict`` of a regressor makes of raw scores; None: nothing, or classes."""
    if hasattr(model, "classes_") or not hasattr(model, "_predictors"):
        return None
    link = type(model._loss.link).__name__
    kinds = {"IdentityLink": None, "LogLink": "exponential", "LogitLink": "logistic"}
    kind = kinds.get(link, UNKNOWN)
    return None if kind is None else InverseLink(kind)


# --- rows as libraries see them ----------------------------------------------------------------

_LIGHTGBM_ZERO = float(np.float32(1e-35))


def double_precision(X: np.ndarray) -> np.ndarray:
    """Numbers as they are."""
    return X


def single_precision(X: np.ndarray) -> np.ndarray:
    """Numbers rounded to single precision."""
    with np.errstate(over="ignore"):  # beyond float32 is infinite, for the library too
        return X.astype(np.float32).astype(np.float64)


def tiny_is_zero(X: np.ndarray) -> np.ndarray:
    """Numbers, those of at most 1e-35 in size as 0."""
    return np.where(np.abs(X) <= _LIGHTGBM_ZERO, 0.0, X)


AS_SEEN = {
    "double": double_precision,
    "single": single_precision,
    "tiny_is_zero": tiny_is_zero,
}
"""How a library compares numbers with thresholds, by the name that files give it."""
