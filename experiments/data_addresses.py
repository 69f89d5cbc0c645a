"""Asks the official addresses of data sets whether they still answer; nothing is downloaded."""

from __future__ import annotations

import http.client
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

SECONDS = 30.0
"""How long an address may take to answer."""


def addresses(described: Mapping[str, Any]) -> Iterator[str]:
    """Yield the official addresses of a data set, each once.

    Parameters
    ----------
    described : Mapping
        What :func:`datasets.describe` says of it.
    """
    forms = [form for raw in described.get("files", ()) for form in raw["forms"]]
    yield from dict.fromkeys(address for form in forms for address in form["addresses"])


def refusal(address: str) -> str:
    """Return why an address does not answer, or nothing where it does."""
    try:
        asked = Request(address, headers={"Range": "bytes=0-0", "User-Agent": "data-addresses"})
        with urlopen(asked, timeout=SECONDS) as answer:
            answer.read(1)
    except (URLError, OSError, http.client.HTTPException) as error:
        return str(error) or type(error).__name__
    return ""
