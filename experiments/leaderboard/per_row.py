"""What chosen models say of each test row, as a Parquet file: for whoever compares in other ways.

pyarrow writes it, which is in no lock of this suite: it is the extra ``parquet``.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.leaderboard.fields import Field
from experiments.leaderboard.judging import Judged

NAME = "per_row.parquet"
LARGEST = 20_000_000
"""Bytes of the file that is kept under ``results/``."""

COLUMNS = ("dataset", "prices", "method", "trial", "cut", "kind", "row", "value")


class NoParquet(RuntimeError):
    """What is needed to write the file is not installed; the message says what."""


def table_of(judged: dict[Field, Judged]) -> pd.DataFrame:
    """Give one line for each value: ``score`` of a test unit, ``cost`` of a test row.

    Units are rows, or of a ranking the queries that have a score, in their order. A model that is
    chosen at several budgets is there once; ``chosen.csv`` says at which, by trial and cut.

    Returns
    -------
    DataFrame
        With the columns :data:`COLUMNS`; ``kind`` is ``score`` or ``cost``.
    """
    parts = []
    for field, each in judged.items():
        for model, arrays in each.measured.items():
            for kind, name in (("score", "value"), ("cost", "cost")):
                values = arrays[name]
                known = (field.dataset, field.prices, *model, kind)
                part = pd.DataFrame(
                    {"row": np.arange(len(values), dtype=np.int32), "value": values}
                )
                parts.append(part.assign(**dict(zip(COLUMNS[:6], known, strict=True))))
    if not parts:
        return pd.DataFrame(columns=list(COLUMNS))
    joined = pd.concat(parts, ignore_index=True)[list(COLUMNS)]
    texts = ("dataset", "prices", "method", "kind")
    return joined.astype({**{n: "category" for n in texts}, "trial": np.int16, "cut": np.float32})


def write(folder: Path, judged: dict[Field, Judged], aside: Path | None = None) -> Path:
    """Write the file.

    Parameters
    ----------
    folder : Path
    judged : dict of Field to Judged
    aside : Path, optional
        Where it goes instead if it is larger than :data:`LARGEST`.

    Returns
    -------
    Path

    Raises
    ------
    NoParquet
        If pyarrow is not installed.
    """
    check_installed()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / NAME
    table_of(judged).to_parquet(path, index=False, compression="zstd", engine="pyarrow")
    if aside is None or path.stat().st_size <= LARGEST:
        return path
    aside.mkdir(parents=True, exist_ok=True)
    return path.replace(aside / NAME)


def check_installed() -> None:
    """Raise :class:`NoParquet` if pyarrow is not installed."""
    if importlib.util.find_spec("pyarrow") is None:
        raise NoParquet(f"{NAME} needs pyarrow: pip install 'pyarrow>=15' (the extra 'parquet').")
