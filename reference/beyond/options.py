"""What the estimators have and no paper here has; whoever reads a paper may skip this folder.

A reference takes all of it as one argument, :class:`Beyond`, and asks it where the answer may be
another than the paper's; :data:`NOTHING` gives the paper's. Two things come in by other ways: a
ranking as the ``loss`` (:mod:`reference.beyond.lambdarank`), and features that are bought together
as ``prices`` (:mod:`reference.beyond.groups`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from reference import trees
from reference.beyond import early_stopping, subsampling, warm_start
from reference.beyond.categories import column_of_categories
from reference.beyond.l2 import Penalised
from reference.beyond.missing import WithMissing
from reference.beyond.monotonic import Bounded
from reference.boosting import Model


@dataclass(frozen=True)
class Beyond:
    """What is asked for beyond the paper, by the names of the estimators' parameters.

    ``init`` is ``"mean"`` or ``"zero"``, another start than the paper's; ``categorical_features``
    are column numbers, ``monotonic_cst`` a sign for each column, ``eval_set`` is (X, y) or
    (X, y, query_id), and ``earlier`` a model to go on from.
    """

    init: str | None = None
    sample_weight: np.ndarray | None = None
    categorical_features: Sequence[int] | None = None
    reg_lambda: float = 0.0
    monotonic_cst: Sequence[int] | None = None
    subsample: float = 1.0
    colsample_bytree: float = 1.0
    random_state: object = 0
    earlier: Model | None = None
    eval_set: tuple | None = None
    eval_metric: str | Callable = "loss"
    early_stopping_rounds: int | None = None
    callbacks: Sequence[Callable] = ()

    # --- what a reference asks before the first round ---

    def training_data(self, X, y, limits: trees.Limits) -> trees.TrainingData:
        """Rows of positive weight, their columns in bins, and by what splits are judged."""
        data = trees.training_data(X, y, limits.max_bins, self.sample_weight)
        columns = list(data.columns)
        for m, (x, column) in enumerate(zip(data.X.T, data.columns, strict=True)):
            if m in (self.categorical_features or ()):
                columns[m] = column_of_categories(x, data.weights, limits)
            elif np.any(np.isnan(x)):
                columns[m] = WithMissing(column.edges, column.bins)
        criterion = trees.NEWTON if self.monotonic_cst is None else Bounded(self.monotonic_cst)
        if self.reg_lambda:
            criterion = Penalised(self.reg_lambda, criterion)
        return replace(data, columns=columns, criterion=criterion)

    def earlier_trees(self) -> list[trees.Tree]:
        """Trees of the model to go on from."""
        return warm_start.trees_of(self.earlier)

    def used_before(self, X) -> Iterator[tuple[int, np.ndarray]]:
        """Each feature that an earlier tree tests, with the rows that it is tested of."""
        return warm_start.used_by(self.earlier_trees(), X)

    # --- what reference.boosting.boost asks ---

    def begun(self, model: Model) -> Model:
        """The model before the first round."""
        return model if self.earlier is None else warm_start.going_on(model, self.earlier)

    def seen(self, data: trees.TrainingData, n_before: int) -> Iterator[trees.TrainingData]:
        """What each tree sees of the data, after ``n_before`` trees."""
        shares = self.subsample, self.colsample_bytree
        return subsampling.samples(data, *shares, self.random_state, n_before)

    def is_last(self, model: Model, loss) -> bool:
        """Whether the training ends after this round."""
        return early_stopping.is_last(self, model, loss)

    def chosen(self, model: Model, loss) -> Model:
        """What is kept of the model in the end."""
        return early_stopping.chosen(self, model, loss)


NOTHING = Beyond()
