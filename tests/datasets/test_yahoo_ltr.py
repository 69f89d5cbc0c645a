"""The Yahoo! sets: archives inside archives, the training file cut in three, the real part."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

import datasets
from datasets import yahoo_ltr, yahoo_ltr_sample, yahoo_ltr_small
from datasets.sources.find import Form, find
from datasets.sources.storage import cache_folder
from tests.datasets.contract import NEEDS_MIRROR, PARTS, check_contract
from tests.datasets.picture_archives import recorded, tar
from tests.datasets.server import Server

ROWS = {"train": 30, "valid": 10, "test": 20}
PRICES = "1\n5\n10000\n20\n50\n100\n10000\n200\n"
COLUMNS = [1, 2, 4, 5, 6, 8]


def documents(n: int) -> tuple[bytes, np.ndarray]:
    """Draw n documents with 5 to a query; 6 of 8 features occur."""
    X = np.round(np.random.default_rng(n).random((n, 6)), 4) + 0.01
    lines = [
        f"{i % 5} qid:{1 + i // 5} "
        + " ".join(f"{c}:{v:.4f}" for c, v in zip(COLUMNS, X[i], strict=True))
        for i in range(n)
    ]
    return ("\n".join(lines) + "\n").encode(), X


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Set 1 in small: texts, the inner archive, the outer one; an empty mirror and cache."""
    mirror = tmp_path / "mirror"
    (mirror / "yahoo_ltr").mkdir(parents=True)
    (mirror / "costs").mkdir()
    (mirror / "costs" / "yahoo_ltr_set1_feature_cost.txt").write_text(PRICES)
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", str(mirror))
    monkeypatch.setenv("COST_AWARE_BOOSTING_CACHE", str(tmp_path / "cache"))
    for name, value in {"N_FEATURES": 8, "N_PRESENT": 6, "ROWS": ROWS, "CHUNK_LINES": 7}.items():
        monkeypatch.setattr(yahoo_ltr, name, value)
    sizes = {"smoke": (5, 5, 5), "laptop": (12, 10, 9), "paper": tuple(ROWS.values())}
    monkeypatch.setattr(yahoo_ltr, "SIZES", sizes)
    costs = yahoo_ltr.COSTS.forms[0]
    costs = replace(costs, sha256=hashlib.sha256(PRICES.encode()).hexdigest(), urls=())
    monkeypatch.setattr(yahoo_ltr, "COSTS", replace(yahoo_ltr.COSTS, forms=(costs,)))
    texts = {f"set1.{part}.txt": documents(n)[0] for part, n in ROWS.items()}
    others = {"set2.train.txt": b"never read\n", "evil/../../set2.valid.txt": b"never written\n"}
    inner = tar({**others, **{f"./{name}": text for name, text in texts.items()}}, "w:bz2")
    outer = tar({"README": b"", "dataset/ltrc_yahoo.tar.bz2": inner}, "w:gz")
    archive = replace(yahoo_ltr.ARCHIVE, sha256=hashlib.sha256(inner).hexdigest())
    declare(monkeypatch, archive, replace(yahoo_ltr.OUTER_ARCHIVE, urls=()))
    return mirror / "yahoo_ltr", texts, inner, outer


def declare(monkeypatch, archive: Form, outer: Form) -> None:
    monkeypatch.setattr(yahoo_ltr, "ARCHIVE", archive)
    monkeypatch.setattr(yahoo_ltr, "OUTER_ARCHIVE", outer)
    files = {
        part: replace(raw, forms=(raw.forms[0], archive, outer))
        for part, raw in yahoo_ltr.FILES.items()
    }
    monkeypatch.setattr(yahoo_ltr, "FILES", files)
    specs = {"yahoo_ltr": yahoo_ltr, "yahoo_ltr_small": yahoo_ltr_small}
    for module in specs.values():
        used = tuple(files.values()) if module is yahoo_ltr else (files["train"],)
        spec = replace(module.SPEC, files=(*used, yahoo_ltr.COSTS))
        monkeypatch.setattr(module, "SPEC", spec)


def test_texts_and_both_archives_hold_the_same_rows(tiny):
    folder, texts, inner, outer = tiny
    for name, text in texts.items():
        (folder / name).write_bytes(text)
    plain = datasets.load("yahoo_ltr", scale="paper", data="real")
    check_contract(plain)
    for part, n in ROWS.items():
        np.testing.assert_allclose(getattr(plain, f"X_{part}"), documents(n)[1], rtol=1e-6)
        np.testing.assert_array_equal(getattr(plain, f"query_{part}"), 1 + np.arange(n) // 5)
        np.testing.assert_array_equal(getattr(plain, f"y_{part}"), np.arange(n) % 5)
    assert plain.feature_costs.tolist() == [1, 5, 20, 50, 100, 200]
    assert plain.feature_names[2] == "feature_4"
    facts = {"queries": 6, "fewer_than_5_documents": 0, "none_relevant": 0}
    assert plain.provenance["queries"]["train"] == facts
    recorded = plain.provenance["files"][0]["sha256"]
    assert recorded == hashlib.sha256(texts["set1.train.txt"]).hexdigest()
    for name in texts:
        (folder / name).unlink()
    for name, content in {"ltrc_yahoo.tar.bz2": inner, "dataset.tgz": outer}.items():
        (folder / name).write_bytes(content)
        data = datasets.load("yahoo_ltr", scale="paper", data="real")
        assert data.provenance["checksum"] == plain.provenance["checksum"]
        assert {record["file"] for record in data.provenance["files"][:3]} == {"ltrc_yahoo.tar.bz2"}
        assert data.provenance["files"][0]["sha256"] == hashlib.sha256(inner).hexdigest()
        (folder / name).unlink()
    assert not list(cache_folder().rglob("set1.*"))
    assert not list(cache_folder().parent.rglob("set2.*"))


def test_laptop_takes_whole_queries(tiny):
    folder, _, inner, _ = tiny
    (folder / "ltrc_yahoo.tar.bz2").write_bytes(inner)
    data = datasets.load("yahoo_ltr", data="real", seed=2)
    assert [getattr(data, f"y_{part}").size for part in PARTS] == [10, 10, 5]
    assert all(np.bincount(data.query_train)[q] == 5 for q in data.query_train)


def test_other_files_are_refused(tiny, monkeypatch):
    folder, _, inner, _ = tiny
    (folder / "ltrc_yahoo.tar.bz2").write_bytes(inner)
    monkeypatch.setattr(yahoo_ltr, "N_PRESENT", 519)
    with pytest.raises(datasets.DataUnavailable, match=r"(?s)not set 1 of C14B.*Webscope"):
        datasets.load("yahoo_ltr", data="real")


def test_the_public_address_is_fetched_by_fetch_only(tiny, monkeypatch):
    _, _, inner, outer = tiny
    with Server() as server:
        url = server.page("/dataset.tgz", content=outer)
        declare(monkeypatch, yahoo_ltr.ARCHIVE, replace(yahoo_ltr.OUTER_ARCHIVE, urls=(url,)))
        with pytest.raises(datasets.DataUnavailable, match="not fetched in passing"):
            datasets.load("yahoo_ltr", data="real")
        assert server.requests == []
        assert datasets.fetch("yahoo_ltr")[0]["source"] == "official"
    assert datasets.load("yahoo_ltr", data="real").y_train.size == 10
    assert (cache_folder() / "yahoo_ltr" / "ltrc_yahoo.tar.bz2").read_bytes() == inner


def test_another_inner_archive_never_becomes_data(tiny, monkeypatch):
    folder, _, _, outer = tiny
    (folder / "dataset.tgz").write_bytes(outer)
    archive = replace(yahoo_ltr.ARCHIVE, sha256="0" * 64)
    declare(monkeypatch, archive, yahoo_ltr.OUTER_ARCHIVE)
    with pytest.raises(datasets.ChecksumMismatch, match=r"ltrc_yahoo\.tar\.bz2 in .*dataset\.tgz"):
        datasets.load("yahoo_ltr")
    assert not list(cache_folder().rglob("ltrc_yahoo.tar.bz2"))
    assert not list(cache_folder().rglob("*.part"))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("cut", r"dataset\.tgz: damaged"),
        ("without", r"dataset\.tgz: no ltrc_yahoo"),
        ("line", r"set1\.valid\.txt, line 6:"),
    ],
)
def test_a_damaged_file_is_named(tiny, damage, message):
    folder, texts, _, outer = tiny
    line = texts["set1.valid.txt"].replace(b"qid:2 1:", b"qid:2 1;", 1)
    files = {
        "cut": {"dataset.tgz": outer[: len(outer) // 2]},
        "without": {"dataset.tgz": tar({"README": b"x"}, "w:gz")},
        "line": texts | {"set1.valid.txt": line},
    }
    for name, content in files[damage].items():
        (folder / name).write_bytes(content)
    with pytest.raises(datasets.DamagedData, match=message):
        datasets.load("yahoo_ltr")


def test_the_address_and_its_checksum_are_declared():
    forms = yahoo_ltr.FILES["train"].forms
    assert forms[1].sha256.startswith("2d96b587828f5a4d")
    assert "YahooResearch/Yahoo-Learning-to-Rank-Challenge" in forms[2].urls[0]


@NEEDS_MIRROR
def test_published_prices(cache):
    table = np.loadtxt(find(yahoo_ltr.COSTS).path)
    assert table.shape == (yahoo_ltr.N_FEATURES,)
    present = table[table != yahoo_ltr.ABSENT]
    assert present.size == yahoo_ltr.N_PRESENT
    counts = dict(zip(*np.unique(present, return_counts=True), strict=True))
    assert counts == {1: 123, 5: 31, 20: 191, 50: 125, 100: 16, 150: 32, 200: 1}
    subsets = {limit: present[present <= limit].sum() for limit in (1, 20, 100, 200)}
    assert subsets == {1: 123, 20: 4_098, 100: 11_948, 200: 16_948}  # Greedy Miser's baselines
    assert tuple(sorted(counts.items())) == yahoo_ltr.GROUPS


# --- the small set -------------------------------------------------------------------------------


def test_the_small_set_has_the_papers_sizes():
    assert sum(yahoo_ltr_small.ROWS) == yahoo_ltr.ROWS["train"] == 473_134


def test_cuts_tear_no_query():
    query = np.repeat([1, 2, 3, 4], [4, 4, 3, 5])
    assert yahoo_ltr_small.cuts(query, (8, 3, 5)) == [8, 11]
    assert yahoo_ltr_small.cuts(query, (7, 3, 6)) == [8, 11]
    assert yahoo_ltr_small.cuts(query, (6, 3, 7)) == [4, 8]  # 6 lies between: the earlier


def test_the_small_set_is_the_training_file(tiny, monkeypatch):
    folder, texts, _, _ = tiny
    (folder / "set1.train.txt").write_bytes(texts["set1.train.txt"])
    monkeypatch.setattr(yahoo_ltr_small, "ROWS", (11, 9, 10))
    data = datasets.load("yahoo_ltr_small", scale="paper", data="real")
    check_contract(data)
    assert data.provenance["cut_at"] == [10, 20]
    queries = np.concatenate([getattr(data, f"query_{part}") for part in PARTS])
    assert queries.tolist() == [1 + i // 5 for i in range(30)]
    np.testing.assert_allclose(data.X_valid[0], documents(30)[1][10], rtol=1e-6)
    assert data.feature_costs.tolist() == [1, 5, 20, 50, 100, 200]
    monkeypatch.setattr(yahoo_ltr_small, "LAPTOP_SIZES", (5, 5, 9))
    laptop = datasets.load("yahoo_ltr_small", data="real")
    assert [getattr(laptop, f"y_{part}").size for part in PARTS] == [5, 5, 5]


def test_the_small_set_refuses_another_file(tiny):
    folder, texts, _, _ = tiny
    (folder / "set1.train.txt").write_bytes(texts["set1.valid.txt"])
    with pytest.raises(datasets.DataUnavailable, match="not set 1 of C14B"):
        datasets.load("yahoo_ltr_small", data="real")


# --- the real part -------------------------------------------------------------------------------


def test_the_parts_stand_in_is_as_described():
    data = datasets.load("yahoo_ltr_sample", data="synthetic")
    check_contract(data)
    assert [getattr(data, f"y_{part}").size for part in PARTS] == [2_108, 897, 768]
    counts = np.unique(data.feature_costs, return_counts=True)
    groups = tuple(zip(*(c.tolist() for c in counts), strict=True))
    assert groups == yahoo_ltr_sample.GROUPS


def put_part(folder, monkeypatch, query: str, text: str = "1 1:0.5\n0 2:1\n2 1:1\n") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for half in ("train", "test"):
        for name, content in {f"rank.{half}": text, f"rank.{half}.query": query}.items():
            (folder / name).write_text(content)
            files[name] = recorded(yahoo_ltr_sample.FILES[name], content.encode())
    monkeypatch.setattr(yahoo_ltr_sample, "FILES", files)


@pytest.mark.parametrize(
    ("query", "text", "reason"),
    [
        ("1\n1\n", None, r"rank\.train\.query: the queries have 2 documents, .*rank\.train has 3"),
        ("1\nx\n2\n", None, r"rank\.train\.query, line 2: no number"),
        ("0\n3\n", None, r"rank\.train\.query, line 1: no number"),
        ("1\n2\n", "1 qid:1 1:1\n", r"rank\.train, line 1: has a qid"),
        ("1\n2\n", "1 301:1\n", r"rank\.train, line 1: features are numbered 1 to 300"),
        ("1\n2\n", None, "2 features occur, not 218"),
    ],
)
def test_a_damaged_part_is_refused(tmp_path, cache, monkeypatch, query, text, reason):
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", str(tmp_path))
    put_part(tmp_path / "yahoo_ltr_sample", monkeypatch, query, *([text] if text else []))
    with pytest.raises(datasets.DamagedData, match=reason):
        datasets.load("yahoo_ltr_sample")


@NEEDS_MIRROR
def test_the_real_part(cache):
    data = datasets.load("yahoo_ltr_sample", data="real")
    check_contract(data)
    assert data.n_features == 218
    assert data.y_train.size + data.y_valid.size == 3_005
    assert data.y_test.size == 768
    assert [np.unique(getattr(data, f"query_{part}")).size for part in PARTS] == [141, 60, 50]
    table = np.loadtxt(find(yahoo_ltr.COSTS).path)
    numbers = [int(name.removeprefix("feature_")) for name in data.feature_names]
    np.testing.assert_array_equal(data.feature_costs, table[np.array(numbers) - 1])
    assert data.cost_origin.startswith("published")
    assert data.provenance["missing"].startswith("all but 3,773 of set 1's 709,877")
    other = datasets.load("yahoo_ltr_sample", data="real", seed=1)
    np.testing.assert_array_equal(other.X_test, data.X_test)
    assert set(other.query_train) != set(data.query_train)
    assert datasets.verify("yahoo_ltr_sample")
