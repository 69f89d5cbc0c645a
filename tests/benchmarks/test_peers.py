"""Side by side with other libraries: what is said of made-up seconds, and of what is missing."""

from __future__ import annotations

import click
import numpy as np
import pytest

from benchmarks import peers

SECONDS = {
    **{"ours": 3.0, "ours, bins": 1.0, "ours, cost-free": 2.0},
    **{"LightGBM": 6.0, "LightGBM, bins": 2.0, "XGBoost": 12.0, "XGBoost, bins": 4.0},
}


def test_ratios_of_both_peers():
    said = peers.row("rows", SECONDS, "a goal").split()
    assert said == [
        "rows",
        "3.000",
        "6.000",
        "0.50",
        "0.50",
        "12.000",
        "0.25",
        "0.25",
        "1.50",
        "a",
        "goal",
    ]
    priced = {name: value for name, value in SECONDS.items() if "XGBoost" not in name}
    said = peers.row("rows, lazy", priced, "a goal").split()
    assert said == [
        "rows,",
        "lazy",
        "3.000",
        "6.000",
        "0.50",
        "0.50",
        "-",
        "-",
        "-",
        "1.50",
        "a",
        "goal",
    ]


def test_a_peer_that_is_missing_is_named():
    with pytest.raises(click.ClickException, match="no_such_peer is missing: run `make setup"):
        peers.imported("no_such_peer")


def test_xgboost_grows_trees_of_the_same_size():
    xgboost = pytest.importorskip("xgboost", reason="the peers are not installed")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000, 4))
    y = (X[:, 0] * X[:, 1] > 0).astype(np.int64)
    data = xgboost.QuantileDMatrix(X, y, max_bin=peers.BINS)
    booster = xgboost.train(peers.xgboost_settings(), data, 5)
    leaves = [tree.count("leaf=") for tree in booster.get_dump()]
    assert max(leaves) == peers.LEAVES
    assert min(leaves) > peers.LEAVES / 2
