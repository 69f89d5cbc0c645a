"""How an estimator of boosted trees wants to be fitted, and what it cannot want.

Beside its options that is what a fit goes on from, and what it aims at beside a loss by row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..boosting import Boosted, Earlier, Options
from ..costs import by_column
from ..estimators.constraints import constraint_signs
from ..estimators.parameters import check_seed, checked_parameters, shown
from ..estimators.threads import threads_of
from ..kernels.arrays import read_only
from ..lambdarank import TRUNCATION, LambdaRank
from ..trees.samples import Sampling
from ..trees.splitter import Limits
from ..validation.prices import column_labels
from ..validation.sparse_rows import SparseColumns


def options_of(estimator: Any, fixed: Mapping[str, Any], newton_leaves: bool) -> Options:
    """Check the parameters of an estimator, and give the options of its fit."""
    checked = {**fixed, **checked_parameters(estimator)}
    if estimator.class_weight is not None and not is_classifier(estimator):
        raise ValueError("class_weight is for classifiers: give a regressor sample_weight.")
    if estimator.objective is not None and is_classifier(estimator):
        raise ValueError(
            "objective='lambdarank' is for regressors, whose targets are grades in order."
        )
    if estimator.objective is None and estimator.lambdarank_truncation is not None:
        raise ValueError("lambdarank_truncation means nothing without objective='lambdarank'.")
    limits = Limits(
        max_leaves=-1 if checked["max_leaves"] is None else checked["max_leaves"],
        max_depth=-1 if checked["max_depth"] is None else checked["max_depth"],
        min_samples_leaf=float(checked["min_samples_leaf"]),
        min_hessian_leaf=checked["min_hessian_leaf"],
        best_first=checked["growth"] == "best_first",
        stop_on_negative_gain=checked["stop_on_negative_gain"],
    )
    return Options(
        n_estimators=checked["n_estimators"],
        learning_rate=checked["learning_rate"],
        limits=limits,
        max_bins=checked["max_bins"],
        second_order=checked["second_order"],
        newton_leaves=newton_leaves,
        start_at_mean=checked["init"] == "mean",
        early_stopping_rounds=checked["early_stopping_rounds"],
        n_threads=threads_of(estimator),
        sampling=_sampling(estimator, checked["subsample"], checked["colsample_bytree"]),
        reg_lambda=checked["reg_lambda"],
    )


def _sampling(estimator: Any, rows: float, features: float) -> Sampling | None:
    """How trees draw; None, and no seed is asked for, where nothing is drawn."""
    if rows == features == 1.0:
        return None
    given, fitted = estimator.random_state, vars(estimator).get("_earlier", estimator)
    drawn = getattr(fitted, "_decided_", {}).get("random_state")
    if drawn is not None and (given is None or isinstance(given, np.random.RandomState)):
        given = drawn  # to go on as one fit would
    return Sampling(rows, features, check_seed("random_state", given))


def signs_of(estimator: Any, n_features: int, n_scores: int) -> np.ndarray | None:
    """Monotonic constraints by column, (n_features,) int8; None if there is none (ValueError)."""
    known = estimator._n_known()
    categorical = None if known is None else known >= 0
    signs = constraint_signs(
        estimator.monotonic_cst, n_features, column_labels(estimator), categorical
    )
    if signs is not None and n_scores > 1:
        raise ValueError(
            "monotonic_cst is for one score: regressors, and classifiers of two classes."
        )
    return signs


def refuse_on_dask(estimator: Any, query_id: object) -> None:
    """Refuse what is not for rows of workers (ValueError)."""
    drawing = estimator.subsample != 1.0 or estimator.colsample_bytree != 1.0
    refusals = (
        (
            estimator.categorical_features is not None,
            "categorical_features is not read with Dask arrays: encode the categories as "
            "numbers, or give X.compute().",
        ),
        (
            estimator.class_weight is not None,
            "class_weight is not read with Dask arrays: give the rows sample_weight instead.",
        ),
        (
            estimator.warm_start or drawing,
            "warm_start, subsample and colsample_bytree are not for Dask arrays: rows of "
            "workers are neither drawn nor gone on with. Give X.compute().",
        ),
        (
            estimator.monotonic_cst is not None,
            "monotonic_cst is not read with Dask arrays: give X.compute().",
        ),
        (
            estimator.objective is not None,
            "objective='lambdarank' is not for Dask arrays, whose queries may lie on several "
            "workers: give X.compute().",
        ),
        (
            query_id is not None,
            "query_id is not read with Dask arrays: leave it out, losses are by row.",
        ),
    )
    for refused, why in refusals:
        if refused:
            raise ValueError(why)


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
