"""Fixtures that keep a test of data away from the user's cache and from the network."""

from __future__ import annotations

import gc
import os
import socket
import subprocess

import pytest

# On small matrices two threads of BLAS wait for each other: a reference's L-BFGS takes seven times
# the time. Set before NumPy is loaded; children and workers inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import experiments  # noqa: F401  (before NumPy: it settles how that computes)

# Compilers and collected tests are millions of objects that stay: looking for garbage among them
# takes a tenth of the time.
gc.set_threshold(200_000, 20, 50)


def pytest_collection_finish():
    gc.collect()
    gc.freeze()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("COST_AWARE_BOOSTING_CACHE", str(folder))
    return folder


@pytest.fixture
def offline(cache, monkeypatch):
    """No mirror, no network, no pip: every attempt is an error of the test."""

    def forbidden(*args, **kwargs):
        raise AssertionError(f"touched the outside: {args}")

    monkeypatch.delenv("COST_AWARE_BOOSTING_MIRROR", raising=False)
    monkeypatch.setattr(socket.socket, "connect", forbidden)
    monkeypatch.setattr(socket, "getaddrinfo", forbidden)
    monkeypatch.setattr(subprocess, "run", forbidden)
    return cache


@pytest.fixture
def unreachable(cache, monkeypatch):
    """No mirror; hosts do not resolve and pip finds nothing."""
    from datasets.sources import unreachable, wheels

    def unknown(*args, **kwargs):
        raise socket.gaierror("Name or service not known")

    monkeypatch.delenv("COST_AWARE_BOOSTING_MIRROR", raising=False)
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    monkeypatch.setattr(wheels, "_pip_download", lambda *args: "ERROR: No matching distribution")
    unreachable.forget()
    yield cache
    unreachable.forget()
