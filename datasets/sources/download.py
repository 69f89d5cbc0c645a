"""Getting one file from an HTTP address: retries, resumption, dead hosts remembered. FTP as well.

The transfer goes to ``<file>.part`` beside the target. A transfer that is cut off is resumed with
a Range request (guarded by If-Range where the server names a version); pooch then verifies the
SHA-256 and renames. A host that cannot be reached at all costs one connection timeout per run.
FTP, which one old archive needs, is pooch's own: one attempt, no resumption.
"""

from __future__ import annotations

import errno
import os
import shutil
import socket
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from datasets.errors import CacheFull, ChecksumMismatch, SourceFailed
from datasets.sources import unreachable
from datasets.sources.storage import file_sha256, full_disk_named, set_aside

_RETRY_STATUS = {408, 425, 429, 500, 502, 503, 504}


@dataclass(frozen=True)
class HttpLimits:
    """How patient a download is."""

    # connect_timeout, read_timeout: Seconds until a connection stands, and between two pieces of
    # content
    connect_timeout: float = 5.0
    read_timeout: float = 30.0
    attempts: int = 4  # Connections tried without any progress before giving up
    pause: float = 0.5  # Seconds before the second attempt; doubles each time
    chunk: int = 2**16  # Bytes held in memory at once, and lost when a connection breaks


LIMITS = HttpLimits()


def check_alive(url: str) -> None:
    """Raise :class:`SourceFailed` if the host was found dead earlier in this run."""
    unreachable.check(urlsplit(url).netloc)


def download(url: str, target: Path, sha256: str | None) -> None:
    """Fetch ``url`` into ``target`` and verify it."""
    import pooch

    check_alive(url)
    pooch.get_logger().setLevel("WARNING")
    part = target.with_name(target.name + ".part")
    kind = FtpDownloader if url.startswith("ftp://") else ResumingDownloader
    transfer = kind(part, sha256, LIMITS)
    known = f"sha256:{sha256}" if sha256 else None
    for path in (part, _version_file(part)):
        set_aside(path, "file")
    try:
        with full_disk_named(target.parent, target.name):
            pooch.retrieve(url, known, fname=target.name, path=target.parent, downloader=transfer)
    except CacheFull:
        for path in (part, _version_file(part)):
            path.unlink(missing_ok=True)
        raise
    except ValueError as error:
        if "hash of downloaded file" not in str(error):
            raise
        advice = "The file at this address is not the one on record; it was discarded."
        raise ChecksumMismatch(url, sha256, transfer.found, advice) from None


class ResumingDownloader:
    """A downloader for pooch that resumes what was cut off."""

    def __init__(self, part: Path, sha256: str | None, limits: HttpLimits) -> None:
        self.part = part
        self.sha256 = sha256
        self.limits = limits
        self.found = ""

    def __call__(self, url: str, output_file: str, pooch, check_only: bool = False) -> None:
        """Write the content of ``url`` to ``output_file`` (pooch's downloader protocol)."""
        host = urlsplit(url).netloc
        part = self.part
        resumed = part.exists() and part.stat().st_size > 0
        self._transfer(url, host, part)
        self.found = file_sha256(part)
        if resumed and self.sha256 and self.found != self.sha256:
            part.unlink()  # the old half may belong to another version: once more from the start
            self._transfer(url, host, part)
            self.found = file_sha256(part)
        os.replace(part, output_file)
        _version_file(part).unlink(missing_ok=True)

    def _transfer(self, url: str, host: str, part: Path) -> None:
        """Bring ``part`` to its full length, over as many connections as it takes."""
        idle, reason = 0, ""
        while idle < self.limits.attempts:
            if idle:
                time.sleep(self.limits.pause * 2 ** (idle - 1))
            before = part.stat().st_size if part.exists() else 0
            done, reason = self._connection(url, host, part)
            if done:
                return
            after = part.stat().st_size if part.exists() else 0
            idle = 0 if after > before else idle + 1
        raise SourceFailed(f"{url}: gave up after {self.limits.attempts} attempts ({reason})")

    def _connection(self, url: str, host: str, part: Path) -> tuple[bool, str]:
        """Make one request; say whether the file is complete, or why not."""
        import requests

        _check_name(url, host, self.limits.connect_timeout)
        offset = part.stat().st_size if part.exists() else 0
        headers = {"Accept-Encoding": "identity"}
        if offset:
            headers["Range"] = f"bytes={offset}-"
            version = _version_file(part)
            if version.exists():
                headers["If-Range"] = version.read_text(encoding="utf-8")
        timeout = (self.limits.connect_timeout, self.limits.read_timeout)
        try:
            with requests.get(url, headers=headers, timeout=timeout, stream=True) as response:
                return self._receive(url, response, part, offset)
        except requests.exceptions.ReadTimeout:
            return False, f"no answer for {self.limits.read_timeout:g} s"
        except requests.exceptions.ConnectionError as error:
            if _never_connected(error):
                reason = f"{host} cannot be reached ({_root(error)})"
                raise unreachable.note(host, reason) from None
            return False, f"connection lost ({_root(error)})"
        except requests.exceptions.RequestException as error:
            return False, str(_root(error))

    def _receive(self, url: str, response, part: Path, offset: int) -> tuple[bool, str]:
        """Append (206) or write (200) the body of a response."""
        if response.status_code == 416:  # our half is longer than the file
            part.unlink(missing_ok=True)
            return False, "the server refused to resume"
        if response.status_code in _RETRY_STATUS:
            return False, f"HTTP status {response.status_code}"
        if response.status_code not in (200, 206):
            raise SourceFailed(f"{url}: HTTP status {response.status_code} {response.reason}")
        if response.status_code == 206 and not response.headers.get("Content-Range", "").startswith(
            f"bytes {offset}-"
        ):
            part.unlink(missing_ok=True)
            return False, "the server resumed at another place"
        offset = offset if response.status_code == 206 else 0
        length = response.headers.get("Content-Length")
        total = offset + int(length) if length is not None else None
        self._check_space(part, total, offset)
        version = response.headers.get("ETag", response.headers.get("Last-Modified", ""))
        if version and not version.startswith("W/"):  # a weak tag may not guard a range
            _version_file(part).write_text(version, encoding="utf-8")
        else:
            _version_file(part).unlink(missing_ok=True)
        _copy(response, part, offset, total, self.limits.chunk)
        size = part.stat().st_size
        complete = total is None or size == total
        return complete, f"cut off after {size} of {total} bytes"

    @staticmethod
    def _check_space(part: Path, total: int | None, offset: int) -> None:
        if total is not None and shutil.disk_usage(part.parent).free < total - offset:
            part.unlink(missing_ok=True)
            raise CacheFull(part.parent, f"{part.stem} ({total / 1e6:.0f} MB)")


class FtpDownloader:
    """A downloader for pooch that says what went wrong in our words; parameters as above."""

    def __init__(self, part: Path, sha256: str | None, limits: HttpLimits) -> None:
        self.part = part
        self.limits = limits
        self.found = ""

    def __call__(self, url: str, output_file: str, pooch, check_only: bool = False) -> None:
        """Write the content of ``url`` to ``output_file``."""
        from ftplib import all_errors

        from pooch import FTPDownloader

        host = urlsplit(url).netloc
        _check_name(url, host, self.limits.connect_timeout)
        # pooch's bar is drawn into a file, too.
        bar = sys.stderr.isatty()
        transfer = FTPDownloader(timeout=self.limits.read_timeout, progressbar=bar)
        try:
            transfer(url, str(self.part), pooch)
            self.found = file_sha256(self.part)
            os.replace(self.part, output_file)
        except all_errors as error:  # OSError among them
            if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                raise
            raise SourceFailed(f"{url}: {error}") from error
        finally:
            self.part.unlink(missing_ok=True)


def _copy(response, part: Path, offset: int, total: int | None, chunk: int) -> None:
    """Stream a body to the end of ``part``; a full disk leaves nothing behind."""
    from tqdm import tqdm

    bar = tqdm(
        total=total,
        initial=offset,
        unit="B",
        unit_scale=True,
        desc=part.stem,
        disable=None,  # shown on a terminal only
        leave=False,
    )
    with bar, open(part, "ab" if offset else "wb") as handle:
        try:
            for piece in response.iter_content(chunk):
                write_piece(handle, piece)
                bar.update(len(piece))
        except OSError as error:
            if not _is_network(error):
                handle.close()
                part.unlink(missing_ok=True)
                _version_file(part).unlink(missing_ok=True)
            raise


def write_piece(handle, piece: bytes) -> None:
    """Write one piece to disk (a seam where tests fill the disk)."""
    handle.write(piece)


def _is_network(error: OSError) -> bool:
    """Requests' errors are OSErrors too: tell them from the disk's."""
    import requests

    return isinstance(error, requests.exceptions.RequestException)


def _version_file(part: Path) -> Path:
    return part.with_name(part.name + ".version")


def _check_name(url: str, host: str, timeout: float) -> None:
    """Give up on a host name that does not resolve in time (requests cannot limit that)."""
    import requests

    if requests.utils.select_proxy(url, requests.utils.get_environ_proxies(url)):
        return  # the proxy resolves the name
    outcome: list[OSError | None] = []

    def resolve() -> None:
        try:
            socket.getaddrinfo(urlsplit(url).hostname, None)
            outcome.append(None)
        except OSError as error:
            outcome.append(error)

    thread = threading.Thread(target=resolve, daemon=True)
    thread.start()
    thread.join(timeout)
    if not outcome or outcome[0] is not None:
        reason = outcome[0] if outcome else f"its name did not resolve in {timeout:g} s"
        raise unreachable.note(host, f"{host} cannot be reached ({reason})")


def _root(error: BaseException) -> BaseException:
    """Dig out the innermost reason, which is the readable one."""
    while True:
        inner = getattr(error, "reason", None)
        if not isinstance(inner, BaseException):
            inner = next((a for a in error.args if isinstance(a, BaseException)), None)
        if inner is None:
            return error
        error = inner


def _never_connected(error: BaseException) -> bool:
    """Tell a host that never answered from a connection that broke."""
    import requests
    from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

    if isinstance(
        error,
        requests.exceptions.ConnectTimeout
        | requests.exceptions.ProxyError
        | requests.exceptions.SSLError,
    ):
        return True
    return isinstance(
        _root(error), NewConnectionError | ConnectTimeoutError | ConnectionRefusedError
    )
