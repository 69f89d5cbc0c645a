"""ClueWeb09: folds, names and prices, another file's rows."""

import shutil

import numpy as np
import pytest

import datasets
from datasets.sources.find import mirror_path
from tests.datasets.contract import NEEDS_MIRROR, check_contract


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
