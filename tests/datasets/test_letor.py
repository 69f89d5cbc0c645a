"""LETOR 4.0: folds, prices, a user's own copy, damage."""

import os
import shutil
from dataclasses import replace

import numpy as np
import pytest

import datasets
from datasets import letor
from datasets.dataset import checksum
from tests.datasets.contract import NEEDS_MIRROR, check_contract
from tests.datasets.picture_archives import tar

PLACES = ["MQ2008/S{k}.txt", "MQ2008/Fold{fold}/test.txt", "S{k}.txt", "Fold{fold}/test.txt"]


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A MQ2008 of five subsets with two queries each."""
    rng = np.random.default_rng(0)
    texts, tables = [], []
    for k in range(5):
        X = np.round(rng.random((7, 46)), 6)
        y, query = rng.integers(0, 3, 7).astype(float), np.repeat([10 * k + 2, 10 * k + 1], [3, 4])
        lines = [
            f"{y[i]:.0f} qid:{query[i]} "
            + " ".join(f"{c + 1}:{v:.6f}" for c, v in enumerate(X[i]))
            + f" #docid = GX{i} inc = 1"
            for i in range(7)
        ]
        texts.append(("\n".join(lines) + "\n").encode())
        tables.append({"X": X, "y": y, "query": query})
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("COST_AWARE_BOOSTING_CACHE", str(tmp_path / "cache"))
    collection = replace(
        letor.COLLECTIONS["mq2008"],
        n_documents=35,
        n_queries=10,
        digests=tuple(checksum(table) for table in tables),
    )
    spec = letor._spec(collection)
    monkeypatch.setitem(letor.SPECS, "mq2008", spec)
    return tmp_path / "mirror" / "mq2008", texts, tables


def put(folder, texts, place: str):
    for k, text in enumerate(texts, start=1):
        path = folder / place.format(k=k, fold=k % 5 + 1)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


@pytest.mark.parametrize("place", PLACES)
def test_a_copy_of_the_users_own(tiny, place):
    folder, texts, tables = tiny
    put(folder, [text.replace(b"\n", b"\r\n") for text in texts], place)
    data = datasets.load("mq2008", data="real", seed=1)
    check_contract(data)
    assert (data.provenance["fold"], data.provenance["division"]) == (2, 0)
    order = {"train": (1, 2, 3), "valid": (4,), "test": (0,)}
    for part, which in order.items():
        for name in ("X", "y", "query"):
            expected = np.concatenate([tables[i][name] for i in which])
            np.testing.assert_array_equal(getattr(data, f"{name}_{part}"), expected)
    assert data.provenance["queries"]["train"]["fewer_than_5_documents"] == 6
    assert len(data.provenance["files"]) == 5
    assert data.provenance["source"] == "mirror"
    anew = datasets.load("mq2008", data="real", seed=6)
    check_contract(anew)
    assert (anew.provenance["fold"], anew.provenance["division"]) == (2, 1)
    assert set(anew.query_test) != set(data.query_test)


CHANGES = {
    "other rows": (3, lambda text: text.replace(b" 46:0.", b" 46:1.", 1), r"tables of .*S4\.txt"),
    "half a feature": (
        *(1, lambda text: text[: text.rindex(b" 46:") + 4] + b"\n"),
        r"S2\.txt, line 7",
    ),
    "no feature": (
        *(1, lambda text: text[: text.rindex(b" 45:")] + b"\n"),
        r"S2\.txt, line 7: lists 44 of the 46",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_file_is_refused(tiny, change):
    folder, texts, _ = tiny
    k, changed, message = CHANGES[change]
    texts[k] = changed(texts[k])
    put(folder, texts, PLACES[0])
    kind = datasets.ChecksumMismatch if change == "other rows" else datasets.DamagedData
    with pytest.raises(kind, match=message):
        datasets.load("mq2008")  # and no synthetic form takes its place


def test_an_archive_cut_off(tiny, monkeypatch):
    folder, texts, _ = tiny
    path = folder / "MQ2008.tar.xz"
    folder.mkdir(parents=True)
    members = {PLACES[0].format(k=k): text for k, text in enumerate(texts, start=1)}
    path.write_bytes(tar(members, "w:xz"))
    form = replace(letor._ARCHIVE, sha256=None)
    subsets = letor._subsets("mq2008", "MQ2008", "ask", (form,))
    collection = replace(letor.COLLECTIONS["mq2008"], subsets=subsets, digests=(),
                         n_documents=35, n_queries=10)  # fmt: skip
    monkeypatch.setitem(letor.SPECS, "mq2008", letor._spec(collection))
    assert datasets.load("mq2008", data="real").y_train.size == 21
    # Half of it: the last bytes hold only what closes an archive whose files are all there.
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(datasets.DamagedData, match=r"MQ2008\.tar\.xz: damaged or incomplete"):
        datasets.load("mq2008", data="real")


@pytest.fixture
def unpacker(tmp_path, monkeypatch):
    """A "bsdtar" that prints a file of a folder, alone on the path."""
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    script = programs / "bsdtar"
    script.write_text(
        f'#!/bin/sh\nexec {shutil.which("cat", path="/bin:/usr/bin")} "{tmp_path}/$3"\n'
    )
    script.chmod(0o755)
    return script


@pytest.mark.skipif(os.name == "nt", reason="the program that stands in is a shell script")
def test_the_official_rar(tiny, tmp_path, monkeypatch, unpacker):
    folder, texts, tables = tiny
    put(tmp_path, texts, PLACES[1])
    folder.mkdir(parents=True)
    (folder / "MQ2008.rar").write_bytes(b"Rar!")
    data = datasets.load("mq2008", data="real")
    np.testing.assert_array_equal(data.X_test, tables[4]["X"])
    assert data.provenance["files"][0]["file"] == "MQ2008.rar"
    collection = replace(letor.COLLECTIONS["mq2008"], rar_md5=letor.MQ2007_RAR_MD5)
    monkeypatch.setitem(letor.SPECS, "mq2008", letor._spec(collection))
    (folder / "MQ2008.rar").write_bytes(b"Rar! another one")
    with pytest.raises(datasets.DamagedData, match=r"MQ2008\.rar: MD5 .* instead of 7be1640a"):
        datasets.load("mq2008")


def test_a_rar_that_cannot_be_unpacked(tiny, tmp_path, unpacker):
    folder, _, _ = tiny
    folder.mkdir(parents=True)
    (folder / "MQ2008.rar").write_bytes(b"Rar!")
    if os.name != "nt":
        with pytest.raises(datasets.DamagedData, match=r"bsdtar cannot unpack MQ2008/Fold2/test"):
            datasets.load("mq2008")
    unpacker.unlink()
    with pytest.raises(datasets.DataUnavailable, match=r"no program that unpacks RAR \(bsdtar, un"):
        datasets.load("mq2008", data="real")


@pytest.mark.slow
@NEEDS_MIRROR
def test_real_mq2008(cache):
    folds = [datasets.load("mq2008", data="real", seed=seed) for seed in range(5)]
    for data in folds:
        check_contract(data)
    assert sum(data.y_test.size for data in folds) == 15_211
    assert sum(np.unique(data.query_test).size for data in folds) == 784
    assert folds[0].y_test.size == 2_874
    np.testing.assert_array_equal(folds[0].X_test, folds[1].X_valid)
    labels = np.concatenate([data.y_test for data in folds])
    assert np.bincount(labels.astype(int)).tolist() == [12_279, 2_001, 931]
    facts = [data.provenance["queries"]["test"] for data in folds]
    assert sum(fact["none_relevant"] for fact in facts) == 220
    assert sum(fact["fewer_than_5_documents"] for fact in facts) == 0
    # That 21 to 40 go stream by stream shows in the zeros: few pages have anchors or a URL match.
    X = np.vstack([data.X_test for data in folds])
    zeros = {name: (X[:, i] == 0).mean() for i, name in enumerate(letor.FEATURES.names)}
    for kind in ("bm25", "lm_abs", "lm_dir", "lm_jm"):
        assert zeros[f"{kind}_url"] > zeros[f"{kind}_anchor"] > zeros[f"{kind}_title"] > 0.6
        assert max(zeros[f"{kind}_body"], zeros[f"{kind}_document"]) < 0.1
    assert datasets.verify("mq2008")
    anew = [datasets.load("mq2008", data="real", seed=seed) for seed in range(5, 10)]
    tested = [set(data.query_test.tolist()) for data in anew]
    assert sorted(len(queries) for queries in tested) == [156, 157, 157, 157, 157]
    assert len(set.union(*tested)) == 784
    assert not any(queries == set(data.query_test.tolist()) for queries in tested for data in folds)
    for data in anew:
        check_contract(data)
        assert not set(data.query_test) & (set(data.query_train) | set(data.query_valid))
