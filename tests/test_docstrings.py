"""Every example in a docstring gives what it says; every estimator has one."""

from __future__ import annotations

import doctest
import importlib
import pydoc
import re

import pytest

from algorithms.registry.registered import ESTIMATORS
from tests.test_layers import ROOT

FOLDERS = ("algorithms", "reference", "datasets", "experiments")


def with_examples():
    """Names of the modules that have an example."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if re.search(r"^ *>>> ", path.read_text(encoding="utf-8"), re.MULTILINE):
                yield ".".join(path.relative_to(ROOT).with_suffix("").parts)


@pytest.mark.parametrize("name", list(with_examples()))
def test_examples_in_docstrings(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted
    assert results.failed == 0


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_every_estimator_has_an_example(cls):
    """Of its own: a module may have one estimator or several."""
    example = rf">>> .*\b{cls.__name__}\("
    why = f"the docstring of {cls.__name__} needs an example, lines of >>>, that makes one"
    assert re.search(example, cls.__doc__), why


def test_what_docstrings_refer_to_is_there():
    named = rf":[a-z]+:`~?(\.+[\w.]+|(?:{'|'.join(FOLDERS)})\.[\w.]+)`"
    lost = []
    for path in (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        package = ".".join(path.parent.relative_to(ROOT).parts)
        for name in re.findall(named, path.read_text(encoding="utf-8")):
            if pydoc.locate(importlib.util.resolve_name(name, package)) is None:
                lost.append(f"{path.relative_to(ROOT)}: {name}")
    assert not lost
