"""The first fit says that it compiles its kernels, if that takes long: they were not kept yet.

How long it will take nobody knows beforehand. A fit that has compiled for a second has met one of
the large kernels, and most of a minute is to come; a small kernel alone is not worth a word.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator

from numba.core import event as numba_events

log = logging.getLogger(__name__)

PATIENCE = 1.0  # seconds of compilation before something is said

_PACKAGE = __name__.split(".")[0]


class _Announcer(numba_events.Listener):
    """Says it once, however many fits and threads compile."""

    def __init__(self) -> None:
        self.said = False
        self._began = None

    def fit_begins(self) -> None:
        """Forget what an earlier fit compiled."""
        self._began = None

    def on_start(self, event) -> None:
        """At each kernel that is compiled, the first of a fit and those that it calls."""
        now = time.monotonic()
        if self._began is None:
            self._began = now
        elif not self.said and now - self._began > PATIENCE:
            self.said = True
            log.warning(
                "The first fit compiles its kernels, once, which takes a minute or so; they are "
                "kept for later runs. To compile all of them beforehand: python -m "
                "%s.catalogue",
                _PACKAGE,
            )

    def on_end(self, event) -> None:
        """Nothing to say."""


_announcer = _Announcer()


@contextlib.contextmanager
def announcing() -> Iterator[None]:
    """Say, once in a process, that the fit in the block compiles, if that takes long."""
    if _announcer.said:
        yield
        return
    _announcer.fit_begins()
    with numba_events.install_listener("numba:compile", _announcer):
        yield


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Say nothing of what fits in the block compile: it is what they are for."""
    before, _announcer.said = _announcer.said, True
    try:
        yield
    finally:
        _announcer.said = before
