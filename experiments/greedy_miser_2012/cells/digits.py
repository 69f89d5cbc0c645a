"""MNIST with families of features at their measured prices: a table of some features of each."""

from __future__ import annotations

import numpy as np

from datasets.dataset import Dataset
from experiments.cell import Cell
from experiments.greedy_miser_2012.cells.measure import trace


def run_cell(cell: Cell, features) -> list[dict]:
    """Measure one method on one draw, see :func:`.measure.trace`.

    Parameters
    ----------
    cell : Cell
        ``per_family`` features of each family, ``n_train`` and ``n_valid`` training images are
        drawn by its seed; all test images are tested.
    features : FeatureSet
    """
    return trace(cell, table(features, cell.seed, **cell.params["drawn"]))


def table(features, seed: int, per_family: int, n_train: int, n_valid: int) -> Dataset:
    """Return the table of a draw: a family is paid once, its features cost nothing besides.

    Families that have fewer features give all; where there are fewer images than asked for,
    training and validation share them in the same proportion.
    """
    rng = np.random.default_rng([seed, 2012])
    chosen = [np.sort(rng.permutation(family)[:per_family]) for family in features.families]
    columns, sizes = np.concatenate(chosen), [len(one) for one in chosen]
    images = rng.permutation(len(features.y_train))[: n_train + n_valid]
    cut = len(images) * n_train // (n_train + n_valid)
    parts = {"train": np.sort(images[:cut]), "valid": np.sort(images[cut:])}
    known = features.train[columns]
    X = {part: _rows(known[:, numbers]) for part, numbers in parts.items()}
    places = np.concatenate([np.arange(size) for size in sizes])
    return Dataset(
        name=features.name,
        task="multiclass",
        **{f"X_{part}": values for part, values in X.items()},
        **{f"y_{part}": features.y_train[numbers] for part, numbers in parts.items()},
        X_test=_rows(features.test[columns]),
        y_test=features.y_test,
        feature_costs=np.zeros(len(columns)),
        cost_unit=features.cost_unit,
        cost_origin=features.cost_origin,
        feature_names=tuple(
            f"{name}_{k}" for name, k in zip(np.repeat(features.names, sizes), places, strict=True)
        ),
        feature_groups=np.repeat(np.arange(len(sizes)), sizes),
        group_costs=dict(enumerate(features.milliseconds.tolist())),
        provenance=features.provenance,
    )


def _rows(columns: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(columns.T, dtype=np.float64)
