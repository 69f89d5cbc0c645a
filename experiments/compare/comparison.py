"""Runs a comparison: trials of all methods, the choice for each budget, the files."""

from __future__ import annotations

import base64
import hashlib
import inspect
import logging
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import qmc

from algorithms.selection.scoring import is_within
from experiments.cell import Cell, digest
from experiments.compare import show
from experiments.compare.choosing import check_budgets, choose, judge
from experiments.compare.methods import METHODS, N_DRAWN, Method, allows_nan, imported, method_of
from experiments.compare.metrics import Units
from experiments.compare.outcome import Outcome, Search
from experiments.compare.preparing import Asked, Prepared, prepare
from experiments.compare.problem import load
from experiments.compare.tables import Refused
from experiments.compare.trials import run_chosen, run_trial
from experiments.running.closure import sources_hash
from experiments.running.provenance import environment
from experiments.running.run import compute_and_keep
from experiments.running.store import Store
from experiments.running.workers import Task, Workers

log = logging.getLogger(__name__)


class Trial(Cell):
    """A cell whose data set is a file of the run, of which nobody wants to read."""

    def label(self) -> str:
        """Return one line that names the trial."""
        cut = f", cut {self.params['cut']:g}" if "cut" in self.params else ""
        return f"{self.algorithm} · trial {self.params['trial']}{cut}"


def compare(
    asked: Asked, search: Search, out: Path, workers: Workers, *, progress: bool = False
) -> Outcome:
    """Compare all methods that fit on a table, and write what came out.

    Finished trials are kept in ``trials/`` of the folder, under a hash of data, method, parameters
    and sources: the same command goes on where it stopped, and other budgets train nothing anew but
    what they choose.

    Parameters
    ----------
    asked : Asked
        The table and what its columns are.
    search : Search
    out : Path
        Folder for the results; created.
    workers : Workers
        Who trains.
    progress : bool
        Draw progress bars on standard error.

    Raises
    ------
    Refused
        If an input does not fit, or a budget is below the cheapest model.
    CellsFailed
        If a trial raised.
    """
    out.mkdir(parents=True, exist_ok=True)
    prepared = prepare(asked, out / "trials")
    methods, left_out = _methods(prepared, search)
    if not search.own:
        _refuse_tiny_budgets(prepared, asked.split_cost, search.budgets)
    log.info(
        "%s by %s; methods: %d, draws of each: %d", prepared.task, prepared.metric, len(methods),
        search.trials,
    )  # fmt: skip
    store = Store(out / "trials")
    draws = _draws(search, asked.seed)
    cells = [
        Trial(str(prepared.path), method.slug, {"trial": i, "draw": _draw_of(method, draw)})
        for i, draw in enumerate(draws)
        for method in methods
    ]
    results = _computed(run_trial, cells, prepared, store, workers, progress)
    rows = _rows(cells, results)
    check_budgets(rows, search.budgets)
    chosen = choose(rows, search.budgets)
    keys = list(dict.fromkeys(chosen[["method", "trial", "cut"]].itertuples(index=False)))
    kept = [_chosen_cell(cells, *key) for key in keys]
    results = _computed(run_chosen, kept, prepared, store, workers, progress)
    whole = {tuple(key): rows[0] for key, (rows, _) in zip(keys, results, strict=True)}
    measured = {
        key: Units(*(np.array(row[name]) for name in Units._fields)) for key, row in whole.items()
    }
    table, differences = judge(chosen, measured, asked.seed)
    models = _write_models(out, table, whole)
    outcome = Outcome(prepared, methods, left_out, rows, table, differences, models)
    show.write(out, outcome, asked, search)
    return outcome


def _methods(prepared: Prepared, search: Search) -> tuple[list[Method], list[str]]:
    """Give the methods that fit, and a line for each that is left out."""
    unknown = [slug for slug in search.only if slug not in METHODS]
    if unknown:
        raise Refused(f"--only must be of {', '.join(METHODS)}, not {unknown[0]!r}.")
    methods, left_out = [], []
    for slug in search.only or METHODS:
        method = METHODS[slug]
        if prepared.task not in method.tasks:
            left_out.append(f"{method.label}: not for {prepared.task}")
        elif not method.installed():
            left_out.append(f"{method.label}: {method.library} is not installed (make setup-peers)")
        elif prepared.prices.feature_groups is not None and not method.knows_groups:
            left_out.append(f"{method.label}: it knows no groups of features")
        elif prepared.some_missing and not method.allow_nan:
            left_out.append(f"{method.label}: it does not support missing values")
        elif slug in prepared.unfit:
            left_out.append(f"{method.label}: {prepared.unfit[slug]}")
        else:
            methods.append(method)
    for name in search.own:
        try:
            kind = imported(name)
        except ValueError as error:
            raise Refused(str(error)) from None
        if prepared.some_missing and not allows_nan(kind):
            left_out.append(f"{name}: its tags do not say that it supports missing values")
        else:
            methods.append(method_of(name))
    if not methods:
        raise Refused(f"No method is left to compare ({'; '.join(left_out)}).")
    return methods, left_out


def _refuse_tiny_budgets(prepared: Prepared, split_cost: float, budgets: Sequence[float]) -> None:
    """Refuse what no tree can cost, before anything is trained: every row passes its root."""
    least = prepared.prices.cheapest() + split_cost
    if not is_within(least, min(budgets)):
        raise Refused(
            f"The budget {min(budgets):g} is below the cheapest model there can be: one tree on "
            f"the cheapest feature costs {least:g} a prediction."
        )


def _draws(search: Search, seed: int) -> list[dict[str, Any]]:
    """Give the draws, equal for all methods and spread evenly over each range."""
    hypercube = qmc.LatinHypercube(N_DRAWN, rng=np.random.default_rng([seed, 17]))
    seeds = np.random.default_rng([seed, 18]).integers(2**31 - 1, size=search.trials)
    return [
        {"u": [round(float(v), 9) for v in u], "rounds": search.rounds, "seed": int(s)}
        for u, s in zip(hypercube.random(search.trials), seeds, strict=True)
    ]


def _draw_of(method: Method, draw: dict[str, Any]) -> dict[str, Any]:
    """Give a draw, with what tells a class of the user's from another version of it."""
    if ":" not in method.slug:
        return draw
    kind = imported(method.slug)
    try:
        source = Path(inspect.getfile(kind)).read_bytes()
    except (OSError, TypeError):
        source = b""
    return {
        "seed": draw["seed"],
        "method": method.slug,
        "source": hashlib.sha256(source).hexdigest(),
    }


def _computed(run_cell, cells, prepared: Prepared, store: Store, workers, progress) -> list:
    """Give (rows, seconds) of each cell, from the store or computed now."""
    identity = {"checksum": prepared.checksum}
    sources = sources_hash(run_cell.__module__, load.__module__, str(prepared.path))
    keys = [_key(run_cell, cell, prepared, sources) for cell in cells]
    results = {i: entry for i, key in enumerate(keys) if (entry := store.get(key)) is not None}
    pending = [i for i in range(len(cells)) if i not in results]
    if pending:
        tasks = [Task(run_cell, load, cells[i], "", "", identity, sources) for i in pending]
        names = [keys[i] for i in pending]
        computed = compute_and_keep(
            "the comparison", tasks, names, store, workers, kept=len(results), progress=progress
        )
        results.update(zip(pending, computed, strict=True))
    return [results[i] for i in range(len(cells))]


def _key(run_cell, cell: Cell, prepared: Prepared, sources: str) -> str:
    """Hash of what determines a cell's rows; where the data stand is not of it."""
    method = method_of(cell.algorithm)
    library = {} if method.library is None else {method.library: metadata.version(method.library)}
    params = {name: value for name, value in cell.params.items() if name != "trial"}
    return digest(
        [run_cell.__name__, cell.algorithm, params, prepared.checksum, sources, library,
         environment()]
    )  # fmt: skip


def _rows(cells: Sequence[Cell], results: list) -> pd.DataFrame:
    """Put every trial at every cut into one table."""
    lines = [
        {"method": cell.algorithm, "trial": cell.params["trial"], **row}
        for cell, (rows, _) in zip(cells, results, strict=True)
        for row in rows
    ]
    names = ["method", "trial", "cut", "valid_score", "valid_cost", "test_score", "test_cost"]
    return pd.DataFrame(lines, columns=[*names, "parameters"])


def _chosen_cell(cells: Sequence[Cell], method: str, trial: int, cut: float) -> Cell:
    (cell,) = [c for c in cells if (c.algorithm, c.params["trial"]) == (method, trial)]
    return Trial(cell.dataset, method, {**cell.params, "cut": cut})


def _write_models(out: Path, table: pd.DataFrame, whole: dict) -> dict[float, dict[str, Any]]:
    """Write the recommended model of each budget; say how each is loaded."""
    folder = out / "models"
    folder.mkdir(exist_ok=True)
    models = {}
    for line in table[table["recommended"]].itertuples():
        row = whole[line.method, line.trial, line.cut]
        path = folder / f"budget-{line.budget:g}.zip"
        path.unlink(missing_ok=True)
        if row["model"] is not None:
            path.write_bytes(base64.b64decode(row["model"]))
        models[line.budget] = {
            "path": path if row["model"] is not None else None,
            "module": row["module"],
            "class": row["class"],
            "method": line.method,
        }
    return models
