"""How an estimator of boosted trees wants to be fitted, and what it cannot want."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..boosting import Options
from ..estimators.constraints import constraint_signs
from ..estimators.parameters import check_seed, checked_parameters
from ..estimators.threads import threads_of
from ..prices.by_name import column_labels
from ..trees.samples import Sampling
from ..trees.splitter import Limits


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
