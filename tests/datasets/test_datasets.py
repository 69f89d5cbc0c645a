"""The catalogue: loading, splits, synthetic data.

The formats of the official files are in ``test_datasets_formats.py``.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import numpy as np
import pytest

import datasets
from datasets import catalogue, miniboone
from datasets.sources.find import Form, RawFile
from datasets.splits import split_queries, split_rows
from datasets.synthetic import tables as generators
from tests.datasets.contract import NEEDS_MIRROR, PARTS, check_contract
from tests.datasets.server import Server

MIRROR = Path(os.environ.get("COST_AWARE_BOOSTING_MIRROR", ""))
SYNTHETIC = {
    # SHA-256 of what is delivered at smoke scale, seed 0: the synthetic sets are frozen
    "caltech101": "0999cd00953ec3c4a65a8a1b224b6e37b2fdb99078d3b577f2eeab2bf8671a11",
    "cbcl": "2e546c233e755fe6ebdb6293f3e896c4fb413d6384394276cfec7fdf3e60bab1",
    "cbcl_divided": "7191d9cfd989822a04fc39aa4b4e13f9feae439c52534a2a83a0f88daed45672",
    "cifar10": "27bae22da3ac37c1a09d0cbc97aa657a0bb3f9114d471500c25e3f33c2919b61",
    "clueweb09": "46615140edf858022d56c13aeaf756e54c5660ebc667e19825937696ec716989",
    "daimler_pedestrians": "0527987f87697ac52dcc3a984e56fa751be256f45107d02a1a2abbf6f5e0322c",
    "hepmass_1000": "342a2353d32eda5968095fb930fac460723bc1bda01a0050ddf97f69b2c90226",
    "hepmass_not1000": "3d232df140a4c8f215e16ffd9f7022e2ef7212b383ee20dc49f0a7b47e10d35d",
    "inria_person": "4eb305ecf5808c91afb288129ca2ca90eaf3aa0a3cfccd5840ffff011b9f81c9",
    "miniboone": "5b7718e25d6cf86949559465b182fe7e583dca22db59d3ff39e4bcfbcec7e4b5",
    "mnist": "32992cdc328ab2bc99d152172fa34f72d30f790413f09a7ca883a78e5b9505bc",
    "mq2007": "1496f8a5d5d65418159ecd31030c0fd6c8240807cc83682081d00f2716904e89",
    "mq2008": "78a846120184a4cc299f754ba1fc04dd40524070548fc4e2cb1830a37d153e0f",
    "mslr_web10k": "0aaff65c5873bfc6b0e26f3ae12765c5578f0e5867e59fd6f677d84ed608bf42",
    "mslr_web30k": "0457f988828de406eb87ea3234a5598a43adbe532a536078a7ad98e385a289c3",
    "phc_c2dl_psc": "71eda6e8c490bdde243a55d4ee8980ef436ee202d9f77c061d66c73cc8758905",
    "scene15": "d3a5425b00808ee414083c37ed0bdac4b31ba52f5aecbc029428ec856ca2678b",
    "scene15_small": "d3a5425b00808ee414083c37ed0bdac4b31ba52f5aecbc029428ec856ca2678b",
    "thyroid": "f44ad524ae876c0387880eda5eae6228f452e4ce2097d651e2bf65c2e3dedd29",
    "toy": "57ee9452bccea381484fd976ee3fa7ca255ca2a9d76beba725cfa839c02d8bb5",
    "vj_faces": "ca2ea00214e78356185e66207b95bbfedd7e372419719db86b4dc0d9ccd3efa0",
    "yahoo_ltr": "24ba8eb86d1b06fd03846e03d6729fbdefc8eabf413a17af916c70a89ca76297",
    "yahoo_ltr_sample": "f929343bc59eef535ac9cee8aebeb51ebd62cd0ceebffcbe5acd782dc8f285bd",
    "yahoo_ltr_small": "944b2d3e37db70122e711d28bdbc273826b4a7c009dbb74f2d9a5a8f2fa804d8",
}
OTHER_SIZES = {
    "caltech101": [15, 5, 20],  # features are computed from these two: few rows
    "cbcl": [599, 151, 1000],  # 1,779 features; their prices are part of what is frozen
    "cbcl_divided": [449, 150, 151],
    "daimler_pedestrians": [448, 151, 151],  # 2,000 features
    "inria_person": [60, 20, 60],
    "scene15": [210, 60, 300],  # the same; its prices are part of what is frozen
    "scene15_small": [210, 60, 300],
    "clueweb09": [4000, 2000, 2000],  # its queries have hundreds of documents
    "toy": [2000, 1000, 1000],
    "vj_faces": [448, 151, 151],
    "yahoo_ltr_sample": [1000, 400, 500],  # the real part is small
}
"""Rows of the synthetic sets that do not have the usual number at smoke scale."""


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
    with pytest.raises(datasets.DataUnavailable, match="no synthetic form"):
        datasets.load("digits", data="synthetic")


@pytest.mark.parametrize("name", datasets.names())
def test_smoke_touches_nothing(name, offline):
    record = datasets.describe(name)
    if not record["synthetic"] and not record["bundled"]:
        with pytest.raises(datasets.DataUnavailable, match="has no synthetic form"):
            datasets.load(name, scale="smoke")
    else:
        check_contract(datasets.load(name, scale="smoke"))
    assert not offline.exists()


@pytest.mark.parametrize("name", sorted(SYNTHETIC.keys() - {"toy"}))
def test_smoke_refuses_real_data(name, offline):
    with pytest.raises(datasets.DataUnavailable, match="never reads real data"):
        datasets.load(name, scale="smoke", data="real")


@pytest.mark.parametrize("data", ["auto", "real"])
def test_what_cannot_be_had_raises_with_what_gets_it(unreachable, data):
    with pytest.raises(datasets.DataUnavailable, match=r"(?s)cache:.*mirror:.*official:.*Next:"):
        datasets.load("miniboone", data=data)


@pytest.mark.parametrize("name", ["mslr", "yahoo_ltr_sample"])
@NEEDS_MIRROR
def test_missing_prices_are_missing_data(tmp_path, unreachable, monkeypatch, name):
    """All of a mirror but its prices: no prices of ours take their place."""
    (tmp_path / name).symlink_to(MIRROR / name)
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", str(tmp_path))
    with pytest.raises(datasets.DataUnavailable, match=r"(?s)feature costs.*Next:.*costs/"):
        datasets.load(name)


def test_it_fails_with_every_source_named(unreachable):
    with pytest.raises(datasets.DataUnavailable) as caught:
        datasets.load("covertype")
    for part in ("cache:", "mirror:", "archive.ics.uci.edu", "scikit-multiflow", "Next:"):
        assert part in str(caught.value)


def test_a_damaged_file_is_an_error(cache, monkeypatch, unreachable):
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
        sha256 = hashlib.sha256(content).hexdigest()
        form = Form("data.bin", "bytes", sha256, len(content), (url,))
        raw = RawFile("tiny", "Tiny", "CC0", "ask.", (form,))
        spec = replace(miniboone.SPEC, name="tiny", files=(raw,), real=lambda request: None)
        monkeypatch.setattr(catalogue, "spec", lambda name: spec)
        path = cache / "tiny" / "data.bin"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"the wrong file")
        with pytest.raises(datasets.ChecksumMismatch):
            datasets.verify("tiny")
        assert datasets.fetch("tiny")[0]["source"] == "official"
    assert path.read_bytes() == content
    assert datasets.verify("tiny")[0]["sha256"] == sha256


def test_describe_and_status_are_json(offline):
    for name in datasets.names():
        record = json.loads(json.dumps(datasets.describe(name)))
        assert record["synthetic"] == (name in SYNTHETIC)
    status = {record["name"]: record for record in json.loads(json.dumps(datasets.status()))}
    assert sorted(status) == datasets.names()
    assert (status["digits"]["source"], status["digits"]["present"]) == ("bundled", True)
    assert (status["mslr"]["source"], status["mslr"]["present"]) == ("index", False)
    assert (status["covertype"]["source"], status["hepmass_1000"]["source"]) == (
        "official",
        "none",
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


# --- synthetic data -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name == "daimler_pedestrians" else [])
        for name in sorted(SYNTHETIC)
    ],
)
def test_synthetic_data_are_frozen(name):
    data = datasets.load(name, scale="smoke", data="synthetic")
    kind = "simulation" if name == "toy" else "synthetic"  # claims are judged by it
    assert data.provenance["kind"] == kind
    assert data.provenance["checksum"] == SYNTHETIC[name]
    assert [getattr(data, f"y_{part}").size for part in PARTS] == OTHER_SIZES.get(
        name, [2000, 1000, 1000]
    )
    other = datasets.load(name, scale="smoke", data="synthetic", seed=1)
    assert other.provenance["checksum"] != SYNTHETIC[name]


def test_yahoo_synthetic_is_as_described():
    X, y, query = generators.yahoo_ltr(6000, 3, "train")
    costs = generators.yahoo_costs()
    assert sorted(zip(*np.unique(costs, return_counts=True), strict=True)) == sorted(
        (float(cost), count) for cost, count in generators.YAHOO_GROUPS
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
        sizes = generators.query_sizes(np.random.default_rng(n_rows), n_rows)
        assert sizes.sum() == n_rows
        assert sizes.min() >= 5


def test_synthetic_miniboone_is_as_described():
    X, y = generators.miniboone(20_000, 0, "train")
    assert abs(y.mean() - 0.2806) < 0.01
    outliers = (X == -999.0).all(axis=1)
    assert 0.002 < outliers.mean() < 0.006
    assert np.unique(X[:, 0]).size > 10_000


def test_synthetic_hepmass_are_as_described():
    X, y = generators.hepmass("hepmass_not1000", 20_000, 0, "train")
    assert abs(y.mean() - 0.5) < 0.02
    assert set(X[:, -1]) == {500.0, 750.0, 1250.0, 1500.0}
    X, _ = generators.hepmass("hepmass_1000", 20_000, 0, "train")
    assert X.shape[1] == 27
    assert np.abs(X.mean(axis=0)).max() < 0.1
