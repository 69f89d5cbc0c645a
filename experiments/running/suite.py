"""What the commands share: artefacts, data, folders, and the options of a run."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from experiments import data_kinds, setting
from experiments.artefact import LOADERS, Artefact
from experiments.data_commands import DataProblem
from experiments.registry import Registry
from experiments.running import provenance
from experiments.running.run import Result, run, together
from experiments.running.store import Store
from experiments.running.workers import Workers


@dataclass(frozen=True)
class Suite:
    """What the commands work on; a test passes its own."""

    registry: Registry  # Artefacts
    # ``load``, ``status``, ``fetch``, ``verify`` and the exceptions of :mod:`datasets`
    datasets: ModuleType
    # Folder of the published results; runs go to ``runs`` in it
    results: Path = provenance.ROOT / "results"
    # Preregistered claims by the paper's short name; None: those declared in the papers' folders
    claims: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class RunOptions:
    """Options of a run, as given on the command line."""

    scale: str
    data_mode: str
    n_seeds: int | None
    jobs: int
    scheduler: str | None
    store: Path
    quiet: bool
    command: str
    # Parameters by method that ``--set`` changed
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def compute(suite: Suite, artefact: Artefact, options: RunOptions, workers: Workers) -> Result:
    """Compute an artefact, and the user's classes; DataProblem if data are unavailable."""
    result = _computed(suite, artefact, options, workers)
    for name in filter(setting.is_of_users, options.settings):
        own = _computed(suite, setting.with_class(artefact, name), options, workers)
        result = together(artefact, result, own)
    return result


def _computed(suite: Suite, artefact: Artefact, options: RunOptions, workers: Workers) -> Result:
    if artefact.data_form == "none":
        load = data_kinds.load
    else:
        load = getattr(suite.datasets, LOADERS[artefact.data_form])
    with DataProblem.translated(suite.datasets):
        return run(
            artefact,
            scale=options.scale,
            data_mode=options.data_mode,
            n_seeds=options.n_seeds,
            store=Store(options.store),
            workers=workers,
            load=load,
            unavailable=suite.datasets.DataUnavailable,
            progress=not options.quiet,
        )


def describe(artefact: Artefact, options: RunOptions, result: Result, source_tree: str) -> dict:
    """Return the content of ``meta.json``.

    `source_tree` is the hash of the sources when the run began.
    """
    meta = provenance.describe_run(
        artefact,
        scale=options.scale,
        data_mode=options.data_mode,
        seeds=sorted({int(seed) for seed in result.rows["seed"]}),
        data=result.data,
        command=options.command,
        jobs=None if options.scheduler else options.jobs,
        source_tree=source_tree,
    )
    further = {"chosen": result.chosen, "absent": result.absent, "set": options.settings}
    return meta | {name: value for name, value in further.items() if value}


def shown(path: Path) -> str:
    """Return a path as short as the user would type it."""
    with contextlib.suppress(ValueError):
        return str(path.resolve().relative_to(Path.cwd()))
    return str(path)
