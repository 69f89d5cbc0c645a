"""Trains what an edition lacks, field by field and division by division, and keeps each as it ends.

What is finished within a division is in the store of this checkout; a division that is finished is
a file (:mod:`experiments.leaderboard.kept`), with which any checkout of the same sources goes on.
"""

from __future__ import annotations

import logging
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from experiments.cell import Cell, digest, rounded
from experiments.compare.constant import always_alike
from experiments.leaderboard import kept, plan, problems
from experiments.leaderboard.fields import SCALES, Field
from experiments.leaderboard.trials import run_top, run_trial
from experiments.methods import table
from experiments.methods.method import Method
from experiments.methods.problem import Problem
from experiments.running.closure import ROOT, sources_hash
from experiments.running.provenance import environment
from experiments.running.run import compute_and_keep
from experiments.running.store import Store
from experiments.running.workers import Task, Workers

log = logging.getLogger(__name__)

SECONDS = 2.0
"""Of a trial, on average over the first edition's: what minutes are announced by, before others."""


class OtherSources(ValueError):
    """An edition goes on with the sources it began with; the message says where they are."""


def key_of(cell: Cell, checksum: str) -> str:
    """Hash of what determines the rows of a trial.

    The sources of its own method count, not those of the others: a new method leaves what is
    finished as it is.
    """
    of = table.METHODS.get(cell.algorithm)
    library = {} if of is None else of.its_version()
    module = cell.params["train"].partition(":")[0]
    params = {name: v for name, v in cell.params.items() if name not in ("trial", "scale")}
    return digest(
        ["leaderboard", params, cell.seed, checksum, library, environment(), _sources(),
         sources_hash(module, problems.__name__, "")]
    )  # fmt: skip


def _sources() -> str:
    return sources_hash(run_trial.__module__, problems.__name__, "")


def pending(
    folder: Path, fields: Sequence[Field], divisions: Sequence[int], methods: Sequence[Method]
) -> list[tuple[int, Field, list[Method]]]:
    """Give what is not in the files yet, field by field: divisions, and the methods they lack."""
    found = []
    for field in fields:
        for division in divisions:
            there = set(kept.read(folder, field, division)["method"])
            lacking = [method for method in methods if method.slug not in there]
            if lacking:
                found.append((division, field, lacking))
    return found


def minutes(folder: Path, wanted: Iterable[tuple[int, Field, list[Method]]], scale: str) -> float:
    """Estimate the processor minutes of what is pending, by the trials of the same fields."""
    total, by_field = 0.0, {}
    for _, field, methods in wanted:
        if field not in by_field:
            tables = [kept.read(folder, field, d + 1) for d in range(SCALES[scale].divisions)]
            seconds = [v for table in tables for v in table["seconds"].dropna()]
            by_field[field] = sum(seconds) / len(seconds) if seconds else SECONDS
        total += by_field[field] * len(methods) * SCALES[scale].trials
    return total / 60


def run(
    wanted: Iterable[tuple[int, Field, list[Method]]],
    scale: str,
    folder: Path,
    store: Store,
    workers: Workers,
    *,
    load: Callable = problems.load,
    progress: bool = False,
) -> None:
    """Train what is pending; each division of a field is written as it ends.

    Raises
    ------
    OtherSources
        If the edition began with other sources, or data.
    """
    for division, field, methods in wanted:
        seed = division - 1
        problem = load(field.name, scale=scale, seed=seed)
        meta = checked_meta(folder, scale, field, division, problem)
        skipped = plan.why_not(problem, methods)
        methods = [method for method in methods if method.slug not in skipped]
        checksum = problem.provenance["checksum"]
        largest = kept.read_tops(folder, field)
        unknown = [m for m in methods if m.has_tradeoff and m.slug not in largest]
        if unknown:
            first = problem if seed == 0 else load(field.name, scale=scale, seed=0)
            looked = plan.tops(field, first, unknown, scale, 0)
            of_first = first.provenance["checksum"]
            found = computed(run_top, looked, of_first, scale, store, workers, load, progress)
            largest |= {cell.algorithm: rows[0]["top"] for cell, rows in found if "top" in rows[0]}
            failed = {cell.algorithm: rows[0]["failed"] for cell, rows in found
                      if "top" not in rows[0]}  # fmt: skip
            kept.write_tops(folder, field, largest)
            skipped |= {slug: f"its largest λ was not found: {why}" for slug, why in failed.items()}
            methods = [method for method in methods if method.slug not in skipped]
        planned = plan.cells(field, problem, methods, scale, seed, largest)
        finished = computed(run_trial, planned, checksum, scale, store, workers, load, progress)
        before = kept.read(folder, field, division)
        lines = kept.table_of(constant(problem), finished, skipped)
        if len(before):
            lines = kept.joined(before, lines)
        kept.write(folder, field, division, lines)
        kept.write_meta(folder, meta)


def constant(problem: Problem) -> tuple[float, float]:
    """Give what answers always alike scores on validation rows, and on test rows."""
    _, valid, test = always_alike(problem)
    return rounded(valid), rounded(test.score())


def computed(
    function: Callable,
    planned: Sequence[Cell],
    checksum: str,
    scale: str,
    store: Store,
    workers: Workers,
    load: Callable = problems.load,
    progress: bool = False,
) -> list[tuple[Cell, list[dict]]]:
    """Compute trials on a division; what is in the store is not."""
    keys = [key_of(cell, checksum) for cell in planned]
    found = {i: entry for i, key in enumerate(keys) if (entry := store.get(key)) is not None}
    lacking = [i for i in range(len(keys)) if i not in found]
    if planned:
        log.info("%s: %d, %d of them finished before",
                 planned[0].label().rpartition(" · ")[0], len(keys), len(found))  # fmt: skip
    if lacking:
        identity, sources = {"checksum": checksum}, _sources()
        outcomes = compute_and_keep(
            "the leaderboard",
            [Task(function, load, planned[i], scale, "real", identity, sources) for i in lacking],
            [keys[i] for i in lacking],
            store,
            workers,
            kept=len(found),
            progress=progress,
        )
        found.update(zip(lacking, outcomes, strict=True))
    return [(cell, _as_trial(found[i][0])) for i, cell in enumerate(planned)]


def _as_trial(rows: list[dict]) -> list[dict]:
    """Give what a trial without a result says as one that says why."""
    if "failed" in rows[0] and "top" not in rows[0]:
        return [{"why": rows[0]["failed"], **rows[0]}]
    return rows


def checked_meta(
    folder: Path, scale: str, field: Field, division: int, problem: Problem
) -> dict[str, Any]:
    """Give what is said of all trials, this division's rows among them; refuse other sources."""
    meta, size, here = kept.read_meta(folder), SCALES[scale], environment()
    others = [sources_hash(one.__name__, problems.__name__, "") for one in (table, plan)]
    frozen = {"scale": scale, "trials": size.trials, "rounds": size.rounds,
              "seconds": size.seconds, "versions": here["versions"],
              "sources": digest([_sources(), *others])}  # fmt: skip
    if meta and any(meta[name] != value for name, value in frozen.items()):
        differ = sorted(name for name, value in frozen.items() if meta[name] != value)
        raise OtherSources(
            f"This edition was begun at {meta['commit']} with other {differ[0]}: go on from a "
            f"checkout of that commit (git worktree add ../edition {meta['commit']}), and bring "
            "its trials along."
        )
    data = meta.setdefault("data", {}).setdefault(field.name, {})
    rows = {part: len(part_rows) for part, part_rows in problem.parts.items()}
    drawn = {"checksum": problem.provenance["checksum"], **rows}
    if data.get(str(division), drawn) != drawn:
        raise OtherSources(f"{field.name} has other rows here than those of its trials.")
    data[str(division)] = drawn
    return {"commit": commit(), **environment(), **frozen, **meta}


def commit() -> str:
    """Give the commit of this checkout, "" if it is none."""
    asked = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
