"""Train under a limit of processor time, in a process of its own that a crash cannot take along.

Each worker keeps one such process, so that libraries and compiled kernels are loaded once; it is
begun anew after it has ended.
"""

from __future__ import annotations

import atexit
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

from experiments.cell import Cell
from experiments.compare import child_process

POSSIBLE = os.name == "posix"
"""Whether the system ends a process whose processor time is spent."""

TOO_LONG = "it needs more than"
"""How the reason of a trial begins that passed its limit."""

_lock = threading.Lock()
_kept: dict[str, subprocess.Popen] = {}


def run(name: str, cell: Cell, load: str, options: Mapping[str, Any], seconds: float) -> list[dict]:
    """Compute a cell in the other process.

    Parameters
    ----------
    name : str
        ``package.module:function``, which is given the cell and what `load` gave.
    cell : Cell
    load : str
        ``package.module:function``
    options : mapping
        What it is called with; what was loaded last is kept.
    seconds : float
        Processor time at most, to the next whole second; loading is not counted.

    Returns
    -------
    list of dict
        Its rows; or one row, ``failed``, if it crashed or needed more time.
    """
    asked = {"run": name, "cell": cell, "load": load, "options": dict(options), "seconds": seconds}
    with _lock:
        process = _process()
        try:
            child_process.write(process.stdin, pickle.dumps(asked))
            body = child_process.read(process.stdout)
        except BrokenPipeError:
            body = None
        if body is not None:
            return json.loads(body)
        _kept.clear()
        process.stdin.close()
        return [{"failed": _how_it_ended(process.wait(), seconds)}]


def _process() -> subprocess.Popen:
    process = _kept.get("child")
    if process is None or process.poll() is not None:
        command = [sys.executable, "-m", child_process.__name__]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        _kept["child"] = process
    return process


def _how_it_ended(status: int, seconds: float) -> str:
    if status == -signal.SIGXCPU:
        return f"{TOO_LONG} {seconds:g} s of processor time"
    if status < 0:
        return f"its process ended with {signal.Signals(-status).name}"
    return f"its process ended with status {status}"


@atexit.register
def _end() -> None:
    for process in _kept.values():
        process.stdin.close()
        process.wait()
