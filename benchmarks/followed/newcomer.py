"""asv: what a newcomer waits for, from an empty cache of kernels to a first answer.

Seconds of processor time, of the user and of the system, of a whole process and its children: other
work on the machine changes them little. Nearly all of it is importing and compiling.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

_DATA = """\
import numpy as np

X = np.random.default_rng(0).normal(size=(2000, 8)).round(3)
y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
"""
_TABLE = """
rows = (",".join(map(str, [*row, label])) for row, label in zip(X, y))
print("a,b,c,d,e,f,g,h,y", *rows, sep="\\n")
"""
FITS = {
    "CEGB": "cegb.CEGBClassifier",
    "GBRT": "gbrt.GBRTClassifier",
    "AdaBoost.MH": "adaboost_mh.AdaBoostMH",
    "MDDAG": "mddag.MDDAGClassifier",
}
"""First fits, of 2,000 rows and 8 priced features; append a new one."""
COMMANDS = {
    "figure 2": "reproduce cegb-figure2 --scale smoke --jobs 2 --out runs --store store",
    "compare": "compare table.csv --target y --budgets 2,5 --trials 1 --rounds 20 --jobs 2",
}
"""To the first picture, and to the first answer for a table; append a new one."""


def arguments(answer: str) -> list[str]:
    """Give what Python is called with."""
    if answer in COMMANDS:
        return ["-m", "experiments", *COMMANDS[answer].split(), "--quiet"]
    module, name = FITS[answer].split(".")
    fit = f"from algorithms.{module} import {name}\n{name}(feature_costs=[1.0] * 8).fit(X, y)\n"
    return ["-c", _DATA + fit]


def seconds(answer: str) -> float:
    """Run it in a folder of its own, with nothing compiled.

    Raises
    ------
    subprocess.CalledProcessError
        If it fails; what it said is on standard error.
    """
    import resource  # no Windows

    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    package = Path(importlib.util.find_spec("algorithms").origin).parents[1]
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "COST_AWARE_BOOSTING_CACHE": str(Path(folder, "cache")),
            "PYTHONPATH": str(package),
        }
        environment.pop("NUMBA_CACHE_DIR", None)
        how = {"cwd": folder, "env": environment, "check": True}
        with Path(folder, "table.csv").open("w") as table:
            subprocess.run([sys.executable, "-c", _DATA + _TABLE], stdout=table, **how)
        begin = spent()
        subprocess.run([sys.executable, *arguments(answer)], stdout=subprocess.DEVNULL, **how)
        return spent() - begin


class FirstFit:
    """Processor seconds to a first fit; once, for there is no second first time."""

    params = (list(FITS),)
    param_names = ("algorithm",)
    timeout = 1800
    version = "1"

    def setup(self, answer):
        """Have asv skip systems that count no processor time, and versions without the module."""
        asked = f"algorithms.{FITS[answer].split('.')[0]}" if answer in FITS else "experiments"
        for module in ("resource", asked):
            if importlib.util.find_spec(module) is None:
                raise NotImplementedError(module)

    def track_processor_time(self, answer):
        return seconds(answer)

    track_processor_time.unit = "s"
