"""What a fit of boosted trees aims at beside a loss by row, and what it goes on from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..boosting import Boosted, Earlier, Options
from ..costs import by_column
from ..estimators.parameters import checked_parameters, shown
from ..inputs.sparse_rows import SparseColumns
from ..kernels.arrays import read_only
from ..lambdarank import TRUNCATION, LambdaRank

# How long to train, who computes, and what is compared as what it comes to for the columns.
_NOT_DECISIVE = frozenset({
    "n_estimators", "early_stopping_rounds", "warm_start", "n_threads", "verbose",
    "categorical_features",
})  # fmt: skip


def earlier_model(
    estimator: Any, X: np.ndarray | SparseColumns, options: Options
) -> Earlier | None:
    """What ``warm_start`` goes on from: the earlier fit, and what it says of these rows."""
    model = vars(estimator).get("_earlier")
    if model is None or not hasattr(model, "trees_") or model.n_estimators_ == 0:
        return None
    why = None
    if options.n_estimators < model.n_estimators_:
        why = f"n_estimators={options.n_estimators} is less than {model.n_estimators_} rounds"
    elif X.shape[1] != model.n_features_in_:
        why = f"X has {X.shape[1]} features and not the {model.n_features_in_}"
    elif not np.array_equal(getattr(estimator, "classes_", 0), getattr(model, "classes_", 0)):
        why = "y has other classes than those"
    elif not _same_categories(estimator._known_categories(), model._known_categories()):
        why = "columns of X have other categories than those"
    else:
        why = _first_difference(estimator._decided_, model._decided_)
    if why is not None:
        raise ValueError(
            f"warm_start=True goes on from the earlier fit, and {why} of it: give what it had, "
            "or warm_start=False to begin anew."
        )
    sparse = isinstance(X, SparseColumns)
    rows = X.rows() if sparse else read_only(np.ascontiguousarray(X, dtype=np.float64))
    acquired = model._acquired_by(rows)
    before = Boosted(model.trees_, model.initial_scores_, model.n_estimators_)
    return Earlier(before, model._raw_scores(rows), acquired)


def _same_categories(ours: dict[int, np.ndarray], theirs: dict[int, np.ndarray]) -> bool:
    return ours.keys() == theirs.keys() and all(np.array_equal(ours[m], theirs[m]) for m in ours)


def decisive(estimator: Any, options: Options, prices: Any) -> dict[str, Any]:
    """What decides the trees of a fit, by parameter: one that goes on from it must agree."""
    checked = checked_parameters(estimator)
    told = {name: value for name, value in checked.items() if name not in _NOT_DECISIVE}
    told["monotonic_cst"] = None if options.signs is None else options.signs.tolist()
    told["random_state"] = None if options.sampling is None else options.sampling.seed
    if checked.get("tradeoff", 0.0) > 0.0 or checked.get("budget") is not None:
        # Steps of a bill depend on the rounds that are asked for.
        charged = prices if by_column(estimator) else estimator._prices(1)
        parts = [np.ravel(part) for name, part in vars(charged).items() if name != "steps"]
        told["prices"] = np.concatenate(parts)
    return told


def _first_difference(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str | None:
    """Say which parameter is another than in the earlier fit; None if all agree."""
    for name, value in ours.items():
        if not np.array_equal(value, theirs[name]):
            if name == "prices":
                return "prices differ from those"
            return f"{name}={shown(value)} differs from {shown(theirs[name])}"
    return None


def ranking_loss(
    estimator: Any, grades: np.ndarray, query_id: np.ndarray | None, weights: np.ndarray | None
) -> LambdaRank:
    """The loss of ``objective="lambdarank"``."""
    if query_id is None:
        raise ValueError(
            "objective='lambdarank' ranks the documents of each query: give "
            "fit(…, query_id=), the query of each row."
        )
    given = estimator.lambdarank_truncation
    return LambdaRank(grades, query_id, weights, TRUNCATION if given is None else given)
