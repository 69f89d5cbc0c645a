"""A fit on two processes, and one during which a process is lost; run by a test, as a child.

With the word ``stumps`` it is AdaBoost.MH's, with ``trees`` a fit of trees, with ``frame`` one of
trees on a frame, lost while Dask learns how long its parts are. A second word says what
is lost: a worker that ``dies``, or that ``stops`` without an end, or the ``scheduler``.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import time
from collections.abc import Callable

import numpy as np
from distributed import Client
from distributed.deploy.subprocess import SubprocessCluster

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.distributed import workers
from algorithms.feature_sampling import AllFeatures
from algorithms.gbrt import GBRTRegressor

from .clusters import laid_out, make_rows, saved


class KillsInTheSecondRound(AllFeatures):
    """All features, and in its second round a worker dies; a copy does so, too."""

    def __init__(self, kill: Callable) -> None:
        self.kill = kill

    def begin(self, problem) -> None:
        """Count rounds."""
        self._round = 0

    def propose(self, problem):
        """Choose all features."""
        self._round += 1
        if self._round == 2:
            self.kill()
        return super().propose(problem)


class Trees:
    """Gradient boosted trees; the metric kills."""

    model = GBRTRegressor(n_estimators=3, max_leaves=8, n_threads=1)
    X, y = make_rows()

    def fit_and_lose(self, model, rows, kill: Callable) -> None:
        """Fit while a worker dies."""
        scored = []

        def kills_in_the_second_round(y_true, scores, query_id):
            scored.append(float(np.mean(scores)))
            if len(scored) == 2:
                kill()
            return scored[-1]

        model.set_params(eval_metric=kills_in_the_second_round)
        try:
            model.fit(rows, self.y, eval_set=(self.X, self.y))
        finally:
            model.set_params(eval_metric="loss")


class TreesOnAFrame(Trees):
    """A part of the frame kills as it is computed."""

    def fit_and_lose(self, model, rows, kill: Callable) -> None:
        """Fit while a process is lost."""
        import dask.dataframe as dd
        import pandas as pd

        table = pd.DataFrame(self.X)

        def killing(_):
            with contextlib.suppress(ProcessLookupError):  # the other part was first
                kill()
            time.sleep(60)
            return table

        model.fit(dd.from_map(killing, range(2), meta=table[:0]), self.y)


class BoostedStumps:
    """AdaBoost.MH; the sampler kills."""

    model = AdaBoostMH(n_estimators=3, n_threads=1)
    X, y = np.nan_to_num(Trees.X), Trees.y > 0

    def fit_and_lose(self, model, rows, kill: Callable) -> None:
        """Fit while a worker dies."""
        model.set_params(sampler=KillsInTheSecondRound(_Once(kill)))
        try:
            model.fit(rows, self.y)
        finally:
            model.set_params(sampler="all_features")


class _Once:
    """A function that a sampler's copy shares."""

    def __init__(self, function: Callable) -> None:
        self._function = function

    def __call__(self) -> None:
        self._function()

    def __deepcopy__(self, memory):
        return self


def main() -> None:
    kinds = {"trees": Trees, "frame": TreesOnAFrame, "stumps": BoostedStumps}
    kind, fault = kinds[sys.argv[1]](), sys.argv[2]
    model, X, y = kind.model, kind.X, kind.y
    here = type(model)(**model.get_params()).fit(X, y)
    if fault == "stops":  # the scheduler's process reads after how long a silent one is given up
        os.environ["DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL"] = "10s"
    workers._SAID_AFTER = 1.0
    cluster = SubprocessCluster(
        host="127.0.0.1", n_workers=2, worker_kwargs={"nthreads": 1}, silence_logs=logging.CRITICAL
    )
    client = Client(cluster)
    client.wait_for_workers(2)
    scheduler = cluster.scheduler.process.pid
    of_workers = list(client.run(os.getpid).values())
    lost, with_what = {
        "dies": (of_workers[0], signal.SIGKILL),
        "stops": (of_workers[0], signal.SIGSTOP),
        "scheduler": (scheduler, signal.SIGKILL),
    }[fault]
    try:
        rows = laid_out(client, X)
        model.fit(rows, y)
        files = [saved(model), saved(here)]
        print("equal", files[0] == files[1])
        try:
            kind.fit_and_lose(model, rows, lambda: os.kill(lost, with_what))
        except Exception as error:
            print(type(error).__name__, error)
        print("earlier", saved(model) == files[0], flush=True)
    finally:
        # A cluster without its scheduler would wait for it when closed.
        for process in (*(w.process.pid for w in cluster.workers.values()), *of_workers, scheduler):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        os._exit(0 if sys.exc_info()[0] is None else 1)


if __name__ == "__main__":
    main()
