"""What chosen models say of each test row, as Parquet: for whoever compares in other ways.

A folder with a file for each data set. pyarrow writes it, which is in no lock of this suite: it is
the extra ``parquet``.
"""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.leaderboard.fields import Field
from experiments.leaderboard.judging import Judged

NAME = "per_row"
LARGEST = 20_000_000
"""Bytes of all files that are kept under ``results/``."""

COLUMNS = ("dataset", "prices", "method", "trial", "cut", "kind", "row", "value")


class NoParquet(RuntimeError):
    """What is needed to write the file is not installed; the message says what."""


def table_of(judged: dict[Field, Judged]) -> pd.DataFrame:
    """Give one line for each value: ``score`` of a test unit, ``cost`` of a test row.

    Units are rows, or of a ranking the queries that have a score, in their order. A model that is
    chosen at several budgets is there once; ``chosen.csv`` says at which, by trial and cut.
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
    """Write the files; those of an earlier run go.

    Parameters
    ----------
    folder : Path
    judged : dict of Field to Judged
    aside : Path, optional
        Where they go instead if they are larger than :data:`LARGEST`.

    Returns
    -------
    Path
        The folder with ``<dataset>.parquet``.

    Raises
    ------
    NoParquet
        If pyarrow is not installed.
    """
    check_installed()
    path = folder / NAME
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    table = table_of(judged)
    for name, part in table.groupby("dataset", observed=True):
        file = path / f"{name}.parquet"
        part.to_parquet(file, index=False, compression="zstd", engine="pyarrow")
    if aside is None or sum(file.stat().st_size for file in path.iterdir()) <= LARGEST:
        return path
    aside.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(aside / NAME, ignore_errors=True)
    return Path(shutil.move(path, aside / NAME))


def read(path: Path) -> pd.DataFrame:
    """Read the files of :func:`write`, of all data sets."""
    parts = [pd.read_parquet(file) for file in sorted(path.glob("*.parquet"))]
    return pd.concat(parts, ignore_index=True)


def check_installed() -> None:
    """Raise :class:`NoParquet` if pyarrow is not installed."""
    if importlib.util.find_spec("pyarrow") is None:
        raise NoParquet(f"{NAME} needs pyarrow: pip install 'pyarrow>=15' (the extra 'parquet').")
