"""The downloader against a server with bad manners."""

import errno
import ftplib
import hashlib
import socket
import subprocess
import sys
import textwrap
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from datasets import CacheFull, ChecksumMismatch, DataUnavailable
from datasets.sources import download
from datasets.sources import find as sources
from datasets.sources.download import HttpLimits
from datasets.sources.find import Form, RawFile, find
from tests.datasets.server import Server

CONTENT = bytes(range(256)) * 512
DIGEST = hashlib.sha256(CONTENT).hexdigest()
PATIENT = HttpLimits(20.0, 20.0, 3, 0.01, 4096)
"""Patience with a server on a busy machine, where it is not what is tested."""


@pytest.fixture
def cache(cache, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    monkeypatch.setattr(download, "LIMITS", PATIENT)
    return cache


@pytest.fixture
def server():
    with Server() as running:
        yield running


def raw(*urls: str, sha256: str | None = DIGEST, size: int = len(CONTENT)) -> RawFile:
    form = Form("data.bin", "bytes", sha256, size, urls)
    return RawFile("tiny", "Tiny", "CC0 for tests", "ask the author.", (form,))


def leftovers(cache: Path) -> list[str]:
    """Everything in the cache except lock files."""
    return sorted(p.name for p in cache.rglob("*") if p.is_file() and p.suffix != ".lock")


def test_arrives_is_verified_and_shows_its_terms(cache, server, capsys):
    found = find(raw(server.page("/a", content=CONTENT)))
    assert found.path.read_bytes() == CONTENT
    assert (found.source, found.sha256) == ("official", DIGEST)
    assert "CC0 for tests" in capsys.readouterr().err
    again = find(raw(server.address + "/a"))
    assert again.source == "cache"
    assert len(server.requests) == 1
    assert leftovers(cache) == ["data.bin"]


def test_404_says_so_and_is_not_repeated(cache, server):
    url = f"{server.address}/gone"
    with pytest.raises(DataUnavailable, match=r"(?s)gone: HTTP status 404.*Next: ask the author"):
        find(raw(url))
    assert len(server.requests) == 1
    assert leftovers(cache) == []
    good = server.page("/b", content=CONTENT)
    assert find(raw(url, good)).path.read_bytes() == CONTENT


HALF, MORE = len(CONTENT) // 2, len(CONTENT) * 3 // 4


@pytest.mark.parametrize(
    ("manners", "read_timeout", "ranges"),
    [
        ({"redirect": "/elsewhere"}, 20.0, [None] * 2),
        ({"statuses": [503, 503]}, 20.0, [None] * 3),
        ({"pause": 0.5}, 2.0, [None]),  # something comes now and then, however long all takes
        ({"cuts": 2}, 20.0, [None, f"bytes={HALF}-", f"bytes={MORE}-"]),
        ({"cuts": 1, "ranges": False}, 20.0, [None, f"bytes={HALF}-"]),
    ],
    ids=["redirected", "busy", "slow", "cut off", "cut off without ranges"],
)
def test_server_with_bad_manners(cache, server, monkeypatch, manners, read_timeout, ranges):
    monkeypatch.setattr(download, "LIMITS", replace(PATIENT, read_timeout=read_timeout))
    server.page("/elsewhere", content=CONTENT)
    url = server.page("/bad", content=CONTENT, **manners)
    assert find(raw(url)).path.read_bytes() == CONTENT
    assert [asked for _, asked in server.requests] == ranges
    assert leftovers(cache) == ["data.bin"]


def test_stalled_server_is_asked_again_and_then_given_up(cache, server, monkeypatch):
    monkeypatch.setattr(download, "LIMITS", replace(PATIENT, read_timeout=0.4))
    url = server.page("/stall", content=CONTENT, stalls=1)
    assert find(raw(url)).path.read_bytes() == CONTENT
    hopeless = server.page("/hopeless", content=CONTENT, stalls=99)
    (cache / "tiny" / "data.bin").unlink()
    with pytest.raises(DataUnavailable, match=r"gave up after 3 attempts \(no answer for 0.4 s\)"):
        find(raw(hopeless))


@pytest.mark.parametrize(
    ("half", "version", "ranges"),
    [
        (CONTENT[:1000], '"v1"', ["bytes=1000-"]),
        (b"\xff" * 1000, None, ["bytes=1000-", None]),  # of another version: thrown away
    ],
)
def test_resumes_what_an_earlier_process_left(cache, server, half, version, ranges):
    url = server.page("/a", content=CONTENT, etag=version)
    (cache / "tiny").mkdir(parents=True)
    (cache / "tiny" / "data.bin.part").write_bytes(half)
    if version:
        (cache / "tiny" / "data.bin.part.version").write_text(version)
    assert find(raw(url)).path.read_bytes() == CONTENT
    assert [asked for _, asked in server.requests] == ranges


def test_wrong_content_of_the_right_length(cache, server):
    wrong = CONTENT[:-1] + b"?"
    url = server.page("/wrong", content=wrong)
    with pytest.raises(ChecksumMismatch) as caught:
        find(raw(url))
    assert caught.value.expected == DIGEST
    assert caught.value.found == hashlib.sha256(wrong).hexdigest()
    assert all(part in str(caught.value) for part in (url, DIGEST, caught.value.found))
    assert leftovers(cache) == []


def test_later_source_serves_after_wrong_content_and_it_is_said(cache, server, capsys):
    bad = server.page("/wrong", content=b"<html>please log in</html>")
    good = server.page("/right", content=CONTENT)
    assert find(raw(bad, good)).path.read_bytes() == CONTENT
    assert "WARNING: checksum mismatch" in capsys.readouterr().err


def test_dead_host_is_remembered(cache):
    with socket.socket() as closed:  # bound but not listening: refuses
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/a"
        with pytest.raises(DataUnavailable, match="cannot be reached"):
            find(raw(url))
        with pytest.raises(DataUnavailable, match="not tried again in this run"):
            find(raw(url))


def test_name_that_never_resolves_costs_one_timeout(cache, monkeypatch):
    calls, answered, asserted = [], [], threading.Event()

    def hang(*args, **kwargs):
        calls.append(args)
        asserted.wait(timeout=60)
        answered.append(args)
        raise socket.gaierror("too late")

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    monkeypatch.setattr(download, "LIMITS", HttpLimits(0.2, 0.2, 3, 0.01))
    try:
        for _ in range(2):
            with pytest.raises(DataUnavailable, match="did not resolve"):
                find(raw("http://example.invalid/a"))
        assert len(calls) == 1
        assert not answered  # nobody waited for it
    finally:
        asserted.set()


def test_full_disk_leaves_nothing_and_names_the_folder(cache, server, monkeypatch):
    url = server.page("/a", content=CONTENT)
    written = []

    def write(handle, piece):
        if len(written) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(handle.write(piece))

    monkeypatch.setattr(download, "write_piece", write)
    with pytest.raises(CacheFull) as caught:
        find(raw(url))
    assert len(written) == 2
    assert str(cache / "tiny") in str(caught.value)
    assert "COST_AWARE_BOOSTING_CACHE" in str(caught.value)
    assert leftovers(cache) == []


def test_too_little_space_is_seen_before_the_transfer(cache, server, monkeypatch):
    url = server.page("/a", content=CONTENT)
    usage = type("Usage", (), {"free": 10})
    monkeypatch.setattr(download.shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(CacheFull, match=r"data\.bin"):
        find(raw(url))
    assert leftovers(cache) == []


def test_two_processes_download_once(cache, server):
    url = server.page("/a", content=CONTENT, pause=0.2)
    code = textwrap.dedent(
        f"""
        from datasets.sources.find import Form, RawFile, find
        form = Form("data.bin", "bytes", {DIGEST!r}, 0, ({url!r},))
        print(find(RawFile("tiny", "Tiny", "CC0", "none", (form,))).source)
        """
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = sorted(process.communicate(timeout=50)[0].strip() for process in running)
    assert said == ["cache", "official"]
    assert len(server.requests) == 1


def test_file_without_published_digest_is_held_to_what_arrived(cache, server):
    url = server.page("/a", content=CONTENT)
    assert find(raw(url, sha256=None)).sha256 == DIGEST
    (cache / "tiny" / "data.bin").write_bytes(CONTENT[:-1] + b"?")
    with pytest.raises(ChecksumMismatch):
        find(raw(url, sha256=None))


def test_large_files_are_not_fetched_in_passing(cache, server):
    url = server.page("/a", content=CONTENT)
    large = raw(url, size=sources.LARGE_BYTES + 1)
    with pytest.raises(DataUnavailable, match="not fetched in passing"):
        find(large)
    assert server.requests == []
    assert find(large, allow_large=True).source == "official"


def test_mirror_address(cache, server, monkeypatch):
    server.page("/mirror/tiny/data.bin", content=CONTENT)
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", f"{server.address}/mirror/")
    found = find(raw(f"{server.address}/official"))
    assert (found.source, found.path.read_bytes()) == ("mirror", CONTENT)
    assert [path for path, _ in server.requests] == ["/mirror/tiny/data.bin"]


# --- FTP -----------------------------------------------------------------------------------------


class FtpServer:
    """As much of an FTP server as one download needs; serves ``/a``, cut off if ``cut``."""

    def __init__(self, cut: bool = False) -> None:
        self.cut = cut
        self.control, self.data = (socket.create_server(("127.0.0.1", 0)) for _ in range(2))
        self.port = self.control.getsockname()[1]
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        connection, _ = self.control.accept()
        high, low = divmod(self.data.getsockname()[1], 256)
        with connection, connection.makefile("rw", newline="\r\n") as talk:
            self._say(talk, "220 ready")
            for line in talk:
                word, _, path = line.strip().partition(" ")
                if word == "RETR" and path == "/a":
                    self._say(talk, "150 here it comes")
                    with self.data.accept()[0] as transfer:
                        transfer.sendall(CONTENT[: 5000 if self.cut else None])
                    self._say(talk, "426 connection lost" if self.cut else "226 done")
                    continue
                answers = {
                    "PASV": f"227 Entering Passive Mode (127,0,0,1,{high},{low})",
                    "SIZE": f"213 {len(CONTENT)}" if path == "/a" else "550 no such file",
                    "RETR": "550 no such file",
                    "USER": "230 welcome",
                    "QUIT": "221 bye",
                }
                self._say(talk, answers.get(word, "200 fine"))
                if word == "QUIT":
                    return

    @staticmethod
    def _say(talk, line: str) -> None:
        talk.write(f"{line}\n")
        talk.flush()

    def close(self) -> None:
        self.thread.join(5)
        self.control.close()
        self.data.close()


@pytest.fixture
def ftp(monkeypatch):
    """Start servers in the place of port 21."""
    running, connect = [], ftplib.FTP.connect

    def start(**kwargs) -> None:
        server = FtpServer(**kwargs)
        running.append(server)
        monkeypatch.setattr(
            ftplib.FTP, "connect", lambda self, host, port: connect(self, host, server.port)
        )

    yield start
    for server in running:
        server.close()


def test_ftp_address_is_fetched_and_verified(cache, ftp):
    ftp()
    found = find(raw("ftp://127.0.0.1/a"))
    assert found.path.read_bytes() == CONTENT
    assert leftovers(cache) == ["data.bin"]


@pytest.mark.parametrize(
    ("cut", "path", "sha256", "kind", "message"),
    [
        (True, "a", None, DataUnavailable, "426 connection lost"),
        (False, "other", None, DataUnavailable, "550 no such file"),
        (False, "a", "0" * 64, ChecksumMismatch, r"ftp://127\.0\.0\.1/a"),
    ],
    ids=["cut off", "not there", "another file"],
)
def test_ftp_that_does_not_deliver(cache, ftp, cut, path, sha256, kind, message):
    ftp(cut=cut)
    with pytest.raises(kind, match=message):
        find(raw(f"ftp://127.0.0.1/{path}", sha256=sha256))
    assert leftovers(cache) == []


def test_ftp_that_fills_the_disk(cache, monkeypatch):
    def full(self, url, output_file, pooch):
        Path(output_file).write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pooch.FTPDownloader.__call__", full)
    with pytest.raises(CacheFull, match=r"while writing data\.bin"):
        find(raw("ftp://127.0.0.1/a"))
    assert leftovers(cache) == []
