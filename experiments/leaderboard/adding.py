"""A class of somebody's own beside what is published, by training it alone."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from datasets.sources.storage import write_atomically
from experiments.leaderboard import answers, edition, judging, kept, plan, problems
from experiments.leaderboard.fields import Field
from experiments.leaderboard.ratings import areas, ranking
from experiments.leaderboard.trials import run_trial
from experiments.looks import name_of
from experiments.methods.method import Method
from experiments.methods.table import method_of
from experiments.publishing.tables import csv_bytes
from experiments.running.store import Store
from experiments.running.workers import Workers


class NotComparable(ValueError):
    """What is published was not computed on the same rows; the message says where."""


def add(
    name: str,
    published: Path,
    folder: Path,
    store: Store,
    workers: Workers,
    *,
    say: Callable[[str], object] = print,
) -> str:
    """Train a class on the divisions of what is published, and rank it among the others.

    Parameters
    ----------
    name : str
        ``package.module:Class`` with ``fit(X, y)``, ``predict(X)`` and ``prediction_cost(X)``.
    published : Path
        Folder of what is published.
    folder : Path
        Where scores, areas and ranking of all go, the new one's among them.
    store : Store
        Of finished trials.
    workers : Workers
    say : callable
        What is told how many minutes are left, once the second division is finished.

    Returns
    -------
    str
        Its place in words.

    Raises
    ------
    NotComparable
        If a field's rows or prices are others than those of what is published, or none of its
        trials gave a model.
    """
    meta = json.loads((published / "meta.json").read_text(encoding="utf-8"))
    tables = {n: pd.read_csv(published / f"{n}.csv") for n in ("scores", "areas", "bounds")}
    divisions = [(field, d) for field, found in meta["fields"].items() for d in found]
    say(f"{len(divisions)} divisions of {len(meta['fields'])} fields")
    own = []
    for n, (field, division) in enumerate(divisions):
        begun = time.monotonic()
        one = _trained(method_of(name), Field.named(field), division, meta, tables["scores"],
                       store, workers)  # fmt: skip
        own.append(one)
        if n == 1:  # the first loads and compiles
            took = time.monotonic() - begun
            minutes = took * (len(divisions) - 2) / 60
            say(f"The second took {took:.1f} s: about {minutes:.0f} minutes for the others.")
    mine = pd.concat([one for one in own if one is not None] or [pd.DataFrame()])
    if mine.empty:
        raise NotComparable(f"{name} gave no model on any field.")
    its_areas = areas(mine, tables["bounds"])
    joined = {
        "scores": pd.concat([tables["scores"], judging.over_divisions(mine)], ignore_index=True),
        "areas": pd.concat([tables["areas"], its_areas.round(6)], ignore_index=True),
    }
    joined["ranking"] = ranking(joined["areas"])
    folder.mkdir(parents=True, exist_ok=True)
    for kind, table in joined.items():
        write_atomically(folder / f"{kind}.csv", csv_bytes(table))
    return place(name, joined["areas"], joined["ranking"])


def _trained(
    method: Method, field: Field, division: int, meta: dict, scores: pd.DataFrame, store, workers
) -> pd.DataFrame | None:
    """Give a class's scores on a division; None where it cannot take part or no trial has one."""
    problem = problems.load(field.name, scale=meta["scale"], seed=division - 1)
    checksum = problem.provenance["checksum"]
    check_field(field.name, division, checksum, meta)
    if plan.why_not(problem, [method]):
        return None
    of_field = scores[(scores["dataset"] == field.dataset) & (scores["prices"] == field.prices)]
    budgets = sorted(of_field["budget"].unique().tolist())
    planned = plan.cells(field, problem, [method], meta["scale"], division - 1, {}, budgets)
    finished = edition.computed(run_trial, planned, checksum, meta["scale"], store, workers)
    lines = kept.table_of(edition.constant(problem), finished, {})
    if lines["cut"].isna().all():
        return None
    found = judging.judged(field, division, lines, budgets)
    one_feature = set(of_field.loc[of_field["one_feature"] == 1, "budget"])
    found["one_feature"] = found["budget"].isin(one_feature).astype(int)
    return found[found["method"] == method.slug]


def check_field(name: str, division: int, checksum: str, meta: dict) -> None:
    """Refuse a division whose rows or prices are others than those that are published."""
    there = meta["data"].get(name, {}).get(str(division))
    if there is None or there["checksum"] != checksum:
        raise NotComparable(
            f"{name} has other rows here than those of the published scores: take the data from "
            "the same source."
        )


def place(name: str, table: pd.DataFrame, ranked: pd.DataFrame) -> str:
    """Say the place of a method, and on how many data sets its neighbours are worse or better."""
    order = ranked.loc[ranked["rank"].notna(), "method"].tolist()
    if name not in order:
        return f"{name_of(name)} was trained on one data set alone, which is no rank."
    at = order.index(name)
    said = [f"{name_of(name)} is {_ordinal(at + 1)} of {len(order)}"]
    for other, sign, word in ((at + 1, 1, "better than"), (at - 1, -1, "worse than")):
        if 0 <= other < len(order):
            gaps = [gap.mean() * sign for gap in answers.differences(table, name, order[other])]
            count = sum(gap > 0 for gap in gaps)
            said.append(f"{word} {name_of(order[other])} on {count} of {len(gaps)} sets")
    first, *others = said
    return "; ".join([first, ", ".join(others)]) + "."


def _ordinal(n: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(n % 10 if n % 100 not in (11, 12, 13) else 0, "th")
    return f"{n}{ending}"
