"""Judges the trials of an edition and writes what is published of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from datasets.sources.storage import write_atomically
from experiments.leaderboard import answers, judging, kept, ratings
from experiments.leaderboard.fields import SCALES, Field
from experiments.publishing.tables import csv_bytes

WANTED = 0.06
"""Half the width that the intervals of the declared questions are to have."""


class TooFew(ValueError):
    """Too little is finished to be published; the message says what there is."""


def publish(folder: Path, fields: Iterable[Field], fewest: int) -> list[str]:
    """Judge the trials in `folder`, and write what they say; give the names of the files.

    Raises
    ------
    TooFew
        If no field has enough divisions.
    """
    trials = folder / kept.FOLDER
    meta = kept.read_meta(trials)
    most = SCALES[meta["scale"]].divisions if meta else 0
    there = judging.divisions_of(trials, fields, most)
    enough = {field: found for field, found in there.items() if len(found) >= fewest}
    if not enough:
        said = ", ".join(f"{field.name} {len(found)}" for field, found in there.items() if found)
        raise TooFew(
            f"No field has {fewest} divisions ({said or 'none has any'}): python -m experiments "
            "leaderboard edition"
        )
    scores = judging.all_judged(trials, enough)
    within = ratings.bounds(scores)
    areas = ratings.areas(scores, within)
    skipped, lost = judging.reasons(trials, enough)
    meta["fields"] = {field.name: found for field, found in enough.items()}
    meta["not_yet"] = [field.name for field in there if field not in enough]
    return write(
        folder, meta, scores=judging.over_divisions(scores), areas=areas.round(6), bounds=within,
        ranking=ratings.ranking(areas), skipped=skipped, lost=lost,
    )  # fmt: skip


def write(folder: Path, meta: dict, **tables: pd.DataFrame) -> list[str]:
    """Write tables by their names, and ``meta.json``."""
    for name, table in tables.items():
        write_atomically(folder / f"{name}.csv", csv_bytes(table))
    kept.write_meta(folder, meta)
    return [*(f"{name}.csv" for name in tables), "meta.json"]


def said_of_width(areas: pd.DataFrame, divisions: int) -> list[str]:
    """Say how sure the declared questions' answers are, and will be with all divisions."""
    lines = []
    for answer in answers.answers(areas):
        gap, asked = answer.difference, answer.question
        predicted = gap.half_with(divisions)
        will = "will not come" if np.isnan(predicted) or predicted > WANTED else "comes"
        lines.append(
            f"{asked.first} - {asked.second}: {gap.mean:+.3f} ± {gap.half:.3f} over {gap.n_sets} "
            f"sets (between sets {gap.of_sets:.3f}, within {gap.of_divisions:.3f}); with "
            f"{divisions} divisions ± {predicted:.3f}: ± {WANTED} {will}"
        )
    return lines
