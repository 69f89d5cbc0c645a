"""Which sources a stored result depends on: those that its cell can run, followed along imports.

From the module that defines ``run_cell`` and the one that loads the data, every import of this
project is followed, wherever in a file it stands, in the text of the sources: nothing is run for
it. Four rules, each with a test:

* A name imported from a package is looked for as a module of it, else in its ``__init__.py``,
  which holds nothing but imports (and so is left out where none of its own names is asked for).
* At the list of data sets (:data:`LIST`) only the modules of the cell's own set are followed, and
  the list itself does not count: a new data set leaves the results of all others as they are.
* Comments, layout and docstrings do not count, imports for type checkers neither.
* Tables of numbers that stand beside modules (``milliseconds.csv``) count like the modules that
  share their folder.

Contents are read once per process, all of them when the first hash is asked for: a process that
runs on after an edit still has the old code loaded, and must not pass for one with the new.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from experiments.cell import digest

ROOT = Path(__file__).resolve().parents[2]
"""Root of the source tree."""

PACKAGES = ("algorithms", "datasets", "experiments", "reference")
"""What belongs to the project."""

LIST = "datasets.registered"
"""The module that lists the data sets; its ``modules_of`` gives the modules of one."""

_TABLES = {".csv"}


@functools.cache
def contents() -> dict[str, bytes]:
    """Return what is in the files that can count, by path from the root, as first seen."""
    return {
        path.relative_to(ROOT).as_posix(): path.read_bytes()
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*"))
        if path.suffix in {".py", *_TABLES} and path.is_file()
    }


def path_of(module: str) -> str | None:
    """Return the file of a module of the project, from the root; None if there is none."""
    base = module.replace(".", "/")
    return next((p for p in (f"{base}.py", f"{base}/__init__.py") if p in contents()), None)


def closure(modules: tuple[str, ...], dataset: str) -> frozenset[str]:
    """Return the modules that cells can run.

    Parameters
    ----------
    modules : tuple of str
        Where to begin; they need not belong to the project.
    dataset : str
        The cell's data set.

    Returns
    -------
    frozenset of str
        Those of the project, and the modules to begin with.
    """
    reached, waiting = set(), list(modules)
    while waiting:
        module = waiting.pop()
        if module in reached:
            continue
        if module == LIST:
            waiting += importlib.import_module(LIST).modules_of(dataset)
            continue
        reached.add(module)
        waiting += imports(module)
    return frozenset(reached)


class _Module(NamedTuple):
    """What a module says: what it imports of the project, and a hash of its code."""

    imports: tuple[str, ...]
    digest: str


@functools.cache
def _read(module: str) -> _Module:
    # The trees of a hundred modules are many objects: with them all alive Python's collector
    # would take longer than all the rest.
    code = code_of(module)
    return _Module(
        tuple(dict.fromkeys(_imports(code, module, _is_package(module)))),
        _sha256(ast.unparse(code).encode()),
    )


def imports(module: str) -> tuple[str, ...]:
    """Return the modules of the project that a module imports, anywhere in its file."""
    return _read(module).imports


def _is_package(module: str) -> bool:
    return (path_of(module) or "").endswith("__init__.py")


def code_of(module: str) -> ast.Module:
    """Return the code of a module without docstrings, comments and imports for type checkers."""
    path = path_of(module)
    if path is None:  # not of the project: a toy of a test
        source = Path(importlib.import_module(module).__file__).read_bytes()
    else:
        source = contents()[path]
    tree = ast.parse(source)
    tree.body = _bare(tree.body)
    return tree


_BLOCKS = "body", "orelse", "finalbody", "handlers", "cases"
"""Where statements hold statements; an expression holds none."""


def _bare(statements: list) -> list:
    """Take out what no run depends on."""
    kept = []
    for one in statements:
        for block in _BLOCKS:
            if hasattr(one, block):
                setattr(one, block, _bare(getattr(one, block)))
        if isinstance(one, ast.If) and ast.unparse(one.test).endswith("TYPE_CHECKING"):
            kept += one.orelse
        elif not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)):
            kept.append(one)
    return kept


def statements(body: list) -> Iterator[ast.AST]:
    """Yield the statements of a block and, within each, of its own blocks."""
    for one in body:
        yield one
        for block in _BLOCKS:
            yield from statements(getattr(one, block, ()))


def _imports(tree: ast.Module, module: str, is_package: bool) -> Iterator[str]:
    for node in statements(tree.body):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if path_of(alias.name))
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".")
                parts = parts[: len(parts) - node.level + is_package]
                base = ".".join([*parts, base] if base else parts)
            if base.split(".")[0] not in PACKAGES:
                continue
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                if path_of(inner):
                    yield inner
                elif path_of(base):
                    yield base


@functools.cache
def sources_hash(run_module: str, load_module: str, dataset: str) -> str:
    """Hash of the sources that can determine what a cell returns."""
    modules = closure((run_module, load_module), dataset)
    folders = {path.rpartition("/")[0] for path in map(path_of, modules) if path}
    tables = [
        path
        for path in contents()
        if Path(path).suffix in _TABLES and path.rpartition("/")[0] in folders
    ]
    return digest(
        {
            **{module: _read(module).digest for module in modules},
            **{path: _sha256(contents()[path]) for path in tables},
        }
    )


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
