"""Clusters of one, two and four workers in this process."""

from __future__ import annotations

import dask
import pytest
from distributed import Client, LocalCluster

from algorithms.distributed import workers

# A worker that compiles for long is not given up as lost.
QUIET = {"distributed.scheduler.work-stealing": False, "distributed.scheduler.worker-ttl": None}


@pytest.fixture(scope="module", params=[2, 1, 4])
def client(request):
    with (
        dask.config.set(QUIET),
        LocalCluster(
            n_workers=request.param, threads_per_worker=1, processes=False,
            dashboard_address="127.0.0.1:0",
            memory_limit=None,  # a share of it would be that of this whole process
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        yield client


@pytest.fixture
def used(monkeypatch):
    """Numbers of workers that fits have used."""
    numbers, begin = [], workers.Workers.__init__

    def noting(self, actors):
        numbers.append(len(actors))
        begin(self, actors)

    monkeypatch.setattr(workers.Workers, "__init__", noting)
    return numbers
