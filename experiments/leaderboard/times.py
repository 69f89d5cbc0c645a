"""What the chosen models take, one at a time: seconds of a training, microseconds of a prediction.

A trial's own seconds are measured while others run beside it, and decide nothing but its limit.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import numba
import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from datasets.sources.storage import write_atomically
from experiments.leaderboard import judging, kept, plan, problems
from experiments.leaderboard.budgets import declared
from experiments.leaderboard.fields import Field
from experiments.leaderboard.plan import Trial
from experiments.leaderboard.trials import train
from experiments.methods.problem import Problem
from experiments.methods.table import METHODS
from experiments.publishing.tables import csv_bytes
from experiments.running.provenance import processor_model

COLUMNS = ["dataset", "prices", "method", "trial", "cut", "train_s", "predict_us", "processor"]
_LEAST = 0.2  # seconds over which predictions are measured, and their fewest runs
_RUNS = 5


def chosen(folder: Path, field: Field) -> pd.DataFrame:
    """Give the trial and cut of each method that validates best on the first division."""
    trials = kept.read(folder, field, 1)
    trials = trials[trials["method"].isin(METHODS)]  # no variants
    return judging.chosen(trials, declared()[field.name][-1:])[["method", "trial", "cut"]]


def timed(cell: Trial, cut: float, problem: Problem) -> tuple[float, float]:
    """Time a training by the clock, and predictions of all test rows at once, in one thread."""
    how, draw = cell.params["train"], cell.params["draw"]
    train(how, problem, {**draw, "rounds": 2})  # loads what is compiled
    begun = time.perf_counter()
    made = train(how, problem, draw)
    took = time.perf_counter() - begun
    model = made.model(min(made.cuts, key=lambda one: abs(one - cut)))  # files have six digits
    part, runs = problem.parts["test"], []
    by_query = part.query is not None and hasattr(model, "ranking_score")
    predict, given = model.predict, (part.X,)
    if by_query:
        predict, given = model.ranking_score, (part.X, part.query)
    while sum(runs) < _LEAST or len(runs) < _RUNS:
        begun = time.perf_counter()
        predict(*given)
        runs.append(time.perf_counter() - begun)
    return took, 1e6 * float(np.median(runs)) / len(part)


def measure(
    published: Path, fields: Iterable[Field], scale: str, say: Callable[[str], object]
) -> Path:
    """Time the chosen models of the first division of each field, and write them as it ends.

    What was measured before of the same models on the same processor is not again.
    """
    path, folder = published / "times.csv", published / kept.FOLDER
    here, table = processor_model(), pd.DataFrame(columns=COLUMNS)
    if path.exists():
        table = pd.read_csv(path)
    for field in fields:
        of_field = (table["dataset"] == field.dataset) & (table["prices"] == field.prices)
        before, wanted = table[of_field], chosen(folder, field)
        known = before.loc[before["processor"] == here, wanted.columns]
        if known.values.tolist() == wanted.values.tolist():
            continue
        lines = _of_field(folder, field, wanted.set_index("method"), scale)
        say(f"{field.name}: {len(lines)} methods, {sum(line[3] for line in lines):.0f} s")
        found = [(field.dataset, field.prices, *line, here) for line in lines]
        table = pd.concat([table[~of_field], pd.DataFrame(found, columns=COLUMNS)])
        write_atomically(path, csv_bytes(table))
    return path


def _of_field(folder: Path, field: Field, wanted: pd.DataFrame, scale: str) -> list[tuple]:
    problem = problems.load(field.name, scale=scale)
    methods = [METHODS[slug] for slug in wanted.index]
    largest, threads, lines = kept.read_tops(folder, field), numba.get_num_threads(), []
    numba.set_num_threads(1)
    try:
        with threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for cell in plan.cells(field, problem, methods, scale, 0, largest):
                trial, cut = wanted.loc[cell.algorithm, ["trial", "cut"]]
                if cell.params["trial"] == trial:
                    took = (float(f"{value:.3g}") for value in timed(cell, cut, problem))
                    lines.append((cell.algorithm, int(trial), float(cut), *took))
    finally:
        numba.set_num_threads(threads)
    return lines
