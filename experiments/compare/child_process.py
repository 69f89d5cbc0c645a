"""The process that trains under a limit of time: ``python -m experiments.compare.child_process``.

It reads what is to be done from standard input and writes what came out to what was its standard
output. The system itself ends it when its processor time is spent: no clock of ours is asked.
"""

from __future__ import annotations

import importlib
import json
import os
import pickle
import struct
import sys
from typing import Any, BinaryIO

HEAD = struct.Struct("<Q")


def read(stream: BinaryIO) -> bytes | None:
    """Read a message; None at the end of the stream."""
    head = stream.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    (size,) = HEAD.unpack(head)
    body = stream.read(size)
    return body if len(body) == size else None


def write(stream: BinaryIO, body: bytes) -> None:
    """Write a message."""
    stream.write(HEAD.pack(len(body)) + body)
    stream.flush()


def _limit(seconds: float | None) -> None:
    """Let the system end this process when it has used so many seconds more."""
    import resource

    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    used = resource.getrusage(resource.RUSAGE_SELF)
    spent = used.ru_utime + used.ru_stime
    soft = hard if seconds is None else int(spent + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _named(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def main() -> None:
    """Do what is asked until nobody asks any more."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    loaded: dict[str, Any] = {}
    while (body := read(sys.stdin.buffer)) is not None:
        asked = pickle.loads(body)  # from the process that began this one
        key = repr((asked["load"], asked["options"]))
        if key not in loaded:
            loaded = {key: _named(asked["load"])(**asked["options"])}
        _limit(asked["seconds"])
        rows = _named(asked["run"])(asked["cell"], loaded[key])
        _limit(None)
        write(answers, json.dumps(rows).encode())


if __name__ == "__main__":
    main()
