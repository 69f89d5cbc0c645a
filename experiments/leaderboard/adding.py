"""A class of somebody's own beside what is published, by training it alone."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from datasets.sources.storage import write_atomically
from experiments.leaderboard.ratings import ranking
from experiments.leaderboard.results import Played, played, write
from experiments.methods.table import method_of
from experiments.publishing.tables import csv_bytes
from experiments.running.workers import Workers

KEYS = ["dataset", "prices", "method", "budget"]


class NotComparable(ValueError):
    """What is published was not computed on the same rows; the message says where."""


def add(
    name: str,
    published: Path,
    meta: dict,
    folder: Path,
    runs: Path,
    workers: Workers,
    *,
    progress: bool = False,
) -> pd.DataFrame:
    """Train a class on the fields of what is published, at its scale, and rank it among the others.

    Parameters
    ----------
    name : str
        ``package.module:Class`` with ``fit(X, y)``, ``predict(X)`` and ``prediction_cost(X)``.
    published : Path
        Folder with ``scores.csv``.
    meta : dict
        Its ``meta.json``.
    folder : Path
        Where scores and ranking of all go, the new one's among them.
    runs : Path
        Of the store.
    workers : Workers

    Returns
    -------
    DataFrame
        The ranking.

    Raises
    ------
    NotComparable
        If a field's rows or prices are others than those of what is published.
    """
    others = pd.read_csv(published / "scores.csv")
    datasets = list(dict.fromkeys(others["dataset"]))
    own = played(meta["scale"], datasets, [method_of(name)], runs, workers, progress=progress)
    check_same_rows(own, meta)
    write(folder, own)
    mine = own.scores[own.scores["method"] == name]
    joined = pd.concat([others, mine]).sort_values(KEYS, kind="stable", ignore_index=True)
    write_atomically(folder / "scores.csv", csv_bytes(joined))
    ranked = ranking(joined)
    write_atomically(folder / "ranking.csv", csv_bytes(ranked))
    return ranked


def check_same_rows(own: Played, meta: dict) -> None:
    """Refuse a comparison on other rows or prices than those that are published."""
    for field, data in own.meta["data"].items():
        check_field(field, data["checksum"], meta)


def check_field(name: str, checksum: str, meta: dict) -> None:
    """Refuse a field whose rows or prices are others than those that are published."""
    there = meta["data"].get(name)
    if there is None or there["checksum"] != checksum:
        raise NotComparable(
            f"{name} has other rows here than those of the published scores: run the leaderboard "
            f"at the scale {meta['scale']} first, or take the data from the same source."
        )
