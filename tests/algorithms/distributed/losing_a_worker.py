"""A fit on two processes, and one during which a process dies; run by a test, as a child."""

from __future__ import annotations

import logging
import os
import signal

import numpy as np
from distributed import Client, LocalCluster

from algorithms.gbrt import GBRTRegressor

from .clusters import laid_out, make_rows, saved


def main() -> None:
    X, y = make_rows()
    model = GBRTRegressor(n_estimators=3, max_leaves=8, n_threads=1)
    here = GBRTRegressor(**model.get_params()).fit(X, y)
    options = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, silence_logs=logging.CRITICAL, **options
        ) as cluster,
        Client(cluster) as client,
    ):
        rows = laid_out(client, X)
        model.fit(rows, y)
        files = [saved(model), saved(here)]
        print("equal", files[0] == files[1])
        scored = []

        def kills_in_the_second_round(y_true, scores, query_id):
            scored.append(float(np.mean(scores)))
            if len(scored) == 2:
                os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
            return scored[-1]

        model.set_params(eval_metric=kills_in_the_second_round)
        try:
            model.fit(rows, y, eval_set=(X, y))
        except Exception as error:
            print(type(error).__name__, error)
        model.set_params(eval_metric="loss")
        print("earlier", saved(model) == files[0])


if __name__ == "__main__":
    main()
