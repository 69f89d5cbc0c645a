"""What a worker holds of any fit: its rows, checked; and what it is asked before the rounds."""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_X_y

from ..estimators.fitting import check_sample_weight, numbers
from ..grid import row_weights, weights_on_grid
from ..inputs.masks import masked_as_missing, refuse_masked
from ..inputs.numerals import check_whole_numbers
from ..kernels.arrays import read_only
from ..kernels.cache import source_hash
from ..kernels.decorators import resolve_n_threads, threads
from ..prices.by_name import labels_of_columns
from .edges import Ranges, Values, distinct, in_short, within


class Part(NamedTuple):
    """Rows of one block, checked; those of weight 0 are gone."""

    number: int  # of the block
    X: np.ndarray  # (n_samples, n_features), of a type that is kept
    y: np.ndarray  # (n_samples,)
    weights: np.ndarray | None  # (n_samples,) float64
    n_given: int  # rows of the block, whatever their weight


class Accepted(NamedTuple):
    """Which rows a fit takes."""

    dtypes: tuple[type, ...]  # that are kept; all else becomes the first
    missing: bool  # whether values may be


def checked_part(
    number: int,
    X: np.ndarray,
    y: ArrayLike,
    weights: ArrayLike | None,
    is_classifier: bool,
    accepted: Accepted,
    n_features: int,
) -> Part:
    """Check a block of rows as `fit` checks all of them, and that it is what its array declares."""
    if np.ndim(X) != 2 or np.shape(X)[1] != n_features:
        raise ValueError(
            f"its shape is {np.shape(X)}, and the array declares {n_features} columns."
        )
    if np.shape(y)[:1] != (len(X),):
        raise ValueError(f"X has {len(X)} rows, and y the shape {np.shape(y)}.")
    if len(X):
        finite = "allow-nan" if accepted.missing else True
        X = masked_as_missing(X, accepted.missing, "the estimator")
        refuse_masked(y, "y")
        check_whole_numbers(X, labels_of_columns(X))
        X, y = check_X_y(
            X, y, dtype=accepted.dtypes, order="C", ensure_all_finite=finite, y_numeric=False
        )
    if is_classifier and len(X):
        # Few rows of a block may well be of many classes; three times the same rows draw no warning
        # of it. Filters of warnings are the whole process's, where other threads check blocks, too.
        check_classification_targets(np.tile(y, 3))
    elif not is_classifier:
        y = numbers(y)
    refuse_masked(weights, "sample_weight")
    if weights is None or not len(X):
        return Part(number, X, y, None if weights is None else np.zeros(0), len(X))
    if np.shape(weights) == (len(X),) and not np.any(weights):
        return Part(number, X[:0], y[:0], np.zeros(0), len(X))
    weights, kept = check_sample_weight(weights, len(X))
    if kept is None:
        return Part(number, X, y, weights, len(X))
    return Part(number, X[kept], y[kept], weights[kept], len(X))


class Summary(NamedTuple):
    """What a worker tells of its rows before the fit begins."""

    n_samples: int
    blocks: list[tuple[int, int]]  # numbers of its blocks, and their rows
    dtype: np.dtype
    weight_sums: list[float] | None  # whose exact sum is that of the weights
    largest_weight: float
    whole: bool  # whether the weights are integers
    targets: np.ndarray  # distinct classes, or smallest and largest target
    machine: tuple[str, str]  # see fingerprint


def fingerprint() -> tuple[str, str]:
    """What must be equal for equal bits: sources and NumPy, and how exp and log round here."""
    values = np.linspace(-700.0, 700.0, 4_001)
    answers = np.concatenate([np.exp(values), np.log(np.abs(values) + 0.5)])
    return (
        f"sources {source_hash()}, NumPy {np.__version__}",
        f"exp and log {hashlib.sha256(answers.tobytes()).hexdigest()[:16]}",
    )


def exact_sums(values: np.ndarray) -> list[float]:
    """Few numbers with the same exact sum."""
    sums = []
    while (rest := math.fsum([*values.tolist(), *(-s for s in sums)])) != 0.0:
        sums.append(rest)
    return sums


def in_turn(method: Callable) -> Callable:
    """Let a method be called once for each step, in order: what comes again is refused."""

    @functools.wraps(method)
    def guarded(self, step: int, *args):
        if step != self._step + 1:
            raise RuntimeError(f"step {step} came after {self._step}")
        self._step = step
        with threads(self._n_threads, self._n_values):
            return method(self, *args)

    return guarded


class Held:
    """Rows of one worker, in its memory; base of the actors."""

    accepted: ClassVar[Accepted]

    def __init__(self, parts: list[Part], is_classifier: bool, n_threads: int | None) -> None:
        parts = [part for part in parts if len(part.y)]
        self._blocks = [(part.number, len(part.y)) for part in parts]
        self._X = read_only(np.concatenate([part.X for part in parts]))
        self._y = np.concatenate([part.y for part in parts])
        self._given = None
        if parts[0].weights is not None:
            self._given = read_only(np.concatenate([part.weights for part in parts]))
        self._is_classifier = is_classifier
        if n_threads is None:
            from distributed import get_worker

            n_threads = get_worker().state.nthreads
        self._n_threads, self._n_values = resolve_n_threads(n_threads), self._X.size
        self._distinct: dict[int, Values] = {}
        self._step = 0

    # --- before the first round -----------------------------------------------------------------

    @in_turn
    def summary(self) -> Summary:
        """Tell what the fit as a whole depends on."""
        y, weights = self._y, self._given
        targets = np.unique(y) if self._is_classifier else np.array([y.min(), y.max()])
        sums = None if weights is None else exact_sums(weights)
        whole = weights is None or bool(np.all(weights == np.rint(weights)))
        largest = 1.0 if weights is None else float(weights.max())
        return Summary(
            len(y), self._blocks, self._X.dtype, sums, largest, whole, targets, fingerprint()
        )

    def _put_on_grid(self, n_samples: int, total: float, whole: bool) -> None:
        """Put the weights on the grid of all rows; see :class:`.training.RowsOfAll`."""
        if self._given is None:
            self._weights = row_weights(None, n_samples)._replace(total=len(self._y))
        else:
            self._weights = weights_on_grid(self._given, total, whole)

    @in_turn
    def distinct(self, features: list[int], most: int) -> list[Values | Ranges]:
        """Tell the distinct values of features, by ranges where they are many."""
        columns = {f: self._X[:, f].astype(np.float64) for f in features}
        self._distinct = {f: distinct(columns[f], self._weights.counts) for f in features}
        return [in_short(self._distinct[f], most) for f in features]

    @in_turn
    def within(self, where: dict[int, tuple[np.ndarray, np.ndarray]], most: int) -> list[Values]:
        """Tell the values of features in intervals; see :func:`.edges.within`."""
        return [within(self._distinct[f], *bounds, most) for f, bounds in where.items()]
