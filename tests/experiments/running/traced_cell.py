"""Run one cell of each given artefact and print which modules of the project its functions are in.

A program of its own: ``python -m tests.experiments.running.traced_cell ID:ALGORITHM...``. Functions
that run in Python are traced, after a first run without that, which compiles. Compiled ones leave
no trace, so those that were called from Python are asked what they are made of: every kernel whose
name their source uses, and so on.
"""

import json
import sys
import threading
from inspect import CO_OPTIMIZED

from numba.core.dispatcher import Dispatcher

import datasets
from datasets.features import loading
from experiments import data_kinds
from experiments.artefact import LOADERS
from experiments.registry import discover
from experiments.running.closure import PACKAGES, ROOT

PREFIXES = tuple(f"{ROOT / package}/" for package in PACKAGES)
files = set()


def trace(frame, event, argument):
    code = frame.f_code
    # The body of a module or a class is no function: it is run by importing, not by the cell.
    if code.co_flags & CO_OPTIMIZED and code.co_filename.startswith(PREFIXES):
        files.add(code.co_filename)


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


def traced(function, *arguments, **options):
    sys.settrace(trace)
    threading.settrace(trace)
    try:
        return function(*arguments, **options)
    finally:
        sys.settrace(None)
        threading.settrace(None)


def main(wanted):
    loading.complete = in_this_process
    artefacts = {artefact.id: artefact for artefact in discover()}
    for artefact_id, algorithm in (name.split(":") for name in wanted):
        artefact = artefacts[artefact_id]
        load = data_kinds.load
        if artefact.data_form != "none":
            load = getattr(datasets, LOADERS[artefact.data_form])
        cell = next(c for c in artefact.cells("smoke", 1) if c.algorithm == algorithm)
        data = traced(load, cell.dataset, scale="smoke", data="auto", seed=0)
        artefact.run_cell(cell, data)
        traced(artefact.run_cell, cell, data)
    modules = sorted(
        path.removeprefix(f"{ROOT}/").removesuffix(".py").replace("/", ".")
        for path in files | kernel_files()
    )
    print(json.dumps({"dataset": cell.dataset, "load": load.__module__, "modules": modules}))


if __name__ == "__main__":
    main(sys.argv[1:])
