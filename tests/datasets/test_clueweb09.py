"""ClueWeb09: folds, names and prices, another file's rows."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import datasets
from datasets import clueweb09, mslr
from datasets.sources.find import mirror_path
from tests.datasets.contract import NEEDS_MIRROR, check_contract


def test_names_and_prices():
    names, costs = clueweb09.FEATURES.names, clueweb09.FEATURES.costs
    assert len(names) == len(set(names)) == clueweb09.N_FEATURES
    # Numbers from 1, in the order in which the authors' program writes the features.
    expected = {1: ("pagerank", 1), 2: ("spamrank", 1), 4: ("url_length", 1), 6: ("outlinks", 1)}
    expected |= {7: ("tf_body", 20), 10: ("tf_main_content", 20), 13: ("tfidf_anchor", 20)}
    expected |= {15: ("bm25_body", 100), 28: ("ql_title", 10), 41: ("spl_anchor", 50)}
    for number, (name, cost) in expected.items():
        assert (names[number - 1], costs[number - 1]) == (name, cost)


@NEEDS_MIRROR
def test_prices_are_mslrs_for_like_features(cache):
    costs, origin, _ = mslr.feature_costs()
    assert origin.startswith("published")
    published = dict(zip(mslr.FEATURE_NAMES, costs, strict=True))
    like = {"tf": "tf_sum", "tfidf": "tfidf_sum", "spamrank": "quality", "ql": "lm_dir"}
    for (kind, stream), cost in zip(
        clueweb09.FEATURES.features, clueweb09.FEATURES.costs, strict=True
    ):
        name = like.get(kind, "bm25" if stream and kind != "tf" else kind)
        stream = "document" if stream == "main_content" else stream
        assert published[f"{name}_{stream}" if stream else name] == cost


def test_missing_files_say_how_to_get_them(unreachable):
    pattern = r"(?s)raw\.githubusercontent\.com.*media\.githubusercontent\.com.*Next: allow"
    with pytest.raises(datasets.DataUnavailable, match=pattern):
        datasets.load("clueweb09", data="real")


@NEEDS_MIRROR
def test_a_changed_file_is_refused(cache, tmp_path, monkeypatch):
    if mirror_path() is None:
        pytest.skip("the mirror is an address")
    shutil.copytree(mirror_path() / "clueweb09", tmp_path / "clueweb09")
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", str(tmp_path))
    path = tmp_path / "clueweb09" / "Fold3.test.txt"
    path.chmod(0o644)
    path.write_bytes(path.read_bytes().replace(b"qid:4 ", b"qid:5 "))
    with pytest.raises(datasets.ChecksumMismatch, match=r"Fold3\.test\.txt"):
        datasets.load("clueweb09")


@pytest.mark.slow
@NEEDS_MIRROR
def test_real_clueweb09(cache):
    folds = [datasets.load("clueweb09", data="real", seed=seed) for seed in range(5)]
    for fold, data in enumerate(folds, start=1):
        check_contract(data)
        assert data.provenance["fold"] == fold
        assert (data.X_train.min(), data.X_train.max()) == (0, 1)
    # The test part of fold i is the published file of that number.
    assert [data.y_test.size for data in folds] == [5_309, 5_584, 4_686, 5_004, 6_063]
    assert [np.unique(data.query_test).size for data in folds] == [12, 12, 12, 12, 13]
    np.testing.assert_array_equal(folds[0].query_valid, folds[4].query_test)
    labels = np.concatenate([data.y_test for data in folds])
    assert np.bincount(labels.astype(int)).tolist() == [21_808, 3_274, 1_242, 172, 150]
    assert sum(data.provenance["queries"]["test"]["none_relevant"] for data in folds) == 1
    # The order of the features shows in the zeros: few pages have anchors, all have a body.
    X = np.vstack([data.X_test for data in folds])
    zeros = {name: (X[:, i] == 0).mean() for i, name in enumerate(data.feature_names)}
    for kind in ("tfidf", "bm25", "f2exp", "f2log", "ql", "qljm", "pl2", "spl"):
        order = [
            zeros[f"{kind}_{stream}"] for stream in ("anchor", "title", "main_content", "body")
        ]
        assert order == sorted(order, reverse=True)
        assert order[-1] < 0.05
    assert datasets.verify("clueweb09")
