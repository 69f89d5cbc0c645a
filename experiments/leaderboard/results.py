"""Plays a scale and writes what came out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from datasets.sources.storage import write_atomically
from experiments.leaderboard import problems, running
from experiments.leaderboard.budgets import declared
from experiments.leaderboard.fields import SCALES, Field, fields
from experiments.leaderboard.judging import CHOSEN, SCORES, Judged, Model, judge, losses
from experiments.leaderboard.plan import Skipped
from experiments.leaderboard.ratings import ranking
from experiments.methods.method import Method
from experiments.running.provenance import environment
from experiments.running.workers import Workers


@dataclass(frozen=True)
class Played:
    """What came out of a scale."""

    scale: str
    judged: dict[Field, Judged]
    skipped: list[Skipped]
    lost: pd.DataFrame  # See :func:`experiments.leaderboard.judging.losses`
    # What was computed with which data, and how long it took
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def scores(self) -> pd.DataFrame:
        """Every method at every budget of every field."""
        return _joined([judged.scores for judged in self.judged.values()], SCORES)

    @property
    def chosen(self) -> pd.DataFrame:
        """Which trial that is."""
        return _joined([judged.chosen for judged in self.judged.values()], CHOSEN)

    @property
    def measured(self) -> dict[Field, dict[Model, dict]]:
        """What the chosen models say of test rows."""
        return {field: judged.measured for field, judged in self.judged.items()}


def _joined(tables: Sequence[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    tables = [table for table in tables if len(table)]
    if not tables:
        return pd.DataFrame(columns=columns)
    keys = ["dataset", "prices", "method", "budget"]
    return pd.concat(tables).sort_values(keys, kind="stable", ignore_index=True)


def played(
    scale: str,
    datasets: Sequence[str],
    methods: Sequence[Method],
    folder: Path,
    workers: Workers,
    *,
    progress: bool = False,
) -> Played:
    """Train what is not in the store, and judge."""
    wanted = fields(scale, datasets)
    finished, skipped = running.run(
        wanted, methods, scale, running.store_in(folder), workers, progress=progress
    )
    judged, rows = {}, {}
    for each in wanted:
        problem = problems.load(each.name, scale=scale)
        own = [trial for trial in finished if trial[0].dataset == each.name]
        judged[each] = judge(each, problem, own, declared()[each.name])
        rows[each.name] = {
            "checksum": problem.provenance["checksum"],
            **{part: len(part_rows) for part, part_rows in problem.parts.items()},
        }
    meta = {"scale": scale, **_what_a_trial_was(scale), "data": rows, **environment()}
    meta["minutes"] = round(sum(seconds for _, _, seconds in finished) / 60, 1)
    meta["trained"] = len(finished)
    return Played(scale, judged, skipped, losses(finished), meta)


def _what_a_trial_was(scale: str) -> dict[str, Any]:
    size = SCALES[scale]
    return {"trials": size.trials, "rounds": size.rounds, "seconds": size.seconds}


def write(folder: Path, outcome: Played) -> list[str]:
    """Write what was judged; give the names of the files."""
    folder.mkdir(parents=True, exist_ok=True)
    skipped = pd.DataFrame(
        [(s.field.dataset, s.field.prices, s.method, s.why) for s in outcome.skipped],
        columns=["dataset", "prices", "method", "why"],
    )
    texts = {
        "scores.csv": _csv(outcome.scores),
        "ranking.csv": _csv(ranking(outcome.scores)),
        "chosen.csv": _csv(outcome.chosen),
        "skipped.csv": _csv(skipped),
        "lost.csv": _csv(outcome.lost),
        "meta.json": json.dumps(outcome.meta, indent=2, sort_keys=True) + "\n",
    }
    for name, text in texts.items():
        write_atomically(folder / name, text.encode())
    return list(texts)


def _csv(table: pd.DataFrame) -> str:
    return table.to_csv(index=False, lineterminator="\n")
