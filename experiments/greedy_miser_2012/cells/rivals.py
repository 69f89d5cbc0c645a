"""Cronus on a fold of a division: stage-wise regression's trees, with all that Cronus can do.

Its own paper's cells train on two classes and copies of the negatives, for precision@5. Here
grades are ranked and every document counts once. In section 6 all methods reach the score of
stage-wise regression, which a cascade of two classes does not. So trees and cascades regress the
grades, brought to [-1, 1], as all methods do: Cronus's squared loss (Eq. 3) holds for them as it
does for two classes. Hyper-parameters are chosen by NDCG@5, and each cascade may be as it was
initialised or optimised, with every setting of its thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from algorithms.cronus import CronusClassifier
from algorithms.gbrt import GBRTRegressor
from algorithms.metrics import ndcg_at_k
from experiments.cell import Cell
from experiments.cronus_2012.cells.cascades import Trainer, cascade_path, choose
from experiments.cronus_2012.cells.cuts import cut_anew
from experiments.cronus_2012.cells.depth import grown_as_chosen
from experiments.cronus_2012.cells.task import Part, part_of, unfitted
from experiments.greedy_miser_2012.cells.measure import PLACES
from experiments.greedy_miser_2012.cells.models import Measured, Models


@dataclass(frozen=True)
class GradedPart(Part):
    """Rows of one part, scored by their grades."""

    grades: np.ndarray  # (n,) float64

    def scores(self, values: np.ndarray) -> np.ndarray:
        """Return NDCG@5 of each query, (n_queries,) float64; NaN without a relevant document."""
        return ndcg_at_k(self.grades, values, self.query, PLACES, per_query=True)


def cronus_of(grades: np.ndarray) -> type[CronusClassifier]:
    """Return Cronus whose squared loss is of grades; the positives, which weigh more, stay."""

    class CronusOfGrades(CronusClassifier):
        def _problem(self, *given):
            return super()._problem(*given)._replace(y=grades)

    return CronusOfGrades


def cronus(cell: Cell, dataset) -> Models:
    """Train Cronus along its path of λ and measure each cascade as all methods are measured.

    Parameters
    ----------
    cell : Cell
        ``cascade`` of its parameters holds those of a cell of Cronus's own figures; ``times``, the
        copies of a negative, is not used.
    dataset : Dataset
        A fold.

    Returns
    -------
    dict
        A model for each place on the path, initialised (0) or optimised (1), and each threshold
        setting. Folds, whose λ differ, are pooled by their place: λ is so many factors below the
        fold's smallest that leaves a cascade empty.
    """
    own = Cell(cell.dataset, "cronus", {**cell.params["cascade"], "times": 1}, cell.seed)
    valid = _graded(own, dataset, "valid")
    grown = grown_as_chosen(own, dataset, of_grades, valid)
    own = grown.cell
    trainer = Trainer(own, dataset, grown.trees, cronus_of(scaled(dataset)))
    chosen = choose(trainer, valid, own.params["grid"], own.params["tuning_steps"])
    found, cuts = {}, own.params["rejections"]
    for place, (_, model, _) in enumerate(cascade_path(trainer, chosen)):
        for optimised, cascade in enumerate((model.initialised(), model)):
            capped = bool(model.capped_ and optimised)
            for cut, one in zip(cuts, cut_anew(cascade, trainer.train, cuts), strict=True):
                found["cronus", place, optimised, cut] = {
                    part: replace(_measured(one, dataset, part), capped=capped)
                    for part in ("valid", "test")
                }
    return found


def of_grades(cell: Cell, dataset) -> GBRTRegressor:
    """Return gradient boosted regression trees of the grades, brought to [-1, 1]."""
    return unfitted(cell, dataset).fit(dataset.X_train, scaled(dataset))


def scaled(dataset) -> np.ndarray:
    """Return the training grades brought to [-1, 1], (n,) float64."""
    grades = dataset.y_train.astype(np.float64)
    low, high = grades.min(), grades.max()
    return 2 * (grades - low) / (high - low) - 1


def _graded(cell: Cell, dataset, name: str) -> GradedPart:
    part = part_of(cell, dataset, name)
    grades = getattr(dataset, f"y_{name}").astype(np.float64)
    return GradedPart(part.X, part.signs, part.copies, part.query, grades)


def _measured(model, dataset, part: str) -> Measured:
    X, y, query = (getattr(dataset, f"{name}_{part}") for name in ("X", "y", "query"))
    return Measured(
        ndcg_at_k(y, model.ranking_score(X, query), query, PLACES, per_query=True),
        float(model.forest_cost_until_exit(X).mean()),
    )
