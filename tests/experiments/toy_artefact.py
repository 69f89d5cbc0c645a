"""A tiny artefact and a tiny data module, so that the machinery can be tested in seconds.

Run as a program it is the command line on the toy: the tests kill and interrupt it.
"""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from matplotlib.figure import Figure

from experiments.artefact import SCALES, Artefact, Cell, Tolerance
from experiments.registry import Registry
from experiments.running import workers
from experiments.running.suite import Suite
from tests.experiments.toy_cells import (
    ChecksumMismatch,
    DamagedData,
    DataUnavailable,
    UnknownDataset,
    load,
    run_cell,
)


def status():
    common = {"present": True, "bytes": 1234, "terms": "free", "note": ""}
    return [
        {"name": "nearby", "source": "cache", "synthetic": False, **common},
        {"name": "made_up", "source": "bundled", "synthetic": True, **common},
        {"name": "nowhere", "source": "none", "synthetic": False, **common, "present": False},
        {"name": "far", "source": "official", "synthetic": False, **common, "present": False},
    ]


def describe(name):
    if name not in ("nearby", "made_up", "far", "damaged", "cut_off"):
        raise UnknownDataset(f"unknown data set {name!r}: did you mean nearby?")
    return {}


def fetch(name):
    load(name, scale="laptop", data="real", seed=0)
    return [{"file": f"{name}.txt", "sha256": "0" * 64, "source": "official", "bytes": 1234}]


DATASETS = SimpleNamespace(
    load=load,
    status=status,
    describe=describe,
    fetch=fetch,
    verify=fetch,
    UnknownDataset=UnknownDataset,
    DataUnavailable=DataUnavailable,
    ChecksumMismatch=ChecksumMismatch,
    DamagedData=DamagedData,
)


def render(rows, meta):
    figure = Figure(figsize=(3, 2))
    ax = figure.subplots()
    for algorithm, mine in rows.groupby("algorithm"):
        ax.plot(mine["step"], mine["score"], ".", label=algorithm)
    ax.set_title(f"{meta['title']} {len(meta['seeds'])}")
    ax.legend()
    return figure


def difference(rows):
    table = rows.pivot_table(index="seed", columns="algorithm", values="score")
    return (table["better"] - table["worse"]).to_numpy()


def make_toy(
    *,
    artefact_id="toy-figure2",
    n_steps=2,
    sleep=0.0,
    fail_at=None,
    sets=("nearby", "made_up"),
    n_seeds=2,
    alone=False,
):
    def make_cells(scale, seeds):
        return [
            Cell(
                name,
                algorithm,
                {"step": step, "sleep": sleep, "fail_at": fail_at},
                seed,
                alone=alone,
            )
            for name in sets
            for seed in seeds
            for algorithm in ("better", "worse")
            for step in range(n_steps)
        ]

    return Artefact(
        id=artefact_id,
        paper="toy_2000",
        title="Toy, Figure 2",
        shows="Nothing.",
        minutes={"smoke": 0.1, "laptop": 0.2, "overnight": 0.3, "paper": 0.3},
        seeds=dict.fromkeys(SCALES, n_seeds),
        make_cells=make_cells,
        run_cell=run_cell,
        keys=("step", "part"),
        tolerances={"score": Tolerance(absolute=1e-6)},
        render=render,
        paper_numbers="None.",
    )


def suite(results, *artefacts, **options):
    return Suite(Registry(artefacts or (make_toy(**options),)), DATASETS, Path(results))


@contextlib.contextmanager
def computing_here():
    """Compute cells in this process: Dask's workers, which ``test_run`` has, begin slowly."""

    def gather(self, tasks, indices):
        for index in indices:
            try:
                outcome = workers.compute(tasks[index])
            except Exception as error:
                outcome = error
            yield index, outcome

    with mock.patch.object(workers.Workers, "_gather", gather):
        yield


def with_run_cell(artefact, function):
    return dataclasses.replace(artefact, run_cell=function)
