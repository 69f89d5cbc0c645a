"""What all boosted trees of this package can do: fit, predict, and say what it costs."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Sequence
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted, check_X_y

from ..boosting import Boosted, Callback, Options, Validation, boost, check_callbacks
from ..cost_meter.importances import gain_shares
from ..cost_meter.trees import MeteredTrees, largest_score
from ..estimators.fitting import (
    ConstantModelWarning,
    all_or_nothing,
    check_queries,
    check_sample_weight,
    of_dask,
    one_eval_set,
    weights_by_class,
)
from ..estimators.parameters import Parameter, check_whole_number
from ..estimators.threads import threads_elsewhere, threads_of
from ..estimators.validation import (
    all_finite,
    keep_column_numbers,
    one_plain_row,
    plain_rows,
    validate_data,
)
from ..grid import RowWeights, row_weights
from ..kernels.arrays import read_only
from ..kernels.decorators import threads
from ..lambdarank import nothing_to_rank
from ..losses import Loss
from ..metrics import check_eval_metric, check_has_score, validation_score
from ..trees.categorical_forest import builder_of, refuse_sets
from ..trees.layouts import FastPredictor, Layouts, score_one, score_one_by_one
from ..trees.predictor import BitVectors, add_scores, staged_scores, walk_scores
from ..trees.tiles import score_all
from ..validation.sparse_rows import SparseColumns, SparseRows, dense_rows
from ..validation.types import EvalSet
from .categories import ReadsCategories
from .files import SavedForest
from .fit_options import decisive, earlier_model, options_of, ranking_loss, refuse_on_dask, signs_of

# Fits read single columns: a copy of all in float64 would only take memory.
_KEPT_TYPES = (np.float64, np.float32)
_FEW_ROWS = 8  # so many are sooner scored one by one than a parallel kernel has begun
_Callbacks = tuple[Callback, ...]
# The model, the validation set with its scores, and why the model is constant if it is.
_Trained = tuple[Boosted, Validation | None, str | None]
_READ = {"order": "C", "ensure_all_finite": "allow-nan", "accept_sparse": ("csr", "csc")}


class BoostedTrees(MeteredTrees, ReadsCategories, SavedForest, BaseEstimator):
    """Base of the estimators; not to be used by itself.

    A subclass lists its parameters in ``__init__``, says in the table ``_parameters`` what they may
    be, and defines ``_prices``, and ``_fixed_options`` where it does not leave all of them open.
    """

    _parameters: ClassVar[dict[str, Parameter]]
    _attributes: ClassVar[dict[str, Parameter]] = {
        "trees_": Parameter("Forest", "All trees as flat arrays."),
        "initial_scores_": Parameter(
            "ndarray of shape (n_trees_per_round,)", "Scores before the first round."
        ),
        "n_estimators_": Parameter("int", "Rounds kept."),
        "feature_importances_": Parameter(
            "ndarray of shape (n_features,)",
            "Share of each feature in the net gain of all splits; they sum to 1, or are 0 without "
            "a split. What rows pay for each is `cost_importances`.",
        ),
        "validation_scores_": Parameter(
            "ndarray", "Validation score after each round; empty without `eval_set`."
        ),
        "categories_": Parameter(
            "dict of int to ndarray",
            "Of each column of categories, by place, those that the model tells apart.",
        ),
        "is_categorical_": Parameter(
            "ndarray of shape (n_features,), bool, or None", "Which columns are of categories."
        ),
        "n_features_in_": Parameter("int", "Number of columns."),
        "feature_names_in_": Parameter(
            "ndarray of str", "Names of the columns, if `fit` was given a table with names."
        ),
    }
    _newton_leaves = False
    _trains_on_dask = True

    # --- fitting ------------------------------------------------------------------------------

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        query_id: ArrayLike | None = None,
        eval_set: EvalSet | None = None,
        callbacks: Sequence[Callback] | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse matrix, Dask array or Dask frame of shape (n_samples, n_features)
            Converted to float64, but for an array of float32 in C order, which is read as it is.
            Of a sparse matrix what is not stored is 0, a column at a time is made dense, and the
            model is that of the dense one, bit for bit; a row pays for a 0 as for any value.
            NaN is a missing value: it has a bin of its own, and each split learns where it goes
            (:mod:`reference.trees` has the rule). Infinite values are refused. The rows of a Dask
            collection stay with the workers of this process's Dask client; the model is the same,
            bit for bit (:mod:`algorithms.distributed`).
        y : array-like of shape (n_samples,)
            Targets or class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights >= 0. A weight of 3 equals three copies of the row, also for
            `min_samples_leaf` and for the penalties; rows of weight 0 are left out. With
            ``objective="lambdarank"`` all documents of a query have the same weight, and 3 equals
            three copies of the query, each with a `query_id` of its own.
        query_id : array-like of shape (n_samples,), optional
            Query of each row, in blocks. What ``objective="lambdarank"`` ranks within; else
            checked only, as the losses are by row.
        eval_set : tuple (X, y) or (X, y, query_id), or a list of one, optional
            Validation set, scored by `eval_metric` after every round, in this process; float32 is
            read as it is, too.
        callbacks : list of callable, optional
            Each is called after every round with a :class:`algorithms.boosting.Round`
            (number, splits, validation score), to show progress, to log, or to stop: one that
            returns True makes the round the last. Of a fit that stops early by
            `early_stopping_rounds` the rounds up to the best are kept then, too.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an input or a parameter does not fit; before any work. Whatever stops a fit, an
            earlier one is then still there, whole.
        """
        options = self._options()
        watching = check_callbacks(callbacks, self.verbose)
        train = self._trained_by_workers if of_dask(X) else self._trained_here
        fitted, validation, why = train(X, y, sample_weight, query_id, eval_set, options, watching)
        if why is not None:
            warnings.warn(why, ConstantModelWarning, stacklevel=3)
        self.validation_scores_ = np.array(validation.history if validation is not None else [])
        self._set_fitted(fitted, options.learning_rate)
        return self

    def _trained_here(
        self, X, y, sample_weight, query_id, eval_set, options: Options, callbacks: _Callbacks
    ) -> _Trained:
        """Train on rows in this process."""
        read = self._training_table(X, y)
        if read is None:
            X, y = validate_data(self, X, y, dtype=_KEPT_TYPES, y_numeric=False, **_READ)
        else:
            X, y, table = read
        weights, kept = check_sample_weight(sample_weight, X.shape[0])
        query_id = check_queries(query_id, X.shape[0], "query_id")
        if kept is not None:
            X, y, weights = X[kept], y[kept], weights[kept]
            query_id = None if query_id is None else query_id[kept]
        X = SparseColumns(X) if issparse(X) else read_only(X)
        encoded, loss = self._encode_targets(y)
        if self.objective is not None:
            loss = ranking_loss(self, encoded, query_id, weights)
        if self.class_weight is not None:
            weights = weights_by_class(self.class_weight, self.classes_, encoded, weights)
        prices = self._prices(X.shape[1])
        if read is not None:
            X = read_only(self._learn_categories(X, table, weights, options.max_bins))
            options = options._replace(n_known=self._n_known())
        options = options._replace(signs=signs_of(self, X.shape[1], loss.n_trees))
        self._decided_ = decisive(self, options, prices)
        validation = self._check_eval_set(eval_set, loss)
        earlier = earlier_model(self, X, options)
        if np.all(encoded == encoded[0]) or nothing_to_rank(loss):
            return self._constant(encoded[0], loss, validation)
        if options.sampling is not None and options.sampling.rows < 1.0 and weights is None:
            weights = np.ones(len(X))  # of rows that are not drawn they become 0
        row = row_weights(None if weights is None else read_only(weights), len(X))
        y = read_only(encoded)
        fitted = boost(X, y, row, loss, options, prices, validation, callbacks, earlier)
        return self._trained(fitted, row, options, validation)

    def _trained_by_workers(
        self, X, y, weights, query_id, eval_set, options: Options, callbacks: _Callbacks
    ) -> _Trained:
        """Train on rows that the workers of a Dask cluster hold."""
        from ..distributed.training import (
            RowsOfAll,  # Dask is no dependency of this package
            as_dask_arrays,
            dask_column_names,
        )
        from ..distributed.tree_workers import Rows
        from ..distributed.workers import rows_on_workers

        refuse_on_dask(self, query_id)
        if (names := dask_column_names(X)) is not None:
            self.feature_names_in_ = names
        keep_column_numbers(self, X)
        X, y, weights = as_dask_arrays(X, y, weights)
        with rows_on_workers(
            Rows, X, y, weights, is_classifier(self), threads_elsewhere(self)
        ) as asked:
            rows = RowsOfAll(*asked)
            self.n_features_in_ = X.shape[1]
            encoded, loss = self._encode_targets(rows.targets)
            prices = self._prices(X.shape[1])
            self._decided_ = decisive(self, options, prices)
            validation = self._check_eval_set(eval_set, loss)
            if encoded[0] == encoded[-1]:
                return self._constant(encoded[0], loss, validation)
            classes = getattr(self, "classes_", None)
            fitted = rows.boost(X.shape[1], loss, classes, options, prices, validation, callbacks)
            return self._trained(fitted, rows.weights, options, validation)

    def _constant(self, target, loss: Loss, validation) -> _Trained:
        """Train nothing: all targets are the same."""
        initial = np.array([target] if loss.name == "squared" else [0.0], dtype=np.float64)
        nothing = Boosted(builder_of([], self._n_known()).forest(), initial, 0)
        why = f"y is constant ({self._decode(target)!r}): the model predicts it for every row."
        if nothing_to_rank(loss):
            why = "No query has documents of different grades: nothing is ranked, all scores are 0."
        return nothing, validation, why

    def _trained(self, fitted: Boosted, row: RowWeights, options: Options, validation) -> _Trained:
        constant = fitted.n_rounds == 0 and options.n_estimators > 0
        return fitted, validation, self._why_constant(row) if constant else None

    def _why_constant(self, row) -> str:
        if row.sum < 2 * self.min_samples_leaf:
            why = (
                f"min_samples_leaf={self.min_samples_leaf} counts row weight, and all rows together"
                f" weigh {row.sum:g}: no split is possible and the model is constant."
            )
            more = " The weights are too small: with a mean of 1 they count rows."
            return why if row.values is None else why + more
        return "No split is worth its cost: the model is constant. A smaller tradeoff allows more."

    def _set_fitted(self, fitted: Boosted, learning_rate: float) -> None:
        if not np.isfinite(largest_score(fitted.forest, learning_rate)):
            raise ValueError(
                f"The scores diverge: with learning_rate={learning_rate:g} they are no finite "
                "numbers. Use a smaller one."
            )
        self.trees_ = fitted.forest
        self.initial_scores_ = fitted.initial
        self.n_estimators_ = fitted.n_rounds
        # As it was in `fit`: a parameter that is set later must not change predictions.
        self._learning_rate = learning_rate
        self._contributions = learning_rate * fitted.forest.value
        self._layouts = Layouts(fitted.forest, self._contributions, fitted.initial)

    def first_rounds(self, n_rounds: int) -> Self:
        """Give the model as it was after its first rounds.

        Parameters
        ----------
        n_rounds : int
            0 to `n_estimators_`.

        Returns
        -------
        estimator
            A fitted copy; its parameters are those of this estimator.

        Raises
        ------
        ValueError
            If the model does not have so many rounds.
        """
        check_is_fitted(self)
        n_rounds = check_whole_number("n_rounds", n_rounds, 0, most=self.n_estimators_)
        shorter = copy.copy(self)
        forest = self.trees_.first(n_rounds * len(self.initial_scores_))
        shorter._set_fitted(Boosted(forest, self.initial_scores_, n_rounds), self._learning_rate)
        return shorter

    def _fixed_options(self) -> dict:
        """Options of the grower that are no parameters of this estimator."""
        return {"stop_on_negative_gain": True, "second_order": True}

    def _options(self) -> Options:
        return options_of(self, self._fixed_options(), self._newton_leaves)

    def _check_eval_set(self, eval_set, loss: Loss) -> Validation | None:
        if eval_set is None:
            check_eval_metric(self.eval_metric, loss.name, has_queries=True)
            if self.early_stopping_rounds is not None:
                raise ValueError("early_stopping_rounds needs a validation set: fit(…, eval_set=).")
            return None
        eval_set = one_eval_set(eval_set)
        if not isinstance(eval_set, tuple | list) or len(eval_set) not in (2, 3):
            raise ValueError("eval_set must be (X, y) or (X, y, query_id).")
        query_id = eval_set[2] if len(eval_set) == 3 else None
        check_eval_metric(self.eval_metric, loss.name, query_id is not None)
        if self._known_categories():
            X, y = check_X_y(self._encoded(eval_set[0]), eval_set[1], **_READ)
        else:
            X, y = validate_data(self, *eval_set[:2], dtype=_KEPT_TYPES, reset=False, **_READ)
        X = SparseRows(X) if issparse(X) else read_only(X)
        query_id = check_queries(query_id, len(X), "the query_id of eval_set")
        y = self._encode_known(y)
        if loss.name == "lambdarank" and self.eval_metric == "loss":
            raise ValueError(
                "objective='lambdarank' has derivatives but no loss: give eval_metric='ndcg@5', or "
                "another one of rankings, for eval_set."
            )
        if not callable(self.eval_metric):  # grades that the metric refuses show up here
            scores = np.zeros((len(X), loss.n_trees))
            validation_score(self.eval_metric, loss.name, scores, y, query_id)
            check_has_score(self.eval_metric, y)
        return Validation(X, y, query_id, self.eval_metric, loss)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the net gain of all splits, (n_features,) float64."""
        check_is_fitted(self)
        return gain_shares(self.trees_, self.n_features_in_)

    # --- prediction ---------------------------------------------------------------------------

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "trees_")

    def _is_plain(self) -> bool:
        """Whether rows without names or categories are what the model reads."""
        known = self.__dict__  # sooner told than by hasattr, or by a method
        return "trees_" in known and not ("feature_names_in_" in known or "_categories_" in known)

    def _scores_of(self, X) -> np.ndarray:
        """Raw scores of what is given; a plain row is looked at for a moment only."""
        if self._is_plain() and (row := one_plain_row(X, self.n_features_in_)) is not None:
            return score_one(self._layouts.row, row, len(self.initial_scores_))
        return self._raw_scores(self._check_X(X))

    def _check_X(self, X) -> np.ndarray | SparseRows:
        if "_categories_" in self.__dict__:
            return self._encoded(X)
        if self._is_plain():
            rows = plain_rows(X, self.n_features_in_)
            if rows is not None:
                return rows
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False, **_READ)
        return SparseRows(X) if issparse(X) else read_only(X)

    @property
    def _bit_vectors(self) -> list[BitVectors]:
        return self._layouts.bit_vectors

    def _raw_scores(self, X: np.ndarray | SparseRows) -> np.ndarray:
        if isinstance(X, SparseRows):
            return np.concatenate([self._raw_scores(read_only(rows)) for rows in X.blocks()])
        if len(X) <= _FEW_ROWS:
            return score_one_by_one(self._layouts.row, X, len(self.initial_scores_))
        # Tiles do not know where missing values go.
        n_threads, tiled = threads_of(self), self._layouts.tiled
        if tiled is not None and all_finite(X):
            with threads(n_threads, X.size):
                return score_all(tiled, X, self.initial_scores_, n_threads)
        out, blocks = np.tile(self.initial_scores_, (len(X), 1)), self._bit_vectors
        with threads(n_threads, X.size):
            if blocks:
                add_scores(blocks, X, out, n_threads)
            else:
                walk_scores(self.trees_, 0, self._contributions, X, out)
        return out

    def _walk(self, X, prices, ends: Sequence[int] | None = None):
        """As of any trees; sparse rows part by part."""
        if not isinstance(X, SparseRows):
            yield from super()._walk(X, prices, ends)
            return
        if ends is not None:
            dense_rows(X, "staged_cost")
        walk = super()._walk
        walked = [next(walk(read_only(rows), prices)) for rows in X.blocks()]
        yield tuple(np.concatenate(parts) for parts in zip(*walked, strict=True))

    def _staged_raw_scores(self, X: np.ndarray | SparseRows) -> Iterator[np.ndarray]:
        n_threads, X = threads_of(self), dense_rows(X, "A prediction by stages")
        return staged_scores(self.trees_, self._contributions, self.initial_scores_, X, n_threads)

    def fast_predictor(self) -> FastPredictor:
        """Give a predictor of single rows that checks next to nothing.

        Returns
        -------
        FastPredictor
            ``fast(x)`` is what `predict` says of a row ``x`` of shape (n_features,), float64, and
            ``fast.scores(x)`` its raw scores, bit for bit. It stays as it is when this estimator is
            fitted anew.
        """
        check_is_fitted(self)
        refuse_sets(self.trees_, "fast_predictor")
        classes = getattr(self, "classes_", None)
        n_columns = len(self.initial_scores_)
        return FastPredictor(self._layouts.row, self.n_features_in_, n_columns, classes)
