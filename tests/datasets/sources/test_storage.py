"""Files that are written whole or not at all."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from datasets.sources import storage
from datasets.sources.storage import write_atomically


def test_failed_write_leaves_the_old_content_and_no_litter(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def fail(descriptor):
        raise OSError("disk full")

    monkeypatch.setattr(storage.os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_writers_of_one_file_are_not_in_each_others_way(tmp_path):
    """Threads have one process number, as processes of two containers may."""
    path, contents = tmp_path / "file", [bytes([65 + k]) * 100_000 for k in range(4)]

    def write_often(content):
        for _ in range(50):
            write_atomically(path, content)
            assert path.read_bytes() in contents

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write_often, contents))
    assert list(tmp_path.iterdir()) == [path]


def test_a_files_mode_and_a_link_stay(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "file", tmp_path / "link"
    link.symlink_to("elsewhere/file")
    mask = os.umask(0o027)
    try:
        write_atomically(link, b"new")  # of a link that leads nowhere yet
        assert (target.read_bytes(), stat.S_IMODE(target.stat().st_mode)) == (b"new", 0o640)
        target.chmod(0o664)
        for path in (link, target):
            write_atomically(path, b"newer")
    finally:
        os.umask(mask)
    assert (target.read_bytes(), stat.S_IMODE(target.stat().st_mode)) == (b"newer", 0o664)
    assert link.readlink().as_posix() == "elsewhere/file"
    assert list(target.parent.iterdir()) == [target]
