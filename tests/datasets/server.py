"""A local HTTP server with bad manners, for the tests of the downloader."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Page:
    """What one path answers.

    `cuts` first answers break off after half of what was asked for; `statuses` are sent before any
    content; `pause` seconds pass between the pieces of the content.
    """

    content: bytes = b""
    redirect: str | None = None
    statuses: list[int] = field(default_factory=list)
    cuts: int = 0
    pause: float = 0.0
    stalls: int = 0
    ranges: bool = True
    etag: str | None = '"v1"'


class Server:
    """Serves pages on a free port while the `with` block lasts and records the requests."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.requests: list[tuple[str, str | None]] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Server:
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self._http.shutdown()
        self._http.server_close()

    def page(self, path: str, **what) -> str:
        self.pages[path] = Page(**what)
        return self.address + path

    def _handler(self):
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.requests.append((self.path, self.headers.get("Range")))
                page = server.pages.get(self.path)
                if page is None:
                    self.send_error(404)
                elif page.redirect:
                    self.send_response(302)
                    self.send_header("Location", page.redirect)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                elif page.statuses:
                    self.send_error(page.statuses.pop(0))
                elif page.stalls:
                    page.stalls -= 1
                    time.sleep(1.0)
                    self.close_connection = True
                else:
                    self._content(page)

            def _content(self, page: Page) -> None:
                total, start = len(page.content), 0
                asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
                same = self.headers.get("If-Range") in (None, page.etag)
                if asked and page.ranges and same:
                    start = int(asked.group(1))
                    self.send_response(206)
                    self.send_header("Content-Range", f"bytes {start}-{total - 1}/{total}")
                else:
                    self.send_response(200)
                if page.etag:
                    self.send_header("ETag", page.etag)
                self.send_header("Content-Length", str(total - start))
                self.end_headers()
                body = page.content[start:]
                if page.cuts:
                    page.cuts -= 1
                    body = body[: len(body) // 2]
                    self.close_connection = True
                step = max(1, len(body) // 5) if page.pause else max(1, len(body))
                for at in range(0, len(body), step):
                    self.wfile.write(body[at : at + step])
                    self.wfile.flush()
                    time.sleep(page.pause)

            def log_message(self, *_) -> None:
                pass

        return Handler
