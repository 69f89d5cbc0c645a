"""Runs trials, keeps what is finished, and gathers it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

from experiments.cell import Cell, digest
from experiments.leaderboard import problems
from experiments.leaderboard.fields import Field
from experiments.leaderboard.plan import Skipped, cells
from experiments.leaderboard.trials import run_trial
from experiments.methods.method import Method
from experiments.methods.table import METHODS
from experiments.running.closure import sources_hash
from experiments.running.provenance import environment
from experiments.running.run import compute_and_keep
from experiments.running.store import Store
from experiments.running.workers import Task, Workers

log = logging.getLogger(__name__)


def key_of(cell: Cell, checksum: str) -> str:
    """Hash of what determines the rows of a trial.

    The sources of its own method count, not those of the others: a new method leaves what is
    finished as it is.
    """
    library = {}
    if cell.algorithm in METHODS and (name := METHODS[cell.algorithm].library) is not None:
        library = {name: metadata.version(name)}
    module = cell.params["train"].partition(":")[0]
    params = {name: v for name, v in cell.params.items() if name not in ("trial", "scale")}
    return digest(
        ["leaderboard", params, checksum, library, environment(), _sources(),
         sources_hash(module, problems.__name__, "")]
    )  # fmt: skip


def _sources() -> str:
    return sources_hash(run_trial.__module__, problems.__name__, "")


def run(
    played: Sequence[Field],
    methods: Sequence[Method],
    scale: str,
    store: Store,
    workers: Workers,
    *,
    load: Callable = problems.load,
    progress: bool = False,
) -> tuple[list[tuple[Cell, list[dict], float]], list[Skipped]]:
    """Compute what the store does not hold, field by field.

    Returns
    -------
    finished : list of (Cell, rows, seconds)
    skipped : list of Skipped
    """
    finished, skipped = [], []
    for field in played:
        problem = load(field.name, scale=scale)
        own, cannot = cells(field, problem, methods, scale)
        skipped += cannot
        checksum = problem.provenance["checksum"]
        del problem  # the workers have their own
        finished += _computed(field, own, checksum, scale, store, workers, load, progress)
    return finished, skipped


def _computed(field, planned, checksum, scale, store, workers, load, progress):
    """Compute the trials on a field; what is in the store is not."""
    keys = [key_of(cell, checksum) for cell in planned]
    found = {i: entry for i, key in enumerate(keys) if (entry := store.get(key)) is not None}
    pending = [i for i in range(len(keys)) if i not in found]
    log.info("%s: %d trials, %d of them finished before", field.name, len(keys), len(found))
    if pending:
        identity, sources = {"checksum": checksum}, _sources()
        outcomes = compute_and_keep(
            f"the leaderboard on {field.name}",
            [Task(run_trial, load, planned[i], scale, "real", identity, sources) for i in pending],
            [keys[i] for i in pending],
            store,
            workers,
            kept=len(found),
            progress=progress,
        )
        found.update(zip(pending, outcomes, strict=True))
    return [(cell, *found[i]) for i, cell in enumerate(planned)]


def store_in(folder: Path) -> Store:
    """Give the store of finished trials."""
    return Store(folder / "store")
