"""The formats of the official files, in small, and the real files where a mirror is set."""

import gzip
import hashlib
import lzma
from dataclasses import replace

import numpy as np
import pytest

import datasets
from datasets import covertype, hepmass, miniboone
from datasets.sources import storage
from datasets.sources.find import Form
from datasets.splits import split_rows
from tests.datasets.contract import NEEDS_MIRROR, PARTS, check_contract
from tests.datasets.picture_archives import zipped

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
    pack = {
        "gz": gzip.compress,
        "xz": lzma.compress,
        "wheel": lambda text: zipped({covertype.WHEEL_MEMBER: b"a,header,line\n" + text}),
    }
    path = put(cache / "covertype" / name, pack[reader](text))
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
    put(folder / "all.zip", zipped({miniboone.MEMBER: text}))
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
    files = {"not1000_train.csv.gz": train, "not1000_test.csv.gz": test}
    files = {"hepmass.zip": zipped(files)} if container == "zip" else files
    for name, content in files.items():
        put(mirror / "hepmass" / name, content)
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


# --- real data -----------------------------------------------------------------------------------


@pytest.mark.slow
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
    expected = "de02fe005a738fc033ec02a210ebe0fc9ed6cd70ac2aec35ecc2d85901d1cda6"
    assert data.provenance["checksum"] == expected  # as in the published results
    assert data.provenance["queries"]["test"]["queries"] == 43
    assert data.y_train.size + data.y_valid.size == data.y_test.size == 5_000
    assert np.unique(data.query_train).size == 30
    assert not set(data.query_train) & set(data.query_valid)
    assert set(data.feature_costs) == {1, 10, 20, 50, 100}
    assert data.cost_origin.startswith("published")
