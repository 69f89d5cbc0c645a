"""The store of finished cells, and what keys them."""

import contextlib
import errno
import hashlib
import json

import numpy as np
import pytest

from datasets.sources import storage
from experiments.artefact import Cell
from experiments.running.provenance import cell_key, hash_files, row_hashes
from experiments.running.store import Store

ROWS = [{"score": 0.1 + 0.2, "name": "λ \u2028 x"}, {"score": float("nan"), "name": ""}]
KEY = "ab" * 32


def test_what_is_put_is_got_bit_for_bit(tmp_path):
    store = Store(tmp_path)
    assert store.get(KEY) is None
    store.put(KEY, ROWS, 1.25)
    rows, seconds = store.get(KEY)
    assert seconds == 1.25
    assert rows[0] == ROWS[0]
    assert np.isnan(rows[1]["score"])
    store.put(KEY, [], 0.0)
    assert store.get(KEY) == ([], 0.0)


def damages(content):
    header, _, body = content.partition(b"\n")
    yield content[: len(content) // 2]
    yield content[:-3]
    yield b""
    yield body
    yield header + b"\n" + body.replace(b"0.3", b"0.4")
    yield header + b"\n" + body + b"{}\n"
    yield header.replace(b"abab", b"cdcd") + b"\n" + body
    yield b"[1, 2]\n" + body
    yield b"\xff\xfe" + content
    for body in (b"[1, 2]\n", b'{"x": 1}\n"text"\n', b"null\n"):
        yield sealed(header, body)
    for seconds in (None, "long", [1.0], float("nan"), 10**400):
        yield sealed(header, body, seconds=seconds)


def sealed(header, body, **changed):
    """An entry whose checksum is right."""
    said = {**json.loads(header), "sha256": hashlib.sha256(body).hexdigest(), **changed}
    return json.dumps(said).encode() + b"\n" + body


def test_every_damage_is_noticed(tmp_path, caplog):
    store = Store(tmp_path)
    store.put(KEY, ROWS, 1.0)
    path = store.path(KEY)
    whole = path.read_bytes()
    for damaged in damages(whole):
        assert damaged != whole
        path.write_bytes(damaged)
        caplog.clear()
        assert store.get(KEY) is None
        assert f"{path} is damaged" in caplog.text
    path.write_bytes(whole)
    assert store.get(KEY) is not None


def test_entry_of_another_cell_is_not_taken(tmp_path):
    store = Store(tmp_path)
    store.put(KEY, ROWS, 1.0)
    other = KEY[:2] + "0" * 62
    store.path(other).write_bytes(store.path(KEY).read_bytes())
    assert store.get(other) is None


@pytest.mark.parametrize("in_the_way", ["folder", "full folder", "file"])
def test_entry_of_the_wrong_kind_is_computed_again_and_set_aside(
    tmp_path, caplog, capsys, in_the_way
):
    store = Store(tmp_path)
    path = store.path(KEY)
    if in_the_way == "file":
        path.parent.write_text("mine")
    else:
        path.mkdir(parents=True)
        if in_the_way == "full folder":
            (path / "mine").write_text("")
    assert store.get(KEY) is None
    assert f"{path} cannot be read" in caplog.text
    store.put(KEY, ROWS[:1], 1.0)
    assert "set aside as" in capsys.readouterr().err
    assert store.get(KEY) == (ROWS[:1], 1.0)


@pytest.mark.parametrize("name", ["write", "fsync"])
def test_full_disk_names_the_file_and_leaves_no_half_of_it(tmp_path, monkeypatch, name):
    """The system names no file when a write fails; without one the command line cannot say it."""

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    store = Store(tmp_path)
    store.put(KEY, ROWS, 1.0)
    before = store.path(KEY).read_bytes()
    if name == "fsync":
        monkeypatch.setattr(storage.os, "fsync", full)
    else:
        monkeypatch.setattr(storage, "open", lambda *_: FullFile(full), raising=False)
    with pytest.raises(OSError, match="No space left") as caught:
        store.put(KEY, ROWS[:1], 1.0)
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(store.path(KEY))
    assert store.path(KEY).read_bytes() == before
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [store.path(KEY)]


class FullFile(contextlib.nullcontext):
    """A file that cannot be written."""

    def __init__(self, write):
        super().__init__(self)
        self.write = write

    def __enter__(self):
        return self


def test_key_depends_on_all_that_determines_a_cell():
    cell = Cell("set", "cegb", {"tradeoff": 0.1, "x": 1}, seed=3)
    identity = {"kind": "real", "checksum": "aa"}
    state = {
        "versions": {"numpy": "2"},
        "processor": "x86",
        "sources": {"set": "s", "other": "s"},
        "run_cell": "measure",
    }
    key = cell_key(cell, "laptop", identity, state)
    same = Cell("set", "cegb", {"x": 1, "tradeoff": 0.1}, seed=3, alone=True)
    assert cell_key(same, "laptop", identity, state) == key  # order and manner do not matter
    others = [
        cell_key(Cell("other", "cegb", cell.params, 3), "laptop", identity, state),
        cell_key(Cell("set", "gbrt", cell.params, 3), "laptop", identity, state),
        cell_key(Cell("set", "cegb", {"tradeoff": 0.2, "x": 1}, 3), "laptop", identity, state),
        cell_key(Cell("set", "cegb", cell.params, 4), "laptop", identity, state),
        cell_key(cell, "paper", identity, state),
        cell_key(cell, "laptop", {**identity, "checksum": "bb"}, state),
        cell_key(cell, "laptop", {**identity, "kind": "synthetic"}, state),
        cell_key(cell, "laptop", identity, {**state, "versions": {"numpy": "3"}}),
        cell_key(cell, "laptop", identity, {**state, "processor": "arm"}),
        cell_key(cell, "laptop", identity, {**state, "sources": {"set": "t"}}),
        cell_key(cell, "laptop", identity, {**state, "run_cell": "trace"}),
    ]
    assert len({key, *others}) == len(others) + 1


def test_hash_of_files_sees_names_and_contents(tmp_path):
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text("a")
    two.write_text("b")
    before = hash_files([one, two], tmp_path)
    assert hash_files([two, one], tmp_path) == before
    two.write_text("c")
    assert hash_files([one, two], tmp_path) != before
    two.write_text("b")
    assert hash_files([one, two.rename(tmp_path / "three.py")], tmp_path) != before


def test_row_hashes_tell_rows_apart():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(64, 6)).astype(float)
    equal = (X[:, None, :] == X[None, :, :]).all(axis=2)
    hashes = row_hashes(X)
    assert ((hashes[:, None] == hashes[None, :]) == equal).all()
    assert row_hashes(np.array([[-0.0]])) == row_hashes(np.array([[0.0]]))
