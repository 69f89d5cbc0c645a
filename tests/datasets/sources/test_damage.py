"""Damage on the disk is named; it neither ends in a traceback nor becomes data."""

from __future__ import annotations

import errno
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
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import datasets
from datasets import catalogue, miniboone
from datasets.errors import CacheFull, ChecksumMismatch, DamagedData, DataUnavailable
from datasets.sources import archives, find, storage
from datasets.sources.archives import TooLarge
from datasets.sources.find import Form, RawFile
from tests.datasets.server import Server

CONTENT = b"1,2,3\n" * 100


def build(folder: Path) -> dict:
    np.save(folder / "table.npy", np.arange(1000.0))
    return {"rows": 1000}


def decode_tiny():
    tables, facts = storage.decoded("tiny", "v1", build)
    np.testing.assert_array_equal(tables["table"], np.arange(1000.0))
    assert facts == {"rows": 1000}


# --- decoded tables ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"files": {}}', '{"files": {"a.npy": {}}, "facts": {}}', "[" * 10**5],
)
def test_damaged_index_is_named_and_the_tables_are_made_anew(cache, capsys, text):
    decode_tiny()
    index = cache / "tiny" / "decoded" / "v1" / "index.json"
    index.write_text(text)
    decode_tiny()
    assert f"{index} is damaged" in capsys.readouterr().err
    decode_tiny()
    assert capsys.readouterr().err == ""


def object_array(table, entry):
    np.save(table, np.array([{}] * 1000, dtype=object), allow_pickle=True)


def words(table, entry):
    np.save(table, np.arange(1000).astype(bytes))


def plain_text(table, entry):
    table.write_text("1,2,3\n" * 100)


def no_header(table, entry):
    table.write_bytes(table.read_bytes().replace(b"(1000,), }", b"(" * 10))


def no_file_is_so_long(table, entry):
    table.write_bytes(table.read_bytes().replace(b"(1000,), }   ", b"(10000000,), }"))


def size_as_text(table, entry):
    return {"bytes": str(entry["bytes"])}


@pytest.mark.parametrize(
    "change", [object_array, words, plain_text, no_header, no_file_is_so_long, size_as_text]
)
@pytest.mark.parametrize("sealed", [True, False])
def test_wrong_content_with_right_checksums_is_made_anew(cache, capsys, change, sealed):
    decode_tiny()
    folder = cache / "tiny" / "decoded" / "v1"
    table, index = folder / "table.npy", json.loads((folder / "index.json").read_text())
    entry = index["files"][table.name]
    odd = change(table, entry) or {}
    whole = {"sha256": storage.file_sha256(table), "bytes": table.stat().st_size}
    index["files"][table.name] = {**whole, **odd}
    index["sha256"] = storage._index_sha256(index)
    if not sealed:  # as it was once written
        del index["sha256"]
    (folder / "index.json").write_text(json.dumps(index))
    decode_tiny()
    assert capsys.readouterr().err.count(" is damaged (") == 1
    decode_tiny()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("what", ["facts", "files"])
def test_an_index_without_what_was_noted_is_damaged(cache, capsys, what):
    decode_tiny()
    path = cache / "tiny" / "decoded" / "v1" / "index.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), what: {}}))
    decode_tiny()
    assert f"{path} is damaged" in capsys.readouterr().err


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


# --- the download cache --------------------------------------------------------------------------


DIGEST = hashlib.sha256(CONTENT).hexdigest()


def tiny(url, sha256=DIGEST):
    form = Form("data.csv", "text", sha256, len(CONTENT), (url,) if url else ())
    return RawFile("tiny", "Tiny", "CC0", "ask.", (form,))


def test_folder_in_the_place_of_a_cached_file(cache, capsys, monkeypatch):
    monkeypatch.delenv("COST_AWARE_BOOSTING_MIRROR", raising=False)
    place = cache / "tiny" / "data.csv"
    (place / "mine").mkdir(parents=True)
    with pytest.raises(DataUnavailable, match=r"data\.csv is no file"):
        find.find(tiny(None))
    with Server() as server:
        found = find.find(tiny(server.page("/data.csv", content=CONTENT)))
    assert found.path.read_bytes() == CONTENT
    assert "data.csv is a folder where a file should be: set aside" in capsys.readouterr().err
    assert (cache / "tiny" / "data.csv.set-aside-1" / "mine").is_dir()


def test_folder_in_the_place_of_half_a_download(cache, monkeypatch):
    monkeypatch.delenv("COST_AWARE_BOOSTING_MIRROR", raising=False)
    (cache / "tiny" / "data.csv.part").mkdir(parents=True)
    (cache / "tiny" / "data.csv.version").mkdir(parents=True)
    with Server() as server:
        found = find.find(tiny(server.page("/data.csv", content=CONTENT)))
    assert found.path.read_bytes() == CONTENT


def test_cache_that_is_a_file_lets_the_mirror_serve(cache, tmp_path, monkeypatch):
    cache.write_text("mine")
    monkeypatch.delenv("COST_AWARE_BOOSTING_MIRROR", raising=False)
    with Server() as server, pytest.raises(DataUnavailable, match="cannot be written"):
        find.find(tiny(server.page("/data.csv", content=CONTENT)))
    (tmp_path / "mirror" / "tiny").mkdir(parents=True)
    (tmp_path / "mirror" / "tiny" / "data.csv").write_bytes(CONTENT)
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", str(tmp_path / "mirror"))
    assert find.find(tiny(None)).source == "mirror"


@pytest.mark.parametrize("note", ["", "0123", "\x00", "g" * 64])
def test_damaged_note_of_a_digest_is_named(cache, note):
    place = cache / "tiny" / "data.csv"
    place.parent.mkdir(parents=True)
    place.write_bytes(CONTENT)
    place.with_name("data.csv.sha256").write_text(note)
    with pytest.raises(DamagedData, match=r"data\.csv\.sha256: no SHA-256"):
        find.find(tiny(None, sha256=None))


# --- the mirror ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        ("gone", "does not exist"),
        ("file", "is no folder"),
        ("forbidden", "this user may not read"),
    ],
)
def test_mirror_that_cannot_be_read_is_said_once(cache, tmp_path, monkeypatch, capsys, harm, said):
    mirror = tmp_path / "mirror"
    if harm == "file":
        mirror.write_text("")
    elif harm == "forbidden":  # nothing is forbidden to root, whom the tests may run as
        mirror.mkdir()
        monkeypatch.setattr(find.os, "access", lambda path, mode: False)
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", str(mirror))
    for _ in range(2):
        with pytest.raises(DataUnavailable, match=f"mirror: .*{said}"):
            find.find(tiny(None))
    assert capsys.readouterr().err.count(said) == 1


# --- a full disk ---------------------------------------------------------------------------------


def leftovers(folder: Path) -> list[str]:
    return [p.name for p in folder.rglob("*") if p.is_file() and p.suffix != ".lock"]


def test_numpys_words_for_a_full_disk_are_understood(cache):
    def fails(folder):
        (folder / "table.npy").write_bytes(b"half")
        raise OSError("1000 requested and 512 written")

    with pytest.raises(CacheFull, match="no space left in"):
        storage.decoded("tiny", "v1", fails)
    assert leftovers(cache) == []


def test_space_is_reserved_before_pages_are_mapped(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

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


def zipped(path, name, content):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return path


def tarred(path, name, content, mode):
    with tarfile.open(path, mode) as archive:
        info = tarfile.TarInfo(name)
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    return path


def read(path, limit, member):
    with archives.opened(path, limit, member) as stream:
        return b"".join(iter(lambda: stream.read(2**16), b""))


ZEROS = bytes(3_000_000)


@pytest.mark.parametrize("kind", ["gz", "xz", "bz2", "plain", "zip", "zip of gz"])
def test_content_is_read_up_to_its_bound(tmp_path, kind):
    path, member = tmp_path / "file", "a.csv" if "zip" in kind else None
    if kind == "gz":
        path.write_bytes(gzip.compress(ZEROS))
    elif kind == "xz":
        path.write_bytes(lzma.compress(ZEROS))
    elif kind == "bz2":
        path.write_bytes(archives.bz2.compress(ZEROS))
    elif kind == "plain":
        path.write_bytes(ZEROS)
    else:
        zipped(path, "a.csv", gzip.compress(ZEROS) if kind == "zip of gz" else ZEROS)
    assert read(path, len(ZEROS), member) == ZEROS
    with pytest.raises(TooLarge, match="file"):
        read(path, len(ZEROS) - 1, member)


@pytest.mark.parametrize("kind", ["zip", "w", "w:gz", "w:xz", "w:bz2"])
def test_member_of_an_archive_is_read_up_to_its_bound(tmp_path, monkeypatch, kind):
    path = tmp_path / "archive"
    if kind == "zip":
        zipped(path, "../a.png", ZEROS)
    else:
        tarred(path, "../a.png", ZEROS, kind)
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


def test_npz_whose_header_states_more_than_there_is(tmp_path):
    stated = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    np.lib.format.write_array_header_1_0(stated, header)
    path = zipped(tmp_path / "a.npz", "X.npy", stated.getvalue() + bytes(80))
    with pytest.raises(DamagedData, match=r"X\.npy: cannot reshape"):
        archives.read_npz(path, ("X",), 1_000)
    header = {"descr": "|O", "fortran_order": False, "shape": (1,)}
    stated = io.BytesIO()
    np.lib.format.write_array_header_1_0(stated, header)
    path = zipped(tmp_path / "b.npz", "X.npy", stated.getvalue() + bytes(80))
    with pytest.raises(DamagedData, match=r"X\.npy"):
        archives.read_npz(path, ("X",), 1_000)


# --- verify --------------------------------------------------------------------------------------


def test_verify_looks_at_all_files_and_names_every_damaged_one(cache, monkeypatch):
    monkeypatch.delenv("COST_AWARE_BOOSTING_MIRROR", raising=False)
    files = [
        RawFile("tiny", name, "CC0", "ask.", (Form(name, "text", DIGEST, 600),)) for name in "abcd"
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
