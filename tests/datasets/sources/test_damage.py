"""Damage on the disk is named; it neither ends in a traceback nor becomes data."""

import bz2
import gzip
import hashlib
import io
import json
import lzma
import os
import subprocess
import sys
import tarfile
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import datasets
from datasets import catalogue, miniboone
from datasets.errors import CacheFull, ChecksumMismatch, DamagedData, DataUnavailable
from datasets.sources import archives, storage
from datasets.sources.archives import TooLarge
from datasets.sources.find import Form, RawFile
from tests.datasets.picture_archives import tar, zipped

CONTENT = b"1,2,3\n" * 100


def build(folder: Path) -> dict:
    np.save(folder / "table.npy", np.arange(1000.0))
    return {"rows": 1000}


def decode_tiny(build=build):
    tables, facts = storage.decoded("tiny", "v1", build)
    np.testing.assert_array_equal(tables["table"], np.arange(1000.0))
    assert facts == {"rows": 1000}


# --- decoded tables ------------------------------------------------------------------------------


def test_decoded_tables_are_built_once(cache):
    calls = []

    def counting(folder):
        calls.append(folder)
        return build(folder)

    for _ in range(2):
        decode_tiny(counting)
    assert len(calls) == 1


def test_what_a_killed_process_left_is_cleared(cache):
    abandoned = cache / "tiny" / "decoded" / ".v1.abc.tmp"
    abandoned.mkdir(parents=True)
    (abandoned / "table.npy").write_bytes(b"half")
    (cache / "tiny" / "decoded" / "v1").mkdir()  # without an index: not finished
    decode_tiny()
    assert not abandoned.exists()


@pytest.mark.parametrize("change", ["bit", "length"])
def test_decoded_table_damaged_afterwards(cache, change):
    decode_tiny()
    path = cache / "tiny" / "decoded" / "v1" / "table.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content if change == "bit" else content[:-8])
    with pytest.raises(ChecksumMismatch, match=r"table\.npy"):
        decode_tiny()


def test_cache_that_cannot_be_written_still_gives_tables(cache, monkeypatch):
    def refused(target):
        raise PermissionError(13, "Permission denied", str(target))

    monkeypatch.setattr(storage, "locked", refused)
    decode_tiny()
    assert not cache.exists()


@pytest.mark.parametrize(
    "damage",
    [
        *("", "{", "[]", "null", '{"files": {"a.npy": {}}, "facts": {}}', "[" * 10**5),
        *('{"files": {}}', {"facts": {}}, {"files": {}}),
    ],
)
def test_damaged_index_is_named_and_the_tables_are_made_anew(cache, capsys, damage):
    """Another text; or one that lacks what was noted."""
    decode_tiny()
    index = cache / "tiny" / "decoded" / "v1" / "index.json"
    if isinstance(damage, dict):
        damage = json.dumps(json.loads(index.read_text()) | damage)
    index.write_text(damage)
    decode_tiny()
    assert f"{index} is damaged" in capsys.readouterr().err
    decode_tiny()
    assert capsys.readouterr().err == ""


def replaced(old: bytes, new: bytes):
    return lambda table, entry: table.write_bytes(table.read_bytes().replace(old, new))


OBJECTS = np.array([{}] * 1000, dtype=object)
WRONG = {
    "objects": lambda table, entry: np.save(table, OBJECTS, allow_pickle=True),
    "words": lambda table, entry: np.save(table, np.arange(1000).astype(bytes)),
    "plain text": lambda table, entry: table.write_text("1,2,3\n" * 100),
    "no header": replaced(b"(1000,), }", b"(" * 10),
    "no file is so long": replaced(b"(1000,), }   ", b"(10000000,), }"),
    "size as text": lambda table, entry: {"bytes": str(entry["bytes"])},
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("sealed", [True, False])
def test_wrong_content_with_right_checksums_is_made_anew(cache, capsys, wrong, sealed):
    decode_tiny()
    folder = cache / "tiny" / "decoded" / "v1"
    table, index = folder / "table.npy", json.loads((folder / "index.json").read_text())
    odd = WRONG[wrong](table, index["files"][table.name])
    whole = {"sha256": storage.file_sha256(table), "bytes": table.stat().st_size}
    index["files"][table.name] = whole | (odd if isinstance(odd, dict) else {})
    index["sha256"] = storage._index_sha256(index)
    if not sealed:  # as it was once written
        del index["sha256"]
    (folder / "index.json").write_text(json.dumps(index))
    decode_tiny()
    assert capsys.readouterr().err.count(" is damaged (") == 1
    decode_tiny()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", ["index.json", "table.npy"])
@pytest.mark.parametrize("harm", ["gone", "folder"])
def test_table_or_index_that_is_no_file_is_made_anew(cache, capsys, name, harm):
    decode_tiny()
    path = cache / "tiny" / "decoded" / "v1" / name
    path.unlink()
    if harm == "folder":
        path.mkdir()
    decode_tiny()
    if harm == "folder":
        assert str(path) in capsys.readouterr().err


def test_file_in_the_place_of_a_folder_of_tables_is_set_aside(cache, capsys):
    folder = cache / "tiny" / "decoded" / "v1"
    folder.parent.mkdir(parents=True)
    folder.write_text("mine")
    decode_tiny()
    assert "set aside as v1.set-aside-1" in capsys.readouterr().err
    assert folder.with_name("v1.set-aside-1").read_text() == "mine"


def test_cache_that_is_a_file_is_one_sentence(cache):
    cache.write_text("mine")
    with pytest.raises(DataUnavailable, match="is in the way") as caught:
        decode_tiny()
    assert str(cache) in str(caught.value)
    assert cache.read_text() == "mine"


# --- a full disk ---------------------------------------------------------------------------------


def leftovers(folder: Path) -> list[str]:
    return [p.name for p in folder.rglob("*") if p.is_file() and p.suffix != ".lock"]


@pytest.mark.parametrize(
    "error",
    [OSError("1000 requested and 512 written"), OSError(28, "No space left on device")],
    ids=["NumPy's words", "the system's"],
)
def test_full_disk_is_named_and_leaves_no_table(cache, error):
    def fails(folder):
        (folder / "table.npy").write_bytes(b"half")
        raise error

    with pytest.raises(CacheFull, match="no space left in"):
        storage.decoded("tiny", "v1", fails)
    assert leftovers(cache) == []


def test_space_is_reserved_before_pages_are_mapped(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(OSError, match="No space left"):
        storage.new_array(tmp_path / "a.npy", np.uint8, (10, 10))


LIMITED = """
import resource, sys
import numpy as np
from datasets.errors import CacheFull
from datasets.sources import storage

def saved(folder):
    np.save(folder / "table.npy", np.zeros(1_000_000))

def mapped(folder):
    storage.new_array(folder / "table.npy", np.uint8, (8_000_000,))[:] = 1

resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    storage.decoded("tiny", "v1", {build})
except CacheFull as error:
    print(error)
"""


@pytest.mark.skipif(os.name != "posix", reason="no limit on the size of files")
@pytest.mark.parametrize("way", ["saved", "mapped"])
def test_table_that_does_not_fit_is_one_sentence(cache, way):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(LIMITED).replace("{build}", way)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "no space left in" in done.stdout
    assert leftovers(cache) == []


# --- what is larger unpacked than it may be ------------------------------------------------------


def read(path, limit, member):
    with archives.opened(path, limit, member) as stream:
        return b"".join(iter(lambda: stream.read(2**16), b""))


ZEROS = bytes(3_000_000)
PACKED = {
    "gz": gzip.compress(ZEROS),
    "xz": lzma.compress(ZEROS),
    "bz2": bz2.compress(ZEROS),
    "plain": ZEROS,
    "zip": zipped({"a.csv": ZEROS}),
    "zip of gz": zipped({"a.csv": gzip.compress(ZEROS)}),
}


@pytest.mark.parametrize("kind", PACKED)
def test_content_is_read_up_to_its_bound(tmp_path, kind):
    path, member = tmp_path / "file", "a.csv" if "zip" in kind else None
    path.write_bytes(PACKED[kind])
    assert read(path, len(ZEROS), member) == ZEROS
    with pytest.raises(TooLarge, match="file"):
        read(path, len(ZEROS) - 1, member)


@pytest.mark.parametrize("kind", ["zip", "w", "w:gz", "w:xz", "w:bz2"])
def test_member_of_an_archive_is_read_up_to_its_bound(tmp_path, monkeypatch, kind):
    path = tmp_path / "archive"
    contents = {"../a.png": ZEROS}
    path.write_bytes(zipped(contents) if kind == "zip" else tar(contents, kind))
    ((_, content),) = [(name, read()) for name, read in archives.members(path, lambda name: True)]
    assert content == ZEROS
    assert leftovers(tmp_path) == ["archive"]  # nothing is written under a member's name
    monkeypatch.setattr(archives, "LARGEST_MEMBER", 2_999_999)
    with pytest.raises(TooLarge, match=r"a\.png"):
        list(archives.members(path, lambda name: True))


def test_sparse_member_is_refused(tmp_path):
    """It states three terabytes in a few bytes."""
    info = tarfile.TarInfo("a.bin")
    info.type, info.size = tarfile.GNUTYPE_SPARSE, 0
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[483:495] = b"%011o\0" % (3 * 10**9)
    header[148:156] = b"        "
    header[148:156] = b"%06o\0 " % sum(header[:512])
    (tmp_path / "a.tar").write_bytes(bytes(header) + bytes(1024))
    with pytest.raises(DamagedData):
        list(archives.members(tmp_path / "a.tar", lambda name: True))


def test_npz_is_read_up_to_its_bound_and_as_its_headers_say(tmp_path):
    path = tmp_path / "a.npz"
    X = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    np.savez_compressed(path, X=X, y=np.arange(3), more=np.zeros(10**6))
    read = archives.read_npz(path, ("X", "y"), 1_000)
    np.testing.assert_array_equal(read["X"], X)
    np.testing.assert_array_equal(read["y"], np.arange(3))
    with pytest.raises(TooLarge):
        archives.read_npz(path, ("X", "more"), 1_000)
    with pytest.raises(DamagedData, match="no item named"):
        archives.read_npz(path, ("Z",), 1_000)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"descr": "<f8", "shape": (10**12,)}, r"X\.npy: cannot reshape"),
        ({"descr": "|O", "shape": (1,)}, r"X\.npy"),
    ],
    ids=["more than there is", "objects"],
)
def test_npz_whose_header_states_something_else(tmp_path, header, message):
    stated = io.BytesIO()
    np.lib.format.write_array_header_1_0(stated, header | {"fortran_order": False})
    path = tmp_path / "a.npz"
    path.write_bytes(zipped({"X.npy": stated.getvalue() + bytes(80)}))
    with pytest.raises(DamagedData, match=message):
        archives.read_npz(path, ("X",), 1_000)


def test_verify_looks_at_all_files_and_names_every_damaged_one(cache, monkeypatch):
    digest = hashlib.sha256(CONTENT).hexdigest()
    files = [
        RawFile("tiny", name, "CC0", "ask.", (Form(name, "text", digest, 600),)) for name in "abcd"
    ]
    spec = replace(miniboone.SPEC, name="tiny", files=tuple(files))
    monkeypatch.setattr(catalogue, "spec", lambda name: spec)
    folder = cache / "tiny"
    folder.mkdir(parents=True)
    for name in "abd":
        (folder / name).write_bytes(CONTENT)
    decode_tiny()
    assert len(datasets.verify("tiny")) == 4
    (folder / "a").write_bytes(b"other")
    with pytest.raises(ChecksumMismatch):
        datasets.verify("tiny")
    (folder / "c").mkdir()
    index = folder / "decoded" / "v1" / "index.json"
    index.write_text(json.dumps({}))
    with pytest.raises(datasets.DamagedFiles) as caught:
        datasets.verify("tiny")
    assert len(caught.value.problems) == 3
    for path in (folder / "a", folder / "c", index):
        assert str(path) in str(caught.value)
