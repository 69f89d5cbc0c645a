"""Rows for tests of distributed training, laid on workers of one's choice."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path

import dask.array as da
import numpy as np


def make_rows(n_samples=403, seed=0):
    """Columns with ties, few values, a constant, mostly zeros and missing values; a target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 7))
    X[:, 1] = np.round(X[:, 1])
    X[:, 2] = np.where(X[:, 2] > 1.3, np.round(X[:, 2], 1), 0.0)
    X[:, 3] = rng.random(n_samples) > 0.9
    X[:, 4] = 5.0
    y = X[:, 0] + X[:, 1] * X[:, 2] + X[:, 3] + 0.3 * rng.normal(size=n_samples)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def addresses_of(client) -> list[str]:
    """The workers' addresses, asked of the scheduler.

    ``client.scheduler_info`` returns what the client remembers, which a callback of its own, every
    two seconds, overwrites with a record that names no worker: now and then between question and
    answer.
    """
    return sorted(client.nthreads())


def laid_out(client, values, n_blocks=5):
    """A Dask array whose blocks of rows lie on one worker after the other."""
    addresses = addresses_of(client)
    blocks = [
        client.persist(da.from_array(part), workers=[addresses[i % len(addresses)]])
        for i, part in enumerate(np.array_split(values, n_blocks))
    ]
    return da.concatenate(blocks)


def saved(model) -> dict[str, bytes]:
    """The files of the saved model; the archive around them says when it was written."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.zip")
        with zipfile.ZipFile(Path(folder) / "model.zip") as archive:
            return {name: archive.read(name) for name in archive.namelist()}


class Frame:
    """As much of a Dask frame as is asked of one, without PyArrow."""

    def __init__(self, rows, columns):
        self._rows, self.columns = rows, columns

    def to_dask_array(self, lengths):
        assert lengths is True
        return da.from_array(self._rows, chunks=(100, -1))


Frame.__module__ = "dask.dataframe.dask_expr._collection"
