"""Run cells and print which modules of the project their functions are in.

A program of its own: ``python -m tests.experiments.running.traced_cell FOLDER JSON``, where JSON
maps each module to cells, ``ID:ALGORITHM``; a line of JSON comes out for each module. Everything is
imported once, then each module's cells run in a fork of their own, which has compiled or called
nothing before. Functions that run in Python are noted by a profiler. Compiled ones leave no trace,
so those that were called from Python are asked what they are made of: every kernel whose name their
source uses, and so on.
"""

import cProfile
import json
import multiprocessing
import os
import sys
import threading
from inspect import CO_OPTIMIZED
from pathlib import Path

import experiments  # noqa: F401  (before NumPy: it settles how that computes, and what is compiled)

# isort: split
from numba.core import event
from numba.core.dispatcher import Dispatcher

import datasets
from datasets.features import loading
from experiments import data_kinds
from experiments.artefact import LOADERS
from experiments.registry import discover
from experiments.running.closure import PACKAGES, ROOT

ARTEFACTS = {artefact.id: artefact for artefact in discover()}
PREFIXES = tuple(f"{ROOT / package}/" for package in PACKAGES)


def is_ours(code):
    # The body of a module or a class is no function: it is run by importing, not by the cell.
    return code.co_flags & CO_OPTIMIZED and code.co_filename.startswith(PREFIXES)


def called_kernels():
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in PACKAGES:
            for value in vars(module).values():
                if isinstance(value, Dispatcher) and value.overloads:
                    yield value


def kernel_files():
    waiting, seen = list(called_kernels()), set()
    while waiting:
        kernel = waiting.pop()
        function = getattr(kernel, "py_func", None) or getattr(kernel, "_defn", None)
        if function is None or function in seen:
            continue
        seen.add(function)
        waiting += [
            function.__globals__[name]
            for name in function.__code__.co_names
            if name in function.__globals__
        ]
    paths = {function.__code__.co_filename for function in seen}
    return {path for path in paths if path.startswith(PREFIXES)}


def in_this_process(columns, n_jobs, progress, complete=loading.complete):
    return complete(columns, 1, progress)


class Noted(event.Listener):
    """The files of the functions that run inside the block, in this thread and in new ones."""

    def __init__(self):
        self.files, self._profile = set(), cProfile.Profile(builtins=False)
        self._compiling = 0

    def on_start(self, compilation):  # it takes half as long when nothing is noted
        self._compiling += 1
        self._profile.disable()

    def on_end(self, compilation):
        self._compiling -= 1
        if not self._compiling:
            self._profile.enable()

    def _in_a_thread(self, frame, event, argument):
        if is_ours(frame.f_code):
            self.files.add(frame.f_code.co_filename)

    def __enter__(self):
        threading.setprofile(self._in_a_thread)
        event.register("numba:compile", self)
        self._profile.enable()
        return self

    def __exit__(self, *error):
        event.unregister("numba:compile", self)
        self._profile.disable()
        threading.setprofile(None)
        codes = (entry.code for entry in self._profile.getstats())
        self.files |= {code.co_filename for code in codes if is_ours(code)}


def run_cells(wanted, folder, answer):
    """Send what the cells of one module have run; features are computed anew in `folder`."""
    os.environ["COST_AWARE_BOOSTING_CACHE"] = str(folder)
    loading.complete = in_this_process
    files, names = set(), set()
    for artefact_id, algorithm in (name.split(":") for name in wanted):
        artefact = ARTEFACTS[artefact_id]
        load = data_kinds.load
        if artefact.data_form != "none":
            load = getattr(datasets, LOADERS[artefact.data_form])
        cell = next(c for c in artefact.cells("smoke", 1) if c.algorithm == algorithm)
        with Noted() as noted:
            data = load(cell.dataset, scale="smoke", data="auto", seed=0)
            artefact.run_cell(cell, data)
        files |= noted.files
        names.add(cell.dataset)
    modules = sorted(
        path.removeprefix(f"{ROOT}/").removesuffix(".py").replace("/", ".")
        for path in files | kernel_files()
    )
    answer.send({"datasets": sorted(names), "load": load.__module__, "modules": modules})


def main(folder, modules):
    forking = multiprocessing.get_context("fork")
    for module, wanted in json.loads(modules).items():
        mine, theirs = forking.Pipe(duplex=False)
        own = Path(folder) / module
        own.mkdir()
        child = forking.Process(target=run_cells, args=(wanted, own, theirs))
        child.start()
        theirs.close()
        try:
            seen = mine.recv()
        except EOFError:
            sys.exit(f"The cells of {module} failed: {' '.join(wanted)}")
        child.join()
        print(json.dumps({"module": module, **seen}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
