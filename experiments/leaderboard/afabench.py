"""MiniBooNE's chosen models as AFABench reads results: its plotting-ready tables.

AFABench (Aronsson et al., arXiv 2508.14734, https://github.com/Linusaronsson/AFA-Benchmark) keeps
each prediction of a policy that buys one feature after the other. Its plots of score against cost
take of these the last one of each row, at the action 0, "stop". That one row is written here for
each test row and each model: what is predicted, how many features were bought by then and what they
cost, 1 each. Which were bought, and in which order, is in no row of ours, so that there are no
tables of whole episodes. The test rows are ours, not a split of AFABench's: beside its published
scores they stand for the same data set, not for the same rows. Columns and types are those of its
``docs/reference/evaluation_dataframes.md``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from experiments.leaderboard import per_row
from experiments.methods.problem import Problem

FIELD = ("miniboone", "uniform")
NAME = "afabench_miniboone.parquet"
DTYPES = {
    "action_performed": "UInt64",
    "true_class": "UInt64",
    "accumulated_cost": "Float64",
    "forced_stop": "boolean",
    "n_selections_performed": "UInt64",
    "classifier": "string",
    "predicted_class": "UInt64",
    "generation_index": "UInt64",
    "split_index": "UInt64",
    "afa_method": "string",
    "dataset": "string",
    "dataset_realization_index": "UInt64",
    "eval_split": "string",
    "initializer": "string",
    "train_seed": "UInt64",
    "train_hard_budget": "Float64",
    "train_soft_budget_param": "Float64",
    "eval_seed": "UInt64",
    "eval_hard_budget": "Float64",
    "eval_soft_budget_param": "Float64",
}
"""Of the columns; what has no value here is null."""


class NotExportable(ValueError):
    """What is published does not have what the table needs; the message says what."""


def table_of(chosen: pd.DataFrame, rows: pd.DataFrame, true: np.ndarray) -> pd.DataFrame:
    """Give one line for each test row of each method at each budget."""
    of_field = _of_field(rows)
    models = {
        key: pool.pivot(index="row", columns="kind", values="value")
        for key, pool in of_field.groupby(["method", "trial", "cut"], observed=True)
    }
    parts = []
    for line in _of_field(chosen).itertuples():
        model = models.get((line.method, line.trial, float(np.float32(line.cut))))
        if model is None or len(model) != len(true):
            raise NotExportable(
                f"{per_row.NAME} does not have the {len(true)} test rows of {line.method}, trial "
                f"{line.trial}: run the leaderboard with --rows."
            )
        parts.append(_of_model(line.method, line.budget, model.sort_index(), true))
    if not parts:
        raise NotExportable(f"There is no model of {'@'.join(FIELD)}.")
    return pd.concat(parts, ignore_index=True)


def _of_field(table: pd.DataFrame) -> pd.DataFrame:
    return table[(table["dataset"] == FIELD[0]) & (table["prices"] == FIELD[1])]


def _of_model(method: str, budget: float, model: pd.DataFrame, true: np.ndarray) -> pd.DataFrame:
    right = model["score"].to_numpy() > 0.5
    cost = model["cost"].to_numpy().astype(np.float64)
    known = {
        "action_performed": 0,
        "true_class": true,
        "accumulated_cost": cost,
        "forced_stop": False,
        "n_selections_performed": np.rint(cost).astype(np.int64),
        "classifier": "builtin",
        "predicted_class": np.where(right, true, 1 - true),
        "split_index": np.arange(len(true)),
        "afa_method": method,
        "dataset": FIELD[0],
        "eval_split": "test",
        "initializer": "cold",
        "train_seed": 0,
        "train_soft_budget_param": budget,
        "eval_seed": 0,
    }
    table = pd.DataFrame({name: known.get(name, pd.NA) for name in DTYPES}, index=range(len(true)))
    return table.astype(DTYPES)


def write(published: Path, aside: Path, problem: Problem, path: Path) -> Path:
    """Write the table of what is published.

    Parameters
    ----------
    published : Path
        Folder with ``chosen.csv`` and ``per_row``.
    aside : Path
        Where ``per_row`` is if it is too large for that.
    problem : Problem
        The field, at the scale of what is published.
    path : Path
        The file.

    Raises
    ------
    NotExportable
        If what is published lacks it.
    experiments.leaderboard.per_row.NoParquet
        If pyarrow is not installed.
    """
    per_row.check_installed()
    files = [folder / per_row.NAME for folder in (published, aside)]
    file = next((file for file in files if file.exists()), None)
    if file is None:
        raise NotExportable(f"There is no {per_row.NAME}: run the leaderboard with --rows.")
    classes, true = np.unique(problem.parts["test"].y, return_inverse=True)
    if len(classes) != 2:
        raise NotExportable(f"{FIELD[0]} has {len(classes)} classes in its test rows, not two.")
    table = table_of(pd.read_csv(published / "chosen.csv"), per_row.read(file), true)
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_parquet(path, index=False, compression="zstd", engine="pyarrow")
    return path
