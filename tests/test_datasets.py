"""The catalogue: loading, splits, stand-ins, and the formats of the official files."""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
import os
import pickle
import socket
import subprocess
import zipfile
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import numpy as np
import pytest

import datasets
from datasets import catalogue, covertype, hepmass, miniboone, standins, storage, yahoo_ltr
from datasets.sources import Form, RawFile
from datasets.splits import split_queries, split_rows
from tests.datasets_server import Server

PARTS = ("train", "valid", "test")
STAND_INS = {
    # SHA-256 of what is delivered at smoke scale, seed 0: the stand-ins are frozen
    "flies": "3926447e02fdca4ef52a4c98ca8c5010eb5d20c5d33092b8b405afc555db899e",
    "hepmass_1000": "342a2353d32eda5968095fb930fac460723bc1bda01a0050ddf97f69b2c90226",
    "hepmass_not1000": "3d232df140a4c8f215e16ffd9f7022e2ef7212b383ee20dc49f0a7b47e10d35d",
    "miniboone": "5b7718e25d6cf86949559465b182fe7e583dca22db59d3ff39e4bcfbcec7e4b5",
    "yahoo_ltr": "24ba8eb86d1b06fd03846e03d6729fbdefc8eabf413a17af916c70a89ca76297",
}
NEEDS_MIRROR = pytest.mark.skipif(
    not os.environ.get("COST_AWARE_BOOSTING_MIRROR"),
    reason="COST_AWARE_BOOSTING_MIRROR is not set: no real data to read",
)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("COST_AWARE_BOOSTING_CACHE", str(folder))
    return folder


@pytest.fixture
def offline(cache, monkeypatch):
    """No mirror, no network, no pip: every attempt is an error of the test."""

    def forbidden(*args, **kwargs):
        raise AssertionError(f"touched the outside: {args}")

    monkeypatch.delenv("COST_AWARE_BOOSTING_MIRROR", raising=False)
    monkeypatch.setattr(socket.socket, "connect", forbidden)
    monkeypatch.setattr(socket, "getaddrinfo", forbidden)
    monkeypatch.setattr(subprocess, "run", forbidden)
    return cache


@pytest.fixture
def unreachable(cache, monkeypatch):
    """No mirror; hosts do not resolve and pip finds nothing."""
    from datasets import download, wheels

    def unknown(*args, **kwargs):
        raise socket.gaierror("Name or service not known")

    monkeypatch.delenv("COST_AWARE_BOOSTING_MIRROR", raising=False)
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    monkeypatch.setattr(wheels, "_pip_download", lambda *args: "ERROR: No matching distribution")
    monkeypatch.setattr(wheels, "_FAILED", {})
    download.forget_dead_hosts()
    yield cache
    download.forget_dead_hosts()


def check_contract(data):
    """What every data set promises, whatever its source."""
    d = data.n_features
    for part in PARTS:
        X, y = getattr(data, f"X_{part}"), getattr(data, f"y_{part}")
        assert X.dtype == np.float64
        assert X.flags.c_contiguous
        assert X.shape == (y.size, d)
        assert np.isfinite(X).all()
        query = getattr(data, f"query_{part}")
        if data.task == "ranking":
            assert y.dtype == np.float64
            assert set(np.unique(y)) <= set(range(5))
            blocks = query[np.r_[True, query[1:] != query[:-1]]]
            assert np.unique(blocks).size == blocks.size
        else:
            assert query is None
            assert y.dtype == np.int64
    assert data.feature_costs.shape == (d,)
    assert (data.feature_costs >= 0).all()
    assert len(data.feature_names) == len(set(data.feature_names)) == d
    assert data.cost_unit
    assert data.cost_origin
    record = json.loads(json.dumps(data.provenance))
    keys = "name kind source files terms missing split_rule scale seed checksum"
    assert set(keys.split()) <= set(record)
    assert record["checksum"] == datasets.dataset_checksum(data)


# --- the catalogue -------------------------------------------------------------------------------


def test_unknown_name_suggests_near_ones():
    with pytest.raises(datasets.UnknownDataset, match="did you mean covertype") as caught:
        datasets.load("covertpye")
    assert isinstance(caught.value, ValueError)


def test_errors_travel_between_processes():
    errors = [
        datasets.UnknownDataset("covertpye", ["covertype"]),
        datasets.DataUnavailable("no"),
        datasets.CacheFull(Path("cache"), "a.bin"),
        datasets.ChecksumMismatch("a.bin", "0" * 64, "1" * 64, "delete it"),
    ]
    for error in errors:
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again)) == (type(error), str(error))


@pytest.mark.parametrize(
    "wrong", [{"scale": "huge"}, {"data": "fake"}, {"seed": -1}, {"seed": 0.5}, {"seed": True}]
)
def test_wrong_arguments(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        datasets.load("digits", **wrong)


def test_digits_are_always_there(offline):
    data = datasets.load("digits", scale="smoke", data="real")
    check_contract(data)
    assert [getattr(data, f"y_{part}").size for part in PARTS] == [629, 270, 898]
    assert data.provenance["source"] == "bundled"
    with pytest.raises(FrozenInstanceError):
        data.name = "other"
    with pytest.raises(datasets.DataUnavailable, match="no stand-in"):
        datasets.load("digits", data="standin")


@pytest.mark.parametrize("name", datasets.names())
def test_smoke_touches_nothing(name, offline):
    if name in ("covertype", "mslr"):
        with pytest.raises(datasets.DataUnavailable, match="has no stand-in"):
            datasets.load(name, scale="smoke")
    else:
        check_contract(datasets.load(name, scale="smoke"))
    assert not offline.exists()


@pytest.mark.parametrize("name", sorted(STAND_INS))
def test_smoke_refuses_real_data(name, offline):
    with pytest.raises(datasets.DataUnavailable, match="never reads real data"):
        datasets.load(name, scale="smoke", data="real")


def test_auto_stands_in_loudly_and_real_does_not(unreachable):
    with pytest.warns(datasets.StandInWarning, match=r"(?s)MINIBOONE.*archive.ics.uci.edu"):
        data = datasets.load("miniboone")
    assert data.provenance["kind"] == "stand-in"
    with pytest.raises(datasets.DataUnavailable, match=r"(?s)cache:.*mirror:.*official:.*Next:"):
        datasets.load("miniboone", data="real")


def test_set_without_stand_in_fails_with_every_source_named(unreachable):
    with pytest.raises(datasets.DataUnavailable) as caught:
        datasets.load("covertype")
    for part in ("cache:", "mirror:", "archive.ics.uci.edu", "scikit-multiflow", "Next:"):
        assert part in str(caught.value)


def test_damaged_file_is_no_reason_to_stand_in(cache, monkeypatch, unreachable):
    path = cache / "miniboone" / "miniboone_125649.npz"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not the file")
    with pytest.raises(datasets.ChecksumMismatch):
        datasets.load("miniboone")
    with pytest.raises(datasets.ChecksumMismatch, match="data fetch miniboone"):
        datasets.verify("miniboone")
    with pytest.raises(datasets.DataUnavailable):
        datasets.fetch("miniboone")
    assert not path.exists()


def test_fetch_replaces_a_damaged_file(cache, monkeypatch):
    content = b"the right file"
    with Server() as server:
        url = server.page("/data.bin", content=content)
        form = Form("data.bin", "bytes", digest(content), len(content), (url,))
        raw = RawFile("tiny", "Tiny", "CC0", "ask.", (form,))
        spec = replace(miniboone.SPEC, name="tiny", files=(raw,), real=lambda request: None)
        monkeypatch.setattr(catalogue, "spec", lambda name: spec)
        path = put(cache / "tiny" / "data.bin", b"the wrong file")
        with pytest.raises(datasets.ChecksumMismatch):
            datasets.verify("tiny")
        assert datasets.fetch("tiny")[0]["source"] == "official"
    assert path.read_bytes() == content
    assert datasets.verify("tiny")[0]["sha256"] == digest(content)


def test_describe_and_status_are_json(offline):
    for name in datasets.names():
        record = json.loads(json.dumps(datasets.describe(name)))
        assert record["stand_in"] == (name in STAND_INS)
    status = {record["name"]: record for record in json.loads(json.dumps(datasets.status()))}
    assert sorted(status) == datasets.names()
    assert (status["digits"]["source"], status["digits"]["present"]) == ("bundled", True)
    assert (status["mslr"]["source"], status["mslr"]["present"]) == ("index", False)
    assert (status["covertype"]["source"], status["hepmass_1000"]["source"]) == (
        "official",
        "stand-in",
    )
    assert status["hepmass_1000"]["bytes"] == 7_900_000_000


def test_verify_with_nothing_here(offline):
    with pytest.raises(datasets.DataUnavailable, match="data fetch covertype"):
        datasets.verify("covertype")


# --- splits --------------------------------------------------------------------------------------


def test_rows_are_split_without_overlap_and_by_seed():
    train, valid, test = split_rows("miniboone", 0, 1000, 350, 150, 500)
    assert (train.size, valid.size, test.size) == (350, 150, 500)
    assert sorted(np.concatenate([train, valid, test])) == list(range(1000))
    assert not np.array_equal(test, split_rows("miniboone", 1, 1000, 350, 150, 500)[2])
    assert not np.array_equal(test, split_rows("covertype", 0, 1000, 350, 150, 500)[2])


def test_split_is_frozen():
    drawn = split_rows("covertype", 0, 581_012, 36_603, 15_688, 58_101)
    digest = hashlib.sha256(b"".join(rows.astype("<i8").tobytes() for rows in drawn)).hexdigest()
    assert digest == "d0731b0cafd2cf7872b483b2718f4a8009d0733f80eceee32bf0211ba1bb8fac"


def test_queries_are_not_torn():
    query = np.repeat([3, 1, 7, 5], [4, 1, 2, 3])
    train, valid = split_queries("mslr", 0, query, 0.5)
    assert sorted(np.r_[train, valid]) == list(range(10))
    assert not set(query[train]) & set(query[valid])
    assert np.unique(query[train]).size == 2
    assert (np.diff(train) > 0).all()


# --- stand-ins -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(STAND_INS))
def test_stand_in_is_frozen(name):
    data = datasets.load(name, scale="smoke", data="standin")
    assert data.provenance["checksum"] == STAND_INS[name]
    assert [getattr(data, f"y_{part}").size for part in PARTS] == [2000, 1000, 1000]
    other = datasets.load(name, scale="smoke", data="standin", seed=1)
    assert other.provenance["checksum"] != STAND_INS[name]


def test_yahoo_stand_in_is_as_described():
    X, y, query = standins.yahoo_ltr(6000, 3, "train")
    costs = standins.yahoo_costs()
    assert sorted(zip(*np.unique(costs, return_counts=True), strict=True)) == sorted(
        (float(cost), count) for cost, count in standins.YAHOO_GROUPS
    )
    frequencies = np.bincount(y.astype(int)) / y.size
    np.testing.assert_allclose(frequencies, [0.26, 0.36, 0.28, 0.076, 0.019], atol=0.03)
    assert 0.54 < (X == 0).mean() < 0.58
    assert (X >= 0).all()
    assert (X < 1).all()
    sizes = np.bincount(query)
    assert sizes.min() >= 5
    assert sizes.max() <= 44
    first = np.r_[True, query[1:] != query[:-1]]
    ranges = np.array([np.ptp(X[query == q], axis=0) for q in query[first][:20]])
    # About 15 % of the features belong to the query; some rare ones are 0 throughout.
    assert 0.10 < (ranges.max(axis=0) == 0).mean() < 0.25


def test_query_sizes_add_up():
    for n_rows in (5, 6, 37, 44, 1000):
        sizes = standins.query_sizes(np.random.default_rng(n_rows), n_rows)
        assert sizes.sum() == n_rows
        assert sizes.min() >= 5


def test_miniboone_stand_in_is_as_described():
    X, y = standins.miniboone(20_000, 0, "train")
    assert abs(y.mean() - 0.2806) < 0.01
    outliers = (X == -999.0).all(axis=1)
    assert 0.002 < outliers.mean() < 0.006
    assert np.unique(X[:, 0]).size > 10_000


def test_hepmass_stand_ins_are_as_described():
    X, y = standins.hepmass("hepmass_not1000", 20_000, 0, "train")
    assert abs(y.mean() - 0.5) < 0.02
    assert set(X[:, -1]) == {500.0, 750.0, 1250.0, 1500.0}
    X, _ = standins.hepmass("hepmass_1000", 20_000, 0, "train")
    assert X.shape[1] == 27
    assert np.abs(X.mean(axis=0)).max() < 0.1


# --- the official files' formats, in small -------------------------------------------------------


def put(path, content: bytes):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("reader", ["gz", "xz", "wheel"])
def test_covertype_containers_hold_the_same_table(cache, tmp_path, monkeypatch, reader):
    table = np.random.default_rng(0).integers(-50, 7000, (30, 55))
    table[:, 54] = np.arange(30) % 7 + 1
    text = "".join(",".join(map(str, row)) + "\n" for row in table).encode()
    name = f"covtype.{reader}"
    if reader == "wheel":
        path = cache / "covertype" / name
        path.parent.mkdir(parents=True)
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr(covertype.WHEEL_MEMBER, b"a,header,line\n" + text)
    else:
        packed = gzip.compress(text) if reader == "gz" else lzma.compress(text)
        path = put(cache / "covertype" / name, packed)
    form = Form(name, reader, storage.file_sha256(path))
    monkeypatch.setattr(covertype, "FILE", replace(covertype.FILE, forms=(form,)))
    monkeypatch.setattr(covertype, "N_ROWS", 30)
    with pytest.raises(datasets.ChecksumMismatch, match="content of"):
        covertype.load_full()
    monkeypatch.setattr(covertype, "CONTENT_SHA256", digest(text))
    X, y, cover_type = covertype.load_full()
    np.testing.assert_array_equal(X, table[:, :54])
    np.testing.assert_array_equal(cover_type, table[:, 54])
    np.testing.assert_array_equal(y, table[:, 54] == 2)


def test_miniboone_text_and_partial_copy_agree(cache, monkeypatch):
    rng = np.random.default_rng(0)
    X = np.float32(np.round(rng.normal(size=(40, 50)), 5))
    lines = [" ".join(f"{value: .5f}" for value in row) for row in X]
    text = ("   14   26\n" + "\n".join(lines) + "\n").encode()
    monkeypatch.setattr(miniboone, "N_ROWS", 40)
    monkeypatch.setattr(miniboone, "N_SIGNAL", 14)
    monkeypatch.setattr(miniboone, "SIZES", (14, 6, 20))
    monkeypatch.setattr(miniboone, "TEXT_SHA256", digest(text))
    folder = cache / "miniboone"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        archive.writestr(miniboone.MEMBER, text)
    keep = np.setdiff1d(np.arange(40), [0, 7, 20, 39])
    y = (keep < 14).astype(np.uint8)
    np.savez(folder / "part.npz", X=X[keep], y=y, row=keep.astype(np.int32))

    def load(name, reader):
        form = Form(name, reader, storage.file_sha256(folder / name))
        monkeypatch.setattr(miniboone, "FILE", replace(miniboone.FILE, forms=(form,)))
        return datasets.load("miniboone", data="real")

    whole, part = load("all.zip", "zip"), load("part.npz", "npz")
    rows = split_rows("miniboone", 0, 40, 14, 6, 20)
    for name, drawn in zip(PARTS, rows, strict=True):
        np.testing.assert_array_equal(getattr(whole, f"X_{name}"), X[drawn])
        np.testing.assert_array_equal(getattr(whole, f"y_{name}"), drawn < 14)
        here = drawn[np.isin(drawn, keep)]
        np.testing.assert_array_equal(getattr(part, f"X_{name}"), X[here])
    assert whole.provenance["missing"] == "nothing"
    assert part.provenance["missing"].startswith("4 of 40 rows")


def hepmass_text(n_rows: int, d: int, stray: bool, seed: int) -> tuple[bytes, np.ndarray]:
    rng = np.random.default_rng(seed)
    values = np.float32(rng.normal(size=(n_rows, 1 + d)))
    values[:, 0] = rng.integers(0, 2, n_rows)
    rows = [",".join(f"{v:.18e}" for v in row) + (",1" if stray else "") for row in values]
    header = "# label," + ",".join(f"f{i}" for i in range(d))
    return gzip.compress(("\n".join([header, *rows]) + "\n").encode()), values


@pytest.mark.parametrize("container", ["zip", "gz"])
def test_hepmass_is_streamed_into_a_compact_cache(cache, tmp_path, monkeypatch, container):
    monkeypatch.setattr(hepmass, "ROWS", {"train": 70, "test": 35})
    monkeypatch.setattr(hepmass, "CHUNK_ROWS", 16)
    train, first = hepmass_text(70, 28, False, 0)
    test, second = hepmass_text(35, 28, True, 1)
    mirror = tmp_path / "mirror"
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", str(mirror))
    (mirror / "hepmass").mkdir(parents=True)
    if container == "zip":
        with zipfile.ZipFile(mirror / "hepmass" / "hepmass.zip", "w") as archive:
            archive.writestr("not1000_train.csv.gz", train)
            archive.writestr("not1000_test.csv.gz", test)
    else:
        put(mirror / "hepmass" / "not1000_train.csv.gz", train)
        put(mirror / "hepmass" / "not1000_test.csv.gz", test)
    data = datasets.load("hepmass_not1000", scale="paper", data="real")
    check_contract(data)
    assert [getattr(data, f"y_{part}").size for part in PARTS] == [35, 14, 56]
    values = np.vstack([first, second])
    for part, rows in zip(PARTS, split_rows("hepmass_not1000", 0, 105, 35, 14, 56), strict=True):
        np.testing.assert_array_equal(getattr(data, f"X_{part}"), values[rows, 1:])
        np.testing.assert_array_equal(getattr(data, f"y_{part}"), values[rows, 0])
    for path in (mirror / "hepmass").iterdir():
        path.unlink()  # the compact cache is enough from now on
    again = datasets.load("hepmass_not1000", scale="paper", data="real")
    assert again.provenance["source"] == "cache"
    assert again.provenance["checksum"] == data.provenance["checksum"]
    assert datasets.status()[datasets.names().index("hepmass_not1000")]["present"]
    assert datasets.verify("hepmass_not1000")


@pytest.mark.parametrize("damage", ["cut", "rows"])
def test_damaged_hepmass_is_no_data(cache, monkeypatch, damage):
    monkeypatch.setattr(hepmass, "ROWS", {"train": 70, "test": 35})
    monkeypatch.delenv("COST_AWARE_BOOSTING_MIRROR", raising=False)
    train, _ = hepmass_text(70, 27, False, 0)
    test, _ = hepmass_text(35 if damage == "cut" else 34, 27, False, 1)
    put(cache / "hepmass" / "1000_train.csv.gz", train[:-100] if damage == "cut" else train)
    put(cache / "hepmass" / "1000_test.csv.gz", test)
    with pytest.raises(datasets.DataUnavailable, match=r"is damaged|34 rows instead of 35"):
        datasets.load("hepmass_1000", data="real")
    assert hepmass.compact("hepmass_1000") is None


@pytest.fixture
def tiny_yahoo(tmp_path, monkeypatch):
    """A user's copy of set 1 in small: 6 of 8 features occur."""
    mirror = tmp_path / "mirror"
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", str(mirror))
    monkeypatch.setattr(yahoo_ltr, "N_FEATURES", 8)
    monkeypatch.setattr(yahoo_ltr, "N_PRESENT", 6)
    monkeypatch.setattr(yahoo_ltr, "ROWS", {"train": 30, "valid": 10, "test": 20})
    monkeypatch.setattr(yahoo_ltr, "CHUNK_LINES", 7)
    monkeypatch.setattr(
        yahoo_ltr, "SIZES", {"smoke": (5, 5, 5), "laptop": (12, 10, 9), "paper": (30, 10, 20)}
    )
    rng = np.random.default_rng(0)
    texts = {}
    for part, n in yahoo_ltr.ROWS.items():
        X = np.round(rng.random((n, 6)), 4) + 0.01
        columns = [1, 2, 4, 5, 6, 8]
        query = 1 + np.arange(n) // 5
        lines = [
            f"{i % 5} qid:{query[i]} "
            + " ".join(f"{c}:{v:.4f}" for c, v in zip(columns, X[i], strict=True))
            for i in range(n)
        ]
        put(mirror / "yahoo_ltr" / f"set1.{part}.txt", ("\n".join(lines) + "\n").encode())
        texts[part] = (X, query)
    costs = b"1\n5\n10000\n20\n50\n100\n10000\n200\n"
    put(mirror / "costs" / "yahoo_ltr_set1_feature_cost.txt", costs)
    form = Form("yahoo_ltr_set1_feature_cost.txt", "text", digest(costs))
    raw = RawFile("costs", "costs", "MIT", "none.", (form,))
    monkeypatch.setattr(yahoo_ltr, "COSTS", raw)
    return mirror, texts


def test_yahoo_native_format(cache, tiny_yahoo):
    mirror, texts = tiny_yahoo
    data = datasets.load("yahoo_ltr", scale="paper", data="real")
    check_contract(data)
    for part, (X, query) in texts.items():
        np.testing.assert_allclose(getattr(data, f"X_{part}"), X, rtol=1e-6)
        np.testing.assert_array_equal(getattr(data, f"query_{part}"), query)
        np.testing.assert_array_equal(getattr(data, f"y_{part}"), np.arange(query.size) % 5)
    assert data.feature_costs.tolist() == [1, 5, 20, 50, 100, 200]
    assert data.feature_names[2] == "feature_4"
    recorded = data.provenance["files"][0]["sha256"]
    assert recorded == storage.file_sha256(mirror / "yahoo_ltr" / "set1.train.txt")


def test_yahoo_laptop_takes_whole_queries(cache, tiny_yahoo):
    data = datasets.load("yahoo_ltr", data="real", seed=2)
    assert [getattr(data, f"y_{part}").size for part in PARTS] == [10, 10, 5]
    assert all(np.bincount(data.query_train)[q] == 5 for q in data.query_train)


def test_yahoo_other_files_are_refused(cache, tiny_yahoo, monkeypatch):
    monkeypatch.setattr(yahoo_ltr, "N_PRESENT", 519)
    with pytest.raises(datasets.DataUnavailable, match=r"(?s)not set 1 of C14B.*Webscope"):
        datasets.load("yahoo_ltr", data="real")


def test_yahoo_missing_copy_says_how_to_get_it(unreachable):
    with pytest.raises(datasets.DataUnavailable, match=r"(?s)set1.train.txt.*request.*Webscope"):
        datasets.load("yahoo_ltr", data="real")


# --- real data -----------------------------------------------------------------------------------


@NEEDS_MIRROR
def test_real_covertype(cache):
    data = datasets.load("covertype", data="real")
    check_contract(data)
    assert [getattr(data, f"y_{part}").size for part in PARTS] == [36_603, 15_688, 58_101]
    assert (
        data.provenance["checksum"]
        == "69084e1268b130d7d4847dd44be6938cff43d785c4c3b9fe0548ef91a7f90a3b"
    )
    X, y, cover_type = covertype.load_full()
    assert X.shape == (581_012, 54)
    assert y.sum() == (cover_type == 2).sum() == 283_301
    rows = split_rows("covertype", 0, 581_012, *covertype.SIZES)
    np.testing.assert_array_equal(data.X_train, X[rows[0]])
    assert datasets.verify("covertype")


@NEEDS_MIRROR
def test_real_miniboone(cache):
    data = datasets.load("miniboone", data="real")
    check_contract(data)
    sizes = [getattr(data, f"y_{part}").size for part in PARTS]
    assert sum(sizes) in (125_649, 130_064)
    assert all(0.96 * full < n <= full for n, full in zip(sizes, miniboone.SIZES, strict=True))


@NEEDS_MIRROR
def test_real_mslr(cache):
    data = datasets.load("mslr", data="real")
    check_contract(data)
    assert data.y_train.size + data.y_valid.size == data.y_test.size == 5_000
    assert np.unique(data.query_train).size == 30
    assert not set(data.query_train) & set(data.query_valid)
    assert set(data.feature_costs) == {1, 10, 20, 50, 100}
    assert data.cost_origin.startswith("published")
