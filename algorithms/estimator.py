"""What all boosted trees of this package can do: fit, predict, and say what it costs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from algorithms.boosting import Boosted, Options, Validation, boost
from algorithms.kernels import resolve_n_threads, threads
from algorithms.losses import Loss, row_weights
from algorithms.metering import MeteredTrees
from algorithms.metrics import check_eval_metric, query_starts, validation_score
from algorithms.persistence import SavedModel
from algorithms.trees.binning import MAX_BINS
from algorithms.trees.forest import Forest
from algorithms.trees.predictor import (
    add_scores,
    bit_vectors,
    staged_scores,
    walk_scores,
)
from algorithms.trees.splitter import Limits

_LARGEST_WEIGHT = 2.0**52


def check_number(name: str, value, *, positive: bool = False) -> float:
    """Give a parameter as a float; refuse what is not a finite number >= 0, or > 0."""
    number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    try:
        number = number and np.isfinite(float(value))
    except OverflowError:  # a whole number beyond any float
        number = False
    if not number or value < 0 or (positive and value == 0):
        least = "> 0" if positive else ">= 0"
        raise ValueError(f"{name} must be a finite number {least}, got {shown(value)}.")
    return float(value)


def check_whole_number(name: str, value, least: int, *, or_none: bool = False) -> int | None:
    """Give a parameter as an int (or None, if allowed); refuse what is not a whole number."""
    if or_none and value is None:
        return None
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or value < least:
        expected = "None or a whole number" if or_none else "a whole number"
        raise ValueError(f"{name} must be {expected} >= {least}, got {shown(value)}.")
    return int(value)


def shown(value) -> str:
    """Return a value as an error message can hold it."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def check_sample_weight(
    sample_weight, n_samples: int
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Validate row weights.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), or None
    n_samples : int

    Returns
    -------
    weights : ndarray of shape (n_samples,), float64, or None
        None if none were given: all are 1.
    kept : ndarray of shape (n_samples,), bool, or None
        Rows whose weight is not 0; None if that is all of them.

    Raises
    ------
    ValueError
        If they do not fit, are negative, not finite, all zero, or sum to more than 2**52.
    """
    if sample_weight is None:
        return None, None
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
    if not np.any(weights > 0):
        raise ValueError("sample_weight is zero for every row: there is nothing to fit.")
    if np.sum(weights / _LARGEST_WEIGHT) > 1:
        raise ValueError(
            f"sample_weight must sum to at most 2**52 ({_LARGEST_WEIGHT:.2g}), so that sums "
            "are exact; divide all weights by a constant."
        )
    kept = weights > 0
    return np.ascontiguousarray(weights), (None if kept.all() else kept)


def _read_only(values: np.ndarray) -> np.ndarray:
    """View that cannot be written to, so that numba compiles kernels for one kind of array."""
    view = values.view()
    view.flags.writeable = False
    return view


def _check_queries(query_id, n_samples: int, name: str) -> np.ndarray | None:
    """Query labels as an array, one for each row and in blocks, or None."""
    if query_id is None:
        return None
    query_id = np.asarray(query_id)
    if query_id.shape != (n_samples,):
        raise ValueError(
            f"{name} must have one label for each of the {n_samples} rows, got an array of shape "
            f"{query_id.shape}."
        )
    query_starts(query_id)
    return query_id


class BoostedTrees(MeteredTrees, SavedModel, BaseEstimator):
    """Base of the estimators; not to be used by itself.

    A subclass lists its parameters in ``__init__`` and defines ``_prices``.
    """

    _newton_leaves = False

    # --- fitting ------------------------------------------------------------------------------

    def fit(self, X, y, *, sample_weight=None, query_id=None, eval_set=None):
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Converted to float64; missing and infinite values are refused.
        y : array-like of shape (n_samples,)
            Targets or class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights >= 0. A weight of 3 equals three copies of the row, also for
            `min_samples_leaf` and for the penalties; rows of weight 0 are left out.
        query_id : array-like of shape (n_samples,), optional
            Query of each row, in blocks. Checked only: the losses are by row.
        eval_set : tuple (X, y) or (X, y, query_id), optional
            Validation set, scored by `eval_metric` after every round.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an input or a parameter does not fit; before any work.
        """
        options = self._options()
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=False)
        weights, kept = check_sample_weight(sample_weight, len(X))
        _check_queries(query_id, len(X), "query_id")
        if kept is not None:
            X, y, weights = X[kept], y[kept], weights[kept]
        encoded, loss = self._encode_targets(y)
        prices = self._prices(X.shape[1])
        validation = self._check_eval_set(eval_set, loss)
        weights = None if weights is None else _read_only(weights)
        self._boost(_read_only(X), _read_only(encoded), weights, loss, options, prices, validation)
        return self

    def _boost(self, X, y, weights, loss, options, prices, validation) -> None:
        if np.all(y == y[0]):
            warnings.warn(
                f"y is constant ({self._decode(y[0])!r}): the model predicts it for every row.",
                UserWarning,
                stacklevel=3,
            )
            initial = np.array([y[0]] if loss.name == "squared" else [0.0], dtype=np.float64)
            options = options._replace(n_estimators=0, start_at_mean=False)
            fitted = boost(X[:1], y[:1], row_weights(None, 1), loss, options, prices)
            fitted = Boosted(fitted.forest, initial, 0)
        else:
            row = row_weights(weights, len(X))
            fitted = boost(X, y, row, loss, options, prices, validation)
            if fitted.n_rounds == 0 and options.n_estimators > 0:
                warnings.warn(self._why_constant(row), UserWarning, stacklevel=3)
        self.validation_scores_ = np.array(validation.history if validation is not None else [])
        self._set_fitted(fitted, options.learning_rate)

    def _why_constant(self, row) -> str:
        if row.sum < 2 * self.min_samples_leaf:
            return (
                f"min_samples_leaf={self.min_samples_leaf} counts row weight, and all rows together"
                f" weigh {row.sum:g}: no split is possible and the model is constant."
            )
        return "No split is worth its cost: the model is constant. A smaller tradeoff allows more."

    def _set_fitted(self, fitted: Boosted, learning_rate: float) -> None:
        self.trees_ = fitted.forest
        self.initial_scores_ = fitted.initial
        self.n_estimators_ = fitted.n_rounds
        # As it was in `fit`: a parameter that is set later must not change predictions.
        self._learning_rate = learning_rate
        self._contributions = learning_rate * fitted.forest.value
        # A model of no use to predict with lane by lane (huge trees) has no bit-vectors.
        self._bit_vectors = bit_vectors(fitted.forest, self._contributions, len(fitted.initial))

    def _options(self) -> Options:
        for name, least in (("n_estimators", 0), ("min_samples_leaf", 1)):
            check_whole_number(name, getattr(self, name), least)
        for name, least in (("max_leaves", 2), ("max_depth", 1), ("early_stopping_rounds", 1)):
            value = getattr(self, name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
                raise ValueError(
                    f"{name} must be None or a whole number >= {least}, got {value!r}."
                )
        for name in ("learning_rate", "min_hessian_leaf"):
            value = getattr(self, name)
            check_number(name, value)
        for name in ("stop_on_negative_gain", "second_order"):
            value = getattr(self, name, True)
            if not isinstance(value, bool | np.bool_):
                raise ValueError(f"{name} must be True or False, got {value!r}.")
        if not isinstance(self.max_bins, Integral) or not 2 <= self.max_bins <= MAX_BINS:
            raise ValueError(
                f"max_bins must be a whole number from 2 to {MAX_BINS}, got {self.max_bins!r}."
            )
        if self.growth not in ("best_first", "breadth_first"):
            raise ValueError(
                f"growth must be 'best_first' or 'breadth_first', got {self.growth!r}."
            )
        if self.init not in ("mean", "zero"):
            raise ValueError(f"init must be 'mean' or 'zero', got {self.init!r}.")
        limits = Limits(
            max_leaves=-1 if self.max_leaves is None else int(self.max_leaves),
            max_depth=-1 if self.max_depth is None else int(self.max_depth),
            min_samples_leaf=float(self.min_samples_leaf),
            min_hessian_leaf=float(self.min_hessian_leaf),
            best_first=self.growth == "best_first",
            stop_on_negative_gain=bool(getattr(self, "stop_on_negative_gain", True)),
        )
        return Options(
            n_estimators=int(self.n_estimators),
            learning_rate=float(self.learning_rate),
            limits=limits,
            max_bins=int(self.max_bins),
            second_order=bool(getattr(self, "second_order", True)),
            newton_leaves=self._newton_leaves,
            start_at_mean=self.init == "mean",
            early_stopping_rounds=self.early_stopping_rounds,
            n_threads=resolve_n_threads(self.n_threads),
        )

    def _check_eval_set(self, eval_set, loss: Loss) -> Validation | None:
        if eval_set is None:
            check_eval_metric(self.eval_metric, loss.name, has_queries=True)
            if self.early_stopping_rounds is not None:
                raise ValueError("early_stopping_rounds needs a validation set: fit(…, eval_set=).")
            return None
        if not isinstance(eval_set, tuple | list) or len(eval_set) not in (2, 3):
            raise ValueError("eval_set must be (X, y) or (X, y, query_id).")
        query_id = eval_set[2] if len(eval_set) == 3 else None
        check_eval_metric(self.eval_metric, loss.name, query_id is not None)
        X, y = validate_data(self, *eval_set[:2], dtype=np.float64, order="C", reset=False)
        query_id = _check_queries(query_id, len(X), "the query_id of eval_set")
        y = self._encode_known(y)
        if not callable(self.eval_metric):  # grades that the metric refuses show up here
            scores = np.zeros((len(X), loss.n_trees))
            validation_score(self.eval_metric, loss.name, scores, y, query_id)
        return Validation(_read_only(X), y, query_id, self.eval_metric, loss)

    # --- prediction ---------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        # A fit that failed on the way leaves attributes behind, but no trees.
        return hasattr(self, "trees_")

    def _check_X(self, X) -> np.ndarray:
        check_is_fitted(self)
        return _read_only(validate_data(self, X, dtype=np.float64, order="C", reset=False))

    def _raw_scores(self, X: np.ndarray) -> np.ndarray:
        out = np.tile(self.initial_scores_, (len(X), 1))
        n_threads = resolve_n_threads(self.n_threads)
        with threads(n_threads, X.size):
            if self._bit_vectors:
                add_scores(self._bit_vectors, X, out, n_threads)
            else:
                walk_scores(self.trees_, 0, self._contributions, X, out)
        return out

    def _staged_raw_scores(self, X: np.ndarray) -> Iterator[np.ndarray]:
        n_threads = resolve_n_threads(self.n_threads)
        return staged_scores(self.trees_, self._contributions, self.initial_scores_, X, n_threads)

    # --- files --------------------------------------------------------------------------------

    def _stored(self) -> tuple[dict, dict[str, np.ndarray]]:
        header = {"n_estimators": int(self.n_estimators_), "learning_rate": self._learning_rate}
        arrays = {
            "initial_scores": self.initial_scores_,
            "validation_scores": self.validation_scores_,
        }
        return header, arrays | self.trees_._asdict()

    def _restore(self, header: dict, arrays) -> None:
        forest = Forest(**{name: arrays[name] for name in Forest._fields})
        self.validation_scores_ = arrays["validation_scores"]
        fitted = Boosted(forest, arrays["initial_scores"], header["n_estimators"])
        self._set_fitted(fitted, header["learning_rate"])
