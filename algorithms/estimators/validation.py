"""Scikit-learn's checks of rows and targets, and what they pass over.

They read what a mask hides as values, and the columns of a table whose names are numbers by their
places alone. Rows to predict that need none of these checks, which take longer than a prediction,
are told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import validation

from ..kernels.arrays import read_only
from ..kernels.decorators import kernel
from ..validation.columns import check_whole_numbers, masked_as_missing, refuse_masked
from ..validation.prices import column_numbers, labels_of_columns, listed

_FLOAT64, _FLOAT32 = np.dtype(np.float64), np.dtype(np.float32)
_INFINITE = 0x7FF << 52  # the exponent bits: all set in infinities and NaN alone


@kernel
def _finite_bits(X):
    """Whether no value is missing or infinite; of bits, since sums of floats run one by one."""
    bits, found = X.reshape(-1).view(np.int64), False
    for k in range(bits.shape[0]):
        found |= (bits[k] & _INFINITE) == _INFINITE
    return not found


def all_finite(X: np.ndarray) -> bool:
    """Whether no value of rows (n_samples, n_features), float64, is missing or infinite."""
    return _finite_bits(read_only(X)) if X.flags.c_contiguous else bool(np.isfinite(X).all())


def plainly_rows(X: object, n_features: int) -> bool:
    """Whether something is an array of numpy's own class, of some rows of so many columns."""
    return type(X) is np.ndarray and X.ndim == 2 and X.shape[1] == n_features and len(X) > 0


def plain_rows(X: ArrayLike, n_features: int) -> np.ndarray | None:
    """Rows as scikit-learn's checks would return them, where it is plain that they would pass."""
    if not plainly_rows(X, n_features):
        return None
    if X.dtype not in (_FLOAT64, _FLOAT32):  # in this machine's byte order, that is
        return None
    rows = read_only(np.ascontiguousarray(X, dtype=np.float64))
    return rows if _finite_bits(rows) else None


def one_plain_row(X: ArrayLike, n_features: int) -> np.ndarray | None:
    """The one row, if the checks would plainly pass it as it is: not even a view is made."""
    if type(X) is not np.ndarray or X.shape != (1, n_features) or X.dtype is not _FLOAT64:
        return None
    if not X.flags.carray:
        return None
    row = X[0]
    return row if _finite_bits(row) else None


def check_array(
    X: ArrayLike,
    *,
    reader: str,
    ensure_all_finite: bool | Literal["allow-nan"] = True,
    **options: Any,
) -> np.ndarray:
    """Check rows by scikit-learn's rules; what a mask hides is missing."""
    X = masked_as_missing(X, ensure_all_finite == "allow-nan", reader)
    return validation.check_array(
        X, ensure_all_finite=ensure_all_finite, estimator=reader, **options
    )


def validate_data(
    estimator: object,
    X: ArrayLike,
    *y: ArrayLike,
    reset: bool = True,
    ensure_all_finite: bool | Literal["allow-nan"] = True,
    **options: Any,
) -> Any:
    """Check rows, and perhaps targets, by scikit-learn's rules for an estimator."""
    if not (reset or y) and ensure_all_finite is True and _passes(estimator, X, **options):
        return X
    given, name = X, type(estimator).__name__
    X = masked_as_missing(X, ensure_all_finite == "allow-nan", name)
    for targets in y:
        refuse_masked(targets, "y")
    if reset and not options.get("skip_check_array"):
        check_whole_numbers(X, labels_of_columns(given))
    checked = validation.validate_data(
        estimator, X, *y, reset=reset, ensure_all_finite=ensure_all_finite, **options
    )
    for targets in checked[1:] if y else ():
        if targets.dtype.kind in "mM" and np.any(np.isnat(targets)):
            raise ValueError("y has missing dates (NaT): leave these rows out.")
    if reset:
        keep_column_numbers(estimator, given)
    else:
        check_order(getattr(estimator, "_column_numbers_", None), column_numbers(given))
    return checked


def _passes(
    estimator: object,
    X: ArrayLike,
    *,
    dtype: Any = None,
    order: str | None = None,
    **others: Any,
) -> bool:
    """Whether rows to predict would be returned as they are: the checks take 60 us and more.

    That is plain of an array of float64 of the width of the training rows, which had no names, with
    at least one row and finite values only.
    """
    if others or np.float64 not in (dtype if isinstance(dtype, list) else [dtype]):
        return False
    if not plainly_rows(X, getattr(estimator, "n_features_in_", -1)) or X.dtype != np.float64:
        return False
    if hasattr(estimator, "feature_names_in_") or (order == "C" and not X.flags.c_contiguous):
        return False
    return all_finite(X)


def keep_column_numbers(estimator: object, X: ArrayLike) -> None:
    """Keep the names of a table's columns if they are whole numbers: prices are matched by them."""
    vars(estimator).pop("_column_numbers_", None)
    if (numbers := column_numbers(X)) is not None:
        estimator._column_numbers_ = numbers


def check_order(known: Sequence | None, given: Sequence | None) -> None:
    """Refuse columns that are called as those of training, in another order (ValueError)."""
    if known is None or given is None or list(known) == list(given) or set(known) != set(given):
        return
    raise ValueError(
        f"The columns of X have the names that they had in fit, in another order: {listed(given)}, "
        f"and in fit {listed(known)}. Put them into the order of fit."
    )
