"""What every `fit` of this package keeps to: it succeeds whole, or changes nothing.

Also what is checked alike of every training set, and the warning of a model that says nothing.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.decorators import announcing
from ..metrics import query_starts
from ..validation.columns import refuse_masked

_LARGEST_WEIGHT = 2.0**52

_Estimator = TypeVar("_Estimator")
_Given = ParamSpec("_Given")


def ignore_constant_parts() -> None:
    """Ignore that a part of a model is constant, but for weights that leave it no split.

    To be called within :class:`warnings.catch_warnings`. That all rows are of one class the whole
    model says itself.
    """
    warnings.filterwarnings("ignore", r"(?!min_samples_leaf=)", ConstantModelWarning)


class ConstantModelWarning(UserWarning):
    """The fitted model predicts the same for every row; the message says why."""


def _without_fit(estimator) -> dict:
    """Attributes of an estimator but for those of a fit, which end with an underscore."""
    return {
        name: value
        for name, value in vars(estimator).items()
        if not name.endswith("_") or name.startswith("__")
    }


def all_or_nothing(
    fit: Callable[Concatenate[_Estimator, _Given], object],
) -> Callable[Concatenate[_Estimator, _Given], _Estimator]:
    """Make a `fit` that fails or is interrupted leave the earlier model whole.

    Collections of Dask are refused unless the estimator says ``_trains_on_dask``.

    The method works on an unfitted copy of the estimator, whose attributes replace the
    estimator's in one assignment when it returns. Until then, whatever happens (a refused input,
    an exception in the user's metric, KeyboardInterrupt, MemoryError), nothing has changed: a
    fitted estimator predicts as before, and one that was never fitted is not fitted.

    Parameters
    ----------
    fit : function
        Method of an estimator; what it returns is ignored.

    Returns
    -------
    function
        The method that does so and returns the estimator; for type checkers, too, with the
        parameters of `fit`.
    """

    @wraps(fit)
    def fit_all_or_nothing(
        self: _Estimator, *args: _Given.args, **kwargs: _Given.kwargs
    ) -> _Estimator:
        _refuse_dask(self, args[0] if args else kwargs.get("X"))
        unfitted = object.__new__(type(self))
        unfitted.__dict__ = _without_fit(self)
        if getattr(self, "warm_start", False):
            unfitted._earlier = self  # what to go on from, if it is fitted
        with announcing():
            fit(unfitted, *args, **kwargs)
        vars(unfitted).pop("_earlier", None)
        self.__dict__ = vars(unfitted)  # one step: no interrupt comes in between
        return self

    return fit_all_or_nothing


def of_dask(values: object) -> bool:
    """Whether values are a collection of Dask's, which is no dependency and so not asked."""
    return type(values).__module__.partition(".")[0] in ("dask", "dask_expr")


def _refuse_dask(estimator, X) -> None:
    """Refuse what would otherwise be copied, whole, into the memory of this process."""
    if not of_dask(X):
        return
    if not getattr(estimator, "_trains_on_dask", False):
        raise ValueError(
            f"{type(estimator).__name__} trains on rows of this process: give X.compute(). Boosted "
            "trees (GBRT, CEGB, Greedy Miser) and AdaBoostMH train on Dask arrays and frames."
        )
    if not type(X).__module__.startswith("dask.array") and not hasattr(X, "to_dask_array"):
        raise ValueError(
            f"X is a Dask {type(X).__name__}, and Dask arrays and frames are read: give such a one."
        )


def one_eval_set(eval_set: Any) -> Any:
    """Take the only pair out of a list of one, as LightGBM and XGBoost have it."""
    if not isinstance(eval_set, list):
        return eval_set
    if len(eval_set) == 1 and isinstance(eval_set[0], tuple | list):
        return eval_set[0]
    several = (isinstance(pair, tuple) and pair and hasattr(pair[0], "shape") for pair in eval_set)
    if len(eval_set) > 1 and all(several):
        raise ValueError(
            f"eval_set must be one validation set, got a list of {len(eval_set)}: choose one."
        )
    return eval_set


def check_sample_weight(
    sample_weight: ArrayLike | None, n_samples: int
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Validate row weights."""
    if sample_weight is None:
        return None, None
    refuse_masked(sample_weight, "sample_weight")
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must be one number >= 0 for each row.") from None
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have one value for each of the {n_samples} rows, got an array of "
            f"shape {weights.shape}."
        )
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if np.any(wrong):
        i = int(np.argmax(wrong))
        raise ValueError(
            f"sample_weight must be finite and not negative; row {i} has {weights[i]}."
        )
    check_total_weight(bool(np.any(weights > 0)), np.sum(weights / _LARGEST_WEIGHT))
    kept = weights > 0
    return np.ascontiguousarray(weights), (None if kept.all() else kept)


def check_total_weight(positive: bool, share: float) -> None:
    """Refuse weights of which none is positive, or whose sums would not be exact.

    `share` is their sum as a share of the largest one that is.
    """
    if not positive:
        raise ValueError("sample_weight is zero for every row: there is nothing to fit.")
    if share > 1:
        raise ValueError(
            f"sample_weight must sum to at most 2**52 ({_LARGEST_WEIGHT:.2g}), so that sums "
            "are exact; divide all weights by a constant."
        )


def weights_by_class(
    class_weight: Any, classes: np.ndarray, encoded: np.ndarray, weights: np.ndarray | None
) -> np.ndarray | None:
    """Row weights times those of their classes; the reference is :mod:`reference.losses`."""
    if class_weight is None:
        return weights
    rows = np.ones(len(encoded)) if weights is None else weights
    labels = classes.tolist()
    if isinstance(class_weight, str):
        of_class = [math.fsum(rows[encoded == k]) for k in range(len(labels))]
        factor = np.array([math.fsum(of_class) / (len(labels) * one) for one in of_class])
    else:
        given = dict(class_weight)
        if classes.dtype.kind in "mM":  # NumPy's, Python's and text for one date are not one key
            dates = np.array(list(given), dtype=classes.dtype).tolist()
            given = dict(zip(dates, given.values(), strict=True))
        unknown = [label for label in given if label not in labels]
        if unknown:
            raise ValueError(
                f"class_weight has {unknown[0]!r}, which is no class of y: these are "
                f"{', '.join(map(repr, labels[:5]))}{' …' if len(labels) > 5 else ''}."
            )
        factor = np.array([float(given.get(label, 1.0)) for label in labels])
    with np.errstate(over="ignore", under="ignore"):
        weighted = rows * factor[encoded]
    if not np.all(np.isfinite(weighted) & (weighted > 0)):
        raise ValueError(
            "class_weight times sample_weight must be finite numbers > 0 in every row."
        )
    check_total_weight(True, np.sum(weighted / _LARGEST_WEIGHT))
    return np.ascontiguousarray(weighted)


def numbers(y: ArrayLike) -> np.ndarray:
    """Targets of a regressor as float64; refuse what is no number."""
    try:
        return np.ascontiguousarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("y must be numbers: this is a regressor.") from None


def check_queries(query_id: ArrayLike | None, n_samples: int, name: str) -> np.ndarray | None:
    """Validate query labels."""
    if query_id is None:
        return None
    refuse_masked(query_id, name)
    query_id = np.asarray(query_id)
    if query_id.shape != (n_samples,):
        raise ValueError(
            f"{name} must have one label for each of the {n_samples} rows, got an array of shape "
            f"{query_id.shape}."
        )
    query_starts(query_id)
    return query_id
